"""Lists of trees and reranking from the command line."""

import json

import pytest

import latentgram as lg
from latentgram.cli.main import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nbest")
    bank = lg.demo_dependencies(44, seed=3)
    bank[:40].write(folder / "train.conllu")
    bank[40:].write(folder / "new.conllu")
    return folder


def run(*arguments):
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_lists_from_a_trained_parser(folder):
    flags = ("--order", 2, "--passes", 1, "--bits", 14)
    run("train", "arcs", folder / "train.conllu", *flags, "-o", folder / "arcs.lg")
    lines = [
        json.loads(line)
        for line in run("nbest", folder / "arcs.lg", folder / "new.conllu", "-k", 3, "--to", "json").splitlines()
    ]
    assert [line["rank"] for line in lines if line["sentence"] == 2] == [1, 2, 3]
    assert len({tuple(line["heads"]) for line in lines if line["sentence"] == 1}) == 3
    assert lines[0]["tree_logprob"] >= lines[1]["tree_logprob"]
    text = run("nbest", folder / "arcs.lg", folder / "new.conllu", "-k", 2)
    assert "# rank = 2" in text
    (folder / "listed.conllu").write_text(text, "utf-8")
    assert len(lg.Treebank.read(folder / "listed.conllu")) == 8
    with pytest.raises(lg.LatentgramError, match="is not a reranker"):
        run("rerank", folder / "arcs.lg", folder / "new.conllu")


def test_reranking(folder):
    flags = ("--order", 1, "--passes", 1, "--count", 4, "--folds", 2, "--raters", "templates,lexical")
    run("train", "reranker", folder / "train.conllu", *flags, "-o", folder / "reranker.lg")
    text = run("rerank", folder / "reranker.lg", folder / "new.conllu")
    (folder / "reranked.conllu").write_text(text, "utf-8")
    assert len(lg.Treebank.read(folder / "reranked.conllu")) == 4
