"""How do the time and the memory of each model grow with sentences, hidden states and the length of sentences?

Set-up: the generated demo treebank, so that anyone can run this; one core, processor seconds. Each measurement is
made in a process of its own, forked when everything is loaded and compiled; memory is by how much its peak exceeds
that of a process that does nothing. Training is from trees or text in memory: 250 to 8,000 sentences, or 4 to 32
states at 2,000 sentences; parsing is of sentences of about 8 to 128 words (statements joined by `and`), given as
the time of 200, or of 200 mixed ones by models of 4 to 32 states. Learners that iterate do few rounds. The
exponent of a series is the e of c + a·x^e, fitted on logarithmic scales; c is what does not grow.

Conclusion (results/growth.csv, growth_exponents.csv, growth.svg): training time is about linear in the sentences
for every model. In the states it stays below theory up to 32 of them (L-PCFG by EM 2.2 for m³, SHAG by EM 1.8 and
HMM by EM 1.4 for m²): probably because larger matrix products are quicker a number, and few symbols have
enough nodes to get all states. Parsing time grows with the length by n^1.5 to n^1.7 for pruned L-PCFGs, n^2.4 for
arcs, n^2.6 for head automata, and linearly or less for HMMs and taggers.
Training grows fastest in the sentences for a tagger (1.08 for 1): when its numbers no longer fit into the
processor's own cache, a pass takes somewhat longer per sentence. That is a step, not a power.

    python benchmarks/bench_growth.py [MODEL…]      (models that are not named keep their rows)
"""

from __future__ import annotations

import csv
import gc
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import latentgram as lg
from harness import explain, write_rows
from latentgram.data.text import Text

FOLDER = Path(__file__).parent / "results"
SENTENCES = (250, 1000, 2000, 4000, 8000)
STATES = (4, 8, 16, 32)
AT = 2000
LENGTHS = (8, 16, 32, 64, 128)
PARSED = 200
"""Sentences that the time of parsing is given for; of long ones fewer are parsed."""


@dataclass(frozen=True)
class Family:
    """A model with a learner, its data, and the exponents that theory gives for its training and its use."""

    name: str
    model: Any
    data: str
    learner: Callable[[int], Any]
    states: int | None
    of_states: float | None = None
    """Of training, in the number of states."""
    parse_length: float | None = None
    parse_states: float | None = None


FAMILIES = (
    Family("PCFG", lg.LPCFG, "trees", lambda _: lg.Counting(), None, None, 3),
    Family("L-PCFG, spectral", lg.LPCFG, "trees", lambda m: lg.Spectral(states=m), 16, 3, 3, 3),
    Family("L-PCFG, EM", lg.LPCFG, "trees", lambda m: lg.EM(states=m, iterations=3), 8, 3),
    Family("L-PCFG, clustering", lg.LPCFG, "trees", lambda m: lg.Clustering(states=m, iterations=1), 16, 3, 3, 3),
    Family("SHAG, spectral", lg.SHAG, "dependencies", lambda m: lg.Spectral(states=m), 8, 2, 3, 2),
    Family("SHAG, EM", lg.SHAG, "dependencies", lambda m: lg.EM(states=m, iterations=25), 8, 2),
    Family(
        "arcs, first order", lg.ArcFactored, "dependencies", lambda _: lg.MIRA(order=1, passes=2), None, None, 3
    ),
    Family(
        "arcs, second order", lg.ArcFactored, "dependencies", lambda _: lg.MIRA(order=2, passes=2), None, None, 3
    ),
    Family("latent tree, spectral", lg.LatentTree, "dependencies", lambda m: lg.Spectral(states=m), 8, 2),
    Family("latent tree, EM", lg.LatentTree, "dependencies", lambda m: lg.EM(states=m, iterations=3), 8, 2),
    Family("HMM, EM", lg.HMM, "text", lambda m: lg.EM(states=m, iterations=3, tolerance=0.0), 16, 2, 1, 2),
    Family("HMM, variational", lg.HMM, "ngrams", lambda m: lg.Variational(states=m, iterations=3), 16, 2),
    Family("tagger", lg.Tagger, "tagged", lambda _: lg.Gradient(passes=2), None, None, 1),
)


