"""Workers that are copies of this process: they have what it loaded, and none outlives it."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from latentgram.parallel.fork import can_fork
from latentgram.parallel.worker import Worker, WorkerEnded

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

COPIES = """
import os, signal, sys, time
from latentgram.parallel.fork import can_fork
from latentgram.parallel.worker import Worker
def length():  # is sent as it stands, without the names around it
    import sys
    return len(sys.loaded)
def busy(): time.sleep(60)
assert can_fork()
sys.loaded = [None] * 1000
workers = [Worker(copied=True) for _ in range(3)]
sys.loaded.clear()
"""


def run(program, **more):
    done = subprocess.run([sys.executable, "-c", COPIES + program], capture_output=True, text=True, **more)
    assert not done.stderr, done.stderr
    return done


def alive(pid):
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pids, seconds=20):
    end = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, pids))


def test_a_copy_has_what_was_loaded_before():
    done = run("print([worker.call(length) for worker in workers], length())")
    assert done.stdout == "[1000, 1000, 1000] 0\n"


def test_a_copy_does_not_obey_a_signal_that_came_before_it_was_made():
    done = run(
        "from latentgram.interrupt import obeying, pause\n"
        "with obeying():\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "    worker = Worker(copied=True)\n"
        "    print(worker.call(pause))\n"
        "    try:\n"
        "        pause()\n"
        "    except KeyboardInterrupt:\n"
        "        print('but the process does')\n"
        "worker.kill()\n"
    )
    assert done.stdout == "None\nbut the process does\n"


def test_a_copy_that_is_killed_is_noticed_and_the_others_go_on():
    done = run(
        "os.kill(workers[0].process.pid, signal.SIGKILL)\n"
        "from latentgram.parallel.worker import WorkerEnded\n"
        "try: workers[0].call(length)\n"
        "except WorkerEnded: print('ended')\n"
        "while not workers[0].ended: time.sleep(0.01)\n"
        "workers[0].kill(); workers[1].kill()\n"
        "print(workers[1].ended, workers[2].call(length), workers[2].ended)\n"
    )
    assert done.stdout == "ended\nTrue 1000 False\n"


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "sys.exit()"])
def test_no_worker_outlives_its_parent(end):
    """Not even one that lets no other thread run, neither a copy nor a new process."""
    program = (
        "import contextlib, threading\n"
        "def stubborn():\n"
        "    import re\n"
        "    re.match('(a+)+b', 'a' * 40)\n"
        "def wait(worker):\n"
        "    with contextlib.suppress(Exception): worker.call(stubborn)\n"
        "workers.append(Worker()); workers[3].call(len, 'begun')\n"
        "print(*(worker.process.pid for worker in workers), flush=True)\n"
        "for worker in workers[1::2]: threading.Thread(target=wait, args=(worker,), daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    done = run(program + end, timeout=30)
    assert gone(list(map(int, done.stdout.split())), seconds=2)


def test_what_waits_to_be_written_is_written_once():
    done = subprocess.run(
        [sys.executable, "-c", "print('once')\n" + COPIES + "print(workers[0].call(length))"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "once\n1000\n"


def test_signals_strike_no_copy():
    done = run(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "for worker in workers: os.kill(worker.process.pid, signal.SIGTERM); os.kill(worker.process.pid, 2)\n"
        "time.sleep(0.2); print([worker.call(length) for worker in workers])\n"
    )
    assert done.stdout == "[1000, 1000, 1000]\n"


def test_a_process_with_other_threads_is_not_copied():
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    try:
        assert not can_fork()
    finally:
        stop.set()
        other.join()


def test_new_processes_are_as_before():
    worker = Worker()
    assert worker.call(len, "abc") == 3
    worker.kill()
    with pytest.raises(WorkerEnded):
        worker.call(len, "abc")
