"""A tree and its line in the history: both or none, once, whatever moment a crash chooses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from latentgram.data.brackets import parse_tree
from latentgram.data.conllu import parse_conllu
from latentgram.errors import DataError
from latentgram.web import journal
from latentgram.web.annotations import Annotations

OLD, NEW = "(S (NN a))\n", "(S (NN b))\n"


class Crash(BaseException):
    """What no handler catches."""


def crashing(work: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
    def crash(*args: Any, **more: Any) -> Any:
        if before:
            raise Crash
        work(*args, **more)
        raise Crash

    return crash


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("name", ["write_text", "append_unlocked", "append_line", "unlink"])
def test_a_crash_at_any_moment_and_the_same_request_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, before: bool
) -> None:
    bank = tmp_path / "bank.mrg"
    bank.write_text(OLD)
    running = Annotations("constituency", bank)
    with monkeypatch.context() as patch:
        where: Any = os if name == "unlink" else journal
        work = getattr(where, name)
        if name == "write_text":
            patch.setattr(journal, name, _unfinished if before else _written(work))
        else:
            patch.setattr(where, name, crashing(work, before=before))
        with pytest.raises(Crash):
            running.add("id-1", parse_tree(NEW), None, 0)
    again = Annotations("constituency", bank)
    if again.seen("id-1", parse_tree(NEW)) is None:
        again.add("id-1", parse_tree(NEW), None, 0)
    assert bank.read_text() == OLD + NEW
    lines = (tmp_path / "bank.mrg.history.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["id-1"]
    assert not [file for file in os.listdir(tmp_path) if file.endswith(".journal")]


def _unfinished(path: Any) -> Any:
    raise Crash


def _written(work: Callable[..., Any]) -> Callable[..., Any]:
    """Writes the journal and crashes before anything is done."""

    class Then:
        def __init__(self, path: Any) -> None:
            self.inner = work(path)

        def __enter__(self) -> Any:
            return self.inner.__enter__()

        def __exit__(self, *error: Any) -> None:
            self.inner.__exit__(*error)
            raise Crash

    return Then


def test_an_equal_tree_accepted_twice_is_there_twice(tmp_path: Path) -> None:
    """By another request, that is: what was done before the journal was written does not count."""
    bank = tmp_path / "bank.conllu"
    row = "1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n"
    bank.write_text(row)
    annotations = Annotations("dependency", bank)
    for id in ("one", "two"):
        annotations.add(id, parse_conllu(row)[0], None, 0)
    assert bank.read_text() == row * 3


def test_what_another_program_appended_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = tmp_path / "bank.mrg"
    bank.write_text(OLD)
    with monkeypatch.context() as patch:
        patch.setattr(journal, "append_unlocked", crashing(journal.append_unlocked, before=True))
        with pytest.raises(Crash):
            Annotations("constituency", bank).add("id-1", parse_tree(NEW), None, 0)
    bank.write_text(OLD + "(S (NN c))\n")
    assert Annotations("constituency", bank).seen("id-1", parse_tree(NEW)) is not None
    assert bank.read_text() == OLD + "(S (NN c))\n" + NEW


def test_a_long_history_is_neither_read_nor_copied_nor_hurt_by_a_torn_line(tmp_path: Path) -> None:
    bank, history = tmp_path / "bank.mrg", tmp_path / "bank.mrg.history.jsonl"
    bank.write_text(OLD)
    running = Annotations("constituency", bank)
    running.add("id-1", parse_tree(NEW), None, 0)
    with open(history, "a") as log:
        log.write('{"id": "tor')
    file, begin = os.stat(history).st_ino, history.read_bytes()
    running.add("id-2", parse_tree(NEW), None, 0)
    assert os.stat(history).st_ino == file
    assert history.read_bytes().startswith(begin + b"\n")
    assert [each.id for each in Annotations("constituency", bank).history] == ["id-1", "id-2"]


def test_a_foreign_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / ".bank.mrg.journal").write_text("[1, 2]")
    with pytest.raises(DataError, match=r"\.bank\.mrg\.journal: this is not a journal"):
        Annotations("constituency", tmp_path / "bank.mrg")
