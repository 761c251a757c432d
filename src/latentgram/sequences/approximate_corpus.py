"""`ApproximateCorpus`: a back-off n-gram automaton c(w) in place of text, and tags φ on its arcs.

Smith and Eisner 2012, §3: every arc a is taken e_a times per sentence and chooses the tag of a word from φ_a, so
that a sum over sentences and their tags is a sum over arcs. For a stored φ that chooses without memory (n_q = 1),
expected transitions Ξ and emissions give the bound on the log-likelihood per sentence,

    E_c log p(w) ≥ Σ Ξ(s, t) log p(t | s) + Σ_a e_a Σ_t φ_a(t) (log p(w | t) − log φ_a(t)).                  (5)

With `lag` 1 an arc tags the last word of its history, so that it sees the word after the one it tags: same cost,
better bound; with lag 2 the last but one (delay.py). O(arcs · K + states · T²) for K tags per word of T.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from latentgram.arrays import Floats, Floats32, Integers, Ints
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.errors import SettingError
from latentgram.parallel import one_thread
from latentgram.sequences.delay import Rise, delayed
from latentgram.sequences.kernels import variational as kernels
from latentgram.sequences.kernels.variational_pairs import last_states_first
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.parameters import Emissions, Expected, Parameters

Table = Floats | Floats32
FLOOR = 1e-100
"""Probabilities below this count as this in logarithms: no −∞ · 0 in matrix products."""
COLUMNS = 16
RARE = 0.1
"""The share of words that are rarer than what is taken as one occurrence."""


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
    """With lag 2 the delayed one, whose arcs have the words that they tag."""
    shape: Emissions
    lag: int
    rise: Rise = field(default_factory=Rise.none)

    @classmethod
    def of(cls, model: BackoffNGram, dictionary: TagDictionary, lag: int | None = None) -> ApproximateCorpus:
        """Lag 1 where every arc has a word before it, else lag 0; a lag that the data cannot give is refused."""
        return cls.of_shape(model, Emissions.of(model.words, dictionary), lag)

    @classmethod
    def of_shape(cls, model: BackoffNGram, shape: Emissions, lag: int | None = None) -> ApproximateCorpus:
        """The same for words that may have these tags."""
        lost = float(model.flow[: model.arc_start[1]].sum())
        if lag is not None and lag > 0 and lost > 0:
            raise SettingError(
                f"lag {lag} needs a history for every word, but the automaton backs off to the empty history "
                f"{lost:.3g} times per sentence: keep all bigrams when counting, remove that history "
                "(empty_history=False), or use lag 0"
            )
        if lag == 2:
            later, rise = delayed(model)
            return cls(later, shape, lag, rise)
        return cls(model, shape, lag if lag is not None else 0 if lost > 0 else 1)

    @cached_property
    def machine(self) -> kernels.Machine:
        """The automaton as the kernels take it."""
        model, source = self.model, self.model.source
        tagged = model.last_word[source] if self.lag == 1 else model.arc_word
        lower = model.arc_lower if model.reading == "failure" else np.full(model.arcs, -1, np.int32)
        if self.lag == 1:
            # Arcs of the empty history are never taken and have no word to tag: let them tag the boundary.
            tagged = np.maximum(tagged, 0)
            lower = np.where(lower < model.arc_start[1], -1, lower)
        state, arc, share = source, np.arange(model.arcs, dtype=np.int32), model.arc_prob
        if len(upper := np.flatnonzero(lower >= 0)):
            below = lower[upper].astype(np.int32)
            lost = -model.failure[source[upper]] * model.arc_prob[below]
            order = np.argsort(np.concatenate([2 * arc, 2 * upper + 1]), kind="stable")
            state = np.concatenate([source, source[upper]])[order]
            arc, share = np.concatenate([arc, below])[order], np.concatenate([share, lost])[order]
        return kernels.Machine(
            model.arc_start, model.arc_target, model.arc_prob, model.flow, model.backoff, model.failure,
            np.ascontiguousarray(tagged, np.int32), self.shape.start, self.shape.tag,
            _offsets(state, model.states), state, arc, share, _offsets(self.rise.source, model.states), *self.rise,
        )  # fmt: skip

    @cached_property
    def last_first(self) -> Ints:
        """The states that sentences pass, each behind those it leads to, but for cycles.

        Where words wait for their tags, the first state of a sentence tells those of the one before: it comes
        first.
        """
        model, failing = self.model, np.flatnonzero(self.model.failure > 0)
        source = np.concatenate([model.source, failing, self.rise.source])
        target = np.concatenate([model.arc_target, model.backoff[failing], self.rise.target])
        order = np.argsort(source, kind="stable")
        found: Ints = last_states_first(_offsets(source, model.states), target[order], model.initial)
        return np.roll(found, 1) if self.lag else found

    @cached_property
    def phi_start(self) -> Ints:
        """[arcs + 1] where the tag distribution of each arc begins when φ is stored."""
        size = np.diff(self.shape.start)[self.machine.tagged]
        return np.concatenate([[0], np.cumsum(size)]).astype(np.int64)

    @cached_property
    def phi_entry(self) -> Ints:
        """[φ] the entry of the emissions that each number of φ is of."""
        shift = self.shape.start[self.machine.tagged] - self.phi_start[:-1]
        return np.repeat(shift, np.diff(self.phi_start)) + np.arange(self.phi_start[-1])

    @cached_property
    def uniform_phi(self) -> Floats:
        """The φ from which learning starts: all tags that a word may have are equally probable."""
        size = np.diff(self.phi_start)
        return np.repeat(1.0 / size, size)

    @property
    def tags(self) -> int:
        """Tags, the boundary included."""
        return len(self.shape.tags)

    @cached_property
    def word_count(self) -> Ints:
        """[words] how often each word stands in the sentences."""
        count = np.bincount(self.model.arc_word, self.model.flow * self.model.sentences, len(self.model.words))
        return np.rint(count).astype(np.int64)

    @cached_property
    def room(self) -> tuple[Floats32, ...]:
        """Five tables [states, columns] and one [words, tags], for rounds that go through all tags of all states.

        They are kept from round to round, since fresh memory takes as long as filling it, and have a multiple of
        16 columns, so that loops over a row have no rest; the columns beyond the tags stay 0.
        """
        tables = np.zeros((5, self.model.states, -(-self.tags // COLUMNS) * COLUMNS), np.float32)
        return *tables, np.zeros((len(self.shape.words), self.tags), np.float32)

    def table(self) -> Floats:
        """An empty table [states, T]."""
        return np.zeros((self.model.states, self.tags))

    @cached_property
    def inverse_visits(self) -> Floats:
        """[states, 1] 1 / W(h), 0 where nothing passes."""
        visits = self.model.expected_visits
        return np.where(visits > 0, 1.0 / np.where(visits > 0, visits, 1.0), 0.0)[:, None]

    def statistics(self, phi: Floats) -> tuple[Expected, Memory]:
        """Expected counts per sentence under a stored φ, and its memory."""
        own, into, emission = self.table(), self.table(), np.zeros(len(self.shape.tag))
        kernels.accumulate(self.machine, self.phi_start, phi, own, into, emission)
        up = own.copy()
        kernels.gather_up(self.machine, up)
        kernels.spread_down(self.machine, into)
        with one_thread():
            return Expected(into.T @ own, emission), Memory(into, up)

    def scores(self, memory: Memory, transition: Floats) -> Floats:
        """What the neighbours of each arc say of its tag, for a stored φ; see `arc_scores`."""
        logs = safe_log(transition)
        scores = np.zeros(int(self.phi_start[-1]))
        with one_thread():
            before, after = memory.down @ logs, memory.up @ logs.T
        kernels.arc_scores(self.machine, self.phi_start, before, after, scores)
        return scores

    def response(self, memory: Memory, parameters: Parameters) -> Floats:
        """The best φ of every arc against the others' of the round before (§3.5)."""
        phi = np.empty(int(self.phi_start[-1]))
        scores = self.scores(memory, parameters.transition)
        kernels.best_response(self.machine, self.phi_start, parameters.emission, scores, phi)
        return phi

    def hardened(self, phi: Floats) -> Floats:
        """The φ that gives every arc its likeliest tag, the first among equals, for certain."""
        order = np.lexsort(
            (np.arange(len(phi)), -phi, np.repeat(np.arange(len(self.phi_start) - 1), np.diff(self.phi_start)))
        )
        hard = np.zeros(len(phi))
        hard[order[self.phi_start[:-1]]] = 1.0
        return hard

    def bounded(self, phi: Floats, expected: Expected, parameters: Parameters) -> Expected:
        """Expected counts with the bound (5), for a stored φ that has these."""
        inner = phi * (safe_log(parameters.emission)[self.phi_entry] - np.log(np.maximum(phi, 1e-300)))
        total = float(np.repeat(self.machine.flow, np.diff(self.phi_start)) @ inner)
        return replace(
            expected, bound=total + float((expected.transition * safe_log(parameters.transition)).sum())
        )


def _offsets(source: Integers, states: int) -> Ints:
    """[states + 1] where the items of each state begin when they are in the order of their states."""
    return np.concatenate([[0], np.cumsum(np.bincount(source, minlength=states))]).astype(np.int64)


def standing_for(model: BackoffNGram, sentences: int = 0) -> BackoffNGram:
    """The automaton as one of so many sentences: 0 for those it was counted from.

    One from an ARPA file does not know. Half of the words of a text occur once or twice, so it is taken to stand
    for so many sentences that a word at the rarest tenth occurs once.
    """
    if sentences == 0 and model.sentences != 1.0:
        return model
    if sentences == 0:
        of_word = np.bincount(model.arc_word, model.flow, len(model.words))[1:]
        of_word = of_word[of_word > 0]
        sentences = max(round(1.0 / float(np.quantile(of_word, RARE))), 1) if len(of_word) else 1
    return replace(model, sentences=float(sentences), visits=model.expected_visits)


def safe_log(values: Floats) -> Floats:
    """Logarithms with a floor in place of −∞."""
    return np.asarray(np.log(np.maximum(values, FLOOR)))
