"""How many sentences per second are read word by word, and how close does a beam come to the exact surprisal?

Set-up: grammars of the wsj sample (LATENTGRAM_DATA), learned with default settings from its training part; the
words of the first 100 sentences of its development part, without tags. Processor time of one core, compilation and
what is done once per grammar left out. "off" is the mean, and the greatest, difference in bits from the exact
surprisal of a word, over the first 6 sentences, which also give the speed of exact reading.

Conclusion (results/surprisal.csv): a plain PCFG is exact at more than 200 sentences per second, with entropies.
With 16 states per symbol the default beam of 2e-4 reads about 85 sentences per second on a busy machine, 73 with
entropies, a word being off by some hundredths of a bit; exact reading takes a second or two per sentence.

    python benchmarks/bench_surprisal.py
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import latentgram as lg
from harness import corpora, explain, write_rows

RESULTS = Path(__file__).parent / "results" / "surprisal.csv"
COMPARED = 6


def read(surprisal: lg.Surprisal, sentences: list[lg.Sentence]) -> tuple[float, list[np.ndarray]]:
    """Sentences per second, and the bits of their words."""
    surprisal.read(sentences[0])
    begin = time.process_time()
    bits = [surprisal(sentence) for sentence in sentences]
    return len(sentences) / (time.process_time() - begin), bits


def main() -> None:
    explain()
    folder = corpora() / "constituency" / "wsj-sample"
    train = lg.Treebank.read(folder / "train.mrg")
    sentences = [sentence.without_tags() for sentence in lg.Treebank.read(folder / "dev.mrg").sentences()[:100]]
    rows = []
    for learner in (lg.Counting(), lg.Clustering(), lg.Spectral()):
        grammar = lg.fit(lg.LPCFG, train, by=learner)
        plain = grammar.plain
        some = sentences if plain else sentences[:COMPARED]
        speed, exact = read(lg.Surprisal.of(grammar, beam=0.0, entropies=False), some)
        figures: list[tuple[float, bool, float, list[np.ndarray]]] = [(0.0, False, speed, exact)]
        for beam in [0.0] if plain else [1e-3, 2e-4, 1e-5]:
            for entropies in (True,) if plain else (False, True)[: 1 + grammar.nonnegative]:
                asked = lg.Surprisal.of(grammar, beam=beam, entropies=entropies)
                figures.append((beam, entropies, *read(asked, sentences)))
        for beam, entropies, speed, bits in figures:
            off = np.concatenate([np.abs(a - b) for a, b in zip(exact, bits, strict=False)])
            rows.append(
                {
                    "learner": type(learner).__name__,
                    "beam": f"{beam:g}",
                    "entropies": entropies,
                    "per_second": f"{speed:.1f}",
                    "mean_off": f"{off.mean():.4f}",
                    "greatest_off": f"{off.max():.3f}",
                }
            )
            print(*rows[-1].values(), sep="\t", flush=True)
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    main()
