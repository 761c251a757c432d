"""Counted sequences against plain counting."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import latentgram as lg
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.statistics import Modifiers, head_sequences

ROWS = st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 3), max_size=5)), max_size=30)


def counted(rows):
    return SequenceCounts.of([s for s, _ in rows], [x for _, x in rows], n_sources=3, n_symbols=4)


def listed(counts):
    source, offset, symbols, count = counts.sequences()
    found = {}
    for q in range(len(source)):
        found[int(source[q]), tuple(symbols[offset[q] : offset[q + 1]].tolist())] = count[q]
    return found


@given(ROWS)
def test_sequences_come_back_with_their_counts(rows):
    assert listed(counted(rows)) == Counter((s, tuple(x)) for s, x in rows)


@given(ROWS)
def test_passes_count_the_sequences_that_begin_with_a_prefix(rows):
    counts = counted(rows)
    prefixes = Counter((s, tuple(x[:n])) for s, x in rows for n in range(len(x) + 1))
    for node in range(len(counts.parent)):
        string, at = [], node
        while counts.parent[at] >= 0:
            string.append(int(counts.symbol[at]))
            at = counts.parent[at]
        assert counts.passes[node] == prefixes[int(counts.source[node]), tuple(reversed(string))]


@given(ROWS, ROWS)
def test_counts_add(first, second):
    assert listed(counted(first) + counted(second)) == listed(counted(first + second))


def test_modifiers_are_read_outwards_from_their_heads():
    bank = lg.demo_dependencies(50, seed=1)
    symbols = lg.Alphabet.of(tag for tree in bank for tag in tree.xpos)
    numbers = symbols.encode(tag for tree in bank for tag in tree.xpos).astype(np.int64)
    counts, roots = head_sequences(Modifiers.of(bank.arrays), numbers, len(symbols))
    expected, heads = Counter(), Counter()
    for tree in bank:
        heads[tree.xpos[tree.root - 1]] += 1
        for head in range(1, len(tree) + 1):
            below = [word for word in range(1, len(tree) + 1) if tree.heads[word - 1] == head]
            for direction, side in (
                (0, [w for w in below[::-1] if w < head]),
                (1, [w for w in below if w > head]),
            ):
                source = 2 * symbols.index(tree.xpos[head - 1]) + direction
                expected[source, tuple(symbols.index(tree.xpos[w - 1]) for w in side)] += 1
    assert listed(counts) == expected
    assert dict(zip(symbols, roots, strict=True)) == {tag: heads[tag] for tag in symbols}
