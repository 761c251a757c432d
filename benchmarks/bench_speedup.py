"""How much quicker are two workers than one, and is the result the same?

Set-up: the generated demo treebank (8,000 trees, 125,000 words), a machine with two cores, wall-clock seconds.
Every task is done five times with one and with two workers in turn, and the least of each is taken, so that
compilation and the start of workers do not count. Learning goes from a treebank in memory to a model; parsing from
sentences in memory to text in memory; evaluation from trees to a score. What starting two worker processes takes
(interpreter, imports, the compiled code from its cache, the model) is in a row of its own: it is paid once,
and processes stay for a minute after their last work. Threads, which do the compiled work of learning, cost
nothing to start. "same" compares all arrays of the models, or the texts, bit by bit. Where LATENTGRAM_DATA points
to the real treebanks, spectral learning is timed on them too. Tasks may be chosen by words in their names; rows of
others are kept.

Conclusion (results/speedup.csv): all results are the same. Parsing, evaluation and EM gain 1.8 to 1.95, clustering
1.7; spectral learning 1.5 to 1.7 with 16 and with 32 states, on generated and on real treebanks. Serial in
learning is what is left of the preparation of the trees.
Beside other work two workers lose more than one.

    python benchmarks/bench_speedup.py [WORDS…]
"""

from __future__ import annotations

import csv
import dataclasses
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import latentgram as lg
from harness import explain, write_rows
from latentgram.data.forest import Forest
from latentgram.data.text import Text
from latentgram.parallel import engine_for
from latentgram.parser.answers import Question, answers

RESULTS = Path(__file__).parent / "results" / "speedup.csv"
TREES, PARSED, RUNS = 8000, 2000, 5


def bits(model: Any) -> list[bytes]:
    """All arrays of a model."""
    found = []
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        if isinstance(value, np.ndarray):
            found.append(value.tobytes())
        elif dataclasses.is_dataclass(value) and field.name != "provenance":
            found += bits(value)
    return found


def tasks() -> dict[str, Callable[[int], Any]]:
    """Each task by name, as a function of the number of workers."""
    trees, dependencies = lg.demo_treebank(TREES, 0), lg.demo_dependencies(TREES, 0)
    many = lg.Treebank.of(Forest.concatenate([trees.forest] * 5))
    text = Text.of(trees.sentences() * 8)
    dev = lg.demo_treebank(PARSED, 1)
    questions = [Question(sentence) for sentence in dev.sentences()]
    grammar = lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Spectral(states=16)))
    shag = lg.Parser(lg.fit(lg.SHAG, dependencies, by=lg.Spectral(states=8)))

    def fit(model: Any, data: Any, learner: Any) -> Callable[[int], Any]:
        return lambda workers: bits(lg.fit(model, data, by=learner, n_jobs=workers))

    def parse(parser: lg.Parser, times: int) -> Callable[[int], Any]:
        return lambda workers: [
            batch.text for batch in answers(parser, questions * times, engine=engine_for(workers))
        ]

    found = {
        "parse 6,000 sentences, L-PCFG of 16 states": parse(grammar, 3),
        "parse 20,000 sentences, SHAG of 8 states": parse(shag, 10),
        "evaluate 2,000 trees, L-PCFG of 16 states": lambda workers: str(grammar.evaluate(dev, n_jobs=workers)),
        "EM, L-PCFG of 32 states, 10 rounds": fit(lg.LPCFG, trees, lg.EM(states=32, iterations=10)),
        "EM, HMM of 45 states, 10 rounds": fit(lg.HMM, text, lg.EM(states=45, iterations=10, tolerance=0.0)),
        "EM, latent tree of 32 states, 20 rounds": fit(
            lg.LatentTree, dependencies, lg.EM(states=32, iterations=20)
        ),
        "spectral, L-PCFG of 32 states, five times the trees": fit(lg.LPCFG, many, lg.Spectral(states=32)),
        "clustering, L-PCFG of 24 states": fit(lg.LPCFG, trees, lg.Clustering(states=24)),
    }
    if folder := os.environ.get("LATENTGRAM_DATA"):
        for name, states in (("wsj-sample", 16), ("wsj-sample", 32), ("genia", 16), ("genia", 32)):
            real = lg.Treebank.read(Path(folder) / "constituency" / name / "train.mrg")
            task = fit(lg.LPCFG, real, lg.Spectral(states=states))
            found[f"spectral, L-PCFG of {states} states, {name}, {len(real):,} trees"] = task
    return found


def timed(task: Callable[[int], Any], workers: int) -> tuple[float, Any]:
    """Seconds and result."""
    started = time.perf_counter()
    result = task(workers)
    return time.perf_counter() - started, result


def main() -> None:
    """Run and write the table."""
    started = time.perf_counter()
    list(engine_for(2).map(_first_work, range(2)))
    start = {"task": "start of two worker processes", "two workers, s": f"{time.perf_counter() - started:.2f}"}
    rows = [dict.fromkeys(("task", "one worker, s", "two workers, s", "speed-up", "same"), "") | start]
    wanted = {
        name: task for name, task in tasks().items() if not sys.argv[1:] or any(w in name for w in sys.argv[1:])
    }
    for name, task in wanted.items():
        runs = [[timed(task, workers) for workers in (1, 2)] for _ in range(RUNS)]
        best = [min(seconds for seconds, _ in column) for column in zip(*runs, strict=True)]
        first = [result for _, result in runs[0]]
        rows.append(
            {
                "task": name,
                "one worker, s": f"{best[0]:.2f}",
                "two workers, s": f"{best[1]:.2f}",
                "speed-up": f"{best[0] / best[1]:.2f}",
                "same": "yes" if first[0] == first[1] else "no",
            }
        )
        print(rows[-1], flush=True)
    if sys.argv[1:] and RESULTS.exists():
        fresh = {row["task"]: row for row in rows}
        with RESULTS.open(newline="") as file:
            old = [row for row in csv.DictReader(file) if row["task"] not in fresh]
        rows = [*rows[:1], *old, *rows[1:]]
    write_rows(RESULTS, rows)


def _first_work(number: int) -> int:
    """What a worker loads before it can parse."""
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(20, number), by=lg.Counting()))
    return len(parser.parse("the teacher sleeps .").tree.words)


if __name__ == "__main__":
    explain()
    main()
