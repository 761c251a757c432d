"""Hashed features of arcs and of adjacent siblings, and the scores they give (McDonald, Crammer & Pereira 2005).

A feature is a template filled with properties of a few words, say the tag of the head and the word of the
modifier. Every property of a word in a role (as head, as modifier, …) has a random code of 64 bits; the key of a
feature is the sum of the codes it is made of, and its highest bits are its bucket in the weights. So the key of a
feature of an arc is a part that the head has plus one that the modifier has, each found once for every word.

Every feature of an arc fires twice, with its direction and with direction and distance. The 16 variants of a
feature lie in one line of the cache: the variant is added by XOR to the lowest 4 bits of the bucket.

    score(h → m) = Σ_f  weight[b_f ^ direction] + weight[b_f ^ (direction, distance)]

Where words have morphological features, these are seen all together (the inflection) and one by one, each feature
of the head and of the modifier beside the coarse tags of both, and so are the two values of an attribute that both
words have: agreement is a pair of equal values, and case a feature of the modifier under the tag of its head.

Cost: about 50 buckets per arc (15 to 30 more with features) and 12 per pair of siblings, one look into memory per
bucket; O(N²) arcs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.compiling import njit

WORD, TAG, COARSE, STEM, INFLECTION, FEATURES = range(6)
"""The rows of a sentence's symbols: word, fine tag, coarse tag, beginning of the word; and where there are
morphological features, all of them together and each one, from row FEATURES on, rising, 0 behind the last of a
word; the upper half of a feature's number is its attribute."""

ARC_FEATURES = 160
"""Room for the buckets of an arc; the tags between head and modifier come last and are cut off there."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
_TEMPLATES, _INFLECTED, _ROLES = 42, 9, 27
(
    _HEAD_WORD, _HEAD_TAG, _HEAD_COARSE, _HEAD_STEM,
    _WORD, _TAG, _COARSE, _STEM,
    _SIBLING_WORD, _SIBLING_TAG, _SIBLING_COARSE, _SIBLING_STEM,
    _BEFORE_HEAD, _AFTER_HEAD, _BEFORE, _AFTER,
    _BEFORE_HEAD_COARSE, _AFTER_HEAD_COARSE, _BEFORE_COARSE, _AFTER_COARSE,
    _BETWEEN, _BETWEEN_COARSE, _PAIR,
    _HEAD_INFLECTION, _INFLECTION, _HEAD_FEATURE, _FEATURE,
) = range(_ROLES)  # fmt: skip


@njit(inline="always")
def _mixed(role, symbol):
    """A random-looking code of 64 bits (the finaliser of SplitMix64, times an odd number)."""
    x = np.uint64(role + 1) * np.uint64(0xD1342543DE82EF95) + np.uint64(symbol + 7) * _ODD
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) * _ODD


@njit()
def sentence_at(trees, s):
    """The symbols [4, N + 2] of a sentence of `EncodedTrees`, and its heads [N + 2] by places."""
    begin, end = trees.offsets[s], trees.offsets[s + 1]
    heads = np.zeros(end - begin + 2, np.int64)
    for word in range(begin, end):
        heads[word - begin + 1] = trees.heads[word]
    # Contiguous, as a sentence that is parsed: what looks at it is compiled once for both.
    symbols = np.empty((trees.symbols.shape[0], end - begin + 2), np.int32)
    for row in range(symbols.shape[0]):
        for place in range(symbols.shape[1]):
            symbols[row, place] = trees.symbols[row, begin + 2 * s + place]
    return symbols, heads


class Codes(NamedTuple):
    """What the keys of a sentence's features are made of."""

    role: NDArray[np.uint64]
    """[roles, N + 2] the codes of its words in every role. Behind the roles stand the codes of each feature as one
    of the head, then as one of the modifier, then the number of its attribute; 0 for none."""
    of_head: NDArray[np.uint64]
    """[N + 2, templates] the parts of an arc's keys that its head has,"""
    of_modifier: NDArray[np.uint64]
    """and its modifier."""


