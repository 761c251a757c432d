"""Models estimated by way of the disk are those estimated in memory, to the last byte."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import latentgram as lg
from latentgram.data.ngrams import columns, external
from latentgram.data.ngrams.arpa import write_arpa
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.errors import DataError, SettingError
from latentgram.kinds.learners import Smoothing
from latentgram.sequences import estimation, smoothing
from latentgram.sequences.smoothing import SMOOTHINGS, smoothed

SMALL = "16M"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces, blocks and ranges of a few rows, so that short texts go all ways."""
    monkeypatch.setattr(external, "TOKEN_BYTES", 1 << 30)
    monkeypatch.setattr(external, "LEAST_PIECE", 12)
    monkeypatch.setattr(external, "BUFFER", 3)
    monkeypatch.setattr(columns, "BLOCK", 4)
    monkeypatch.setattr(smoothing, "BLOCK", 4)
    monkeypatch.setattr(columns, "VALUE_BYTES", 1 << 22)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), max_size=9), min_size=1, max_size=40),
    st.integers(1, 5),
    st.sampled_from(SMOOTHINGS),
    st.sampled_from([1, 2, 3, 9]),
)
def test_files_are_those_of_memory(
    tiny: None, tmp_path: Path, text: list[list[str]], order: int, method: Smoothing, cutoff: int
) -> None:
    if not any(text):
        return
    file = tmp_path / "text"
    file.write_text("".join(" ".join(line) + "\n" for line in text))
    learner = lg.Counting(smoothing=method, cutoff=cutoff)
    by_disk = lg.write_language_model(
        file, tmp_path / "disk", by=learner, order=order, memory=SMALL, temporary=tmp_path / "work"
    )
    in_memory = lg.write_language_model(file, tmp_path / "memory", by=learner, order=order)
    assert (tmp_path / "disk").read_bytes() == (tmp_path / "memory").read_bytes()
    assert by_disk == in_memory
    assert not list((tmp_path / "work").iterdir())


def test_an_estimate_in_blocks_is_that_of_whole_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = NGramCounts.of(lg.Text.of([s.words for s in lg.demo_treebank(200, seed=1).sentences()]), order=4)
    whole = smoothed(counts, "kneser-ney")
    monkeypatch.setattr(columns, "BLOCK", 50)
    monkeypatch.setattr(smoothing, "BLOCK", 50)
    blocks = smoothed(counts, "kneser-ney")
    np.testing.assert_array_equal(blocks.logprob, whole.logprob)
    np.testing.assert_array_equal(blocks.backoff, whole.backoff)
    write_arpa(whole, tmp_path / "a.arpa")
    assert lg.read_arpa(tmp_path / "a.arpa", strict=True).order == 4


def test_what_cannot_be_bounded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "text"
    file.write_text("a b c d\n" * 20)
    learner = lg.Counting(smoothing="kneser-ney", cutoff=(1, 3, 2))
    with pytest.raises(SettingError, match=r"cut-offs that fall with the order .* whole model in memory"):
        lg.write_language_model(file, tmp_path / "out", by=learner, memory=SMALL)
    with pytest.raises(SettingError, match="smoothing must be one of"):
        lg.write_language_model(file, tmp_path / "out", by=lg.Counting(), memory=SMALL)
    monkeypatch.setattr(estimation, "MODEL_BYTES", 1 << 22)
    with pytest.raises(SettingError, match=r"need .*G of memory; give more, or write the model as an ARPA file"):
        lg.write_language_model(
            file, tmp_path / "out", by=lg.Counting(smoothing="katz", entropy=1e-3), memory=SMALL
        )
    (tmp_path / "empty").write_text("\n\n")
    for memory in (None, SMALL):
        with pytest.raises(DataError, match="no sentences to count"):
            lg.write_language_model(
                tmp_path / "empty", tmp_path / "out", by=lg.Counting(smoothing="katz"), memory=memory
            )
    assert not (tmp_path / "out").exists()
