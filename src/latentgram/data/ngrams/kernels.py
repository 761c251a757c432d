"""Counting n-grams of one order after another: hash tables and sorting in compiled code.

An n-gram of order k is the pair (number of its first k-1 words, last word). One pass per order gives every
position the number of the n-gram that ends there; by the a-priori rule only positions whose two parts of order k-1
were seen often enough are looked up. Cost: one probe per position and order; 16 bytes per slot, at most half
filled.

A probe is a cache miss, so positions are taken in small blocks: the first loop over a block touches the slots,
which the processor fetches side by side, and the second does the work.

Where n-grams are wanted sorted, and most are rare, sorting is the shorter way: prefixes have numbers, so positions
are put side by side by prefix in two passes, and the few of a prefix are sorted by their words.
"""

import numpy as np

from latentgram.compiling import grown, njit

EMPTY = -1
BLOCK = 64
FEW = 16
LOW = 0xFFFFFFFF


@njit()
def _place(key, mask):
    """Fibonacci hashing: the high bits of the product are well mixed."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))


@njit()
def _probe(slots, key, mask):
    """The place of a key, or the free place where it belongs."""
    place = _place(key, mask)
    while slots[place, 0] != EMPTY and slots[place, 0] != key:
        place = (place + 1) & mask
    return place


@njit()
def _doubled(slots):
    """The same table with twice the slots."""
    larger = np.full((2 * slots.shape[0], 2), EMPTY, np.int64)
    for old in range(slots.shape[0]):
        if slots[old, 0] != EMPTY:
            larger[_probe(larger, slots[old, 0], larger.shape[0] - 1)] = slots[old]
    return larger


@njit()
def without_rare(at, count, least):
    """The numbers of the n-grams that end at each position, -1 in place of those that are seen too rarely."""
    kept = np.empty(at.size, np.int32)
    for i in range(at.size):
        kept[i] = at[i] if at[i] >= 0 and count[at[i]] >= least else EMPTY
    return kept


@njit()
def count_extensions(tokens, shorter, bigrams):
    """Number and count the n-grams one longer than those of `shorter` (the n-gram ending at each position, or -1).

    `bigrams` says that bigrams are counted, the only n-grams whose first part may be a boundary. Returns the
    number at each position (-1: none), and for each number its prefix, word, suffix and count, in order of first
    sight. A slot is the key and `number << 32 | count`.
    """
    slots = np.full((1 << 12, 2), EMPTY, np.int64)
    mask = slots.shape[0] - 1
    prefix = np.empty(1 << 11, np.int32)
    word = np.empty(1 << 11, np.int32)
    suffix = np.empty(1 << 11, np.int32)
    used = 0
    longer = np.full(tokens.size, EMPTY, np.int32)
    position = np.empty(BLOCK, np.int64)
    touched = np.empty(BLOCK, np.int64)
    for begin in range(1, tokens.size, BLOCK):
        size = 0
        for i in range(begin, min(begin + BLOCK, tokens.size)):
            before = shorter[i - 1]
            if before >= 0 and shorter[i] >= 0 and (bigrams or tokens[i - 1] != 0):
                position[size] = i
                touched[size] = slots[_place((np.int64(before) << 32) | np.int64(tokens[i]), mask), 0]
                size += 1
        for k in range(size):
            i = position[k]
            key = (np.int64(shorter[i - 1]) << 32) | np.int64(tokens[i])
            place = _probe(slots, key, mask)
            if slots[place, 0] == EMPTY:
                if used == prefix.size:
                    prefix, word, suffix = grown(prefix, used + 1), grown(word, used + 1), grown(suffix, used + 1)
                prefix[used], word[used], suffix[used] = shorter[i - 1], tokens[i], shorter[i]
                slots[place, 0] = key
                slots[place, 1] = np.int64(used) << 32
                used += 1
                if 2 * used > slots.shape[0]:
                    slots = _doubled(slots)
                    mask = slots.shape[0] - 1
                    place = _probe(slots, key, mask)
            slots[place, 1] += 1
            longer[i] = slots[place, 1] >> 32
    count = np.empty(used, np.int64)
    for place in range(slots.shape[0]):
        if slots[place, 0] != EMPTY:
            count[slots[place, 1] >> 32] = slots[place, 1] & LOW
    return longer, prefix[:used].copy(), word[:used].copy(), suffix[:used].copy(), count


@njit()
def _sort(values, begin, end):
    """Sort `values[begin : end]`: a few by insertion, many as a heap."""
    if end - begin <= FEW:
        for i in range(begin + 1, end):
            value = values[i]
            k = i
            while k > begin and values[k - 1] > value:
                values[k] = values[k - 1]
                k -= 1
            values[k] = value
        return
    size = end - begin
    for step in range(size // 2 + size - 1):
        if step < size // 2:
            node, rest = size // 2 - 1 - step, size
            value = values[begin + node]
        else:
            node, rest = 0, size - 1 - (step - size // 2)
            value = values[begin + rest]
            values[begin + rest] = values[begin]
        while True:
            child = 2 * node + 1
            if child >= rest:
                break
            if child + 1 < rest and values[begin + child + 1] > values[begin + child]:
                child += 1
            if values[begin + child] <= value:
                break
            values[begin + node] = values[begin + child]
            node = child
        values[begin + node] = value


@njit()
def count_sorted(tokens, at, place):
    """Number and count the n-grams one longer than those that end `at` each position, sorted.

    Entry r of `place` is the number to know the shorter n-gram r by, or -1 if none is to have it as a part; it
    rises with r. Returns the number at each position (-1: none), and of each n-gram the key (number of its prefix,
    word), the count and the number of its suffix.
    """
    shorter = np.empty(tokens.size, np.int32)
    for i in range(tokens.size):
        shorter[i] = place[at[i]] if at[i] >= 0 else EMPTY
    end = np.zeros(place.size + 1, np.int64)
    for i in range(1, tokens.size):
        if shorter[i - 1] >= 0 and shorter[i] >= 0 and tokens[i - 1] != 0:
            end[at[i - 1] + 1] += 1
    for r in range(place.size):
        end[r + 1] += end[r]
    total = end[place.size]
    continuations = np.empty(total, np.int64)
    for i in range(1, tokens.size):
        if shorter[i - 1] >= 0 and shorter[i] >= 0 and tokens[i - 1] != 0:
            continuations[end[at[i - 1]]] = (np.int64(tokens[i]) << 32) | i
            end[at[i - 1]] += 1
    longer = np.full(tokens.size, EMPTY, np.int32)
    key, count, suffix = np.empty(total, np.int64), np.empty(total, np.int32), np.empty(total, np.int32)
    used = 0
    begin = 0
    for r in range(place.size):
        if end[r] == begin:
            continue
        _sort(continuations, begin, end[r])
        last = np.int64(EMPTY)
        for k in range(begin, end[r]):
            word, i = continuations[k] >> 32, continuations[k] & LOW
            if word != last:
                key[used] = (np.int64(place[r]) << 32) | word
                count[used], suffix[used] = 0, shorter[i]
                used += 1
                last = word
            count[used - 1] += 1
            longer[i] = used - 1
        begin = end[r]
    return longer, key[:used].copy(), count[:used].copy(), suffix[:used].copy()


@njit()
def tally_range(numbers, first, out):
    """Add to `out` how often each of the numbers from `first` on occurs."""
    for number in numbers:
        if first <= number < first + out.size:
            out[number - first] += 1


@njit()
def gather_range(numbers, first, values, out):
    """Fill `out` with the values of those numbers that are in the range from `first` on, in order; how many."""
    size = 0
    for number in numbers:
        if first <= number < first + values.size:
            out[size] = values[number - first]
            size += 1
    return size
