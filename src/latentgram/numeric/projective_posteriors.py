"""Posteriors of arcs under exp(scale · score) over projective trees: in plain numbers where they suffice.

Every word has one head, so what the best of its heads has can be taken out of all trees, siblings included:

    g_m = max(root[m], max_h arc[h,m] + max_s sibling[h,s,m]).

Then no weight is above 1 and the recurrence of projective.py runs over sums of products, many times faster than
over logarithms. Parts below the least number are lost; with the total as great as `_LEAST`, in a sentence
of at most `_LONGEST` words, whose parts have at most 7ᴺ structures around them, that is nothing. Otherwise it
runs over `Wide` numbers, which takes some times as long.
"""

from __future__ import annotations

import math

import numpy as np

from latentgram.compiling import jitable, njit
from latentgram.numeric.projective import TreeScores, marginals
from latentgram.numeric.semiring import Real, Wide, wide_exp, wide_log

_LEAST = 1e-150
_LONGEST = 150


@njit()
def posteriors(scores, scale):
    """Posterior of every arc [N, N] (head, modifier) and root word [N], and log Z, all of exp(scale · score)."""
    arc, root, offset, modifier, sibling_begin, sibling = scores
    n_words, all_arcs = len(root), len(offset) == 0
    weight, of_sibling = np.zeros((n_words, n_words)), np.empty(len(sibling))
    greatest = np.empty(n_words)
    for word in range(n_words):
        greatest[word] = scale * root[word]
    if all_arcs:
        for head in range(n_words):
            for word in range(n_words):
                weight[head, word] = scale * arc[head, word] if head != word else -math.inf
                greatest[word] = max(greatest[word], weight[head, word])
    else:
        for source in range(2 * n_words):
            head, begin = source % n_words, offset[source]
            for number in range(begin, offset[source + 1]):
                word = modifier[number]
                first = sibling_begin[head, word]
                last = first + number - begin
                best = sibling[first]
                for place in range(first + 1, last + 1):
                    best = max(best, sibling[place])
                for place in range(first, last + 1):
                    of_sibling[place] = math.exp(scale * (sibling[place] - best))
                weight[head, word] = scale * (arc[head, word] + best)
                greatest[word] = max(greatest[word], weight[head, word])
    taken_out = 0.0
    for word in range(n_words):
        taken_out += greatest[word]
    if taken_out > -math.inf and n_words <= _LONGEST:
        of_root = np.empty(n_words)
        for head in range(n_words):
            of_root[head] = math.exp(scale * root[head] - greatest[head])
            for word in range(n_words):
                listed = head != word if all_arcs else sibling_begin[head, word] >= 0
                weight[head, word] = math.exp(weight[head, word] - greatest[word]) if listed else 0.0
        plain = TreeScores(weight, of_root, offset, modifier, sibling_begin, of_sibling)
        arcs, roots, total = marginals(Real(), plain)
        if _LEAST <= total < math.inf:
            return arcs, roots, math.log(total) + taken_out
    scaled = TreeScores(
        _wide(scale * arc), _wide(scale * root), offset, modifier, sibling_begin, _wide(scale * sibling)
    )
    arcs, roots, total = marginals(Wide(), scaled)
    return arcs, roots, wide_log(total)


@jitable()
def _wide(logarithms):
    """The exponentials as numbers of `Wide`."""
    numbers = np.empty(logarithms.shape, np.complex128)
    for place in np.ndindex(logarithms.shape):
        numbers[place] = wide_exp(logarithms[place])
    return numbers


@njit()
def expected_score(scores, arcs, roots):
    """Σ posterior · score over arcs [N, N] and root words [N]; what is impossible counts nothing."""
    total = 0.0
    for word in range(len(roots)):
        if roots[word] > 0.0:
            total += roots[word] * scores.root[word]
        for head in range(len(roots)):
            if arcs[head, word] > 0.0:
                total += arcs[head, word] * scores.arc[head, word]
    return total
