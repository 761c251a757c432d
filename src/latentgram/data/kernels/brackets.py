"""One pass over the bytes of a bracketed file, giving the arrays of a forest, and one back. O(bytes) time.

Labels and words are numbered on the way, in the order in which they first occur, through open-addressing hash
tables on their bytes; no string is made before the file is read. The pass is a machine with one stack: the
nodes that are open.
"""

import numpy as np

from latentgram.compiling import grown, njit

GOOD = 0
NEVER_CLOSED = 1
NEVER_OPENED = 2
OUTSIDE = 3
NO_LABEL = 4
EMPTY = 5
WORD_BESIDE_NODE = 6
NODE_BESIDE_WORD = 7
TWO_WORDS = 8

_OPEN, _CLOSE = 40, 41
_NEWLINE = 10
_FNV_BASIS = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)


@njit(inline="always")
def _blank(byte):
    return byte == 32 or 9 <= byte <= 13


@njit()
def _token(text, at):
    """Where the token at this place ends, and its hash (FNV-1a)."""
    code = _FNV_BASIS
    while at < len(text):
        byte = text[at]
        if _blank(byte) or byte in (_OPEN, _CLOSE):
            break
        code = (code ^ np.uint64(byte)) * _FNV_PRIME
        at += 1
    return at, code


@njit()
def _next_tree(text, at):
    """Where the next line begins that opens with a bracket in its first column; the end if there is none."""
    while at < len(text):
        if text[at] == _NEWLINE and at + 1 < len(text) and text[at + 1] == _OPEN:
            return at + 1
        at += 1
    return at


@njit()
def _intern(text, begin, end, code, slots, place, length, known):
    """The number of the token text[begin:end], which is `known` if it is new (and is then entered)."""
    mask = np.uint64(len(slots) - 1)
    slot = code & mask
    while slots[slot] >= 0:
        number = slots[slot]
        if length[number] == end - begin:
            other = place[number]
            i = 0
            while i < end - begin and text[other + i] == text[begin + i]:
                i += 1
            if i == end - begin:
                return number
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = known
    place[known] = begin
    length[known] = end - begin
    return known


@njit()
def _double(text, slots, place, length, known):
    """The same table with twice the room; it is never more than half full."""
    larger = np.full(2 * len(slots), -1, np.int32)
    place, length = grown(place, 2 * len(place)), grown(length, 2 * len(length))
    for number in range(known):
        end, code = _token(text, place[number])
        _intern(text, place[number], end, code, larger, place, length, number)
    return larger, place, length


@njit()
def _is_comment(text, at):
    """Whether a line that begins so between two trees is a comment: % or #, or Penn's *x* copyright lines."""
    if text[at] == 37 or text[at] == 35:
        return True
    return at + 2 < len(text) and text[at] == 42 and text[at + 1] == 120 and text[at + 2] == 42


