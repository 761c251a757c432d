"""N-grams counted block by block are the n-grams of the whole text, whatever the blocks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import latentgram as lg
from latentgram.data import files
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.provenance import Provenance
from latentgram.data.text import Text
from latentgram.errors import DataError
from latentgram.parallel import InProcess, engine_for
from latentgram.sequences.counting import count_ngrams
from oracles.equality import same


def bare(counts: NGramCounts) -> NGramCounts:
    return dataclasses.replace(counts, provenance=Provenance())


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files, the first of which does not end in a newline."""
    folder = tmp_path_factory.mktemp("text")
    lines = [" ".join(sentence.words) for sentence in lg.demo_treebank(300, seed=3).sentences()]
    (folder / "a.txt").write_text("\n".join(lines[:200]))
    (folder / "b.txt").write_text("\n".join(lines[200:]) + "\n")
    return [folder / "a.txt", folder / "b.txt"]


@pytest.mark.parametrize(
    "options",
    [
        {"order": 1},
        {"order": 3},
        {"order": 5, "cutoff": 2},
        {"order": 4, "cutoff": (2, 1, 3, 2)},
        {"order": 3, "cutoff": 3, "all_bigrams": False},
    ],
    ids=str,
)
def test_blocks_change_nothing(
    texts: list[Path], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = NGramCounts.read(texts, **options)
    monkeypatch.setattr(files, "BLOCK_BYTES", 700)
    assert whole.sentences == 300
    assert same(bare(count_ngrams(texts, engine=InProcess(), **options)), bare(whole))


def test_workers_change_nothing(texts: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 2000)
    here = count_ngrams(texts, engine=InProcess())
    assert same(count_ngrams(texts, engine=engine_for(2)), here)


LINES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=6)


@given(st.lists(LINES, min_size=1, max_size=4), st.integers(1, 4))
def test_counts_of_texts_add(texts: list[list[str]], order: int) -> None:
    parts = [NGramCounts.of(Text.of(lines), order=order) for lines in texts]
    whole = NGramCounts.of(Text.of([line for lines in texts for line in lines]), order=order)
    assert same(bare(NGramCounts.merged(parts, (1,) * order, Provenance())), bare(whole))


def test_faults_are_placed(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("fine\nnot </s> fine\n")
    with pytest.raises(DataError, match=r"bad\.txt:2: word 2 is </s>, which is reserved"):
        count_ngrams(tmp_path / "bad.txt", engine=InProcess())
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(DataError, match="there are no sentences to count"):
        count_ngrams(tmp_path / "empty.txt", engine=InProcess())
