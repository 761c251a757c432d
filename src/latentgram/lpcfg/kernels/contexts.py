"""What the words beside a span say for a symbol over it: the contexts of a first pass.

A bigram model of tags is run over the sentence, forwards and backwards,

    f_i(t) ∝ q(t→x_i) Σ_{t′} f_{i-1}(t′) p(t | t′),   b_i(t) ∝ Σ_{t′} p(t′ | t) q(t′→x_{i+1}) b_{i+1}(t′),

with the scales c_i = p(x_i | x_0 … x_{i-1}), and its tags next to a gap are mapped to symbols
(parse/projection.py). The tag of the sentence boundary is the last. O(n · leaves² + n · leaves · I) for
`leaves` tags per word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.compiling import njit
from latentgram.lpcfg.kernels.vectors import add_scaled


class Contexts(NamedTuple):
    """[n+1, I] what the words before and after each gap say for a symbol that begins, or ends, there."""

    begins: NDArray[np.floating]
    ends: NDArray[np.floating]


@njit()
def filter_tags(leaf_begin, leaf_tag, leaf_weight, bigram):
    """Scaled forward and backward numbers of the tags a bigram model gives to words, and the scales c.

    `leaf_tag` and `leaf_weight` list, word after word, the tags t that a word x may have, and q(t→x). With f the
    forward and b the backward numbers, f(t) b(t) is the posterior of a tag.
    """
    length, edge = leaf_begin.shape[0] - 1, bigram.shape[0] - 1
    forward, backward = np.zeros(leaf_tag.shape[0]), np.zeros(leaf_tag.shape[0])
    scale = np.empty(length)
    for word in range(length):
        total = 0.0
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            if word == 0:
                mass = bigram[edge, leaf_tag[leaf]]
            else:
                mass = 0.0
                for previous in range(leaf_begin[word - 1], leaf_begin[word]):
                    mass += forward[previous] * bigram[leaf_tag[previous], leaf_tag[leaf]]
            forward[leaf] = mass * leaf_weight[leaf]
            total += forward[leaf]
        scale[word] = total
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            forward[leaf] /= total
    total = 0.0
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] = bigram[leaf_tag[leaf], edge]
        total += forward[leaf] * backward[leaf]
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] /= total
    for word in range(length - 2, -1, -1):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            for following in range(leaf_begin[word + 1], leaf_begin[word + 2]):
                backward[leaf] += (
                    bigram[leaf_tag[leaf], leaf_tag[following]]
                    * leaf_weight[following]
                    / scale[word + 1]
                    * backward[following]
                )
    return forward, backward, scale


@njit()
def context_scores(leaf_begin, leaf_tag, leaf_weight, forward, backward, scale, after, before):
    """[n+1, I] what the words before and after each gap say for a symbol that begins, or ends, there."""
    length, edge, kind = leaf_begin.shape[0] - 1, after.shape[0] - 1, after.dtype
    begins, ends = np.zeros((length + 1, after.shape[1]), kind), np.zeros((length + 1, after.shape[1]), kind)
    add_scaled(begins[0], kind.type(1), after[edge])
    add_scaled(ends[length], kind.type(1), before[edge])
    for word in range(length):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            here = leaf_weight[leaf] / scale[word] * backward[leaf]
            add_scaled(begins[word + 1], kind.type(forward[leaf]), after[leaf_tag[leaf]])
            add_scaled(ends[word], kind.type(here), before[leaf_tag[leaf]])
    return Contexts(begins, ends)
