"""`latentgram serve` as a process of its own: its workers are copies of it, are replaced, and end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
TEXT = "The teacher sleeps ."


@pytest.fixture
def server(models: Path) -> Iterator[Any]:
    command = [
        sys.executable,
        "-m",
        "latentgram",
        "serve",
        str(models / "phrases.lg"),
        "--no-browser",
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        line = next(each for each in process.stdout if "http" in each)
        with httpx.Client(base_url=f"http{line.split('http')[1].split()[0]}", timeout=100) as client:
            yield process, client
        process.kill()


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(holds: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def answers(client: httpx.Client) -> bool:
    return bool(client.post("/api/parse", json={"text": TEXT}).json().get("trees"))


def test_workers_are_copies_that_are_replaced_and_end_with_the_server(server: Any) -> None:
    process, client = server
    workers = children(process.pid)
    same = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    assert [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in workers] == [same, same]
    assert answers(client)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: answers(client))
    others = children(process.pid)
    process.kill()
    wait_for(lambda: not any(map(alive, others)))


def test_an_end_that_is_asked_for_comes_soon(server: Any) -> None:
    process, client = server
    assert answers(client)
    workers = children(process.pid)
    process.terminate()
    assert process.wait(20) == 143
    wait_for(lambda: not any(map(alive, workers)))
