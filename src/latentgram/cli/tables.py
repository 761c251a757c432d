"""Tables: the one place where commands write rows with named columns, as CSV, TSV or JSON lines.

Columns of one name mean the same in all tables: `sentence` is the number of a sentence, `position` that of a word
in it, both from 1, and `text` is the sentence itself. Numbers keep all their digits. A missing value is an empty
cell, in JSON null; infinite numbers, which JSON does not have, are null there as well. Truth values are 1 and 0,
in JSON true and false.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Literal

import typer

Form = Literal["csv", "tsv", "jsonl"]
TO = "Write a table with named columns: CSV, TSV, or JSON lines."
TableForm = Annotated[Form | None, typer.Option("--to", help=TO)]
"""The option of every command that prints a table; without it a command prints for the eye."""


def write_table(columns: Sequence[str], rows: Iterable[Sequence[object]], form: Form) -> None:
    """Write a head and rows to standard output, as they come.

    >>> write_table(("word", "bits"), [('"', 1.5), ("a,b", float("nan"))], "csv")
    word,bits
    \"\"\"\",1.5
    "a,b",
    >>> write_table(("word", "bits", "unknown"), [("the", float("-inf"), False)], "jsonl")
    {"word": "the", "bits": null, "unknown": false}
    >>> write_table(("word", "unknown"), [("the", False)], "tsv")
    word	unknown
    the	0
    """
    if form == "jsonl":
        for row in rows:
            values = {name: _for_json(value) for name, value in zip(columns, row, strict=True)}
            sys.stdout.write(json.dumps(values, ensure_ascii=False) + "\n")
        return
    writer = csv.writer(sys.stdout, delimiter="," if form == "csv" else "\t", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_for_cell(value) for value in row] for row in rows)


def write_figures(
    figures: Mapping[str, object], form: Form | None, as_json: bool, text: Callable[[], str]
) -> None:
    """Write figures by their names: a table of one row, one JSON object, or text for the eye."""
    if form is not None:
        write_table(list(figures), [list(figures.values())], form)
    else:
        typer.echo(json.dumps(figures) if as_json else text())


def _for_json(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _for_cell(value: object) -> object:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else value
