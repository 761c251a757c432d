"""`Variational`: an HMM from an approximate corpus (Smith and Eisner 2012).

The bound (5) on the log-likelihood (approximate_corpus.py) rises by turns in the tags φ of the arcs and in the
parameters θ. A round moves all blocks of φ at once to their best response (§3.5) and then takes

    p(t | s) ∝ N Ξ(s, t) + κ,   p(w | t) ∝ N Σ_{a of w} e_a φ_a(t) + κ'.

n_q = 1: φ_a(t) ∝ p(w | t) exp(S(h, t) + U(g, t)) with S(h, t) = Σ_s D(h, s) log p(t | s) / W(h) and
U(g, t) = Σ_s m(g, s) log p(s | t); forward weights do not depend on φ, and φ is never stored.
n_q = 2: see kernels/variational_pairs.py. Cost of a round: O(arcs · K + states · T²).

Large automata without a dictionary go through tables of all states by all tags (`open_round`). These are in single
precision, which halves the time and changes the bound by about 1e-7 of itself; where a normaliser leaves its range
the round is left to `fused_update`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.tag_dictionary import TagDictionary, WordClasses
from latentgram.data.text import BOUNDARY
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.numeric.em import ascend
from latentgram.parallel import one_thread
from latentgram.sequences.approximate_corpus import (
    FLOOR,
    ApproximateCorpus,
    Memory,
    safe_log,
    standing_for,
)
from latentgram.sequences.counting import from_counts
from latentgram.sequences.em import dictionary_of
from latentgram.sequences.empty_history import without_empty_history
from latentgram.sequences.hmm import HMM
from latentgram.sequences.kernels import variational as kernels
from latentgram.sequences.kernels import variational_open as open_kernels
from latentgram.sequences.kernels import variational_pairs as pair_kernels
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.parameters import Emissions, Expected, Parameters, Prior, as_hmm, maximise
from latentgram.sequences.settings import VariationalHMM
from latentgram.sequences.variational_gradient import climb_gradient
from latentgram.sequences.variational_triples import triple_round, triple_statistics

LARGE = 1 << 16
"""From so many arcs on, a round without dictionary goes through `open_round`."""
LEAST = 1e-32
"""A normaliser below this has lost digits."""
BLOCK = 2048
"""States whose scores are computed at a time: they should stay near the processor."""

Round = Callable[[ApproximateCorpus, Parameters, Memory], tuple[Expected, Memory]]


def independent_round(
    corpus: ApproximateCorpus, parameters: Parameters, memory: Memory
) -> tuple[Expected, Memory]:
    """One E-step for n_q = 1: expected counts per sentence with the bound (5), and the memory of the new φ."""
    if corpus.model.reading == "failure":
        phi = corpus.response(memory, parameters)
        expected, fresh = corpus.statistics(phi)
        return corpus.bounded(phi, expected, parameters), fresh
    # All arcs of a state tag the same word, and it may have every tag.
    if corpus.model.arcs >= LARGE and corpus.shape.full and corpus.lag == 1:
        step = open_round(corpus, parameters, memory)
        if step is not None:
            return step
    logs = safe_log(parameters.transition)
    with one_thread():
        before = (memory.down * corpus.inverse_visits) @ logs
        after = memory.up @ logs.T
    before -= before.max(1, keepdims=True)
    after -= after.max(1, keepdims=True)
    own, into, emission = corpus.table(), corpus.table(), np.zeros(len(corpus.shape.tag))
    normaliser = np.empty(corpus.model.arcs)
    kernels.fused_update(
        corpus.machine, parameters.emission, np.exp(before), np.exp(after), own, into, emission, normaliser
    )
    # Σ_a e_a Σ_t φ (log p(w|t) − log φ) = Σ_a e_a log normaliser − Σ_h W n S − Σ_g D U, before failures.
    entropy = float(corpus.machine.flow @ np.log(np.maximum(normaliser, 1e-300)))
    entropy -= float(np.vdot(own * corpus.model.expected_visits[:, None], before)) + float(np.vdot(into, after))
    up = own.copy()
    kernels.gather_up(corpus.machine, up)
    kernels.spread_down(corpus.machine, into)
    with one_thread():
        pairs = into.T @ own
    return Expected(pairs, emission, entropy + float((pairs * logs).sum())), Memory(into, up)


def open_round(
    corpus: ApproximateCorpus, parameters: Parameters, memory: Memory
) -> tuple[Expected, Memory] | None:
    """The same where every tag may stand everywhere, with lag 1; None where single precision fails.

    O(arcs · T + states · T²); six tables of 4 · states · T bytes.
    """
    model, tags, logs = corpus.model, corpus.tags, safe_log(parameters.transition)
    before, after, before_log, after_log, own, emission = corpus.room
    into = np.zeros_like(before)
    own[:] = 0.0
    emission[0, 0] = 1.0
    emission[1:, 1:] = parameters.emission[1:].reshape(-1, tags - 1)
    forward, backward = logs.astype(np.float32), logs.T.astype(np.float32)
    word = np.maximum(model.last_word, 0)
    share = corpus.inverse_visits.astype(np.float32)
    blocks = [slice(begin, begin + BLOCK) for begin in range(0, model.states, BLOCK)]
    with one_thread():
        for part in blocks:
            # S(h, t) = Σ_s D(h, s) log p(t | s) / W(h),  U(g, t) = Σ_s m(g, s) log p(s | t).
            before_log[part, :tags] = (memory.down[part].astype(np.float32, copy=False) * share[part]) @ forward
            after_log[part, :tags] = memory.up[part].astype(np.float32, copy=False) @ backward
            open_kernels.shift_rows(before_log[part], tags)
            open_kernels.shift_rows(after_log[part], tags)
            before[part, :tags] = np.exp(before_log[part, :tags]) * emission[word[part]]
            after[part, :tags] = np.exp(after_log[part, :tags])
    normaliser = np.empty(model.arcs, np.float32)
    open_kernels.pass_arcs(corpus.machine, before, after, own, into, normaliser)
    if not normaliser[model.arc_start[1] :].min() > LEAST:
        return None
    # As in `independent_round`, Z_a being the normaliser.
    entropy = float(corpus.machine.flow @ np.log(np.maximum(normaliser, np.float32(LEAST))))
    emitted = np.zeros((len(corpus.shape.words), tags - 1))
    entropy -= open_kernels.finish_states(
        before, after, before_log, after_log, model.expected_visits, model.last_word, own, into, emitted
    )
    up = own.copy()
    kernels.gather_up(corpus.machine, up)
    kernels.spread_down(corpus.machine, into)
    pairs = np.zeros((tags, tags))
    with one_thread():
        for part in blocks:
            pairs += into[part, :tags].T @ own[part, :tags]
    counts = emitted.ravel()[tags - 2 :]
    counts[0] = pairs[:, 0].sum()
    expected = Expected(pairs, counts, entropy + float((pairs * logs).sum()))
    return expected, Memory(into[:, :tags], up[:, :tags])


def paired_round(corpus: ApproximateCorpus, parameters: Parameters, memory: Memory) -> tuple[Expected, Memory]:
    """One E-step for n_q = 2: a sweep of ρ against the flow, a sweep of the flow with the new φ."""
    rho = sweep_values(corpus, parameters, memory)
    into, pairs = corpus.table(), np.zeros((corpus.tags, corpus.tags))
    emission = np.zeros(len(corpus.shape.tag))
    logs = pair_kernels.flows(
        corpus.machine,
        np.arange(corpus.model.states),
        False,
        corpus.model.expected_visits,
        parameters.emission,
        _arriving(parameters),
        rho,
        np.exp(rho),
        pair_kernels.Flow(memory.down, into, into),
        pair_kernels.Counts(pairs, emission),
    )
    bound = float(logs) - float(np.vdot(into, rho))
    np.maximum(into, 0.0, out=into)
    kernels.spread_down(corpus.machine, into)
    return Expected(pairs.T.copy(), emission, bound), Memory(into, rho)


@dataclass(frozen=True)
class PassedMemory(Memory):
    """What passes over the states in turn leave behind: also the flow that waits for the next pass."""

    waiting: Floats


def passed_round(corpus: ApproximateCorpus, parameters: Parameters, memory: Memory) -> tuple[Expected, Memory]:
    """One E-step for n_q = 2 in turn (footnote 21): ρ from the last states to the first, then the flow back.

    On an automaton without cycles both are then what they should be for these parameters (with lag 2, which hands
    a tag over to the next sentence, in the third round).
    """
    order, model, arriving = corpus.last_first, corpus.model, _arriving(parameters)
    rho, carried, waiting = memory.up.astype(np.float64), memory.down.astype(np.float64), corpus.table()
    ahead = np.exp(rho)
    pair_kernels.values_in_turn(corpus.machine, order, parameters.emission, arriving, carried, rho, ahead)

    def passed(states: Ints) -> Expected:
        pairs, emission = np.zeros((corpus.tags, corpus.tags)), np.zeros(len(corpus.shape.tag))
        taken, before = corpus.table(), waiting.copy()
        logs = pair_kernels.flows(
            corpus.machine,
            states[::-1].copy(),
            True,
            model.expected_visits,
            parameters.emission,
            arriving,
            rho,
            ahead,
            pair_kernels.Flow(carried, waiting, taken),
            pair_kernels.Counts(pairs, emission),
        )
        # The ρ of where arcs lead is in log Z: what was brought in this pass, but not by failures and rises.
        brought = float(np.vdot(taken + waiting - before, rho))
        brought -= float(model.failure @ (carried * rho[model.backoff]).sum(1))
        rise = corpus.rise
        brought -= float(rise.share @ (carried[rise.source] * rho[rise.target]).sum(1))
        return Expected(pairs.T.copy(), emission, float(logs) - brought)

    if isinstance(memory, PassedMemory):
        waiting[:] = memory.waiting
    else:
        waiting[model.initial] = carried[model.initial]
        if order[0] == model.initial:
            passed(order[:1])
    return passed(order), PassedMemory(carried, rho, waiting)


def sweep_values(corpus: ApproximateCorpus, parameters: Parameters, memory: Memory) -> Floats:
    """ρ from the ρ before, each row's largest entry moved to 0."""
    rho = corpus.table()
    pair_kernels.values(
        corpus.machine, parameters.emission, _arriving(parameters), memory.up, np.exp(memory.up), memory.down, rho
    )
    kernels.gather_up(corpus.machine, rho)
    carried = memory.down > 0
    peak = np.where(carried, rho, -np.inf).max(1, keepdims=True)
    return np.where(carried, rho - np.where(np.isfinite(peak), peak, 0.0), 0.0)


