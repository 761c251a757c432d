"""Second-order chains over tags with a few candidates per token: best path, posteriors, gradient.

Token i of a sentence has the candidates `tag[start[i] : start[i + 1]]` with scores e_i(k). A sequence t of tags,
the boundary B in front twice and behind once, scores

    s(t) = Σ_i e_i(t_i) + pair[t_{i−1}, t_i] + triple[g(t_{i−2}), g(t_{i−1}), g(t_i)],

where g is the group of a tag. The nodes of column i are pairs (tag of i − 1, tag of i). Sums over sequences are
sums of products of exp(pair), exp(triple) and exp(e_i(k) − largest e_i), each column divided by its largest node,
so that no exponential stands in a loop over nodes. O(Σ K_{i−2} K_{i−1} K_i) for K candidates per token. `triple`
is a table of any size: keys beyond it wrap around.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Floats32, Ints
from latentgram.compiling import njit

NEGLIGIBLE = 1e-6
"""Expected counts below this are not worth a step."""


class Steps(NamedTuple):
    """What it is worth for tags to follow each other, or the exponentials of that; T tags and the boundary T."""

    pair: Floats32
    """[T + 1, T + 1]"""
    triple: Floats32
    group: Ints
    """[T + 1] the group of every tag; that of the boundary is the last."""


@njit()
def triple_index(a, b, c, steps):
    """Where the weight of three tags stands."""
    group = steps.group
    groups = group[-1] + 1
    index = (group[a] * groups + group[b]) * groups + group[c]
    size = len(steps.triple)
    return index if index < size else index % size


@njit()
def column_starts(start):
    """Where the nodes of each column begin: column i has K_{i−1} · K_i of them."""
    length = len(start) - 1
    columns = np.empty(length + 1, np.int64)
    columns[0] = 0
    before = 1
    for i in range(length):
        here = start[i + 1] - start[i]
        columns[i + 1] = columns[i] + before * here
        before = here
    return columns


@njit()
def tag_at(i, k, start, tag, steps):
    """The tag of candidate k of token i; before the sentence it is the boundary."""
    return np.int64(len(steps.group) - 1) if i < 0 else np.int64(tag[start[i] + k])


@njit()
def width(i, start):
    """How many candidates token i has; before the sentence one."""
    return 1 if i < 0 else start[i + 1] - start[i]


@njit()
def best_sums(start, tag, score, steps, columns):
    """The score of the best sequence to each node, and the candidate before its two; the first among equals."""
    best = np.full(columns[-1], -np.inf)
    back = np.zeros(columns[-1], np.int64)
    for i in range(len(start) - 1):
        here, before, before2 = width(i, start), width(i - 1, start), width(i - 2, start)
        at = columns[i]
        for j in range(before):
            b = tag_at(i - 1, j, start, tag, steps)
            for k in range(here):
                c = np.int64(tag[start[i] + k])
                top, link = -np.inf, 0
                for h in range(before2):
                    a = tag_at(i - 2, h, start, tag, steps)
                    value = steps.triple[triple_index(a, b, c, steps)]
                    if i > 0:
                        value += best[columns[i - 1] + h * before + j]
                    if value > top:
                        top, link = value, h
                best[at + j * here + k] = top + steps.pair[b, c] + score[start[i] + k]
                back[at + j * here + k] = link
    return best, back


@njit()
def best_path(start, tag, score, steps, out):
    """The best sequence, as numbers of candidates, into `out`; among equals the first candidate wins."""
    length, boundary = len(start) - 1, len(steps.group) - 1
    columns = column_starts(start)
    best, back = best_sums(start, tag, score, steps, columns)
    top, j, k = -np.inf, 0, 0
    here, before = width(length - 1, start), width(length - 2, start)
    for p in range(before):
        b = tag_at(length - 2, p, start, tag, steps)
        for q in range(here):
            c = np.int64(tag[start[length - 1] + q])
            value = best[columns[length - 1] + p * here + q] + steps.pair[c, boundary]
            value += steps.triple[triple_index(b, c, boundary, steps)]
            if value > top:
                top, j, k = value, p, q
    for i in range(length - 1, -1, -1):
        out[i] = k
        link = back[columns[i] + j * width(i, start) + k]
        j, k = link, j
    return top


@njit()
def factors(start, score):
    """exp(e_i(k) − largest e_i) of all candidates, and Σ_i largest e_i."""
    factor = np.empty(len(score))
    shift = 0.0
    for i in range(len(start) - 1):
        largest = -np.inf
        for k in range(start[i], start[i + 1]):
            largest = max(largest, score[k])
        shift += largest
        for k in range(start[i], start[i + 1]):
            factor[k] = np.exp(score[k] - largest)
    return factor, shift


@njit()
def forward(start, tag, factor, steps, columns):
    """Forward sums of all nodes, each column divided by its largest one, and these; `steps` as exponentials."""
    length = len(start) - 1
    alpha = np.empty(columns[length])
    scale = np.empty(length)
    for i in range(length):
        here, before, before2 = width(i, start), width(i - 1, start), width(i - 2, start)
        at = columns[i]
        largest = 0.0
        for j in range(before):
            b = tag_at(i - 1, j, start, tag, steps)
            for k in range(here):
                c = np.int64(tag[start[i] + k])
                total = 0.0
                for h in range(before2):
                    a = tag_at(i - 2, h, start, tag, steps)
                    inside = 1.0 if i == 0 else alpha[columns[i - 1] + h * before + j]
                    total += inside * steps.triple[triple_index(a, b, c, steps)]
                total *= steps.pair[b, c] * factor[start[i] + k]
                alpha[at + j * here + k] = total
                largest = max(largest, total)
        scale[i] = largest
        for node in range(at, columns[i + 1]):
            alpha[node] /= largest
    return alpha, scale


@njit()
def expectations(start, tag, score, steps, out, pair_out, triple_out, touched):
    """p(t_i | x) into `out`, parallel to `tag`; return log Z and how many triples were touched.

    `steps` are exponentials. Unless `touched` is empty, expected pairs and triples are added to `pair_out` and
    `triple_out`, and the numbers of the triples that were 0 before are noted in `touched`.
    """
    length, boundary = len(start) - 1, len(steps.group) - 1
    columns = column_starts(start)
    factor, shift = factors(start, score)
    alpha, scale = forward(start, tag, factor, steps, columns)
    here, before = width(length - 1, start), width(length - 2, start)
    beta = np.zeros(columns[length])
    total = 0.0
    for j in range(before):
        b = tag_at(length - 2, j, start, tag, steps)
        for k in range(here):
            c = np.int64(tag[start[length - 1] + k])
            node = columns[length - 1] + j * here + k
            beta[node] = steps.pair[c, boundary] * steps.triple[triple_index(b, c, boundary, steps)]
            total += alpha[node] * beta[node]
    counted = len(touched) > 0
    noted = 0
    for j in range(before):
        b = tag_at(length - 2, j, start, tag, steps)
        for k in range(here):
            c = np.int64(tag[start[length - 1] + k])
            node = columns[length - 1] + j * here + k
            beta[node] /= total
            if counted:
                pair_out[c, boundary] += alpha[node] * beta[node]
                index = triple_index(b, c, boundary, steps)
                noted = note(triple_out, touched, noted, index, alpha[node] * beta[node])
    for place in range(len(tag)):
        out[place] = 0.0
    log_total = np.log(total) + shift
    for i in range(length - 1, -1, -1):
        here, before, before2 = width(i, start), width(i - 1, start), width(i - 2, start)
        at = columns[i]
        log_total += np.log(scale[i])
        for j in range(before):
            b = tag_at(i - 1, j, start, tag, steps)
            for k in range(here):
                c = np.int64(tag[start[i] + k])
                node = at + j * here + k
                share = alpha[node] * beta[node]
                out[start[i] + k] += share
                if counted:
                    pair_out[b, c] += share
                if beta[node] == 0.0:
                    continue
                step = beta[node] * steps.pair[b, c] * factor[start[i] + k] / scale[i]
                for h in range(before2):
                    a = tag_at(i - 2, h, start, tag, steps)
                    index = triple_index(a, b, c, steps)
                    value = step * steps.triple[index]
                    if i > 0:
                        above = columns[i - 1] + h * before + j
                        beta[above] += value
                        value *= alpha[above]
                    if counted and value > NEGLIGIBLE:
                        noted = note(triple_out, touched, noted, index, value)
    return log_total, noted


@njit()
def note(amounts, touched, noted, index, amount):
    """Add to an amount and remember which one, if it was 0."""
    if amounts[index] == 0.0:
        touched[noted] = index
        noted += 1
    amounts[index] += amount
    return noted
