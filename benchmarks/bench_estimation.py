"""How fast are smoothed models estimated in bounded memory, how does that grow, and how large are their files?

Set-up: a text, one sentence per line, given as argument (without one, 2 million tokens drawn from a Zipf law, a
try-out); its first eighth, quarter, half and all of it; modified Kneser–Ney of order 5 without pruning, from text
to an ARPA file, with 2G of memory. KenLM's programs, whose folder `--kenlm` names, do the same in the same run:
`lmplz -o 5 -S 2G` on the whole text, and `build_binary trie` with as many bits as ours and all pointers compressed
(-q 10 -b 10 -a 22) of the model of the first eighth. Processor time and greatest resident memory of each program,
on one core where the system lets it be chosen. Models of 4,000 sentences are compared with those of `lmplz` entry
by entry. Exponents are slopes of logarithms between the half and the whole; the last line is what they foretell
for a billion tokens.

Conclusion (results/estimation.csv): 42 million n-grams of 20 million tokens in 0.87 of the time of `lmplz`, both
in less than a gigabyte, with the same entries within 1e-6. A packed file has 0.73 of the bytes of KenLM's trie.

    python benchmarks/bench_estimation.py [TEXT] [--kenlm FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np

import latentgram as lg
from bench_ngram_external import generated, measured
from latentgram.data.ngrams.arpa import read_arpa

RESULTS = Path(__file__).parent / "results" / "estimation.csv"
ORDER = "5"
BILLION = 1_000_000_000
BITS = "10"
FEW = 4000
"""Sentences of the text whose models are compared entry by entry."""
Figures = tuple[int, int, float, float, int]
"""Tokens, n-grams, processor seconds, memory in GB, bytes of the file."""


def written(arpa: Path) -> int:
    """How many n-grams an ARPA file has."""
    total = 0
    with arpa.open("rb") as file:
        for line in file:
            if line.startswith(b"ngram "):
                total += int(line.partition(b"=")[2])
            elif line.startswith(b"\\1-grams"):
                return total
    raise SystemExit(f"{arpa} is no ARPA file")


def part(text: Path, target: Path, share: float) -> int:
    """Write the first lines of a text, up to a share of its bytes; how many tokens they have."""
    left, tokens = int(os.path.getsize(text) * share), 0
    with text.open("rb") as source, target.open("wb") as out:
        for line in source:
            if left <= 0:
                break
            left -= len(line)
            tokens += len(line.split())
            out.write(line)
    return tokens


def estimated(command: list[str], arpa: Path, tokens: int, source: Path | None = None) -> Figures:
    _, spent, memory = measured(command, source)
    return tokens, written(arpa), spent, memory, os.path.getsize(arpa)


def largest_difference(text: Path, lmplz: Path, folder: Path, cutoffs: tuple[int, ...]) -> float:
    """The largest difference of any log-probability or back-off weight from those of `lmplz`."""
    ours, theirs = folder / "ours.arpa", folder / "theirs.arpa"
    learner = lg.Counting(smoothing="kneser-ney", cutoff=cutoffs)
    lg.write_language_model(text, ours, by=learner, order=len(cutoffs), memory="2G", temporary=folder)
    command = [str(lmplz), "-o", str(len(cutoffs)), "-S", "1G", "-T", str(folder), "--arpa", str(theirs)]
    measured([*command, "--prune", *(str(least - 1) for least in cutoffs)], text)
    one, other = read_arpa(ours), read_arpa(theirs)
    if one.words != other.words or not np.array_equal(one.trie.word, other.trie.word):
        raise SystemExit("lmplz has other n-grams")
    pairs = (one.logprob, other.logprob), (one.backoff, other.backoff)
    return max(float(np.abs(mine - its).max()) for mine, its in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Smoothed models in bounded memory.")
    parser.add_argument("text", nargs="?", type=Path)
    parser.add_argument("--kenlm", type=Path, help="folder with lmplz and build_binary")
    asked = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows: list[tuple[str, ...]] = []

    def tell(name: str, figures: Figures) -> None:
        tokens, grams, spent, memory, size = figures
        speed = f"{tokens / spent:.0f}" if spent else ""
        rows.append((name, str(tokens), str(grams), f"{spent:.1f}", speed, f"{memory:.2f}", str(size)))
        print(*rows[-1], sep="\t", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, piece, arpa = asked.text, folder / "text", folder / "model.arpa"
        if text is None:
            generated(text := folder / "generated")
        ours = [sys.executable, "-m", "latentgram", "ngram", "build"]
        grown: list[Figures] = []
        for share in (0.125, 0.25, 0.5, 1.0):
            tokens = part(text, piece, share)
            settings = ["--order", ORDER, "--smoothing", "kneser-ney"]
            command = [*ours, str(piece), "-o", str(arpa), *settings]
            grown.append(
                estimated([*command, "--memory", "2G", "--temporary", str(folder / "work")], arpa, tokens)
            )
            tell("latentgram ngram build --memory 2G", grown[-1])
            if share == 0.125:
                packed = folder / "model.lg"
                _, spent, memory = measured([*ours, str(piece), "-o", str(packed), *settings, "--compact", BITS])
                tell(
                    f"latentgram ngram build --compact {BITS}",
                    (*grown[0][:2], spent, memory, packed.stat().st_size),
                )
                if asked.kenlm:
                    binary = folder / "trie"
                    command = [str(asked.kenlm / "build_binary"), "-T", name, "-q", BITS, "-b", BITS, "-a", "22"]
                    _, spent, memory = measured([*command, "trie", str(arpa), str(binary)])
                    tell("build_binary trie", (*grown[0][:2], spent, memory, binary.stat().st_size))
        if asked.kenlm:
            command = [str(asked.kenlm / "lmplz"), "-o", ORDER, "-S", "2G", "-T", name, "--arpa", str(arpa)]
            tell("lmplz -S 2G", estimated([*command, "--discount_fallback"], arpa, grown[-1][0], piece))
            few = folder / "few"
            with text.open("rb") as source:
                few.write_bytes(b"".join(islice(source, FEW)))
            for cutoffs in ((1,) * 5, (1, 1, 2, 2, 3)):
                off = largest_difference(few, asked.kenlm / "lmplz", folder, cutoffs)
                print(
                    f"{FEW} sentences, cut-offs {cutoffs}: entries differ from those of lmplz by {off:.1g} at most"
                )
    half, whole = grown[-2:]
    ahead = BILLION / whole[0]

    def foretold(column: int) -> float:
        slope = math.log(whole[column] / half[column]) / math.log(whole[0] / half[0])
        print(f"exponent of {('', 'n-grams', 'time', '', 'bytes')[column]}: {slope:.2f}")
        return float(whole[column] * ahead**slope)

    tell("foretold", (BILLION, int(foretold(1)), foretold(2), 0.0, int(foretold(4))))
    with RESULTS.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["program", "tokens", "n-grams", "processor s", "tokens per s", "memory GB", "bytes"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