class Data:
    """The demo treebank in all forms, generated once."""

    def __init__(self, number: int) -> None:
        self.whole = {"trees": lg.demo_treebank(number, 0), "dependencies": lg.demo_dependencies(number, 0)}
        self.other = lg.demo_dependencies(3 * number, 1).sentences()

    def of(self, kind: str, number: int) -> Any:
        """The first sentences."""
        if kind in self.whole:
            return self.whole[kind][:number]
        sentences = self.whole["dependencies"][:number].sentences()
        if kind == "tagged":
            return lg.Treebank.of(sentences)
        text = Text.of(sentences)
        if kind == "text":
            return text
        return lg.fit(lg.BackoffNGram, lg.NGramCounts.of(text, order=3), by=lg.Counting())

    def about(self, length: int) -> list[lg.Sentence]:
        """Unseen sentences of about so many words, made by joining statements with `and`."""
        statements = (each for each in self.other if each.words[-1] == "." and len(each) <= length + 1)
        found = []
        for _ in range(max(12, PARSED * 8 // length)):
            words: list[tuple[str, str]] = []
            while len(words) < 0.85 * length:
                each = next(statements)
                words += [("and", "CC")] if words else []
                words += list(zip(each.words, each.xpos or (), strict=True))[:-1]
            found.append(lg.Sentence.of([*words, (".", ".")]))
        return found


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Processor seconds and megabytes of some work, in a process of its own."""
    return_end, send_end = os.pipe()
    gc.collect()
    gc.freeze()  # the collector would go through all that this program holds, and that would be counted
    child = os.fork()
    if child == 0:
        started = time.process_time()
        work()
        os.write(send_end, pickle.dumps(time.process_time() - started))
        os._exit(0)
    os.close(send_end)
    with open(return_end, "rb") as file:
        seconds: float = pickle.load(file)
    _, _, usage = os.wait4(child, 0)
    return seconds, usage.ru_maxrss / 1024


def least(work: Callable[[], object]) -> tuple[float, float]:
    """The quickest of some runs, more of them where they are short: other work beside only ever adds."""
    runs = [measured(work) for _ in range(2)]  # a first one may compile
    while len(runs) < 6 and sum(seconds for seconds, _ in runs) < 1.5:
        runs.append(measured(work))
    return min(runs)


def exponent(size: Iterable[float], seconds: Iterable[float]) -> float:
    """The e of c + a·x^e, a and c not negative, that fits best on a logarithmic scale."""
    x, y = np.array(list(size), float), np.array(list(seconds), float)
    best = (np.inf, 0.0)
    for share in np.linspace(0.0, 0.9, 91):
        rest = np.log(y - share * y.min())
        slope, offset = np.polyfit(np.log(x), rest, 1)
        error = float(np.square(np.log(share * y.min() + np.exp(offset) * x**slope) - np.log(y)).mean())
        best = min(best, (error + 1e-4 * share, float(slope)))
    return best[1]


def use(model: Any, sentences: list[lg.Sentence]) -> object:
    """Parse or tag."""
    if isinstance(model, lg.HMM | lg.Tagger):
        return [model.tag(sentence) for sentence in sentences]
    return list(lg.Parser(model).parse_many(sentences))


def measure(family: Family, data: Data, rows: list[dict[str, Any]]) -> None:
    """All series of one family."""

    def note(task: str, against: str, size: float, work: Callable[[], object], share: float = 1.0) -> None:
        seconds, megabytes = least(work)
        rows.append(
            {
                "model": family.name,
                "task": task,
                "against": against,
                "size": round(size, 1),
                "seconds": f"{share * seconds:.4f}",
                "MB": f"{max(0.0, megabytes - idle):.0f}",
            }
        )
        print(*rows[-1].values(), sep=", ", flush=True)

    def fitted(number: int, states: int | None) -> Any:
        return lg.fit(family.model, data.of(family.data, number), by=family.learner(states or 1))

    small = fitted(100, min(4, family.states or 4))  # compiles
    mixed = data.other[:PARSED]
    if family.parse_length:
        use(small, mixed[:20])
    _, idle = measured(lambda: None)
    for number in SENTENCES:
        given = data.of(family.data, number)
        note("training", "sentences", number, lambda given=given: lg.fit(
            family.model, given, by=family.learner(family.states or 1)))  # fmt: skip
    given = data.of(family.data, AT)
    models = {}
    for states in STATES if family.states else ():
        note("training", "states", states, lambda states=states: lg.fit(
            family.model, given, by=family.learner(states)))  # fmt: skip
        if family.parse_states:
            models[states] = fitted(AT, states)
            note("parsing", "states", states, lambda states=states: use(models[states], mixed))
    if family.parse_length:
        model = models.get(family.states) or fitted(AT, family.states)
        for length in LENGTHS:
            sentences = data.about(length)
            mean = float(np.mean([len(sentence) for sentence in sentences]))
            share = PARSED / len(sentences)
            note("parsing", "length", mean, lambda sentences=sentences: use(model, sentences), share)


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line a series: the exponent of time, and what theory says."""
    found = []
    for family in FAMILIES:
        theory = {
            ("training", "sentences"): 1.0,
            ("training", "states"): family.of_states,
            ("parsing", "length"): family.parse_length,
            ("parsing", "states"): family.parse_states,
        }
        for (task, against), expected in theory.items():
            series = [r for r in rows if (r["model"], r["task"], r["against"]) == (family.name, task, against)]
            if not series:
                continue
            slope = exponent((float(r["size"]) for r in series), (float(r["seconds"]) for r in series))
            memory = [float(r["MB"]) for r in series]
            found.append(
                {
                    "model": family.name,
                    "task": task,
                    "against": against,
                    "exponent": f"{slope:.2f}",
                    "at most, in theory": f"{expected:g}",
                    "seconds at the largest": series[-1]["seconds"],
                    "MB at the largest": f"{memory[-1]:.0f}",
                }
            )
    return found


def draw(rows: list[dict[str, Any]]) -> None:
    """The series on logarithmic scales."""
    import matplotlib.pyplot as plt

    panels = [("training", "sentences"), ("training", "states"), ("parsing", "length"), ("parsing", "states")]
    figure, axes = plt.subplots(2, 4, figsize=(18, 8), layout="constrained")
    for column, (task, against) in enumerate(panels):
        for row, (unit, label) in enumerate((("seconds", "processor seconds"), ("MB", "megabytes"))):
            axis = axes[row, column]
            for family in FAMILIES:
                series = [r for r in rows if (r["model"], r["task"], r["against"]) == (family.name, task, against)]
                if series:
                    values = [max(float(r[unit]), 1.0 if unit == "MB" else 0.0) for r in series]
                    axis.loglog([float(r["size"]) for r in series], values, "o-", ms=3, label=family.name)
            axis.set(title=f"{task} against {against}" if row == 0 else None, xlabel=against, ylabel=label)
    axes[0, 0].legend(fontsize=7)
    plt.rcParams["svg.hashsalt"] = "growth"
    figure.savefig(FOLDER / "growth.svg", metadata={"Date": None})


def main() -> None:
    """Measure, fit, draw."""
    data = Data(max(SENTENCES))
    rows: list[dict[str, Any]] = []
    named = sys.argv[1:] or [family.name for family in FAMILIES]
    known = list(csv.DictReader((FOLDER / "growth.csv").open())) if sys.argv[1:] else []
    for family in FAMILIES:
        if family.name in named:
            measure(family, data, rows)
        rows += [row for row in known if row["model"] == family.name and family.name not in named]
    lines = summary(rows)
    for name, table in (("growth.csv", rows), ("growth_exponents.csv", lines)):
        write_rows(FOLDER / name, table)
    for line in lines:
        print(*line.values(), sep="\t")
    draw(rows)


if __name__ == "__main__":
    explain()
    main()
