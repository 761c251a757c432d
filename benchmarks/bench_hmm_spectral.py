"""Does the error of a spectral automaton fall as 1/√M, and how fast is it learned against scikit-splearn?

Set-up: strings drawn from a random HMM of 10 states and 50 symbols (Dirichlet rows); automata of rank 10 from M
strings; the error is Σ |p̂(x) − p(x)| over 2,000 strings drawn again, relative to Σ p(x), the mean of three
draws. The slope is that of log error on log M: −0.5 is 1/√M. Learning time is processor time of counting,
decomposition and operators, the best of three. scikit-splearn (its `Spectral` of rank 10, version classic) runs
on the same strings under an interpreter of its own, since its 1.2.1 needs numpy below 2.

Conclusion (results/hmm_spectral.csv): the slope is −0.5, and 100,000 strings take less than a tenth of a second.

    python benchmarks/bench_hmm_spectral.py [PYTHON THAT HAS SPLEARN]
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
from latentgram.data.alphabet import Alphabet
from latentgram.data.tag_dictionary import open_dictionary
from latentgram.data.text import END, Text
from latentgram.sequences.hmm import HMM

RESULTS = Path(__file__).parent / "results" / "hmm_spectral.csv"
STATES, SYMBOLS = 10, 50


def random_hmm(seed: int = 0) -> HMM:
    rng = np.random.default_rng(seed)
    words = Alphabet((END, *sorted(f"s{n:02d}" for n in range(SYMBOLS))))
    dictionary = open_dictionary(STATES)
    start, tag = dictionary.rows(words)
    transition = np.zeros((STATES + 1, STATES + 1))
    transition[0, 1:] = rng.dirichlet(np.full(STATES, 0.3))
    transition[1:, 0] = rng.uniform(0.05, 0.3, STATES)
    transition[1:, 1:] = rng.dirichlet(np.full(STATES, 0.3), STATES) * (1 - transition[1:, :1])
    emission = rng.dirichlet(np.full(SYMBOLS, 0.2), STATES).T.ravel()
    return HMM(dictionary.tags, words, transition, start, tag, np.append(1.0, emission), np.zeros(STATES + 1))


PEER = """
import sys, time
import numpy as np
from splearn.datasets.data_sample import DataSample
from splearn.spectral import Spectral
table = np.load(sys.argv[1])
data = DataSample(data=(int(sys.argv[2]), table.shape[1], table)).data
begin = time.process_time()
Spectral(rank=int(sys.argv[3]), version="classic", lrows=2, lcolumns=2).fit(data)
print(time.process_time() - begin)
"""


def splearn_seconds(python: str, strings: list[list[int]]) -> float:
    """What scikit-splearn takes under its own interpreter."""
    table = np.full((len(strings), max(map(len, strings))), -1.0)
    for row, string in zip(table, strings, strict=True):
        row[: len(string)] = string
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/strings.npy", table)
        command = [python, "-W", "ignore", "-c", PEER, f"{folder}/strings.npy", str(SYMBOLS), str(STATES)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def main() -> None:
    truth = random_hmm()
    fresh = Text.of(s.words for s in truth.sample(2000, seed=99))
    held = sorted({s.words for s in fresh})
    exact = np.exp([truth.logprob(list(words)) for words in held])
    lg.fit(lg.OperatorAutomaton, Text.of(["a b", "b a"]), by=lg.Spectral(states=1))
    rows, sizes, errors = [], [], []
    for size in (1_000, 10_000, 100_000):
        runs, times = [], []
        for seed in range(3):
            text = Text.of(s.words for s in truth.sample(size, seed=seed))
            begin = time.process_time()
            found = lg.fit(lg.OperatorAutomaton, text, by=lg.Spectral(states=STATES))
            times.append(time.process_time() - begin)
            sign, log_size = found.values(held)
            runs.append(np.abs(sign * np.exp(log_size) - exact).sum() / exact.sum())
        sizes.append(size)
        errors.append(float(np.mean(runs)))
        rows.append((f"error from {size} strings", f"{errors[-1]:.4f}"))
        rows.append((f"seconds for {size} strings", f"{min(times):.3f}"))
    rows.append(("slope of log error", f"{np.polyfit(np.log(sizes), np.log(errors), 1)[0]:.2f}"))
    if len(sys.argv) > 1:
        peer = splearn_seconds(sys.argv[1], [[truth.words.index(w) - 1 for w in s.words] for s in text])
        rows.append(("seconds of scikit-splearn", f"{peer:.2f}"))
        rows.append(("times as fast", f"{peer / min(times):.0f}"))
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "figure"])
        writer.writerows(rows)
    for name, value in rows:
        print(f"{name:35s} {value:>10}")


if __name__ == "__main__":
    explain()
    main()
