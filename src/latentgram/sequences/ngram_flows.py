"""Expected visits of the states of a back-off automaton: a sparse linear system, solved once.

With W(#) = 1 for the state that begins a sentence (and to which the arcs that end one lead back),

    W(g) = Σ_{arcs h → g} c_a W(h) + Σ_{h: b(h) = g} failure(h) W(h).

Under the failure reading an arc a' = (h, w) shuts the arc a = (b(h), w) for those who come from h, which takes
failure(h) · c_a · W(h) from the target of a. Plain sweeps need hundreds of rounds, BiCGSTAB about a hundred
products; small systems are solved directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from latentgram.errors import DataError

if TYPE_CHECKING:
    from latentgram.sequences.ngram import BackoffNGram

DIRECT = 3000
"""Up to this many states the system is solved by elimination."""


def _moves(model: BackoffNGram) -> Any:
    """[states, states] sparse: the weight with which a visit of column h brings a visit of row g."""
    rows = [model.arc_target, model.backoff[1:]]
    columns = [model.source, np.arange(1, model.states, dtype=np.int32)]
    weights = [model.arc_prob, model.failure[1:]]
    if model.reading == "failure":
        upper = np.flatnonzero(model.arc_lower >= 0)
        lower = model.arc_lower[upper]
        rows.append(model.arc_target[lower])
        columns.append(model.source[upper])
        weights.append(-model.failure[model.source[upper]] * model.arc_prob[lower])
    cells = (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns)))
    return scipy.sparse.csr_array(cells, shape=(model.states, model.states))


def expected_visits(model: BackoffNGram) -> NDArray[np.float64]:
    """[states] expected visits a sentence."""
    moves = _moves(model)
    start = model.initial
    if start == 0 and model.states == 1:
        ends = float(model.arc_prob[model.arc_word == 0].sum())
        return np.array([1.0 / ends])
    others = np.flatnonzero(np.arange(model.states) != start)
    inner = moves[others][:, others]
    right = moves[others][:, [start]].toarray()[:, 0]
    system = scipy.sparse.eye_array(len(others)) - inner
    if len(others) <= DIRECT:
        found = np.atleast_1d(scipy.sparse.linalg.spsolve(system.tocsc(), right))
    else:
        found, fault = scipy.sparse.linalg.bicgstab(system, right, rtol=1e-13, atol=0.0, maxiter=5000)
        if fault:
            raise DataError(
                "expected visits of the n-gram automaton do not converge: does it ever end a sentence?"
            )
    visits = np.empty(model.states)
    visits[start], visits[others] = 1.0, np.maximum(found, 0.0)
    return visits
