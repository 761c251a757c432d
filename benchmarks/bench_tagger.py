"""How well and how fast does the tagger tag, and are its posteriors honest?

Set-up: default settings, chosen on the development parts; one core, CPU time; words as in the treebank. `known`
and `new` are the words that training has and has not seen. Calibration error is the mean gap between posterior
and accuracy over ten bins of equal width (ECE), in percent.

Conclusion (results/tagger.csv): nine of ten new words of newspaper text get the right tag, eight of ten of web
text; posteriors are about one percent too sure. Pairs of coarse and fine tags cost time: more candidates, cubed.

    LATENTGRAM_DATA=… python benchmarks/bench_tagger.py [--test]
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import latentgram as lg
from harness import corpora, explain

RESULTS = Path(__file__).parent / "results"
PACKS = {"wsj-sample": "tagged/wsj-sample/{}.tsv", "en_ewt": "dependency/en_ewt/{}.conllu"}


def tagging(folder: Path, parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    rows = []
    for name, path in PACKS.items():
        train = lg.Treebank.read(folder / path.format("train"))
        started = time.process_time()
        tagger = lg.fit(lg.Tagger, train, by=lg.Gradient())
        learning = time.process_time() - started
        for part in parts:
            gold = lg.Treebank.read(folder / path.format(part)).sentences()
            bare = [sentence.without_tags() for sentence in gold]
            tagger.annotate(bare[:10])
            started = time.process_time()
            output = tagger.annotate(bare)
            spent = time.process_time() - started
            fine = np.array(
                [
                    a == b
                    for g, (o, _) in zip(gold, output, strict=True)
                    for a, b in zip(g.xpos, o.xpos, strict=True)
                ]
            )
            both = fine.copy()
            coarse = "–"
            if gold[0].upos is not None:
                right = np.array(
                    [
                        a == b
                        for g, (o, _) in zip(gold, output, strict=True)
                        for a, b in zip(g.upos, o.upos, strict=True)
                    ]
                )
                both &= right
                coarse = f"{100 * right.mean():.2f}"
            sure = np.concatenate([confidence for _, confidence in output])
            known = np.array([word in tagger.candidates.words for sentence in gold for word in sentence.words])
            rows.append(
                (
                    name, part, f"{100 * fine.mean():.2f}", coarse, f"{100 * fine[known].mean():.2f}",
                    f"{100 * fine[~known].mean():.2f}", f"{100 * _gap(sure, both):.2f}",
                    f"{len(fine) / spent:.0f}", f"{learning:.1f}",
                )
            )  # fmt: skip
            print(*rows[-1])
    return rows


def _gap(sure: np.ndarray, right: np.ndarray) -> float:
    bins = np.minimum((sure * 10).astype(int), 9)
    gaps = [abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    return float(sum(gaps))


def write(name: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def main() -> None:
    folder = corpora()
    parts = ("dev", "test") if "--test" in sys.argv else ("dev",)
    header = ("treebank", "part", "XPOS", "UPOS", "known", "new", "ECE", "words/s", "training s")
    write("tagger.csv", header, tagging(folder, parts))


if __name__ == "__main__":
    explain()
    main()
