"""How well and how fast does the tagger tag and find morphological features, and are its posteriors honest?

Set-up: default settings, chosen on the development parts; one core, CPU time; words as in the treebank. UFeats is
the share of words whose FEATS are right as a whole. `known` and `new` are words that training has and has not
seen, by XPOS where the treebank has it, else by UPOS. Calibration error is the mean gap between posterior and
accuracy of UPOS and XPOS together over ten bins of equal width (ECE), in percent. With `--joint` FEATS are learned
as wholes, without the parts of tags.

Conclusion (results/tagger.csv, tagger_joint.csv): candidates from a dictionary and from endings leave a few tags
per word, so that exact sums of second order cost microseconds. Weights for the parts of tags (UPOS, XPOS, each
attribute) find more tags and features than weights for whole tags alone; posteriors are one to two percent too
sure, on Turkish three, where the scale of scores is fitted to held-out sentences.

    LATENTGRAM_DATA=… python benchmarks/bench_tagger.py [--test] [--joint] [TREEBANK …]
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import latentgram as lg
from harness import corpora, explain
from latentgram.tagger.tagset import TagSet

RESULTS = Path(__file__).parent / "results"
PACKS = {
    "wsj-sample": "tagged/wsj-sample/{}.tsv",
    "en_ewt": "dependency/en_ewt/{}.conllu",
    "fr_sequoia": "dependency/fr_sequoia/{}.conllu",
    "tr_imst": "dependency/tr_imst/{}.conllu",
}
HEADER = ("treebank", "part", "tags", "XPOS", "UPOS", "UFeats", "known", "new", "ECE", "words/s", "training s")


def tagging(folder: Path, names: list[str], parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    lg.fit(lg.Tagger, lg.demo_dependencies(50), by=lg.Gradient(passes=1)).tag("compiles what is needed")
    rows = []
    for name in names:
        path = PACKS[name]
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
            right = {
                column: hits(gold, [tagged for tagged, _ in output], column)
                for column in ("xpos", "upos", "feats")
            }
            shown = [f"{100 * hit.mean():.2f}" if hit is not None else "–" for hit in right.values()]
            tags = [hit for hit in (right["xpos"], right["upos"]) if hit is not None]
            sure = np.concatenate([confidence for _, confidence in output])
            known = np.array([word in tagger.candidates.words for sentence in gold for word in sentence.words])
            rows.append(
                (
                    name, part, str(len(tagger.xpos)), *shown, f"{100 * tags[0][known].mean():.2f}",
                    f"{100 * tags[0][~known].mean():.2f}", f"{100 * _gap(sure, np.all(tags, 0)):.2f}",
                    f"{len(sure) / spent:.0f}", f"{learning:.1f}",
                )
            )  # fmt: skip
            print(*rows[-1], flush=True)
    return rows


def hits(gold: list[lg.Sentence], output: list[lg.Sentence], column: str) -> np.ndarray | None:
    """Which entries of a column are right; None where the treebank has none."""
    if all(getattr(sentence, column) is None for sentence in gold):
        return None
    return np.array(
        [
            right == found
            for sentence, tagged in zip(gold, output, strict=True)
            for right, found in zip(
                getattr(sentence, column) or ("_",) * len(sentence),
                getattr(tagged, column) or ("_",) * len(sentence),
                strict=True,
            )
        ]
    )


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
    if "--joint" in sys.argv:
        TagSet.parts_of = lambda self, number: (f"tag {number}",)  # type: ignore[method-assign]
    names = [name for name in sys.argv[1:] if not name.startswith("--")] or list(PACKS)
    print(*HEADER)
    write("tagger_joint.csv" if "--joint" in sys.argv else "tagger.csv", HEADER, tagging(folder, names, parts))


if __name__ == "__main__":
    explain()
    main()
