"""Looking at the place of an output before any work is done: it replaces no input, and its folder is there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from latentgram.data.files import STANDARD
from latentgram.data.tag_dictionary import split_specification
from latentgram.errors import DataError

Given = Path | str | None


def check_output(output: Path | None, *inputs: Given | Iterable[Given]) -> None:
    """Raise if an output is one of the inputs (`FILE` or `FILE:COLUMN`), or its folder does not exist.

    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "text.txt").write_text("a b")
    >>> check_output(here / "counts.tsv", [here / "text.txt"], None)
    >>> check_output(here / "text.txt", [here / "text.txt"])
    Traceback (most recent call last):
        ...
    latentgram.errors.DataError: ...text.txt: this is an input, which the output would replace: name another file
    """
    if output is None or os.fspath(output) == STANDARD:
        return
    if not output.parent.is_dir():
        raise DataError(f"there is no folder {output.parent} to write into", path=output)
    if not output.is_file():
        return
    for given in inputs:
        for each in [given] if isinstance(given, Path | str | None) else given:
            names = {str(each), split_specification(str(each))[0]}
            if any(os.path.isfile(name) and os.path.samefile(name, output) for name in names):
                raise DataError("this is an input, which the output would replace: name another file", path=output)
