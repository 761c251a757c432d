"""The second optimiser of `Variational`: L-BFGS on the exact gradient of the bound (002 §3.4–3.5).

Each block of φ is a softmax of free numbers η. With θ at its best for the given φ (one M-step), the bound is a
function of η alone, and by the envelope theorem its gradient is the partial one,

    ∂r/∂φ_a(t) = e_a (log p(w | t) − log φ_a(t) − 1 + score_a(t)),   ∂r/∂η_a(t) = φ_a(t) (∂r/∂φ_a(t) − E_φ[∂r/∂φ]).

The scores are those of the best response, so a gradient costs one pass. φ is stored: O(arcs · K) memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from latentgram.learn.hmm_parameters import Expected, Parameters, Prior, maximise
from latentgram.learn.recipes import Context

if TYPE_CHECKING:
    from latentgram.learn.variational import ApproximateCorpus

Floats = NDArray[np.float64]


class SoftmaxBound:
    """The bound of the whole corpus as a function of η, and its gradient."""

    def __init__(self, corpus: ApproximateCorpus, prior: Prior) -> None:
        self.corpus, self.prior = corpus, prior
        size = np.diff(corpus.phi_start)
        self.arc = np.repeat(np.arange(len(size)), size)
        start = corpus.shape.start[corpus.machine.tagged] - corpus.phi_start[:-1]
        self.entry = np.repeat(start, size) + np.arange(len(self.arc))
        self.flow = corpus.machine.flow[self.arc]

    def phi(self, eta: Floats) -> Floats:
        """The softmax of each block."""
        first = self.corpus.phi_start[:-1]
        weight = np.exp(eta - np.maximum.reduceat(eta, first)[self.arc])
        return np.asarray(weight / np.add.reduceat(weight, first)[self.arc])

    def best_parameters(self, phi: Floats) -> Parameters:
        """θ at its best for φ."""
        expected, _, _ = self.corpus.statistics(phi)
        many = self.corpus.model.sentences
        whole = Expected(expected.transition * many, expected.emission * many)
        return maximise(whole, self.corpus.shape, self.prior)

    def value(self, eta: Floats) -> tuple[float, Floats]:
        """The bound, log prior included, and its gradient."""
        corpus, phi = self.corpus, self.phi(eta)
        parameters = self.best_parameters(phi)
        _, memory, _ = corpus.statistics(phi)
        many = corpus.model.sentences
        bound = many * corpus.bound(phi, parameters) + self.prior.log_density(parameters)
        emission = np.log(np.maximum(parameters.emission, 1e-300))[self.entry]
        scores = corpus.scores(memory, parameters.transition)
        slope = self.flow * (emission - np.log(np.maximum(phi, 1e-300)) - 1.0 + scores)
        mean = np.add.reduceat(phi * slope, corpus.phi_start[:-1])[self.arc]
        return bound, many * phi * (slope - mean)


def climb_gradient(
    corpus: ApproximateCorpus, start: Parameters, prior: Prior, learner: Any, context: Context
) -> tuple[Parameters, tuple[dict[str, float], ...]]:
    """L-BFGS from the tags that are best for the starting parameters when neighbours are not looked at."""
    problem = SoftmaxBound(corpus, prior)
    trace: list[dict[str, float]] = []

    def descend(eta: Floats) -> tuple[float, Floats]:
        bound, gradient = problem.value(eta)
        trace.append({"round": float(len(trace) + 1), "bound": bound})
        context.progress.step("L-BFGS", len(trace), None, bound=bound)
        return -bound, -gradient

    first = np.log(np.maximum(start.emission, 1e-300))[problem.entry]
    found = scipy.optimize.minimize(
        descend, first, jac=True, method="L-BFGS-B", options={"maxiter": learner.iterations}
    )
    return problem.best_parameters(problem.phi(found.x)), tuple(trace)