@njit()
def scan(text, begins_line, final, skip_bad):
    """Read trees until the text ends.

    Returns (status, where), the bytes consumed by whole trees and comments, the nodes (label, size, word), the
    ends of the trees in nodes, their beginnings in bytes, the tables of labels and words (place, length), and
    (status, where) of what was skipped. Unless `final`, a tree that the text cuts off is left for the next call.
    """
    capacity = 0
    for byte in text:
        capacity += byte == _OPEN
    label, size = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    word = np.empty(capacity, np.int32)
    stack, opened = np.empty(capacity, np.int32), np.empty(capacity, np.int64)
    tree_end, tree_place = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    label_slots, word_slots = np.full(1 << 10, -1, np.int32), np.full(1 << 15, -1, np.int32)
    label_place, label_length = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64)
    word_place, word_length = np.empty(1 << 15, np.int64), np.empty(1 << 15, np.int64)
    labels = words = nodes = trees = depth = consumed = at = 0
    bad_status, bad_place = [0 for _ in range(0)], [0 for _ in range(0)]
    line_is_blank = begins_line
    # After one tree that is never closed, a bracket in the first column is taken to begin the next tree:
    # otherwise every such tree would cost a pass to the end of the file.
    first_column_begins = False
    status, where = GOOD, 0
    while True:
        if at >= len(text):
            if depth == 0 or not final:
                break
            status, where = NEVER_CLOSED, opened[0]
        elif _blank(text[at]):
            if text[at] == _NEWLINE:
                line_is_blank = True
                if depth == 0:
                    consumed = at + 1
            at += 1
            continue
        elif text[at] == _OPEN:
            if depth > 0 and word[stack[depth - 1]] >= 0:
                status, where = NODE_BESIDE_WORD, at
            elif depth > 0 and first_column_begins and at > 0 and text[at - 1] == _NEWLINE:
                status, where = NEVER_CLOSED, opened[0]
            else:
                if depth == 0:
                    tree_place[trees] = at
                stack[depth], opened[depth] = nodes, at
                at += 1
                while at < len(text) and _blank(text[at]):
                    at += 1
                end, code = _token(text, at)
                if end == at and depth > 0 and at < len(text):
                    status, where = NO_LABEL, opened[depth]
                else:
                    if 2 * labels >= len(label_slots):
                        label_slots, label_place, label_length = _double(
                            text, label_slots, label_place, label_length, labels
                        )
                    number = _intern(text, at, end, code, label_slots, label_place, label_length, labels)
                    labels += number == labels
                    label[nodes], word[nodes] = number, -1
                    nodes += 1
                depth += 1
                at = end
        elif text[at] == _CLOSE:
            if depth == 0:
                status, where = NEVER_OPENED, at
            else:
                top = stack[depth - 1]
                if word[top] < 0 and nodes == top + 1:
                    status, where = EMPTY, opened[depth - 1]
                else:
                    size[top] = nodes - top
                    depth -= 1
                    at += 1
                    if depth == 0:
                        tree_end[trees] = nodes
                        trees += 1
                        consumed = at
        elif depth == 0:
            if line_is_blank and _is_comment(text, at):
                while at < len(text) and text[at] != _NEWLINE:
                    at += 1
                continue
            if not final and at + 3 > len(text):
                break
            status, where = OUTSIDE, at
        else:
            top = stack[depth - 1]
            if nodes > top + 1:
                status, where = WORD_BESIDE_NODE, at
            elif word[top] >= 0:
                status, where = TWO_WORDS, at
            else:
                end, code = _token(text, at)
                if 2 * words >= len(word_slots):
                    word_slots, word_place, word_length = _double(text, word_slots, word_place, word_length, words)
                number = _intern(text, at, end, code, word_slots, word_place, word_length, words)
                words += number == words
                word[top] = number
                at = end
        line_is_blank = False
        if status != GOOD:
            if not skip_bad:
                break
            # Back to the bracket that began the tree, then on to the next line that looks like a beginning.
            at = _next_tree(text, opened[0] if depth > 0 else at)
            if at == len(text) and not final:
                status = GOOD
                break
            if depth > 0 and at < where:
                status, where = NEVER_CLOSED, opened[0]  # the fault is in a tree that this one has swallowed
            bad_status.append(status)
            bad_place.append(where)
            first_column_begins |= status == NEVER_CLOSED
            nodes = tree_end[trees - 1] if trees > 0 else 0
            depth, status, line_is_blank = 0, GOOD, True
            consumed = at
    nodes = tree_end[trees - 1] if trees > 0 else 0
    return (
        (status, where),
        consumed,
        (label[:nodes], size[:nodes], word[:nodes]),
        (tree_end[:trees], tree_place[:trees]),
        (label_place[:labels], label_length[:labels]),
        (word_place[:words], word_length[:words]),
        (np.array(bad_status, np.int64), np.array(bad_place, np.int64)),
    )


@njit()
def render(label, word, is_root, closes, label_bytes, label_begin, word_bytes, word_begin):
    """The bytes of a forest, one tree per line. `closes[v]` brackets close after the word of node v."""
    total = 1
    for v in range(len(label)):
        total += 3 + label_begin[label[v] + 1] - label_begin[label[v]]
        if word[v] >= 0:
            total += 1 + word_begin[word[v] + 1] - word_begin[word[v]]
    text = np.empty(total, np.uint8)
    at = 0
    for v in range(len(label)):
        text[at] = _NEWLINE if is_root[v] else 32
        text[at + 1] = _OPEN
        at += 2
        for i in range(label_begin[label[v]], label_begin[label[v] + 1]):
            text[at] = label_bytes[i]
            at += 1
        if word[v] >= 0:
            text[at] = 32
            at += 1
            for i in range(word_begin[word[v]], word_begin[word[v] + 1]):
                text[at] = word_bytes[i]
                at += 1
            for _ in range(closes[v]):
                text[at] = _CLOSE
                at += 1
    text[at] = _NEWLINE
    return text[1:]
