"""How good are operator automata on tasks like those of the PAutomaC competition, against scikit-splearn?

Set-up: five random targets in the manner of Verwer et al. (2014), of 5 to 20 states over 4 to 15 symbols: hidden
Markov models, probabilistic automata and deterministic ones, with sparse transitions. 20,000 strings to learn
from, 1,000 others to be judged on. The score is theirs: the perplexity 2^(−Σ p(x) log₂ q(x)), with the true p and
the learned q both made to sum to one over the judged strings, as a ratio to the perplexity of p itself, so that 1
is the best. A string to which a model gives no positive number gets the smallest number that the model gives to
any; their share is a column of its own. States are those of the target; the rest is the same for all targets:
strings of up to three symbols on both sides, the 300 most frequent ones. scikit-splearn (rank as many, rows and
columns of up to three symbols, sparse) runs on the same strings under an interpreter of its own, since its 1.2.1
needs numpy below 2.

Conclusion (results/pautomac.csv): EM and clustering have no bad target. Of the spectral matrices factors are the
best or within 0.01 of it, whole strings the worst; scikit-splearn is about as near with the same matrix, but for
single strings with tiny numbers, and takes four to eleven times as long. Completion takes nine times as long and
changes the third digit, or does harm.

    python benchmarks/bench_pautomac.py [PYTHON THAT HAS SPLEARN]
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import latentgram as lg
from harness import explain
from latentgram.data.text import Text

RESULTS = Path(__file__).parent / "results" / "pautomac.csv"
TARGETS = [("hmm", 5, 4), ("hmm", 15, 10), ("pfa", 10, 6), ("pfa", 20, 15), ("dfa", 12, 8)]
LEARNED, JUDGED, BASIS, LONGEST = 20_000, 1_000, 300, 100


def target(kind: str, states: int, symbols: int, seed: int) -> lg.OperatorAutomaton:
    """A random automaton: an HMM, a probabilistic automaton, or one whose symbols determine the next state."""
    rng = np.random.default_rng(seed)
    stop = rng.uniform(0.05, 0.3, states)
    step = np.zeros((symbols, states, states))
    for state in range(states):
        used = rng.choice(symbols, max(2, symbols // 2), replace=False)
        if kind == "hmm":
            move = rng.dirichlet(np.full(states, 0.3))
            step[used, :, state] = rng.dirichlet(np.full(len(used), 0.5))[:, None] * move
        else:
            share = rng.dirichlet(np.full(len(used), 0.5))
            for symbol, part in zip(used, share, strict=True):
                reached = rng.choice(states, 1 if kind == "dfa" else 3, replace=False)
                step[symbol, reached, state] = part * rng.dirichlet(np.ones(len(reached)))
        step[:, :, state] *= 1.0 - stop[state]
    start = np.eye(states)[0] if kind == "dfa" else rng.dirichlet(np.ones(states))
    names = [f"s{number:02d}" for number in range(symbols)]
    return lg.OperatorAutomaton(lg.Alphabet(tuple(names)), start, stop, step)


PEER = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from splearn.datasets.data_sample import DataSample
from splearn.spectral import Spectral
train, test = np.load(sys.argv[1]), np.load(sys.argv[2])
symbols, rank, version = int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
data = DataSample(data=(symbols, train.shape[1], train)).data
begin = time.process_time()
model = Spectral(rank=rank, version=version, lrows=3, lcolumns=3, partial=True, sparse=True).fit(data)
seconds = time.process_time() - begin
np.save(sys.argv[1], [model.automaton.val([int(x) for x in row if x >= 0]) for row in test])
print(seconds)
"""


