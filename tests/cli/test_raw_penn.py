"""Raw Penn trees: what is not spoken and not a category is neither learned nor parsed, and it is said so."""

from pathlib import Path

import pytest

import latentgram as lg
from latentgram.data.cleaning import EMPTY

CLEAN = lg.demo_treebank(60, seed=0)


def with_marks(tree: lg.Tree, depth: int = 0) -> lg.Tree:
    """A tree with a trace in every verb phrase and function tags on noun phrases, under a root without a name."""
    if tree.word is not None:
        return tree
    below = tuple(with_marks(child, depth + 1) for child in tree.children)
    if tree.label == "VP":
        below = (*below, lg.Tree("NP", (lg.Tree(EMPTY, word="*T*-1"),)))
    return lg.Tree(f"{tree.label}-SBJ-1" if tree.label == "NP" else tree.label, below)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("penn")
    raw, plain = folder / "raw.mrg", folder / "plain.mrg"
    lg.Treebank.of(lg.Tree("", (with_marks(tree),)) for tree in CLEAN).write(raw)
    lg.Treebank.of(lg.Tree("TOP", (tree,)) for tree in CLEAN).write(plain)
    return raw, plain


def test_raw_trees_are_cleaned_for_learning_and_counted(run, files, tmp_path):
    raw, plain = files
    trained = run("train", "lpcfg", raw, "--by", "counting", "-o", tmp_path / "raw.lg")
    run("train", "lpcfg", plain, "--by", "counting", "-o", tmp_path / "plain.lg")
    assert "roots named TOP: 60" in trained.err
    grammar, same = (lg.load(tmp_path / name, lg.Parser).model for name in ("raw.lg", "plain.lg"))
    assert grammar.interminals == same.interminals
    scores = {run("eval", tmp_path / "raw.lg", file, "--json").out for file in files}
    assert len(scores) == 1, "the same figures against raw and clean gold trees"
    parses = {run("parse", tmp_path / "raw.lg", file).out for file in files}
    assert len(parses) == 1, "empty elements are not parsed as words"


def test_raw_trees_are_scored_as_they_are_learned(run, files, tmp_path):
    model, kept = tmp_path / "raw.lg", tmp_path / "kept.lg"
    run("train", "lpcfg", files[0], "--by", "counting", "-o", model)
    run("train", "lpcfg", files[0], "--by", "counting", "--keep-marks", "-o", kept)
    for command in (["score"], ["suspects", "-n", 3], ["suspects", "-n", 3, "--folds", 3]):
        raw, plain = (run(command[0], model, file, *command[1:]) for file in files)
        assert (raw.status, raw.out) == (0, plain.out)
        assert "trees cleaned: empty nodes removed" in raw.err
        assert "cleaned" not in plain.err
    assert "cleaned" not in run("score", kept, files[0]).err


def test_marks_are_learned_when_asked_for(run, files, tmp_path):
    run("train", "lpcfg", files[0], "--by", "counting", "--keep-marks", "-o", tmp_path / "kept.lg")
    labels = lg.load(tmp_path / "kept.lg", lg.Parser).model.interminals
    assert any("SBJ" in label for label in labels)


def test_learning_from_empty_elements_warns(files):
    with pytest.warns(UserWarning, match="empty elements"):
        lg.fit(lg.LPCFG, lg.Treebank.read(files[0]), by=lg.Counting())
