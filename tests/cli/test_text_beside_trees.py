"""Raw text beside a treebank, from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram as lg


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    lg.demo_treebank(5, seed=5).write(tmp_path / "trees.mrg")
    return tmp_path / "trees.mrg"


def test_text_is_cut_as_for_parsing(run: Callable, trees: Path) -> None:
    raw, output = trees.parent / "raw.txt", trees.parent / "m.lg"
    raw.write_text("The dog sleeps. The cat sees the dog.\n")
    assert run("train", "chart-crf", trees, "--states", 2, "--text", raw, "-o", output).status == 0
    parser = lg.load(output, lg.Parser)
    assert str(parser.model.provenance.fields["text"]).startswith("Text(2 sentences, 10 words, ")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("\n", "raw.txt: there is no text"),
        ("the </s> cat .\n", "raw.txt: sentence 1: word 2 is </s>, which is reserved"),
        (None, "raw.txt: there is no such file"),
    ],
)
def test_a_fault_names_its_file(run: Callable, trees: Path, content: str | None, told: str) -> None:
    raw, output = trees.parent / "raw.txt", trees.parent / "m.lg"
    if content is not None:
        raw.write_text(content)
    outcome = run("train", "chart-crf", trees, "--text", raw, "-o", output)
    assert outcome.status == 1
    assert told in outcome.err
    assert not output.exists()
