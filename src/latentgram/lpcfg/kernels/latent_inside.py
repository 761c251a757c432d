"""Inside vectors of a grammar with hidden states, column by column, on the chart of its one-state projection.

    L(a,i,j) = Σ_{a→b c} T( · , Σ_k L(b,i,k) ⊗ L(c,k,j))

The sums over places come first, at m² each; then one contraction, at m³, per rule and cell. What is left out, and
why no probability grows by it, is said in latent_prefix.py, whose sweep asks for one column after the other.
"""

from __future__ import annotations

from typing import NamedTuple

from latentgram.arrays import Flags, Floats, Floats32, Ints, Ints32
from latentgram.compiling import REORDER, jitable
from latentgram.lpcfg.kernels.prefix import Numbers, cell_at


class Latent(NamedTuple):
    """The numbers of a latent grammar; those of symbol s begin at `symbol_begin[s]`."""

    states: Ints32
    rule: Numbers
    rule_begin: Ints
    lexicon: Numbers
    lexicon_begin: Ints
    root: Numbers
    anywhere: Numbers
    mean_inside: Numbers
    mean_outside: Numbers
    symbol_begin: Ints
    left: Numbers
    """[S, I] the factors of unseen rules; [0, I] where there are none."""
    right: Numbers
    closure: Numbers
    """[Σ states of interminals, Σ states] Q."""


class LatentLeaves(NamedTuple):
    """The leaves of a sentence as projection.py has them."""

    begin: Ints32
    symbol: Ints32
    entry: Ints32
    weight: Numbers


class Ways(NamedTuple):
    """Where the sums of outer products of the pairs of children, and of the rules, stand side by side."""

    pair_left: Ints32
    """[pairs] the left child."""
    pair_begin: Ints
    """[pairs + 1] states of the left × states of the right child."""
    entry_begin: Ints
    """[entries + 1] states of the parent × states of the left child."""
    right: Ints32
    """[entries] the right child."""
    share: Floats
    """[entries] the rules' probabilities under the projection."""
    toward: Floats32
    """Σ_r T[h,l,r] of the entries, laid out by `entry_begin`."""


class Work(NamedTuple):
    """The numbers of a sentence."""

    begin: Ints
    """Where the vector of each item begins."""
    alpha: Numbers
    scalar: Numbers
    """F̄ · L of each item."""
    left_sum: Numbers
    """[cells, I] Σ_b left(b, a) F̄(b) · L(b)."""
    right_sum: Numbers
    """[n, I] the same of right children, of what begins at a word and ends here."""
    starts: Numbers
    """[n, Σ states] G."""
    start_sum: Numbers
    """[n, I] G · mean inside."""
    ends: Numbers
    """[n, Σ states] E."""
    end_sum: Numbers
    needed: Flags
    """[2, n, I] whether something asks for G, and whether an unseen rule asks for E."""
    place: Ints
    """[n, S] the item of a symbol that begins at a word and ends here."""
    mass: Floats
    """[pairs] Σ_k L(b,i,k) L(c,k,j) under the projection."""
    joint: Numbers
    """[pairs] Σ_k F̄(b) · L(b,i,k) F̄(c) · L(c,k,j)."""
    met: Ints
    met_in: Ints
    slot: Ints
    """[pairs] where the sum of a pair begins in `outer`: side by side in the order in which they are met, so that
    little memory is touched."""
    outer: Numbers
    """Σ_k L(b,i,k) ⊗ L(c,k,j)."""
    peak: Floats
    """The greatest number of each row of such a sum."""
    reach_slot: Ints
    """[entries] the same as `slot`, of the two that follow."""
    reached: Numbers
    """Σ_i G(b,i) ⊗ L(c,i,j)."""
    edge: Numbers
    """Σ_i E(b,i) ⊗ L(c,i,j)."""
    reaching: Ints
    """The entries of the two."""
    reached_at: Ints


@jitable(fastmath=REORDER)
def add_outer(target, place, first, left, left_size, second, right, right_size):
    """target += left ⊗ right."""
    for h in range(left_size):
        value = first[left + h]
        if value != 0.0:
            for g in range(right_size):
                target[place + g] += value * second[right + g]
        place += right_size


@jitable(fastmath=REORDER)
def _rows(index, b, last):
    """The pairs of a left child with right ones of several words, or of one."""
    if last:
        return index.tags_begin[b], index.row_begin[b + 1]
    return index.row_begin[b], index.tags_begin[b]


@jitable(fastmath=REORDER)
def _meet(chart, index, work, smooth, first, end):
    """What the pairs of children have under the projection, and what unseen rules see of them; how many met."""
    met, cell = 0, cell_at(first, end)
    for middle in range(first + 1, end):
        beside, place = cell_at(first, middle), work.place[middle]
        for left in range(chart.cell_begin[beside], chart.cell_begin[beside + 1]):
            low, high = _rows(index, chart.symbol[left], middle == end - 1)
            for pair in range(low, high):
                right = place[index.right[pair]]
                if right >= 0:
                    if work.met_in[pair] != cell:
                        work.met_in[pair] = cell
                        work.met[met] = pair
                        met += 1
                        work.mass[pair] = 0.0
                        work.joint[pair] = 0.0
                    work.mass[pair] += chart.inside[left] * chart.inside[right]
                    if smooth:
                        work.joint[pair] += work.scalar[left] * work.scalar[right]
    return met


