"""Spectral learning of operator automata (Luque et al. 2012, §3; Hsu, Kakade and Zhang 2009), and by clustering.

*From counted prefixes.* For every source (an automaton to learn) let φ(p) mark the suffixes of a prefix p of
length 1 … `history`, START in front, and ψ(s) the beginnings of length 1 … `future` of what follows it, STOP at
the end, each divided by the `power` of its count. With sums over all ways to cut all sequences of the source into
p and s,

    H = Σ ψ(s) φ(p)ᵀ ≈ U Σ Vᵀ,     W = (Uᵀ H)⁺                                        (P = U(Uᵀ P), §3.2)
    start = Uᵀ E[ψ(x)],   stop = Σ_{s empty} Wᵀ φ(p),   A_a = Σ_{s = a s'} Uᵀ ψ(s') φ(p)ᵀ W         (11–13)

START and STOP are folded into `start` and `stop`, as footnote 6 means (printed as operators they are zero, since
neither is ever in the middle of a trigram). `history = future = 1` without scaling and ridge is the paper's
Algorithm 1. Scaling by count^(−1/4) gives the cells of H noise of about the same size, 1; the ridge,
σ/(σ² + ridge²) for 1/σ in W, is in that unit. One decomposition per source; all else is one pass over the V
prefixes: O(V n²).

*From n-grams of a text.* With one symbol of history and one of future, all that is needed are counts of bigrams
and trigrams. Let P[b, a] = cnt(ab), rows and columns divided by a power of their sums, P ≈ U S Vᵀ, and
W = V S/(S² + ridge²). Then

    start = Uᵀ E[first symbol],   stop = Σ_a cnt(a STOP) W[a],   A_b = Σ_{a,c} cnt(abc) U[c] W[a]ᵀ.

Counting, one small decomposition, and O(n²) per distinct trigram.

*By clustering*, the normalised state vectors of all prefixes are put into k hard states, and these are counted:
with s(x) the state of prefix x, A_a[s(xa), s(x)] ∝ cnt(xa …). No number is negative, and all strings together have
probability 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, dia_array, diags_array

from latentgram.arrays import Floats, Integers, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.sentence import SentenceLike
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError, RankError, SettingError, a_or_an
from latentgram.kinds.kind import Context
from latentgram.numeric.kmeans import kmeans
from latentgram.numeric.svd import truncated_svd
from latentgram.parallel import one_thread
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.hankel import from_hankel
from latentgram.sequences.kernels.automata import forward_vectors
from latentgram.sequences.settings import ClusteringAutomaton, CountedPlaces, SpectralAutomaton
from latentgram.sequences.statistics import SequenceCounts, ancestors

Source = Text | NGramCounts | Iterable[SentenceLike]


def _as_text(data: Source) -> Text | NGramCounts:
    """Lists of symbols, or of strings that are split at spaces, as text; anything else as it is."""
    if isinstance(data, NGramCounts):
        return data
    if isinstance(data, Text):
        return data.compact()
    if isinstance(data, list | tuple):
        return Text.of(data)
    given = a_or_an(type(data).__name__)
    raise DataError(f"an automaton is learned from text or from counts of order 3, not from {given}")


def spectral_automaton(source: Source, settings: SpectralAutomaton, context: Context) -> OperatorAutomaton:
    """The recipe: from text, or (history and future of one symbol) from counts of n-grams up to trigrams."""
    del context
    data = _as_text(source)
    single = settings.history == 1 and settings.future == 1 and not settings.basis
    if settings.completion and settings.hankel == "places":
        raise SettingError("completion applies to a Hankel matrix: hankel must be string, prefix or factor")
    if settings.hankel != "places":
        if not isinstance(data, Text):
            raise DataError(f"a Hankel matrix is counted from text, not from {type(data).__name__}")
        return from_hankel(
            data, _prefixes(data), settings.hankel, states=settings.states, history=settings.history,
            future=settings.future, most=settings.basis, power=settings.power, ridge=settings.ridge,
            completion=settings.completion,
        )  # fmt: skip
    if isinstance(data, Text):
        if single:
            return from_trigrams(NGramCounts.of(data, order=3), settings.states, settings.power, settings.ridge)
        return _from_prefixes(data, settings)
    if data.order < 3:
        raise DataError(f"an automaton is learned from counts of order 3 or more; these have order {data.order}")
    if not single:
        raise DataError("n-gram counts give only histories and futures of one symbol: use text for others")
    return from_trigrams(data, settings.states, settings.power, settings.ridge)


def from_trigrams(counts: NGramCounts, states: int, power: float = 0.0, ridge: float = 0.0) -> OperatorAutomaton:
    """The automaton of counted bigrams and trigrams."""
    trie, sentences = counts.trie, counts.sentences
    pairs = slice(int(trie.level[1]), int(trie.level[2]))
    before, after = trie.prefix[pairs], trie.word[pairs]
    times = counts.count[pairs].astype(np.float64)
    scale_after = _power(np.bincount(after, times, minlength=trie.words), -power)
    scale_before = _power(np.bincount(before, times, minlength=trie.words), -power)
    cells = times * scale_after[after] * scale_before[before]
    cross = csr_array((cells, (after, before)), shape=(trie.words, trie.words))
    svd = truncated_svd(cross, states)
    if len(svd.values) == 0:
        raise RankError("the bigram counts are all zero: there are no data to learn from")
    ahead = svd.left * scale_after[:, None]
    back = svd.right * (svd.values / (svd.values**2 + ridge**2)) * scale_before[:, None]
    first, last = before == BOUNDARY, after == BOUNDARY
    start = times[first] @ ahead[after[first]] / sentences
    stop = times[last] @ back[before[last]]
    return OperatorAutomaton(
        Alphabet(counts.words.symbols[1:]),
        start,
        stop,
        _trigram_operators(counts, ahead, back),
    )


def _trigram_operators(counts: NGramCounts, ahead: Floats, back: Floats) -> Floats:
    """A_b = Σ cnt(abc) ahead[c] back[a]ᵀ, one product of matrices per middle word.

    Where trigrams fell below a cut-off, the tokens r(ab) = cnt(ab) − Σ_c cnt(abc) go on as do the bigrams bc that
    lost trigrams, x(bc) = cnt(bc) − Σ_a cnt(abc): r(ab) x(bc)/x(b·) is added to cnt(abc), of rank one for each b.
    """
    trie = counts.trie
    rows = np.arange(trie.level[2], trie.level[3])
    pair = trie.prefix[rows]
    middle = trie.word[pair]
    order = np.argsort(middle, kind="stable")
    rows, pair = rows[order], pair[order]
    bounds = np.searchsorted(middle[order], np.arange(trie.words + 1))
    weighted = ahead[trie.word[rows]] * counts.count[rows][:, None]
    history = back[trie.prefix[pair]]
    step = np.zeros((trie.words - 1, ahead.shape[1], back.shape[1]))
    with one_thread():
        for word in np.flatnonzero(np.diff(bounds)):
            part = slice(bounds[word], bounds[word + 1])
            step[word - 1] = weighted[part].T @ history[part]
    pairs = np.arange(trie.level[1], trie.level[2])
    lost_before = counts.count[pairs] - np.bincount(pair - pairs[0], counts.count[rows], minlength=len(pairs))
    lost_after = counts.count[pairs] - np.bincount(
        trie.suffix[rows] - pairs[0], counts.count[rows], minlength=len(pairs)
    )
    first, second = trie.prefix[pairs], trie.word[pairs]
    inner = (second != BOUNDARY) & (lost_before > 0)
    outer = (first != BOUNDARY) & (lost_after > 0)
    if inner.any() and outer.any():
        shape = (trie.words, back.shape[1])
        from_past, to_next = np.zeros(shape), np.zeros(shape)
        np.add.at(from_past, second[inner], lost_before[inner, None] * back[first[inner]])
        np.add.at(to_next, first[outer], lost_after[outer, None] * ahead[second[outer]])
        total = np.bincount(first[outer], lost_after[outer], minlength=trie.words)
        to_next /= np.maximum(total, 1.0)[:, None]
        step += to_next[1:, :, None] * from_past[1:, None, :]
    return step


def _power(counts: Integers | Floats, power: float) -> Floats:
    return np.where(counts > 0, np.maximum(counts, 1.0) ** power, 0.0)


def _prefixes(text: Text) -> SequenceCounts:
    """All prefixes of all sentences, counted."""
    symbols = text.tokens[text.tokens != BOUNDARY] - 1
    lengths = np.diff(text.start) - 1
    return SequenceCounts.of_flat(
        np.zeros(len(text), np.int64), np.concatenate([[0], np.cumsum(lengths)]), symbols, np.ones(len(text)),
        n_sources=1, n_symbols=len(text.words) - 1,
    )  # fmt: skip


def _operators_of(prefixes: SequenceCounts, settings: CountedPlaces) -> Operators:
    return spectral_operators(
        prefixes, settings.states, history=settings.history, future=settings.future, power=settings.power,
        ridge=settings.ridge, most=settings.basis,
    )  # fmt: skip


def prefix_directions(counts: SequenceCounts, step: Ints, start: Floats, operators: Floats) -> Floats:
    """[prefixes, n] the state vector of every prefix, made by the operators `step`, scaled to length one."""
    vectors: Floats = forward_vectors(counts.parent, counts.source, step, start, operators, True)
    return vectors


def clustered_prefixes(text: Text, settings: ClusteringAutomaton) -> tuple[SequenceCounts, Ints]:
    """All prefixes of a text, and the cluster of each one's state vector."""
    prefixes = _prefixes(text)
    automata = _operators_of(prefixes, settings)
    vectors = prefix_directions(prefixes, prefixes.step[1], automata.start, automata.operators)
    state = kmeans(vectors, prefixes.passes, settings.states, np.random.default_rng(settings.seed))
    return prefixes, state.astype(np.int64)


