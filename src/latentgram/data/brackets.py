"""Penn brackets: `(S (NP (NNS Cats)) (VP (VBP sleep)))`, read into a `Forest` and written again.

**Input.** Trees follow one another, one per line or each over several lines; white space between brackets, labels
and words has no meaning. The outermost label may be missing, as in Penn's `( (S …))`; it is then the empty string.
Files may be compressed (gzip, xz), as told by their names; folders are read in sorted order, `-` is standard
input. Between two trees (never inside one, where `#` is a tag and a word) a line that begins with `%`, `#` or
`*x*` is a comment.

**Words are kept as written**, so `-LRB-` is read as `-LRB-`, and written back unchanged. `unescape` converts it to
`(`, `escape` converts back. On writing, a bare bracket in a word or label becomes `-LRB-`/`-RRB-` and a space a
no-break space: whatever is written can be read again.

**Cost.** O(bytes) in one compiled pass; memory is 12 bytes per node and a block of the file at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand, open_bytes, refuse_foreign, write_bytes
from latentgram.data.forest import Forest
from latentgram.data.kernels import brackets as kernel
from latentgram.data.sentence import bracket_safe
from latentgram.data.sentence import escape as escape
from latentgram.data.sentence import unescape as unescape
from latentgram.data.tree import Tree
from latentgram.errors import DataError

BLOCK_BYTES = 1 << 24
"""How much of a file `stream_forests` reads at a time."""

MESSAGES = {
    kernel.NEVER_CLOSED: "the tree that begins here is never closed",
    kernel.NEVER_OPENED: "this closing bracket closes nothing",
    kernel.OUTSIDE: "there is text outside of all brackets",
    kernel.NO_LABEL: "this bracket has no label (only the outermost one may lack it)",
    kernel.EMPTY: "this bracket has neither words nor brackets in it",
    kernel.WORD_BESIDE_NODE: "a word next to a subtree: a node has either subtrees or one word",
    kernel.NODE_BESIDE_WORD: "a subtree next to a word: a node has either subtrees or one word",
    kernel.TWO_WORDS: "a second word under one tag: each word needs its own bracket",
}
_NOT_UTF8 = "this is not UTF-8"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def parse_tree(text: str) -> Tree:
    """The one tree in a string.

    >>> print(parse_tree("(S (NP (NNS Cats)) (VP (VBP sleep)))").words)
    ('Cats', 'sleep')
    >>> parse_tree("(S (NP (NNS Cats)")
    Traceback (most recent call last):
    latentgram.errors.DataError: 1:1: the tree that begins here is never closed
    """
    forest = parse_forest(text)
    if len(forest) != 1:
        raise DataError(f"expected one tree, but the text has {len(forest)}")
    return forest[0]


def parse_forest(text: str) -> Forest:
    """All trees in a string.

    >>> len(parse_forest("(X a) (X b)"))
    2
    """
    return Forest.concatenate(list(_scan_blocks(iter([text.encode("utf-8")]), None, None)))


def read_brackets(paths: PathLike | Iterable[PathLike], *, bad: list[DataError] | None = None) -> Forest:
    """The trees of a file, of a folder, or of several of them.

    A faulty tree raises its error; or it is left out and its error appended to `bad`, if that is given, and
    reading goes on at the next line that has a bracket in its first column. A file without faults gives the same
    trees either way. A file that cannot be opened or unpacked is an error always.
    """
    return Forest.concatenate(list(stream_forests(paths, bad=bad)))


def stream_forests(
    paths: PathLike | Iterable[PathLike], *, bad: list[DataError] | None = None, block_bytes: int = BLOCK_BYTES
) -> Iterator[Forest]:
    """The trees of files that need not fit into memory, some at a time; each forest has alphabets of its own.

    `bad` is as for `read_brackets`.
    """
    for path in expand(paths):
        with open_bytes(path) as stream:
            yield from _scan_blocks(iter(lambda: stream.read(block_bytes), b""), path, bad)


def stream_trees(
    paths: PathLike | Iterable[PathLike], *, bad: list[DataError] | None = None, block_bytes: int = BLOCK_BYTES
) -> Iterator[Tree]:
    """The trees of files that need not fit into memory, one after the other."""
    for forest in stream_forests(paths, bad=bad, block_bytes=block_bytes):
        yield from forest


def _scan_blocks(blocks: Iterator[bytes], path: str | None, bad: list[DataError] | None) -> Iterator[Forest]:
    """Scan blocks of one file; what the end of a block cuts off is scanned with the next one."""
    place = _Place(path)
    rest = next(blocks, b"").removeprefix(_BYTE_ORDER_MARK)
    if path is not None:
        refuse_foreign(rest, path)
    following: bytes | None = b""
    while following is not None:
        following = next(blocks, None)
        text = np.frombuffer(rest, np.uint8)
        fault, consumed, nodes, trees, label_table, word_table, faults = kernel.scan(
            text, place.column == 1, following is None, bad is not None
        )
        if fault[0] != kernel.GOOD:
            raise place.error(MESSAGES[fault[0]], rest, fault[1])
        errors = [(int(at), MESSAGES[int(status)]) for status, at in zip(*faults, strict=True)]
        labels, bad_labels = _decode(rest[:consumed], *label_table)
        words, bad_words = _decode(rest[:consumed], *word_table)
        if bad is None:
            for at in (*bad_labels.values(), *bad_words.values()):
                raise place.error(_NOT_UTF8, rest, at)
        label, size, word = nodes
        start = np.concatenate((np.zeros(1, np.int64), trees[0]))
        forest = Forest(labels, words, label, size, word, start)
        if bad_labels or bad_words:
            foul = np.isin(label, list(bad_labels)) | np.isin(word, list(bad_words))
            foul_tree = np.unique(np.searchsorted(start, np.flatnonzero(foul), side="right") - 1)
            errors += [(int(at), _NOT_UTF8) for at in trees[1][foul_tree]]
            forest = forest.select(np.setdiff1d(np.arange(len(forest)), foul_tree))
        if bad is not None:
            bad.extend(place.error(message, rest, at) for at, message in sorted(errors))
        if len(forest):
            yield forest.compact()
        place.advance(rest, consumed)
        rest = rest[consumed:] + (following or b"")


def _decode(text: bytes, place: Ints, length: Ints) -> tuple[Alphabet, dict[int, int]]:
    """The tokens that the scanner numbered, and where those are that are not UTF-8, by their numbers.

    Tokens beyond the end of `text` are of a tree that is not whole yet, and nobody uses them.
    """
    tokens = [text[a:b] for a, b in zip(place.tolist(), (place + length).tolist(), strict=True)]
    with suppress(UnicodeDecodeError):
        return Alphabet(tuple(map(bytes.decode, tokens))), {}
    foul = {}
    for number, token in enumerate(tokens):
        try:
            token.decode()
        except UnicodeDecodeError as error:
            foul[number] = int(place[number]) + error.start
    return Alphabet(tuple(token.decode("utf-8", "replace") for token in tokens)), foul


class _Place:
    """Lines and columns in a file that is read in blocks."""

    def __init__(self, path: str | None) -> None:
        self.path, self.line, self.column = path, 1, 1

    def error(self, message: str, text: bytes, at: int) -> DataError:
        line, column = self._of(text, at)
        return DataError(message, path=self.path, line=line, column=column)

    def advance(self, text: bytes, consumed: int) -> None:
        self.line, self.column = self._of(text, consumed)

    def _of(self, text: bytes, at: int) -> tuple[int, int]:
        newline = text.rfind(b"\n", 0, at)
        characters = len(text[newline + 1 : at].decode("utf-8", "replace"))
        if newline < 0:
            return self.line, self.column + characters
        return self.line + text.count(b"\n", 0, at), characters + 1


def format_forest(forest: Forest) -> bytes:
    r"""Trees as UTF-8 text, one per line: `str(tree)` of each, at the speed of a copy.

    >>> format_forest(parse_forest("(X (A a)\n  (B b)) ( (C c))"))
    b'(X (A a) (B b))\n( (C c))\n'
    """
    if not len(forest):
        return b""
    is_root = np.zeros(len(forest.label), bool)
    is_root[forest.start[:-1]] = True
    # A bracket closes after the last node of its subtree, which is over a word.
    closes = np.bincount(np.arange(len(forest.label)) + forest.size - 1, minlength=len(forest.label))
    tables = (*_table(forest.labels), *_table(forest.words))
    return bytes(kernel.render(forest.label, forest.word, is_root, closes, *tables))


def _table(alphabet: Alphabet) -> tuple[NDArray[np.uint8], Ints]:
    """The symbols' bytes, one after the other, and where each begins."""
    symbols = [bracket_safe(symbol).encode("utf-8", "replace") for symbol in alphabet]
    begin = np.cumsum([0, *map(len, symbols)])
    return np.frombuffer(b"".join(symbols), np.uint8), begin.astype(np.int64)


def write_brackets(trees: Forest | Iterable[Tree], path: PathLike) -> None:
    """Write trees, one per line; packed by its name (.gz, .xz, .bz2). The file appears whole or not at all."""
    with write_bytes(path) as stream:
        if isinstance(trees, Forest):
            stream.write(format_forest(trees))
            return
        for tree in trees:
            stream.write(f"{tree}\n".encode("utf-8", "replace"))
