"""Speed, memory and size in one table: is every figure where it should be, and where are the peers?

Set-up: the benchmarks named below, one after the other, each in processes of its own; LATENTGRAM_DATA. Seconds are
processor time of one core, except for the speed-up by two workers, which needs an otherwise idle machine. Peers
(`ufal.udpipe` and `python-crfsuite`, both on PyPI) are measured where they are installed. A bar is what the row
should reach: at least (≥) or at most (≤).

Conclusion: results/table.csv.

    LATENTGRAM_DATA=… python benchmarks/bench_table.py [BENCHMARK…]
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import corpora, explain, write_rows

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "table.csv"


@dataclass(frozen=True)
class Figure:
    """A number in a benchmark's own table: its row (all rows with these entries), its column, and its bar."""

    what: str
    row: dict[str, str]
    column: str
    bar: str = ""
    table: str = ""
    """That of the benchmark's name where it is empty."""


@dataclass(frozen=True)
class Step:
    """A benchmark, its arguments, and what is taken from it."""

    name: str
    arguments: tuple[str, ...]
    figures: tuple[Figure, ...]


CLUSTERS, FIVE = {"grammar": "clusters 16"}, {"grammar": "ensemble of five"}
GIVEN, OWN = {"setting": "default"}, {"setting": "own tags"}
RATE, POSTERIORS = "sentences/s", "with_posteriors_per_second"
STEPS = (
    Step(
        "lpcfg_parsing",
        ("genia", "clusters 16"),
        (
            Figure("GENIA dev, given tags, sentences per second", CLUSTERS | GIVEN, RATE, "≥ 450"),
            Figure("GENIA dev, own tags, sentences per second", CLUSTERS | OWN, RATE, "≥ 370"),
        ),
    ),
    Step(
        "lpcfg_parsing",
        ("wsj-sample", "clusters 16", "ensemble of five"),
        (
            Figure("wsj dev, given tags, F1", CLUSTERS | GIVEN, "F1", "≥ 86.59"),
            Figure("wsj dev, own tags, F1", CLUSTERS | OWN, "F1", "≥ 85.57"),
            Figure("wsj dev, given tags, sentences per second", CLUSTERS | GIVEN, RATE, "≥ 600"),
            Figure("wsj dev, own tags, sentences per second", CLUSTERS | OWN, RATE, "≥ 480"),
            Figure("wsj test, with 249 words, sentences per second", {"setting": "test part"}, RATE, "≥ 330"),
            Figure("ensemble, wsj dev, given tags, F1", FIVE | GIVEN, "F1", "≥ 87.00"),
            Figure("ensemble, wsj dev, given tags, sentences per second", FIVE | GIVEN, RATE, "≥ 300"),
            Figure("a sentence of 700 words, s", {"words": "700"}, "seconds", "≤ 20", "lpcfg_long"),
            Figure("a sentence of 700 words, MB", {"words": "700"}, "megabytes", "≤ 1500", "lpcfg_long"),
        ),
    ),
    Step(
        "large_treebank",
        (),
        (
            Figure("500 symbols (GENIA), sentences per second", {"treebank": "genia"}, RATE, "≥ 200"),
            Figure("ensemble, 14,326 trees, memory to learn, MB", {"treebank": "ensemble"}, "peak MB", "≤ 2000"),
            Figure("27,676 trees, clustering, s", {"treebank": "all"}, "training s", "≤ 90"),
            Figure("27,676 trees, memory to learn, MB", {"treebank": "all"}, "peak MB", "≤ 3000"),
            Figure("1,738 symbols, sentences per second", {"treebank": "all"}, RATE, "≥ 60"),
        ),
    ),
    Step(
        "tagger",
        ("wsj-sample", "en_ewt"),
        (
            Figure("tagger, en_ewt, training, s", {"treebank": "en_ewt"}, "training s", "≤ 25"),
            Figure("tagger, en_ewt, words per second", {"treebank": "en_ewt"}, "words/s", "≥ 100000"),
            Figure("tagger, wsj, training, s", {"treebank": "wsj-sample"}, "training s", "≤ 5"),
            Figure("tagger, wsj, words per second", {"treebank": "wsj-sample"}, "words/s", "≥ 200000"),
        ),
    ),
    Step(
        "arcs_speed",
        (),
        (
            Figure("arcs, first order, posteriors, sentences per second", {"order": "1"}, POSTERIORS, "≥ 2000"),
            Figure("arcs, second order, posteriors, sentences per second", {"order": "2"}, POSTERIORS, "≥ 1200"),
        ),
    ),
    Step(
        "peers",
        (),
        (
            Figure("tagging, {system}, words per second", {"task": "tagging"}, "words/s"),
            Figure("dependencies, {system}, sentences per second", {"task": "parsing"}, RATE),
        ),
    ),
    Step(
        "file_sizes",
        (),
        tuple(
            Figure(f"{model}, {what}", {"model": model, "file": "compact"}, column, bar)
            for model, bars in (
                ("clusters", ("≤ 8", "≤ 0.5", "≤ 400")),
                ("ensemble", ("≤ 40", "≤ 1.2", "≤ 600")),
                ("top-down", ("≤ 25", "≤ 0.5", "")),
            )
            for what, column, bar in zip(
                ("file, MB", "loading, s", "memory to parse, MB"), ("MB", "load s", "peak MB"), bars, strict=True
            )
        ),
    ),
    Step(
        "speedup",
        ("wsj-sample", "genia"),
        tuple(
            Figure(
                "two workers, {task}",
                {"task": f"spectral, L-PCFG of {states} states, {pack}"},
                "speed-up",
                "≥ 1.5",
            )
            for pack in ("wsj-sample, 3,126 trees", "genia, 14,326 trees")
            for states in (16, 32)
        ),
    ),
    Step(
        "growth",
        (),
        (
            Figure(
                "{model}, training, exponent in sentences",
                {"task": "training", "against": "sentences"},
                "exponent",
                "≤ 1.1",
                "growth_exponents",
            ),
        ),
    ),
)


def measured(step: Step) -> Iterator[dict[str, str]]:
    """The figures of a step, after it has run."""
    command = [sys.executable, str(FOLDER / f"bench_{step.name}.py"), *step.arguments]
    print("==", *command[1:], flush=True)
    subprocess.run(command, check=True)
    for figure in step.figures:
        path = RESULTS.with_name(f"{figure.table or step.name}.csv")
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if figure.row.items() <= row.items():
                    yield {"what": figure.what.format(**row), "figure": row[figure.column], "bar": figure.bar}


def missed(row: dict[str, str]) -> bool:
    """Whether a figure is on the wrong side of its bar."""
    if not row["bar"]:
        return False
    sign, bar = row["bar"].split()
    figure = float(row["figure"])
    return figure < float(bar) if sign == "≥" else figure > float(bar)


def main(names: list[str]) -> None:
    """Run the benchmarks, and print and write the table."""
    corpora()
    rows = [row for step in STEPS if not names or step.name in names for row in measured(step)]
    print(f"\n{'what':60}{'figure':>10}{'bar':>10}")
    for row in rows:
        print(f"{row['what']:60}{row['figure']:>10}{row['bar']:>10}{'  missed' if missed(row) else ''}")
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    explain()
    main(sys.argv[1:])
