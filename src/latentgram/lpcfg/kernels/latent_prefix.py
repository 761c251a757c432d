"""Prefix probabilities of a grammar with hidden states, on the chart of its one-state projection.

The recursions are those of kernels/prefix.py with vectors for numbers: L(c,i,j) is an inside vector, F(d,j),
G(b,j) and E(d,j) are outside vectors, Q[d,b] a matrix of the states of d by those of b, and with T the tensors of
rules

    L(a,i,j) = Σ_{a→b c} T( · , Σ_k L(b,i,k) ⊗ L(c,k,j)),
    F(d,j)   = Σ_{b→c d} (Σ_i G(b,i) ⊗ L(c,i,j)) · T( ·, ·, d),      P(j+1) = Σ_t G(t,j) · q(t→x_j).

Sums over places come first, at m² each; then one contraction, at m³, per rule and cell, and per rule and end.
Rules never seen take their children's states by F̄ · L only (mean outside vectors) and are summed as factors, over
all pairs of children; for pairs that were seen with the parent this sum is taken back.

What the projection did not keep is left out, and so are contractions whose rules have less than `least` of the
probability of the words so far under the projection: of numbers that are probabilities every P is a lower bound
then. Inside a contraction the states h of the parent and l of the left child are left out together where they have
less than `fine`: of an inside vector, with the greatest number of row l of the sum over places,

    G(a,i)[h] · Σ_r T[h,l,r] · max_r Σ_k L(b,i,k)[l] L(c,k,j)[r] < fine,

which is no less than what they add to the probability; of an outside vector the same with
Σ_i G(b,i)[h] L(c,i,j)[l] and how well d begins with the next word. So are single states of items. Reading rules
from memory takes the time, and most states are improbable. With a beam of zero, and `least` and `fine` 0,
everything is there, and exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentgram.arrays import Flags, Floats, Floats32, Ints, Ints32
from latentgram.compiling import REORDER, jitable, njit
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


class _Work(NamedTuple):
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
def _add_outer(target, place, first, left, left_size, second, right, right_size):
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
def _fill(chart, index, ways, grammar, work, first, end, going, least, fine):
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
                    _add_outer(
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
def _sum_factors(chart, grammar, work, first, cell):
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
def _put_words(chart, leaves, grammar, work, word, scale, fine):
    """The vectors of the leaves that the projection kept over a word, divided by the word's scale."""
    cell, leaf = cell_at(word, word + 1), leaves.begin[word]
    for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
        while leaves.symbol[leaf] != chart.symbol[item]:
            leaf += 1
        work.place[word, chart.symbol[item]] = item
        begin = grammar.symbol_begin[chart.symbol[item]]
        for h in range(grammar.states[chart.symbol[item]]):
            value = _leaf(grammar, leaves, leaf, h) / scale
            if fine > 0.0 and work.starts[word, begin + h].real * value.real < fine:
                value *= 0.0
            work.alpha[work.begin[item] + h] = value


@jitable(fastmath=REORDER)
def _leaf(grammar, leaves, leaf, state):
    """q of a leaf."""
    if leaves.entry[leaf] >= 0:
        return grammar.lexicon[grammar.lexicon_begin[leaves.entry[leaf]] + state]
    return leaves.weight[leaf] * grammar.mean_inside[grammar.symbol_begin[leaves.symbol[leaf]] + state]


