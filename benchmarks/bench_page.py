"""Is the page quick enough to correct trees at?

Set-up: 3,000 trees (of the demo treebank, and of the wsj sample where LATENTGRAM_DATA points to it),
a PCFG and a latent grammar (Spectral, 16 states) of them, head automata likewise and by EM, and an arc-factored
parser (MIRA, order 2). Measured is what the page waits for: the analysis of a 30-word sentence (tree, posteriors),
without corrections and with some, and of one with 200 words; the answer to an acceptance (the tree is in the
file); and beside it, while nobody waits, learning the tree until the new parser has parsed with it. Milliseconds
of the processor, median of 9 and the longest, after one call that compiles. And seconds of the processor from the
start of a process to its first parse, and of `latentgram serve` with all its processes until its first parse is
answered, with kernels that were compiled before; cold, when Python compiles all modules, and warm.

Conclusion: a correction is answered within 0.2 s, an acceptance within 0.1 s, and 200 words within 10 s; the first
parse of a page that was just started takes 3.3 s cold and 1.2 s warm on a busy machine, nearly all of it before
the page is there, since the worker is a copy of the server and gets ready beside it.

    python benchmarks/bench_page.py [--only wsj-sample] [--start MODEL.lg]
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import latentgram as lg
from latentgram.web.analysis import Asked, analyse
from latentgram.web.session import Session

TREES, WORDS, LONG, REPEATS = 3000, 30, 200, 9
MODELS = {
    "constituency": ((lg.LPCFG, lg.Counting()), (lg.LPCFG, lg.Spectral(states=16))),
    "dependency": (
        (lg.SHAG, lg.Counting()),
        (lg.SHAG, lg.Spectral(states=16)),
        (lg.SHAG, lg.EM(states=16)),
        (lg.ArcFactored, lg.MIRA()),
    ),
}
FIRST = """
import sys
import latentgram as lg
from latentgram.web.analysis import Asked, analyse
words, tags = sys.argv[2].split(), sys.argv[3].split() or None
analyse(lg.load(sys.argv[1], lg.Parser), Asked(lg.Sentence(tuple(words), tags and tuple(tags))))
"""


def banks(only: str) -> Iterator[tuple[str, Any]]:
    made: dict[str, Callable[[], Any]] = {
        "demo": lambda: lg.demo_treebank(TREES + 200, seed=0),
        "demo dependencies": lambda: lg.demo_dependencies(TREES + 200, seed=0),
    }
    folder = os.environ.get("LATENTGRAM_DATA")
    if folder:
        made["wsj-sample"] = lambda: lg.Treebank.read(Path(folder, "constituency", "wsj-sample", "train.mrg"))
        made["wsj-sample dependencies"] = lambda: lg.Treebank.read(
            Path(folder, "dependency", "wsj-sample", "train.conllu")
        )
    for name, make in made.items():
        if name.startswith(only):
            yield name, make()


def timed(work: Callable[[int], object], repeats: int = REPEATS) -> list[float]:
    work(0)
    times = []
    for number in range(1, repeats + 1):
        started = time.process_time()
        work(number)
        times.append(time.process_time() - started)
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


def sentence_of(bank: Any, size: int, tagged: bool) -> lg.Sentence:
    """A sentence of so many words: the first long one, and what follows it."""
    start = next((number for number, tree in enumerate(bank) if len(tree) >= WORDS), 0)
    words: list[str] = []
    tags: list[str] = []
    for tree in bank[start:]:
        words += tree.words
        tags += tree.sentence.tags or ()
    return lg.Sentence(tuple(words[:size]), tuple(tags[:size]) if tagged else None)


def first_parse(parser: lg.Parser, sentence: lg.Sentence, folder: Path) -> float:
    """Seconds of the processor that a new process takes until it has parsed a sentence; the second of two."""
    path = folder / "first.lg"
    lg.save(parser, path)
    command = [sys.executable, "-c", FIRST, str(path), " ".join(sentence.words), " ".join(sentence.tags or ())]
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def starts(model: Path) -> Iterator[tuple[str, float, float]]:
    """What the first start takes, for which Python compiles all modules, and what the next one takes."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**kept, "PYTHONPYCACHEPREFIX": folder}
        for name in ("cold", "warm"):
            yield name, *served(model, environment)


