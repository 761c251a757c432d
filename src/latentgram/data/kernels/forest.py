"""Passes over the nodes of a forest in preorder: parents, heads, and where binarisation puts its nodes.

Binarisation: a node X over c_1 … c_k (k > 2) with head child c_h is built outward from the head: first the
children on its right are taken, one by one, then those on its left:

    X(c_1, @X(c_2, … @X(@X(c_h, c_{h+1}), … c_k)))

Left binarisation is h = 1, right binarisation h = k. In preorder the new nodes stand right before c_h (k - h of
them, or k - 2 when h = 1, since X itself is the outermost) and one each before c_2 … c_{h-1}.

And numbers for the distinct values of groups, in the order in which they come: one pass with a hash table.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Ints
from latentgram.compiling import njit

Number = TypeVar("Number", bound=np.generic)

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Fibonacci hashing: odd, and close to 2⁶⁴ over the golden ratio."""


@njit()
def parents(size):
    """The parent of each node, -1 at the roots; O(nodes).

    In preorder the parent of v is the nearest earlier node whose slice [u, u + size[u]) holds v: if v - 1 is a
    leaf that ends some slices, climb from it until one is still open.
    """
    parent = np.empty(len(size), np.int32)
    up = np.int32(-1)
    for v in range(len(size)):
        while up >= 0 and up + size[up] <= v:
            up = parent[up]
        parent[v] = up
        up = np.int32(v)
    return parent


@njit()
def depths(parent):
    """The number of ancestors of each node; parents stand before their children."""
    depth = np.zeros(len(parent), np.int32)
    for v in range(len(parent)):
        if parent[v] >= 0:
            depth[v] = depth[parent[v]] + 1
    return depth


@njit()
def binarise(size, arity, head, memory):
    """Returns for each node of the result its size and its source, and for the new ones what they remember.

    `source[p]` is the node that p was, or -1 - X where p is new under X. Row p of `siblings` holds the last
    `memory` children that the new node p has taken, the latest first, -1 where there are fewer.
    """
    nodes = len(size)
    widest = 2
    for v in range(nodes):
        widest = max(widest, arity[v])
    child = np.empty(widest, np.int64)
    inserted = np.zeros(nodes + 1, np.int64)
    for v in range(nodes):
        k = arity[v]
        if k > 2:
            c, h = v + 1, head[v]
            for i in range(k):
                if 0 < i < h:
                    inserted[c] = 1
                elif i == h:
                    inserted[c] = k - 2 if h == 0 else k - 1 - h
                c += size[c]
    # place[v] is where v goes; nodes put in before v stand right before it and are outside of v.
    place = np.empty(nodes + 1, np.int64)
    shift = 0
    for v in range(nodes + 1):
        shift += inserted[v]
        place[v] = v + shift
    total = nodes + shift
    new_size, source = np.empty(total, np.int32), np.empty(total, np.int64)
    siblings = np.full((total, memory), -1, np.int64)
    for v in range(nodes):
        end = v + size[v]
        new_size[place[v]] = place[end] - inserted[end] - place[v]
        source[place[v]] = v
        k = arity[v]
        if k <= 2:
            continue
        child[0] = v + 1
        for i in range(1, k):
            child[i] = child[i - 1] + size[child[i - 1]]
        h = head[v]
        for i in range(1, h):
            # The node over c_i … c_k has taken c_i last, then c_{i+1}, up to the head.
            p = place[child[i]] - 1
            new_size[p] = place[end] - inserted[end] - p
            source[p] = -1 - v
            for m in range(min(memory, h - i + 1)):
                siblings[p, m] = child[i + m]
        for m in range(inserted[child[h]]):
            # The m-th from inside is over c_h … c_j with j = h + 1 + m and has taken c_j last.
            j = h + 1 + m
            last = child[j] + size[child[j]]
            p = place[child[h]] - 1 - m
            new_size[p] = place[last] - inserted[last] - p
            source[p] = -1 - v
            for n in range(min(memory, j - h + 1)):
                siblings[p, n] = child[j - n]
    return new_size, source, siblings


@njit()
def head_children(size, arity, above, below, first_pass, from_right, wanted, skipped, joins):
    """The place of the head among the children of each node; 0 where there are none.

    Passes `first_pass[a]` to `first_pass[a + 1]` belong to parents labelled a = `above[v]`. A pass goes through
    the children c from its side and takes the first whose label `below[c]` it wants. Without one, the last pass
    names the side from which the first child that is not skipped is taken, then the first of all. A head behind
    a child that joins gives way to the child before that one.
    """
    head = np.zeros(len(size), np.int32)
    widest = 1
    for v in range(len(size)):
        widest = max(widest, arity[v])
    child = np.empty(widest, np.int64)
    for v in range(len(size)):
        k = arity[v]
        if k < 2:
            continue
        child[0] = v + 1
        for i in range(1, k):
            child[i] = child[i - 1] + size[child[i - 1]]
        begin, end = first_pass[above[v]], first_pass[above[v] + 1]
        chosen = -1
        for p in range(begin, end):
            for i in range(k):
                place = k - 1 - i if from_right[p] else i
                if wanted[p, below[child[place]]]:
                    chosen = place
                    break
            if chosen >= 0:
                break
        if chosen < 0:
            right = from_right[end - 1]
            chosen = k - 1 if right else 0
            for i in range(k):
                place = k - 1 - i if right else i
                if not skipped[below[child[place]]]:
                    chosen = place
                    break
        if chosen > 1 and joins[below[child[chosen - 1]]]:
            for i in range(chosen - 2, -1, -1):
                if not skipped[below[child[i]]]:
                    chosen = i
                    break
        head[v] = chosen
    return head


@njit()
def head_words(size, arity, head, begin):
    """The head word of each node, counted from 0 in its sentence: that of its head child, from the words up."""
    word = np.empty(len(size), np.int32)
    for v in range(len(size) - 1, -1, -1):
        if arity[v] == 0:
            word[v] = begin[v]
            continue
        c = v + 1
        for _ in range(head[v]):
            c += size[c]
        word[v] = word[c]
    return word


@njit()
def number_values(group, value, groups):
    """The number of each value among those of its group, from 0, and how many values each group has.

    `group` is in [0, groups); values are any non-negative numbers.
    """
    size = 16
    while size < 2 * group.size:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int64)  # the first place of the pair that is here
    number = np.empty(group.size, np.int32)
    width = np.zeros(groups, np.int64)
    for i in range(group.size):
        key = np.uint64(value[i]) * _MULTIPLIER + np.uint64(group[i])
        key = (key ^ (key >> np.uint64(29))) * _MULTIPLIER
        slot = (key ^ (key >> np.uint64(32))) & mask
        while table[slot] >= 0 and (group[table[slot]] != group[i] or value[table[slot]] != value[i]):
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = i
            number[i] = width[group[i]]
            width[group[i]] += 1
        else:
            number[i] = number[table[slot]]
    return number, width


def numbered(values: NDArray[Number]) -> tuple[NDArray[Number], Ints]:
    """The distinct values, sorted, and the number of each value among them.

    As `np.unique` with its inverse, but only what is distinct is sorted, so that the time grows with the values.

    >>> numbered(np.array([5, 2, 5]))
    (array([2, 5]), array([1, 0, 1]))
    """
    number, many = number_values(np.zeros(values.size, np.int64), values, 1)
    distinct = np.empty(many[0], values.dtype)
    distinct[number] = values
    order = np.argsort(distinct)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order], place[number]
