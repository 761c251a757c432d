"""Notebook displays of values: tables and pictures, for light and dark themes.

Tables take their colours from the notebook; pictures have their own for both themes (svg.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from latentgram.data.provenance import Provenance
from latentgram.view.plots import trace_curves
from latentgram.view.report import html_table


def figures_html(title: str, figures: Mapping[str, object]) -> str:
    """Names and figures: rates with two decimals, counts without; figures within figures have both names."""
    rows: list[tuple[str, str]] = []
    for name, value in figures.items():
        parts = value.items() if isinstance(value, Mapping) else [("", value)]
        for part, figure in parts:
            shown = f"{figure:.2f}" if isinstance(figure, float) else str(figure)
            rows.append((f"{name} {part}".strip().replace("_", " "), shown))
    return html_table((title, ""), rows)


def provenance_html(origin: Provenance) -> str:
    """How a model was learned, and the curves of what was seen on the way."""
    if not origin.learner:
        return ""
    settings = ", ".join(f"{name}={value}" for name, value in origin.fields.items())
    from_what = f"from {origin.data_size:,} items in {origin.seconds:.1f} s"
    learned = f"<p>learned by <code>{escape(f'{origin.learner}({settings})')}</code> {from_what}</p>"
    return learned + trace_curves(origin.trace)._repr_html_()


def model_html(model: object, summary: str) -> str:
    """A line about a model, its arrays, and how it was learned."""
    fields = dataclasses.fields(model) if dataclasses.is_dataclass(model) else ()
    values = {field.name: getattr(model, field.name) for field in fields}
    rows = [
        (name, str(value.dtype), " × ".join(map(str, value.shape)))
        for name, value in values.items()
        if isinstance(value, np.ndarray)
    ]
    table = html_table(("array", "type", "shape"), rows) if rows else ""
    origin = values.get("provenance")
    learned = provenance_html(origin) if isinstance(origin, Provenance) else ""
    many = f"{len(rows)} array{'s' if len(rows) > 1 else ''}"
    shown = f"<details><summary>{many}</summary>{table}</details>" if rows else ""
    return f"<div><p><b>{escape(type(model).__name__)}</b>: {escape(summary)}</p>{learned}{shown}</div>"


def counts_html(summary: str, counts: Sequence[tuple[str, int]]) -> str:
    """A line about n-gram counts, and the most frequent n-grams."""
    table = html_table(("n-gram", "count"), [(gram, f"{count:,}") for gram, count in counts])
    return f"<div><p>{escape(summary)}</p>{table}</div>"


def pictures_html(captions: Sequence[str], pictures: Sequence[str]) -> str:
    """Pictures under each other, each with its caption."""
    parts = zip(captions, pictures, strict=True)
    return "".join(f"<figure><figcaption>{escape(line)}</figcaption>{svg}</figure>" for line, svg in parts)
