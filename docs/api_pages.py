"""The pages of the reference: a page for each public name, grouped by the rooms of the package.

The names are those of `__init__.pyi`. The page of a model also has what its module says of the meaning and the
layout of its arrays.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

import latentgram
from latentgram.kinds.kind import kinds

ROOMS = {
    "learn": "Learning",
    "parser": "Parsing",
    "kinds": "Learners, decoders and results",
    "lpcfg": "Constituency grammars",
    "shag": "Head automata",
    "arcs": "Arc-factored parsers and rerankers",
    "latent_tree": "Latent dependency trees and word vectors",
    "sequences": "HMMs, automata and n-grams",
    "tagger": "Taggers",
    "data": "Words, trees and treebanks",
    "evaluate": "Scores",
    "view": "Pictures",
    "store": "Files",
    "parallel": "Clusters",
    "errors": "Errors",
}
ANNOTATED = re.compile(r"~?(?:\w+\.)?Annotated\[(~?[\w.]+)")
NUMBERS = re.compile(r"dtype\[~?(?:numpy\.)?(\w+)")
SIZE = r"'[^']*'|\d+"
SHAPE = re.compile(rf"_Shape\(dimensions=\(((?:{SIZE}|[, ])*)\)\)")
INTRODUCTION = """The public names
================

Everything a program needs is an attribute of ``latentgram``; each name loads on first use. These names are stable:
a name that is removed keeps working for one release, with a warning. Names not listed here may change at any
time. Messages, such as that kernels are being compiled, go to the logger ``latentgram``.
"""


def write_index(folder: Path) -> None:
    """Write the list of the public names, from which Sphinx makes a page for each."""
    stub = ast.parse((Path(latentgram.__file__).parent / "__init__.pyi").read_text("utf-8"))
    names: dict[str, list[str]] = {room: [] for room in ROOMS}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names.setdefault(node.module.split(".")[0], []).extend(alias.name for alias in node.names)
    parts = [INTRODUCTION]
    for room, found in names.items():
        title = ROOMS.get(room, room.capitalize())
        listed = "\n".join(f"   {name}" for name in sorted(found, key=str.lower))
        head = f"{title}\n{'-' * len(title)}\n\n.. currentmodule:: latentgram\n"
        parts.append(f"{head}\n.. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{listed}\n")
    folder.mkdir(exist_ok=True)
    page, content = folder / "index.rst", "\n".join(parts)
    if not page.exists() or page.read_text("utf-8") != content:
        page.write_text(content, "utf-8")


def plain_types(app: Sphinx, domain: str, objtype: str, content: object) -> None:
    """Write the types of arrays for readers: numbers and shape, without the other invariants of files."""
    del domain, objtype, content
    for types in app.env.current_document.autodoc_annotations.values():
        for name, written in types.items():
            types[name] = plain_type(written)


def plain_type(written: str) -> str:
    """A type without the invariants that files are checked by.

    >>> invariants = "~invariants._Shape(dimensions=('len(words)', 3)), ~invariants._Within(least=0, below=9)"
    >>> plain_type(f"~numpy.Annotated[~numpy.ndarray[~Any, ~numpy.dtype[~numpy.int32]], {invariants}]")
    'array of int32 [len(words), 3]'
    >>> plain_type("~numpy.Annotated[int, ~invariants._Within(least=0, below=9)]"), plain_type("Alphabet")
    ('int', 'Alphabet')
    """
    if not (said := ANNOTATED.match(written)):
        return written
    numbers, shape = NUMBERS.search(written), SHAPE.search(written)
    if numbers is None:
        return said[1]
    sizes = f" [{', '.join(re.findall(SIZE, shape[1])).replace(chr(39), '')}]" if shape else ""
    return f"array of {numbers[1]}{sizes}"


def add_layout(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Put the text of its module under the docstring of a model."""
    del app, options
    if (
        what != "class"
        or not isinstance(obj, type)
        or obj.__name__ not in kinds()
        or not name.startswith("latentgram.")
    ):
        return
    text = sys.modules[obj.__module__].__doc__ or ""
    lines += ["", ".. rubric:: Meaning and layout of the arrays", ""]
    for paragraph in text.strip().split("\n\n"):
        rows = paragraph.split("\n")
        if rows[0].startswith("    "):
            lines += ["::", "", *rows, ""]
        else:
            lines += [*rows, ""]
