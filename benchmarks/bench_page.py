"""Is the page quick enough to correct trees at?

Set-up: 3,000 trees (of the demo treebank, and of the wsj sample where LATENTGRAM_DATA points to it),
a PCFG and a latent grammar (Spectral, 16 states) of them, head automata likewise and by EM, and an arc-factored
parser (MIRA, order 2). Measured is what the page waits for: the analysis of a 30-word sentence (tree, posteriors),
without corrections and with some, and the acceptance of a tree: appended to the file, absorbed into the model, the
new parser ready to parse. Wall-clock time, median of 9 and the longest, after one call that compiles.

Conclusion: a correction is answered within 0.2 s and an accepted tree learned within 2 s, with room to spare.
"""

from __future__ import annotations

import csv
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import latentgram as lg
from latentgram.web.analysis import Asked, analyse
from latentgram.web.session import Session

TREES, WORDS, REPEATS = 3000, 30, 9
MODELS = {
    "constituency": ((lg.LPCFG, lg.Counting()), (lg.LPCFG, lg.Spectral(states=16))),
    "dependency": (
        (lg.SHAG, lg.Counting()),
        (lg.SHAG, lg.Spectral(states=16)),
        (lg.SHAG, lg.EM(states=16)),
        (lg.ArcFactored, lg.MIRA()),
    ),
}


def banks() -> Iterator[tuple[str, Any]]:
    yield "demo", lg.demo_treebank(TREES + 200, seed=0)
    yield "demo dependencies", lg.demo_dependencies(TREES + 200, seed=0)
    folder = os.environ.get("LATENTGRAM_DATA")
    if folder:
        yield "wsj-sample", lg.Treebank.read(Path(folder) / "constituency" / "wsj-sample" / "train.mrg")
        yield (
            "wsj-sample dependencies",
            lg.Treebank.read(Path(folder) / "dependency" / "wsj-sample" / "train.conllu"),
        )


def timed(work: Callable[[int], object]) -> list[float]:
    work(0)
    times = []
    for number in range(1, REPEATS + 1):
        started = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - started)
    return times


def corrections(parser: lg.Parser, sentence: lg.Sentence) -> lg.Constraints:
    """Two or three things that lead from the best tree to another of the ten best."""
    best, *_, other = parser.nbest(sentence, 10)
    if isinstance(best.tree, lg.Tree):
        now, wanted = set(best.tree.spans()), set(other.tree.spans())
        return lg.Constraints.of(
            spans=[(first, end, label) for label, first, end in sorted(wanted - now)[:1]],
            forbidden_spans=[(first, end, label) for label, first, end in sorted(now - wanted)[:1]],
            tags={0: other.tree.tags[0]},
        )
    moved = [
        m for m, heads in enumerate(zip(best.tree.heads, other.tree.heads, strict=True), 1) if len(set(heads)) > 1
    ]
    return lg.Constraints.of(
        heads={moved[0]: other.tree.heads[moved[0] - 1]}, forbidden_heads={moved[0]: best.tree.heads[moved[0] - 1]}
    )


def measure(name: str, bank: Any, kind: Any, learner: Any, folder: Path) -> list[object]:
    dependency = bank.kind == "dependency"
    train, rest = bank[: min(TREES, len(bank) - 50)], bank[-50:]
    path = folder / f"{name}-{type(learner).__name__}.{'conllu' if dependency else 'mrg'}"
    train.write(path)
    session = Session(lg.Parser(lg.fit(kind, train, by=learner)), treebank=path, workers=0)
    session.why_not_refit = "not measured here"
    words = [tree for tree in bank if len(tree) >= WORDS][:1] or [max(bank, key=len)]
    given = words[0].sentence
    sentence = lg.Sentence(
        given.words[:WORDS],
        given.xpos and given.xpos[:WORDS] if dependency else None,
        given.upos and given.upos[:WORDS] if dependency else None,
    )
    known = corrections(session.parser, sentence)
    free = timed(lambda _: analyse(session.parser, Asked(sentence)))
    fixed = timed(lambda _: analyse(session.parser, Asked(sentence, known)))

    def accept(number: int) -> None:
        _, absorbed = session.accept(f"benchmark-{number}", rest[number], None, 0, None)
        assert absorbed
        session.parser.parse(rest[number].sentence if dependency else rest[number].words)

    accepted = timed(accept)
    times = (*map(statistics.median, (free, fixed, accepted)), max(accepted))
    return [name, type(learner).__name__, len(train), len(sentence), *(f"{1000 * each:.0f}" for each in times)]


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, bank in banks():
            for kind, learner in MODELS[bank.kind]:
                rows.append(measure(name, bank, kind, learner, Path(folder)))
                print(*rows[-1], sep="\t", flush=True)
    with (Path(__file__).parent / "results" / "page.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(
            ("treebank", "learner", "trees", "words", "parse_ms", "corrected_ms", "accepted_ms", "longest_ms")
        )
        writer.writerows(rows)


if __name__ == "__main__":
    main()
