"""Has anything become slower? One table in five minutes, and a failure where it has.

Set-up: some of the work of bench_before_after.py, on generated treebanks, so that anyone can run it; one core,
processor time. Each row takes turns with a *reference kernel*, which is written here, never changes, and does what
kernels of the library do (sums of products over contiguous numbers, look-ups at random places, branches) and what
Python does around them. A figure is the least of some rounds, and what is compared is the ratio of the row to the
reference: a busy or slower machine slows both down. The ratios that are expected are in results/quick.csv. A row
whose ratio is more than 15 % above its own is measured again, twice at most; if it stays there, the run fails.

Conclusion (results/quick.csv): the ratios of a version that is compared with itself stay within 13 % on a machine
with ten times more work than cores, and the whole takes a minute of processor time. They belong to a kind of
processor: on another one, write them anew once, with `--accept`, before a change is made.

    python benchmarks/bench_quick.py [--accept] [ROW…]        or: make bench-quick
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.pop("LATENTGRAM_DATA", None)  # generated data, whatever there is
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np  # noqa: E402

from bench_before_after import ROWS, Work  # noqa: E402
from harness import write_rows  # noqa: E402
from latentgram.compiling import njit  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "quick.csv"
QUICK = (
    "parse-pcfg",
    "parse-latent",
    "train-spectral",
    "train-clustering",
    "train-em",
    "heads-em",
    "arcs-second",
    "tag-tagger",
    "tag-hmm",
    "hmm-em",
)
ROUNDS, MOST_ROUNDS, ENOUGH, AGAIN = 3, 12, 2.0, 2
"""At least so many rounds, at most so many, seconds after which they are enough, and how often a row that looks
slower is measured again."""
ALLOWED = 1.15


@njit()
def _numbers(values, places, rounds):
    """Sums of products over contiguous numbers, and sums over random places with a branch for each."""
    total = 0.0
    for _ in range(rounds):
        for k in range(values.shape[0] - 16):
            total += values[k] * values[k + 16]
        for k in range(places.shape[0]):
            if values[places[k]] > 0.5:
                total += values[places[k]]
    return total


def reference() -> Callable[[], object]:
    """The kernel that all else is compared with: about a fifth of a second."""
    random = np.random.default_rng(0)
    values, places = random.random(1 << 17), random.integers(0, 1 << 17, 1 << 17)

    def run() -> object:
        counts: dict[tuple[int, int], int] = {}
        for number in range(200_000):
            key = (number % 97, number % 89)
            counts[key] = counts.get(key, 0) + 1
        return _numbers(values, places, 200), counts

    _numbers(values[:32], places[:0], 1)
    return run


def seconds(work: Callable[[], object]) -> float:
    """The processor time of a call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ratio(work: Work, compared: Callable[[], object]) -> tuple[float, float]:
    """The least processor time of a row, and its ratio to that of the reference in the same rounds.

    What is quick has more rounds: the least of many varies less.
    """
    pairs = [(seconds(work.measured), seconds(compared)) for _ in range(ROUNDS)]
    while len(pairs) < MOST_ROUNDS and sum(own for own, _ in pairs) < ENOUGH:
        pairs.append((seconds(work.measured), seconds(compared)))
    own, other = (min(column) for column in zip(*pairs, strict=True))
    return own, own / other


def main() -> None:
    """Measure, print the table, and fail where a row has become slower."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--accept", action="store_true", help="write these ratios as those that are expected")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"some of {', '.join(QUICK)}")
    asked = parser.parse_args()
    if unknown := set(asked.rows) - set(QUICK):
        parser.error(f"there is no row {min(unknown)}")
    expected: dict[str, float] = {}
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8") as file:
            expected = {row["row"]: float(row["ratio"]) for row in csv.DictReader(file)}
    compared, measured, slower = reference(), dict(expected), []
    print(f"{'row':<18}{'seconds':>9}{'ratio':>8}{'expected':>10}{'change':>9}")
    for row in asked.rows or QUICK:
        work = ROWS[row]()
        work.beforehand()
        own, found = ratio(work, compared)
        for _ in range(AGAIN):
            if asked.accept or row not in expected or found <= ALLOWED * expected[row]:
                break
            own, found = min((own, found), ratio(work, compared), key=lambda pair: pair[1])
        measured[row], before = found, expected.get(row)
        told = "" if before is None else f"{before:>10.2f}{found / before - 1:>+9.1%}"
        if before is not None and found > ALLOWED * before:
            slower.append(row)
            told += "  slower"
        print(f"{row:<18}{own:>9.3f}{found:>8.2f}{told}", flush=True)
    if asked.accept:
        write_rows(RESULTS, [{"row": row, "ratio": f"{measured[row]:.3f}"} for row in QUICK if row in measured])
    elif slower:
        sys.exit(f"slower by more than 15 %: {', '.join(slower)}")


if __name__ == "__main__":
    main()
