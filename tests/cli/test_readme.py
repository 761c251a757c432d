"""Every line of Python and shell in the README and on the start page runs as it is printed.

The treebanks have the names that the pages use, and are small. Only three things are not done: the page is not
served, nothing is installed, and no cluster is asked, since there is none.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram.web.server
import latentgram.web.session
from cli.conftest import Outcome
from latentgram.data.demo import demo_dependencies, demo_treebank

ROOT = Path(__file__).parents[2]
README, START = (ROOT / name for name in ("README.md", "docs/start.md"))
CLUSTER = " --cluster tcp://10.0.0.1:8786"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader of the pages stands, with the files that they name."""
    trees = demo_treebank(25, 0)
    for name in ("train.mrg", "latentgram-demo/train.mrg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        trees.write(tmp_path / name)
    for name in ("dev.mrg", "latentgram-demo/test.mrg"):
        demo_treebank(3, 1).write(tmp_path / name)
    demo_dependencies(25, 0).write(tmp_path / "train.conllu")
    text = "\n".join(" ".join(tree.words) for tree in trees[:5])
    for name in ("text.txt", "big.txt"):
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "corpus.txt").write_text("\n".join([text] * 4), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(latentgram.web.server, "serve", lambda *_, **__: None)
    monkeypatch.setattr(latentgram.web.session, "Session", lambda *_, **__: None)
    return tmp_path


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), flags=re.M | re.S)


def lines(page: Path) -> list[str]:
    """The command lines of a page, without their comments."""
    commands = [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line[:2] == "$ "]
    return [command.split(" #")[0].strip() for command in commands]


def shell(command: str, run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what a command line says."""
    words = shlex.split(command)
    if words[0] == "pip":
        assert words[:2] == ["pip", "install"]
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), flags=re.M)
    elif words[0] == "cd":
        monkeypatch.chdir(words[1])
    elif command != "latentgram demo":  # which has its own test
        given = ""
        if "|" in words:
            assert words[0] == "echo"
            given, words = f"{words[1]}\n", words[words.index("|") + 1 :]
        elif words[0] == "echo":
            Path(words[words.index(">") + 1]).write_text(f"{words[1]}\n", "utf-8")
            return
        if "<" in words:
            at = words.index("<")
            given = Path(words[at + 1]).read_text("utf-8")
            words[at : at + 2] = []
        target = words[words.index(">") + 1] if ">" in words else None
        outcome = run(*words[1 : words.index(">") if target else None], given=given)
        assert outcome.status == 0, (command, outcome.err)
        if target:
            Path(target).write_text(outcome.out, "utf-8")
        assert outcome.out or words[1] not in ("parse", "eval") or "-o" in words, command


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [README, START], ids=lambda page: page.stem)
def test_what_a_page_prints_runs(page: Path, run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
    commands = lines(page)
    assert len(commands) > 8
    for command in commands:
        shell(command.replace(CLUSTER, ""), run, monkeypatch)
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(block, names)
    assert isinstance(names["parser"], latentgram.Parser)


def test_comments_name_extras_that_there_are() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for page in (README, START):
        for block in blocks(page, "console"):
            for line in block.splitlines():
                if "pip install" in line:
                    assert set(re.findall(r"\[(\w+)\]", line)) <= extras.keys()