@njit()
def role_codes(symbols):
    """The `Codes` of a sentence.

    IN   symbols [4 or 5 + F, N + 2]; place 0 is the root, N + 1 the end of the sentence.
    """
    places, most = symbols.shape[1], max(symbols.shape[0] - FEATURES, 0)
    codes = np.zeros((_ROLES + 3 * most, places), np.uint64)
    for i in range(places):
        for row in range(4):
            codes[_HEAD_WORD + row, i] = _mixed(_HEAD_WORD + row, symbols[row, i])
            codes[_WORD + row, i] = _mixed(_WORD + row, symbols[row, i])
            codes[_SIBLING_WORD + row, i] = _mixed(_SIBLING_WORD + row, symbols[row, i])
        before, after = max(i - 1, 0), min(i + 1, places - 1)
        codes[_BEFORE_HEAD, i] = _mixed(_BEFORE_HEAD, symbols[TAG, before])
        codes[_AFTER_HEAD, i] = _mixed(_AFTER_HEAD, symbols[TAG, after])
        codes[_BEFORE, i] = _mixed(_BEFORE, symbols[TAG, before])
        codes[_AFTER, i] = _mixed(_AFTER, symbols[TAG, after])
        codes[_BEFORE_HEAD_COARSE, i] = _mixed(_BEFORE_HEAD_COARSE, symbols[COARSE, before])
        codes[_AFTER_HEAD_COARSE, i] = _mixed(_AFTER_HEAD_COARSE, symbols[COARSE, after])
        codes[_BEFORE_COARSE, i] = _mixed(_BEFORE_COARSE, symbols[COARSE, before])
        codes[_AFTER_COARSE, i] = _mixed(_AFTER_COARSE, symbols[COARSE, after])
        codes[_BETWEEN, i] = _mixed(_BETWEEN, symbols[TAG, i])
        codes[_BETWEEN_COARSE, i] = _mixed(_BETWEEN_COARSE, symbols[COARSE, i])
        if symbols.shape[0] > INFLECTION:
            codes[_HEAD_INFLECTION, i] = _mixed(_HEAD_INFLECTION, symbols[INFLECTION, i])
            codes[_INFLECTION, i] = _mixed(_INFLECTION, symbols[INFLECTION, i])
        for f in range(most):
            feature = symbols[FEATURES + f, i]
            if feature != 0:
                codes[_ROLES + f, i] = _mixed(_HEAD_FEATURE, feature)
                codes[_ROLES + most + f, i] = _mixed(_FEATURE, feature)
                codes[_ROLES + 2 * most + f, i] = feature >> 16
    return _with_parts(codes)


@njit()
def _with_parts(codes):
    """Codes in roles, with the parts of the keys of arcs.

    The templates of McDonald et al.: each word, both words, and the tags around them; and back-offs to coarse tags
    and to the beginnings of words; and the inflections of both words, where there are some.
    """
    places, none = codes.shape[1], np.uint64(0)
    inflected = codes[_INFLECTION, 0] != 0
    of_head = np.empty((places, _TEMPLATES + _INFLECTED if inflected else _TEMPLATES), np.uint64)
    of_modifier = np.empty_like(of_head)
    for i in range(places):
        hw, ht, hc, hs = codes[_HEAD_WORD, i], codes[_HEAD_TAG, i], codes[_HEAD_COARSE, i], codes[_HEAD_STEM, i]
        mw, mt, mc, ms = codes[_WORD, i], codes[_TAG, i], codes[_COARSE, i], codes[_STEM, i]
        hb, ha, mb, ma = codes[_BEFORE_HEAD, i], codes[_AFTER_HEAD, i], codes[_BEFORE, i], codes[_AFTER, i]
        hbc, hac = hc + codes[_BEFORE_HEAD_COARSE, i], hc + codes[_AFTER_HEAD_COARSE, i]
        mbc, mac = mc + codes[_BEFORE_COARSE, i], mc + codes[_AFTER_COARSE, i]
        parts = (
            (hw, none), (ht, none), (hw + ht, none), (none, mw), (none, mt), (none, mw + mt),
            (ht, mt), (hw, mw), (hw, mt), (ht, mw), (hw + ht, mt), (ht, mw + mt),
            (hw + ht, mw), (hw, mw + mt), (hw + ht, mw + mt),
            (hc, mc), (hw, mc), (hc, mw), (hs, ms), (hs, mt), (ht, ms), (hs + ht, mt), (ht, ms + mt),
            (ht + hb, mt), (ht + ha, mt), (ht, mt + mb), (ht, mt + ma),
            (ht + ha, mt + mb), (ht + hb, mt + mb), (ht + ha, mt + ma), (ht + hb, mt + ma),
            (ht + hb + ha, mt), (ht, mt + mb + ma), (ht + hb + ha, mt + mb + ma),
            (hac, mbc), (hbc, mbc), (hac, mac), (hbc, mac),
            (hw, mt + mb), (hw, mt + ma), (ht + hb, mw), (ht + ha, mw),
        )  # fmt: skip
        count = 0
        for head, modifier in parts:
            of_head[i, count], of_modifier[i, count] = head, modifier
            count += 1
        if inflected:
            hi, mi = codes[_HEAD_INFLECTION, i], codes[_INFLECTION, i]
            inflections = (
                (hc + hi, mc), (hc, mc + mi), (hc + hi, mc + mi), (ht + hi, mt), (ht, mt + mi),
                (hw, mi), (hi, mw), (hs, mi), (hi, ms),
            )  # fmt: skip
            for head, modifier in inflections:
                of_head[i, count], of_modifier[i, count] = head, modifier
                count += 1
    return Codes(codes, of_head, of_modifier)


