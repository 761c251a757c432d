"""Second-order chains over tags with a few candidates a token: best path, posteriors, gradient.

Token i has the candidates `tag[start[i] : start[i + 1]]` with scores e_i(k) (sums of weights of its features). A
sequence t of tags, the boundary B in front twice and behind once, scores

    s(t) = Σ_i e_i(t_i) + pair[t_{i−1}, t_i] + triple[t_{i−2}, t_{i−1}, t_i].

The nodes of column i are pairs (tag of i − 1, tag of i). With a node's forward sum in the log semiring written as
exp(score − column maximum), p(t_i, t_{i−1} | x) comes from one pass forward and one back.
O(Σ K_{i−2} K_{i−1} K_i). `triple` is a table of any size: keys beyond it wrap around.
"""

import numpy as np

from latentgram.compiling import njit

NEGLIGIBLE = 1e-6
"""Expected counts below this are not worth a step."""


@njit()
def triple_index(a, b, c, n_tags, size):
    """Where the weight of three tags stands; the boundary has the number n_tags."""
    return ((a * (n_tags + 1) + b) * (n_tags + 1) + c) % size


@njit()
def emission_scores(rows, begin, end, row_start, row_tag, row_weight, start, tag, n_tags, out, spare):
    """e_i(k) of the tokens of a sentence, into `out` (parallel to `tag`)."""
    for i in range(begin, end):
        for t in range(n_tags):
            spare[t] = 0.0
        for f in range(rows.shape[1]):
            row = rows[i, f]
            if row >= 0:
                for place in range(row_start[row], row_start[row + 1]):
                    spare[row_tag[place]] += row_weight[place]
        for place in range(start[i], start[i + 1]):
            out[place] = spare[tag[place]]


@njit()
def column_starts(begin, end, start):
    """Where the nodes of each column begin: column i has K_{i−1} · K_i of them."""
    length = end - begin
    columns = np.empty(length + 1, np.int64)
    columns[0] = 0
    before = 1
    for i in range(length):
        here = start[begin + i + 1] - start[begin + i]
        columns[i + 1] = columns[i] + before * here
        before = here
    return columns


@njit()
def tag_at(i, k, begin, start, tag, n_tags):
    """The tag of candidate k of token i; before the sentence it is the boundary."""
    return np.int64(n_tags) if i < begin else np.int64(tag[start[i] + k])


@njit()
def width(i, begin, start):
    """How many candidates token i has; before the sentence one."""
    return 1 if i < begin else start[i + 1] - start[i]


@njit()
def best_sums(begin, end, start, tag, score, pair, triple, n_tags, columns):
    """The score of the best sequence to each node, and the candidate before its two; the first among equals."""
    best = np.full(columns[-1], -np.inf)
    back = np.zeros(columns[-1], np.int64)
    size = len(triple)
    for i in range(begin, end):
        here, before, before2 = width(i, begin, start), width(i - 1, begin, start), width(i - 2, begin, start)
        at = columns[i - begin]
        for j in range(before):
            b = tag_at(i - 1, j, begin, start, tag, n_tags)
            for k in range(here):
                c = np.int64(tag[start[i] + k])
                top, link = -np.inf, 0
                for h in range(before2):
                    a = tag_at(i - 2, h, begin, start, tag, n_tags)
                    value = triple[triple_index(a, b, c, n_tags, size)]
                    if i > begin:
                        value += best[columns[i - begin - 1] + h * before + j]
                    if value > top:
                        top, link = value, h
                best[at + j * here + k] = top + pair[b, c] + score[start[i] + k]
                back[at + j * here + k] = link
    return best, back


@njit()
def best_path(begin, end, start, tag, score, pair, triple, n_tags, out):
    """The best sequence, as numbers of candidates, into `out`; among equals the first candidate wins."""
    length = end - begin
    columns = column_starts(begin, end, start)
    best, back = best_sums(begin, end, start, tag, score, pair, triple, n_tags, columns)
    size = len(triple)
    top, j, k = -np.inf, 0, 0
    here, before = width(end - 1, begin, start), width(end - 2, begin, start)
    for p in range(before):
        b = tag_at(end - 2, p, begin, start, tag, n_tags)
        for q in range(here):
            c = np.int64(tag[start[end - 1] + q])
            value = best[columns[length - 1] + p * here + q] + pair[c, n_tags]
            value += triple[triple_index(b, c, n_tags, n_tags, size)]
            if value > top:
                top, j, k = value, p, q
    for i in range(end - 1, begin - 1, -1):
        out[i] = k
        link = back[columns[i - begin] + j * width(i, begin, start) + k]
        j, k = link, j
    return top


