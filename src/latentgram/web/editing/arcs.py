"""Dependency trees changed by hand: everything stays as it is except what is named, crossing arcs included.

Words are counted from 0 and heads from 1, 0 being the root. When a word is split or two are merged, heads,
enhanced dependencies, multiword ranges and empty nodes are renumbered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import cast

from latentgram.data.dependencies import COLUMNS, Columns, DependencyTree
from latentgram.data.surface import NO_SPACE, Token, tokens_of
from latentgram.errors import DataError

_NUMBER = re.compile(r"^(\d+)(\.?)")
_FEATURE = re.compile(r"[^=|]+=[^=|]+")


def set_head(tree: DependencyTree, word: int, head: int) -> DependencyTree:
    """Another head; a word that becomes the root takes the place of the old one, which goes under it.

    >>> set_head(DependencyTree(("a", "b", "c"), (2, 0, 2)), 2, 0).heads
    (2, 3, 0)
    """
    heads = list(tree.heads)
    above = head
    while above > 0:
        if above == word + 1:
            raise DataError(f"“{tree.words[head - 1]}” is under “{tree.words[word]}”, and cannot be its head")
        above = heads[above - 1]
    if heads[word] == 0 and head != 0:
        raise DataError(f"“{tree.words[word]}” is the root: make another word the root first")
    if head == 0:
        heads = [word + 1 if above == 0 else above for above in heads]
    heads[word] = head
    return tree.replace(heads=tuple(heads))


def set_column(tree: DependencyTree, word: int, column: str, value: str) -> DependencyTree:
    """Another relation, lemma, tag or feature of a word.

    >>> set_column(DependencyTree(("dogs",), (0,)), 0, "lemmas", "dog").lemmas
    ('dog',)
    """
    if column == "feats" and value not in ("", "_"):
        features = value.split("|")
        if wrong := [each for each in features if not _FEATURE.fullmatch(each)]:
            raise DataError(f"features are written Name=Value and separated by |, unlike {wrong[0] or 'nothing'}")
        value = "|".join(sorted(features, key=str.lower))
    values = list(getattr(tree, column))
    values[word] = value or "_"
    return tree.replace(**cast(Columns, {column: tuple(values)}))


def split(tree: DependencyTree, word: int, parts: Sequence[str]) -> DependencyTree:
    """Cut a word into several, with no blank between: the first keeps its row, the others are its dependents.

    Words that do not make up the old one are those of a multiword token: *de* and *le*, written *du*.

    >>> cut = split(DependencyTree(("cannot", "go"), (2, 0)), 0, ("can", "not"))
    >>> cut.heads, cut.misc
    ((3, 1, 0), ('SpaceAfter=No', '_', '_'))
    >>> split(DependencyTree(("va", "du"), (0, 1)), 1, ("de", "le")).extra_rows[0][1][:6]
    '2-3\\tdu'
    """
    more = len(parts) - 1

    def place(number: int) -> int:
        return number + more if number > word + 1 else number

    heads = [place(head) for head in tree.heads]
    heads[word + 1 : word + 1] = [word + 1] * more
    words = (*tree.words[:word], *parts, *tree.words[word + 1 :])
    made = _with_rows(tree, words, heads, lambda rows, name: _spread(rows, word, more, name), place)
    if "".join(parts) == tree.words[word]:
        return _with_blanks(made, word, [False] * more + [_has_blank(tree, word)])
    if any(token.multiword and token.first <= word < token.end for token in tokens_of(tree)):
        raise DataError(f"“{tree.words[word]}” is already part of a multiword token, so its parts must spell it")
    token = Token(tree.words[word], word, word + len(parts), _has_blank(tree, word))
    joined = sorted((*made.extra_rows, token.row), key=itemgetter(0))  # behind empty nodes of the word before
    return _with_blanks(made, word, [True]).replace(extra_rows=tuple(joined))


def merge(tree: DependencyTree, word: int) -> DependencyTree:
    """Make one word of this and the next: the row of the one above the other stays.

    >>> merge(DependencyTree(("can", "not", "go"), (3, 1, 0)), 0).words
    ('cannot', 'go')
    """
    if word + 1 >= len(tree):
        raise DataError("there is no word after the last one")
    upper, lower = (word + 1, word) if tree.heads[word] == word + 2 else (word, word + 1)

    def place(number: int) -> int:
        return number - 1 if number > word + 1 else number

    heads = [place(head) for head in tree.heads]
    del heads[lower]
    heads[word] = place(tree.heads[upper])
    words = (*tree.words[:word], tree.words[word] + tree.words[word + 1], *tree.words[word + 2 :])
    made = _with_rows(tree, words, heads, lambda rows, name: [*rows[:lower], *rows[lower + 1 :]], place)
    return _with_blanks(made, word, [_has_blank(tree, word + 1)])


def _has_blank(tree: DependencyTree, word: int) -> bool:
    return NO_SPACE not in tree.misc[word].split("|")


def _with_blanks(tree: DependencyTree, first: int, blanks: Sequence[bool]) -> DependencyTree:
    """The tree with or without a blank behind some words, one after the other; not inside a multiword token."""
    misc = list(tree.misc)
    inside = {word for token in tokens_of(tree) if token.multiword for word in range(token.first, token.end)}
    for word, blank in enumerate(blanks, first):
        marks = [mark for mark in misc[word].split("|") if mark not in ("_", NO_SPACE)]
        if word not in inside and blank != _has_blank(tree, word):
            misc[word] = "|".join([*marks, *[NO_SPACE] * (not blank)]) or "_"
    return tree.replace(misc=tuple(misc))


def _spread(rows: Sequence[str], word: int, more: int, name: str) -> list[str]:
    """A column with rows for the new words: their tags are those of the old one, the rest is not known."""
    new = rows[word] if name in ("upos", "xpos") else "_"
    return [*rows[: word + 1], *[new] * more, *rows[word + 1 :]]


def _with_rows(
    tree: DependencyTree,
    words: tuple[str, ...],
    heads: Sequence[int],
    rows: Callable[[Sequence[str], str], list[str]],
    place: Callable[[int], int],
) -> DependencyTree:
    def behind(number: int) -> int:
        """The last word of what a word has become."""
        return max(place(number), place(number + 1) - 1)

    def numbered(text: str) -> str:
        return _NUMBER.sub(lambda match: f"{(behind if match[2] else place)(int(match[1]))}{match[2]}", text)

    def renumbered(row: str) -> str:
        identity, *rest = row.split("\t")
        first, dash, last = identity.partition("-")
        return "\t".join([f"{place(int(first))}-{behind(int(last))}" if dash else numbered(first), *rest])

    columns = {name: tuple(rows(getattr(tree, name), name)) for name in COLUMNS}
    columns["deps"] = tuple("|".join(map(numbered, value.split("|"))) for value in columns["deps"])
    extra = tuple((behind(before), renumbered(row)) for before, row in tree.extra_rows)
    made = tree.replace(**cast(Columns, {**columns, "words": words, "heads": tuple(heads), "extra_rows": extra}))
    if made.fault is not None:
        raise DataError(f"not a tree: {made.fault}")
    return made