def splearn(
    python: str, train: list[list[int]], test: list[list[int]], symbols: int, rank: int, version: str
) -> tuple[np.ndarray, float]:
    """What scikit-splearn gives to the strings that are judged, and its seconds."""
    tables = []
    for strings in (train, test):
        table = np.full((len(strings), max(map(len, strings))), -1.0)
        for row, string in zip(table, strings, strict=True):
            row[: len(string)] = string
        tables.append(table)
    with tempfile.TemporaryDirectory() as folder:
        for name, table in zip(("train", "test"), tables, strict=True):
            np.save(f"{folder}/{name}.npy", table)
        files = [f"{folder}/{name}.npy" for name in ("train", "test")]
        command = [python, "-W", "ignore", "-c", PEER, *files, str(symbols), str(rank), version]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return np.load(f"{folder}/train.npy"), float(done.stdout.split()[-1])


def perplexity_ratio(truth: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The perplexity as a ratio to that of the truth, and the percentage of strings without a positive number."""
    bad = ~(values > 0)
    q = np.where(bad, values[~bad].min(initial=1.0), values)
    p, q = truth / truth.sum(), q / q.sum()
    return float(2 ** (np.sum(p * (np.log2(p) - np.log2(q))))), 100 * float(bad.mean())


def main() -> None:
    basis = {"history": 3, "future": 3, "basis": BASIS}
    ours = {
        "EM": lambda states: lg.EM(states=states, iterations=60, start="spectral"),
        "clustering": lambda states: lg.Clustering(states=states),
        "spectral, places, power and ridge": lambda states: lg.Spectral(
            states=states, **basis, power=0.25, ridge=3.0
        ),
        "spectral, strings": lambda states: lg.Spectral(states=states, **basis, hankel="string"),
        "spectral, prefixes": lambda states: lg.Spectral(states=states, **basis, hankel="prefix"),
        "spectral, factors": lambda states: lg.Spectral(states=states, **basis, hankel="factor"),
        "spectral, factors, basis 100": lambda states: lg.Spectral(
            states=states, history=3, future=3, basis=100, hankel="factor"
        ),
        "spectral, factors, basis 100, completed": lambda states: lg.Spectral(
            states=states, history=3, future=3, basis=100, hankel="factor", completion=1e-4
        ),
    }
    results: dict[str, list[tuple[float, float, float]]] = {}
    for seed, (kind, states, symbols) in enumerate(TARGETS):
        truth = target(kind, states, symbols, seed)
        drawn = [s for s in truth.sample(2 * (LEARNED + JUDGED), seed=seed, longest=LONGEST) if s]
        train = drawn[:LEARNED]
        judged = sorted(set(drawn[LEARNED:]))[:: max(1, len(set(drawn[LEARNED:])) // JUDGED)][:JUDGED]
        exact = np.exp([truth.logprob(string) for string in judged])
        for name, by in ours.items():
            lg.fit(lg.OperatorAutomaton, Text.of(train[:200]), by=by(2))
            begin = time.process_time()
            model = lg.fit(lg.OperatorAutomaton, Text.of(train), by=by(states))
            seconds = time.process_time() - begin
            sign, size = model.values(judged)
            results.setdefault(name, []).append((*perplexity_ratio(exact, sign * np.exp(size)), seconds))
        for version in ("classic", "prefix", "factor") if len(sys.argv) > 1 else ():
            numbers = [[[truth.symbols.index(a) for a in string] for string in part] for part in (train, judged)]
            values, seconds = splearn(sys.argv[1], *numbers, symbols, states, version)
            results.setdefault(f"scikit-splearn, {version}", []).append(
                (*perplexity_ratio(exact, values), seconds)
            )
    heads = [f"{kind} {states}/{symbols}" for kind, states, symbols in TARGETS]
    rows = []
    for name, figures in results.items():
        ratios, bad, seconds = zip(*figures, strict=True)
        cells = [f"{ratio:.3f}" for ratio in ratios]
        rows.append([name, *cells, f"{np.mean(bad):.1f}", f"{np.mean(seconds):.2f}"])
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["learner", *heads, "% not positive", "seconds"])
        writer.writerows(rows)
    for row in [["learner", *heads, "% ≤ 0", "seconds"], *rows]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    explain()
    main()
