"""`Variational`: an HMM from an approximate corpus, a back-off n-gram automaton c(w) (002).

The bound E_c log p(w) ≥ N [ Σ Ξ(s, t) log p(t | s) + Σ_a e_a Σ_t φ_a(t) (log p(w | t) − log φ_a(t)) ]  (5) rises
by turns in φ and in θ. A round moves all blocks of φ at once to their best response (002 §3.5) and then takes

    p(t | s) ∝ N Ξ(s, t) + κ,   p(w | t) ∝ N Σ_{a of w} e_a φ_a(t) + κ'.

n_q = 1: φ_a(t) ∝ p(w | t) exp(S(h, t) + U(g, t)) with S(h, t) = Σ_s D(h, s) log p(t | s) / W(h) and
U(g, t) = Σ_s m(g, s) log p(s | t); forward weights do not depend on φ, and φ is never stored.
n_q = 2: see `dp.variational_pairs`. With `lag` 1 an arc tags the last word of its history, so that it sees the
word after the one it tags: same cost, better bound. Cost of a round: O(arcs · K + states · T²).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.numeric.em import ascend
from latentgram.numeric.threads import one_thread
from latentgram.sequences.hmm import HMM
from latentgram.sequences.hmm_learning import dictionary_of
from latentgram.sequences.hmm_parameters import (
    FLOOR,
    Emissions,
    Expected,
    Parameters,
    Prior,
    as_hmm,
    expanded,
    maximise,
    safe_log,
)
from latentgram.sequences.kernels import variational as kernels
from latentgram.sequences.kernels import variational_pairs as pair_kernels
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.ngram_learning import from_counts
from latentgram.sequences.settings import VariationalHMM
from latentgram.sequences.variational_gradient import climb_gradient
from latentgram.sequences.variational_open import Scratch, Table, is_open, open_round

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Memory:
    """What φ leaves behind for the next round: two tables [states, T].

    n_q = 1: `down` = D and `up` = m. n_q = 2: `down` = D and `up` = ρ, the best entry of each row at 0.
    """

    down: Table
    up: Table


@dataclass(frozen=True)
class ApproximateCorpus:
    """An automaton made ready for learning: what its arcs tag, under which lag."""

    model: BackoffNGram
    shape: Emissions
    lag: int

    @classmethod
    def of(cls, model: BackoffNGram, dictionary: TagDictionary, lag: int | None = None) -> ApproximateCorpus:
        """Lag 1 where every arc has a word before it, else lag 0; asked for in vain, it is refused."""
        lost = float(model.flow[: model.arc_start[1]].sum())
        if lag is None:
            lag = 0 if lost > 0 else 1
        elif lag == 1 and lost > 0:
            raise SettingError(
                "lag 1 needs a history for every word, but the automaton backs off to the empty history "
                f"{lost:.3g} times a sentence; keep all bigrams when counting, or use lag 0"
            )
        return cls(model, Emissions.of(model.words, dictionary), lag)

    @cached_property
    def machine(self) -> kernels.Machine:
        """The automaton as the kernels take it."""
        model = self.model
        exact = model.reading == "failure"
        tagged = model.last_word[model.source] if self.lag == 1 else model.arc_word
        lower = model.arc_lower if exact else np.full(model.arcs, -1, np.int32)
        if self.lag == 1:
            # Arcs of the empty history are never taken and have no word to tag: let them tag the boundary.
            tagged = np.maximum(tagged, 0)
            lower = np.where(lower < model.arc_start[1], -1, lower)
        return kernels.Machine(
            model.arc_start, model.arc_target, lower.astype(np.int32), model.arc_prob, model.flow, model.backoff,
            model.failure, np.ascontiguousarray(tagged, np.int32),
        )  # fmt: skip

    @cached_property
    def phi_start(self) -> NDArray[np.int64]:
        """[arcs + 1] where the tag distribution of each arc begins when φ is stored."""
        size = np.diff(self.shape.start)[self.machine.tagged]
        return np.concatenate([[0], np.cumsum(size)]).astype(np.int64)

    @property
    def tags(self) -> int:
        """Tags, the boundary included."""
        return len(self.shape.tags)

    def table(self) -> Floats:
        """An empty table [states, T]."""
        return np.zeros((self.model.states, self.tags))

    @cached_property
    def scratch(self) -> Scratch:
        """Room for `open_round`."""
        return Scratch.of(self.model.states, len(self.shape.words), self.tags)

    @cached_property
    def inverse_visits(self) -> Floats:
        """[states, 1] 1 / W(h), 0 where nothing passes."""
        visits = self.model.expected_visits
        return np.where(visits > 0, 1.0 / np.where(visits > 0, visits, 1.0), 0.0)[:, None]

    def statistics(self, phi: Floats) -> tuple[Expected, Memory, Floats]:
        """Expected counts a sentence under a stored φ, its memory, and n."""
        own, into, emission = self.table(), self.table(), np.zeros(len(self.shape.tag))
        kernels.accumulate(
            self.machine, self.shape.start, self.shape.tag, self.phi_start, phi, own, into, emission
        )
        up = own.copy()
        kernels.gather_up(self.machine, up)
        kernels.spread_down(self.machine, into)
        with one_thread():
            return Expected(into.T @ own, emission), Memory(into, up), own

    def scores(self, memory: Memory, transition: Floats) -> Floats:
        """What the neighbours of each arc say of its tag, for a stored φ; see `arc_scores`."""
        logs = safe_log(transition)
        scores = np.zeros(int(self.phi_start[-1]))
        with one_thread():
            before, after = memory.down @ logs, memory.up @ logs.T
        kernels.arc_scores(self.machine, self.shape.start, self.shape.tag, self.phi_start, before, after, scores)
        return scores

    def response(self, memory: Memory, parameters: Parameters) -> Floats:
        """The best φ of every arc against the others' of the round before."""
        phi = np.empty(int(self.phi_start[-1]))
        kernels.best_response(
            self.machine, self.shape.start, self.phi_start, parameters.emission,
            self.scores(memory, parameters.transition), phi,
        )  # fmt: skip
        return phi

    def bound(self, phi: Floats, parameters: Parameters) -> float:
        """(5) a sentence, for a stored φ."""
        expected, _, _ = self.statistics(phi)
        size = np.diff(self.phi_start)
        row = np.repeat(self.shape.start[self.machine.tagged] - self.phi_start[:-1], size) + np.arange(len(phi))
        inner = phi * (safe_log(parameters.emission)[row] - np.log(np.maximum(phi, 1e-300)))
        total = float(np.repeat(self.machine.flow, size) @ inner)
        return total + float((expected.transition * safe_log(parameters.transition)).sum())


