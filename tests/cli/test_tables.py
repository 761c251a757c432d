"""Every command that prints a table writes it as CSV, TSV and JSON lines, with the same values."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import latentgram as lg

QUOTED = 'the "old" man saw a,b .'


@pytest.fixture(scope="module")
def models(corpus: Path) -> dict[str, Path]:
    bank = lg.Treebank.read(corpus / "train.mrg")
    text = lg.Text.of(bank.sentences())
    made = {
        "parser": lg.Parser(lg.fit(lg.LPCFG, bank, by=lg.Spectral(states=2))),
        "tagger": lg.fit(lg.Tagger, bank.sentences(), by=lg.Gradient(passes=1)),
        "ngram": lg.fit(
            lg.BackoffNGram, lg.NGramCounts.of(text, order=2), by=lg.Counting(smoothing="witten-bell")
        ),
    }
    arrows = lg.demo_dependencies(60, seed=0)
    made["arcs"] = lg.Parser(lg.fit(lg.ArcFactored, arrows, by=lg.MIRA(order=1, passes=1)))
    for name, model in made.items():
        lg.save(model, corpus / f"{name}.lg")
    lg.demo_dependencies(3, seed=1).write(corpus / "three.conllu")
    return {**{name: corpus / f"{name}.lg" for name in made}, "arrows": corpus / "three.conllu"}


def read(text: str, form: str) -> list[dict[str, str]]:
    if form == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text), delimiter="," if form == "csv" else "\t"))


def numbers(row: dict[str, object]) -> dict[str, object]:
    return {name: _number(value) for name, value in row.items()}


def _number(value: object) -> object:
    if value is None or value == "":
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("command", "columns", "rows"),
    [
        (("data", "list"), {"name", "licence"}, None),
        (("info", "{parser}"), {"array", "type", "shape"}, None),
        (("bench", "{parser}", "{test}", "--repeats", 1), {"sentences_per_second"}, 1),
        (("eval", "{parser}", "{test}"), {"f1", "recall", "no_parse"}, 1),
        (("eval", "{parser}", "{test}", "--rows"), {"sentence", "matched"}, 20),
        (("eval", "{parser}", "{test}", "--calibration"), {"from", "right"}, 10),
        (("suspects", "{parser}", "{test}", "-n", 4), {"sentence", "per_word", "part"}, 4),
        (("show", "{parser}", "--symbol", "NP", "--spectrum"), {"state"}, None),
        (("tag", "{tagger}", "--tokenised"), {"sentence", "position", "word", "tag", "probability"}, 6),
        (("tag", "{tagger}", "--tokenised", "--nbest", 2), {"rank"}, 12),
        (("ngram", "query", "{ngram}"), {"sentence", "log10_p", "unknown", "perplexity"}, 1),
        (("ngram", "query", "{ngram}", "--ngrams"), {"ngram", "log10_p"}, 1),
        (("ngram", "query", "{ngram}", "--words"), {"sentence", "position", "word", "log10_p", "unknown"}, 7),
        (("score", "{parser}", "{test}"), {"sentence", "logprob", "tree_logprob", "probability", "text"}, 20),
        (("score", "{ngram}", "-", "--format", "text"), {"sentence", "logprob", "text"}, 1),
        (("score", "{arcs}", "{arrows}"), {"sentence", "logprob", "tree_logprob"}, 3),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_three_forms_of_one_table(
    run: Callable, models: dict[str, Path], corpus: Path, command: tuple, columns: set[str], rows: int | None
) -> None:
    places = {**models, "test": corpus / "test.mrg"}
    asked = [part.format(**places) if isinstance(part, str) else part for part in command]
    forms = {}
    for form in ("csv", "tsv", "jsonl"):
        answer = run(*asked, "--to", form, given=QUOTED)
        assert answer.status == 0, answer.err
        forms[form] = [numbers(row) for row in read(answer.out, form)]
    assert columns <= forms["csv"][0].keys()
    assert rows is None or len(forms["csv"]) == rows
    if command[0] != "bench":  # two measurements differ
        assert forms["csv"] == forms["tsv"] == forms["jsonl"]


def test_what_a_model_does_not_know_is_missing(run: Callable, models: dict[str, Path]) -> None:
    """A parser of arcs has no p(sentence): the cell is empty, in JSON null, and for the eye a dash."""
    asked = ("score", models["arcs"], models["arrows"])
    for form, missing in (("csv", ""), ("jsonl", None)):
        assert [row["logprob"] for row in read(run(*asked, "--to", form).out, form)] == [missing] * 3
    assert all(line.startswith("-\t") for line in run(*asked).out.splitlines())


def test_what_is_true_or_false_is_a_number_for_spreadsheets(run: Callable, models: dict[str, Path]) -> None:
    for form, unknown in (("csv", "1"), ("tsv", "1"), ("jsonl", True)):
        answer = run("tag", models["tagger"], "--tokenised", "--to", form, given="Xyzzq")
        assert [row["unknown"] for row in read(answer.out, form)] == [unknown]


def test_words_with_commas_and_quotes_come_back(run: Callable, models: dict[str, Path]) -> None:
    answer = run("tag", models["tagger"], "--tokenised", "--to", "csv", given=QUOTED)
    assert [row["word"] for row in read(answer.out, "csv")] == QUOTED.split()


def test_workers_change_nothing(run: Callable, models: dict[str, Path]) -> None:
    text = "\n".join(["the man sleeps ."] * 5)
    for command in (("tag", models["tagger"]), ("nbest", models["parser"], "-k", 2)):
        assert run(*command, given=text).out == run(*command, "--n-jobs", 2, given=text).out