def clustered_automaton(source: Source, settings: ClusteringAutomaton, context: Context) -> OperatorAutomaton:
    """The recipe for hard states out of spectral ones."""
    del context
    data = _as_text(source)
    if not isinstance(data, Text):
        raise DataError(f"states are clustered by the prefixes of a text, not of {type(data).__name__}")
    if len(data) == 0:
        raise DataError("there are no sentences to learn from")
    prefixes, state = clustered_prefixes(data, settings)
    parent, symbol = prefixes.parent[1:], prefixes.symbol[1:]
    states = int(state.max()) + 1
    visits = np.bincount(state, prefixes.passes, minlength=states)
    step = np.zeros((len(data.words) - 1, states, states))
    np.add.at(step, (symbol, state[1:], state[parent]), prefixes.passes[1:])
    stop = np.bincount(state, prefixes.stops, minlength=states) / visits
    start = np.eye(states)[state[0]]
    return OperatorAutomaton(Alphabet(data.words.symbols[1:]), start, stop, step / visits)


def _from_prefixes(text: Text, settings: SpectralAutomaton) -> OperatorAutomaton:
    """Longer histories and futures."""
    automata = _operators_of(_prefixes(text), settings)
    step = np.zeros((len(text.words) - 1, *automata.operators.shape[1:]))
    step[automata.pairs] = automata.operators
    return OperatorAutomaton(Alphabet(text.words.symbols[1:]), automata.start[0], automata.stop[0], step)


