"""Trees that stay on the disk: the same models as from memory, and memory that does not grow with the trees."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.data import brackets
from latentgram.errors import DataError


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stream") / "trees.conllu"
    lg.demo_dependencies(500, 3).write(path)
    return path


def same(one: Any, other: Any) -> bool:
    """Whether two models have the same fields, arrays bit by bit."""
    if isinstance(one, np.ndarray):
        return one.tobytes() == other.tobytes()
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        names = {field.name for field in dataclasses.fields(one)} - {"provenance"}
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    return bool(one == other)


@pytest.mark.parametrize("learner", [lg.Counting(), lg.Counting(symbols="words"), lg.Spectral(states=3)])
def test_head_automata_are_the_same(file: Path, learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lg.fit(lg.SHAG, lg.Treebank.read(file), by=learner)
    monkeypatch.setattr("latentgram.data.treebank.TreebankStream.shards.__defaults__", (37,))
    streamed = lg.fit(lg.SHAG, lg.TreebankStream(file), by=learner)
    assert same(whole, streamed)
    for name in ("data_digest", "data_size", "trace"):
        assert getattr(whole.provenance, name) == getattr(streamed.provenance, name)


def test_shards_of_both_kinds(file: Path) -> None:
    bank = lg.Treebank.read(file)
    parts = list(bank.shards(200))
    assert [len(part) for part in parts] == [200, 200, 100]
    assert parts[0] + parts[1] + parts[2] == bank
    assert list(lg.TreebankStream(file).shards(200)) == parts
    stream = lg.TreebankStream(file)
    assert (len(stream), stream.digest) == (500, bank.digest)


def test_memory_of_a_stream(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Going through many trees takes a small part of what it takes to hold them."""
    monkeypatch.setattr("latentgram.data.files.BLOCK_BYTES", 1 << 15)
    large = tmp_path / "large.conllu"
    large.write_text(file.read_text() * 16)

    def peak(work: Callable[[], object]) -> int:
        tracemalloc.start()
        work()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    held = peak(lambda: lg.Treebank.read(large))
    # Tables of a fixed size that the process keeps may grow in one of the passes, but not in all.
    passes = [peak(lambda: deque(lg.TreebankStream(large).shards(100), maxlen=0)) for _ in range(3)]
    assert min(passes) < held / 8


def test_a_stream_needs_files() -> None:
    with pytest.raises(DataError, match="standard input can be read only once"):
        lg.TreebankStream("-", "conllu")


def test_trees_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trees.mrg"
    lg.demo_treebank(200, 0).write(path)
    whole = lg.Treebank.read(path)
    monkeypatch.setattr(brackets.stream_forests, "__kwdefaults__", {"bad": None, "block_bytes": 1000})
    assert lg.Treebank.read(path) == whole
    assert lg.Treebank.read(path).forest.labels == whole.forest.labels
