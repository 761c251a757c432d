"""Every projective dependency tree over a few words, as a tuple of heads (−1 for the root word)."""

from collections.abc import Iterator
from functools import cache
from itertools import product

ROOT = -1


@cache
def spans(first: int, last: int) -> tuple[tuple[int, dict], ...]:
    """(root word, {word: head}) of every projective tree over the words first … last."""
    found = []
    for root in range(first, last + 1):
        for left in forests(first, root - 1, root):
            for right in forests(root + 1, last, root):
                found.append((root, {**left, **right}))
    return tuple(found)


@cache
def forests(first: int, last: int, head: int) -> tuple[dict, ...]:
    """Every row of projective trees that covers first … last, all hanging on one head."""
    if first > last:
        return ({},)
    found = []
    for end in range(first, last + 1):
        for (root, arcs), rest in product(spans(first, end), forests(end + 1, last, head)):
            found.append({root: head, **arcs, **rest})
    return tuple(found)


def projective_trees(n_words: int) -> Iterator[tuple[int, ...]]:
    for root, arcs in spans(0, n_words - 1):
        heads = {root: ROOT, **arcs}
        yield tuple(heads[word] for word in range(n_words))


def modifiers(heads: tuple[int, ...], head: int) -> tuple[list[int], list[int]]:
    """The left and the right modifiers of a word, nearest first."""
    found = [word for word, above in enumerate(heads) if above == head]
    return [word for word in reversed(found) if word < head], [word for word in found if word > head]
