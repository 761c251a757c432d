"""What the page says is what is in the file: two people on a sentence, full disks, protected files, odd lines."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import latentgram as lg
from latentgram.data.brackets import parse_tree
from latentgram.errors import DataError
from latentgram.web import history
from latentgram.web.annotations import Annotations
from latentgram.web.history import Change, History
from latentgram.web.session import Session

TREE = "(TOP (S (NP (NNP Zyx)) (VP (VBZ sleeps)) (. .)))"
OTHER = "(TOP (S (NP (NN Zyx)) (VP (VBZ sleeps)) (. .)))"


def test_the_second_to_accept_a_sentence_is_told_and_chooses(serve: Any) -> None:
    one, other = serve(), serve()
    size = len(lg.Treebank.read(one.session.annotations.path))
    asked = {"tree": TREE, "over": "ask"}
    assert one.post("/api/accept", id="by-ann-001", annotator="Ann", **asked).status_code == 200
    for served in (one, other):
        told = served.post("/api/accept", id="by-bob-001", annotator="Bob", tree=OTHER, over="ask")
        assert told.status_code == 409
        assert told.json()["detail"].startswith("Ann accepted a tree of this sentence")
        assert told.json()["tree"].strip() == TREE
    assert len(lg.Treebank.read(one.session.annotations.path)) == size + 1
    replaced = other.post("/api/accept", id="by-bob-001", annotator="Bob", tree=OTHER, over="replace")
    assert replaced.status_code == 200
    bank = lg.Treebank.read(one.session.annotations.path)
    assert [str(tree) for tree in bank[size:]] == [OTHER]
    # Sent again, it is known; and a third may keep both.
    assert other.post("/api/accept", id="by-bob-001", tree=OTHER, over="replace").status_code == 200
    assert one.post("/api/accept", id="by-cat-001", tree=TREE, over="add").status_code == 200
    assert [str(tree) for tree in lg.Treebank.read(bank_of(one))[size:]] == [OTHER, TREE]
    beside = one.post("/api/accept", id="by-dan-001", annotator="Dan", tree=TREE, over="beside")
    assert beside.status_code == 200
    assert len(lg.Treebank.read(bank_of(one))) == size + 2
    assert [entry.place for entry in History(bank_of(one)).accepted()] == ["file", "file", "beside"]


def bank_of(served: Any) -> Path:
    path: Path = served.session.annotations.path
    return path


def test_a_file_that_cannot_be_written_takes_nothing_and_a_retry_writes_once(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    before = bank_of(served).read_bytes()

    def full(*_: Any) -> None:
        raise DataError("the file cannot be written (No space left on device)", path=bank_of(served))

    with monkeypatch.context() as patch:
        patch.setattr(history, "append_text", full)
        told = served.post("/api/accept", id="on-a-full-disk", tree=TREE)
        assert told.status_code == 422
        assert "No space left" in told.json()["detail"]
        assert served.get("/api/status")["accepted"] == 0
    assert bank_of(served).read_bytes() == before
    # Nothing comes later by itself: what was told to have failed has failed.
    assert History(bank_of(served)).read()[0] == []
    assert bank_of(served).read_bytes() == before
    for _ in range(2):
        assert served.post("/api/accept", id="on-a-full-disk", tree=TREE).json()["accepted"] == 1
    assert bank_of(served).read_bytes() == before + TREE.encode() + b"\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_protected_file_is_told(serve: Any) -> None:
    served = serve()
    bank_of(served).chmod(0o444)
    told = served.post("/api/accept", id="protected-1", tree=TREE)
    assert told.status_code == 422
    assert "read-only" in told.json()["detail"]


def test_an_odd_line_in_the_treebank_does_not_make_an_acceptance_fail(serve: Any) -> None:
    served = serve()
    bank_of(served).write_text(bank_of(served).read_text() + "(S (NP \n")
    for number in range(11):  # enough that it is to be retrained, which needs the whole file
        tree = TREE.replace("Zyx", f"Zyx{number}")
        told = served.post("/api/accept", id=f"odd-line-{number:04}", tree=tree)
        assert told.status_code == 200, told.text
    status = served.get("/api/status")
    assert status["accepted"] == 11
    assert status["refit"]["state"] == "failed"
    line = bank_of(served).read_text().count("\n", 0, bank_of(served).read_text().index("(S (NP \n")) + 1
    place = f"the tree that begins here is never closed (bank.mrg, line {line})"
    assert status["refit"]["reason"] == place
    assert served.client.get("/api/trees").json()["detail"] == place
    assert status["refit"]["pending"] == 11


class Crash(BaseException):
    """What no handler catches."""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(("number", "new"), [(1, "(S (NN x))"), (1, "")])
def test_a_crash_while_a_tree_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, number: int, new: str
) -> None:
    bank = tmp_path / "bank.mrg"
    bank.write_text("(S (NN a))\n(S\n  (NN b))\n(S (NN c))\n")
    book = History(bank)
    change = Change("change-1", 0.0, "Ann", "replace", "", number, "(S\n  (NN b))", new)
    write = history.replacing

    class Crashing:
        def __init__(self, path: Path) -> None:
            self.file = write(path)

        def __enter__(self) -> Any:
            if moment == "before":
                raise Crash
            return self.file.__enter__()

        def __exit__(self, *args: Any) -> None:
            self.file.__exit__(*args)
            raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(history, "replacing", Crashing)
        with pytest.raises(Crash):
            book.change(change)
    Annotations("constituency", bank)
    expected = "(S (NN a))\n" + (new + "\n" if new else "") + "(S (NN c))\n"
    assert bank.read_text() == expected
    book.change(change)
    assert bank.read_text() == expected
    # And back: in its place, as it was.
    book.change(Change("change-2", 1.0, "Ann", "undo", "", number, new, "(S\n  (NN b))"))
    assert bank.read_text() == "(S (NN a))\n(S\n  (NN b))\n(S (NN c))\n"
    assert [each.id for each in book.changes()] == ["change-2", "change-1"]


def test_a_tree_that_is_not_there_any_more_is_not_changed(tmp_path: Path) -> None:
    bank = tmp_path / "bank.mrg"
    bank.write_text("(S (NN a))\n")
    with pytest.raises(DataError, match="no longer in the treebank"):
        History(bank).change(Change("change-1", 0.0, "", "delete", "", 0, "(S (NN b))", ""))
    assert bank.read_text() == "(S (NN a))\n"
    assert str(parse_tree(bank.read_text())) == "(S (NN a))"


def test_nobody_waits_for_learning(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An acceptance is answered while the parser still learns; what came meanwhile is learned together, once."""
    held, learned = threading.Event(), list[int]()
    grow = Session._grow

    def slow(self: Session, trees: Any) -> None:
        assert held.wait(60)
        learned.append(len(trees))
        grow(self, trees)

    served = serve(workers=1)
    served.session.why_not_refit = "not now"
    before = served.session.parser.model.root_count.sum()
    monkeypatch.setattr(Session, "_grow", slow)
    for number in range(4):
        answer = served.post("/api/accept", id=f"beside-{number:04}", tree=TREE.replace("Zyx", f"Zyx{number}"))
        assert answer.json()["accepted"] == number + 1
    assert learned == []
    assert served.session.parser.model.root_count.sum() == before
    assert len(lg.Treebank.read(bank_of(served))) == 304
    held.set()
    for _ in range(600):
        if sum(learned) == 4 and served.session.parser.model.root_count.sum() == before + 4:
            break
        time.sleep(0.05)
    assert sum(learned) == 4
    assert len(learned) <= 2
    assert served.session.parser.model.root_count.sum() == before + 4
