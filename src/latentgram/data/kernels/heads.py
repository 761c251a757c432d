"""Head children and head words, one pass over the nodes each."""

import numpy as np
from numba import njit


@njit(cache=True)
def head_children(size, arity, above, below, first_pass, from_right, wanted, skipped):
    """The place of the head among the children of each node; 0 where there are none.

    Passes `first_pass[a]` to `first_pass[a + 1]` belong to parents labelled a = `above[v]`. A pass goes through
    the children c from its side and takes the first whose label `below[c]` it wants. Without one, the last pass
    names the side from which the first child that is not skipped is taken, then the first of all.
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
        head[v] = chosen
    return head


@njit(cache=True)
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
