"""How far apart the ends of every possible arc are, and what stands between them, as one small number.

A feature joins the bucket of the distance with the numbers of verbs (0, 1, 2+), punctuation marks (0, 1, 2+) and
coordinations (0, 1+) between head and modifier, O(N²) for a sentence by running sums.
"""

import numpy as np

from latentgram.compiling import njit

COORDINATION, PUNCTUATION, VERB = 1, 2, 3
EDGES = (1, 2, 3, 5, 8, 14, 29)
N_FEATURES = (len(EDGES) + 1) * 3 * 3 * 2


@njit()
def arc_features(kinds, between):
    """[N, N] the feature of each pair of words; without `between` the distance alone."""
    n_words = len(kinds)
    features = np.zeros((n_words, n_words), np.int64)
    for i in range(n_words):
        verbs, marks, coordinations = 0, 0, 0
        bucket = 0
        for j in range(i + 1, n_words):
            while bucket < len(EDGES) and j - i > EDGES[bucket]:
                bucket += 1
            feature = bucket
            if between:
                feature = ((feature * 3 + min(verbs, 2)) * 3 + min(marks, 2)) * 2 + min(coordinations, 1)
            features[i, j] = feature
            features[j, i] = feature
            verbs += kinds[j] == VERB
            marks += kinds[j] == PUNCTUATION
            coordinations += kinds[j] == COORDINATION
    return features


@njit()
def count_arcs(offsets, heads, symbols, kinds, between, n_symbols):
    """[2, l, l, 2, F]: how many pairs (head, modifier, direction, feature) there are, and how many are arcs."""
    counts = np.zeros((2, n_symbols, n_symbols, 2, N_FEATURES), np.int32)
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        features = arc_features(kinds[begin:end], between)
        for i in range(end - begin):
            for j in range(end - begin):
                if i != j:
                    head, modifier = symbols[begin + i], symbols[begin + j]
                    direction = 1 if j > i else 0
                    counts[0, head, modifier, direction, features[i, j]] += 1
                    if heads[begin + j] == i + 1:
                        counts[1, head, modifier, direction, features[i, j]] += 1
    return counts


@njit()
def arc_weights(table, symbols, kinds, between):
    """[N, N, 2] the weight of each arc of a sentence from a table [l, l, 2, F]; the last axis repeats it."""
    n_words = len(symbols)
    features = arc_features(kinds, between)
    weights = np.ones((n_words, n_words, 2))
    for i in range(n_words):
        for j in range(n_words):
            if i != j:
                direction = 1 if j > i else 0
                weights[i, j, :] = table[symbols[i], symbols[j], direction, features[i, j]]
    return weights
