"""Files of any size: read as far as they are asked for, and no further."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest

import latentgram as lg
from latentgram.parser.answers import Reading
from latentgram.parser.parser import BATCH


def test_sentences_of_every_format(tmp_path: Path) -> None:
    bank, arcs = lg.demo_treebank(3, seed=0), lg.demo_dependencies(3, seed=0)
    bank.write(tmp_path / "trees.mrg")
    arcs.write(tmp_path / "trees.conllu")
    (tmp_path / "words.txt").write_text("".join(" ".join(tree.words) + "\n" for tree in bank))
    for name in ("trees.mrg", "trees.conllu", "words.txt"):
        words = [sentence.words for sentence in lg.stream(tmp_path / name, tokenised=True)]
        assert words == [tree.words for tree in (arcs if name.endswith("conllu") else bank)]
    assert next(lg.stream(tmp_path / "trees.mrg")).tags is None
    assert next(lg.stream(tmp_path / "trees.mrg", tags=True)).tags == bank[0].tags


def test_no_more_is_read_than_is_parsed(tmp_path: Path) -> None:
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    path = tmp_path / "many.txt"
    path.write_text("The dog sleeps.\n" * 2000)
    taken = 0

    def counted(sentences: Iterable[lg.Sentence]) -> Iterator[lg.Sentence]:
        nonlocal taken
        for sentence in sentences:
            taken += 1
            yield sentence

    for ahead, workers in ((1, 1), (4, 2)):
        taken = 0
        parses = parser.parse_many(counted(lg.stream(path)), n_jobs=workers)
        assert len(list(islice(parses, 3))) == 3
        assert taken <= ahead * BATCH
        parses.close()  # type: ignore[attr-defined]


def test_a_file_is_looked_at_when_its_first_sentence_is_asked_for(tmp_path: Path) -> None:
    """But what cannot be streamed at all is said at once."""
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    later = tmp_path / "later"
    questions = Reading().questions(parser, later)
    later.write_text("the dog sleeps .\n", "utf-8")
    assert [question.sentence.words for question in questions] == [("the", "dog", "sleeps", ".")]
    with pytest.raises(lg.DataError, match="no such file"):
        next(Reading().questions(parser, tmp_path / "never"))
    with pytest.raises(lg.DataError, match="no such file"):
        lg.stream(tmp_path / "never")
