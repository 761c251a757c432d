"""One pass of online learning of a tagger's weights: log-linear, second order, averaged.

After each sentence x with tags t every weight moves along the gradient of log p(t | x),

    g = (how often its feature is in t) − E[how often | x],     w ← w + step · g / sqrt(1 + Σ g²),

the sum being over its past gradients (AdaGrad). The weights used in the end are the mean over all sentences: with
`drift` = Σ (change · number of the sentence), mean = w − drift / sentences. O(Σ K³) a sentence for the sums over
K candidates a token, and the weights of the features that fire.
"""

import numpy as np

from latentgram.compiling import njit
from latentgram.tagger.kernels.chain import emission_scores, expectations, note, triple_index


@njit()
def _move(weights, squares, drift, place, gradient, step, moment):
    squares[place] += gradient * gradient
    change = step * gradient / np.sqrt(1.0 + squares[place])
    weights[place] += change
    drift[place] += change * moment


@njit()
def learn_round(
    order, sentence_start, rows, row_start, row_tag, start, tag, gold, n_tags, step, moment,
    weights, squares, drift, pair, pair_squares, pair_drift, triple, triple_squares, triple_drift, factor,
):  # fmt: skip
    """Go through the sentences in an order; return Σ −log p(t | x). `factor` is kept equal to exp(triple)."""
    size = len(triple)
    score = np.empty(start[-1])
    posterior = np.zeros(start[-1])
    spare = np.empty(n_tags)
    missing = np.zeros(n_tags)
    pair_missing = np.zeros((n_tags + 1, n_tags + 1))
    triple_missing = np.zeros(size)
    touched = np.empty(2 * size + 1, np.int64)
    loss = 0.0
    for s in order:
        moment += 1.0
        begin, end = sentence_start[s], sentence_start[s + 1]
        emission_scores(rows, begin, end, row_start, row_tag, weights, start, tag, n_tags, score, spare)
        log_total, noted = expectations(
            begin, end, start, tag, score, pair, factor, n_tags, posterior, pair_missing, triple_missing, touched
        )
        loss += log_total
        for i in range(begin, end + 1):
            before2 = np.int64(gold[i - 2]) if i > begin + 1 else np.int64(n_tags)
            before = np.int64(gold[i - 1]) if i > begin else np.int64(n_tags)
            here = np.int64(gold[i]) if i < end else np.int64(n_tags)
            index = triple_index(before2, before, here, n_tags, size)
            loss -= pair[before, here] + triple[index]
            pair_missing[before, here] -= 1.0
            noted = note(triple_missing, touched, noted, index, -1.0)
            if i == end:
                break
            for place in range(start[i], start[i + 1]):
                missing[tag[place]] = -posterior[place]
                posterior[place] = 0.0
                if tag[place] == here:
                    loss -= score[place]
            missing[here] += 1.0
            for f in range(rows.shape[1]):
                row = rows[i, f]
                if row >= 0:
                    for place in range(row_start[row], row_start[row + 1]):
                        gradient = missing[row_tag[place]]
                        if abs(gradient) > 1e-4:
                            _move(weights, squares, drift, place, gradient, step, moment)
            for place in range(start[i], start[i + 1]):
                missing[tag[place]] = 0.0
        flat, flat_missing = pair.ravel(), pair_missing.ravel()
        flat_squares, flat_drift = pair_squares.ravel(), pair_drift.ravel()
        for index in range(len(flat)):
            if flat_missing[index] != 0.0:
                _move(flat, flat_squares, flat_drift, index, -flat_missing[index], step, moment)
                flat_missing[index] = 0.0
        for place in range(noted):
            index = touched[place]
            if triple_missing[index] != 0.0:
                _move(triple, triple_squares, triple_drift, index, -triple_missing[index], step, moment)
                factor[index] = np.exp(triple[index])
                triple_missing[index] = 0.0
    return loss
