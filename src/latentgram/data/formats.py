"""The formats of treebanks: which one a file is in, guessed from its name or its first lines, and reading it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator

from latentgram.data import brackets, conllu, tagged
from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import STANDARD, PathLike, expand, open_bytes, plain_suffix
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import DataError, SettingError

TreeOrSentence = Tree | DependencyTree | Sentence
"""What treebanks are made of."""
BRACKETS, CONLLU, TAGGED, TEXT = "brackets", "conllu", "tagged", "text"
SUFFIXES = {
    BRACKETS: (".mrg", ".ptb", ".psd", ".prd", ".tree", ".trees", ".brackets"),
    CONLLU: conllu.SUFFIXES,
    TAGGED: tagged.TAGGED_SUFFIXES,
    TEXT: tagged.TEXT_SUFFIXES,
}
_FORMAT_OF = {suffix: name for name, suffixes in SUFFIXES.items() for suffix in suffixes}
_PEEK_BYTES = 1 << 14


def find_files(paths: PathLike | Iterable[PathLike], format: str | None = None) -> tuple[list[str], str]:
    """The files meant by paths and the one format they are in.

    Of a folder those files count whose suffix belongs to the format, or to any known one.
    """
    if format is not None and format not in SUFFIXES:
        raise SettingError(f"there is no format {format!r}; known: {', '.join(SUFFIXES)}")
    files = expand(paths, tuple(_FORMAT_OF) if format is None else SUFFIXES[format])
    if not files:
        raise DataError("no file was named")
    if format is not None:
        return files, format
    first = format_of(files[0])
    for file in files[1:]:
        if (other := format_of(file)) != first:
            raise DataError(f"{files[0]} is {first}, but this is {other}: name the format", path=file)
    return files, first


def format_of(path: PathLike) -> str:
    """The format of one file.

    >>> format_of("wsj.mrg.gz"), format_of("train.conllu"), format_of("brown.tsv")
    ('brackets', 'conllu', 'tagged')
    """
    if known := _FORMAT_OF.get(plain_suffix(path)):
        return known
    lines = [line for line in _first_bytes(path).decode("utf-8", "replace").splitlines() if line.strip()]
    content = [line for line in lines if not line.startswith("#")]
    if not content:
        raise DataError("the file is empty, so its format is not known", path=path)
    if content[0].lstrip().startswith("("):
        return BRACKETS
    columns = content[0].count("\t") + 1
    if columns == conllu.COLUMNS:
        return CONLLU
    return TAGGED if columns > 1 else TEXT


def _first_bytes(path: PathLike) -> bytes:
    """The beginning of a file; standard input is only looked at and not used up."""
    if os.fspath(path) != STANDARD:
        with open_bytes(path) as file:
            return file.read(_PEEK_BYTES)
    if isinstance(sys.stdin.buffer, io.BufferedReader):
        return sys.stdin.buffer.peek(_PEEK_BYTES)
    raise DataError("the format of standard input is not known: name it", path=path)


def has_trees(path: PathLike) -> bool:
    """Whether a file has trees, by its name."""
    return _FORMAT_OF.get(plain_suffix(path)) in (BRACKETS, CONLLU)


def stream_items(
    files: list[str], format: str, bad: list[DataError] | None, tag_column: int, heads: bool = True
) -> Iterator[TreeOrSentence]:
    """The trees or sentences of files that are all of one format, one by one."""
    if format == BRACKETS:
        return brackets.stream_trees(files, bad=bad)
    if format == CONLLU:
        return conllu.read_conllu(files, bad=bad, heads=heads)
    if format == TAGGED:
        return tagged.read_tagged(files, column=tag_column, bad=bad)
    return tagged.read_sentences(files, bad=bad)