def _arriving(parameters: Parameters) -> Floats:
    """[T, T] p(t | s), the tag that is reached first."""
    return np.ascontiguousarray(np.maximum(parameters.transition, FLOOR).T)


def hard_round(corpus: ApproximateCorpus, parameters: Parameters, memory: Memory) -> tuple[Expected, Memory]:
    """One E-step in which every arc has one tag (zero-entropy q, footnote 7)."""
    phi = corpus.hardened(corpus.response(memory, parameters))
    expected, fresh = corpus.statistics(phi)
    return corpus.bounded(phi, expected, parameters), fresh


ROUNDS: dict[int, Round] = {1: independent_round, 2: paired_round}
"""By n_q."""


def round_of(window: int, hard: bool = False, sweeps: int = 1, order: int = 2, sequential: bool = False) -> Round:
    """The E-step of the settings.

    Several sweeps let what is far away be heard before the parameters move. On an automaton without cycles as many
    sweeps as its longest path has arcs do what one sequential pass backwards and one forwards do (footnote 21):
    with n_q = 2, where a state determines the rest of the sentence, the bound is then the likelihood itself.
    """
    if window != 1 and (hard or order == 3):
        raise SettingError("hard tags and HMMs of order 3 need independently chosen tags: window 1")
    if window != 2 and sequential:
        raise SettingError("a sequential sweep needs tags chosen given the previous one: window 2")
    step = partial(triple_round, hard=hard) if order == 3 else hard_round if hard else ROUNDS[window]
    if sequential:
        step = passed_round

    def swept(corpus: ApproximateCorpus, parameters: Parameters, memory: Memory) -> tuple[Expected, Memory]:
        for _ in range(sweeps - 1):
            _, memory = step(corpus, parameters, memory)
        return step(corpus, parameters, memory)

    return swept


