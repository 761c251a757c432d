"""Kernels on the heads of many sentences at once: `heads` end to end, sentence s at `offsets[s]:offsets[s + 1]`.

Words of a sentence are numbered from 1 and 0 is the artificial root, so word i of sentence s is
`heads[offsets[s] + i - 1]`. Checks and projectivity are linear in the number of words. Projectivisation is linear
for sentences that are projective already, and O(lifts · Σ arc length · depth) for the few others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Flags, Ints, Ints32
from latentgram.compiling import njit

GOOD, OUT_OF_RANGE, NO_ROOT, TWO_ROOTS, CYCLE = range(5)
"""What can be wrong with the heads of a sentence."""


@njit()
def find_faults(heads: Ints32, offsets: Ints) -> tuple[NDArray[np.int8], Ints32]:
    """For each sentence the first kind of fault there is, and the number of a word that shows it (0: none)."""
    sentences = len(offsets) - 1
    kind = np.zeros(sentences, np.int8)
    word = np.zeros(sentences, np.int32)
    mark = np.zeros(len(heads) + 1, np.int32)
    for s in range(sentences):
        base, length = offsets[s] - 1, offsets[s + 1] - offsets[s]
        roots = 0
        for i in range(1, length + 1):
            head = heads[base + i]
            if head < 0 or head > length:
                kind[s], word[s] = OUT_OF_RANGE, i
                break
            if head == 0:
                roots += 1
                if roots == 2:
                    kind[s], word[s] = TWO_ROOTS, i
                    break
        if kind[s] != GOOD:
            continue
        # A walk upwards marks its words with where it began; meeting the own mark again is a cycle, and meeting
        # another's ends the walk: each word is marked once.
        for i in range(1, length + 1):
            at = i
            while at != 0 and mark[base + at] == 0:
                mark[base + at] = i
                at = heads[base + at]
            if at != 0 and mark[base + at] == i:
                kind[s], word[s] = CYCLE, at
                break
        if kind[s] == GOOD and roots == 0:
            kind[s] = NO_ROOT
    return kind, word


@njit()
def _contiguous(
    heads: Ints32, base: int, length: int, left: Ints32, right: Ints32, size: Ints32, open_: Ints32
) -> bool:
    """Whether the words below each word, itself included, stand side by side.

    That is the same as no two arcs crossing, the root arc counted from word 0.
    """
    for i in range(1, length + 1):
        left[i], right[i], size[i], open_[i] = i, i, 1, 0
    for i in range(1, length + 1):
        open_[heads[base + i]] += 1
    for leaf in range(1, length + 1):
        at = leaf
        # Climb as long as all below is summed; `open_` -1 says that a word is done.
        while at != 0 and open_[at] == 0:
            if right[at] - left[at] + 1 != size[at]:
                return False
            open_[at] = -1
            head = heads[base + at]
            left[head] = min(left[head], left[at])
            right[head] = max(right[head], right[at])
            size[head] += size[at]
            open_[head] -= 1
            at = head
    return True


@njit()
def find_projective(heads: Ints32, offsets: Ints) -> Flags:
    """Which sentences are projective; all must be trees."""
    sentences = len(offsets) - 1
    longest = np.max(np.diff(offsets)) if sentences else 0
    space = np.zeros((4, longest + 1), np.int32)
    result = np.zeros(sentences, np.bool_)
    for s in range(sentences):
        result[s] = _contiguous(
            heads, offsets[s] - 1, offsets[s + 1] - offsets[s], space[0], space[1], space[2], space[3]
        )
    return result


@njit()
def _dominates(heads: Ints32, base: int, above: int, word: int) -> bool:
    while word != above and word != 0:
        word = heads[base + word]
    return word == above


@njit()
def lift_arcs(heads: Ints32, offsets: Ints, projective: Flags) -> tuple[Ints32, Ints32]:
    """The heads after lifting, and how often each word was lifted (Nivre & Nilsson 2005, algorithm 1).

    An arc h → d is projective if h dominates every word between them. As long as there are arcs that are not,
    the shortest of them (the leftmost of equals) is replaced by head(h) → d.
    """
    heads = heads.copy()
    lifts = np.zeros(len(heads), np.int32)
    for s in range(len(offsets) - 1):
        if projective[s]:
            continue
        base, length = offsets[s] - 1, offsets[s + 1] - offsets[s]
        while True:
            best, shortest = 0, length + 1
            for dependent in range(1, length + 1):
                head = heads[base + dependent]
                distance = abs(head - dependent)
                if head == 0 or distance >= shortest:
                    continue
                for between in range(min(head, dependent) + 1, max(head, dependent)):
                    if not _dominates(heads, base, head, between):
                        best, shortest = dependent, distance
                        break
            if best == 0:
                break
            heads[base + best] = heads[base + heads[base + best]]
            lifts[base + best] += 1
    return heads, lifts
