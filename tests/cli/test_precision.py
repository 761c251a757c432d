"""`--precision` of `train`, and what `info` says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Outcome

import latentgram as lg
from latentgram.store import read_header


def test_train_says_how_precise_a_file_is(run: Callable[..., Outcome], tmp_path: Path) -> None:
    lg.demo_treebank(150, seed=1).write(tmp_path / "trees.mrg")
    sizes = {}
    for precision in ("compact", "full"):
        path = tmp_path / f"{precision}.lg"
        run("train", "lpcfg", tmp_path / "trees.mrg", "-o", path, "--states", "3", "--precision", precision)
        assert f"{precision} precision" in run("info", path).out
        sizes[precision] = path.stat().st_size
    assert sizes["compact"] < 0.6 * sizes["full"]
    run("train", "lpcfg", tmp_path / "trees.mrg", "-o", tmp_path / "default.lg", "--states", "3")
    assert read_header(tmp_path / "default.lg").precision == "compact"
