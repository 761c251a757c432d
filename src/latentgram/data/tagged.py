"""Sentences as plain text: one word per line with its tags, or one sentence per line.

Both are read as a stream in constant memory, from compressed files and folders too; errors name the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import intern

from latentgram.data.files import PathLike, check_text, expand, paragraphs, read_blocks, read_lines, write_text
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, SettingError

TAGGED_SUFFIXES = (".tsv", ".tagged", ".pos")
TEXT_SUFFIXES = (".txt", ".text")


def read_tagged(
    paths: PathLike | Iterable[PathLike],
    *,
    column: int = 1,
    coarse: int | None = None,
    bad: list[DataError] | None = None,
) -> Iterator[Sentence]:
    """Stream sentences of `word<TAB>tag[<TAB>tag…]` lines with blank lines between.

    `column` counts from the word at 0 and is the one taken as tags (`xpos`); `coarse` is one for `upos`. A faulty
    sentence raises, unless `bad` is given: then it is left out and its error appended there.
    """
    if column < 1 or (coarse is not None and coarse < 1):
        raise SettingError("a tag column is 1 or more: the word itself is column 0")
    for path in expand(paths, TAGGED_SUFFIXES):
        for first, text in read_blocks(path, "\n\n", lenient=bad is not None):
            for start, body in paragraphs(text, first):
                try:
                    check_text(body, path, start)
                    yield _read_rows(body.split("\n"), start, path, column, coarse)
                except DataError as error:
                    if bad is None:
                        raise
                    bad.append(error)


def _read_rows(lines: list[str], start: int, path: PathLike, column: int, coarse: int | None) -> Sentence:
    rows = [line.split("\t") for line in lines]
    needed = max(column, coarse or 0) + 1
    for number, row in enumerate(rows, start):
        if len(row) < needed:
            raise DataError(
                f"the line has {len(row)} columns separated by tabs, but column {needed} was requested",
                path=path,
                line=number,
            )
        if not row[0] or not row[column]:
            raise DataError(
                "the line has no word" if not row[0] else "the line has no tag", path=path, line=number
            )
    return Sentence(
        tuple([intern(row[0]) for row in rows]),
        tuple([intern(row[column]) for row in rows]),
        None if coarse is None else tuple([intern(row[coarse]) for row in rows]),
    )


def read_sentences(
    paths: PathLike | Iterable[PathLike], *, bad: list[DataError] | None = None
) -> Iterator[Sentence]:
    """Stream one sentence per line, words separated by spaces; empty lines are passed over.

    A line that is not UTF-8 raises, unless `bad` is given: then it is left out and its error appended there.
    """
    for path in expand(paths, TEXT_SUFFIXES):
        for _, line in read_lines(path, bad=bad):
            if words := line.split():
                yield Sentence(tuple(words))


def to_tagged(sentence: Sentence) -> str:
    """A sentence as lines of word and tags, the blank line included; one without tags as one line of text.

    >>> to_tagged(Sentence.of([("The", "DT"), ("cat", "NN")]))
    'The\\tDT\\ncat\\tNN\\n\\n'
    """
    columns = [column for column in (sentence.words, sentence.xpos, sentence.upos) if column is not None]
    if len(columns) == 1:
        text = " ".join(sentence.words)
        if len(text.split()) != len(sentence):
            raise DataError("a word is empty or contains white space, which plain text cannot represent")
        return text + "\n"
    text = "\n".join("\t".join(row) for row in zip(*columns, strict=True))
    if text.count("\n") != len(sentence) - 1 or text.count("\t") != (len(columns) - 1) * len(sentence):
        raise DataError("a word or tag contains a tab or a line break, which tagged text cannot represent")
    return text + "\n\n"


def write_sentences(path: PathLike, sentences: Iterable[Sentence]) -> None:
    """Write tagged or plain sentences; the file appears whole or not at all."""
    with write_text(path) as out:
        out.writelines(map(to_tagged, sentences))
