"""Is the library as fast after a change as before it?

Set-up: two source trees of latentgram with the same public names, BEFORE and AFTER. For each row both do the same
work, each in a process of its own with one thread: they read the data, learn the grammar that is to parse, and do
a small part of the work first, so that compiling kernels and loading them from the cache is not measured (each
tree has a cache of its own). Then they take turns, one round each, and the other tree begins every second round;
a figure is the least processor time of all rounds. Real corpora are taken from LATENTGRAM_DATA (wsj-sample, parts
of it), generated ones where that is not set. Five rounds of all rows take about ten minutes.

Conclusion: a tree compared with itself has ratios from 0.92 to 1.06 while other work keeps both cores of the
machine busy; a ratio within that says nothing, and more rounds (`--repeat`, `--rows`) do not help much there.

    [LATENTGRAM_DATA=…] python benchmarks/bench_before_after.py BEFORE/src AFTER/src [--repeat 5] [--rows NAME…]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
FEW = 40
"""Trees or sentences of the work that is done beforehand."""


class Work(NamedTuple):
    """What a process is to do: a small part first, and what is measured."""

    beforehand: Callable[[], object]
    measured: Callable[[], object]


def phrases(part: str, size: int) -> Any:
    """Trees of phrases."""
    return _treebank("constituency", f"{part}.mrg", part, size)


def arcs(part: str, size: int) -> Any:
    """Trees of arcs."""
    return _treebank("dependency", f"{part}.conllu", part, size)


def _treebank(kind: str, name: str, part: str, size: int) -> Any:
    import latentgram as lg

    if folder := os.environ.get("LATENTGRAM_DATA"):
        return lg.Treebank.read(Path(folder, kind, "wsj-sample", name))[:size]
    generated = lg.demo_treebank if kind == "constituency" else lg.demo_dependencies
    return generated(size, seed=0 if part == "train" else 1)


def parsing(size: int, sentences: int, learner: str, **settings: Any) -> Work:
    """Parsing with a grammar, tags found by it."""
    import latentgram as lg

    by = getattr(lg, learner)(**settings)
    parser = lg.Parser(lg.fit(lg.LPCFG, phrases("train", size), by=by))
    words = [tree.words for tree in phrases("dev", sentences)]
    return Work(lambda: list(parser.parse_many(words[:FEW])), lambda: list(parser.parse_many(words)))


def parsing_heads(by: str, use: str = "parse", decoder: str = "MBR", model: str = "SHAG", **settings: Any) -> Work:
    """Trees of arcs over tagged words: the best ones, the ten best, or ten draws."""
    import latentgram as lg

    learner = getattr(lg, by)(**settings)
    grammar = lg.fit(getattr(lg, model), arcs("train", 400 if model == "ArcFactored" else 3000), by=learner)
    parser = lg.Parser(grammar, decoder=getattr(lg, decoder)())
    sentences = [tree.sentence for tree in arcs("dev", 400)]

    def run(some: Any) -> object:
        if use == "parse":
            return list(parser.parse_many(some))
        return [getattr(parser, use)(sentence, 10) for sentence in some]

    return Work(lambda: run(sentences[:FEW]), lambda: run(sentences))


def tagging(model: str, data: Any, learner: str, decoder: str, **settings: Any) -> Work:
    """Tags of words."""
    import latentgram as lg

    warnings.simplefilter("ignore", FutureWarning)
    tagger = lg.fit(getattr(lg, model), data, by=getattr(lg, learner)(**settings))
    words = [tree.words for tree in arcs("dev", 400)]
    return Work(
        lambda: list(tagger.tag_all(words[:FEW], decoder)),
        lambda: [list(tagger.tag_all(words, decoder)) for _ in range(5)],
    )


def learning(model: str, data: Any, learner: str, **settings: Any) -> Work:
    """Learning a model; with all its settings beforehand too, so that the same kernels are loaded."""
    import latentgram as lg

    kind, by = getattr(lg, model), getattr(lg, learner)(**settings)
    warnings.simplefilter("ignore", FutureWarning)  # learners are named as the older of two trees names them
    few = lg.Text.of(data[i] for i in range(FEW)) if isinstance(data, lg.Text) else data[:FEW]
    return Work(lambda: lg.fit(kind, few, by=by), lambda: lg.fit(kind, data, by=by))


def text(size: int) -> Any:
    """Words of sentences."""
    import latentgram as lg

    return lg.Text.of(tree.words for tree in phrases("train", size))


ROWS: dict[str, Callable[[], Work]] = {
    "parse-pcfg": lambda: parsing(3000, 200, "Counting"),
    "parse-latent": lambda: parsing(3000, 200, "Clustering", states=16),
    "train-spectral": lambda: learning("LPCFG", phrases("train", 3000), "Spectral", states=16),
    "train-clustering": lambda: learning("LPCFG", phrases("train", 1500), "Clustering", states=16),
    "train-em": lambda: learning("LPCFG", phrases("train", 1500), "EM", states=16, iterations=10),
    "arcs-mira": lambda: learning("ArcFactored", arcs("train", 400), "MIRA", passes=3),
    "tagger": lambda: learning("Tagger", arcs("train", 800), "Perceptron", passes=4),
    "train-heads-em": lambda: learning("SHAG", arcs("train", 3000), "EM", states=16, iterations=40),
    "heads-spectral": lambda: parsing_heads("Spectral", states=15),
    "heads-em": lambda: parsing_heads("EM", states=15),
    "heads-first": lambda: parsing_heads("Counting", memory="first"),
    "heads-viterbi": lambda: parsing_heads("Counting", decoder="Viterbi", memory="first"),
    "heads-lexical": lambda: parsing_heads("Counting", model="LexicalSHAG", memory="kind"),
    "heads-product": lambda: parsing_heads("Spectral", model="ProductSHAG", states=15),
    "heads-nbest": lambda: parsing_heads("Counting", "nbest", memory="first"),
    "heads-sample": lambda: parsing_heads("Spectral", "sample", states=15),
    "arcs-first": lambda: parsing_heads("MIRA", decoder="Viterbi", model="ArcFactored", order=1, passes=2),
    "arcs-second": lambda: parsing_heads("MIRA", decoder="Viterbi", model="ArcFactored", order=2, passes=2),
    "arcs-nbest": lambda: parsing_heads("MIRA", "nbest", "Viterbi", "ArcFactored", order=2, passes=2),
    "arcs-sample": lambda: parsing_heads("MIRA", "sample", "Viterbi", "ArcFactored", order=2, passes=2),
    "tag-tagger": lambda: tagging("Tagger", arcs("train", 800), "Perceptron", "viterbi", passes=2),
    "tag-hmm": lambda: tagging("HMM", text(3000), "EM", "posterior", states=17, iterations=5),
    "tag-hmm-viterbi": lambda: tagging("HMM", text(3000), "EM", "viterbi", states=17, iterations=5),
    "hmm-em": lambda: learning("HMM", text(3000), "EM", states=17, iterations=60),
}


class Process:
    """A source tree at work on a row."""

    def __init__(self, source: Path, row: str) -> None:
        environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str(source)}
        command = [sys.executable, __file__, "--work", row, str(source)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def ready(self) -> None:
        """Wait until the small part of the work is done."""
        if self._line() != "ready":
            raise SystemExit("a process said something else than expected")

    def seconds(self) -> float:
        """The processor time of one round."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        return float(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise SystemExit(f"a process ended early, with status {self.process.wait()}")
        return line

    def end(self) -> None:
        """Let the process end, whatever it does."""
        self.process.kill()
        self.process.communicate()