def first_memory(corpus: ApproximateCorpus, window: int, order: int = 2) -> tuple[Expected, Memory]:
    """Counts and memory of the uniform φ, from which learning starts."""
    if order == 3:
        return triple_statistics(corpus, corpus.uniform_phi)
    expected, memory = corpus.statistics(corpus.uniform_phi)
    if window == 2:
        memory = Memory(np.maximum(memory.down, 0.0), corpus.table())
    return expected, memory


def chosen_window(settings: VariationalHMM, reading: str) -> int:
    """n_q: as it is said, or 2 where a dictionary leaves few pairs of tags and nothing else asks for 1."""
    if isinstance(settings.window, int):
        return settings.window
    if settings.sequential:
        return 2
    alone = settings.hard or settings.order == 3 or settings.optimiser == "gradient" or reading == "failure"
    return 1 if alone or settings.dictionary is None else 2


def variational_hmm(data: BackoffNGram | NGramCounts, settings: VariationalHMM, context: Context) -> HMM:
    """The recipe: an HMM from a back-off automaton, or from counts read as exclusive ones."""
    model = from_counts(data) if isinstance(data, NGramCounts) else data
    if not isinstance(model, BackoffNGram):
        raise DataError(
            f"Variational learns from a BackoffNGram or NGramCounts, not from {type(data).__name__}: count the "
            "n-grams of a text first, NGramCounts.of(text, order=3), or learn from it by EM"
        )
    if not settings.empty_history:
        model = without_empty_history(model)
    model = standing_for(model, settings.sentences)
    if model.classes is not None and settings.dictionary is None:
        raise SettingError("the counts were reduced with a tag dictionary: give the one they were counted with")
    dictionary = dictionary_of(settings, settings.states)
    reduced = dictionary if model.classes is None else model.classes.dictionary(dictionary)
    corpus = ApproximateCorpus.of(model, reduced, None if isinstance(settings.lag, str) else settings.lag)
    prior = Prior(settings.transition_prior, settings.emission_prior)
    window = chosen_window(settings, model.reading)
    counts, memory = first_memory(corpus, window, settings.order)
    if settings.dictionary is None:
        # Without a dictionary all tags begin alike and must be told apart.
        counts.emission[:] *= np.exp(
            0.1 * np.random.default_rng(settings.seed).standard_normal(len(counts.emission))
        )
    start = maximise(counts.times(model.sentences), corpus.shape, prior)
    if settings.optimiser == "gradient":
        if settings.hard or settings.sweeps != 1 or settings.order != 2 or settings.sequential:
            raise SettingError("hard tags, sweeps and order 3 need the optimiser rounds, not gradient")
        parameters, trace = climb_gradient(corpus, start, prior, window, settings, context)
    else:
        step = round_of(window, settings.hard, settings.sweeps, settings.order, settings.sequential)
        parameters, trace = _climb_rounds(corpus, start, memory, prior, step, settings, context)
    if model.classes is None:
        return as_hmm(parameters, corpus.shape, corpus.word_count, trace, settings.unknown)
    parameters, shape = expanded(parameters, corpus.shape, model.classes, dictionary)
    return as_hmm(parameters, shape, model.classes.count, trace, settings.unknown)


