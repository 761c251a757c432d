"""Rules as sums of a few products: low-rank tensors, with which a grammar of many states parses faster.

A rule of m states per symbol has m³ numbers, and each use of it costs m³. Written as a sum of r products
(PARAFAC; Cohen and Collins 2012 for grammars with hidden states, Cohen, Satta and Collins 2013 for plain ones),

    T(i,j,k) ≈ Σ_l U(l,i) V(l,j) W(l,k),    so that    T( · , x, y) ≈ Σ_l U(l, · ) (V(l, · ) · x) (W(l, · ) · y),

it has 3rm, and a use costs 3rm (kernels/low_rank.py). The sum is found by alternating least squares: with two of
the three matrices fixed, the third solves linear equations of r unknowns,

    U = T₍₁₎ (V ⊙ W) (VᵀV ∗ WᵀW)⁻¹,    ⊙ the products of columns pair by pair, ∗ the products of entries.

It goes on in the coordinates of the 2r strongest directions of each side (higher-order singular vectors), which
makes a round cost r·(2r)³ in place of r·m³, for a batch of rules at a time. A rule that has no more than r
products to begin with, since two of its symbols have few states, is written out exactly.

The grammar keeps the products and, as its tensors, what they sum to: so its probabilities are one thing, whoever
computes them. Signed numbers only: sums of products of an L-PCFG of probabilities would not stay probabilities.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from latentgram.arrays import Floats
from latentgram.errors import SettingError
from latentgram.lpcfg.model import LPCFG, layout, sum_of_products
from latentgram.parallel import one_thread

Matrices = tuple[Floats, Floats, Floats]

ROUNDS = 30
BATCH = 64
"""Rules taken together."""
_RIDGE = 1e-9
"""Of the linear equations, relative to their size."""


def low_rank(grammar: LPCFG, rank: int) -> LPCFG:
    """The grammar whose rules are sums of at most `rank` products each.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Spectral(states=4))
    >>> int(low_rank(grammar, 2).rule_rank.max())
    2
    """
    if grammar.nonnegative:
        raise SettingError("rules of probabilities cannot be sums of few products: learn the grammar by Spectral")
    states = grammar.states[grammar.rules].astype(np.int64)
    exact = np.sort(states, axis=1)[:, :2].prod(1)
    ranks = np.minimum(exact, rank).astype(np.int32)
    offset = layout(ranks * states.sum(1))
    factor = np.empty(int(offset[-1]))

    def keep(rule: int, parts: list[Floats]) -> None:
        """Store U, V and W of a rule."""
        factor[offset[rule] : offset[rule + 1]] = np.concatenate([part.T.ravel() for part in parts])

    for rule in np.flatnonzero(exact <= rank).tolist():
        keep(rule, _written_out(grammar.tensor(rule)))
    others = np.flatnonzero(exact > rank)
    with one_thread():
        for first in range(0, len(others), BATCH):
            batch = others[first : first + BATCH]
            padded = np.zeros((len(batch), *states[batch].max(0)))
            for place, rule in enumerate(batch.tolist()):
                a, b, c = states[rule]
                padded[place, :a, :b, :c] = grammar.tensor(rule)
            matrices = parallel_factors(padded, rank)
            for place, rule in enumerate(batch.tolist()):
                keep(rule, [m[place, :size] for m, size in zip(matrices, states[rule], strict=True)])
    products = dataclasses.replace(grammar, rule_rank=ranks, rule_factor=factor)
    tensor = sum_of_products(products)
    return products if tensor is None else dataclasses.replace(products, rule_tensor=tensor)


def _written_out(tensor: Floats) -> list[Floats]:
    """U, V and W with a column for each pair of states of the two symbols that have fewest."""
    longest = int(np.argmax(tensor.shape))
    fewer = [axis for axis in range(3) if axis != longest]
    shape = [tensor.shape[axis] for axis in fewer]
    parts: list[Floats] = [np.empty(0)] * 3
    parts[longest] = np.moveaxis(tensor, longest, 0).reshape(tensor.shape[longest], -1)
    parts[fewer[0]] = np.repeat(np.eye(shape[0]), shape[1], axis=1)
    parts[fewer[1]] = np.tile(np.eye(shape[1]), shape[0])
    return parts


def parallel_factors(tensors: Floats, rank: int, rounds: int = ROUNDS) -> Matrices:
    """U [n, a, r], V [n, b, r], W [n, c, r] of n tensors [n, a, b, c], by alternating least squares."""
    bases = [_directions(tensors, axis, 2 * rank) for axis in (1, 2, 3)]
    core = np.einsum("nijk,nip,njq,nkr->npqr", tensors, *bases, optimize=True)
    random = np.random.default_rng(0)
    parts = [random.normal(size=(len(core), size, rank)) for size in core.shape[1:]]
    unfolded = [np.moveaxis(core, axis, 1).reshape(len(core), core.shape[axis], -1) for axis in (1, 2, 3)]
    for _ in range(rounds):
        for axis in range(3):
            before, after = (parts[other] for other in range(3) if other != axis)
            pairs = (before[:, :, None, :] * after[:, None, :, :]).reshape(len(core), -1, rank)
            gram = (before.transpose(0, 2, 1) @ before) * (after.transpose(0, 2, 1) @ after)
            size = np.trace(gram, axis1=1, axis2=2)[:, None, None] / rank
            ridge = (_RIDGE * size + np.finfo(float).tiny) * np.eye(rank)
            right = (unfolded[axis] @ pairs).transpose(0, 2, 1)
            parts[axis] = np.linalg.solve(gram + ridge, right).transpose(0, 2, 1)
            if axis < 2:
                parts[axis] /= np.maximum(np.linalg.norm(parts[axis], axis=1, keepdims=True), 1e-300)
    # Each product is shared among its three parts, so that no number is much larger than others.
    length = np.cbrt(np.maximum(np.linalg.norm(parts[2], axis=1, keepdims=True), 1e-300))
    parts = [parts[0] * length, parts[1] * length, parts[2] / length**2]
    u, v, w = (base @ part for base, part in zip(bases, parts, strict=True))
    return u, v, w


def _directions(tensors: Floats, axis: int, most: int) -> Floats:
    """[n, size, k] the strongest singular vectors of the tensors unfolded along an axis."""
    rows = np.moveaxis(tensors, axis, 1).reshape(len(tensors), tensors.shape[axis], -1)
    _, vectors = np.linalg.eigh(rows @ rows.transpose(0, 2, 1))
    return np.asarray(vectors[:, :, ::-1][:, :, :most])
