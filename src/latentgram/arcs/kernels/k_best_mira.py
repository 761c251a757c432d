"""One pass of k-best MIRA over a treebank (McDonald 2006, §3.2; Crammer et al. 2006), compiled whole.

The right tree y must beat each of the k best trees y' under the weights of the moment by the number of its wrong
heads; the weights take the smallest step that makes them so, each rival counting at most C:

    min ‖w' − w‖²   so that   score(y) − score(y') ≥ loss(y, y')   for y' in best_k(x; w).

With Δ_i = features(y) − features(y_i) the step is Σ α_i Δ_i, found by coordinate ascent (Hildreth's method),

    α_i ← min(C, max(0, α_i + (loss_i − w·Δ_i − Σ_j α_j Δ_j·Δ_i) / ‖Δ_i‖²)).

With k = 1 it is not quite the pass of mira.py, whose one rival is the best by score and loss together. A sentence
costs k trees and k² products of sparse vectors more than there.
"""

import numpy as np

from latentgram.arcs.kernels.features import sentence_at
from latentgram.arcs.kernels.mira import difference, first_order_scores, listed_scores, move, taken_out
from latentgram.compiling import njit
from latentgram.numeric.projective import first_order, k_best_heads, score_heads

ROUNDS = 100
"""Rounds over the rivals of a sentence, at most."""
PRECISION = 1e-9


@njit()
def k_best_pass(order, trees, best, limit, clock, weights, summed):
    """Learn from `EncodedTrees` in this order; the number of wrong heads in the best trees, and the clock."""
    second = len(trees.kept_start) > 0
    change = np.zeros(len(weights))
    wrong = 0
    for s in order:
        symbols, gold = sentence_at(trees, s)
        if second:
            start = trees.kept_start[trees.offsets[s] : trees.offsets[s + 1] + 1]
            scores = listed_scores(symbols, start, trees.kept_head, weights)
        else:
            arc, root = first_order_scores(symbols, weights)
            scores = first_order(arc, root)
        heads, values = k_best_heads(scores, best)
        right = score_heads(scores, gold[1:-1] - 1)
        clock += 1.0
        changes = [np.empty(0, np.int64) for _ in range(0)]
        steps = [np.empty(0) for _ in range(0)]
        lacking = np.empty(len(heads))
        for i in range(len(heads)):
            guess = np.zeros(len(gold), np.int64)
            missed = 0
            for word in range(len(heads[i])):
                guess[word + 1] = heads[i][word] + 1
                missed += int(gold[word + 1] != guess[word + 1])
            if i == 0:
                wrong += missed
            if missed == 0:
                continue
            lacking[len(changes)] = missed - (right - values[i])
            touched = difference(symbols, gold, guess, second, len(weights), change)
            changes.append(touched)
            steps.append(taken_out(change, touched)[0])
        if len(changes) == 0:
            continue
        factors = _factors(_products(changes, steps, change), lacking[: len(changes)], limit)
        for i in range(len(changes)):
            if factors[i] > 0.0:
                move(weights, summed, changes[i], steps[i], factors[i], clock)
    return wrong, clock


@njit()
def _products(changes, steps, dense):
    """Δ_i · Δ_j of all rivals; `dense` is zero before and after."""
    count = len(changes)
    products = np.zeros((count, count))
    for i in range(count):
        for t in range(len(changes[i])):
            dense[changes[i][t]] += steps[i][t]
        for j in range(count):
            for t in range(len(changes[j])):
                products[i, j] += steps[j][t] * dense[changes[j][t]]
        for t in range(len(changes[i])):
            dense[changes[i][t]] = 0.0
    return products


@njit()
def _factors(products, lacking, limit):
    """α, see the module."""
    factors = np.zeros(len(lacking))
    for _ in range(ROUNDS):
        largest = 0.0
        for i in range(len(lacking)):
            if products[i, i] <= 0.0:
                continue
            pull = lacking[i]
            for j in range(len(lacking)):
                pull -= factors[j] * products[j, i]
            moved = min(limit, max(0.0, factors[i] + pull / products[i, i]))
            largest = max(largest, abs(moved - factors[i]))
            factors[i] = moved
        if largest <= PRECISION * np.max(factors):
            break
    return factors