@njit()
def forward(begin, end, start, tag, score, pair, factor, n_tags, columns):
    """Forward sums of all nodes, each column divided by its largest one, and the logs of these."""
    length = end - begin
    alpha = np.empty(columns[length])
    size = len(factor)
    shift = np.empty(length)
    for i in range(begin, end):
        here, before, before2 = width(i, begin, start), width(i - 1, begin, start), width(i - 2, begin, start)
        at = columns[i - begin]
        largest = -np.inf
        for j in range(before):
            b = tag_at(i - 1, j, begin, start, tag, n_tags)
            for k in range(here):
                c = np.int64(tag[start[i] + k])
                total = 0.0
                for h in range(before2):
                    a = tag_at(i - 2, h, begin, start, tag, n_tags)
                    inside = 1.0 if i == begin else alpha[columns[i - begin - 1] + h * before + j]
                    total += inside * factor[triple_index(a, b, c, n_tags, size)]
                node = at + j * here + k
                alpha[node] = np.log(total) + pair[b, c] + score[start[i] + k] if total > 0.0 else -np.inf
                largest = max(largest, alpha[node])
        shift[i - begin] = largest
        for node in range(at, columns[i - begin + 1]):
            alpha[node] = np.exp(alpha[node] - largest)
    return alpha, shift


@njit()
def expectations(begin, end, start, tag, score, pair, factor, n_tags, out, pair_out, triple_out, touched):
    """Add p(t_i | x) to `out`, parallel to `tag`; return log Z and how many triples were touched.

    `factor` is exp(triple). Unless `touched` is empty, expected pairs and triples are added to `pair_out` and
    `triple_out`, and the numbers of the triples that were 0 before are noted in `touched`.
    """
    length = end - begin
    columns = column_starts(begin, end, start)
    alpha, shift = forward(begin, end, start, tag, score, pair, factor, n_tags, columns)
    size = len(factor)
    here, before = width(end - 1, begin, start), width(end - 2, begin, start)
    beta = np.zeros(columns[length])
    total = 0.0
    for j in range(before):
        b = tag_at(end - 2, j, begin, start, tag, n_tags)
        for k in range(here):
            c = np.int64(tag[start[end - 1] + k])
            node = columns[length - 1] + j * here + k
            beta[node] = np.exp(pair[c, n_tags]) * factor[triple_index(b, c, n_tags, n_tags, size)]
            total += alpha[node] * beta[node]
    counted = len(touched) > 0
    noted = 0
    for j in range(before):
        b = tag_at(end - 2, j, begin, start, tag, n_tags)
        for k in range(here):
            c = np.int64(tag[start[end - 1] + k])
            node = columns[length - 1] + j * here + k
            beta[node] /= total
            if counted:
                pair_out[c, n_tags] += alpha[node] * beta[node]
                index = triple_index(b, c, n_tags, n_tags, size)
                noted = note(triple_out, touched, noted, index, alpha[node] * beta[node])
    for i in range(end - 1, begin - 1, -1):
        here, before, before2 = width(i, begin, start), width(i - 1, begin, start), width(i - 2, begin, start)
        at = columns[i - begin]
        for j in range(before):
            b = tag_at(i - 1, j, begin, start, tag, n_tags)
            for k in range(here):
                c = np.int64(tag[start[i] + k])
                node = at + j * here + k
                share = alpha[node] * beta[node]
                out[start[i] + k] += share
                if counted:
                    pair_out[b, c] += share
                if beta[node] == 0.0:
                    continue
                step = beta[node] * np.exp(pair[b, c] + score[start[i] + k] - shift[i - begin])
                for h in range(before2):
                    a = tag_at(i - 2, h, begin, start, tag, n_tags)
                    index = triple_index(a, b, c, n_tags, size)
                    value = step * factor[index]
                    if i > begin:
                        above = columns[i - begin - 1] + h * before + j
                        beta[above] += value
                        value *= alpha[above]
                    if counted and value > NEGLIGIBLE:
                        noted = note(triple_out, touched, noted, index, value)
    return np.log(total) + shift.sum(), noted


@njit()
def note(amounts, touched, noted, index, amount):
    """Add to an amount and remember which one, if it was 0."""
    if amounts[index] == 0.0:
        touched[noted] = index
        noted += 1
    amounts[index] += amount
    return noted


@njit()
def tag_sentences(sentence_start, rows, row_start, row_tag, row_weight, start, tag, pair, triple, factor, n_tags):
    """Best candidates of all tokens, the posteriors of all candidates, and log Z of every sentence."""
    score = np.empty(start[-1])
    spare = np.empty(n_tags)
    path = np.empty(len(start) - 1, np.int64)
    posterior = np.zeros(start[-1])
    logs = np.empty(len(sentence_start) - 1)
    none = np.zeros(0)
    for s in range(len(sentence_start) - 1):
        begin, end = sentence_start[s], sentence_start[s + 1]
        emission_scores(rows, begin, end, row_start, row_tag, row_weight, start, tag, n_tags, score, spare)
        best_path(begin, end, start, tag, score, pair, triple, n_tags, path)
        logs[s], _ = expectations(
            begin, end, start, tag, score, pair, factor, n_tags, posterior, pair, none, np.zeros(0, np.int64)
        )
    return path, posterior, logs