def served(model: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of the processor that a server and its worker take until the page is there, and until it parsed."""
    command = [sys.executable, "-m", "latentgram", "serve", model, "--no-browser", "--port", "0", "--workers", "1"]
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as server:
        try:
            assert server.stdout is not None
            address = next(line for line in server.stdout if "http" in line).split("http", 1)[1].split()[0]
            ask = f"http{address}api/"
            urlopen(f"{ask}status").read()
            up = _processor(server.pid)
            question = json.dumps({"text": "The company said it will sell the unit to the group ."})
            urlopen(Request(f"{ask}parse", question.encode(), {"Content-Type": "application/json"})).read()
            return up, _processor(server.pid)
        finally:
            server.terminate()


def _processor(process: int) -> float:
    """Seconds of the processor of a process and of those that it started (Linux)."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            if process in (int(path.parent.name), int(fields[1])):
                total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def measure(name: str, bank: Any, kind: Any, learner: Any, folder: Path) -> list[object]:
    dependency = bank.kind == "dependency"
    train, rest = bank[: min(TREES, len(bank) - 50)], bank[-50:]
    path = folder / f"{name}-{type(learner).__name__}.{'conllu' if dependency else 'mrg'}"
    train.write(path)
    session = Session(lg.Parser(lg.fit(kind, train, by=learner)), treebank=path, workers=0)
    session.why_not_refit = "not measured here"
    parser, sentence = session.parser, sentence_of(bank, WORDS, dependency)
    known = corrections(parser, sentence)
    free = timed(lambda _: analyse(parser, Asked(sentence)))
    fixed = timed(lambda _: analyse(parser, Asked(sentence, known)))
    long = timed(lambda _: analyse(parser, Asked(sentence_of(bank, LONG, dependency))), 1)
    first = first_parse(parser, sentence, folder)
    answers: list[float] = []
    write = session.annotations.add

    def written(*args: Any, **more: Any) -> Any:
        started = time.process_time()
        done = write(*args, **more)
        answers.append(time.process_time() - started)
        return done

    session.annotations.add = written  # type: ignore[method-assign]

    def accept(number: int) -> None:
        _, absorbed = session.accept(f"benchmark-{number}", rest[number], rest[number], 0, None)
        assert absorbed
        session.parser.parse(rest[number].sentence if dependency else rest[number].words)

    learned = timed(accept)
    times = (*map(statistics.median, (free, fixed, long, answers[1:], learned)), max(learned))
    cells = [f"{1000 * each:.0f}" for each in times]
    return [name, type(learner).__name__, len(train), len(sentence), *cells, f"{first:.1f}"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--only", default="", help="treebanks whose names begin so; the table is not written then"
    )
    options.add_argument("--start", type=Path, help="only how long this model takes to be served and to parse")
    asked = options.parse_args()
    only = asked.only
    if asked.start is not None:
        for name, up, parsed in starts(asked.start):
            print(name, f"{up:.1f}", f"{parsed:.1f}", sep="\t", flush=True)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, bank in banks(only):
            for kind, learner in MODELS[bank.kind]:
                rows.append(measure(name, bank, kind, learner, Path(folder)))
                print(*rows[-1], sep="\t", flush=True)
    if only:
        return
    names = "treebank learner trees words parse_ms corrected_ms long_ms accepted_ms learned_ms longest_ms first_s"
    with (Path(__file__).parent / "results" / "page.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(names.split())
        writer.writerows(rows)


if __name__ == "__main__":
    main()
