"""Head-automata grammars by commands: train, parse, look inside, and the paper's experiments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from latentgram.data.treebank import Treebank
from latentgram.reproduce import luque2012 as reproduce_luque2012


def test_train_parse_and_score(run: Callable, dependencies: Path, tmp_path: Path) -> None:
    model, output = tmp_path / "m.lg", tmp_path / "out.conllu"
    options = ("--by", "spectral", "--states", 4, "-o", model)
    assert run("train", "product-shag", dependencies / "train.conllu", *options).status == 0
    parsed = run("parse", model, dependencies / "test.conllu", "--probabilities")
    assert parsed.status == 0
    output.write_text(parsed.out, "utf-8")
    gold, guess = Treebank.read(dependencies / "test.conllu"), Treebank.read(output)
    assert [tree.words for tree in guess] == [tree.words for tree in gold]
    assert all("HeadProb=" in value for value in guess[0].misc)
    score = json.loads(run("eval", dependencies / "test.conllu", output, "--json", "--punctuation", "upos").out)
    assert score["uas"] > 75
    assert score["las"] > 65


def test_trees_may_stay_on_the_disk(run: Callable, dependencies: Path, tmp_path: Path) -> None:
    train, options = dependencies / "train.conllu", ("--by", "spectral", "--states", 4)
    held, streamed = (tmp_path / name for name in ("held.lg", "streamed.lg"))
    assert run("train", "shag", train, *options, "--no-tagger", "-o", held).status == 0
    assert run("train", "shag", train, *options, "--stream", "--dev", train, "-o", streamed).status == 0
    parsed = [run("parse", model, dependencies / "test.conllu").out for model in (held, streamed)]
    assert parsed[0] == parsed[1] != ""
    refused = run("train", "shag", train, "--stream", "--skip-bad", "-o", streamed)
    assert refused.status == 1
    assert "exclude --stream" in refused.err
    assert "--stream" not in run("train", "lpcfg", "--help").out


def test_deterministic_automata_have_a_most_probable_tree(
    run: Callable, dependencies: Path, tmp_path: Path
) -> None:
    train, model = dependencies / "train.conllu", tmp_path / "m.lg"
    options = ("--by", "spectral", "--states", 4, "--no-tagger", "-o", model)
    assert run("train", "product-shag", train, *options).status == 0
    hidden = run("parse", model, dependencies / "test.conllu", "--decoder", "viterbi")
    assert hidden.status == 1
    assert run("train", "product-shag", train, *options, "--deterministic", 5).status == 0
    best = run("parse", model, dependencies / "test.conllu", "--decoder", "viterbi")
    assert best.status == 0
    assert best.out.count("\n\n") == len(Treebank.read(dependencies / "test.conllu"))
    refused = run("train", "lexical-shag", train, "--deterministic", 5, "-o", model)
    assert refused.status != 0


def test_automata_can_be_looked_at(run: Callable, dependencies: Path, tmp_path: Path) -> None:
    model, picture = tmp_path / "m.lg", tmp_path / "nn.svg"
    run("train", "shag", dependencies / "train.conllu", "--by", "spectral", "--states", 4, "-o", model)
    shown = run("show", model, "--automaton", "NN", "--direction", "left")
    assert shown.out.startswith("start: visits 1.000")
    for more in ((), ("--spectrum",)):
        assert run("show", model, "--automaton", "NN", "--svg", picture, *more).status == 0
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    values = run("show", model, "--automaton", "NN", "--spectrum").out.splitlines()
    assert len(values) == 4
    seen = run("show", model, "--automaton", "NN", "--sequences", dependencies / "test.conllu", "--clusters", 3)
    assert seen.out.startswith("start: visits 1.000")
    assert seen.out != run("show", model, "--automaton", "NN", "--clusters", 3).out
    refused = run("show", model, "--automaton", "NN", "--spectrum", "--sequences", dependencies / "test.conllu")
    assert refused.status == 1
    assert "--sequences has no meaning for --spectrum" in refused.err
    missing = run("show", model, "--automaton", "NOTHING")
    assert missing.status == 1
    assert "there is no symbol 'NOTHING'" in missing.err


def test_the_experiments_of_the_paper(
    run: Callable, dependencies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"STATES": (2, 3), "COMBINED": (2,), "ROUNDS": (2, 4), "STARTS": 2}.items():
        monkeypatch.setattr(reproduce_luque2012, name, value)
    clusters = tmp_path / "clusters.tsv"
    clusters.write_text("0\tteacher\n0\tcaptain\n10\tsees\n11\tsleeps\n", "utf-8")
    options = (
        "--data",
        dependencies.parents[1],
        "--output",
        tmp_path,
        "--treebank",
        "demo",
        "--vectors",
        clusters,
    )
    assert run("reproduce", "luque2012", *options, "--test").status == 0
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    chosen = {row["name"]: row for row in results["chosen"]}
    assert chosen["DET"]["test"] < chosen["SPECTRAL"]["test"] <= 100
    assert {row["name"] for row in results["unlexicalised"]} >= {"EM (2)", "EM (4)", "SPECTRAL (literal)"}
    page = (tmp_path / "results.md").read_text("utf-8")
    assert "| all three |" in page
    assert {"DFA of SPECTRAL", "DFA of SPECTRAL (dev prefixes)", "LEX+FCP × DFA of SPECTRAL"} <= chosen.keys()
    assert {"SPECTRAL, words in clusters", "EM from clusters, backed off, words in clusters"} <= chosen.keys()
    for figure in ("figure1.svg", "figure2.svg", "figure3.svg", "figure3-printed.svg"):
        assert figure in page
        assert ElementTree.parse(tmp_path / figure).getroot().tag.endswith("svg")
    lost = run("reproduce", "luque2012", "--data", tmp_path, "--output", tmp_path)
    assert lost.status == 1
    assert "train.conllu" in lost.err


def test_lifted_words_are_reported(run: Callable, dependencies: Path, tmp_path: Path) -> None:
    """In the one tree that is added, the arc from 1 to 3 crosses the one from the root to 2: 3 is lifted once."""
    crossing = "".join(
        f"{number}\tw\t_\tNOUN\tNN\t_\t{head}\tdep\t_\t_\n" for number, head in ((1, 2), (2, 0), (3, 1))
    )
    bank = tmp_path / "crossing.conllu"
    bank.write_text((dependencies / "train.conllu").read_text("utf-8") + crossing + "\n", "utf-8")
    result = run("train", "shag", bank, "--no-tagger", "-o", tmp_path / "m.lg")
    assert result.status == 0
    assert "to make the trees projective: 1\n" in result.err
    plain = run("train", "shag", dependencies / "train.conllu", "--no-tagger", "-o", tmp_path / "m.lg")
    assert "projective" not in plain.err
