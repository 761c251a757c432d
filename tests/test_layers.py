"""Imports go down the rooms only, and families import each other along named edges (see CONTRIBUTING)."""

import ast
from pathlib import Path

import pytest

import latentgram

ROWS = [
    {"data", "arrays", "errors", "interrupt", "progress", "compiling", "kernel_cache", "kernel_dispatch"},
    {"parallel"},
    {"numeric", "evaluate"},
    {"view"},
    {"kinds"},
    {"lpcfg", "shag", "latent_tree", "arcs", "sequences", "tagger", "ud"},
    {"store"},
    {"learn"},
    {"parser"},
    {"reproduce", "web", "compat"},
    {"cli"},
]
ROW_OF = {part: row for row, parts in enumerate(ROWS) for part in parts}
FAMILIES = ROWS[5]
EDGES = {
    ("shag", "sequences"): "the automata of heads are operator automata",
    ("latent_tree", "shag"): "both count the modifier sequences of a treebank",
    ("arcs", "shag"): "scores of arcs are factors of products, and constraints on arcs are those of head automata",
    ("ud", "arcs"): "words of raw text are parsed by arcs, and weights of hashed features are kept as theirs are",
    ("ud", "tagger"): "words of raw text are tagged",
    ("lpcfg", "tagger"): "a tagger helps a layer with sentences that have no tags",
}
"""Which family may import which other one, and why."""
PACKAGE = Path(latentgram.__file__).parent
ENTRIES = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
PATHS = sorted(set(PACKAGE.rglob("*.py")) - ENTRIES)
INSIDE = {
    ("data", "arrays"),
    ("data", "errors"),
    ("data", "interrupt"),
    ("data", "progress"),
    ("progress", "interrupt"),
    ("data", "compiling"),
    ("compiling", "kernel_dispatch"),
    ("kernel_dispatch", "kernel_cache"),
    ("kernel_cache", "errors"),
}
"""Imports inside the lowest row."""
PICTURES = {("data", "view"), ("evaluate", "view")}
"""Trees, models and scores show themselves in a notebook; what draws them is imported at that moment only."""


def imported(path: Path) -> set[str]:
    """The rooms that a module imports from, its own included."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        rooms |= {name.split(".")[1] for name in names if name.startswith("latentgram.")}
    return rooms


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    room = room_of(path)
    wrong = {
        other
        for other in imported(path) - {room}
        if ROW_OF[other] >= ROW_OF[room] and (room, other) not in EDGES.keys() | INSIDE | PICTURES
    }
    assert not wrong, f"{room} imports {', '.join(sorted(wrong))}"


def test_every_edge_between_families_is_used() -> None:
    used = {(room_of(path), other) for path in PATHS for other in imported(path)}
    assert set(EDGES) <= used
    assert len(EDGES) <= 15


def test_the_house_is_as_contributing_describes_it() -> None:
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    tree, rows = (block.split("```")[0] for block in page.split("```\n")[1::2])
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert {line.split("/")[0].strip() for line in tree.splitlines()[1:]} == folders
    drawn = [set(line.split()[1:]) for line in reversed(rows.splitlines())]
    assert drawn == ROWS
