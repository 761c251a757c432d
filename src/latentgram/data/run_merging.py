"""Merging sorted runs of counted keys: a heap over the heads of the runs, buffer by buffer.

A row of a run is a key and a count; keys rise strictly within a run. All rows of one key are summed, and every one
of them is told the place of their key among the keys that are kept. The caller fills the buffers: the kernel goes
on until a buffer is used up or the output is full. O(log runs) a row.
"""

import numpy as np
from numba import njit

DROPPED = -1
"""The place of a key that is not kept."""


@njit(cache=True)
def _before(keys, position, one, other):
    return keys[one, position[one]] < keys[other, position[other]]


@njit(cache=True)
def _sink(heap, size, place, keys, position):
    """Move the run at `place` down until no run below it has a smaller head."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and _before(keys, position, heap[child + 1], heap[child]):
            child += 1
        if not _before(keys, position, heap[child], heap[place]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@njit(cache=True)
def build_heap(heap, keys, position):
    """Order the runs in `heap`, each of which has a head."""
    for place in range(heap.size // 2 - 1, -1, -1):
        _sink(heap, heap.size, place, keys, position)


@njit(cache=True)
def merge_buffers(heap, keys, counts, places, position, filled, least, extended, first, out_key, out_count):
    """Merge until a run has no head or `out_key` is full; return how many keys were kept.

    Keys of a sum below `least` are dropped, and rows of a sum below `extended` are told so, as if theirs were.
    `keys[r, position[r] : filled[r]]` is what run r still has in its buffer, `places[r]` receives the places of
    its rows among all kept keys, of which `first` lie before these. Every run in `heap` must have a head, and
    buffers one column more than they ever have rows.
    """
    kept = 0
    members = np.empty(heap.size, np.int64)
    while kept < out_key.size:
        key = keys[heap[0], position[heap[0]]]
        total = 0
        size = 0
        exhausted = False
        # Equal heads come to the top one after another; each run has a key once, so at most once.
        while True:
            run = heap[0]
            if keys[run, position[run]] != key:
                break
            total += counts[run, position[run]]
            members[size] = run
            size += 1
            position[run] += 1
            if position[run] == filled[run]:
                exhausted = True
                # Buffers have one column more than rows: a run without head counts as having the greatest one.
                keys[run, position[run]] = np.iinfo(np.int64).max
            _sink(heap, heap.size, 0, keys, position)
        place = DROPPED
        if total >= least:
            out_key[kept] = key
            out_count[kept] = total
            if total >= extended:
                place = first + kept
            kept += 1
        for m in range(size):
            places[members[m], position[members[m]] - 1] = place
        if exhausted:
            break
    return kept