def work(row: str, source: Path) -> None:
    """What a process does: get ready, then one round for each line that comes in."""
    import latentgram

    if not Path(latentgram.__file__).is_relative_to(source):
        raise SystemExit(f"latentgram was found in {latentgram.__file__}, not in {source}")
    given = ROWS[row]()
    given.beforehand()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.process_time()
        given.measured()
        print(time.process_time() - begin, flush=True)


def compare(sources: list[Path], row: str, repeat: int) -> list[float]:
    """The least processor times of a row, before and after."""
    processes: list[Process] = []
    try:
        for source in sources:  # one gets ready after the other: they would be in each other's way
            processes.append(Process(source, row))
            processes[-1].ready()
        times: dict[Process, list[float]] = {process: [] for process in processes}
        for number in range(repeat):
            for process in processes if number % 2 == 0 else processes[::-1]:
                times[process].append(process.seconds())
        return [min(times[process]) for process in processes]
    finally:
        for process in processes:
            process.end()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("sources", nargs=2, type=Path, metavar="SRC", help="the trees before and after")
    parser.add_argument("--repeat", type=int, default=5, help="rounds")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS), help="some of the rows")
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2], Path(sys.argv[3]))
    if not sys.argv[1:]:  # there is nothing to compare where all benchmarks are run
        return parser.print_help()
    options = parser.parse_args()
    sources = [source.resolve() for source in options.sources]
    for source in sources:
        if not (source / "latentgram" / "__init__.py").exists():
            parser.error(f"there is no latentgram in {source}")
    print(f"{'row':<18}{'before s':>10}{'after s':>10}{'ratio':>8}")
    for row in options.rows:
        before, after = compare(sources, row, options.repeat)
        print(f"{row:<18}{before:>10.3f}{after:>10.3f}{after / before:>8.3f}", flush=True)
    return None


if __name__ == "__main__":
    main()
