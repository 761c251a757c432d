"""Formulas as MathML, which browsers show by themselves: nothing is fetched, and no script runs."""

from __future__ import annotations

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

NAMES = {r"\dots": r"\ldots", r"\big": r"\bigl", r"\Big": r"\Bigl"}
"""Commands that the converter knows by another name."""


def mathml(formula: str, block: bool) -> str:
    """A formula in MathML."""
    known = re.sub(r"\\(dots|big|Big)(?![A-Za-z])", lambda found: NAMES[found.group()], formula)
    return str(tex2mathml(known, as_block=block))


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line."""
    writer.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def display(writer: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own."""
    writer.body.append(f"<div class='math'>{mathml(node.astext(), block=True)}</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True}
