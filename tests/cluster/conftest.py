"""A real cluster: a scheduler and two workers, each a process of its own on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

from latentgram.parallel import Cluster

SOURCE = Path(__file__).parents[2] / "src"


class TinyCluster:
    """Processes of one cluster, started from the command line as a user would."""

    def __init__(self, folder: Path, workers: int = 2, path: Path = SOURCE) -> None:
        self.folder, self.path = folder, path
        self.file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--idle-timeout", "1800")
        for _ in range(workers):
            self.add_worker()
        deadline = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.address: str = json.loads(self.file.read_text())["address"]

    def add_worker(self) -> None:
        options = (
            "--nthreads",
            "1",
            "--no-nanny",
            "--death-timeout",
            "120",
            "--local-directory",
            str(self.folder / "scratch"),
        )
        self.workers.append(self._start("worker", *options))

    def kill_worker(self) -> None:
        """End a worker without warning, and call another one in."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()
        self.add_worker()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self.file)]
        with open(self.folder / f"{what}.log", "ab") as log:
            return subprocess.Popen(
                [*command, "--no-dashboard", *options],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(self.path)},
                start_new_session=True,
            )


@pytest.fixture(scope="package")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., TinyCluster]]:
    """Starts clusters, which end with the tests."""
    started: list[TinyCluster] = []

    def call(workers: int = 2, path: Path = SOURCE) -> TinyCluster:
        started.append(TinyCluster(tmp_path_factory.mktemp("cluster"), workers, path))
        return started[-1]

    yield call
    for one in started:
        one.close()


@pytest.fixture(scope="package")
def processes(start: Callable[..., TinyCluster]) -> TinyCluster:
    """The cluster of most tests."""
    return start()


@pytest.fixture(scope="package")
def cluster(processes: TinyCluster) -> Iterator[Cluster]:
    """The engine of that cluster, once both workers have come."""
    with Cluster(processes.address) as engine:
        deadline = time.monotonic() + 60
        while engine.n_jobs < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        yield engine
