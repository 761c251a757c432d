"""Ctrl-C or SIGTERM in the middle of work by two workers: over at once, no traceback, nobody and nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg

# Jobs that a shell starts in the background ignore interrupts, and the tests may run in such a job.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from latentgram.cli.console import Lines
Lines.__init__.__defaults__ = (0.0,)
from latentgram.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(
    ("command", "sent", "status"),
    [("train", signal.SIGINT, 130), ("parse", signal.SIGINT, 130), ("parse", signal.SIGTERM, 143)],
)
def test_interrupt(command: str, sent: signal.Signals, status: int, corpus: Path, tmp_path: Path) -> None:
    arguments = {
        "train": ["lpcfg", "--by", "em", "--states", "4", "--iterations", "100000", "-o", str(tmp_path / "em.lg")],
        "parse": [str(tmp_path / "pcfg.lg"), "--format", "text", "-o", str(tmp_path / "out.mrg")],
    }[command]
    if command == "parse":
        lg.save(
            lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.read(corpus / "train.mrg"), by=lg.Counting())), arguments[0]
        )
        (tmp_path / "text.txt").write_text("the teacher sleeps .\n" * 200_000)
        arguments.insert(1, str(tmp_path / "text.txt"))
    else:
        arguments.insert(1, str(corpus / "train.mrg"))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, command, *arguments, "--n-jobs", "2"],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert process.stderr is not None
    stage = b"EM: " if command == "train" else b"parsing: "
    for line in process.stderr:
        if line.startswith(stage):
            break
    started = time.monotonic()
    # Ctrl-C reaches the whole group of processes; a request to end goes to one.
    os.killpg(process.pid, sent) if sent == signal.SIGINT else process.send_signal(sent)
    _, rest = process.communicate(timeout=20)
    assert process.returncode == status
    assert b"Traceback" not in rest
    assert time.monotonic() - started < 5
    while time.monotonic() - started < 10:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail("processes are left behind")
    kept = {path.name for path in tmp_path.iterdir()} - {"pcfg.lg", "text.txt"}
    assert kept == ({"out.mrg.part", "out.mrg.progress"} if command == "parse" else set())


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_counting_by_way_of_files_takes_them_away(sent: signal.Signals, status: int, tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).integers(100_000, size=(100_000, 20)).tolist()
    (tmp_path / "text.txt").write_text("".join(" ".join(map(str, row)) + "\n" for row in numbers))
    place = tmp_path / "runs"
    arguments = ["ngram", "count", str(tmp_path / "text.txt"), "-o", str(tmp_path / "table"), "--order", "5"]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments, "--memory", "64M", "--temporary", str(place)],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    started = time.monotonic()
    while not any(path.is_file() for path in place.rglob("*")):
        assert process.poll() is None
        assert time.monotonic() - started < 60
        time.sleep(0.01)
    process.send_signal(sent)
    _, rest = process.communicate(timeout=20)
    assert process.returncode == status
    assert b"Traceback" not in rest
    assert not list(place.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs", "text.txt"]


LOOP = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import os
from latentgram.interrupt import obeying
from latentgram.compiling import njit

@njit()
def spin(end):
    number = 0
    while number < end:
        number = (number + 1) % 1000
    return number

with obeying():
    spin(0)
    os.write(1, b"ready")
    spin(1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_compiled_loop_without_end_is_left(sent: signal.Signals, status: int, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "loop.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert process.stdout is not None
    process.stdout.read(5)
    process.send_signal(sent)
    _, told = process.communicate(timeout=20)
    assert process.returncode == status
    assert told == b"latentgram: interrupted\n"


STRUCK = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Strike:
    def find_spec(self, name, *_):
        if name == "latentgram.interrupt":
            os.kill(os.getpid(), int(sys.argv[1]))
sys.meta_path.insert(0, Strike())
from latentgram.__main__ import main
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_signals_are_obeyed(sent: signal.Signals, status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRUCK, str(int(sent))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert (done.returncode, done.stderr) == (status, "latentgram: interrupted\n")


WRITER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from latentgram.data.files import write_text
from latentgram.interrupt import LAST_DEEDS, obeying
with obeying():
    LAST_DEEDS["another"] = lambda: time.sleep(0.5)
    print("ready", flush=True)
    while True:
        with write_text(sys.argv[1]) as file:
            file.write("whole")
            time.sleep(0.05)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_no_file_is_begun_while_the_program_leaves(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=20)
    assert (process.returncode, told) == (143, b"latentgram: interrupted\n")
    assert {path.name for path in tmp_path.iterdir()} <= {"out"}
