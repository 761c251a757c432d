"""The first pass of parsing: a PCFG's inside probabilities, grown bottom-up and cut as they grow.

Each cell computes the inside probabilities of its symbols from the items that its parts kept, multiplies them by
what the contexts on both sides say (parse/boundaries.py gives the equation), and keeps those symbols whose
estimated posterior passes an absolute and a relative threshold. Cells deep in the chart are mostly empty, so the
cost is that of the few spans that look like constituents from both sides, not n³ times the grammar.

All numbers are scaled word by word with the probabilities of a bigram model of tags: p(x_i | x_0 … x_{i-1}) =
c_i. Then the numbers of a span do not shrink with its width. The tag of the sentence boundary is the last,
`bigram.shape[0] - 1`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from latentgram.lpcfg.kernels.chart import Joints, cell_of, grown
from latentgram.lpcfg.kernels.span_masks import CLOSED, OPEN


@njit(cache=True)
def filter_tags(leaf_begin, leaf_tag, leaf_weight, bigram):
    """Scaled forward and backward numbers of the tags a bigram model gives to words, and the scales c.

    `leaf_tag` and `leaf_weight` list, word after word, the tags t that a word x may have, and q(t→x). With f the
    forward and b the backward numbers, f(t) b(t) is the posterior of a tag.
    """
    length, edge = leaf_begin.shape[0] - 1, bigram.shape[0] - 1
    forward, backward = np.zeros(leaf_tag.shape[0]), np.zeros(leaf_tag.shape[0])
    scale = np.empty(length)
    for word in range(length):
        total = 0.0
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            if word == 0:
                mass = bigram[edge, leaf_tag[leaf]]
            else:
                mass = 0.0
                for previous in range(leaf_begin[word - 1], leaf_begin[word]):
                    mass += forward[previous] * bigram[leaf_tag[previous], leaf_tag[leaf]]
            forward[leaf] = mass * leaf_weight[leaf]
            total += forward[leaf]
        scale[word] = total
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            forward[leaf] /= total
    total = 0.0
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] = bigram[leaf_tag[leaf], edge]
        total += forward[leaf] * backward[leaf]
    for leaf in range(leaf_begin[length - 1], leaf_begin[length]):
        backward[leaf] /= total
    for word in range(length - 2, -1, -1):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            for following in range(leaf_begin[word + 1], leaf_begin[word + 2]):
                backward[leaf] += (
                    bigram[leaf_tag[leaf], leaf_tag[following]]
                    * leaf_weight[following]
                    / scale[word + 1]
                    * backward[following]
                )
    return forward, backward, scale


@njit(cache=True)
def context_scores(leaf_begin, leaf_tag, leaf_weight, forward, backward, scale, after, before):
    """[n+1, I] what the words before and after each gap say for a symbol that begins, or ends, there."""
    length, edge, symbols = leaf_begin.shape[0] - 1, after.shape[0] - 1, after.shape[1]
    begins, ends = np.zeros((length + 1, symbols)), np.zeros((length + 1, symbols))
    begins[0] = after[edge]
    ends[length] = before[edge]
    for word in range(length):
        for leaf in range(leaf_begin[word], leaf_begin[word + 1]):
            here = leaf_weight[leaf] / scale[word] * backward[leaf]
            for symbol in range(symbols):
                begins[word + 1, symbol] += forward[leaf] * after[leaf_tag[leaf], symbol]
                ends[word, symbol] += here * before[leaf_tag[leaf], symbol]
    return begins, ends


@register_jitable
def _sum_factors(cell, cell_begin, item_symbol, item_inside, unseen, left_sum, right_sum):
    """Σ_b left(b, a) α(b) and Σ_c right(c, a) α(c) of a cell, for all interminals a."""
    for item in range(cell_begin[cell], cell_begin[cell + 1]):
        to_left, to_right, value = (
            unseen.left[item_symbol[item]],
            unseen.right[item_symbol[item]],
            item_inside[item],
        )
        for symbol in range(to_left.shape[0]):
            left_sum[cell, symbol] += value * to_left[symbol]
            right_sum[cell, symbol] += value * to_right[symbol]


@njit(cache=True)
def factor_sums(cell_begin, item_symbol, item_inside, unseen):
    """[cells, I] the sums of all cells; of none where there are no unseen rules."""
    cells = cell_begin.shape[0] - 1 if unseen.weight > 0.0 else 0
    left_sum, right_sum = np.zeros((cells, unseen.left.shape[1])), np.zeros((cells, unseen.left.shape[1]))
    for cell in range(cells):
        _sum_factors(cell, cell_begin, item_symbol, item_inside, unseen, left_sum, right_sum)
    return left_sum, right_sum


@njit(cache=True)
def grow_items(
    leaf_begin, leaf_symbol, leaf_inside, begins, ends, index, probability, floor, beam, unseen_rigour, masks
):
    """The items whose estimated posterior is at least `floor` and at least `beam` times that of their cell's best.

    `probability` follows the order of `index`. The whole sentence, and every span of which something is known,
    keep all symbols that `masks` allow. Returns the items by cell and their inside probabilities: the sum over
    split points of a pair of children first, then the rules.
    """
    length = leaf_begin.shape[0] - 1
    cells = length * (length + 1) // 2
    interminals, symbols = begins.shape[1], index.pair_of.shape[1]
    pair_of = index.pair_of.ravel()
    cell_begin = np.empty(cells + 1, np.int32)
    cell_begin[: length + 1] = leaf_begin
    items = leaf_symbol.shape[0]
    item_symbol, item_inside = np.empty(8 * items + 64, np.int32), np.empty(8 * items + 64, np.float64)
    item_symbol[:items], item_inside[:items] = leaf_symbol, leaf_inside
    # Infinite is what was not met in this cell: sums may be zero, and differences below it.
    mass, merit = np.full(interminals, np.inf), np.zeros(interminals)
    pair_mass = np.full(index.pair_begin.shape[0] - 1, np.inf)
    met, reached = np.empty(pair_mass.shape[0], np.int32), np.empty(interminals, np.int32)
    unseen, unseen_mass = index.unseen, np.zeros(interminals)
    smooth = unseen.weight > 0.0
    left_sum, right_sum = np.zeros((cells * smooth, interminals)), np.zeros((cells * smooth, interminals))
    for word in range(length * smooth):
        _sum_factors(word, cell_begin, item_symbol, item_inside, unseen, left_sum, right_sum)
    for width in range(2, length + 1):
        for first in range(length - width + 1):
            cell, pairs, count = cell_of(length, first, width), 0, 0
            if masks.of_cell[cell] == CLOSED:
                cell_begin[cell + 1] = items
                continue
            allowed = masks.allowed[masks.of_cell[cell]]
            for left_width in range(1, width):
                left_cell = cell_of(length, first, left_width)
                right_cell = cell_of(length, first + left_width, width - left_width)
                right_from, right_to = cell_begin[right_cell], cell_begin[right_cell + 1]
                if right_from == right_to or cell_begin[left_cell] == cell_begin[left_cell + 1]:
                    continue
                # Σ_{b,c} p(a→b c) α(b) α(c) = weight · (Σ_b left(b, a) α(b)) · (Σ_c right(c, a) α(c))
                for symbol in range(interminals * smooth):
                    unseen_mass[symbol] += left_sum[left_cell, symbol] * right_sum[right_cell, symbol]
                for left in range(cell_begin[left_cell], cell_begin[left_cell + 1]):
                    row, left_inside = item_symbol[left] * symbols, item_inside[left]
                    for right in range(right_from, right_to):
                        pair = pair_of[row + item_symbol[right]]
                        if pair >= 0:
                            if pair_mass[pair] == np.inf:
                                pair_mass[pair] = 0.0
                                met[pairs] = pair
                                pairs += 1
                            pair_mass[pair] += left_inside * item_inside[right]
            for number in range(pairs):
                pair = met[number]
                for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
                    symbol = index.parent[entry]
                    if mass[symbol] == np.inf:
                        mass[symbol] = 0.0
                        reached[count] = symbol
                        count += 1
                    mass[symbol] += probability[entry] * pair_mass[pair]
                pair_mass[pair] = np.inf
            seen = count
            for symbol in range(interminals * smooth):
                added = unseen.weight * unseen_mass[symbol]
                unseen_mass[symbol] = 0.0
                if added > 0.0:
                    if mass[symbol] == np.inf:
                        mass[symbol] = 0.0
                        reached[count] = symbol
                        count += 1
                    mass[symbol] += added
            best = 0.0
            for number in range(count):
                symbol = reached[number]
                merit[symbol] = begins[first, symbol] * mass[symbol] * ends[first + width, symbol]
                best = max(best, merit[symbol])
            known = width == length or masks.of_cell[cell] != OPEN
            limit = 0.0 if known else max(floor, beam * best)
            if items + count > item_symbol.shape[0]:
                item_symbol, item_inside = grown(item_symbol, items + count), grown(item_inside, items + count)
            for number in range(count):
                symbol = reached[number]
                if merit[symbol] >= (limit if number < seen else unseen_rigour * limit) and allowed[symbol]:
                    item_symbol[items], item_inside[items] = symbol, mass[symbol]
                    items += 1
                mass[symbol] = np.inf
            cell_begin[cell + 1] = items
            if smooth:
                _sum_factors(cell, cell_begin, item_symbol, item_inside, unseen, left_sum, right_sum)
    return cell_begin, item_symbol[:items], item_inside[:items]


@register_jitable
def _pull_factors(unseen, symbol, left_adjoint, right_adjoint):
    """The adjoint of `_sum_factors`."""
    to_left, to_right, total = unseen.left[symbol], unseen.right[symbol], 0.0
    for parent in range(to_left.shape[0]):
        total += to_left[parent] * left_adjoint[parent] + to_right[parent] * right_adjoint[parent]
    return total


@njit(cache=True, error_model="numpy")
def outside_items(cell_begin, item_symbol, item_inside, root, index, probability, threshold):
    """Posteriors of the items, by the adjoint of `grow_items`; the joints whose posterior is at least `threshold`;
    and Z. `root` is [S]. Where Z is zero there are no posteriors and no joints."""
    cells = cell_begin.shape[0] - 1
    length = int((np.sqrt(8.0 * cells + 1.0) - 1.0) / 2.0 + 0.5)
    symbols = index.pair_of.shape[1]
    pair_of = index.pair_of.ravel()
    item_outside = np.zeros(item_symbol.shape[0])
    total = 0.0
    for item in range(cell_begin[cells - 1], cell_begin[cells]):
        item_outside[item] = root[item_symbol[item]]
        total += item_outside[item] * item_inside[item]
    least = threshold * total
    outside = np.zeros(symbols)
    pair_outside = np.full(index.pair_begin.shape[0] - 1, np.inf)
    met = np.empty(pair_outside.shape[0], np.int32)
    joint_begin, joint_end = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    joint_left, joint_right = np.empty(4096, np.int32), np.empty(4096, np.int32)
    joints = 0
    smooth, unseen = index.unseen.weight > 0.0, index.unseen
    left_sum, right_sum = factor_sums(cell_begin, item_symbol, item_inside, unseen)
    left_adjoint, right_adjoint = np.zeros_like(left_sum), np.zeros_like(right_sum)
    for width in range(length if total > 0.0 else 1, 1, -1):
        for first in range(length - width + 1):
            cell = cell_of(length, first, width)
            pairs, cell_mass = 0, 0.0
            for item in range(cell_begin[cell], cell_begin[cell + 1]):
                if smooth:
                    item_outside[item] += _pull_factors(
                        unseen, item_symbol[item], left_adjoint[cell], right_adjoint[cell]
                    )
                outside[item_symbol[item]] = item_outside[item]
                cell_mass += item_outside[item]
            if cell_mass == 0.0:
                continue
            joint_begin[cell] = joints
            for left_width in range(1, width):
                left_cell = cell_of(length, first, left_width)
                right_cell = cell_of(length, first + left_width, width - left_width)
                right_from, right_to = cell_begin[right_cell], cell_begin[right_cell + 1]
                if right_from == right_to or cell_begin[left_cell] == cell_begin[left_cell + 1]:
                    continue
                unseen_mass = 0.0
                for item in range(cell_begin[cell], cell_begin[cell + 1] if smooth else 0):
                    symbol, weight = item_symbol[item], unseen.weight * item_outside[item]
                    from_left, from_right = left_sum[left_cell, symbol], right_sum[right_cell, symbol]
                    left_adjoint[left_cell, symbol] += weight * from_right
                    right_adjoint[right_cell, symbol] += weight * from_left
                    unseen_mass += weight * from_left * from_right
                with_unseen = smooth and unseen_mass >= least
                most = joints + (cell_begin[left_cell + 1] - cell_begin[left_cell]) * (right_to - right_from)
                if most > joint_left.shape[0]:
                    joint_left, joint_right = grown(joint_left, most), grown(joint_right, most)
                for left in range(cell_begin[left_cell], cell_begin[left_cell + 1]):
                    row, left_inside, left_outside = item_symbol[left] * symbols, item_inside[left], 0.0
                    left_unseen = with_unseen
                    if with_unseen:
                        unseen_mass = 0.0
                        for item in range(cell_begin[cell], cell_begin[cell + 1]):
                            symbol = item_symbol[item]
                            unseen_mass += (
                                item_outside[item]
                                * unseen.left[item_symbol[left], symbol]
                                * right_sum[right_cell, symbol]
                            )
                        left_unseen = unseen.weight * left_inside * unseen_mass >= least
                    for right in range(right_from, right_to):
                        pair, above = pair_of[row + item_symbol[right]], 0.0
                        if pair >= 0:
                            above = pair_outside[pair]
                            if above == np.inf:
                                above = 0.0
                                for entry in range(index.pair_begin[pair], index.pair_begin[pair + 1]):
                                    above += probability[entry] * outside[index.parent[entry]]
                                pair_outside[pair] = above
                                met[pairs] = pair
                                pairs += 1
                        elif not left_unseen:
                            continue
                        left_outside += above * item_inside[right]
                        item_outside[right] += above * left_inside
                        if left_unseen:
                            for item in range(cell_begin[cell], cell_begin[cell + 1]):
                                symbol = item_symbol[item]
                                factors = (
                                    unseen.left[item_symbol[left], symbol]
                                    * unseen.right[item_symbol[right], symbol]
                                )
                                above += unseen.weight * factors * item_outside[item]
                        if above * item_inside[right] * left_inside >= least and above > 0.0:
                            joint_left[joints], joint_right[joints] = left, right
                            joints += 1
                    item_outside[left] += left_outside
            joint_end[cell] = joints
            for number in range(pairs):
                pair_outside[met[number]] = np.inf
            for item in range(cell_begin[cell], cell_begin[cell + 1]):
                outside[item_symbol[item]] = 0.0
    for word in range(length if smooth and length > 1 else 0):
        for item in range(cell_begin[word], cell_begin[word + 1]):
            item_outside[item] += _pull_factors(unseen, item_symbol[item], left_adjoint[word], right_adjoint[word])
    posterior = item_inside * item_outside / total
    kept = Joints(joint_begin, joint_end, joint_left[:joints], joint_right[:joints])
    return total, posterior, kept


@njit(cache=True)
def best_cover(cell_begin, item_value, cost):
    """The spans (first word, end) side by side over the sentence with the greatest sum of values.

    A span is worth its best item less `cost`. Every word has an item, so there is always a cover.
    """
    cells = cell_begin.shape[0] - 1
    length = int((np.sqrt(8.0 * cells + 1.0) - 1.0) / 2.0 + 0.5)
    best, came_from = np.full(length + 1, -np.inf), np.zeros(length + 1, np.int64)
    best[0] = 0.0
    for end in range(1, length + 1):
        for first in range(end):
            cell = cell_of(length, first, end - first)
            for item in range(cell_begin[cell], cell_begin[cell + 1]):
                value = best[first] + item_value[item] - cost
                if value > best[end]:
                    best[end], came_from[end] = value, first
    spans = [(came_from[length], length)]
    while spans[-1][0] > 0:
        spans.append((came_from[spans[-1][0]], spans[-1][0]))
    return spans[::-1]
