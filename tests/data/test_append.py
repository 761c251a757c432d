"""Appending: whole or not at all, and never over each other."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from latentgram.data.append import append_text, locked
from latentgram.errors import DataError


def test_gaps_are_filled_only_where_they_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    for _ in range(2):
        append_text(path, "1\tx\n", after="\n\n")
    append_text(path, "1\ty\n\n", after="\n\n")
    append_text(path, "1\tz\n", after="\n\n")
    assert path.read_text() == "1\tx\n\n1\tx\n\n1\ty\n\n1\tz\n"


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "bank.mrg"
    lines = [f"(S (NN w{number}))\n" for number in range(40)]
    threads = [threading.Thread(target=append_text, args=(path, line)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path.read_text().splitlines(True)) == sorted(lines)


def test_a_crash_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "bank.mrg"
    path.write_text("(S (NN a))\n")
    crash = (
        "import os, sys, shutil\n"
        "from latentgram.data import append\n"
        "def die(source, target, size): target.write(source.read()); target.flush(); os._exit(9)\n"
        "shutil.copyfileobj = die\n"
        "append.append_text(sys.argv[1], '(S (NN b))\\n')\n"
    )
    assert subprocess.run([sys.executable, "-c", crash, str(path)], check=False).returncode == 9
    assert path.read_text() == "(S (NN a))\n"
    append_text(path, "(S (NN c))\n")  # the dead program's lock is gone with it
    assert path.read_text() == "(S (NN a))\n(S (NN c))\n"


def test_a_lock_that_is_held_and_a_packed_file_are_told(tmp_path: Path) -> None:
    path = tmp_path / "bank.mrg"
    with locked(path), pytest.raises(DataError, match="another program"), locked(path, patience=0.05):
        pass
    with pytest.raises(DataError, match="unpack"):
        append_text(tmp_path / "bank.mrg.gz", "x")
