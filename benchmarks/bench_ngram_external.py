"""How fast are n-grams of more text than memory counted, in how much memory, and against KenLM's `lmplz`?

Set-up: a text, one sentence per line, given as argument, or without one drawn from a Zipf law (2 million tokens, a
try-out); `--tokens` makes it longer: as many tokens of sentences drawn from the trigrams of the text that it has
twice, kept in the file that `--keep` names. Orders 1 to 5, all bigrams kept, cut-off 3 above. One process each, on
one core where the system lets it be chosen; wall-clock and processor time, greatest resident memory. Ours writes a
table with 2G for its pieces. `lmplz`, where it is on the path or named by `--lmplz`, counts in 2G, too, and goes
on to estimate a model from the counts (`--prune 0 0 2 2 2`), which is more work than counting. The text must not
be one text repeated, which would have few distinct n-grams.

Conclusion (results/ngram_external.csv): 200 million tokens in 0.8 GB at 1.37 million tokens per second of
processor time under very heavy load, reading and writing included, as fast as 20 million (1.33). `lmplz` in two
gigabytes: 1.01 million; an earlier version of ours, in the same run with it: 0.94. Memory is set by `--memory`,
not by the text.

    python benchmarks/bench_ngram_external.py [TEXT] [--tokens 200000000] [--keep FILE] [--lmplz PATH]
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import latentgram as lg

RESULTS = Path(__file__).parent / "results" / "ngram_external.csv"
Row = tuple[str, ...]
DRAWN = 100_000
"""Sentences that are drawn at a time."""


def generated(path: Path) -> None:
    rng = np.random.default_rng(0)
    words = (rng.zipf(1.2, 2_000_000) % 50_000).reshape(-1, 20)
    path.write_text("\n".join(" ".join(f"w{n}" for n in row) for row in words.tolist()) + "\n")


def drawn(text: Path, tokens: int, target: Path) -> None:
    """Write sentences drawn from the trigrams of a text, some thousands at a time."""
    model = lg.fit(lg.BackoffNGram, lg.NGramCounts.read(text, order=3, cutoff=2), by=lg.Counting())
    names = np.array(["\n", *model.words.symbols[1:]], object)
    seed = written = 0
    with target.open("w", encoding="utf-8") as out:
        while written < tokens:
            numbers = model.sample_tokens(DRAWN, seed)
            out.write(" ".join(names[numbers].tolist()).replace(" \n ", "\n").removesuffix(" \n") + "\n")
            written += int((numbers != 0).sum())
            seed += 1


def measured(command: list[str], source: Path | None = None) -> tuple[float, float, float]:
    """Seconds by the clock and of the processor, and the greatest resident memory in GB."""
    begin = time.perf_counter()
    with open(source if source else os.devnull, "rb") as stdin:
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(errors.decode()[-500:])
    wall = time.perf_counter() - begin
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def write(rows: list[Row]) -> None:
    """What was measured before on texts of other sizes is kept."""
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            old = [tuple(row) for row in list(csv.reader(file))[1:]]
        rows = [row for row in old if row[1] != rows[0][1]] + rows
    with RESULTS.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(
            ["program", "tokens", "seconds", "processor", "tokens per second of processor", "memory GB"]
        )
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Counting more text than memory.")
    parser.add_argument("text", nargs="?", type=Path)
    parser.add_argument("--lmplz", default=shutil.which("lmplz"))
    parser.add_argument("--tokens", type=int, help="draw so many tokens from the trigrams of the text")
    parser.add_argument("--keep", type=Path, help="file for what is drawn")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        text = given.text
        if text is None:
            generated(text := Path(folder) / "text")
        if given.tokens:
            source, text = text, given.keep or Path(folder) / "drawn"
            if not text.exists():
                drawn(source, given.tokens, text)
        with open(text, "rb") as file:
            tokens = sum(len(line.split()) for line in file)
        ours = [sys.executable, "-m", "latentgram", "ngram", "count", str(text), "-o", f"{folder}/table"]
        ours += ["--order", "5", "--cutoff", "3", "--memory", "2G", "--temporary", folder]
        commands: list[tuple[str, list[str], Path | None]] = [("latentgram ngram count", ours, None)]
        if given.lmplz:
            estimate = [given.lmplz, "-o", "5", "-S", "2G", "-T", folder, "--prune", "0", "0", "2", "2", "2"]
            estimate += ["--discount_fallback", "--arpa", f"{folder}/arpa"]
            commands.append(("lmplz", estimate, text))
        else:
            print("lmplz is not on the path; --lmplz names it")
        for name, command, source in commands:
            wall, spent, memory = measured(command, source)
            rows.append(
                (name, str(tokens), f"{wall:.0f}", f"{spent:.0f}", f"{tokens / spent:.0f}", f"{memory:.2f}")
            )
            print(*rows[-1], flush=True)
            write(rows)


if __name__ == "__main__":
    main()
