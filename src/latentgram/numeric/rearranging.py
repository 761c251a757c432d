"""Trees with crossing arcs in the second order: the best projective tree, rearranged (McDonald & Pereira 2006).

With scores of siblings the best of all trees is hard to find. So the best projective tree is found exactly, and
then each word in turn takes the listed head with the best score of the whole tree, if that is better than the one
it has, until no change of one head makes the tree better. The root word stays. The score of a tree is O(N + arcs),
so a round over the words is O(arcs · (N + arcs)); there are two or three.
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit
from latentgram.numeric.projective import ROOT, best_heads, score_heads
from latentgram.numeric.spanning import best_spanning

_LEAST_GAIN = 1e-9


@njit()
def best_rearranged(scores):
    """The heads of a tree of listed arcs that no change of one head makes better, and its score.

    Where no listed arcs make a projective tree, the best tree by arcs alone is where it begins.
    """
    arc, root, sibling_begin = scores.arc, scores.root, scores.sibling_begin
    n_words = len(root)
    heads, best = best_heads(scores)
    if best == -np.inf:
        listed = np.full((n_words, n_words), -np.inf)
        for head in range(n_words):
            for word in range(n_words):
                if sibling_begin[head, word] >= 0:
                    listed[head, word] = arc[head, word]
        heads, best = best_spanning(listed, root)
        if best == -np.inf:
            return heads, best
        best = score_heads(scores, heads)
    changed = True
    while changed:
        changed = False
        for word in range(n_words):
            before = heads[word]
            if before == ROOT:
                continue
            chosen = before
            for head in range(n_words):
                if sibling_begin[head, word] < 0 or head == before or _is_below(heads, head, word):
                    continue
                heads[word] = head
                score = score_heads(scores, heads)
                if score > best + _LEAST_GAIN:
                    best, chosen, changed = score, head, True
                heads[word] = before
            heads[word] = chosen
    return heads, best


@njit()
def _is_below(heads, word, top):
    """Whether a word is `top` or hangs on it."""
    while word != ROOT:
        if word == top:
            return True
        word = heads[word]
    return False
