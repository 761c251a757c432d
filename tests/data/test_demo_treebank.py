"""The demo treebank needs hidden states: the same learner gains much when the features are shown to it."""

from __future__ import annotations

import latentgram as lg
from latentgram.data.demo import draw_demo
from latentgram.data.feature_grammar import label_of


def test_features_that_labels_hide_decide_the_structure():
    draws = list(draw_demo(1200, seed=0))
    gold = lg.demo_treebank(60, seed=1)
    f1 = []
    for trees in ([draw.tree for draw in draws], [draw.refined for draw in draws]):
        parser = lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=lg.Counting()))
        parses = parser.parse_many([sentence.without_tags() for sentence in gold.sentences()])
        output = lg.Treebank.of(parse.tree for parse in parses).forest.rename(label_of)
        f1.append(lg.score_brackets(gold.forest, output).f1)
    bare, shown = f1
    assert 70 < bare < 88
    assert shown > bare + 6
