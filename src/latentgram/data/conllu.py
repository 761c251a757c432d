"""CoNLL-U: ten columns per word, a blank line after each sentence; files are written back byte for byte.

Comments, multiword ranges (`3-4`) and empty nodes (`8.1`) are kept in place, and so are line endings: a sentence
is written with those of its first line. A byte-order mark and additional blank lines after a sentence are not
kept. Every sentence is checked: ten columns, ids that count from 1, heads that are numbers in range, one root, no
cycle, and a file that does not end within a sentence. Files are read as a stream, in blocks of a megabyte; time is
linear in the size of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from sys import intern

import numpy as np

from latentgram.data.dependencies import UNATTACHED, DependencyArrays, DependencyTree
from latentgram.data.files import PathLike, check_text, expand, paragraphs, read_blocks, whole_number, write_text
from latentgram.errors import DataError

SUFFIXES = (".conllu", ".conll")
COLUMNS = 10
_ID, _WORD, _LEMMA, _UPOS, _XPOS, _FEATS, _HEAD, _DEPREL, _DEPS, _MISC = range(COLUMNS)
_NUMERALS = tuple(str(i) for i in range(2048))
_HEADS = {numeral: i for i, numeral in enumerate(_NUMERALS)}


def read_conllu(
    paths: PathLike | Iterable[PathLike], *, bad: list[DataError] | None = None, heads: bool = True
) -> Iterator[DependencyTree]:
    """Stream the trees of files or folders.

    A faulty sentence raises, unless `bad` is given: then it is left out and its error appended there. Without
    `heads`, as for text that is still to be parsed, their column is not looked at and all of them are −1.
    """
    for path in expand(paths, SUFFIXES):
        for first, text in read_blocks(path, "\n\n", lenient=bad is not None, keep_returns=True):
            yield from _read_block(text, first, path, bad, heads)


def parse_conllu(text: str, *, bad: list[DataError] | None = None, heads: bool = True) -> list[DependencyTree]:
    """The trees of a string.

    >>> trees = parse_conllu("1\\tHi\\thi\\tINTJ\\tUH\\t_\\t0\\troot\\t_\\t_\\n\\n")
    >>> trees[0].words, trees[0].heads
    (('Hi',), (0,))
    """
    return list(_read_block(text, 1, None, bad, heads))


def to_conllu(tree: DependencyTree) -> str:
    """A tree as the lines of its sentence, the blank line included."""
    heads = ["_" if head == UNATTACHED else str(head) for head in tree.heads]
    columns = (
        tree.words,
        tree.lemmas,
        tree.upos,
        tree.xpos,
        tree.feats,
        heads,
        tree.deprels,
        tree.deps,
        tree.misc,
    )
    lines = ["\t".join(row) for row in zip(_numerals(len(tree)), *columns, strict=True)]
    for before, row in reversed(tree.extra_rows):
        lines.insert(before, row)
    text = tree.line_end.join((*tree.comments, *lines, "", ""))
    whole = len(tree.comments) + len(lines) + 1
    if text.count("\n") != whole or sum(line.count("\t") for line in lines) != (COLUMNS - 1) * len(lines):
        raise DataError("a column contains a tab or a line break, which CoNLL-U cannot represent")
    return text


def write_conllu(path: PathLike, trees: Iterable[DependencyTree]) -> None:
    """Write trees; the file appears whole or not at all."""
    with write_text(path) as out:
        out.writelines(map(to_conllu, trees))


def _numerals(length: int) -> tuple[str, ...]:
    if length < len(_NUMERALS):
        return _NUMERALS[1 : length + 1]
    return tuple(str(i) for i in range(1, length + 1))


def _read_block(
    text: str, first: int, path: PathLike | None, bad: list[DataError] | None, heads: bool
) -> Iterator[DependencyTree]:
    """The trees of a block; faults are gathered, put in the order of the lines and then raised or kept."""
    trees: list[DependencyTree] = []
    lines: list[int] = []
    errors: list[DataError] = []
    with_returns = _lines_with_returns(text, first)
    text = text.replace("\r\n", "\n") if with_returns else text
    sentences = list(paragraphs(text, first))
    cut_short = not text.endswith("\n\n")
    for start, body in sentences:
        try:
            check_text(body, path, start)
            tree = _read_sentence(body.split("\n"), start, path, heads)
            if start in with_returns:
                tree = tree.replace(line_end="\r\n")
            if cut_short and start == sentences[-1][0]:
                raise DataError(
                    "the file ends within a sentence: a blank line must follow it (is the file truncated?)",
                    path=path,
                    line=start + body.count("\n"),
                )
        except DataError as error:
            errors.append(error)
        else:
            trees.append(tree)
            lines.append(start + len(tree.comments))
    good = _check_trees(trees, lines, path, errors) if heads else trees
    if errors:
        errors.sort(key=lambda error: error.line or 0)
        if bad is None:
            raise errors[0]
        bad.extend(errors)
    yield from good


def _lines_with_returns(text: str, first: int) -> set[int]:
    """The numbers of the lines that end in `\\r\\n`."""
    if "\r\n" not in text:
        return set()
    return {number for number, line in enumerate(text.split("\n")[:-1], first) if line.endswith("\r")}


def _read_sentence(lines: Sequence[str], start: int, path: PathLike | None, attached: bool) -> DependencyTree:
    """The columns of a sentence that begins at line `start`."""
    comments = 0
    while comments < len(lines) and lines[comments].startswith("#"):
        comments += 1
    line = start + comments
    rows = [row.split("\t") for row in lines[comments:]]
    if not rows:
        raise DataError("comments without a sentence below them", path=path, line=start)
    for number, row in enumerate(rows):
        if len(row) != COLUMNS:
            raise DataError(
                f"a line has ten columns separated by tabs, this one has {len(row)}", path=path, line=line + number
            )
    extra: list[tuple[int, str]] = []
    if tuple(row[_ID] for row in rows) != _numerals(len(rows)):
        rows, extra = _set_aside(rows, line, path)
    columns = [tuple(map(intern, column)) for column in zip(*rows, strict=True)]
    try:
        heads = tuple([_HEADS[head] for head in columns[_HEAD]]) if attached else (UNATTACHED,) * len(rows)
    except KeyError:
        places = zip(columns[_HEAD], _rows_of_words(len(rows), extra), strict=True)
        heads = tuple(_read_head(head, path, line + row) for head, row in places)
    return DependencyTree(
        words=columns[_WORD],
        heads=heads,
        deprels=columns[_DEPREL],
        upos=columns[_UPOS],
        xpos=columns[_XPOS],
        lemmas=columns[_LEMMA],
        feats=columns[_FEATS],
        deps=columns[_DEPS],
        misc=columns[_MISC],
        comments=tuple(lines[:comments]),
        extra_rows=tuple(extra),
    )


def _set_aside(
    rows: list[list[str]], line: int, path: PathLike | None
) -> tuple[list[list[str]], list[tuple[int, str]]]:
    """Words apart from multiword ranges and empty nodes."""
    words: list[list[str]] = []
    extra: list[tuple[int, str]] = []
    for number, row in enumerate(rows):
        identity = row[_ID]
        if identity == str(len(words) + 1):
            words.append(row)
            continue
        parts = identity.replace(".", "-").split("-")
        if len(parts) == 2 and all(whole_number(part) is not None for part in parts):
            extra.append((len(words), "\t".join(row)))
        elif identity.isascii() and identity.isdigit():
            raise DataError(
                f"the id is {identity[:20]}, but {len(words) + 1} was expected", path=path, line=line + number
            )
        else:
            raise DataError(f"the id {identity[:20]!r} is not a number", path=path, line=line + number)
    if not words:
        raise DataError("the sentence has no words", path=path, line=line)
    return words, extra


def _read_head(head: str, path: PathLike | None, line: int) -> int:
    number = whole_number(head)
    if number is None or (number and head[0] == "0") or len(head) > len(str(number)):
        raise DataError(f"the head {head[:20]!r} is neither the number of a word nor 0", path=path, line=line)
    return number


def _rows_of_words(length: int, extra: Sequence[tuple[int, str]]) -> list[int]:
    """How many lines stand above each word, comments not counted."""
    is_word = [True] * length
    for before, _ in reversed(extra):
        is_word.insert(before, False)
    return [row for row, word in enumerate(is_word) if word]


def _check_trees(
    trees: list[DependencyTree], lines: list[int], path: PathLike | None, errors: list[DataError]
) -> list[DependencyTree]:
    """The trees that are trees; the others' errors are appended. `lines` are those of the first rows."""
    arrays = DependencyArrays.of(trees)
    kinds, words = arrays.faults
    if not kinds.any():
        return trees
    faulty = set()
    for s in np.flatnonzero(kinds).tolist():
        faulty.add(s)
        row = _rows_of_words(len(trees[s]), trees[s].extra_rows)[max(int(words[s]) - 1, 0)]
        errors.append(DataError(arrays.fault(s) or "", path=path, line=lines[s] + row))
    return [tree for s, tree in enumerate(trees) if s not in faulty]
