"""Work that nobody waits for goes on, whatever happens to a piece of it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import latentgram as lg
from latentgram.web import api
from latentgram.web.annotations import Annotations
from latentgram.web.bank import Bank, Entry


@pytest.mark.parametrize(
    "fault", [lg.DataError("somebody is changing the file"), OSError(2, "gone"), IndexError(3)]
)
def test_doubts_are_computed_after_a_fault(fault: Exception, caplog: pytest.LogCaptureFixture) -> None:
    faults = [fault]

    def entries() -> list[Entry]:
        if faults:
            raise faults.pop()
        return [Entry(0, "(S (A a))", ("a",), "")]

    async def run(*_: object, **__: object) -> list[float]:
        return [-2.5]

    bank = SimpleNamespace(entries=entries, tree=lambda entry: entry, doubts={})
    session: Any = SimpleNamespace(bank=bank, doubts_wanted=True, workers=SimpleNamespace(run=run))

    async def work() -> None:
        task = asyncio.create_task(api._score_bank(session))
        async with asyncio.timeout(20):
            while not bank.doubts:
                await asyncio.sleep(0.01)
        task.cancel()

    with caplog.at_level(logging.ERROR):
        asyncio.run(work())
    assert bank.doubts == {"(S (A a))": -2.5}
    assert ("work in the background failed" in caplog.text) == isinstance(fault, IndexError)


@pytest.mark.parametrize("phrases", [True, False])
def test_a_tree_that_was_found_is_shown_though_the_file_has_changed(tmp_path: Path, phrases: bool) -> None:
    trees = list(lg.demo_treebank(3, seed=0) if phrases else lg.demo_dependencies(3, seed=0))
    path = tmp_path / ("a.mrg" if phrases else "a.conllu")
    lg.Treebank.of(trees).write(path)
    bank = Bank(Annotations("constituency" if phrases else "dependency", path))
    found = bank.entries()
    assert [bank.tree(entry) for entry in found] == trees
    lg.Treebank.of(trees[2:]).write(path)
    assert len(bank.entries()) == 1
    assert [bank.tree(entry) for entry in found] == trees