@jitable(fastmath=REORDER)
def _reach(chart, index, ways, grammar, work, end, least, fine, forward):
    """F and E of all symbols, but for breaking off."""
    smooth, states, begin = grammar.left.shape[0] > 0, grammar.states, grammar.symbol_begin
    interminals, symbols, edge = work.needed.shape[2], states.shape[0], work.ends[end]
    unseen, taken = np.zeros((2, interminals), forward.dtype), np.zeros((2, symbols), forward.dtype)
    reached, used, ending, look = 0, 0, 0.0, chart.look[end]
    for d in range(symbols):
        ending += chart.ends[end, d] * look[d]
    least_edge, fine_edge = least * ending, fine * ending
    # What has less than `least` in all cannot come from a rule that has it.
    wanted = np.empty(symbols, np.bool_)
    for d in range(symbols):
        wanted[d] = chart.forward[end, d] * look[d] >= least or chart.ends[end, d] * look[d] >= least_edge
    for first in range(end):
        cell = cell_at(first, end)
        starts, ends, start_sum, end_sum = (
            chart.starts[first],
            chart.ends[first],
            work.start_sum[first],
            work.end_sum[first],
        )
        for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
            c, value = chart.symbol[item], chart.inside[item]
            for pair in range(index.row_begin[c], index.row_begin[c + 1]):
                d = index.right[pair]
                if not wanted[d]:
                    continue
                for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
                    b, weight = index.parent[entry], ways.share[entry] * value * look[d]
                    if smooth:
                        factor = grammar.left[c, b] * grammar.right[d, b] * work.scalar[item]
                        taken[0, d] += start_sum[b] * factor
                        taken[1, d] += end_sum[b] * factor
                    going, last = starts[b] * weight, ends[b] * weight
                    if (going < least or going == 0.0) and (last < least_edge or last == 0.0):
                        continue
                    if work.reached_at[entry] != end:
                        work.reached_at[entry] = end
                        work.reaching[reached] = entry
                        reached += 1
                        work.reach_slot[entry] = used
                        for _ in range(states[b] * states[c]):
                            work.reached[used] = 0.0
                            work.edge[used] = 0.0
                            used += 1
                    place = work.reach_slot[entry]
                    if going >= least:
                        _add_outer(
                            work.reached,
                            place,
                            work.starts[first],
                            begin[b],
                            states[b],
                            work.alpha,
                            work.begin[item],
                            states[c],
                        )
                    if last >= least_edge and last > 0.0:
                        _add_outer(
                            work.edge,
                            place,
                            work.ends[first],
                            begin[b],
                            states[b],
                            work.alpha,
                            work.begin[item],
                            states[c],
                        )
        if smooth and chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
            for b in range(interminals):
                unseen[0, b] += start_sum[b] * work.left_sum[cell, b]
                unseen[1, b] += end_sum[b] * work.left_sum[cell, b]
    for number in range(reached):
        entry = work.reaching[number]
        rule, d, slot = index.rule[entry], ways.right[entry], work.reach_slot[entry]
        place, wide = grammar.rule_begin[rule], states[d]
        for k in range(ways.entry_begin[entry], ways.entry_begin[entry + 1]):
            going, last, weight = work.reached[slot], work.edge[slot], ways.toward[k] * look[d]
            if fine == 0.0 or going.real * weight >= fine:
                for r in range(wide):
                    forward[begin[d] + r] += going * grammar.rule[place + r]
            if last != 0.0 and (fine == 0.0 or last.real * weight >= fine_edge):
                for r in range(wide):
                    edge[begin[d] + r] += last * grammar.rule[place + r]
            place += wide
            slot += 1
    for d in range(symbols if smooth else 0):
        if not wanted[d]:
            continue
        going, last, right = -taken[0, d], -taken[1, d], grammar.right[d]
        for b in range(interminals):
            going += right[b] * unseen[0, b]
            last += right[b] * unseen[1, b]
        for r in range(begin[d], begin[d + 1]):
            forward[r] += going * grammar.mean_outside[r]
            edge[r] += last * grammar.mean_outside[r]


@njit(fastmath=REORDER)
def _need(chart, index, ways, grammar, least):
    """[2, n, I] where G is asked for by rules of at least `least`, seen or unseen, and E by unseen ones."""
    length, interminals = chart.scale.shape[0], grammar.left.shape[1]
    needed, smooth = np.zeros((2, length, interminals), np.bool_), grammar.left.shape[0] > 0
    after = np.zeros(interminals)
    for end in range(1, length):
        look, least_edge = chart.look[end], 0.0
        for d in range(look.shape[0]):
            least_edge += least * chart.ends[end, d] * look[d]
        for b in range(interminals):
            after[b] = 0.0
        for d in range(grammar.left.shape[0]):
            for b in range(interminals):
                after[b] += grammar.right[d, b].real * look[d]
        for first in range(end):
            cell, starts, ends = cell_at(first, end), chart.starts[first], chart.ends[first]
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                c, value = chart.symbol[item], chart.inside[item]
                for pair in range(index.row_begin[c], index.row_begin[c + 1]):
                    if chart.forward[end, index.right[pair]] * look[index.right[pair]] < least:
                        continue
                    weight = value * look[index.right[pair]]
                    for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
                        b = index.parent[entry]
                        going = starts[b] * ways.share[entry] * weight
                        needed[0, first, b] |= going >= least and going > 0.0
            if smooth and chart.cell_begin[cell] < chart.cell_begin[cell + 1]:
                for b in range(interminals):
                    weight = chart.left_sum[cell, b] * after[b]
                    needed[0, first, b] |= starts[b] * weight >= least and starts[b] > 0.0
                    needed[1, first, b] |= ends[b] * weight >= least_edge and ends[b] > 0.0
    return needed


