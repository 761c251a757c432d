"""How much faster are Penn brackets read here than by NLTK, and what do the steps after reading cost?

Set-up: one file, one tree per line (by default 4,000 generated ones; a path may be given), one process, processor
time, the best of seven after one run that compiles. NLTK reads every line by `nltk.Tree.fromstring`. Here the file
is read into a `Forest`, which is what learners and scorers work on, and, in the second row, further into a `Tree`
for every node, which is what people look at.

Conclusion (results/brackets.csv): a forest is read 29 to 42 times as fast as NLTK reads trees; half of the time on
a small file goes into its dictionary of words. To hold a Python object for each node costs about as much here as
there (most of it is Python's garbage collector), so learners stay with the forest.

    python benchmarks/bench_brackets.py [FILE]
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness import explain
from latentgram.data.binarisation import Binarisation
from latentgram.data.brackets import format_forest, read_brackets
from latentgram.data.forest import Forest
from latentgram.data.heads import ENGLISH, dependency_heads
from latentgram.data.rarewords import RareWords
from latentgram.data.tree import Tree

try:
    import nltk
except ImportError:
    sys.exit("this benchmark compares with NLTK, which is not installed: pip install nltk")

RESULTS = Path(__file__).parent / "results" / "brackets.csv"
RUNS = 7


def best_seconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(RUNS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def generate(path: Path, trees: int = 4000) -> None:
    """Random trees of about 25 words under Penn-like labels."""
    rng = np.random.default_rng(0)

    def grow(words: int, depth: int) -> Tree:
        if words == 1:
            return Tree(f"T{rng.integers(40)}", word=f"word{int(rng.zipf(1.3)) % 20000}")
        cuts = np.sort(
            rng.choice(np.arange(1, words), size=min(words - 1, int(rng.integers(1, 4))), replace=False)
        )
        parts = np.diff(np.concatenate(([0], cuts, [words])))
        return Tree(f"P{rng.integers(25)}", tuple(grow(int(part), depth + 1) for part in parts))

    forest = Forest.of([Tree("TOP", (grow(int(rng.integers(5, 45)), 0),)) for _ in range(trees)])
    path.write_bytes(format_forest(forest))


def measure(path: Path) -> list[tuple[str, float, float]]:
    lines = path.read_text("utf-8").splitlines()
    forest = read_brackets(path)
    binarisation = Binarisation.of(forest)
    binary = binarisation.binarise(forest)
    steps: dict[str, Callable[[], object]] = {
        "nltk.Tree.fromstring": lambda: [nltk.Tree.fromstring(line) for line in lines],
        "read into a forest": lambda: read_brackets(path),
        "read into Tree objects": lambda: list(read_brackets(path)),
        "write a forest": lambda: format_forest(forest),
        "binarise": lambda: binarisation.binarise(forest),
        "restore": lambda: binarisation.restore_forest(binary),
        "rare words": lambda: RareWords.of_forest(forest).apply(forest),
        "dependencies": lambda: dependency_heads(forest, ENGLISH),
    }
    seconds = {name: best_seconds(work) for name, work in steps.items()}
    base = seconds["nltk.Tree.fromstring"]
    return [(name, value, base / value) for name, value in seconds.items()]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            path = Path(sys.argv[1])
        else:
            path = Path(folder) / "generated.mrg"
            generate(path)
        name = "/".join(path.parts[-2:]) if len(sys.argv) > 1 else path.name
        rows = measure(path)
        size = path.stat().st_size / 1e6
    print(f"{name}, {size:.1f} MB")
    for step, seconds, times in rows:
        print(f"{step:24} {seconds:8.3f} s {size / seconds:8.1f} MB/s {times:8.1f} × nltk")
    RESULTS.parent.mkdir(exist_ok=True)
    old = list(csv.reader(RESULTS.open())) if RESULTS.exists() else []
    kept = [row for row in old[1:] if row[0] != name]
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "step", "seconds", "times_nltk"])
        writer.writerows(kept)
        writer.writerows([name, step, f"{seconds:.4f}", f"{times:.1f}"] for step, seconds, times in rows)


if __name__ == "__main__":
    explain()
    main()
