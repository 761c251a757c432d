"""How well do our head rules agree with dependencies that someone else made from the same trees?

Set-up: the wsj sample as constituents and as dependencies (the same sentences; the dependencies come from head
rules of another author, in which, for one, the last conjunct heads a coordination). Share of words with the same
head, words of punctuation left out. `learned` rules know nothing of English: they come from the statistics of the
training trees. The table of Collins (1999) is the English one with *to* over the verb it marks. `first` and `last`
take the first or last child that is no punctuation.

Conclusion (results/heads.csv): the English table agrees on nine words of ten, and the rest is mostly
coordination and apposition, where conventions differ. Learned rules are right twice as often as a fixed side and
far from a table: use them where there is none.

    LATENTGRAM_DATA=… python benchmarks/bench_heads.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from harness import corpora, explain
from latentgram.data.brackets import read_brackets
from latentgram.data.conllu import read_conllu
from latentgram.data.head_rules import PENN_PUNCTUATION, HeadRules
from latentgram.data.heads import COLLINS, ENGLISH, dependency_heads

RESULTS = Path(__file__).parent / "results" / "heads.csv"


def main() -> None:
    folder = corpora()
    train = read_brackets(folder / "constituency/wsj-sample/train.mrg")
    rules = {
        "English table": ENGLISH,
        "Collins (1999)": COLLINS,
        "learned": HeadRules.learn(train),
        "first": HeadRules(),
        "last": HeadRules(otherwise="right"),
    }
    rows = []
    for part in ("train", "dev"):
        forest = read_brackets(folder / f"constituency/wsj-sample/{part}.mrg")
        gold = list(read_conllu(folder / f"dependency/wsj-sample/{part}.conllu"))
        heads = np.array([head for tree in gold for head in tree.heads])
        spoken = ~np.isin([tag for tree in gold for tag in tree.xpos], PENN_PUNCTUATION)
        for name, rule in rules.items():
            same = dependency_heads(forest, rule) == heads
            rows.append((part, name, f"{100 * same[spoken].mean():.1f}"))
            print(f"{part:6} {name:14} {rows[-1][2]} %")
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("part", "rules", "agreement"), *rows])


if __name__ == "__main__":
    explain()
    main()