@njit(fastmath=REORDER)
def latent_sweep(chart, leaves, index, ways, grammar, break_off, least, fine):
    """[n] P(j+1) of all prefixes, each over the size of P(j), and p(sentence) over that of P(n−1).

    `chart` is that of the projection, whose starts, inside numbers and scales decide what is looked at.
    """
    length, symbols, interminals = leaves.begin.shape[0] - 1, grammar.states.shape[0], grammar.left.shape[1]
    kind, states, begin = grammar.root.dtype, grammar.states, grammar.symbol_begin
    smooth, inner = grammar.left.shape[0] > 0, grammar.symbol_begin[interminals]
    items = chart.symbol.shape[0]
    places = np.zeros(items + 1, np.int64)
    for item in range(items):
        places[item + 1] = places[item] + states[chart.symbol[item]]
    pairs, entries = index.right.shape[0], index.parent.shape[0]
    work = _Work(
        places,
        np.zeros(places[items], kind),
        np.zeros(items, kind),
        np.empty(((chart.cell_begin.shape[0] - 1) * smooth, interminals), kind),
        np.zeros((length * smooth, interminals), kind),
        np.zeros((length, begin[symbols]), kind),
        np.zeros((length, interminals), kind),
        np.zeros((length, begin[symbols]), kind),
        np.zeros((length, interminals), kind),
        _need(chart, index, ways, grammar, least),
        np.full((length, symbols), -1, np.int64),
        np.zeros(pairs),
        np.zeros(pairs, kind),
        np.empty(pairs, np.int64),
        np.full(pairs, -1, np.int64),
        np.empty(pairs, np.int64),
        np.empty(ways.pair_begin[pairs], kind),
        np.empty(states.max()),
        np.empty(entries, np.int64),
        np.empty(ways.entry_begin[entries], kind),
        np.empty(ways.entry_begin[entries], kind),
        np.empty(entries, np.int64),
        np.full(entries, -1, np.int64),
    )
    values, scales, whole = np.zeros(length, kind), np.zeros(length), 0.0
    forward, columns = np.empty(begin[symbols], kind), np.empty(symbols, np.int64)
    going = 1.0 - break_off
    for end in range(length):
        if chart.scale[end] == 0.0:
            break
        for d in range(forward.shape[0]):
            forward[d] = 0.0
        for first in range(end - 1, -1, -1):
            if first == end - 1:
                _put_words(chart, leaves, grammar, work, first, scales[first], fine)
            else:
                _fill(chart, index, ways, grammar, work, first, end, going, least, fine)
            if smooth:
                _sum_factors(chart, grammar, work, first, cell_at(first, end))
        if end > 0:
            _reach(chart, index, ways, grammar, work, end, least, fine, forward)
        for first in range(end):
            cell = cell_at(first, end)
            for item in range(chart.cell_begin[cell], chart.cell_begin[cell + 1]):
                work.place[first, chart.symbol[item]] = -1
        edge, starts = work.ends[end], work.starts[end]
        for d in range(forward.shape[0]):
            if end == 0:
                forward[d], edge[d] = grammar.root[d], grammar.root[d]
            else:
                forward[d] = going * forward[d] + break_off * grammar.anywhere[d]
                edge[d] = going * edge[d] + break_off * grammar.anywhere[d]
        for b in range(interminals):
            for h in range(begin[b], begin[b + 1] if work.needed[1, end, b] else 0):
                work.end_sum[end, b] += edge[h] * grammar.mean_inside[h]
        # G(b) = Σ_d F(d) Q[d,b], of what is asked for later, and of the tags of the word that comes now.
        asked = 0
        for b in range(interminals):
            if work.needed[0, end, b]:
                columns[asked] = b
                asked += 1
        for leaf in range(leaves.begin[end], leaves.begin[end + 1]):
            t = leaves.symbol[leaf]
            if chart.starts[end, t] * leaves.weight[leaf].real >= least * chart.scale[end]:
                columns[asked] = t
                asked += 1
        for t in range(inner, forward.shape[0]):
            starts[t] = forward[t]
        for d in range(interminals):
            if chart.forward[end, d] * chart.look[end, d] < least:
                continue
            for row in range(begin[d], begin[d + 1]):
                value, corner = forward[row], grammar.closure[row]
                if fine > 0.0 and value.real * chart.look[end, d] < fine:
                    continue
                for number in range(asked):
                    for h in range(begin[columns[number]], begin[columns[number] + 1]):
                        starts[h] += value * corner[h]
        for b in range(interminals):
            for h in range(begin[b], begin[b + 1]):
                work.start_sum[end, b] += starts[h] * grammar.mean_inside[h]
        total, last = forward[0] * 0.0, forward[0] * 0.0
        for leaf in range(leaves.begin[end], leaves.begin[end + 1]):
            t = leaves.symbol[leaf]
            for h in range(states[t]):
                weight = _leaf(grammar, leaves, leaf, h)
                total += starts[begin[t] + h] * weight
                last += edge[begin[t] + h] * weight
        values[end], scales[end] = total, abs(total.real)
        if end == length - 1:
            whole = last.real
        if scales[end] == 0.0:
            break
    return values, whole
