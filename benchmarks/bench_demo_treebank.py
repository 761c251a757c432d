"""Does the demo treebank need hidden states, and how fast is it drawn?

Set-up: 2,000 sentences to train on and 500 others to test on, raw words, default binarisation and decoder. The
first grammar is a PCFG over the bare labels. The second is the same learner on the same sentences with the hidden
features shown in the labels (NP[NNS,person]), which are taken off again before scoring: about what a learner
that finds the right hidden states can reach.

Conclusion: the features are worth more than ten points of F1. The bare labels lose them where attachment and
conjunction depend on what labels do not show; words are tagged almost equally well by both. Sentences are drawn
by the thousands a second.

    python benchmarks/bench_demo_treebank.py
"""

from __future__ import annotations

import time
from pathlib import Path

import latentgram as lg
from harness import explain, write_rows
from latentgram.data.demo import draw_demo
from latentgram.data.feature_grammar import label_of

RESULTS = Path(__file__).parent / "results" / "demo_treebank.csv"
TRAIN, TEST = 2000, 500


def main() -> None:
    list(draw_demo(10))
    begin = time.process_time()
    draws = list(draw_demo(TRAIN, seed=0))
    rate = TRAIN / (time.process_time() - begin)
    gold = lg.demo_treebank(TEST, seed=1)
    shown = {
        "bare labels": lg.Treebank.of(draw.tree for draw in draws),
        "hidden features shown": lg.Treebank.of(draw.refined for draw in draws),
    }
    rows = []
    for name, train in shown.items():
        grammar = lg.fit(lg.LPCFG, train, by=lg.Counting())
        parses = list(lg.Parser(grammar).parse_many([s.without_tags() for s in gold.sentences()]))
        output = lg.Treebank.of(parse.tree for parse in parses).forest.rename(label_of)
        score = lg.score_brackets(gold.forest, output)
        rows.append(
            {
                "grammar": name,
                "f1": round(score.f1, 2),
                "exact": round(score.exact, 2),
                "tags": round(score.to_json()["accuracy"], 2),
                "fallbacks": sum(parse.fallback for parse in parses),
                "sentences_drawn_per_second": round(rate),
            }
        )
        print(name, score)
    write_rows(RESULTS, rows)
    print(RESULTS.read_text("utf-8"), end="")


if __name__ == "__main__":
    explain()
    main()