@jitable(fastmath=REORDER)
def fill(chart, index, ways, grammar, work, first, end, going, least, fine):
    """The inside vectors of a cell."""
    cell, smooth, states = cell_at(first, end), grammar.left.shape[0] > 0, grammar.states
    items, behind = chart.cell_begin[cell], chart.cell_begin[cell + 1]
    if items == behind:
        return
    for item in range(items, behind):
        work.place[first, chart.symbol[item]] = item
    met, starts, used = _meet(chart, index, work, smooth, first, end), chart.starts[first], 0
    for number in range(met):
        pair, asked = work.met[number], False
        b, c = ways.pair_left[pair], index.right[pair]
        for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
            a = index.parent[entry]
            parent = work.place[first, a]
            if parent >= 0:
                asked |= starts[a] * ways.share[entry] * work.mass[pair] >= least
                if smooth:
                    weight, mean = (
                        grammar.left[b, a] * grammar.right[c, a] * work.joint[pair],
                        grammar.symbol_begin[a],
                    )
                    for h in range(states[a]):
                        work.alpha[work.begin[parent] + h] -= weight * grammar.mean_inside[mean + h]
        if not asked:
            work.met_in[pair] = -1
            continue
        work.slot[pair] = used
        for _ in range(states[b] * states[c]):
            work.outer[used] = 0.0
            used += 1
    for middle in range(first + 1, end):
        beside, place = cell_at(first, middle), work.place[middle]
        for left in range(chart.cell_begin[beside], chart.cell_begin[beside + 1]):
            low, high = _rows(index, chart.symbol[left], middle == end - 1)
            for pair in range(low, high):
                right = place[index.right[pair]]
                if right >= 0 and work.met_in[pair] == cell:
                    add_outer(
                        work.outer,
                        work.slot[pair],
                        work.alpha,
                        work.begin[left],
                        states[chart.symbol[left]],
                        work.alpha,
                        work.begin[right],
                        states[index.right[pair]],
                    )
    for number in range(met):
        pair = work.met[number]
        if work.met_in[pair] != cell:
            continue
        lefts, rights = states[ways.pair_left[pair]], states[index.right[pair]]
        outer = work.outer[work.slot[pair] : work.slot[pair] + lefts * rights]
        for l in range(lefts):
            work.peak[l] = 0.0
            for r in range(l * rights, (l + 1) * rights):
                work.peak[l] = max(work.peak[l], outer[r].real)
        for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
            a = index.parent[entry]
            parent = work.place[first, a]
            if parent < 0 or starts[a] * ways.share[entry] * work.mass[pair] < least:
                continue
            place, toward = grammar.rule_begin[index.rule[entry]], ways.entry_begin[entry]
            for h in range(states[a]):
                total, weight = outer[0] * 0.0, starts[a]
                if work.needed[0, first, a]:
                    weight = work.starts[first, grammar.symbol_begin[a] + h].real
                for l in range(lefts):
                    if fine == 0.0 or weight * ways.toward[toward] * work.peak[l] >= fine:
                        for r in range(rights):
                            total += grammar.rule[place + r] * outer[l * rights + r]
                    place += rights
                    toward += 1
                work.alpha[work.begin[parent] + h] += total
    for item in range(items, behind):
        a, total = chart.symbol[item], work.alpha[work.begin[item]] * 0.0
        for middle in range(first + 1, end if smooth else 0):
            beside, after = cell_at(first, middle), cell_at(middle, end)
            if (
                chart.cell_begin[beside] < chart.cell_begin[beside + 1]
                and chart.cell_begin[after] < chart.cell_begin[after + 1]
            ):
                total += work.left_sum[beside, a] * work.right_sum[middle, a]
        for h in range(states[a]):
            state = grammar.symbol_begin[a] + h
            value = going * (work.alpha[work.begin[item] + h] + total * grammar.mean_inside[state])
            if work.needed[0, first, a] and fine > 0.0 and work.starts[first, state].real * value.real < fine:
                value *= 0.0
            work.alpha[work.begin[item] + h] = value


@jitable(fastmath=REORDER)
def sum_factors(chart, grammar, work, first, cell):
    """What unseen rules see of a cell."""
    left_sum, right_sum = work.left_sum[cell], work.right_sum[first]
    for a in range(left_sum.shape[0]):
        left_sum[a] = 0.0
        right_sum[a] = 0.0
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        c = chart.symbol[item]
        total, mean = left_sum[0] * 0.0, grammar.symbol_begin[c]
        for h in range(grammar.states[c]):
            total += grammar.mean_outside[mean + h] * work.alpha[work.begin[item] + h]
        work.scalar[item] = total
        for a in range(left_sum.shape[0]):
            left_sum[a] += grammar.left[c, a] * total
            right_sum[a] += grammar.right[c, a] * total


@jitable(fastmath=REORDER)
def put_words(chart, leaves, grammar, work, word, scale, fine):
    """The vectors of the leaves that the projection kept over a word, divided by the word's scale."""
    cell, leaf = cell_at(word, word + 1), leaves.begin[word]
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        while leaves.symbol[leaf] != chart.symbol[item]:
            leaf += 1
        work.place[word, chart.symbol[item]] = item
        begin = grammar.symbol_begin[chart.symbol[item]]
        for h in range(grammar.states[chart.symbol[item]]):
            value = leaf_number(grammar, leaves, leaf, h) / scale
            if fine > 0.0 and work.starts[word, begin + h].real * value.real < fine:
                value *= 0.0
            work.alpha[work.begin[item] + h] = value


@jitable(fastmath=REORDER)
def leaf_number(grammar, leaves, leaf, state):
    """q of a leaf."""
    if leaves.entry[leaf] >= 0:
        return grammar.lexicon[grammar.lexicon_begin[leaves.entry[leaf]] + state]
    return leaves.weight[leaf] * grammar.mean_inside[grammar.symbol_begin[leaves.symbol[leaf]] + state]
