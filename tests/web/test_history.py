"""A tree and its row in the history: both or none, once, whatever moment a crash chooses."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from latentgram.data.brackets import parse_tree
from latentgram.data.conllu import parse_conllu
from latentgram.errors import DataError
from latentgram.web import history
from latentgram.web.annotations import Annotations
from latentgram.web.desk import Desk
from latentgram.web.history import Accepted, History, append_text

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


def ids(bank: Path) -> list[str]:
    return [entry.id for entry in Annotations("constituency", bank).history]


def accept_again(bank: Path) -> None:
    """The same request after a restart."""
    again = Annotations("constituency", bank)
    if again.seen("id-1", parse_tree(NEW)) is None:
        again.add("id-1", parse_tree(NEW), None, 0)


@pytest.mark.parametrize("before", [True, False])
def test_a_crash_around_the_append_and_the_same_request_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    bank = tmp_path / "bank.mrg"
    bank.write_text(OLD)
    running = Annotations("constituency", bank)
    with monkeypatch.context() as patch:
        patch.setattr(history, "append_text", crashing(append_text, before=before))
        with pytest.raises(Crash):
            running.add("id-1", parse_tree(NEW), None, 0)
    accept_again(bank)
    assert bank.read_text() == OLD + NEW
    assert ids(bank) == ["id-1"]


@pytest.mark.parametrize("transaction", [1, 2])
@pytest.mark.parametrize("before", [True, False])
def test_a_crash_at_the_end_of_a_transaction_and_the_same_request_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transaction: int, before: bool
) -> None:
    bank = tmp_path / "bank.mrg"
    bank.write_text(OLD)
    running = Annotations("constituency", bank)
    left = [transaction]
    locked = history.History.locked

    @contextlib.contextmanager
    def counted(self: history.History, finish: bool = True) -> Iterator[sqlite3.Connection]:
        left[0] -= 1
        with locked(self, finish) as base:
            yield base
            if not left[0] and before:
                raise Crash
        if not left[0]:
            raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(history.History, "locked", counted)
        with pytest.raises(Crash):
            running.add("id-1", parse_tree(NEW), None, 0)
    accept_again(bank)
    assert bank.read_text() == OLD + NEW
    assert ids(bank) == ["id-1"]


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from latentgram.data.brackets import parse_tree
from latentgram.web.annotations import Annotations
bank, wanted = Path(sys.argv[1]), 1
Annotations("constituency", bank).add("id-0", parse_tree("(S (NN w0))"), None, 0)
for round in range(50):
    child = os.fork()
    if not child:
        running = Annotations("constituency", bank)
        for number in range(wanted, wanted + 1000):
            if running.seen(f"id-{number}", parse_tree(f"(S (NN w{number}))")) is None:
                running.add(f"id-{number}", parse_tree(f"(S (NN w{number}))"), None, 0)
        os._exit(1)
    time.sleep(random.Random(round).uniform(0.0, 0.15))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    wanted = len(Annotations("constituency", bank).history)
print(wanted)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_fifty_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    bank = tmp_path / "bank.mrg"
    done = subprocess.run([sys.executable, "-c", KILLED, str(bank)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    accepted = int(done.stdout)
    assert accepted > 1
    assert bank.read_text() == "".join(f"(S (NN w{number}))\n" for number in range(accepted))
    assert ids(bank) == [f"id-{number}" for number in range(accepted)]


def test_an_equal_tree_accepted_twice_is_there_twice(tmp_path: Path) -> None:
    """By another request, that is: what was done before the row was written does not count."""
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
        patch.setattr(history, "append_text", crashing(append_text, before=True))
        with pytest.raises(Crash):
            Annotations("constituency", bank).add("id-1", parse_tree(NEW), None, 0)
    bank.write_text(OLD + "(S (NN c))\n")
    assert Annotations("constituency", bank).seen("id-1", parse_tree(NEW)) is not None
    assert bank.read_text() == OLD + "(S (NN c))\n" + NEW


def test_one_id_is_one_tree_whichever_server_took_it(tmp_path: Path) -> None:
    bank = tmp_path / "bank.mrg"
    first, second = (Annotations("constituency", bank) for _ in range(2))
    for server in (first, second):
        server.add("id-1", parse_tree(NEW), None, 0)
    with pytest.raises(DataError, match="another tree"):
        Annotations("constituency", bank).seen("id-1", parse_tree(OLD))
    with pytest.raises(DataError, match="another tree"):
        History(bank).append(Accepted("id-1", None, 0, 1, "another"), OLD, "\n")
    assert bank.read_text() == NEW


def test_the_history_of_an_earlier_version_is_taken_over(tmp_path: Path) -> None:
    bank = tmp_path / "bank.mrg"
    bank.write_text(OLD)
    line = {"id": "id-1", "agreement": 50.0, "fixes": 2, "words": 1}
    score = {"version": 3, "accepted": 1, "score": 81.5, "digest": "abc"}
    lines = [json.dumps(line), '{"id": "tor', "nonsense", json.dumps(score)]
    (tmp_path / "bank.mrg.history.jsonl").write_text("\n".join(lines))
    running = Annotations("constituency", bank)
    running.add("id-2", parse_tree(NEW), None, 0)
    again = Annotations("constituency", bank)
    assert again.history == [Accepted(**line), running.history[1]]
    assert [each._asdict() for each in again.measured] == [score]
    assert bank.read_text() == OLD + NEW


def test_a_history_whose_tables_are_in_the_making_is_read(tmp_path: Path) -> None:
    book = History(tmp_path / "bank.mrg")
    book.path.touch()  # as another thread has left it for a moment
    assert book.accepted() == []
    assert Desk(book).read() == {}


def test_notes_of_a_database_without_names_of_holders_stay(tmp_path: Path) -> None:
    bank = tmp_path / "bank.mrg"
    desk = Desk(History(bank))
    desk.set("abc", comment="what is this?")
    with contextlib.closing(sqlite3.connect(desk.book.path)) as base:  # as the second version made it
        base.execute("ALTER TABLE notes DROP COLUMN holder")
        base.execute("PRAGMA user_version = 2")
        base.commit()
    Annotations("constituency", bank)
    assert desk.read()["abc"].comment == "what is this?"
    assert desk.take("abc", "tab-1", "Ann").holder == "Ann"
    assert desk.take("abc", "tab-2", "Bob").holder == "Ann"


@pytest.mark.parametrize("done", ["nothing", "the tree", "both"])
def test_what_an_earlier_version_has_left_undone_is_done(tmp_path: Path, done: str) -> None:
    bank, journal = tmp_path / "bank.mrg", tmp_path / ".bank.mrg.journal"
    bank.write_text(OLD if done == "nothing" else OLD + NEW)
    line = json.dumps({"id": "id-1", "agreement": None, "fixes": 0, "words": 1, "digest": "d"})
    (tmp_path / "bank.mrg.history.jsonl").write_text(f"{line}\n" if done == "both" else "")
    journal.write_text(json.dumps({"size": len(OLD), "history": 0, "text": NEW, "after": "\n", "line": line}))
    assert ids(bank) == ["id-1"]
    assert bank.read_text() == OLD + NEW
    assert not journal.exists()


def test_foreign_journals_and_histories_are_named(tmp_path: Path) -> None:
    (tmp_path / ".bank.mrg.journal").write_text("[1, 2]")
    with pytest.raises(DataError, match=r"\.bank\.mrg\.journal: this is not a journal"):
        Annotations("constituency", tmp_path / "bank.mrg")
    (tmp_path / "other.mrg.history.sqlite").write_text("no database, but long enough to be taken for one" * 20)
    with pytest.raises(DataError, match=r"other\.mrg\.history\.sqlite: this is not a history"):
        Annotations("constituency", tmp_path / "other.mrg")


def test_gaps_are_filled_only_where_they_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    for text in ("1\tx\n", "1\tx\n", "1\ty\n\n", "1\tz\n"):
        append_text(path, text, "\n\n")
    assert path.read_text() == "1\tx\n\n1\tx\n\n1\ty\n\n1\tz\n"


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    bank = tmp_path / "new" / "bank.mrg"
    texts = [f"(S (NN w{number}))\n" for number in range(40)]

    def write(number: int) -> None:
        Annotations("constituency", bank).add(f"id-{number}", parse_tree(texts[number]), None, 0)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(bank.read_text().splitlines(True)) == sorted(texts)
    assert len(ids(bank)) == 40


def test_a_crash_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "bank.mrg"
    path.write_text(OLD)
    crash = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from latentgram.web.history import append_text\n"
        "os.fsync = lambda file: os._exit(9)\n"
        "append_text(Path(sys.argv[1]), '(S (NN b))\\n', '\\n')\n"
    )
    assert subprocess.run([sys.executable, "-c", crash, str(path)], check=False).returncode == 9
    assert path.read_text() == OLD
    append_text(path, NEW, "\n")
    assert path.read_text() == OLD + NEW


def test_a_lock_that_is_held_and_a_packed_file_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PATIENCE", 0.05)
    bank = tmp_path / "bank.mrg"
    with History(bank).locked(), pytest.raises(DataError, match="another program"):
        Annotations("constituency", bank)
    with pytest.raises(DataError, match="decompress it first"):
        Annotations("constituency", tmp_path / "bank.mrg.gz")


@pytest.mark.parametrize("name", [".", "folder", "/dev/null"])
def test_trees_are_added_to_files_only(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    with pytest.raises(DataError, match="must be a regular file"):
        Annotations("constituency", Path(name))
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]
