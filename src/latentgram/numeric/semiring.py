"""Semirings: what ⊕, ⊗, 0 and 1 mean in a dynamic program, and how to differentiate through them.

A dynamic program sums products of weights over structures. With other meanings of "sum" and "product" the same
recurrence gives other answers (Goodman 1999):

| semiring     | ⊕             | ⊗     | 0  | 1 | the value at the root       |
|--------------|---------------|-------|----|---|-----------------------------|
| `Real`       | x + y         | x · y | 0  | 1 | Z                           |
| `Log`        | log(eˣ + eʸ)  | x + y | −∞ | 0 | log Z                       |
| `Wide`       | x + y         | x · y | 0  | 1 | Z                           |
| `Max`        | max(x, y)     | x + y | −∞ | 0 | log-probability of the best |
| `MaxProduct` | max(x, y)     | x · y | 0  | 1 | probability of the best     |

`Wide` is `Real` without an end: a number m · 2²⁵⁶ᵏ is the pair m + ik, kept in a complex number, with m near 1. It
takes the range of logarithms and a few products and comparisons instead of an exponential per term.

`MaxProduct` is `Max` for non-negative numbers that a program scales itself: it differs from `Real` in ⊕ alone.

**Outside is the adjoint of inside.** A node of the program is t = ⊕ₖ xₖ ⊗ yₖ. Given ∂(root)/∂t, `pull` gives the
share that one term hands down to xₖ, so one backward kernel serves all semirings:

    Real   ∂Z/∂t · y                     (the classical outside weight)
    Log    ∂log Z/∂t · exp(x ⊗ y − t)    (the posterior itself)
    Wide   ∂log Z/∂t · (x ⊗ y) / t       (the same)
    Max    ∂best/∂t if x ⊗ y = t         (1 on the best structure, 0 elsewhere)

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

from latentgram.compiling import REORDER, by_type, depends_on_type, jitable


class Real(NamedTuple):
    """Sums of products of real numbers."""


class Log(NamedTuple):
    """The same in logarithms, for non-negative weights."""


class Wide(NamedTuple):
    """The same as `Log` in plain numbers of a great range."""


class Max(NamedTuple):
    """The best structure, in logarithms."""


class MaxProduct(NamedTuple):
    """The best structure, of non-negative weights; only `plus` is needed beside the product of numbers."""


@depends_on_type
def zero(semiring):
    """The neutral element of ⊕."""


@depends_on_type
def one(semiring):
    """The neutral element of ⊗."""


@depends_on_type
def plus(semiring, x, y):
    """x ⊕ y."""


@depends_on_type
def times(semiring, x, y):
    """x ⊗ y."""


@depends_on_type
def pull(semiring, adjoint, other, term, total):
    """What the adjoint of total = … ⊕ term hands down to x, where term = x ⊗ other."""


@depends_on_type
def rest(semiring, adjoint, pulled):
    """What is left to hand down to the terms that follow, when one has pulled its share."""


@depends_on_type
def shares(semiring, terms):
    """The shares [terms] of the terms of a sum in it, but for a factor; in `Max` the greatest ones have it all."""


@depends_on_type
def posterior(semiring, value, adjoint, total):
    """The marginal probability of a node with this value and adjoint; total is the value at the root."""


def _log_plus(semiring, x, y):
    if x == -math.inf:
        return y
    high, low = (x, y) if x > y else (y, x)
    return high + math.log1p(math.exp(low - high))


_STEP = 2.0**256
_LOG_STEP = math.log(_STEP)
_HIGH, _LOW = 2.0**128, 2.0**-128
_NOTHING = complex(0.0, -1e18)


def _wide_plus(semiring, x, y):
    if x.imag == y.imag:
        return complex(x.real + y.real, x.imag)
    high, low = (x, y) if x.imag > y.imag else (y, x)
    return complex(high.real + low.real / _STEP, high.imag) if high.imag - low.imag == 1.0 else high


def _wide_times(semiring, x, y):
    size, steps = x.real * y.real, x.imag + y.imag
    if size >= _HIGH:
        return complex(size / _STEP, steps + 1.0)
    if size < _LOW:
        return complex(size * _STEP, steps - 1.0) if size > 0.0 else _NOTHING
    return complex(size, steps)


def _wide_pull(semiring, adjoint, other, term, total):
    steps = total.imag - term.imag
    if steps > 1.0 or term.real == 0.0:
        return 0.0
    share = adjoint * (term.real / total.real)
    return share if steps == 0.0 else share / _STEP if steps == 1.0 else share * _STEP


@jitable()
def wide_exp(logarithm):
    """The exponential of a number, in `Wide`."""
    if logarithm == -math.inf:
        return _NOTHING
    steps = np.floor(logarithm / _LOG_STEP + 0.5)
    return complex(math.exp(logarithm - steps * _LOG_STEP), steps)


@jitable()
def wide_log(number):
    """The logarithm of a number of `Wide`."""
    return math.log(number.real) + number.imag * _LOG_STEP if number.real > 0.0 else -math.inf


by_type(
    zero,
    {
        Real: lambda semiring: 0.0,
        Log: lambda semiring: -math.inf,
        Wide: lambda semiring: _NOTHING,
        Max: lambda semiring: -math.inf,
    },
)
by_type(
    one,
    {
        Real: lambda semiring: 1.0,
        Log: lambda semiring: 0.0,
        Wide: lambda semiring: complex(1.0, 0.0),
        Max: lambda semiring: 0.0,
    },
)
# Only sums of reals may be reordered (into SIMD lanes): a maximum must compare equal when it is computed again.
by_type(
    plus,
    {
        Real: lambda semiring, x, y: x + y,
        Log: _log_plus,
        Wide: _wide_plus,
        Max: lambda semiring, x, y: x if x >= y else y,
    },
    fastmath=REORDER,
)
# A maximum is the same in any order, but vector instructions want to know that there is no NaN.
by_type(plus, {MaxProduct: lambda semiring, x, y: x if x >= y else y}, fastmath=REORDER | {"nnan"})
by_type(
    times,
    {
        Real: lambda semiring, x, y: x * y,
        Log: lambda semiring, x, y: x + y,
        Wide: _wide_times,
        Max: lambda semiring, x, y: x + y,
    },
)
by_type(
    pull,
    {
        Real: lambda semiring, adjoint, other, term, total: adjoint * other,
        Log: lambda semiring, adjoint, other, term, total: (
            adjoint * math.exp(term - total) if total > -math.inf else 0.0
        ),
        Wide: _wide_pull,
        Max: lambda semiring, adjoint, other, term, total: adjoint if term == total else 0.0,
    },
)
by_type(
    rest,
    {
        Real: lambda semiring, adjoint, pulled: adjoint,
        Log: lambda semiring, adjoint, pulled: adjoint,
        Wide: lambda semiring, adjoint, pulled: adjoint,
        Max: lambda semiring, adjoint, pulled: adjoint - pulled,
    },
)
by_type(
    posterior,
    {
        Real: lambda semiring, value, adjoint, total: value * adjoint / total,
        Log: lambda semiring, value, adjoint, total: adjoint,
        Wide: lambda semiring, value, adjoint, total: adjoint,
        Max: lambda semiring, value, adjoint, total: adjoint,
    },
)
by_type(
    shares,
    {
        Real: lambda semiring, terms: terms,
        Log: lambda semiring, terms: np.exp(terms - terms.max()) if len(terms) > 0 else terms,
    },
)