@dataclass(frozen=True)
class Operators:
    """Operator automata of all sources, padded with zeros to the same number of states n.

    `start`, `stop` [sources, n]; `pairs` [K] = source · n_symbols + symbol, sorted, of `operators` [K, n, n];
    `values` [sources, n] the singular values.
    """

    start: Floats
    stop: Floats
    pairs: Ints
    operators: Floats
    values: Floats


def spectral_operators(
    prefixes: SequenceCounts,
    states: int,
    *,
    history: int = 3,
    future: int = 3,
    power: float = 0.25,
    ridge: float = 4.0,
    most: int = 0,
    each: Callable[[Callable[[int], None], Iterable[int]], Iterable[None]] = map,
) -> Operators:
    """Learn one automaton per source, with at most `states` states each; `each` maps over the sources.

    With `most`, its basis has only so many of the most frequent histories and futures.
    """
    past, past_begin = _features(prefixes, _histories(prefixes, history), most)
    next_, next_begin = _features(prefixes, _futures(prefixes, future), most)
    past = past @ _powers(past.T @ prefixes.passes, -power)
    next_ = next_ @ _powers(np.asarray(next_.sum(0)), -power)
    cross = (next_.T @ past).tocsr()
    states = min(states, max(1, int(np.minimum(np.diff(next_begin), np.diff(past_begin)).max(initial=0))))
    to_state = np.zeros((cross.shape[0], states))
    from_past = np.zeros((cross.shape[1], states))
    values = np.zeros((prefixes.n_sources, states))

    def decompose(source: int) -> None:
        rows = slice(next_begin[source], next_begin[source + 1])
        columns = slice(past_begin[source], past_begin[source + 1])
        if rows.start == rows.stop:
            return
        svd = truncated_svd(cross[rows, columns], states)
        rank = len(svd.values)
        to_state[rows, :rank] = svd.left
        from_past[columns, :rank] = svd.right * (svd.values / (svd.values**2 + ridge**2))
        values[source, :rank] = svd.values

    with one_thread():
        for _ in each(decompose, np.argsort(-np.diff(next_begin), kind="stable").tolist()):
            pass
    after = next_ @ to_state
    before = past @ from_past
    sources = np.arange(prefixes.n_sources)
    start = after[sources] / np.maximum(prefixes.passes[sources], 1.0)[:, None]
    stop = np.zeros_like(start)
    np.add.at(stop, prefixes.source, prefixes.stops[:, None] * before)
    pairs, operators = _prefix_operators(prefixes, after, before)
    return Operators(start, stop, pairs, operators, values)


