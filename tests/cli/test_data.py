"""`latentgram data`: the list, local corpora, the demo treebank."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from latentgram.cli.main import app
from latentgram.data.treebank import Treebank

RUN = CliRunner()


def test_list_names_licences(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("LATENTGRAM_DATA", raising=False)
    result = RUN.invoke(app, ["data", "list"])
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert ["en_ewt", "dependency", "English", "CC BY-SA 4.0", "to fetch"] in [row[:5] for row in rows]


def test_get_finds_local_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "dependency" / "en_ewt" / "dev.conllu"
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setenv("LATENTGRAM_DATA", str(tmp_path))
    result = RUN.invoke(app, ["data", "get", "en_ewt"])
    assert result.exit_code == 0
    assert result.stdout == f"dev\t{path}\n"


@pytest.mark.parametrize(("name", "kind"), [("a.mrg.gz", "constituency"), ("a.conllu", "dependency")])
def test_demo_treebanks(tmp_path: Path, name: str, kind: str):
    path = tmp_path / name
    assert RUN.invoke(app, ["data", "demo", str(path), "-n", "20", "--seed", "2"]).exit_code == 0
    bank = Treebank.read(path)
    assert (len(bank), bank.kind) == (20, kind)
