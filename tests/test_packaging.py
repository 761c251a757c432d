"""What package indexes are told: links that work, and no address that is not known."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

ROOT = Path(__file__).parents[1]
README = "![a tree](docs/tree.svg)\nThe [guide](docs/start.md), [Python](https://python.org), [below](#more)."


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[..., str]]:
    """The functions of hatch_build.py, which imports base classes of a tool that only builds need."""
    for kind, base in (("builders.hooks", "BuildHookInterface"), ("metadata", "MetadataHookInterface")):
        module = ModuleType(base)
        setattr(module, base, object)
        monkeypatch.setitem(sys.modules, f"hatchling.{kind}.plugin.interface", module)
    return cast("dict[str, Callable[..., str]]", runpy.run_path(str(ROOT / "hatch_build.py")))


def test_links_are_absolute_where_the_address_is_known(hooks: dict[str, Callable[..., str]]) -> None:
    here = "https://example.org/some/one"
    assert hooks["described"](README, here) == (
        f"![a tree]({here}/raw/main/docs/tree.svg)\n"
        f"The [guide]({here}/blob/main/docs/start.md), [Python](https://python.org), [below](#more)."
    )
    assert hooks["described"](README, "") == "\nThe guide, [Python](https://python.org), [below](#more)."


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        ("https://example.org/some/one.git", "https://example.org/some/one"),
        ("git@example.org:some/one.git", "https://example.org/some/one"),
        ("ssh://git@example.org/some/one", "https://example.org/some/one"),
        ("/home/some/one", ""),
        ("https://user:secret@example.org/some/one", ""),
        ("", ""),
    ],
)
def test_the_address_is_that_of_the_clone(
    origin: str,
    address: str,
    hooks: dict[str, Callable[..., str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LATENTGRAM_SOURCE", raising=False)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    if origin:
        subprocess.run(["git", "-C", tmp_path, "remote", "add", "origin", origin], check=True)
    assert hooks["published_at"](str(tmp_path)) == address
    monkeypatch.setenv("LATENTGRAM_SOURCE", "https://example.org/another")
    assert hooks["published_at"](str(tmp_path)) == "https://example.org/another"


def test_the_files_that_the_readme_shows_are_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    places = re.findall(r"\]\((?!https?://|#)([^)]+)\)", text)
    assert places
    assert not [place for place in places if not (ROOT / place).exists()]