def _prefix_operators(prefixes: SequenceCounts, after: Floats, before: Floats) -> tuple[Ints, Floats]:
    """A_a, the sum of outer products over the prefixes that end in a (Eq. 13)."""
    nodes = np.arange(prefixes.n_sources, len(prefixes.parent))
    keys = prefixes.source[nodes].astype(np.int64) * prefixes.n_symbols + prefixes.symbol[nodes]
    order = np.argsort(keys, kind="stable")
    nodes, keys = nodes[order], keys[order]
    pairs, first = np.unique(keys, return_index=True)
    operators = np.empty((len(pairs), after.shape[1], after.shape[1]))
    for place, (begin, end) in enumerate(pairwise([*first, len(nodes)])):
        group = nodes[begin:end]
        operators[place] = after[group].T @ before[prefixes.parent[group]]
    return pairs, operators


def _histories(prefixes: SequenceCounts, longest: int) -> list[Strings]:
    """The suffixes of every prefix, one by one length; and with START in front, which counts as a symbol."""
    groups = []
    for m, (node, above, key) in enumerate(ancestors(prefixes, longest)):
        if m > 0:
            groups.append(Strings(node, key, np.ones(len(node))))
        if m < longest:
            whole = prefixes.parent[above] < 0
            groups.append(Strings(node[whole], key[whole], np.ones(int(whole.sum()))))
    return groups


def _futures(prefixes: SequenceCounts, longest: int) -> list[Strings]:
    """The beginnings of what follows every prefix; and with STOP at the end, which counts as a symbol."""
    groups = []
    for m, (node, above, key) in enumerate(ancestors(prefixes, longest)):
        if m > 0:
            groups.append(Strings(above, key, prefixes.passes[node]))
        if m < longest:
            ends = prefixes.stops[node] > 0
            groups.append(Strings(above[ends], key[ends], prefixes.stops[node[ends]]))
    return groups


class Strings(NamedTuple):
    """Strings of one length: the prefix each belongs to, its key among them, and how often it occurs."""

    node: Ints
    key: Ints
    times: Floats


def _features(prefixes: SequenceCounts, groups: Sequence[Strings], most: int = 0) -> tuple[csr_array, Ints]:
    """A sparse matrix [V, features], features numbered source by source, and where each source begins.

    With `most`, only so many of the most frequent strings of a source are features. A part of a string is at least
    as frequent as the string, and where they tie the shorter one comes first: the basis is closed under parts.
    """
    source = prefixes.source.astype(np.int64)
    numbered, feature_source, size = [], [], 0
    for group in groups:
        span = int(group.key.max(initial=0)) + 1
        distinct, column = np.unique(source[group.node] * span + group.key, return_inverse=True)
        numbered.append(size + column)
        feature_source.append(distinct // span)
        size += len(distinct)
    owner = np.concatenate(feature_source)
    node, column, count = (
        np.concatenate(parts)
        for parts in ([group.node for group in groups], numbered, [group.times for group in groups])
    )
    order = np.argsort(owner, kind="stable")
    if most:
        times = np.bincount(column, count, minlength=size)
        ranked = np.lexsort((np.arange(size), -times, owner))
        first = np.searchsorted(owner[ranked], owner[ranked])
        order = np.sort(ranked[np.arange(size) - first < most])
        order = order[np.argsort(owner[order], kind="stable")]
    place = np.full(size, -1, np.int64)
    place[order] = np.arange(len(order))
    kept = place[column] >= 0
    shape = (len(prefixes.parent), len(order))
    begin = np.searchsorted(owner[order], np.arange(prefixes.n_sources + 1))
    return csr_array((count[kept], (node[kept], place[column[kept]])), shape=shape), begin


def _powers(counts: Floats, power: float) -> dia_array:
    return diags_array(np.asarray(counts, np.float64) ** power)
