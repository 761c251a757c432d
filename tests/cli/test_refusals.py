"""What a command cannot do, or would do silently wrong, is one sentence, and files are as they were."""

from __future__ import annotations

import bz2
import json
import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram as lg
from latentgram.parser.parser import BATCH


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models and data, none of which a refused command may change."""
    folder = tmp_path_factory.mktemp("refusals")
    trees = lg.demo_dependencies(60, 0)
    trees.write(folder / "d.conllu")
    lg.save(lg.Parser(lg.fit(lg.SHAG, trees, by=lg.Spectral(states=3))), folder / "s.lg")
    arcs = lg.MIRA(order=1, passes=1, bits=14, folds=1)
    lg.save(lg.Parser(lg.fit(lg.ArcFactored, trees, by=arcs)), folder / "a.lg")
    lg.save(lg.fit(lg.HMM, lg.Treebank.of(trees.sentences()), by=lg.Counting()), folder / "h.lg")
    (folder / "t.tsv").write_text("a\tX\tDT\nb\tY\tNN\n\n", "utf-8")
    (folder / "t.txt").write_text("a b\n", "utf-8")
    (folder / "e.txt").write_text("", "utf-8")
    (folder / "e.tsv").write_text("", "utf-8")
    (folder / "one.conllu").write_text("1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n" * 3, "utf-8")
    (folder / "c.mrg").write_text("(S (NN a))\n", "utf-8")
    (folder / "n.svg").write_text("<svg></svg>\n", "utf-8")
    (folder / "z.txt").write_bytes(b"\x28\xb5\x2f\xfd\x04\x00")
    return folder


REPLACED = "the output would overwrite this input"
REFUSED = {
    "training replaces its trees": ("train shag d.conllu --no-tagger -o d.conllu", REPLACED),
    "training replaces held-out trees": ("train shag t.txt --dev d.conllu -o d.conllu", REPLACED),
    "training replaces FILE:COLUMN": ("train hmm t.tsv:2 --by counting -o t.tsv", REPLACED),
    "parsing replaces its input": ("parse s.lg d.conllu -o d.conllu", REPLACED),
    "parsing replaces its model": ("parse s.lg d.conllu -o s.lg", REPLACED),
    "calibrating replaces its trees": ("calibrate s.lg d.conllu -o d.conllu", REPLACED),
    "counting replaces its text": ("ngram count t.txt -o t.txt", REPLACED),
    "a missing folder": ("train shag d.conllu --no-tagger -o none/x.lg", "the folder none does not exist"),
    "folds": ("train shag d.conllu --jackknife 1000 -o o.lg", "60 sentences, which cannot be divided into 1000"),
    "folds for arcs": (
        "train arcs one.conllu --jackknife 50 -o o.lg",
        "3 sentences, which cannot be divided into 50",
    ),
    "folds for lists": ("train reranker one.conllu --jackknife 9 -o o.lg", "which cannot be divided into 9"),
    "no arcs": ("train latent-tree one.conllu --by spectral -o o.lg", "one.conllu: no word has a modifier"),
    "no arcs, printed": (
        "train latent-tree one.conllu --by spectral --form printed -o o.lg",
        "one.conllu: no word has a modifier",
    ),
    "nothing to choose": (
        "train automaton t.txt --by spectral --dev t.txt -o o.lg",
        "--dev has no meaning for --by spectral, which does not use held-out data",
    ),
    "nothing to choose without a search": (
        "train lpcfg c.mrg --by spectral --dev c.mrg -o o.lg",
        "--dev has no meaning for --by spectral without --search",
    ),
    "no held-out text": (
        "train automaton t.txt --by em --dev e.txt -o o.lg",
        "e.txt: there are no held-out sentences: the file is empty",
    ),
    "no held-out tags": ("train hmm t.txt --by em --dev e.tsv -o o.lg", "e.tsv: there are no held-out sentences"),
    "no trees": ("show n.svg", "n.svg: only trees"),
    "no trees but tags": ("show t.tsv", "t.tsv: only trees"),
    "whose spectrum": ("show s.lg --spectrum", "--spectrum: choose what to show of the model"),
    "a summary as a picture": ("show s.lg --svg x.svg", "--svg: choose what to show of the model"),
    "automata of trees": ("show d.conllu --automaton NN", "--automaton has no meaning for a treebank"),
    "two things": ("show s.lg --automaton NN --word a", "--automaton has no meaning for --word"),
    "a model as trees": ("train shag s.lg -o o.lg", "s.lg: this is a model file of latentgram"),
    "other trees than the parser's": (
        "eval s.lg c.mrg",
        "c.mrg: the parser makes dependency trees, but the treebank is constituency",
    ),
    "an HMM is no parser": ("eval h.lg t.tsv", "is an HMM, not a Parser: 'latentgram tag' tags with it"),
    "brackets for heads": ("train shag c.mrg -o o.lg", "c.mrg: a dependency treebank is needed, this one is"),
    "trees for other parsers": ("score s.lg c.mrg", "c.mrg: a dependency parser scores only dependency trees"),
    "p(sentence) of a parser without": ("score a.lg t.tsv", "an ArcFactored, has no p(sentence): it scores trees"),
    "two numbers of tags": (
        "train hmm t.txt --by em --dictionary t.tsv:1:1 --states 5 -o o.lg",
        "states has no meaning with a dictionary",
    ),
    "a symbol that is not there": ("show s.lg --automaton NNX", "there is no symbol 'NNX' among the"),
    "zstd": ("ngram count z.txt -o o.tsv", "z.txt: this is zstd: of compressed files gz, xz and bz2 are read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(run: Callable, place: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(place)
    command, message = REFUSED[name]
    before = {file: (place / file).read_bytes() for file in os.listdir(place)}
    result = run(*command.split())
    assert result.status == 1
    assert message in result.err.splitlines()[-1]
    assert {file: (place / file).read_bytes() for file in os.listdir(place)} == before


@pytest.mark.parametrize("kind", ["ensemble", "lexical-shag", "reranker", "tagger", "top-down", "vectors"])
def test_no_held_out_data_without_a_choice(run: Callable, place: Path, kind: str) -> None:
    result = run("train", kind, place / "d.conllu", "--dev", place / "d.conllu", "-o", place / "o.lg")
    assert result.status == 2
    assert "No such option: --dev" in result.err


def test_held_out_data_by_an_empty_path(run: Callable, place: Path) -> None:
    result = run("train", "shag", place / "d.conllu", "--dev", "", "-o", place / "o.lg")
    assert result.status == 2
    assert "the path is empty" in result.err


@pytest.mark.parametrize("by", ["em", "counting"])
def test_words_and_tags_may_be_those_of_trees(run: Callable, place: Path, tmp_path: Path, by: str) -> None:
    output = tmp_path / "o.lg"
    assert run("train", "hmm", place / "d.conllu", "--by", by, "-o", output).status == 0
    seen = {word for tree in lg.Treebank.read(place / "d.conllu") for word in tree.words}
    assert seen <= set(lg.load(output).words.symbols)
    assert not any(word.isdigit() for word in set(lg.load(output).words.symbols) - seen)


def test_held_out_tags_may_be_those_of_trees(run: Callable, place: Path, tmp_path: Path) -> None:
    output = tmp_path / "o.lg"
    options = ("--states", 2, "--iterations", 1, "--dev", place / "d.conllu", "-o", output)
    assert run("train", "hmm", place / "t.txt", *options).status == 0
    assert lg.load(output).provenance.trace[-1]["score"] > 0


def test_no_probability_of_a_sentence_is_a_dash(run: Callable, place: Path) -> None:
    result = run("score", place / "a.lg", place / "d.conllu")
    assert result.status == 0
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert len(rows) == 60
    for whole, log, probability, _ in rows:
        assert whole == "-"
        assert float(probability) == pytest.approx(math.exp(float(log)), rel=1e-4, abs=1e-300)


def test_an_empty_part_is_named(run: Callable, place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dependency" / "demo"
    folder.mkdir(parents=True)
    (folder / "train.conllu").write_bytes((place / "d.conllu").read_bytes())
    (folder / "dev.conllu").write_bytes(b"")
    options = ("--data", tmp_path, "--output", tmp_path / "out", "--treebank", "demo")
    result = run("reproduce", "luque2012", *options)
    assert result.status == 1
    assert "dev.conllu: there are no trees in this part" in result.err.replace("\n", "")


def test_models_and_learners_print_in_a_line(place: Path) -> None:
    for name in ("s.lg", "h.lg"):
        shown = repr(lg.load(place / name))
        assert "array" not in shown
        assert len(shown) < 250
    assert repr(lg.Spectral(states=3)) == "Spectral(states=3)"


def test_bzip2_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "d.conllu.bz2"
    trees = lg.demo_dependencies(3, 0)
    trees.write(path)
    assert lg.Treebank.read(path) == trees
    assert bz2.decompress(path.read_bytes()).startswith(b"1\t")


@pytest.mark.parametrize("sentences", [1, 70])
def test_what_a_fault_leaves_behind_is_said(run: Callable, place: Path, tmp_path: Path, sentences: int) -> None:
    """Nothing if nothing was done, else what was done; --skip-bad goes on from there or begins again."""
    file, output = tmp_path / "a.conllu", tmp_path / "b.conllu"
    good = (place / "d.conllu").read_text("utf-8").split("\n\n")[0] + "\n\n"
    file.write_text(good * sentences + "1\ta" + "\t_" * 8 + "\n\n", "utf-8")
    first = run("parse", place / "s.lg", file, "-o", output)
    assert first.status == 1
    assert "a.conllu:" in first.err.splitlines()[-1]
    kept = {path.name for path in tmp_path.iterdir()} - {"a.conllu"}
    assert bool(kept) == (sentences > BATCH)
    assert ("--resume continues after them" in first.err) == bool(kept)
    more = ("--resume",) if kept else ()
    assert run("parse", place / "s.lg", file, "-o", output, "--skip-bad", *more).status == 0
    assert len(lg.Treebank.read(output)) == sentences


def test_a_fault_without_a_line_names_file_and_sentence(run: Callable, place: Path, tmp_path: Path) -> None:
    (tmp_path / "bare.conllu").write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "utf-8")
    result = run("parse", place / "s.lg", tmp_path / "bare.conllu")
    assert result.status == 1
    assert "bare.conllu: sentence 1: the parser needs" in result.err


def test_tags_of_any_column_are_compared(run: Callable, place: Path) -> None:
    """Column 1 of the file differs from column 2 in every word."""
    same, other = (run("eval", place / "t.tsv:2", place / name, "--json") for name in ("t.tsv:2", "t.tsv"))
    assert json.loads(same.out)["accuracy"] == 100
    assert json.loads(other.out)["accuracy"] == 0
    assert "column 2 of t.tsv:2, column 1 of t.tsv" in other.err.replace("\n", " ")


def test_command_and_library_leave_out_the_same_words(run: Callable, place: Path) -> None:
    parser, gold = lg.load(place / "s.lg", lg.Parser), lg.Treebank.read(place / "d.conllu")
    shown = run("eval", place / "s.lg", place / "d.conllu", "--gold-tags")
    assert f"{parser.evaluate(gold, gold_tags=True).uas:.2f}" in shown.out
    assert "left out by upos" in shown.out
    assert "counted" in run("eval", place / "d.conllu", place / "d.conllu", "--punctuation", "none").out


def test_score_takes_every_model_with_probabilities(run: Callable, place: Path, tmp_path: Path) -> None:
    """What one model calls log p is what the library says, and an automaton of text gives some."""
    text = tmp_path / "t.txt"
    text.write_text("the dog sleeps .\nthe teacher sees the dog .\n" * 20, "utf-8")
    hmm = lg.load(place / "h.lg", lg.HMM)
    found = run("score", place / "h.lg", text).out.splitlines()
    assert len(found) == 40
    assert float(found[0].split("\t")[0]) == pytest.approx(hmm.logprob("the dog sleeps ."), abs=1e-5)
    automaton = lg.fit(lg.OperatorAutomaton, lg.Text.read(text), by=lg.EM(states=2, iterations=3))
    lg.save(automaton, tmp_path / "a.lg")
    log = float(run("score", tmp_path / "a.lg", text).out.split("\t")[0])
    assert log == pytest.approx(math.log(automaton.probability("the dog sleeps .")), abs=1e-5)
