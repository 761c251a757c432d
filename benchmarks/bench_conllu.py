"""How fast are CoNLL-U treebanks read, checked, written and made projective, and what does that change?

Set-up: the training files of the folder that LATENTGRAM_DATA names, one thread, CPU time, best of three runs after
one that warms up. Reading includes all checks (columns, ids, heads, one root, no circle); the written file is
compared with the one read, byte for byte. Lifting is that of Nivre & Nilsson (2005), shortest arc first.

Conclusion: reading takes 2 to 3 µs a word and writing about a third of that; checking and lifting a whole
treebank are matters of hundredths of a second. Lifting moves fewer than one word in a hundred, and every file
comes out as it went in.

    LATENTGRAM_DATA=… python benchmarks/bench_conllu.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import corpora, explain, write_rows
from latentgram.data.conllu import read_conllu, write_conllu
from latentgram.data.dependencies import DependencyArrays, projectivise

RESULTS = Path(__file__).parent / "results" / "conllu.csv"


def best_seconds(work: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    seconds, result = [], work()
    for _ in range(runs):
        begin = time.process_time()
        result = work()
        seconds.append(time.process_time() - begin)
    return min(seconds), result


def measure(path: Path) -> dict[str, Any]:
    reading, trees = best_seconds(lambda: list(read_conllu(path)))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.conllu"
        writing, _ = best_seconds(lambda: write_conllu(copy, trees))
        same = copy.read_bytes() == path.read_bytes()
    checking, _ = best_seconds(lambda: DependencyArrays.of(trees).projective)
    lifting, (_, report) = best_seconds(lambda: projectivise(trees))
    return {
        "treebank": path.parent.name,
        "sentences": report.sentences,
        "words": report.words,
        "read_words_per_second": round(report.words / reading),
        "write_words_per_second": round(report.words / writing),
        "check_seconds": round(checking, 4),
        "lift_seconds": round(lifting, 4),
        "not_projective": report.changed,
        "words_moved": report.moved,
        "lifts": report.lifts,
        "same_bytes": same,
    }


def main() -> None:
    root = corpora()
    rows = [measure(path) for path in sorted(Path(root, "dependency").glob("*/train.conllu"))]
    write_rows(RESULTS, rows)
    print(RESULTS.read_text("utf-8"), end="")


if __name__ == "__main__":
    explain()
    main()