Round = Callable[[ApproximateCorpus, Parameters, Memory], tuple[Expected, Memory, float]]


def independent_round(
    corpus: ApproximateCorpus, parameters: Parameters, memory: Memory
) -> tuple[Expected, Memory, float]:
    """One E-step for n_q = 1: expected counts a sentence, the memory of the new φ, and its bound (5)."""
    if corpus.model.reading == "failure":
        phi = corpus.response(memory, parameters)
        expected, fresh, _ = corpus.statistics(phi)
        return expected, fresh, corpus.bound(phi, parameters)
    logs = safe_log(parameters.transition)
    if is_open(corpus):
        found = open_round(corpus, parameters, logs, memory.down, memory.up)
        if found is not None:
            return found[0], Memory(found[1], found[2]), found[3]
    with one_thread():
        before = (memory.down * corpus.inverse_visits) @ logs
        after = memory.up @ logs.T
    before -= before.max(1, keepdims=True)
    after -= after.max(1, keepdims=True)
    own, into, emission = corpus.table(), corpus.table(), np.zeros(len(corpus.shape.tag))
    normaliser = np.empty(corpus.model.arcs)
    kernels.fused_update(
        corpus.machine, corpus.shape.start, corpus.shape.tag, parameters.emission, np.exp(before), np.exp(after),
        own, into, emission, normaliser,
    )  # fmt: skip
    # Σ_a e_a Σ_t φ (log p(w|t) − log φ) = Σ_a e_a log normaliser − Σ_h W n S − Σ_g D U, before failures.
    entropy = float(corpus.machine.flow @ np.log(np.maximum(normaliser, 1e-300)))
    entropy -= float(np.vdot(own * corpus.model.expected_visits[:, None], before)) + float(np.vdot(into, after))
    up = own.copy()
    kernels.gather_up(corpus.machine, up)
    kernels.spread_down(corpus.machine, into)
    with one_thread():
        pairs = into.T @ own
    return Expected(pairs, emission), Memory(into, up), entropy + float((pairs * logs).sum())


def paired_round(
    corpus: ApproximateCorpus, parameters: Parameters, memory: Memory
) -> tuple[Expected, Memory, float]:
    """One E-step for n_q = 2: a sweep of ρ against the flow, a sweep of the flow with the new φ."""
    shape, machine = corpus.shape, corpus.machine
    arriving = np.ascontiguousarray(np.maximum(parameters.transition, FLOOR).T)
    rho = sweep_values(corpus, parameters, memory)
    into, pairs, emission = corpus.table(), np.zeros((corpus.tags, corpus.tags)), np.zeros(len(shape.tag))
    logs = pair_kernels.flows(
        machine, shape.start, shape.tag, parameters.emission, arriving, np.exp(rho), memory.down,
        into, pairs, emission,
    )  # fmt: skip
    bound = float(logs) - float(np.vdot(into, rho))
    np.maximum(into, 0.0, out=into)
    kernels.spread_down(machine, into)
    return Expected(pairs.T.copy(), emission), Memory(into, rho), bound


