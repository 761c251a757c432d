"""What do constraints cost, and what are they worth?

Set-up: sentences of up to 40 words of the dev part of wsj-sample, the parser's own tags, a counted PCFG and a
latent grammar with 8 spectral states. Nothing is told, or the tags, or the spans of the gold noun phrases of two
words and more (without labels). CPU seconds of one core and F1.

    LATENTGRAM_DATA=… python benchmarks/bench_constraints.py

Conclusion: the more is told, the quicker and the better; the spans of noun phrases are worth most.
"""

from __future__ import annotations

import time
from pathlib import Path

import latentgram as lg
from harness import corpora, explain, write_rows
from latentgram.errors import NoParse

RESULTS = Path(__file__).parent / "results" / "constraints.csv"


def noun_phrases(tree: lg.Tree) -> list[tuple[int, int]]:
    return [(first, end) for label, first, end in tree.spans() if label == "NP" and end - first > 1]


TOLD = {
    "nothing": lambda tree: lg.Constraints(),
    "tags": lambda tree: lg.Constraints.of(tags=enumerate(tree.tags)),
    "spans of noun phrases": lambda tree: lg.Constraints.of(spans=noun_phrases(tree)),
}


def main() -> None:
    folder = corpora() / "constituency" / "wsj-sample"
    train, dev = (lg.Treebank.read(folder / f"{part}.mrg") for part in ("train", "dev"))
    trees = [tree for tree in dev if len(tree) <= 40]
    rows = []
    for learner in (lg.Counting(), lg.Spectral(states=8)):
        parser = lg.Parser(lg.fit(lg.LPCFG, train, by=learner))
        for name, told in TOLD.items():
            known = [told(tree) for tree in trees]
            parser.parse(trees[0].words, known[0])
            kept, found, begin = [], [], time.process_time()
            for tree, parts in zip(trees, known, strict=True):
                try:
                    found.append(parser.parse(tree.words, parts).tree)
                    kept.append(tree)
                except NoParse:
                    continue
            seconds = time.process_time() - begin
            score = lg.score_brackets(lg.Treebank.of(kept).forest, found)
            rows.append(
                {
                    "learner": type(learner).__name__,
                    "told": name,
                    "seconds": f"{seconds:.2f}",
                    "f1": f"{score.f1:.2f}",
                    "sentences": len(kept),
                    "none obeys": len(trees) - len(kept),
                }
            )
            print(rows[-1], flush=True)
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    explain()
    main()
