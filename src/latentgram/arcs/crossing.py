"""Crossing arcs, encoded in the names of relations: pseudo-projective parsing (Nivre and Nilsson 2005).

A projective parser learns from trees whose crossing arcs were lifted to a word above the head. The name of a
lifted arc then also contains the relation of its original head: `nmod↑obl`. In a parsed tree such an arc is
lowered to the first word with that relation below its head, in breadth-first order from left to right.

Only names seen at least `LEAST` times are used. O(words) per tree, and only where a name has the mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from latentgram.data.dependencies import ROOT, DependencyTree

LIFTED = "↑"
"""Stands between a relation and that of the head it was lifted from."""
LEAST = 3
"""Marked names that are rarer are left out."""


def marked_names(trees: Iterable[DependencyTree], lifted: Iterable[DependencyTree]) -> list[str]:
    """The relations of all words of lifted trees, those of lifted arcs with a mark.

    >>> tree = DependencyTree(("a", "b", "c", "d"), (3, 4, 0, 3), deprels=("det", "nmod", "root", "obl"))
    >>> marked_names([tree] * 3, [tree.replace(heads=(3, 3, 0, 3))] * 3)[:4]
    ['det', 'nmod↑obl', 'root', 'obl']
    """
    plain: list[str] = []
    marked: list[str] = []
    for tree, higher in zip(trees, lifted, strict=True):
        plain += tree.deprels
        for name, head, above in zip(tree.deprels, tree.heads, higher.heads, strict=True):
            moved = head != above and above != ROOT
            marked.append(f"{name}{LIFTED}{tree.deprels[head - 1]}" if moved else name)
    seen = Counter(marked)
    return [name if seen[name] >= LEAST else other for name, other in zip(marked, plain, strict=True)]


def without_mark(name: str) -> str:
    """The relation alone."""
    return name.partition(LIFTED)[0]


def lowered(heads: Sequence[int], names: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Heads and relations of a parsed tree with marked arcs lowered; where there is no such word, the head stays.

    >>> lowered((3, 3, 0, 3), ("det", "nmod↑obl", "root", "obl"))
    ((3, 4, 0, 3), ('det', 'nmod', 'root', 'obl'))
    """
    found, plain = list(heads), tuple(map(without_mark, names))
    for word, name in enumerate(names, 1):
        if LIFTED in name and found[word - 1] != ROOT:
            found[word - 1] = _below(found, plain, word, name.partition(LIFTED)[2])
    return tuple(found), plain


def _below(heads: Sequence[int], names: Sequence[str], word: int, relation: str) -> int:
    """The first word with a relation below the head of a word, but not below the word itself; else its head."""
    level = [heads[word - 1]]
    while level:
        above = set(level)
        level = [other for other, head in enumerate(heads, 1) if head in above and other != word]
        for other in level:
            if names[other - 1] == relation:
                return other
    return heads[word - 1]