def _climb_rounds(
    corpus: ApproximateCorpus,
    start: Parameters,
    memory: Memory,
    prior: Prior,
    step: Round,
    settings: VariationalHMM,
    context: Context,
) -> tuple[Parameters, tuple[dict[str, float], ...]]:
    """Rounds of best responses; what climbs is the pair of the parameters and the memory of φ."""

    def expect(point: tuple[Parameters, Memory]) -> tuple[tuple[Expected, Memory], float]:
        expected, fresh = step(corpus, *point)
        whole = expected.times(corpus.model.sentences)
        return (whole, fresh), whole.bound + prior.log_density(point[0])

    def improve(expected: tuple[Expected, Memory]) -> tuple[Parameters, Memory]:
        return maximise(expected[0], corpus.shape, prior), expected[1]

    def finished(parameters: Parameters) -> HMM:
        return as_hmm(parameters, corpus.shape, corpus.word_count, unknown_words=settings.unknown)

    score = context.dev_score
    ascent = ascend(
        (start, memory), expect, improve,
        iterations=settings.iterations, tolerance=settings.tolerance, progress=context.progress, stage="rounds",
        score=None if score is None else lambda point: score(finished(point[0])),
    )  # fmt: skip
    return ascent.model[0], ascent.trace


def expanded(
    parameters: Parameters, shape: Emissions, classes: WordClasses, dictionary: TagDictionary
) -> tuple[Parameters, Emissions]:
    """Parameters learned on classes of words, for the words themselves: p(w | t) = p(class | t) · share of w."""
    full = Emissions.of(classes.words, dictionary)
    word = np.repeat(np.arange(len(classes.words)), np.diff(full.start))
    within = np.arange(len(full.tag)) - full.start[word]
    emission = parameters.emission[shape.start[classes.place[word]] + within] * classes.share()[word]
    emission[BOUNDARY] = 1.0
    return Parameters(parameters.transition, emission), full
