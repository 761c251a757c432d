"""A real Chromium and how the tests talk to it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
TEXT = "A teacher saw the dog in the garden of the museum ."


def wait(page: Any, condition: str, seconds: float = 20.0) -> None:
    """Until something holds; the page may not evaluate strings, so it is asked again and again."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(30)


def ask(page: Any, text: str) -> None:
    """Have a sentence parsed."""
    page.fill("#sentence", text)
    page.press("#sentence", "Enter")
    wait(page, f"document.querySelectorAll('.word').length === {len(text.split())}")


def spans(page: Any) -> set[str]:
    """The constituents on the screen."""
    script = "all => all.map(n => `${n.dataset.label} ${n.dataset.first} ${n.dataset.end}`)"
    return set(page.eval_on_selector_all(".node:not(.tag)", script))


def node(wanted: str) -> str:
    """The selector of a constituent: `NP 3 8`."""
    label, first, end = wanted.split()
    return f'.node[data-label="{label}"][data-first="{first}"][data-end="{end}"]'


def until(page: Any, wanted: str, there: bool = True) -> None:
    """Wait until a constituent is there, or is not."""
    page.wait_for_selector(node(wanted), state="attached" if there else "detached")


def says(page: Any, beginning: str) -> None:
    """Wait until the page says something."""
    wait(page, f"document.getElementById('message').textContent.startsWith({beginning!r})")


def faults(page: Any) -> list[tuple[str, list[str]]]:
    """The serious faults of accessibility that axe-core finds, each with where it finds it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document).then(r => r.violations)")
    return [
        (each["id"], [node["html"][:160] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
