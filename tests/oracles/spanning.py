"""Every dependency tree over a few words, arcs that cross included, as a tuple of heads (−1 for the root word)."""

from collections.abc import Iterator
from itertools import product

ROOT = -1


def all_trees(n_words: int) -> Iterator[tuple[int, ...]]:
    """Trees with one root word: heads from which every word walks up to the root."""
    for heads in product(range(-1, n_words), repeat=n_words):
        if heads.count(ROOT) == 1 and all(_ends(heads, word) for word in range(n_words)):
            yield heads


def _ends(heads: tuple[int, ...], word: int) -> bool:
    for _ in heads:
        if word == ROOT:
            return True
        word = heads[word]
    return word == ROOT
