"""A treebank file as pieces of text: one for each tree, so that one can be changed while all others stay the same.

A bracketed tree ends where all its brackets are closed; between trees, lines that begin with `%`, `#` or `*x*` are
comments (data/brackets.py). CoNLL-U is divided at blank lines. Positions are in bytes; one pass.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from latentgram.errors import DataError

_NAME = re.compile(r"^# sent_id\s*=\s*(\S.*?)\s*$", re.MULTILINE)
_BRACKET = re.compile(rb"[()]")
_COMMENT = re.compile(rb"^[ \t]*(?:%|#|\*x\*)[^\n]*$", re.MULTILINE)
_SENTENCE = re.compile(rb"(?:[^\r\n]+(?:\r?\n|\Z))+")


class NotThere(DataError):
    """The tree that was to be changed is not in the file any more."""


class Piece(NamedTuple):
    """The text of a tree, and where it stands in the file."""

    text: str
    begin: int
    end: int


def pieces(content: bytes, phrases: bool) -> list[Piece]:
    """The trees of a file, in their order.

    >>> [piece.text for piece in pieces(b"(S (NN a))\\n# a note (here\\n(S\\n (NN b))\\n", phrases=True)]
    ['(S (NN a))', '(S\\n (NN b))']
    >>> [piece.begin for piece in pieces(b"1\\ta\\n\\n\\n1\\tb\\n\\n", phrases=False)]
    [0, 6]
    """
    ends = _brackets(content) if phrases else [match.span() for match in _SENTENCE.finditer(content)]
    return [Piece(content[begin:end].decode("utf-8", "replace"), begin, end) for begin, end in ends]


def _brackets(content: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = depth = begin = 0
    while (match := _BRACKET.search(content, at)) is not None:
        if not depth:
            line = content.rfind(b"\n", 0, match.start()) + 1
            if _COMMENT.match(content, max(line, at)):
                at = content.find(b"\n", match.start())
                if at < 0:
                    break
                continue
            begin = match.start()
        depth += 1 if match[0] == b"(" else -1
        at = match.end()
        if not depth:
            found.append((begin, at))
        elif depth < 0:
            depth = 0
    return found


def changed(content: bytes, phrases: bool, number: int, old: str, new: str) -> bytes:
    """A file in which a tree is another, or none (`new` is empty), or is there again (`old` is empty).

    It is looked for by its text, at its number first, and near it where another program has changed the file.

    >>> changed(b"(S (NN a))\\n(S (NN b))\\n", True, 0, "(S (NN a))", "")
    b'(S (NN b))\\n'
    >>> changed(b"(S (NN b))\\n", True, 0, "", "(S (NN a))")
    b'(S (NN a))\\n(S (NN b))\\n'
    """
    there = pieces(content, phrases)
    if not old:
        place = there[number].begin if number < len(there) else len(content)
        gap = b"\n" if phrases else b"\n\n"
        return content[:place] + new.strip("\n").encode() + gap + content[place:]
    same = [place for place, piece in enumerate(there) if piece.text.strip() == old.strip()]
    if not same:
        raise NotThere("this tree is no longer in the treebank: somebody has changed or deleted it")
    piece = there[min(same, key=lambda place: abs(place - number))]
    end = piece.end
    if not new:
        blank = re.compile(rb"[ \t]*\r?\n").match(content, end)
        end = blank.end() if blank else end
        return content[: piece.begin] + content[end:]
    text = new.strip("\n")
    ending = piece.text[len(piece.text.rstrip("\r\n")) :]
    return content[: piece.begin] + (text + ending).encode() + content[end:]


def name_of(text: str) -> str:
    """The sent_id of rows of CoNLL-U; nothing where there is none.

    >>> name_of("# sent_id = w-3\\n1\\ta\\n"), name_of("(S (NN a))")
    ('w-3', '')
    """
    comment = _NAME.search(text)
    return comment[1] if comment else ""
