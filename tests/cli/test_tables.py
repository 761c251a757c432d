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
    for name, model in made.items():
        lg.save(model, corpus / f"{name}.lg")
    return {name: corpus / f"{name}.lg" for name in made}


def read(text: str, form: str) -> list[dict[str, str]]:
    if form == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text), delimiter="," if form == "csv" else "\t"))


def numbers(row: dict[str, object]) -> dict[str, object]:
    return {name: _number(value) for name, value in row.items()}


def _number(value: object) -> object:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value)
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("command", "columns", "rows"),
    [
        (("data", "list"), {"name", "licence"}, None),
        (("info", "{parser}"), {"array", "type", "shape"}, None),
        (("bench", "{parser}", "{test}", "--repeats", 1), {"rate"}, 1),
        (("eval", "{parser}", "{test}"), {"f1", "recall", "no_parse"}, 1),
        (("eval", "{parser}", "{test}", "--rows"), {"sentence", "matched"}, 20),
        (("eval", "{parser}", "{test}", "--calibration"), {"from", "right"}, 10),
        (("suspects", "{parser}", "{test}", "-n", 4), {"number", "per_word", "part"}, 4),
        (("show", "{parser}", "--symbol", "NP", "--spectrum"), {"state"}, None),
        (("tag", "{tagger}", "--tokenised"), {"sentence", "number", "word", "tag", "probability"}, 6),
        (("tag", "{tagger}", "--tokenised", "--nbest", 2), {"rank"}, 12),
        (("ngram", "query", "{ngram}"), {"sentence", "log10_p", "unknown", "perplexity"}, 1),
        (("ngram", "query", "{ngram}", "--ngrams"), {"ngram", "log10_p"}, 1),
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


def test_words_with_commas_and_quotes_come_back(run: Callable, models: dict[str, Path]) -> None:
    answer = run("tag", models["tagger"], "--tokenised", "--to", "csv", given=QUOTED)
    assert [row["word"] for row in read(answer.out, "csv")] == QUOTED.split()


def test_workers_change_nothing(run: Callable, models: dict[str, Path]) -> None:
    text = "\n".join(["the man sleeps ."] * 5)
    for command in (("tag", models["tagger"]), ("nbest", models["parser"], "-k", 2)):
        assert run(*command, given=text).out == run(*command, "--n-jobs", 2, given=text).out
