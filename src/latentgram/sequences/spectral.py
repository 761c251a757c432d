"""An `OperatorAutomaton` from the n-grams of a text, spectrally (000 §3; Hsu, Kakade and Zhang 2009).

With one symbol of history and one of future, all that is needed are counts of bigrams and trigrams. Let
P[b, a] = cnt(ab), rows and columns divided by a power of their sums, P ≈ U S Vᵀ, and W = V S/(S² + ridge²). Then

    start = Uᵀ E[first symbol],   stop = Σ_a cnt(a STOP) W[a],   A_b = Σ_{a,c} cnt(abc) U[c] W[a]ᵀ,

START being a history and STOP a future, never an operator: as printed in the paper's footnotes those would be
zero, since a boundary is never in the middle of a trigram. Cost: counting, one small decomposition, and O(n²) a
distinct trigram. Longer histories and futures go through all prefixes (`spectral.operators`).

By clustering, the normalised state vectors of all prefixes are put into k hard states, and these are counted: with
s(x) the state of prefix x, A_a[s(xa), s(x)] ∝ cnt(xa …). No number is negative, and all strings together have
probability 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.provenance import Provenance
from latentgram.data.text import BOUNDARY, Text
from latentgram.errors import DataError, RankError
from latentgram.kinds.kind import Context
from latentgram.numeric.kmeans import kmeans
from latentgram.numeric.svd import truncated_svd
from latentgram.numeric.threads import one_thread
from latentgram.sequences.automaton import OperatorAutomaton
from latentgram.sequences.kernels.expectations import forward_vectors
from latentgram.sequences.operators import Operators, spectral_operators
from latentgram.sequences.settings import ClusteringAutomaton, SpectralAutomaton
from latentgram.sequences.statistics import SequenceCounts

Floats = NDArray[np.float64]


def spectral_automaton(data: Any, learner: SpectralAutomaton, context: Context) -> OperatorAutomaton:
    """The recipe: from text, or (history and future of one symbol) from counts of n-grams up to trigrams."""
    del context
    single = learner.history == 1 and learner.future == 1
    if isinstance(data, Text):
        if single:
            return from_trigrams(NGramCounts.of(data, order=3), learner.states, learner.power, learner.ridge)
        return _from_prefixes(data, learner)
    if isinstance(data, NGramCounts) and data.order >= 3:
        if not single:
            raise DataError(
                "n-gram counts give histories and futures of one symbol only; use text for longer ones"
            )
        return from_trigrams(data, learner.states, learner.power, learner.ridge)
    raise DataError(f"an automaton is learned from text or from counts of order 3, not {type(data).__name__}")


def from_trigrams(counts: NGramCounts, states: int, power: float = 0.0, ridge: float = 0.0) -> OperatorAutomaton:
    """The automaton of counted bigrams and trigrams."""
    trie, sentences = counts.trie, counts.sentences
    pairs = slice(int(trie.level[1]), int(trie.level[2]))
    before, after = trie.prefix[pairs], trie.word[pairs]
    times = counts.count[pairs].astype(np.float64)
    scale_after = _power(np.bincount(after, times, minlength=trie.words), -power)
    scale_before = _power(np.bincount(before, times, minlength=trie.words), -power)
    cells = times * scale_after[after] * scale_before[before]
    cross = scipy.sparse.csr_array((cells, (after, before)), shape=(trie.words, trie.words))
    found = truncated_svd(cross, states)
    if len(found.values) == 0:
        raise RankError("the bigram counts are all zero: there is nothing to learn from")
    ahead = found.left * scale_after[:, None]
    back = found.right * (found.values / (found.values**2 + ridge**2)) * scale_before[:, None]
    first, last = before == BOUNDARY, after == BOUNDARY
    start = times[first] @ ahead[after[first]] / sentences
    stop = times[last] @ back[before[last]]
    return OperatorAutomaton(
        Alphabet(counts.words.symbols[1:]), start, stop, _operators(counts, ahead, back), Provenance()
    )


def _operators(counts: NGramCounts, ahead: Floats, back: Floats) -> Floats:
    """A_b = Σ cnt(abc) ahead[c] back[a]ᵀ, one product of matrices a middle word."""
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
    return step


def _power(counts: NDArray[Any], power: float) -> Floats:
    return np.where(counts > 0, np.maximum(counts, 1.0) ** power, 0.0)


def _prefixes(text: Text) -> SequenceCounts:
    """All prefixes of all sentences, counted."""
    symbols = text.tokens[text.tokens != BOUNDARY] - 1
    lengths = np.diff(text.start) - 1
    return SequenceCounts.of_flat(
        np.zeros(len(text), np.int64), np.concatenate([[0], np.cumsum(lengths)]), symbols, np.ones(len(text)),
        n_sources=1, n_symbols=len(text.words) - 1,
    )  # fmt: skip


def _operators_of(prefixes: SequenceCounts, learner: SpectralAutomaton) -> Operators:
    return spectral_operators(
        prefixes, learner.states, history=learner.history, future=learner.future, power=learner.power,
        ridge=learner.ridge,
    )  # fmt: skip


def prefix_directions(counts: SequenceCounts, step: NDArray[Any], start: Floats, operators: Floats) -> Floats:
    """[prefixes, n] the state vector of every prefix, made by the operators `step`, scaled to length one."""
    vectors: Floats = forward_vectors(counts.parent, counts.source, step, start, operators)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    return vectors


def clustered_automaton(data: Any, learner: ClusteringAutomaton, context: Context) -> OperatorAutomaton:
    """The recipe for hard states out of spectral ones."""
    del context
    if not isinstance(data, Text):
        raise DataError(f"states are clustered by the prefixes of a text, not of {type(data).__name__}")
    if len(data) == 0:
        raise DataError("there is no sentence to learn from")
    prefixes = _prefixes(data)
    found = _operators_of(prefixes, learner)
    parent, symbol = prefixes.parent[1:], prefixes.symbol[1:]
    place = np.concatenate([[-1], np.searchsorted(found.pairs, symbol)])
    vectors = prefix_directions(prefixes, place, found.start, found.operators)
    state = kmeans(vectors, prefixes.passes, learner.states, np.random.default_rng(learner.seed))
    states = int(state.max()) + 1
    visits = np.bincount(state, prefixes.passes, minlength=states)
    step = np.zeros((len(data.words) - 1, states, states))
    np.add.at(step, (symbol, state[1:], state[parent]), prefixes.passes[1:])
    stop = np.bincount(state, prefixes.stops, minlength=states) / visits
    start = np.eye(states)[state[0]]
    return OperatorAutomaton(Alphabet(data.words.symbols[1:]), start, stop, step / visits, Provenance())


def _from_prefixes(text: Text, learner: SpectralAutomaton) -> OperatorAutomaton:
    """Longer histories and futures."""
    found = _operators_of(_prefixes(text), learner)
    step = np.zeros((len(text.words) - 1, learner.states, learner.states))
    step[found.pairs] = found.operators
    return OperatorAutomaton(Alphabet(text.words.symbols[1:]), found.start[0], found.stop[0], step, Provenance())
