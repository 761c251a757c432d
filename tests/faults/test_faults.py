"""A short round of the battery: signals at random moments leave nothing behind; a full disk is one line."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faults import battery, full_disk, soak

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    battery.prepare(folder, 200)
    return folder


@pytest.mark.parametrize("name", ["train lpcfg", "parse", "save"])
def test_signals_at_random_moments(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(battery, "LIMIT", 10.0)  # how quick it is depends on what else runs here
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    command, draw = battery.COMMANDS[name], random.Random(name)
    wanted = None
    if name == "parse":
        with battery.workplace() as work:
            command.start(place, work).communicate()
            wanted = battery.content(work / "output")
    for number in battery.SIGNALS:
        assert not battery.strike(command, number, draw.uniform(0.5, 2.5), place, wanted)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", ["parse {}/lpcfg.lg {}/text.txt", "info {}/lpcfg.lg"])
def test_a_full_disk_is_one_line(arguments: str, place: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "latentgram", *arguments.replace("{}", str(place)).split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        )
    assert done.returncode == 1
    assert [
        line for line in done.stderr.splitlines() if line.startswith("latentgram: ")
    ] == done.stderr.splitlines()
    assert "No space left" in done.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disk")
    full_disk.prepare(folder)
    return folder


@pytest.mark.parametrize("name", ["train", "parse", "ngram count, by files", "sample >"])
def test_no_room_leaves_nothing_half_written(name: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    assert not full_disk.faults(name, 100, data, there=name == "train")


def test_the_page_under_clients_answers_and_is_measured(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    monkeypatch.setattr(soak, "EVERY", 0.2)
    monkeypatch.setattr(soak, "MOST", 9.0)  # so short a time is all warming up
    shutil.copy(place / "lpcfg.lg", tmp_path / "parser.lg")
    assert soak.page(tmp_path, minutes=0.05, clients=2)


def test_the_time_to_an_end_is_that_of_the_process_and_not_of_the_machine() -> None:
    sleeper = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(0.5)"])
    assert battery.seconds_to_end(sleeper, 30) > 0.1
    endless = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    with pytest.raises(subprocess.TimeoutExpired):
        battery.seconds_to_end(endless, 0.1)
    endless.kill()
    endless.wait()
    assert battery.waited(endless.pid) == 0.0
