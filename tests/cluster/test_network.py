"""The network between client, scheduler and workers is lost in the middle: the same results, or one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import latentgram as lg
from cluster.network import Proxy
from latentgram.errors import ClusterError
from latentgram.parallel import Cluster
from latentgram.parallel import cluster as module

WORKER = ("--no-dashboard", "--no-nanny", "--nthreads", "1", "--death-timeout", "120", "--local-directory")
SOURCE = Path(__file__).parents[2] / "src"


def squares() -> Callable[[int], int]:
    """A function that travels by value and takes its time."""

    def square(number: int) -> int:
        time.sleep(0.05)
        return number * number

    return square


def test_connections_of_the_client_that_are_cut(processes: Any, cluster: Cluster) -> None:
    with Proxy(processes.address) as proxy, Cluster(proxy.address) as engine:
        results = engine.map(squares(), range(200))
        assert next(results) == 0
        proxy.cut()
        with pytest.raises(ClusterError, match="has disappeared; finished work is kept"):
            list(results)
    assert list(cluster.map(abs, [-1, 2])) == [1, 2]


@pytest.mark.parametrize("finished", [False, True], ids=["while they work", "when results wait to be fetched"])
def test_a_network_that_falls_silent(
    processes: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, finished: bool
) -> None:
    monkeypatch.setattr(module, "SILENCE_SECONDS", 2.0)
    monkeypatch.setattr(module, "CONNECT_SECONDS", 5.0)
    with Proxy(processes.address) as proxy:
        engine = Cluster(proxy.address)
        results = engine.map(squares(), range(200))
        assert next(results) == 0
        if finished:
            time.sleep(1.0)
        proxy.fall_silent()
        with pytest.raises(ClusterError, match="has stopped responding; finished work is kept"):
            list(results)
    engine.close()


def test_workers_whose_connections_are_cut(start: Callable[..., Any]) -> None:
    own = start(workers=1)
    with Proxy(own.address) as proxy:
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", proxy.address, *WORKER, str(own.folder / "far")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        )
        own.workers.append(worker)
        with Cluster(own.address) as engine:
            deadline = time.monotonic() + 60
            while engine.n_jobs < 2 and time.monotonic() < deadline:
                time.sleep(0.1)
            results = engine.map(squares(), range(60))
            found = [next(results) for _ in range(5)]
            proxy.hang_up()
            found += [next(results) for _ in range(5)]
            proxy.cut()
            assert [*found, *results] == [number * number for number in range(60)]


def test_parsing_over_a_network_that_is_cut(
    start: Callable[..., Any], processes: Any, cluster: Cluster, tmp_path: Path
) -> None:
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    lg.save(parser, tmp_path / "parser.lg")
    words = [" ".join(sentence.words) for sentence in lg.demo_treebank(100, seed=1).sentences()]
    (tmp_path / "many.txt").write_text("\n".join(words * 40) + "\n")
    output, part = tmp_path / "many.mrg", tmp_path / "many.mrg.part"
    arguments = ["parse", "--tokenised", tmp_path / "parser.lg", tmp_path / "many.txt", "-o", output]

    def call(*more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "latentgram", *map(str, arguments), *more],
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            text=True,
        )

    with Proxy(processes.address) as proxy:
        process = call("--cluster", proxy.address)
        while process.poll() is None and not (part.exists() and part.stat().st_size):
            time.sleep(0.01)
        proxy.cut()
        _, told = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in told
    assert told.splitlines()[-1].endswith("--resume continues after them")
    assert not output.exists()
    again = call("--cluster", processes.address, "--resume")
    again.communicate(timeout=300)
    assert again.returncode == 0
    assert output.read_text() == "".join(f"{parse.tree}\n" for parse in parser.parse_many(words)) * 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.mrg", "many.txt", "parser.lg"]
