"""What benchmarks share: where the corpora are, and a table as a file."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latentgram.parser.speed import peak_megabytes


def explain() -> None:
    """Where help is asked for, print what the benchmark says of itself, and end."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(sys.modules["__main__"].__doc__)
        sys.exit()


def corpora() -> Path:
    """The folder of the real corpora; the benchmark ends with a word where it is not known."""
    if folder := os.environ.get("LATENTGRAM_DATA"):
        return Path(folder)
    sys.exit("set LATENTGRAM_DATA to the folder of the corpora")


def peak() -> str:
    """The greatest resident size of this process so far, in megabytes."""
    return f"{peak_megabytes() or 0.0:.0f}"


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as CSV; the columns are those of the fullest row."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(max(rows, key=len)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