def sweep_values(corpus: ApproximateCorpus, parameters: Parameters, memory: Memory) -> Floats:
    """ρ from the ρ before, each row's largest entry moved to 0."""
    arriving = np.ascontiguousarray(np.maximum(parameters.transition, FLOOR).T)
    rho = corpus.table()
    pair_kernels.values(
        corpus.machine, corpus.shape.start, corpus.shape.tag, parameters.emission, arriving, np.exp(memory.up),
        memory.down, rho,
    )  # fmt: skip
    kernels.gather_up(corpus.machine, rho)
    carried = memory.down > 0
    peak = np.where(carried, rho, -np.inf).max(1, keepdims=True)
    return np.where(carried, rho - np.where(np.isfinite(peak), peak, 0.0), 0.0)


ROUNDS: dict[int, Round] = {1: independent_round, 2: paired_round}


def first_memory(corpus: ApproximateCorpus, given: int) -> tuple[Expected, Memory]:
    """Counts and memory of the uniform φ, from which learning starts."""
    size = np.diff(corpus.phi_start)
    phi = np.repeat(1.0 / size, size)
    expected, memory, _ = corpus.statistics(phi)
    if given == 2:
        memory = Memory(np.maximum(memory.down, 0.0), corpus.table())
    return expected, memory


def variational_hmm(data: Any, learner: VariationalHMM, context: Context) -> HMM:
    """The recipe: an HMM of order 2 from a back-off automaton, or from counts read as exclusive ones."""
    model = from_counts(data) if isinstance(data, NGramCounts) else data
    if not isinstance(model, BackoffNGram):
        raise DataError(f"Variational learns from a BackoffNGram or NGramCounts, not from {type(data).__name__}")
    if model.classes is not None and learner.dictionary is None:
        raise SettingError("the counts were reduced with a tag dictionary: give the one they were counted with")
    dictionary = dictionary_of(learner)
    reduced = dictionary if model.classes is None else model.classes.dictionary(dictionary)
    corpus = ApproximateCorpus.of(model, reduced, None if isinstance(learner.lag, str) else learner.lag)
    prior = Prior(learner.transition_prior, learner.emission_prior)
    counts, memory = first_memory(corpus, learner.window)
    if learner.dictionary is None:
        counts = _jittered(counts, learner.seed)
    start = maximise(_of_sentences(counts, model.sentences), corpus.shape, prior)
    if learner.optimiser == "gradient":
        parameters, trace = climb_gradient(corpus, start, prior, learner, context)
    else:
        parameters, trace = _climb_rounds(corpus, start, memory, prior, learner, context)
    word_count = np.bincount(model.arc_word, model.flow * model.sentences, minlength=len(model.words))
    shape = corpus.shape
    if model.classes is not None:
        parameters, shape = expanded(parameters, shape, model.classes, dictionary)
        word_count = model.classes.count
    return as_hmm(parameters, shape, np.rint(word_count).astype(np.int64), trace)


def _climb_rounds(
    corpus: ApproximateCorpus,
    start: Parameters,
    memory: Memory,
    prior: Prior,
    learner: VariationalHMM,
    context: Context,
) -> tuple[Parameters, tuple[dict[str, float], ...]]:
    """Rounds of best responses; what climbs is the pair of the parameters and the memory of φ."""
    sentences = corpus.model.sentences
    round_ = ROUNDS[learner.window]

    def expect(point: tuple[Parameters, Memory]) -> tuple[tuple[Expected, Memory], float]:
        expected, fresh, bound = round_(corpus, *point)
        return (expected, fresh), sentences * bound + prior.log_density(point[0])

    def improve(found: tuple[Expected, Memory]) -> tuple[Parameters, Memory]:
        return maximise(_of_sentences(found[0], sentences), corpus.shape, prior), found[1]

    score = context.dev_score
    found = ascend(
        (start, memory), expect, improve,
        iterations=learner.iterations, tolerance=learner.tolerance, progress=context.progress, stage="rounds",
        score=None if score is None else lambda point: score(_plain_hmm(corpus, point[0])),
    )  # fmt: skip
    return found.model[0], found.trace


def _plain_hmm(corpus: ApproximateCorpus, parameters: Parameters) -> HMM:
    """A model of the automaton's own words, for scoring on the way."""
    model = corpus.model
    counts = np.bincount(model.arc_word, model.flow * model.sentences, minlength=len(model.words))
    return as_hmm(parameters, corpus.shape, np.rint(counts).astype(np.int64))


def _of_sentences(expected: Expected, sentences: float) -> Expected:
    """Expected counts of the whole corpus from those of a sentence."""
    return Expected(expected.transition * sentences, expected.emission * sentences)


def _jittered(expected: Expected, seed: int) -> Expected:
    """Without a dictionary all tags begin alike and must be told apart."""
    noise = np.random.default_rng(seed).standard_normal(len(expected.emission))
    return Expected(expected.transition, expected.emission * np.exp(0.1 * noise))
