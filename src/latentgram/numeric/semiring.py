"""Semirings: what ⊕, ⊗, 0 and 1 mean in a dynamic program, and how to differentiate through them.

A dynamic program sums products of weights over structures. With other meanings of "sum" and "product" the same
recurrence gives other answers (Goodman 1999):

| semiring      | ⊕             | ⊗                        | 0     | 1     | the value at the root               |
|---------------|---------------|--------------------------|-------|-------|-------------------------------------|
| `Real`        | x + y         | x · y                    | 0     | 1     | Z, with powers of two taken out     |
| `Log`         | log(eˣ + eʸ)  | x + y                    | −∞    | 0     | log Z                               |
| `Max`         | max(x, y)     | x + y                    | −∞    | 0     | log-probability of the best         |
| `Expectation` | (p+q, r+s)    | (p·q, p·s + q·r)         | (0,0) | (1,0) | (Z, Σ p·r): r adds along structures |

An element of `Expectation` is kept in one complex number p + ri (Li & Eisner 2009); its ⊗ is not the complex
product.

**Outside is the adjoint of inside.** A node of the program is t = ⊕ₖ xₖ ⊗ yₖ. Given ∂(root)/∂t, `pull` gives the
share that one term hands down to xₖ, so one backward kernel serves all semirings:

    Real         ∂Z/∂t · y                     (the classical outside weight)
    Log          ∂log Z/∂t · exp(x ⊗ y − t)    (the posterior itself)
    Max          ∂best/∂t if x ⊗ y = t         (1 on the best structure, 0 elsewhere)
    Expectation  ∂/∂t ⊗ y

In `Max` several terms may reach the maximum; `rest` takes what was handed down out of what is left to hand down,
so the first of them gets all and the best structure is one structure. `posterior` turns a value and its adjoint
into the marginal probability.

A semiring is a *type*, an empty named tuple passed as an argument: numba specialises the kernel for it and, other
than with closures over compiled functions, finds the result in its cache on disk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentgram.numeric.compiling import REORDER, by_type


class Real(NamedTuple):
    """Sums of products of real numbers."""


class Log(NamedTuple):
    """The same in logarithms, for non-negative weights."""


class Max(NamedTuple):
    """The best structure, in logarithms."""


class Expectation(NamedTuple):
    """Sums of products, and with them the expectation of something that adds along a structure."""


def zero(semiring):
    """The neutral element of ⊕."""


def one(semiring):
    """The neutral element of ⊗."""


def plus(semiring, x, y):
    """x ⊕ y."""


def times(semiring, x, y):
    """x ⊗ y."""


def pull(semiring, adjoint, other, term, total):
    """What the adjoint of total = … ⊕ term hands down to x, where term = x ⊗ other."""


def rest(semiring, adjoint, pulled):
    """What is left to hand down to the terms that follow, when one has pulled its share."""


def choose(semiring, terms, uniform):
    """Which of the terms of a sum to follow downwards: the greatest, or one drawn with probability term / total
    by a number in [0, 1)."""


def shares(semiring, terms):
    """The shares [terms] of the terms of a sum in it, but for a factor; in `Max` the greatest ones have it all."""


def posterior(semiring, value, adjoint, total):
    """The marginal probability of a node with this value and adjoint; total is the value at the root."""


def needs_total(semiring):
    """Whether `pull` looks at `total`: if not, kernels need not recompute it."""


def needs_scaling(semiring):
    """Whether long products leave the range of floating point."""


def _log_plus(semiring, x, y):
    if x == -math.inf:
        return y
    high, low = (x, y) if x > y else (y, x)
    return high + math.log1p(math.exp(low - high))


def _draw(semiring, terms, uniform):
    left = uniform * terms.sum()
    chosen = -1
    for index in range(terms.shape[0]):
        if terms[index] > 0:
            chosen = index
            left -= terms[index]
            if left < 0:
                break
    return chosen


by_type(
    zero,
    {
        Real: lambda semiring: 0.0,
        Log: lambda semiring: -math.inf,
        Max: lambda semiring: -math.inf,
        Expectation: lambda semiring: 0j,
    },
)
by_type(
    one,
    {
        Real: lambda semiring: 1.0,
        Log: lambda semiring: 0.0,
        Max: lambda semiring: 0.0,
        Expectation: lambda semiring: 1 + 0j,
    },
)
# Only sums of reals may be reordered (into SIMD lanes): a maximum must compare equal when it is computed again.
by_type(
    plus,
    {
        Real: lambda semiring, x, y: x + y,
        Log: _log_plus,
        Max: lambda semiring, x, y: x if x >= y else y,
        Expectation: lambda semiring, x, y: x + y,
    },
    fastmath=REORDER,
)
by_type(
    times,
    {
        Real: lambda semiring, x, y: x * y,
        Log: lambda semiring, x, y: x + y,
        Max: lambda semiring, x, y: x + y,
        Expectation: lambda semiring, x, y: complex(x.real * y.real, x.real * y.imag + x.imag * y.real),
    },
)
by_type(
    pull,
    {
        Real: lambda semiring, adjoint, other, term, total: adjoint * other,
        Log: lambda semiring, adjoint, other, term, total: (
            adjoint * math.exp(term - total) if total > -math.inf else 0.0
        ),
        Max: lambda semiring, adjoint, other, term, total: adjoint if term == total else 0.0,
        Expectation: lambda semiring, adjoint, other, term, total: complex(
            adjoint.real * other.real, adjoint.real * other.imag + adjoint.imag * other.real
        ),
    },
)
by_type(
    rest,
    {
        Real: lambda semiring, adjoint, pulled: adjoint,
        Log: lambda semiring, adjoint, pulled: adjoint,
        Max: lambda semiring, adjoint, pulled: adjoint - pulled,
        Expectation: lambda semiring, adjoint, pulled: adjoint,
    },
)
by_type(
    posterior,
    {
        Real: lambda semiring, value, adjoint, total: value * adjoint / total,
        Log: lambda semiring, value, adjoint, total: adjoint,
        Max: lambda semiring, value, adjoint, total: adjoint,
        Expectation: lambda semiring, value, adjoint, total: value.real * adjoint.real / total.real,
    },
)
by_type(
    needs_total,
    {
        Real: lambda semiring: False,
        Log: lambda semiring: True,
        Max: lambda semiring: True,
        Expectation: lambda semiring: False,
    },
)
by_type(
    needs_scaling,
    {
        Real: lambda semiring: True,
        Log: lambda semiring: False,
        Max: lambda semiring: False,
        Expectation: lambda semiring: True,
    },
)
by_type(choose, {Real: _draw, Max: lambda semiring, terms, uniform: terms.argmax()})
by_type(
    shares,
    {
        Real: lambda semiring, terms: terms,
        Log: lambda semiring, terms: np.exp(terms - terms.max()) if len(terms) > 0 else terms,
    },
)
