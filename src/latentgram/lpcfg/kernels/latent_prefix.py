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

import numpy as np

from latentgram.compiling import REORDER, jitable, njit
from latentgram.lpcfg.kernels.latent_inside import Work, add_outer, fill, leaf_number, put_words, sum_factors
from latentgram.lpcfg.kernels.prefix import cell_at


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
                        add_outer(
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
                        add_outer(
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
    work = Work(
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
                put_words(chart, leaves, grammar, work, first, scales[first], fine)
            else:
                fill(chart, index, ways, grammar, work, first, end, going, least, fine)
            if smooth:
                sum_factors(chart, grammar, work, first, cell_at(first, end))
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
                weight = leaf_number(grammar, leaves, leaf, h)
                total += starts[begin[t] + h] * weight
                last += edge[begin[t] + h] * weight
        values[end], scales[end] = total, abs(total.real)
        if end == length - 1:
            whole = last.real
        if scales[end] == 0.0:
            break
    return values, whole
