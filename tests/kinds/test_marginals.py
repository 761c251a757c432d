"""Posteriors of all that may be in a tree are sums over the trees that have it."""

from __future__ import annotations

from collections import Counter

import pytest

import latentgram as lg


def test_spans_and_tags_are_sums_over_trees() -> None:
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(60, seed=0), by=lg.Counting()))
    sentence = "the teacher saw the dog in the garden ."
    trees = parser.nbest(sentence, 2000)
    assert sum(parse.probability for parse in trees) == pytest.approx(1.0, abs=1e-3)
    spans: Counter[tuple[int, int, str]] = Counter()
    for parse in trees:
        for label, first, end in set(parse.tree.spans()):
            spans[first, end, label] += parse.probability
    found = parser.marginals(sentence)
    told = {(first, end, label): p for first, end, label, p in found.spans}
    told |= {(word, word + 1, tag): p for word, tag, p in found.tags}
    wanted = {key: p for key, p in spans.items() if key[2] != "TOP" and p > 0.005}
    assert wanted.keys() <= told.keys()
    for key, p in wanted.items():
        assert told[key] == pytest.approx(p, abs=2e-3)
    assert parser.marginals(sentence, spans=[(3, 8, "NP")]).spans != found.spans


def test_arcs_are_sums_over_trees() -> None:
    parser = lg.Parser(lg.fit(lg.SHAG, lg.demo_dependencies(60, seed=0), by=lg.Counting()))
    sentence = lg.Sentence(
        ("the", "dog", "sleeps", "well"), ("DT", "NN", "VBZ", "RB"), ("DET", "NOUN", "VERB", "ADV")
    )
    arcs: Counter[tuple[int, int]] = Counter()
    for parse in parser.nbest(sentence, 1000):
        for modifier, head in enumerate(parse.tree.heads, 1):
            arcs[head, modifier] += parse.probability
    told = {(head, modifier): p for head, modifier, p in parser.marginals(sentence).arcs}
    assert {arc for arc, p in arcs.items() if p > 0.002} <= told.keys()
    for arc, p in told.items():
        assert arcs[arc] == pytest.approx(p, abs=1e-6)