@njit()
def last_alike(symbols):
    """For every place the last place before it with the same tag, or −1."""
    places = symbols.shape[1]
    last = np.full(places, -1, np.int64)
    for i in range(places):
        for j in range(i - 1, 0, -1):
            if symbols[TAG, j] == symbols[TAG, i]:
                last[i] = j
                break
    return last


@njit(inline="always")
def distance_variant(head, modifier):
    """The variant of direction and distance, 2 … 15."""
    distance = abs(head - modifier)
    if distance <= 4:
        bucket = distance - 1
    elif distance <= 6:
        bucket = 4
    elif distance <= 10:
        bucket = 5
    else:
        bucket = 6
    return 2 + 7 * (1 if modifier > head else 0) + bucket


@njit()
def arc_buckets(codes, last, head, modifier, shift, buckets):
    """Write the buckets of the arc head → modifier (places; 0 is the root); how many there are.

    Those of the templates come first, then those of features of both words and of the tags between them.
    """
    count = _own_buckets(codes, head, modifier, shift, buckets)
    low, high = min(head, modifier), max(head, modifier)
    for place in range(low + 1, high):
        if last[place] <= low:
            count = _between_buckets(codes.role, place, head, modifier, shift, buckets, count)
    return count


@njit()
def _own_buckets(codes, head, modifier, shift, buckets):
    """Write the buckets of an arc but those of the tags between its words; how many there are."""
    role, of_head, of_modifier = codes
    count = of_head.shape[1]
    for template in range(count):
        buckets[template] = (of_head[head, template] + of_modifier[modifier, template]) >> shift
    if count > _TEMPLATES:
        coarse = role[_HEAD_COARSE, head] + role[_COARSE, modifier]
        count = _feature_buckets(role, head, modifier, coarse, shift, buckets, count)
    return count


@njit()
def _between_buckets(role, place, head, modifier, shift, buckets, count):
    """Write those of the tag at a place between them, if there is room; how many there are then."""
    if count + 1 >= len(buckets):
        return count
    both = role[_HEAD_TAG, head] + role[_TAG, modifier]
    coarse = role[_HEAD_COARSE, head] + role[_COARSE, modifier]
    buckets[count] = (both + role[_BETWEEN, place]) >> shift
    buckets[count + 1] = (coarse + role[_BETWEEN_COARSE, place]) >> shift
    return count + 2


@njit()
def _feature_buckets(codes, head, modifier, coarse, shift, buckets, count):
    """Write the buckets of single features, and of the values of an attribute that both words have.

    Returns how many buckets there are then; what there is no room for is left out.
    """
    most = (len(codes) - _ROLES) // 3
    of_head, of_modifier, attribute = _ROLES, _ROLES + most, _ROLES + 2 * most
    for first, word in ((of_head, head), (of_modifier, modifier)):
        for row in range(first, first + most):
            if codes[row, word] == 0 or count == len(buckets):
                break
            buckets[count] = (coarse + codes[row, word]) >> shift
            count += 1
    f = g = 0
    while f < most and g < most and count < len(buckets):
        x, y = codes[of_head + f, head], codes[of_modifier + g, modifier]
        if x == 0 or y == 0:
            break
        if codes[attribute + f, head] == codes[attribute + g, modifier]:
            buckets[count] = (coarse + x + y) >> shift
            count += 1
            f += 1
            g += 1
        elif codes[attribute + f, head] < codes[attribute + g, modifier]:
            f += 1
        else:
            g += 1
    return count


@njit()
def sibling_buckets(codes, head, sibling, modifier, shift, buckets):
    """Write the buckets of a modifier and the sibling before it on the same side (the head itself: none)."""
    codes, pair = codes.role, _mixed(_PAIR, 0 if sibling != head else 1)
    ht, hw = codes[_HEAD_TAG, head] + pair, codes[_HEAD_WORD, head] + pair
    hc = codes[_HEAD_COARSE, head] + pair
    mw, mt, mc = codes[_WORD, modifier], codes[_TAG, modifier], codes[_COARSE, modifier]
    if sibling == head:
        keys = (
            ht + mt,
            hw + mt,
            ht + mw,
            hc + mc,
            hw + mw,
            ht,
            hw,
            mt + pair,
            mw + pair,
            mc + pair,
            hc + mw,
            hw + mc,
        )
    else:
        sw, st, sc = codes[_SIBLING_WORD, sibling], codes[_SIBLING_TAG, sibling], codes[_SIBLING_COARSE, sibling]
        keys = (
            ht + st + mt, hw + st + mt, ht + sw + mt, ht + st + mw, hc + sc + mc,
            pair + st + mt, pair + sw + mt, pair + st + mw, pair + sw + mw, pair + sc + mc,
            hw + sc + mc, ht + st + mt + codes[_BEFORE, modifier],
        )  # fmt: skip
    count = 0
    for key in keys:
        buckets[count] = key >> shift
        count += 1
    return count


