"""Structures as hypergraphs: how an item is made of smaller ones (Klein & Manning 2001).

A tree or a path is derived from a goal: an item is a leaf, or one of its edges makes it of one or two other items.
In a semiring the value of an item is the sum over its edges of what each is worth,

    value(item) = ⊕_{edges} weight ⊗ value(left) ⊗ value(right),

and a derivation is a choice of an edge for every item on the way down. The search for the k best derivations
(kbest.py) and the draws (sampling.py) know of a structure

    structure   a named tuple, whose type says by `by_type` (compiling.py) what `list_edges` means
    values      [items] the value of each item, by the structure's own recurrence; the goal stands behind the last
    leaves      the items below this number are leaves.
"""

from __future__ import annotations

from numba.extending import register_jitable

from latentgram.compiling import depends_on_type
from latentgram.numeric.semiring import times

NOTHING = -1
"""Stands where an edge has no further item."""


@depends_on_type
def list_edges(structure, item, edges):
    """Append the edges (left item, right item, weight) of an item that is not a leaf to a list.

    Of edges that are worth the same the one listed first is preferred.
    """


@register_jitable
def worth(semiring, values, edge):
    """weight ⊗ value(left) ⊗ value(right)."""
    left, right, total = edge
    if left != NOTHING:
        total = times(semiring, total, values[left])
    if right != NOTHING:
        total = times(semiring, total, values[right])
    return total
