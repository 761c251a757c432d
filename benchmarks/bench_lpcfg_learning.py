"""How good are latent-variable grammars by learner, and what does learning cost?

Set-up: treebanks `wsj-sample`, `genia` (X over X collapsed in training and scoring) and `gum` under
LATENTGRAM_DATA, learned from `train`, parsed and scored (EVALB, COLLINS) on `dev`, with the treebank's tags and
with the grammar's own. One process, one thread, processor time from trees in memory to grammar, compiled code
warm. EM is run with and without smoothing. The learning curve is the mean over three random subsets of 100, 300
and 1,000 trees. `final` scores the three defaults on `dev` and `test`; nothing is chosen by it.

Conclusion (results/lpcfg_*.csv): clusters of few dimensions, with a few smoothed EM steps, are the best single
grammar; five grammars together gain another half point; spectral moments are learned almost four times as fast as
clusters and need no iteration.

    python benchmarks/bench_lpcfg_learning.py table [PACK] [ROW…]   # learners on one treebank, all rows or some
    python benchmarks/bench_lpcfg_learning.py ratio [PACK]          # EM against spectral, 32 states, in one run
    python benchmarks/bench_lpcfg_learning.py curve                 # 100, 300 and 1,000 trees of wsj-sample
    python benchmarks/bench_lpcfg_learning.py final [PACK] [ROW…]   # the defaults on dev and test
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import latentgram as lg
from harness import corpora, explain
from latentgram.data.cleaning import collapse_repeats
from latentgram.data.treebank import Treebank

RESULTS = Path(__file__).parent / "results"
TABLE: dict[str, Any] = {
    "spectral (default)": lg.Spectral(),
    "clusters (default)": lg.Clustering(),
    "ensemble (default)": lg.Combining(),
    "PCFG": lg.Counting(),
    "clusters, no siblings remembered": lg.Clustering(horizontal=0),
    "clusters, seed 1": lg.Clustering(seed=1),
    "spectral 32": lg.Spectral(states=32),
    "spectral 8": lg.Spectral(states=8),
    "EM 16": lg.EM(),
    "EM 16, spectral start": lg.EM(start="spectral"),
    "EM 16, clustered start": lg.EM(start="clusters"),
    "EM 16, no smoothing": lg.EM(backoff=0.0, pull=0.0),
    "spectral 16, simple features": lg.Spectral(features="simple"),
    "spectral 16, no smoothing": lg.Spectral(backoff=0.0, pull=0.0),
}
FINAL = {name: learner for name, learner in TABLE.items() if name.endswith("(default)")}
SUBSETS = (0, 1, 2)
"""Seeds of the random subsets of the learning curve."""
RATIO: dict[str, Any] = {
    "spectral 32": lg.Spectral(states=32),
    "EM 32, 20 iterations": lg.EM(states=32, iterations=20),
}


def treebank(pack: str, part: str) -> Treebank[Any]:
    """A part of a pack, X over X collapsed in GENIA."""
    read = Treebank.read(corpora() / "constituency" / pack / f"{part}.mrg")
    return Treebank.of(collapse_repeats(read.forest)[0]) if pack == "genia" else read


def model_of(learner: Any) -> Any:
    return lg.Ensemble if isinstance(learner, lg.Combining) else lg.LPCFG


def rows(pack: str, learners: dict[str, Any], parts: tuple[str, ...] = ("dev",)) -> Iterable[dict[str, Any]]:
    train = treebank(pack, "train")
    for name, learner in learners.items():
        lg.fit(model_of(learner), train[:40], by=learner)
        started = time.process_time()
        model = lg.fit(model_of(learner), train, by=learner)
        seconds = round(time.process_time() - started, 2)
        parser = lg.Parser(model)
        for part in parts:
            row = {"treebank": pack, "learner": name, "part": part, "training_cpu_s": seconds}
            row |= scores(parser, treebank(pack, part))
            print(row, flush=True)
            yield row


def scores(parser: lg.Parser, gold: Treebank[Any]) -> dict[str, float]:
    """F1 and sentences per second with the treebank's tags and with the parser's own."""
    found = {}
    parser.parse(gold[0].words)
    for tags in ("gold", "own"):
        started = time.process_time()
        score = parser.evaluate(gold, gold_tags=tags == "gold")
        found[f"f1_{tags}"] = round(score.f1, 2)
        found[f"sentences_a_s_{tags}"] = round(len(gold) / (time.process_time() - started), 1)
    return found


def curve() -> Iterable[dict[str, Any]]:
    train, dev = treebank("wsj-sample", "train"), treebank("wsj-sample", "dev")
    for number in (100, 300, 1000):
        for name, learner in (("spectral", lg.Spectral()), ("clusters", lg.Clustering()), ("PCFG", lg.Counting())):
            models = [lg.fit(lg.LPCFG, train.sample(number, seed=seed), by=learner) for seed in SUBSETS]
            f1 = [round(lg.Parser(model).evaluate(dev, gold_tags=True).f1, 2) for model in models]
            row = {"trees": number, "learner": name, "f1_gold": round(sum(f1) / len(f1), 2), "subsets": f1}
            print(row, flush=True)
            yield row


def write(name: str, found: Iterable[dict[str, Any]]) -> None:
    """Write rows as they come, each in place of the one of the same learner, part and number of trees."""
    path = RESULTS / name
    path.parent.mkdir(exist_ok=True)
    table: dict[tuple[str, ...], dict[str, Any]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            table = {_key(row): row for row in csv.DictReader(file)}
    for row in found:
        table = {key: kept for key, kept in table.items() if kept.keys() == row.keys()} | {_key(row): row}
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table.values())


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row.get(name, "")) for name in ("learner", "part", "trees"))


if __name__ == "__main__":
    explain()
    what, *rest = sys.argv[1:] or ["table"]
    pack, *chosen = rest or ["wsj-sample"]
    if what == "curve":
        write("lpcfg_curve.csv", curve())
    elif what == "ratio":
        write(f"lpcfg_ratio_{pack}.csv", rows(pack, RATIO))
    else:
        some = FINAL if what == "final" else TABLE
        some = {name: learner for name, learner in some.items() if not chosen or name in chosen}
        kind, parts = ("final", ("dev", "test")) if what == "final" else ("learning", ("dev",))
        write(f"lpcfg_{kind}_{pack}.csv", rows(pack, some, parts))
