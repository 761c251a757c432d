"""A package that adds a kind and a learner by entry points gets everything that ours have (tests/extension)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import latentgram as lg
from latentgram.errors import UnsupportedPair

TESTS = Path(__file__).parent
PATH = os.pathsep.join(map(str, (TESTS / "extension", TESTS.parent / "src")))
OWN = "Branching or Flattening"


def run(*arguments: object, given: str | None = None) -> str:
    """What a new Python with the package prints."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": PATH},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("extension") / "bank.mrg"
    lg.demo_treebank(60, seed=0).write(path)
    return path


def test_every_command_knows_the_new_kind(bank: Path) -> None:
    model = bank.with_name("branching.lg")
    run("-m", "latentgram", "train", "branching", bank, "--side", "left", "-o", model)
    assert "left-branching trees over" in run("-m", "latentgram", "show", model)
    answer = run("-m", "latentgram", "parse", model, given="The dog sleeps .")
    assert answer.split() == [
        "(TOP",
        "(TOP",
        "(TOP",
        "(DT",
        "The)",
        "(NN",
        "dog))",
        "(NN",
        "sleeps))",
        "(.",
        ".))",
    ]
    assert '"f1"' in run("-m", "latentgram", "eval", model, bank, "--json")
    assert "Guessing(side=left)" in run("-m", "latentgram", "info", model)
    assert "The baseline that brackets" in run("-m", "latentgram", "train", "--help")


def test_a_known_kind_takes_a_new_learner(bank: Path) -> None:
    model = bank.with_name("flat.lg")
    run("-m", "latentgram", "train", "lpcfg", bank, "--by", "flattening", "--power", "0.7", "-o", model)
    assert run("-m", "latentgram", "parse", model, given="The dog sleeps .").startswith("(TOP (S ")
    program = f"import latentgram as lg; print(lg.load({str(model)!r}).model.provenance.fields)"
    assert run("-c", program).strip() == "{'power': 0.7}"


def test_the_laws_hold_for_both(tmp_path: Path) -> None:
    options = ("-p", "no:cacheprovider", "--rootdir", TESTS.parent, "-k", OWN)
    printed = run("-m", "pytest", "-q", *options, TESTS / "laws")
    assert " passed" in printed or "100%" in printed
    listed = run(
        "-m", "pytest", *options, "-o", "addopts=--import-mode=importlib", "--collect-only", TESTS / "laws"
    )
    assert listed.count("Branching-Guessing") >= 4
    assert listed.count("LPCFG-Flattening") >= 5


def test_a_kind_may_be_registered_by_a_call() -> None:
    program = (
        "import sys, latentgram as lg; sys.path.insert(0, sys.argv[1]);"
        "from latentgram_branching.rows import ROWS; from latentgram_branching import Branching, Guessing;"
        "lg.register(*ROWS);"
        "print(lg.fit(Branching, lg.demo_treebank(20, seed=0), by=Guessing()).provenance.learner)"
    )
    assert run("-c", program, TESTS / "extension").strip() == "Guessing"


def test_what_is_not_there_says_how_to_add_it() -> None:
    with pytest.raises(UnsupportedPair, match=r"no recipe for LPCFG by Gradient; .* latentgram\.register"):
        lg.fit(lg.LPCFG, lg.demo_treebank(5, seed=0), by=lg.Gradient())


def test_the_page_of_the_guide_works(tmp_path: Path) -> None:
    page = (TESTS.parent / "docs" / "guide" / "extending.md").read_text("utf-8")
    package, use = (block.partition("```")[0] for block in page.split("```python\n")[1:])
    (tmp_path / "mine.py").write_text(package, "utf-8")
    code = [line for line in package.splitlines() if line.strip()]
    assert len(code) <= 60
    done = subprocess.run(
        [sys.executable, "-c", use],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), PATH))},
    )
    assert done.stdout == "(TOP (X The) (X dog) (X sleeps) (X .))\n", done.stderr
