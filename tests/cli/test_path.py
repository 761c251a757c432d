"""From a treebank file to a parsed, scored, stored and drawn sentence, by commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from latentgram.data.treebank import Treebank


@pytest.fixture(scope="session")
def model(corpus: Path) -> Path:
    import latentgram

    path = corpus / "model.lg"
    treebank = latentgram.Treebank.read(corpus / "train.mrg")
    latentgram.save(latentgram.Parser(latentgram.fit(latentgram.LPCFG, treebank, by=latentgram.Counting())), path)
    return path


def test_train_says_what_it_did_and_writes_the_same_model_as_python(
    run: Callable, corpus: Path, model: Path, tmp_path: Path
) -> None:
    result = run("train", "lpcfg", corpus / "train.mrg", "-o", tmp_path / "m.lg")
    assert result.status == 0
    assert "300 sentences" in result.err
    assert "rules" in result.err
    sentence = "the dog sleeps ."
    mine, other = (run("parse", path, given=sentence) for path in (tmp_path / "m.lg", model))
    assert mine.out == other.out != ""


def test_pruning_and_decoders_of_the_paper_are_options(run: Callable, model: Path) -> None:
    sentence = "the dog sleeps ."
    usual = run("parse", model, given=sentence)
    assert usual.status == 0
    for options in (
        ("--pruning", "two-stage"),
        ("--pruning", "none"),
        ("--exact",),
        ("--decoder", "goodman-rules"),
    ):
        assert run("parse", model, *options, given=sentence).out == usual.out


def test_parse_keeps_order_and_words(run: Callable, corpus: Path, model: Path, tmp_path: Path) -> None:
    gold = Treebank.read(corpus / "test.mrg")
    lines = "".join(" ".join(tree.words) + "\n" for tree in gold)
    result = run("parse", model, given=lines)
    assert result.status == 0
    output = tmp_path / "out.mrg"
    output.write_text(result.out, "utf-8")
    assert [tree.words for tree in Treebank.read(output)] == [tree.words for tree in gold]


def test_json_holds_the_tree_and_its_posteriors(run: Callable, model: Path) -> None:
    result = run("parse", model, "--to", "json", given="the dog sleeps .\n")
    answer = json.loads(result.out)
    assert answer["words"] == ["the", "dog", "sleeps", "."]
    assert len(answer["confidence"]) == len(answer["spans"])
    assert all(-1e-9 <= p <= 1 + 1e-9 for p in answer["confidence"])
    assert answer["tree_logprob"] <= answer["logprob"] < 0


def test_probabilities_in_brackets_can_be_read_back(run: Callable, model: Path, tmp_path: Path) -> None:
    result = run("parse", model, "--probabilities", given="the dog sleeps .\n")
    output = tmp_path / "out.mrg"
    output.write_text(result.out, "utf-8")
    labels = [node.label for node in Treebank.read(output)[0].nodes()]
    assert all(0 <= float(label.rsplit("@", 1)[1]) <= 1 for label in labels)


def test_eval_of_a_model_equals_eval_of_its_output(
    run: Callable, corpus: Path, model: Path, tmp_path: Path
) -> None:
    direct = json.loads(run("eval", model, corpus / "test.mrg", "--json").out)
    parsed = run("parse", model, corpus / "test.mrg", "--own-tags")
    output = tmp_path / "out.mrg"
    output.write_text(parsed.out, "utf-8")
    by_file = json.loads(run("eval", corpus / "test.mrg", output, "--json").out)
    assert direct["f1"] == by_file["f1"] > 50
    assert direct["sentences"] == 20
    perfect = json.loads(run("eval", corpus / "test.mrg", corpus / "test.mrg", "--json").out)
    assert perfect["f1"] == perfect["exact"] == 100


def test_against_compares_by_bootstrap(run: Callable, corpus: Path, model: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.mrg"
    output.write_text(run("parse", model, corpus / "test.mrg", "--own-tags").out, "utf-8")
    gold = corpus / "test.mrg"
    result = json.loads(run("eval", gold, output, "--against", gold, "--json").out)
    assert result["against"]["second"] == 100
    assert result["against"]["difference"] > 0


def test_info_names_learner_and_data(run: Callable, corpus: Path, model: Path) -> None:
    shown = run("info", model).out
    assert "Counting" in shown
    assert "300" in shown
    header = json.loads(run("info", model, "--json").out)
    assert header["provenance"]["data_digest"] == Treebank.read(corpus / "train.mrg").digest


def test_show_draws_trees_and_models(run: Callable, corpus: Path, model: Path, tmp_path: Path) -> None:
    gold = Treebank.read(corpus / "test.mrg")
    text = run("show", corpus / "test.mrg", "-n", 3).out
    assert all(word in text for word in gold[2].words)
    run("show", corpus / "test.mrg", "-n", 3, "--svg", tmp_path / "tree.svg")
    drawn = ElementTree.parse(tmp_path / "tree.svg").getroot()
    assert drawn.tag.endswith("svg")
    assert "rules" in run("show", model).out


def test_demo_makes_a_report(run: Callable, tmp_path: Path) -> None:
    result = run("demo", "--output", tmp_path / "demo")
    assert result.status == 0
    report = tmp_path / "demo" / "report.html"
    assert str(report) in result.out
    assert report.read_text("utf-8").count("<svg") >= 3
    assert len(Treebank.read(tmp_path / "demo" / "train.mrg")) == 5000
