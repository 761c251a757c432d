"""A round of `Variational` for large automata without a dictionary: tables of all states by all tags.

See `dp.variational_open`. The tables are in single precision, which halves the time and changes the bound by
about 1e-7 of itself; where a normaliser leaves its range the round is left to `dp.variational.fused_update`.
They have a multiple of 16 columns, so that loops over a row have no rest; those beyond the tags stay 0.
O(arcs · T + states · T²); six tables of 4 · states · T bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.numeric.threads import one_thread
from latentgram.sequences.hmm_parameters import Expected, Parameters
from latentgram.sequences.kernels.variational import gather_up, spread_down
from latentgram.sequences.kernels.variational_open import finish_states, pass_arcs, shift_rows

if TYPE_CHECKING:
    from latentgram.sequences.variational import ApproximateCorpus

Table = NDArray[np.floating[Any]]

LARGE = 1 << 16
"""From so many arcs on, a round is worked out here."""
LEAST = 1e-32
"""A normaliser below this has lost digits."""
BLOCK = 2048
"""States whose scores are worked out at a time: they should stay near the processor."""
COLUMNS = 16


def is_open(corpus: ApproximateCorpus) -> bool:
    """Whether a round may be worked out here: every tag for every word, and the tagged word given by the state."""
    exact = corpus.model.reading == "failure"
    return corpus.model.arcs >= LARGE and corpus.shape.full and corpus.lag == 1 and not exact


class Scratch(NamedTuple):
    """What every round fills anew; kept from round to round, since fresh memory takes as long as filling it."""

    before: Table
    after: Table
    before_log: Table
    after_log: Table
    own: Table
    emission: Table

    @classmethod
    def of(cls, states: int, words: int, tags: int) -> Scratch:
        """Five tables [states, columns] and one [words, tags]."""
        before, after, before_log, after_log, own = np.zeros(
            (5, states, -(-tags // COLUMNS) * COLUMNS), np.float32
        )
        return cls(before, after, before_log, after_log, own, np.zeros((words, tags), np.float32))


def open_round(
    corpus: ApproximateCorpus, parameters: Parameters, logs: NDArray[np.float64], down: Table, up: Table
) -> tuple[Expected, Table, Table, float] | None:
    """Expected counts a sentence, D and m of the new φ, and its bound (5); None where single precision fails.

    `logs` are those of the transitions; `down` and `up` are D and m of the φ before.
    """
    model, tags = corpus.model, corpus.tags
    before, after, before_log, after_log, own, emission = corpus.scratch
    into = np.zeros_like(before)
    own[:] = 0.0
    emission[0, 0] = 1.0
    emission[1:, 1:] = parameters.emission[1:].reshape(-1, tags - 1)
    forward, backward = logs.astype(np.float32), logs.T.astype(np.float32)
    word = np.maximum(model.last_word, 0)
    share = corpus.inverse_visits.astype(np.float32)
    with one_thread():
        for begin in range(0, model.states, BLOCK):
            part = slice(begin, begin + BLOCK)
            # S(h, t) = Σ_s D(h, s) log p(t | s) / W(h),  U(g, t) = Σ_s m(g, s) log p(s | t).
            before_log[part, :tags] = (down[part].astype(np.float32, copy=False) * share[part]) @ forward
            after_log[part, :tags] = up[part].astype(np.float32, copy=False) @ backward
            shift_rows(before_log[part], tags)
            shift_rows(after_log[part], tags)
            before[part, :tags] = np.exp(before_log[part, :tags]) * emission[word[part]]
            after[part, :tags] = np.exp(after_log[part, :tags])
    normaliser = np.empty(model.arcs, np.float32)
    pass_arcs(corpus.machine, before, after, own, into, normaliser)
    if not normaliser[model.arc_start[1] :].min() > LEAST:
        return None
    # Σ_a e_a Σ_t φ (log p(w|t) − log φ) = Σ_a e_a log Z_a − Σ_h W n S − Σ_g D U, before failures.
    entropy = float(corpus.machine.flow @ np.log(np.maximum(normaliser, np.float32(LEAST))))
    emitted = np.zeros((len(corpus.shape.words), tags - 1))
    entropy -= finish_states(
        before, after, before_log, after_log, model.expected_visits, model.last_word, own, into, emitted
    )
    up = own.copy()
    gather_up(corpus.machine, up)
    spread_down(corpus.machine, into)
    pairs = np.zeros((tags, tags))
    with one_thread():
        for begin in range(0, model.states, BLOCK):
            part = slice(begin, begin + BLOCK)
            pairs += into[part, :tags].T @ own[part, :tags]
    counts = emitted.ravel()[tags - 2 :]
    counts[0] = pairs[:, 0].sum()
    return Expected(pairs, counts), into[:, :tags], up[:, :tags], entropy + float((pairs * logs).sum())
