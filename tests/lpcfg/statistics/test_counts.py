"""Counts of a sum are sums of counts, however the treebank is divided."""

from __future__ import annotations

import itertools
from functools import reduce
from operator import add

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.binarisation import Binarisation
from latentgram.lpcfg.statistics.counts import GrammarCounts
from latentgram.lpcfg.statistics.derivations import Derivations
from oracles.equality import same


@pytest.mark.parametrize("cuts", [[0, 40, 60], [0, 1, 2, 3, 60], [0, 10, 11, 35, 59, 60]])
def test_counts_add(cuts: list[int]) -> None:
    binary = Binarisation().binarise(lg.demo_treebank(60).forest)
    whole = GrammarCounts.of(Derivations.of(binary))
    parts = [
        GrammarCounts.of(Derivations.of(binary.select(np.arange(first, last)).compact()))
        for first, last in itertools.pairwise(cuts)
    ]
    assert same(reduce(add, parts), whole)
    assert same(reduce(add, reversed(parts)), whole)


def test_every_node_is_counted_once() -> None:
    binary = Binarisation().binarise(lg.demo_treebank(30).forest)
    counts = GrammarCounts.of(Derivations.of(binary))
    assert counts.symbol_count.sum() == len(binary.label)
    assert counts.lexicon_count.sum() == binary.lengths.sum()
    assert counts.root_count.sum() == len(binary)
    children = np.bincount(counts.rules[:, 1:].ravel(), np.repeat(counts.rule_count, 2), len(counts.symbol_count))
    np.testing.assert_array_equal(children + counts.root_count, counts.symbol_count)
