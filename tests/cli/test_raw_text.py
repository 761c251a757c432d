"""From raw text to CoNLL-U, tags and word vectors, by commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.conllu import parse_conllu


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("raw") / "train.conllu"
    lg.demo_dependencies(120, seed=0).write(path)
    return path


def test_a_parser_with_its_tagger_takes_raw_text(run: Callable, treebank: Path, tmp_path: Path) -> None:
    trained = run("train", "shag", treebank, "--by", "counting", "-o", tmp_path / "m.lg")
    assert trained.status == 0
    assert "tagger with" in trained.err
    result = run("parse", tmp_path / "m.lg", "--probabilities", given="The dog sleeps. The cat runs!\n")
    first, second = parse_conllu(result.out)
    assert first.words == ("The", "dog", "sleeps", ".")
    assert second.words == ("The", "cat", "runs", "!")
    assert "# text = The dog sleeps." in first.comments
    assert first.misc[2].startswith("SpaceAfter=No")
    assert "TagProb=" in first.misc[0]
    whole = run("parse", tmp_path / "m.lg", "--tokenised", given="The dog sleeps. The cat runs!\n")
    assert parse_conllu(whole.out)[0].words == ("The", "dog", "sleeps.", "The", "cat", "runs!")
    tagged = run("tag", tmp_path / "m.lg", given="The dog sleeps.\n")
    assert [line.split("\t")[0] for line in tagged.out.split("\n")[:4]] == ["The", "dog", "sleeps", "."]


def test_a_tagger_alone(run: Callable, treebank: Path, tmp_path: Path) -> None:
    assert run("train", "tagger", treebank, "--passes", "4", "-o", tmp_path / "t.lg").status == 0
    result = run("tag", tmp_path / "t.lg", "--probabilities", given="the dog sleeps .\n")
    rows = [line.split("\t") for line in result.out.split("\n")[:4]]
    assert [row[1] for row in rows[:2]] == ["DT", "NN"]
    assert all(0 < float(row[2]) <= 1 for row in rows)
    refused = run("tag", tmp_path / "t.lg", "--fast", treebank, given="a\n")
    assert refused.status == 1
    assert "hidden Markov" in refused.err


def test_word_vectors_are_learned_and_shown(run: Callable, treebank: Path, tmp_path: Path) -> None:
    assert run("train", "vectors", treebank, "--view", "tree", "-o", tmp_path / "v.lg").status == 0
    shown = run("show", tmp_path / "v.lg", "--word", "the", "--top", "3")
    assert len(shown.out.split("\n")) == 4
    missing = run("show", tmp_path / "v.lg", "--word", "nosuchword")
    assert missing.status == 1
    assert "no vector" in missing.err


def test_word_vectors_of_text_are_those_of_its_bigrams(run: Callable, tmp_path: Path) -> None:
    """The command reads the text as a stream; nothing but the reading differs."""
    text = tmp_path / "text.txt"
    text.write_text("".join(" ".join(tree.words) + "\n" for tree in lg.demo_dependencies(60, seed=1)), "utf-8")
    assert run("train", "vectors", text, "--states", 5, "-o", tmp_path / "v.lg").status == 0
    stored, direct = (
        lg.load(tmp_path / "v.lg"),
        lg.fit(lg.WordVectors, lg.Text.read(text), by=lg.Spectral(states=5)),
    )
    assert list(stored.words) == list(direct.words)
    np.testing.assert_allclose(stored.vectors, direct.vectors)


def test_vectors_of_raw_text_go_into_the_parsers(run: Callable, treebank: Path, tmp_path: Path) -> None:
    text, phrases, vectors = tmp_path / "text.txt", tmp_path / "train.mrg", tmp_path / "v.lg"
    text.write_text("".join(" ".join(tree.words) + "\n" for tree in lg.demo_dependencies(300, seed=1)), "utf-8")
    lg.demo_treebank(60, seed=0).write(phrases)
    assert run("train", "vectors", text, "--view", "lr-mvl", "--states", 8, "-o", vectors).status == 0
    shown = run("show", vectors, "--word-clusters", 6, "--top", 2)
    rows = [line.split() for line in shown.out.strip().split("\n")]
    assert len(rows) == 6
    assert all(set(bits) <= {"0", "1"} and 1 <= len(words) <= 2 for bits, *words in rows)

    trees = tmp_path / "tree.lg"
    flags = ("--by", "spectral", "--symbols", "forms", "--valency", 0)
    assert run("train", "latent-tree", treebank, "--vectors", vectors, *flags, "-o", trees).status == 0
    assert run("score", trees, treebank).status == 0
    heads = tmp_path / "shag.lg"
    assert run("train", "shag", treebank, "--vectors", vectors, "--clusters", 4, "-o", heads).status == 0
    symbols = lg.load(heads).model.symbols
    assert any(name[0] in "01" and "^" in name for name in symbols.alphabet)
    assert run("parse", heads, given="The unheardof sleeps .\n").status == 0
    grammar = tmp_path / "lpcfg.lg"
    train = ("train", "lpcfg", phrases, "--by", "spectral", "--states", 4)
    assert run(*train, "--vectors", vectors, "-o", grammar).status == 0
    assert run("parse", grammar, given="The dog sleeps .\n").status == 0
    refused = run("train", "shag", treebank, "--vectors", grammar, "-o", tmp_path / "no.lg")
    assert refused.status == 1
    assert "WordVectors" in refused.err
    assert not (tmp_path / "no.lg").exists()
