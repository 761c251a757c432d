"""Files of a command: outputs that replace no input and have a folder, and faults that get the name of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from latentgram.data.files import STANDARD
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
    from latentgram.data.tag_dictionary import split_specification

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


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Name a file in faults of data that do not say where they are.

    >>> with faults_of(Path("a.conllu")):
    ...     raise DataError("sentence 1 has no tags")
    Traceback (most recent call last):
        ...
    latentgram.errors.DataError: a.conllu: sentence 1 has no tags
    """
    try:
        yield
    except DataError as error:
        if error.path is not None:
            raise
        raise DataError(error.message, path=path, line=error.line, column=error.column) from None
