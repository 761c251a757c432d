"""Does every command line end as it should, whatever stands on it?

    PYTHONPATH=tests python tests/fuzz/command_lines.py [--rounds 20000] [--seed 0] [--only "train lpcfg"]

A command line is a command of the program, drawn at random, with files that fit it, files of other kinds, odd and
damaged ones and ones that are not there, and with some of its options, whose values are those it allows, odd
numbers and odd words. It must end with 0, 1 or 2; with 1 or 2 in one line of error that is no traceback and names
no defect; and leave no temporary file. Commands that go on for long (the page, measuring speed) get bad files, and
those that need no file (the demo, the tables of the papers, compiling) are left out. They are run in a process of
their own, which is limited in memory.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import typing
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from fuzz.processes import conclude, outcomes_of, tell_each, trial_arguments

PATIENCE = 120.0
MEMORY = 6 << 30
LONG = {"serve", "bench"}
"""Commands that are not run with good files."""
LEFT_OUT = {"demo", "warm-up", "reproduce"}
NUMBERS = ("0", "1", "2", "3", "-1", "0.5", "x", "", "²", "nan", "-inf", "1e400", "9" * 5000, "٣", "1_0", "0x10")
HUGE = (str(2**31), str(2**63), "9" * 30, "1e30")
CAN_BE_HUGE = {
    *("nbest", "samples", "diverse", "count", "number", "sentences", "batch", "clusters", "top"),
    *("folds", "weight", "cutoff", "memory", "order", "seed", "least", "threshold", "span"),
}
"""Options whose huge values must be refused or do no harm; a huge number of rounds takes long, as it should."""
WORDS = (
    "",
    "x",
    "none",
    "\udcff",
    "a\nb",
    "-",
    "--",
    "/",
    "/dev/null",
    "NP",
    "the cat",
    "(",
    "[",
    "é" * 300,
    "1,2",
    ",",
)
SENTENCES = "the teacher sleeps .\nevery nurse warned a woman .\n"


def prepare(folder: Path, *, quick: bool = False) -> None:
    """Good files of every kind, or of those that are learned at once, and bad ones."""
    import latentgram as lg

    trees, arcs = lg.demo_treebank(12, 0), lg.demo_dependencies(12, 0)
    trees.write(folder / "trees.mrg")
    arcs.write(folder / "arcs.conllu")
    text = lg.Text.of(trees.sentences())
    counts = lg.NGramCounts.of(text, order=2)
    models: dict[str, Any] = {
        "lpcfg": lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Counting())),
        "shag": lg.Parser(lg.fit(lg.SHAG, arcs, by=lg.Counting())),
        "hmm": lg.fit(lg.HMM, trees.sentences(), by=lg.Counting()),
        "ngram": lg.fit(lg.BackoffNGram, counts, by=lg.Counting()),
        "counts": counts,
        "rules": lg.fit(lg.LPCFG, trees, by=lg.Counting()).binarisation,
    }
    if not quick:
        models |= {
            "latent": lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=2))),
            "arcs": lg.Parser(lg.fit(lg.ArcFactored, arcs, by=lg.MIRA(passes=1, bits=10, folds=2))),
            "ud": lg.Parser(lg.fit(lg.UDParser, arcs, by=lg.Gradient(passes=1, folds=2, bits=10))),
            "tagger": lg.fit(lg.Tagger, arcs, by=lg.Gradient(passes=1)),
            "automaton": lg.fit(lg.OperatorAutomaton, text, by=lg.Spectral(states=2)),
            "vectors": lg.fit(lg.WordVectors, text, by=lg.Spectral(states=2, least=0.0)),
            "latent-tree": lg.fit(lg.LatentTree, arcs, by=lg.EM(states=2, iterations=1)),
        }
    for name, model in models.items():
        lg.save(model, folder / f"{name}.lg")
    counts.write(folder / "table.txt")
    (folder / "text.txt").write_text(SENTENCES)
    (folder / "tagged.tsv").write_text("the\tDT\nteacher\tNN\n\nsleeps\tVBZ\n\n")
    (folder / "known.jsonl").write_text('{"spans": [[0, 2]]}\n{}\n')
    bad = folder / "bad"
    bad.mkdir()
    (bad / "empty.txt").touch()
    for name in ("trees.mrg", "arcs.conllu", "lpcfg.lg", "table.txt", "tagged.tsv", "known.jsonl"):
        raw = (folder / name).read_bytes()
        (bad / f"cut-{name}").write_bytes(raw[: len(raw) // 2])
        (bad / f"mixed-{name}").write_bytes(raw[:40] + b"\xff\x00(((" + raw[20:60])
    (bad / "folder.mrg").mkdir()


class Lines:
    """Command lines by number."""

    def __init__(self, files: Path, only: str) -> None:
        import typer

        from latentgram.cli.main import app

        commands = leaves(typer.main.get_command(app))
        self.commands = [
            (path, each) for path, each in commands if only in path and path.split()[0] not in LEFT_OUT
        ]
        self.good = sorted(str(path) for path in files.iterdir() if path.is_file())
        self.bad = [
            *sorted(map(str, (files / "bad").iterdir())),
            str(files / "nowhere"),
            str(files),
            "-",
            "",
            "\udcff",
        ]

    def line(self, number: int, work: Path) -> list[str]:
        """A command line."""
        draw = random.Random(number)
        path, command = draw.choice(self.commands)
        long = path.split()[0] in LONG
        words = path.split()
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                words += [self.value(parameter, draw, work, long) for _ in range(draw.choice((1, 1, 1, 1, 2, 0)))]
        options = max(len(command.params), 8)
        for parameter in command.params:
            named = parameter.param_type_name == "option" and parameter.opts[0] not in ("--help", "--version")
            wanted = 0.9 if parameter.name == "output" else 1 / options  # with many, one would always be wrong
            if named and (parameter.required or draw.random() < wanted):
                words.append(draw.choice(parameter.opts))
                if not parameter.is_flag:
                    words.append(self.value(parameter, draw, work, long))
        if draw.random() < 0.05:
            words.insert(
                draw.randrange(len(words)), draw.choice(("--nosuch", "-", "--", "\udcff", "-o", "--help"))
            )
        return words

    def value(self, parameter: Any, draw: random.Random, work: Path, long: bool) -> str:
        """What stands behind an option, or for an argument."""
        hint = parameter.type_descriptor.annotation
        hints = (hint, *typing.get_args(hint))
        choices = [
            str(word)
            for each in hints
            if typing.get_origin(each) is typing.Literal
            for word in typing.get_args(each)
        ]
        if parameter.name in ("output", "temporary", "folder") or (long and parameter.name == "data"):
            return draw.choice(
                (str(work / "out.lg"), str(work / "out.txt"), str(work), str(work / "no" / "out"), "-", "")
            )
        if parameter.name in ("n_jobs", "cluster", "port", "host", "token"):
            return draw.choice(("0", "1", "2", "-1", "x", "", "²"))
        if choices:
            return draw.choice((*choices, *choices, *WORDS))
        if bool in hints:
            return "true"
        if int in hints or float in hints:
            return draw.choice((*NUMBERS, *HUGE) if parameter.name in CAN_BE_HUGE else NUMBERS)
        if long:
            return draw.choice(self.bad)
        pool = (
            (self.good, self.good, self.good, self.bad, WORDS)
            if Path in hints
            else (WORDS, WORDS, NUMBERS, self.good)
        )
        return draw.choice(draw.choice(pool))


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its path of names; some groups make theirs only when asked for them."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in command.list_commands(None):
        yield from leaves(command.get_command(None, name), f"{path} {name}".strip())


def outcome(words: list[str], work: Path, aloud: TextIO | None = None) -> str:
    """What comes of a command line; what it says of errors is passed on."""
    from latentgram.cli.main import main

    said, error = io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape"), io.StringIO()
    sys.argv, sys.stdin = ["latentgram", *words], io.TextIOWrapper(io.BytesIO(SENTENCES.encode()))
    status = 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(error):
        try:
            main()
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except BaseException as raised:
            if aloud is not None:
                traceback.print_exception(raised, file=aloud)
            return f"RAISES {type(raised).__name__.upper()}"
    if aloud is not None:
        print(error.getvalue().encode("utf-8", "backslashreplace").decode(), file=aloud)
    lines = error.getvalue().splitlines()
    left = [path.name for path in work.rglob("*") if path.name not in ("out", "out.lg", "out.txt")]
    if status not in (0, 1, 2):
        return f"STATUS {status}"
    if "Traceback" in error.getvalue() or "a defect of latentgram" in error.getvalue():
        return "DEFECT"
    if (
        status
        and not (lines and lines[-1].startswith("latentgram: "))
        and "Usage" not in said.buffer.getvalue().decode()
    ):  # type: ignore[attr-defined]
        return "NO LINE OF ERROR"
    if status == 2 and len(lines) > 1:
        return "TOO MANY LINES"
    if status and any(name.endswith((".tmp", ".part", ".progress")) for name in left):
        return "LEAVES FILES"
    return f"status {status}"


def work(first: int, last: int, files: Path, only: str) -> None:
    """In a process of its own: run command lines."""
    import typer

    typer.main.get_command = functools.cache(typer.main.get_command)  # it takes longer than most commands
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    lines = Lines(files, only)

    def run(number: int) -> str:
        place = Path(tempfile.mkdtemp(prefix="line-"))
        os.chdir(place)
        try:
            return outcome(lines.line(number, place), place)
        finally:
            os.chdir("/")
            shutil.rmtree(place, ignore_errors=True)

    tell_each(range(first, last), run)


def attempt(first: int, last: int, files: Path, only: str = "", seconds: float = float("inf")) -> Counter[str]:
    """Run command lines; how often each outcome was seen."""
    return outcomes_of([__file__, "--folder", str(files), "--only", only], first, last, PATIENCE, seconds)


def show(numbers: list[int], files: Path, only: str) -> None:
    """Run some in this process, with all that they say."""
    os.environ["LATENTGRAM_TRACEBACK"] = "1"
    lines = Lines(files, only)
    for number in numbers:
        with tempfile.TemporaryDirectory() as place:
            words = lines.line(number, Path(place))
            print(number, ascii(words), file=sys.stderr)
            print(outcome(words, Path(place), sys.stderr), file=sys.stderr)


def main() -> None:
    parser = trial_arguments(__doc__, 20_000, "commands with this in their names")
    parser.add_argument("--show", type=int, nargs="*", help="run these, and show what they say")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(*asked.work, asked.folder, asked.only)
        return
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        if asked.show:
            show(asked.show, Path(folder), asked.only)
            return
        outcomes = attempt(asked.seed, asked.seed + asked.rounds, Path(folder), asked.only, asked.seconds)
    conclude(outcomes, "command lines", started)


if __name__ == "__main__":
    main()