@njit()
def sibling_of(heads, word):
    """The place of the modifier before `word` on its side of the head, or of the head if it is the first."""
    head = heads[word]
    step = -1 if word > head else 1
    at = word + step
    while at != head:
        if heads[at] == head:
            return at
        at += step
    return head


@njit(inline="always")
def add_up(weights, buckets, count, origin, word):
    """The sum of the weights of buckets, each with the direction and with the direction and distance to a word.

    `origin` is the head for the buckets of an arc, and the sibling before the word for those of siblings.
    """
    direction, variant = np.uint32(1 if word > origin else 0), np.uint32(distance_variant(origin, word))
    by_direction, by_variant = 0.0, 0.0
    for f in range(count):
        by_direction += weights[buckets[f] ^ direction]
        by_variant += weights[buckets[f] ^ variant]
    return by_direction + by_variant


@njit()
def score_arcs(symbols, weights, arc, root):
    """Fill arc [N, N] (head, modifier) and root [N] with the scores of all arcs of a sentence.

    From one end of arcs the other end goes to the right, so that the tags between them are met one by one. The
    buckets of all these arcs are found before the weights are looked up: most of the time is waiting for memory,
    and so more looks wait at once.
    """
    n_words = symbols.shape[1] - 2
    shift = np.uint64(64 - bits_of(len(weights)))
    codes, last = role_codes(symbols), last_alike(symbols)
    buckets, counts = np.empty((2, n_words + 1, ARC_FEATURES), np.uint32), np.zeros((2, n_words + 1), np.int64)
    between = np.empty(n_words, np.int64)
    for low in range(n_words):
        used = 0
        for high in range(low + 1, n_words + 1):
            for side, head, modifier in ((1, low, high), (0, high, low)):
                if head == high and low == 0:
                    continue
                row = buckets[side, high]
                count = _own_buckets(codes, head, modifier, shift, row)
                for place in between[:used]:
                    count = _between_buckets(codes.role, place, head, modifier, shift, row, count)
                counts[side, high] = count
            if last[high] <= low:
                between[used] = high
                used += 1
        for high in range(low + 1, n_words + 1):
            score = add_up(weights, buckets[1, high], counts[1, high], low, high)
            if low == 0:
                root[high - 1] = score
                continue
            arc[low - 1, high - 1] = score
            arc[high - 1, low - 1] = add_up(weights, buckets[0, high], counts[0, high], high, low)


@njit()
def bits_of(size):
    """log₂ of a power of two."""
    bits = 0
    while size > 1:
        size >>= 1
        bits += 1
    return bits


@njit()
def score_listed(symbols, weights, scores):
    """Fill the weights of listed arcs, their siblings and the roots (`TreeScores` of numeric/projective.py)."""
    arc, root, offset, modifier, sibling_begin, sibling = scores
    n_words = symbols.shape[1] - 2
    shift = np.uint64(64 - bits_of(len(weights)))
    codes, last = role_codes(symbols), last_alike(symbols)
    buckets = np.empty(ARC_FEATURES, np.uint32)
    for word in range(1, n_words + 1):
        count = arc_buckets(codes, last, 0, word, shift, buckets)
        root[word - 1] = add_up(weights, buckets, count, 0, word)
    for source in range(2 * n_words):
        head, begin = source % n_words + 1, offset[source]
        for a in range(begin, offset[source + 1]):
            word = modifier[a] + 1
            count = arc_buckets(codes, last, head, word, shift, buckets)
            arc[head - 1, word - 1] = add_up(weights, buckets, count, head, word)
            place = sibling_begin[head - 1, word - 1]
            for b in range(a - begin + 1):
                before = modifier[begin + b - 1] + 1 if b > 0 else head
                count = sibling_buckets(codes, head, before, word, shift, buckets)
                sibling[place + b] = add_up(weights, buckets, count, before, word)


@njit()
def score_tree(symbols, weights, heads, second):
    """The score of a tree; heads [N + 2] by places, 0 the root; with its siblings if `second`."""
    shift = np.uint64(64 - bits_of(len(weights)))
    codes, last = role_codes(symbols), last_alike(symbols)
    buckets = np.empty(ARC_FEATURES, np.uint32)
    total = 0.0
    for word in range(1, len(heads) - 1):
        head = heads[word]
        count = arc_buckets(codes, last, head, word, shift, buckets)
        total += add_up(weights, buckets, count, head, word)
        if second and head > 0:
            before = sibling_of(heads, word)
            count = sibling_buckets(codes, head, before, word, shift, buckets)
            total += add_up(weights, buckets, count, before, word)
    return total
