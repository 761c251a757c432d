"""What does it cost to check a model file when it is loaded?

    python benchmarks/bench_load_checks.py [FILE.lg …] [--rounds 5]

Every field of every class states what must hold of it (data/invariants.py), and `load` checks all of it in one
pass. Measured is processor time of `load` with its checks and without, in turn, the best of some rounds each; by
default of a grammar, a parser of arcs and an n-gram model learned from generated data.

Conclusion: of grammars, parsers, n-gram models and word vectors of 10 to 85 MB checks take 4 to 9 % of loading.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from unittest import mock

import latentgram as lg
from latentgram.store import codec, read_header


def seconds_of(path: Path) -> float:
    """Processor time of loading a file."""
    started = time.process_time()
    lg.load(path)
    return time.process_time() - started


def measured(path: Path, rounds: int) -> tuple[float, float]:
    """The best times with checks and without."""
    times: tuple[list[float], list[float]] = [], []
    seconds_of(path)
    for _ in range(rounds):
        times[0].append(seconds_of(path))
        with mock.patch.object(codec, "check", return_value=None):
            times[1].append(seconds_of(path))
    return min(times[0]), min(times[1])


def examples(folder: Path) -> list[Path]:
    """Files of some size."""
    trees = lg.demo_treebank(2000, seed=0)
    counts = lg.NGramCounts.of(lg.Text.of(trees.sentences()), order=5)
    models = {
        "lpcfg": lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=16)),
        "arcs": lg.fit(lg.ArcFactored, lg.demo_dependencies(500, seed=0), by=lg.MIRA(passes=1)),
        "ngram": lg.fit(lg.BackoffNGram, counts, by=lg.Counting()),
    }
    for name, model in models.items():
        lg.save(model, folder / f"{name}.lg")
    return [folder / f"{name}.lg" for name in models]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in asked.files or examples(Path(folder)):
            checked, unchecked = measured(path, asked.rounds)
            kind, size = read_header(path).kind, path.stat().st_size
            share = 100 * (checked - unchecked) / checked
            print(f"{path.name:20} {kind:14} {size / 1e6:7.1f} MB  {1e3 * checked:7.1f} ms  checks {share:5.1f} %")


if __name__ == "__main__":
    main()
