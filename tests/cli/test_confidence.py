"""Lists, draws, constraints, scores, suspects and calibration by commands."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import latentgram as lg

SENTENCE = "the old man saw the boat ."


@pytest.fixture(scope="module")
def model(corpus: Path) -> Path:
    path = corpus / "confidence.lg"
    lg.save(lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.read(corpus / "train.mrg"), by=lg.Counting())), path)
    return path


def trees(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_lists_and_draws(run: Callable, model: Path) -> None:
    found = run("parse", model, "--nbest", 5, "--to", "json", given=SENTENCE)
    parses = [json.loads(line) for line in trees(found.out)]
    assert [parse["tree_logprob"] for parse in parses] == sorted(
        (parse["tree_logprob"] for parse in parses), reverse=True
    )
    assert parses[0]["probability"] == pytest.approx(math.exp(parses[0]["tree_logprob"] - parses[0]["logprob"]))
    assert parses[0]["entropy"] > 0
    assert 0 < parses[0]["expected"] <= 1
    draws = [run("parse", model, "--samples", 4, "--seed", seed, given=SENTENCE).out for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    assert len(trees(draws[0])) == 4
    different = trees(run("parse", model, "--diverse", 3, given=SENTENCE).out)
    assert len(different) == len(set(different))
    assert run("parse", model, "--nbest", 2, "--samples", 2, given=SENTENCE).status == 1


def test_constraints(run: Callable, model: Path, tmp_path: Path) -> None:
    marked = run(
        "parse", model, "--partial", given="the old [NP man saw ] the boat .\n[ the old man ] saw the boat ."
    )
    for text, known in zip(trees(marked.out), [(2, 4, "NP"), (0, 3)], strict=True):
        assert lg.Constraints.of(spans=[known]).obeyed_by(lg.parse_tree(text))
    file = tmp_path / "known.jsonl"
    file.write_text('{"tags": {"1": "NN"}}\n')
    told = run("parse", model, "--constraints", file, given=SENTENCE)
    assert lg.parse_tree(told.out).tags[1] == "NN"
    file.write_text('{"spans": [[0, 3], [2, 4]]}\n')
    clash = run("parse", model, "--constraints", file, given=SENTENCE)
    assert clash.status == 1
    assert "known.jsonl:1: the required spans (0, 3) and (2, 4) cross" in clash.err
    file.write_text('{}\n{"tags": {"1": "NN"}}\n')
    many = run("parse", model, "--constraints", file, given=SENTENCE)
    assert many.status == 1
    assert "known.jsonl:2: there is no sentence for these constraints" in many.err
    never = run("parse", model, "--partial", given="the old [NOSUCH man saw ] the boat .")
    assert never.status == 1
    assert "satisfies: spans (2, 4, NOSUCH)" in never.err


@pytest.mark.parametrize("decoder", ["viterbi", "max-rule", "f1", "unlabelled-recall"])
def test_decoders(run: Callable, model: Path, decoder: str) -> None:
    found = run("parse", model, "--decoder", decoder, given=SENTENCE)
    assert lg.parse_tree(found.out).words == tuple(SENTENCE.split())


def test_scores_and_suspects(run: Callable, model: Path, corpus: Path) -> None:
    lines = run("score", model, corpus / "test.mrg").out.splitlines()
    assert len(lines) == 20
    for line in lines:
        sentence, tree, posterior, _ = line.split("\t")
        assert float(tree) <= float(sentence) + 1e-6
        expected = 0.0 if float(tree) == -math.inf else math.exp(float(tree) - float(sentence))
        assert float(posterior) == pytest.approx(expected, rel=1e-3, abs=1e-9)
    plain = run("score", model, "-", "--format", "text", given=SENTENCE)
    exact = run("score", model, "-", "--format", "text", "--exact", given=SENTENCE)
    assert float(plain.out.split("\t")[0]) <= float(exact.out.split("\t")[0]) + 1e-4  # pruning leaves out trees
    assert plain.out.endswith(f"\t{SENTENCE}\n")
    words = [
        line.split("\t")
        for line in run("score", model, "-", "--format", "text", "--surprisal", given=SENTENCE).out.splitlines()
    ]
    assert [word for _, word, _ in words] == SENTENCE.split()
    assert all(float(bits) > 0 for *_, bits in words)
    told = run("score", model, "-", "--format", "text", "--surprisal", "--to", "csv", given=SENTENCE)
    head, *rows = csv.reader(io.StringIO(told.out))
    assert head == ["sentence", "position", "word", "surprisal", "entropy_reduction", "unknown"]
    assert [row[:3] for row in rows] == [["1", str(n), word] for n, word in enumerate(SENTENCE.split(), 1)]
    assert [float(row[3]) for row in rows] == pytest.approx([float(bits) for *_, bits in words], abs=1e-4)
    assert all(np.isfinite(float(row[4])) for row in rows)
    assert {row[5] for row in rows} <= {"0", "1"}
    bare = run(
        "score", model, "-", "--format", "text", "--surprisal", "--to", "tsv", "--no-entropy", given=SENTENCE
    )
    assert [line.split("\t")[4] for line in bare.out.splitlines()[1:]] == [""] * len(rows)
    doubtful = run("suspects", model, corpus / "test.mrg", "-n", 3).out.splitlines()
    ranks = [float(line.split("\t")[1]) for line in doubtful]
    assert ranks == sorted(ranks)
    assert len(ranks) == 3


def test_text_is_split_alike_in_parses_scores_and_surprisals(run: Callable, model: Path) -> None:
    """The shell and Python take a string for text: its last word does not end in a full stop."""
    text, words = "The old man saw the boat. It sank.", ["The", "old", "man", "saw", "the", "boat", "."]
    score = ("score", model, "-", "--format", "text")
    surprisals = [line.split("\t") for line in run(*score, "--surprisal", given=text).out.splitlines()]
    assert [word for number, word, _ in surprisals if number == "1"] == words
    assert [word for number, word, _ in surprisals if number == "2"] == ["It", "sank", "."]
    assert run(*score, given=text).out.splitlines()[0].endswith("\t" + " ".join(words))
    whole = run(*score, "--tokenised", given=text)
    assert whole.out == f"-inf\t{text}\n", "no tree of this grammar has such words"
    parser = lg.load(model, lg.Parser)
    assert list(parser.parse("The old man saw the boat.").tree.words) == words
    assert list(lg.Surprisal.of(parser.model).read("The old man saw the boat.").sentence.words) == words
    tagger = lg.fit(lg.Tagger, lg.demo_treebank(20, seed=0).sentences(), by=lg.Gradient(passes=1))
    assert list(tagger.tag("The old man saw the boat.").words) == words
    assert len(tagger.tag(["boat.", "It"]).tags) == 2


def test_hidden_states_surprise_exactly_if_asked(run: Callable, corpus: Path) -> None:
    """Surprisals with the end sum to −log₂ p, whether it comes from words or from a tree with its tags."""
    model, text = corpus / "hidden.lg", ("-", "--format", "text")
    trees = lg.Treebank.read(corpus / "train.mrg")[:60]
    lg.save(lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=2))), model)
    pruned = run("score", model, *text, "--surprisal", given=SENTENCE)
    assert "lower bounds" in pruned.err
    exact = run("score", model, *text, "--surprisal", "--exact", "--to", "jsonl", given=SENTENCE)
    assert "lower bounds" not in exact.err
    bits = sum(json.loads(line)["surprisal"] for line in exact.out.splitlines())
    reading = lg.Surprisal.of(lg.load(model).model, beam=0.0).read(SENTENCE)
    whole = run("score", model, *text, "--exact", given=SENTENCE)
    assert "lower bound" not in whole.err
    assert "a lower bound" in run("score", model, *text, given=SENTENCE).err
    logprob = float(whole.out.split("\t")[0])
    assert -(bits + reading.ending) * math.log(2) == pytest.approx(logprob, abs=1e-5)
    (corpus / "one.mrg").write_text(str(trees[0]))
    whole, tree, share, _ = run("score", model, corpus / "one.mrg", "--exact").out.split("\t")
    assert float(share) == pytest.approx(math.exp(float(tree) - float(whole)), rel=1e-4)
    for asked in (("--surprisal", "--to", "tsv"), ()):
        alone = run("score", model, corpus / "test.mrg", *asked)
        assert alone.out.count("\n") >= 20
        assert run("score", model, corpus / "test.mrg", *asked, "--n-jobs", 2).out == alone.out
    table = run("score", model, corpus / "one.mrg", "--to", "csv").out.splitlines()
    assert table[0] == "sentence,logprob,tree_logprob,probability,text"
    scored = lg.load(model, lg.Parser).score(trees[0])
    assert [float(number) for number in table[1].split(",")[1:3]] == [scored.logprob, scored.tree_logprob]


def test_pruned_charts_are_told_of_in_every_form(run: Callable, corpus: Path, tmp_path: Path) -> None:
    trees, model = lg.Treebank.read(corpus / "train.mrg")[:60], tmp_path / "hidden.lg"
    lg.save(lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=2))), model)
    told = "sentences whose posteriors are those among the trees of a pruned chart: 1"
    for exact, pruned in (((), True), (("--exact",), False)):
        for several in ((), ("--nbest", 2), ("--samples", 2)):
            asked = ("parse", model, "--probabilities", *several, *exact)
            for form in ("brackets", "outline", "json"):
                answer = run(*asked, "--to", form, given=SENTENCE)
                assert (told in answer.err) == pruned
            assert json.loads(answer.out.splitlines()[0]).get("pruned", False) == pruned
    assert told not in run("parse", model, given=SENTENCE).err


def test_exact_scores_under_several_grammars_are_those_of_the_exact_parser(
    run: Callable, corpus: Path, tmp_path: Path
) -> None:
    trees, model = lg.Treebank.read(corpus / "train.mrg")[:60], tmp_path / "several.lg"
    parser = lg.Parser(lg.fit(lg.Ensemble, trees, by=lg.Combining(states=2, members=2)))
    lg.save(parser, model)
    short = min(trees, key=lambda tree: len(tree.words))
    (tmp_path / "one.mrg").write_text(str(short))
    for asked, scored in (((), parser.score(short)), (("--exact",), parser.exact.score(short))):
        whole, tree, share, _ = run("score", model, tmp_path / "one.mrg", *asked).out.split("\t")
        assert float(whole) == pytest.approx(scored.logprob, abs=1e-5)
        assert float(tree) == pytest.approx(scored.tree_logprob, abs=1e-5)
        assert float(share) == pytest.approx(scored.probability, rel=1e-4)


def test_calibration(run: Callable, model: Path, corpus: Path, tmp_path: Path) -> None:
    lg.demo_treebank(60, seed=8).write(tmp_path / "dev.mrg")
    fitted = run("calibrate", model, tmp_path / "dev.mrg", "-o", tmp_path / "fitted.lg")
    assert fitted.status == 0
    assert "60 sentences" in fitted.err
    plot = tmp_path / "plot.svg"
    judged = run("eval", tmp_path / "fitted.lg", corpus / "test.mrg", "--calibration", "--plot", plot)
    assert "calibration error" in judged.out
    assert "most confident sentences" in judged.out
    ElementTree.parse(plot)
    figures = json.loads(run("eval", model, corpus / "test.mrg", "--calibration", "--json").out)
    assert figures["parts"]["count"] > 0
    assert figures["selective"][0]["share"] == 1
    refused = run("eval", tmp_path / "fitted.lg", tmp_path / "dev.mrg", "--calibration")
    assert refused.status == 1
    assert "calibrated on these trees" in refused.err
    assert run("calibrate", model, corpus / "train.mrg", "-o", tmp_path / "no.lg").status == 1
    folds = run("calibrate", model, corpus / "train.mrg", "--folds", "2", "-o", tmp_path / "folds.lg")
    assert folds.status == 0, folds.err
    assert not (tmp_path / "no.lg").exists()


def test_sentences_that_have_no_more_time(run: Callable, corpus: Path, tmp_path: Path) -> None:
    """They are counted at the end, named by their numbers, and marked in JSON."""
    path = tmp_path / "latent.lg"
    trees = lg.Treebank.read(corpus / "train.mrg")[:60]
    lg.save(lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=2))), path)
    hurried = run("parse", path, "--limit-seconds", "1e-9", "--to", "json", given=f"{SENTENCE}\n" * 12)
    assert all(json.loads(line)["coarse"] for line in hurried.out.splitlines())
    assert "coarse trees: 12, number 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …" in hurried.err
    scored = run("eval", path, corpus / "test.mrg", "--limit-seconds", "1e-9")
    assert "coarse trees, for sentences that exceeded the time limit: 20 of 20" in scored.err
    assert "coarse" not in run("parse", path, "--limit-seconds", "1000", given=SENTENCE).err
    refused = run("parse", path, "--limit-seconds", "0", given=SENTENCE)
    assert refused.status != 0
    assert "above 0" in refused.err
