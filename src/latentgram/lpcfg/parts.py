"""What all learners of latent-variable grammars share: back-off weights, orders of nodes, assembly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.lpcfg.kernels.pulled_means import leading_parts
from latentgram.lpcfg.layout import layout, rule_layout
from latentgram.lpcfg.lexicon import LexiconPlan
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.statistics.data import GrammarData
from latentgram.lpcfg.statistics.derivations import Derivations
from latentgram.lpcfg.statistics.sums import sums_by

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def back_off_weight(counts: NDArray[np.integer] | Floats, constant: float) -> Floats:
    """λ = √n / (C + √n) (004 §3.2); C = 0 means no smoothing."""
    root = np.sqrt(np.asarray(counts, np.float64))
    return np.asarray(root / (constant + root), np.float64)


def nodes_by_rule(derivations: Derivations) -> tuple[Ints, Ints]:
    """The inner nodes by rule, and where each rule begins among them."""
    inner = np.flatnonzero(derivations.rule >= 0)
    order = inner[np.argsort(derivations.rule[inner], kind="stable")]
    return order, np.searchsorted(derivations.rule[order], np.arange(len(derivations.rules) + 1))


def symbol_means(derivations: Derivations, values: Floats) -> Floats:
    """The mean of the nodes' rows for each symbol: [symbols, m]."""
    totals = sums_by(derivations.symbol, values, derivations.symbols)
    return np.asarray(totals / derivations.symbol_count[:, None], np.float64)


def ragged(rows: Floats, widths: NDArray[np.integer]) -> Floats:
    """The leading `widths[i]` numbers of each row, one after the other."""
    return np.asarray(leading_parts(rows, layout(widths)))


def assemble(
    data: GrammarData,
    states: NDArray[np.int32],
    rule_tensor: Floats,
    root: Floats,
    mean_inside: Floats,
    mean_outside: Floats,
    lexicon: LexiconPlan,
    vector: Floats,
    *,
    nonnegative: bool,
) -> LPCFG:
    """The grammar of rules learned and a lexicon with the vectors [entries, m].

    `root`, `mean_inside`, `mean_outside` are [symbols, m].
    """
    d = data.derivations
    symbol = lexicon.entries[:, 0]
    if nonnegative:
        total = sums_by(symbol, vector, d.symbols)
        vector = vector / np.where(total > 0, total, 1.0)[symbol]
    return LPCFG(
        interminals=d.interminals,
        preterminals=d.preterminals,
        words=lexicon.words,
        states=states,
        rules=d.rules,
        rule_offset=rule_layout(d.rules, states),
        rule_tensor=rule_tensor,
        lexicon=lexicon.entries,
        lexicon_offset=layout(states[symbol]),
        lexicon_vector=ragged(vector, states[symbol]),
        root_offset=layout(states),
        root_vector=ragged(root, states),
        mean_inside=ragged(mean_inside, states),
        mean_outside=ragged(mean_outside, states),
        rule_count=d.rule_count.astype(np.float64),
        lexicon_count=lexicon.count,
        root_count=d.root_count.astype(np.float64),
        rare_words=lexicon.rare_words,
        binarisation=data.binarisation,
        nonnegative=nonnegative,
    )
