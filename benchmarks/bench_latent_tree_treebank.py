"""What do the learners of latent trees make of real trees, for which no tree HMM is true?

Set-up: wsj sample, tags with valency (the default) and tags alone; log p per word of the development trees, the
share of them whose estimate was not positive or below the floor, CPU seconds of learning. The floor keeps log p
of a bad estimate finite, so figures of learners that need it often say little: read them with their share.

Conclusion (results/latent_tree_treebank.csv): as printed no estimate is a probability, and without a ridge half of
them are not; pulled towards independence they hold. EM explains real trees much better.

    LATENTGRAM_DATA=… python benchmarks/bench_latent_tree_treebank.py
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import latentgram as lg
from harness import corpora, explain

RESULTS = Path(__file__).parent / "results" / "latent_tree_treebank.csv"
LEARNERS = {
    "spectral, printed": {"form": "printed"},
    "spectral, no ridge": {"ridge": 0.0},
    "spectral, ridge of 4 units of noise": {"ridge": 4.0},
    "spectral, ridge by held-out trees": {},
    "EM, 1 state": {"states": 1, "iterations": 2},
    "EM, 5 states": {"states": 5},
    "EM, 20 states": {},
}


def main() -> None:
    folder = corpora() / "dependency/wsj-sample"
    train, dev = (lg.Treebank.read(folder / f"{part}.conllu") for part in ("train", "dev"))
    rows = []
    for valency in (3, 0):
        for name, fields in LEARNERS.items():
            learner = (lg.EM if name.startswith("EM") else lg.Spectral)(valency=valency, **fields)
            started = time.process_time()
            model = lg.fit(lg.LatentTree, train, by=learner)
            spent = time.process_time() - started
            logs, low = model.scores(dev.arrays, dev.sentences())
            words = int(dev.lengths.sum())
            rows.append((name, valency, f"{logs.sum() / words:.3f}", f"{100 * low.mean():.1f}", f"{spent:.2f}"))
            print(*rows[-1], sep="\t")
    with RESULTS.open("w", newline="") as file:
        header = ("learner", "valency", "log p a word", "at the floor %", "seconds")
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    explain()
    main()
