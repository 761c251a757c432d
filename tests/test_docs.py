"""What the docs name is there: modules, files, and which learner makes which model."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from latentgram.kinds.kind import kinds

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "guide").glob("*.md"))
MODULE = re.compile(r"\blatentgram(?:\.[a-z_0-9]+)+(?::?\.?[A-Za-z_]+)?")
FILE = re.compile(r"(?<![\w./-])[a-z_0-9]+(?:/[a-z_0-9]+)*/[a-z_0-9]+\.py\b")


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.replace(":", ".").split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_and_files_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    names = {name for name in MODULE.findall(text) if not name.endswith((".lg", ".kinds", ".toml"))}
    assert not [name for name in sorted(names) if not exists(name)]
    places = (ROOT, ROOT / "src" / "latentgram")
    assert not [
        name for name in sorted(set(FILE.findall(text))) if not any((place / name).exists() for place in places)
    ]


def test_the_readme_lists_the_learners_of_every_kind() -> None:
    table = (ROOT / "README.md").read_text("utf-8").split("| model | learned by |")[1].split("\n\n")[0]
    listed: dict[str, set[str]] = {}
    for row in table.splitlines()[2:]:
        models, learners = (re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:3])
        for model in models:
            listed[model] = set(learners)
    known = {name: set(kind.recipes) for name, kind in kinds().items() if kind.command or name == "BackoffNGram"}
    assert listed.keys() == known.keys()
    assert all(known[name] <= listed[name] for name in known)
    assert set().union(*listed.values()) == set().union(*known.values())
