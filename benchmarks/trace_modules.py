"""How many modules does one call go through, and how often does it jump from one folder to another?

Set-up: kernels uncompiled, so that calls of them are seen; 100 demo trees; a latent L-PCFG of 4 states by spectral
learning. `latentgram parse` parses one sentence with the stored grammar, from the call of the command line's main
function on; `fit` learns the grammar, trees and learner being there already. A function counts when it is called
for the first time: a module is visited if one of its functions is called, and a switch is a first call whose
module lies in another folder than that of the first call before it. A folder is one right below the package, and
the files beside these folders are one more. Module and class bodies, lambdas and comprehensions do not count;
functions called while a module is imported on the way do. `pairs` are the distinct pairs of modules in different
folders of which one calls the other; unlike switches they do not depend on the order of the calls.

Before each topic had a folder of its own, parsing visited 48 modules in 9 folders with 73 switches, and learning
39 modules in 8 folders with 52.

    python benchmarks/trace_modules.py [--list]

The package is the one that Python finds: another copy of it is measured by PYTHONPATH=OTHER/src.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SENTENCE = "The teacher of the village sees the old clock with a lamp ."
TREES, STATES = 100, 4
ROWS = {"parse": "latentgram parse", "fit": "fit(LPCFG, by=Spectral)"}
ENVIRONMENT = {
    "NUMBA_DISABLE_JIT": "1",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore",
}


class Trace:
    """First calls of the functions of a package, in order, and who calls whom."""

    def __init__(self, package: Path) -> None:
        self.package = f"{package}{os.sep}"
        self.waiting = False
        self.visits: dict[CodeType, str] = {}
        self.calls: set[tuple[str, str]] = set()

    def module_of(self, code: CodeType) -> str | None:
        """The path of the code's module below the package, if it is in it."""
        name = code.co_filename
        return name[len(self.package) :] if name.startswith(self.package) else None

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Look at one event of the interpreter."""
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<") or not code.co_flags & inspect.CO_OPTIMIZED:
            return
        module = self.module_of(code)
        if module is None or (self.waiting and not self._begins(code)):
            return
        self.waiting = False
        self.visits.setdefault(code, module)
        if (caller := self._caller(frame)) is not None:
            self.calls.add((caller, module))

    def _begins(self, code: CodeType) -> bool:
        """Whether a call is that of the command line's main function."""
        return code.co_name == "main" and self.module_of(code) == os.path.join("cli", "main.py")

    def _caller(self, frame: FrameType) -> str | None:
        """The nearest module of the package above a call."""
        back = frame.f_back
        while back is not None:
            if (module := self.module_of(back.f_code)) is not None:
                return None if module == "__main__.py" else module
            back = back.f_back
        return None

    @contextmanager
    def running(self, waiting: bool = False) -> Iterator[None]:
        """Look at all calls inside, or at those from the main function on; also at those in threads."""
        self.waiting = waiting
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def to_json(self) -> dict[str, Any]:
        """What was seen."""
        return {"visits": list(self.visits.values()), "calls": sorted(self.calls)}


def folder_of(module: str) -> str:
    """The folder right below the package in which a module lies; a point for files beside the folders."""
    first, _, rest = module.replace(os.sep, "/").partition("/")
    return first if rest else "."


def prepare(folder: Path) -> None:
    """Store a grammar and a sentence."""
    import latentgram as lg

    grammar = lg.fit(lg.LPCFG, lg.demo_treebank(TREES, seed=0), by=lg.Spectral(states=STATES))
    lg.save(lg.Parser(grammar), folder / "grammar.lg")
    (folder / "sentence.txt").write_text(f"{SENTENCE}\n", "utf-8")


def trace_parse(trace: Trace, folder: Path) -> None:
    """One sentence through the command line."""
    sys.argv = ["latentgram", "parse", str(folder / "grammar.lg"), str(folder / "sentence.txt")]
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), trace.running(waiting=True):
        try:
            runpy.run_module("latentgram", run_name="__main__")
        except SystemExit as left:
            if left.code:
                raise


def trace_fit(trace: Trace, folder: Path) -> None:
    """Learning from trees in memory."""
    import latentgram as lg

    trees, learner = lg.demo_treebank(TREES, seed=0), lg.Spectral(states=STATES)
    with trace.running():
        lg.fit(lg.LPCFG, trees, by=learner)


TRACED: dict[str, Callable[[Trace, Path], None]] = {"parse": trace_parse, "fit": trace_fit}


def work(task: str, folder: Path) -> None:
    """What is done in a process of its own."""
    import latentgram

    if task == "prepare":
        return prepare(folder)
    trace = Trace(Path(latentgram.__file__).parent)
    TRACED[task](trace, folder)
    (folder / f"{task}.json").write_text(json.dumps(trace.to_json()), "utf-8")
    return None


def measure() -> dict[str, dict[str, Any]]:
    """The trace of each row."""
    with tempfile.TemporaryDirectory() as name:
        for task in ("prepare", *ROWS):
            command = [sys.executable, __file__, "--work", task, name]
            subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=True)
        return {task: json.loads(Path(name, f"{task}.json").read_text("utf-8")) for task in ROWS}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--list", action="store_true", help="the modules as well, in the order of their visits")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options.work[0], Path(options.work[1]))
    found = measure()
    print(f"{'call':<25}{'modules':>9}{'folders':>9}{'switches':>10}{'pairs':>8}")
    for task, title in ROWS.items():
        visits = found[task]["visits"]
        folders = [folder_of(module) for module in visits]
        switches = sum(one != other for one, other in pairwise(folders))
        pairs = sum(folder_of(one) != folder_of(other) for one, other in found[task]["calls"])
        print(f"{title:<25}{len(set(visits)):>9}{len(set(folders)):>9}{switches:>10}{pairs:>8}")
    if options.list:
        for task, title in ROWS.items():
            visits = found[task]["visits"]
            print(f"\n{title}: modules and the number of their functions that are called")
            for module in dict.fromkeys(visits):
                print(f"  {module} {visits.count(module)}")
    return None


if __name__ == "__main__":
    main()
