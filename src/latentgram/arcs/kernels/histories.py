"""Histories: what a tree that grows from its root has shown before each of its next words (Collins 1997).

A tree grows depth first. Every head makes its left modifiers from the nearest outward and an end, then its right
ones and an end; a modifier makes all that is below it before its head goes on. So when a head makes its next
modifier, or ends, everything is known of the words above it, of its modifiers so far with all that is below them,
and of its left side when it is at its right.

A history is a row of numbers, its atoms (`ATOMS`); a feature is a template, some of the atoms together with the
side (`TEMPLATES`), and its key a hash of 64 bits. A tree of N words has 3N + 1 events: N modifiers and 2N + 1
ends, where the root, a head without a left side, has the number 0. O(N²) for a tree.
"""

import numpy as np

from latentgram.compiling import njit

ATOMS = (
    "side", "head", "head word", "parent", "parent word", "grandparent", "great-grandparent", "head's sibling",
    "sibling", "sibling word", "second sibling", "count", "width", "edge", "sequence", "set",
    "sibling's children", "sibling's width", "sibling's last", "left count", "nearest left", "farthest left",
)  # fmt: skip
"""Tags where not said otherwise; the parent is the head's, and comes with the side of it that the head is on.

The sibling is the modifier made last on this side, the edge the last word of what is below it, the width that of
all made on this side; sequence and set are those of its modifiers' tags.
"""

TEMPLATES = (
    (),
    ("head",),
    ("head", "count"),
    ("head", "width"),
    ("head", "sequence"),
    ("head", "set"),
    ("head", "parent"),
    ("head", "parent", "grandparent"),
    ("head", "parent", "grandparent", "great-grandparent"),
    ("head", "parent", "head's sibling", "sibling"),
    ("head", "parent", "sibling"),
    ("head", "parent", "sibling", "second sibling"),
    ("head", "parent", "sibling", "count"),
    ("head", "parent", "sibling", "farthest left"),
    ("head", "parent", "width"),
    ("head", "parent", "set"),
    ("head", "parent word"),
    ("head", "parent word", "sibling"),
    ("head", "sibling"),
    ("head", "sibling", "second sibling"),
    ("head", "sibling", "width"),
    ("head", "sibling", "edge"),
    ("head", "sibling", "sibling's children"),
    ("head", "sibling", "sibling's width", "count"),
    ("head", "sibling", "sibling's last"),
    ("head", "sibling", "nearest left", "left count"),
    ("head", "sibling word"),
    ("head", "sibling word", "width"),
    ("head", "count", "left count", "farthest left"),
    ("head", "set", "nearest left", "farthest left"),
    ("head word",),
    ("head word", "parent"),
    ("head word", "parent word", "sibling"),
    ("head word", "sibling"),
    ("head word", "sibling", "second sibling"),
    ("head word", "sibling", "nearest left"),
    ("head word", "sibling word"),
    ("head word", "sequence"),
    ("head word", "set"),
    ("head word", "count", "left count"),
    ("head word", "edge", "width"),
)
"""The atoms of every feature, besides the side."""

_WIDEST = max(map(len, TEMPLATES))
TEMPLATE_ATOMS = np.array(
    [[ATOMS.index(atom) for atom in template] + [-1] * (_WIDEST - len(template)) for template in TEMPLATES]
)
"""[templates, atoms] the places of their atoms in a history; −1 for none."""

MOST = 4
"""Modifiers are counted up to here, those of a sibling up to half of it."""
LEFT, RIGHT = 0, 1


@njit()
def mixed(key, atom):
    """A hash of 64 bits of another and a number."""
    key = (key ^ np.uint64(atom)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))


@njit()
def feature_keys(history, templates, keys):
    """Write the keys [templates] of the features of a history."""
    for t in range(len(templates)):
        key = mixed(mixed(np.uint64(0), t + 1), history[0])
        for atom in templates[t]:
            if atom >= 0:
                key = mixed(key, history[atom])
        keys[t] = key


@njit()
def all_feature_keys(history, templates):
    """The keys [events, templates] of many histories."""
    keys = np.empty((len(history), len(templates)), np.uint64)
    for event in range(len(history)):
        feature_keys(history[event], templates, keys[event])
    return keys


