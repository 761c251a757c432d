"""How much does a dependency parser lose when it has to find the tags by itself?

Set-up: a second-order `ArcFactored` parser with its tagger, trained with the gold tags of a treebank and, with
`--jackknife`, with tags of taggers that had not seen the sentence; attachment on gold words without punctuation,
in percent, with gold tags and with own tags. Words are those of the treebank: see bench_tokeniser.py for cutting.

    LATENTGRAM_DATA=… python benchmarks/bench_raw_text.py [--treebank en_ewt] [--jackknife 5] [--test]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import latentgram as lg
from harness import corpora
from latentgram.parser.pipeline import fit_parser

RESULTS = Path(__file__).parent / "results" / "raw_text.csv"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--treebank", default="en_ewt")
    options.add_argument("--jackknife", type=int, default=0)
    options.add_argument("--order", type=int, default=2)
    options.add_argument("--test", action="store_true")
    chosen = options.parse_args()
    folder = corpora() / "dependency" / chosen.treebank
    train = lg.Treebank.read(folder / "train.conllu")
    learner = lg.MIRA(order=chosen.order)
    parser = fit_parser(lg.ArcFactored, train, by=learner, tagger=lg.Gradient(), jackknife=chosen.jackknife)
    rows = []
    for part in ("dev", "test") if chosen.test else ("dev",):
        gold = lg.Treebank.read(folder / f"{part}.conllu")
        for tags in ("gold", "own"):
            score = parser.evaluate(gold, gold_tags=tags == "gold")
            rows.append((chosen.treebank, chosen.jackknife, part, tags, f"{score.uas:.2f}", f"{score.las:.2f}"))
            print(*rows[-1])
    known = list(csv.reader(RESULTS.open())) if RESULTS.exists() else []
    header = ["treebank", "jackknife", "part", "tags", "UAS", "LAS"]
    with RESULTS.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *known[1:], *rows])


if __name__ == "__main__":
    main()
