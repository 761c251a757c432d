"""The second optimiser of `Variational`: L-BFGS on the exact gradient of the bound.

Smith and Eisner 2012, §3.4–3.5.

Each block of φ is a softmax of free numbers η. With θ at its best for the given φ (one M-step), the bound r is a
function of η alone, and by the envelope theorem its gradient is the partial one,

    ∂r/∂η_b(t) = φ_b(t) (∂r/∂φ_b(t) − E_{φ_b}[∂r/∂φ_b]).

n_q = 1: a block is an arc; ∂r/∂φ_a(t) = e_a (log p(w | t) − log φ_a(t) − 1 + score_a(t)), with the scores of the
best response, so a gradient costs one pass. n_q = 2: a block is an arc and the tag before;
∂r/∂φ_a(t | s) = F(a, s) (log p(t | s) + log p(w | t) − log φ_a(t | s) − 1 + V(g, t)), F the flow that comes to the
arc with s and V the expected value of what follows, both fixed points (kernels/variational_pairs.py).
φ is stored: O(arcs · K) memory, and T times that for n_q = 2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.optimize

from latentgram.arrays import Floats, Ints
from latentgram.kinds.kind import Context
from latentgram.sequences.approximate_corpus import ApproximateCorpus, safe_log
from latentgram.sequences.kernels.variational import gather_up, spread_down
from latentgram.sequences.kernels.variational_pairs import gather_values, send_flow
from latentgram.sequences.parameters import Expected, Parameters, Prior, maximise
from latentgram.sequences.settings import VariationalHMM

SWEEPS = 2000
SETTLED = 1e-13
"""Flows and values are swept until they change by less than this part of themselves."""


class SoftmaxBound(ABC):
    """The bound of the whole corpus as a function of η, and its gradient."""

    def __init__(self, corpus: ApproximateCorpus, prior: Prior, first: Ints, entry: Ints) -> None:
        self.corpus, self.prior = corpus, prior
        self.first, self.entry = first, entry
        """Where each block begins in η; and the entry of the emissions that each number of η is of."""
        self.block = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(entry))))

    @abstractmethod
    def expected(self, phi: Floats) -> Expected:
        """Expected counts per sentence."""

    @abstractmethod
    def bound_and_slope(self, phi: Floats, parameters: Parameters) -> tuple[float, Floats]:
        """(5) a sentence, and its derivatives by φ, θ standing still."""

    def phi(self, eta: Floats) -> Floats:
        """The softmax of each block."""
        weight = np.exp(eta - np.maximum.reduceat(eta, self.first)[self.block])
        return np.asarray(weight / np.add.reduceat(weight, self.first)[self.block])

    def best_parameters(self, phi: Floats) -> Parameters:
        """θ at its best for φ."""
        return maximise(self.expected(phi).times(self.corpus.model.sentences), self.corpus.shape, self.prior)

    def value(self, eta: Floats) -> tuple[float, Floats]:
        """The bound, log prior included, and its gradient."""
        phi, many = self.phi(eta), self.corpus.model.sentences
        parameters = self.best_parameters(phi)
        bound, slope = self.bound_and_slope(phi, parameters)
        mean = np.add.reduceat(phi * slope, self.first)[self.block]
        return many * bound + self.prior.log_density(parameters), many * phi * (slope - mean)


class IndependentChoices(SoftmaxBound):
    """n_q = 1: an arc chooses its tag whatever was chosen before."""

    def __init__(self, corpus: ApproximateCorpus, prior: Prior) -> None:
        super().__init__(corpus, prior, corpus.phi_start[:-1], corpus.phi_entry)

    def expected(self, phi: Floats) -> Expected:
        """Expected counts per sentence."""
        return self.corpus.statistics(phi)[0]

    def bound_and_slope(self, phi: Floats, parameters: Parameters) -> tuple[float, Floats]:
        """One pass for both."""
        expected, memory = self.corpus.statistics(phi)
        scores = self.corpus.scores(memory, parameters.transition)
        inner = safe_log(parameters.emission)[self.entry] - safe_log(phi) - 1.0 + scores
        bound = self.corpus.bounded(phi, expected, parameters).bound
        return bound, self.corpus.machine.flow[self.block] * inner


class ChoicesInTurn(SoftmaxBound):
    """n_q = 2: an arc chooses its tag given the one before; blocks are (arc, tag before), in that order."""

    def __init__(self, corpus: ApproximateCorpus, prior: Prior) -> None:
        size = np.diff(corpus.phi_start)
        self.choice_start = corpus.phi_start * corpus.tags
        sizes = np.repeat(size, corpus.tags)
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        row = np.repeat(corpus.shape.start[corpus.machine.tagged], corpus.tags)
        super().__init__(corpus, prior, first, np.repeat(row - first, sizes) + np.arange(sizes.sum()))
        self.before = self.block % corpus.tags
        self.arc = self.block // corpus.tags
        self.tag = corpus.shape.tag[self.entry]
        self.carried = np.asarray(corpus.statistics(corpus.uniform_phi)[1].down, np.float64)

    def flows(self, phi: Floats) -> Floats:
        """[numbers of η] how often the block of each is come to; D is swept from where it last stood."""
        corpus, machine = self.corpus, self.corpus.machine
        for _ in range(SWEEPS):
            into = corpus.table()
            send_flow(machine, self.choice_start, phi, self.carried, into)
            spread_down(machine, into)
            moved = np.abs(into - self.carried).max()
            self.carried = into
            if moved < SETTLED * into.max():
                break
        flows = np.zeros((corpus.model.arcs, corpus.tags))
        np.add.at(flows, machine.use_arc, machine.use_share[:, None] * self.carried[machine.use_state])
        return np.asarray(flows.ravel()[self.block])

    def values(self, phi: Floats, earned: Floats) -> Floats:
        """[states, T] V; after the boundary nothing of the sentence follows."""
        corpus, machine = self.corpus, self.corpus.machine
        ahead = corpus.table()
        for _ in range(SWEEPS):
            values = corpus.table()
            gather_values(machine, self.choice_start, phi, earned, ahead, values)
            gather_up(machine, values)
            values[:, 0] = 0.0
            moved = np.abs(values - ahead).max()
            ahead = values
            if moved < SETTLED * np.abs(values).max():
                break
        return ahead

    def expected(self, phi: Floats) -> Expected:
        """Expected counts per sentence."""
        count = self.flows(phi) * phi
        tags = self.corpus.tags
        pairs = np.bincount(self.before * tags + self.tag, count, minlength=tags * tags).reshape(tags, tags)
        emitted = np.bincount(self.entry, count, minlength=len(self.corpus.shape.tag))
        return Expected(np.asarray(pairs, np.float64), np.asarray(emitted, np.float64))

    def bound_and_slope(self, phi: Floats, parameters: Parameters) -> tuple[float, Floats]:
        """Sweeps of the flow and of the values."""
        earned = safe_log(parameters.transition)[self.before, self.tag] + safe_log(parameters.emission)[self.entry]
        earned -= safe_log(phi)
        flow = self.flows(phi)
        after = self.values(phi, earned)[self.corpus.machine.target[self.arc], self.tag]
        return float(flow @ (phi * earned)), flow * (earned - 1.0 + after)


BOUNDS = {1: IndependentChoices, 2: ChoicesInTurn}


def climb_gradient(
    corpus: ApproximateCorpus,
    start: Parameters,
    prior: Prior,
    window: int,
    settings: VariationalHMM,
    context: Context,
) -> tuple[Parameters, tuple[dict[str, float], ...]]:
    """L-BFGS from the tags that are best for the starting parameters when neighbours are not looked at."""
    problem = BOUNDS[window](corpus, prior)
    trace: list[dict[str, float]] = []

    def descend(eta: Floats) -> tuple[float, Floats]:
        bound, gradient = problem.value(eta)
        trace.append({"round": float(len(trace) + 1), "bound": bound})
        context.progress.step("L-BFGS", len(trace), None, bound=bound)
        return -bound, -gradient

    first = safe_log(start.emission)[problem.entry]
    optimum = scipy.optimize.minimize(
        descend, first, jac=True, method="L-BFGS-B", options={"maxiter": settings.iterations}
    )
    return problem.best_parameters(problem.phi(optimum.x)), tuple(trace)