@njit()
def _rounded(length):
    """Lengths up to 4, then in wider and wider classes."""
    if length <= 4:
        return length
    return 5 if length <= 6 else 6 if length <= 10 else 7 if length <= 20 else 8


@njit()
def _spans(heads, begin, end):
    """First and last word of all that is below each word."""
    for word in range(len(begin)):
        begin[word], end[word] = word, word
    for word in range(1, len(begin)):
        above = heads[word - 1]
        while above > 0:
            begin[above], end[above] = min(begin[above], word), max(end[above], word)
            above = heads[above - 1]


@njit()
def _next(heads, head, word, way):
    """The next modifier of a head after a word, going this way; 0 if there is none."""
    word += way
    while 1 <= word <= len(heads):
        if heads[word - 1] == head:
            return word
        word += way
    return 0


@njit()
def histories(heads, tags, words, n_tags, history, made):
    """Write the history [events, atoms] of every event of a tree and the word it made, 0 for an end; their number.

    IN   heads [N] from 1, 0 for the root; tags [N] below n_tags, words [N] at least 0.
    """
    n_words = len(heads)
    none, root = n_tags, n_tags + 1
    begin, end = np.empty(n_words + 1, np.int64), np.empty(n_words + 1, np.int64)
    _spans(heads, begin, end)
    tag = np.empty(n_words + 1, np.int64)
    tag[0], tag[1:] = root, tags
    form = np.empty(n_words + 1, np.int64)
    form[0], form[1:] = -1, words
    count = np.zeros((2, n_words + 1), np.int64)
    nearest, farthest = np.full((2, n_words + 1), none), np.full((2, n_words + 1), none)
    sibling_of = np.full(n_words + 1, none)
    for head in range(n_words + 1):
        for side in range(2):
            way, last = 2 * side - 1, 0
            word = _next(heads, head, head, way)
            while word > 0:
                count[side, head] += 1
                if last == 0:
                    nearest[side, head] = tag[word]
                else:
                    sibling_of[word] = tag[last]
                farthest[side, head] = tag[word]
                last = word
                word = _next(heads, head, word, way)
    event = 0
    for head in range(n_words + 1):
        parent = heads[head - 1] if head > 0 else -1
        above = heads[parent - 1] if parent > 0 else -1
        top = heads[above - 1] if above > 0 else -1
        side_of_head = 0 if parent < 0 else 1 if head > parent else 2
        for side in range(RIGHT if head == 0 else LEFT, 2):
            way, last, second, seen = 2 * side - 1, 0, 0, 0
            sequence, present = np.uint64(1), np.int64(0)
            while True:
                word = _next(heads, head, last if last > 0 else head, way)
                edge = head if last == 0 else end[last] if side == RIGHT else begin[last]
                at = history[event]
                at[0] = side
                at[1] = tag[head]
                at[2] = form[head]
                at[3] = side_of_head + 3 * (tag[parent] if parent >= 0 else none)
                at[4] = side_of_head + 3 * (form[parent] if parent >= 0 else -2)
                at[5] = tag[above] if above >= 0 else none
                at[6] = tag[top] if top >= 0 else none
                at[7] = sibling_of[head]
                at[8] = tag[last] if last > 0 else none
                at[9] = form[last] if last > 0 else -2
                at[10] = tag[second] if second > 0 else none
                at[11] = min(seen, MOST)
                at[12] = _rounded(abs(edge - head))
                at[13] = tag[edge]
                at[14] = np.int64(sequence)
                at[15] = present
                at[16] = -1
                at[17] = 0
                at[18] = none
                if last > 0:
                    at[16] = min(count[LEFT, last], MOST // 2) * MOST + min(count[RIGHT, last], MOST // 2)
                    at[17] = _rounded(end[last] - begin[last] + 1)
                    at[18] = farthest[side, last]
                at[19] = min(count[LEFT, head], MOST - 1) if side == RIGHT else 0
                at[20] = nearest[LEFT, head] if side == RIGHT else none
                at[21] = farthest[LEFT, head] if side == RIGHT else none
                made[event] = word
                event += 1
                if word == 0:
                    break
                sequence = mixed(sequence, tag[word] + 1)
                present |= np.int64(1) << (tag[word] % 63)
                second, last, seen = last, word, seen + 1
    return event
