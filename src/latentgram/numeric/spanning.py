"""All dependency trees, arcs that cross included, scored by arcs: the best, the k best, posteriors and draws.

Words are 0 … N−1, arc[h, m] is the score of h → m and root[r] that of r as the only root word; −∞ is not allowed.

**The best tree** is a maximum spanning tree (Chu & Liu 1965; Edmonds 1967): every word takes its best head; a
cycle is made one word, whose arcs from outside cost what they lose inside, until there is none. A constant taken
from the scores of all roots, greater than any two trees can differ by, leaves one root. O(N³). **The k best** are
found by dividing what is left beside a tree by its first word with another head (Lawler 1972): k N searches.

**Posteriors** come from the matrix-tree theorem (Tutte 1948; Koo et al. 2007) without a determinant, whose terms
would cancel. The sums T(r) over trees with root r are the stationary distribution of a chain that goes from words
to their heads, and that is found by eliminating one word after the other (Grassmann, Taksar & Heyman 1985):
nothing is subtracted, so logarithms of weights serve. With a[m,h] = exp arc[h,m] and k = N−1, …, 1

    s_k = Σ_{j<k} a[k,j],   a[i,j] += a[i,k] a[k,j] / s_k  (i, j < k),
    T(0) = Π_k s_k,   t_0 = 1,  t_k = Σ_{i<k} t_i a[i,k] / s_k,   Z = T(0) Σ_r exp(root[r]) t_r.

The derivatives of log Z go back the same way: k = 1, …, N−1 is put back, its arcs getting what the arcs i → k → j
that stood for them have. Posteriors are right to about N times the precision of numbers. O(N³) exponentials.

**Draws** choose the head of one word after the other, each by its posterior given those before: O(N⁴) per tree.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from latentgram.compiling import njit
from latentgram.numeric.projective import ROOT

_FORBIDDEN = 1e6
"""How far below all others the logarithm of an arc lies that is not allowed."""


@njit()
def best_spanning(arc, root):
    """The heads of the best tree (−1 for the root word) and its score; all −1 and −∞ if there is no tree.

    Ties go to the lowest head, the root before all words.
    """
    n_words = len(root)
    size = 2 * n_words + 1
    weight = np.full((size, size), -np.inf)  # (head, modifier); node 0 is the root, cycles follow the words
    largest = 0.0
    for m in range(n_words):
        weight[0, m + 1] = root[m]
        if root[m] > -np.inf:
            largest = max(largest, abs(root[m]))
        for h in range(n_words):
            if h != m:
                weight[h + 1, m + 1] = arc[h, m]
                if arc[h, m] > -np.inf:
                    largest = max(largest, abs(arc[h, m]))
    for m in range(1, n_words + 1):
        weight[0, m] -= 1.0 + 2.0 * n_words * largest
    nodes = n_words + 1
    alive = np.zeros(size, np.bool_)
    for node in range(nodes):
        alive[node] = True
    head, within = np.zeros(size, np.int64), np.full(size, -1, np.int64)
    enters, leaves = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    while True:
        for m in range(1, nodes):
            if alive[m]:
                best = -1
                for h in range(nodes):
                    if alive[h] and h != m and (best < 0 or weight[h, m] > weight[best, m]):
                        best = h
                if weight[best, m] == -np.inf:
                    return np.full(n_words, ROOT, np.int64), -np.inf
                head[m] = best
        at = _cycle(head, alive, nodes)
        if at < 0:
            break
        new, node = nodes, at
        nodes += 1
        while within[node] < 0:
            within[node], alive[node] = new, False
            node = head[node]
        for other in range(new):
            if not alive[other]:
                continue
            into, out = -1, -1
            for node in range(1, new):
                if within[node] != new:
                    continue
                gain = weight[other, node] - weight[head[node], node]
                if into < 0 or gain > weight[other, new]:
                    weight[other, new], into = gain, node
                if out < 0 or weight[node, other] > weight[new, other]:
                    weight[new, other], out = weight[node, other], node
            enters[other, new], leaves[new, other] = into, out
        alive[new] = True
    # From the last cycle to the first: the arc into a cycle takes the place of one inside it.
    for cycle in range(nodes - 1, n_words, -1):
        node = enters[head[cycle], cycle]
        for m in range(1, cycle):
            if alive[m] and head[m] == cycle:
                head[m] = leaves[cycle, m]
        source = head[cycle]
        alive[cycle] = False
        for m in range(1, cycle):
            if within[m] == cycle:
                alive[m] = True
        head[node] = source
    heads, total = np.empty(n_words, np.int64), 0.0
    for m in range(n_words):
        heads[m] = head[m + 1] - 1
        total += root[m] if heads[m] == ROOT else arc[heads[m], m]
    roots = 0
    for m in range(n_words):
        roots += heads[m] == ROOT
    if roots != 1:
        return np.full(n_words, ROOT, np.int64), -np.inf
    return heads, total


@register_jitable
def _cycle(head, alive, nodes):
    """A node of a cycle among those that are alive, or −1."""
    mark = np.zeros(nodes, np.int64)
    for begin in range(1, nodes):
        if not alive[begin]:
            continue
        node = begin
        while node != 0 and mark[node] == 0:
            mark[node] = begin
            node = head[node]
        if node != 0 and mark[node] == begin:
            return node
    return -1


@njit()
def k_best_spanning(arc, root, k):
    """The heads [at most k, N] of the best trees (−1 for the root word), best first, and their scores."""
    n_words = len(root)
    heads, score = best_spanning(arc, root)
    # A part of the trees: those with the first `fixed` heads of its best tree, and none of the next word's barred.
    trees, scores = [heads], [score]
    fixed, barred = [0], [np.zeros(n_words + 1, np.bool_)]
    order, values = [-1 for _ in range(0)], [0.0 for _ in range(0)]
    while len(order) < k:
        best = -1
        for part in range(len(trees)):
            if scores[part] > -np.inf and (best < 0 or scores[part] > scores[best]):
                best = part
        if best < 0:
            break
        order.append(best)
        values.append(scores[best])
        scores[best] = -np.inf
        if len(order) == k:
            break
        heads = trees[best]
        arcs, roots = arc.copy(), root.copy()
        for word in range(n_words):
            if word >= fixed[best]:
                bars = barred[best].copy() if word == fixed[best] else np.zeros(n_words + 1, np.bool_)
                bars[heads[word] + 1] = True
                less_arcs, less_roots = arcs.copy(), roots.copy()
                for head in range(-1, n_words):
                    if bars[head + 1]:
                        _bar(less_arcs, less_roots, head, word)
                rival, value = best_spanning(less_arcs, less_roots)
                trees.append(rival)
                scores.append(value)
                fixed.append(word)
                barred.append(bars)
            for head in range(-1, n_words):
                if head != heads[word]:
                    _bar(arcs, roots, head, word)
    ranked = np.empty((len(order), n_words), np.int64)
    for i in range(len(order)):
        for word in range(n_words):
            ranked[i, word] = trees[order[i]][word]
    return ranked, np.array(values)


@register_jitable
def _bar(arc, root, head, word):
    """Forbid an arc (the head −1: the root)."""
    if head == ROOT:
        root[word] = -np.inf
    else:
        arc[head, word] = -np.inf


@njit()
def spanning_marginals(arc, root):
    """Posterior of every arc [N, N] (head, modifier) and root word [N] under exp(score), and log Z."""
    n_words = len(root)
    # Each word has one head: the greatest score of its heads is taken out of all trees.
    greatest = np.empty(n_words)
    log_total = 0.0
    for m in range(n_words):
        greatest[m] = root[m]
        for h in range(n_words):
            if h != m:
                greatest[m] = max(greatest[m], arc[h, m])
        log_total += greatest[m]
    marginal, root_marginal = np.zeros((n_words, n_words)), np.zeros(n_words)
    if log_total == -np.inf:
        return marginal, root_marginal, -np.inf
    entering = np.full((n_words, n_words), -np.inf)  # (modifier, head), as in the module's text
    for m in range(n_words):
        for h in range(n_words):
            if h != m:
                entering[m, h] = max(arc[h, m] - greatest[m], -_FORBIDDEN)
    weight, pivot = entering.copy(), np.zeros(n_words)
    for k in range(n_words - 1, 0, -1):
        pivot[k] = _log_sum(weight[k, :k])
        for i in range(k):
            for j in range(k):
                if i != j:
                    weight[i, j] = _log_plus(weight[i, j], weight[i, k] + weight[k, j] - pivot[k])
    state, share = np.zeros(n_words), np.zeros(n_words)
    terms = np.empty(n_words)
    for k in range(1, n_words):
        for i in range(k):
            terms[i] = state[i] + weight[i, k]
        state[k] = _log_sum(terms[:k]) - pivot[k]
    for r in range(n_words):
        terms[r] = max(root[r] - greatest[r], -_FORBIDDEN) + state[r]
    total = _log_sum(terms)
    for k in range(1, n_words):
        log_total += pivot[k]
    log_total += total
    if total + np.sum(pivot) < -0.5 * _FORBIDDEN:
        return marginal, root_marginal, -np.inf
    for r in range(n_words):
        root_marginal[r] = share[r] = np.exp(terms[r] - total)
    # log ∂ log Z / ∂ a[i,j], the same before and after something is added to a[i,j]
    gradient = np.full((n_words, n_words), -np.inf)
    by_state = np.zeros((n_words, n_words))
    for k in range(n_words - 1, 0, -1):
        for i in range(k):
            by_state[i, k] = share[k] * np.exp(state[i] + weight[i, k] - pivot[k] - state[k])
            share[i] += by_state[i, k]
    passed = np.zeros(n_words)
    for k in range(1, n_words):
        rest = 1.0 - share[k]
        for j in range(k):
            passed[j] = 0.0
        for i in range(k):
            through = 0.0
            for j in range(k):
                if i != j and gradient[i, j] > -np.inf:
                    used = np.exp(gradient[i, j] + weight[i, k] + weight[k, j] - pivot[k])
                    through += used
                    passed[j] += used
            rest -= through
            gradient[i, k] = _log(by_state[i, k] + through) - weight[i, k]
        for j in range(k):
            gradient[k, j] = _log(passed[j] + rest * np.exp(weight[k, j] - pivot[k])) - weight[k, j]
    for m in range(n_words):
        for h in range(n_words):
            if h != m and arc[h, m] > -np.inf:
                marginal[h, m] = np.exp(gradient[m, h] + entering[m, h])
    return marginal, root_marginal, log_total


@register_jitable
def _log(x):
    return np.log(x) if x > 0.0 else -np.inf


@register_jitable
def _log_plus(x, y):
    high, low = max(x, y), min(x, y)
    return high + np.log1p(np.exp(low - high))


@register_jitable
def _log_sum(terms):
    high = terms[0]
    for i in range(1, len(terms)):
        high = max(high, terms[i])
    total = 0.0
    for i in range(len(terms)):
        total += np.exp(terms[i] - high)
    return high + np.log(total)


@njit()
def draw_spanning(arc, root, uniforms):
    """The heads [trees, N] of trees drawn from the posterior, each by a row of at least N numbers in [0, 1)."""
    n_words = len(root)
    heads = np.empty((len(uniforms), n_words), np.int64)
    for tree in range(len(uniforms)):
        arcs, roots = arc.copy(), root.copy()
        for word in range(n_words):
            marginal, root_marginal, _ = spanning_marginals(arcs, roots)
            left, chosen = uniforms[tree, word] - root_marginal[word], ROOT
            for head in range(n_words):
                if left >= 0.0 and marginal[head, word] > 0.0:
                    left, chosen = left - marginal[head, word], head
            heads[tree, word] = chosen
            for head in range(-1, n_words):
                if head != chosen:
                    _bar(arcs, roots, head, word)
    return heads
