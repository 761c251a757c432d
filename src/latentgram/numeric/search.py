"""Binary search in a part of a sorted array: O(log of its length)."""

from latentgram.compiling import njit


@njit()
def find(values, begin, end, wanted):
    """The place of a number in sorted values[begin:end], or −1."""
    if begin == end:
        return -1
    low, size = begin, end - begin
    # The place is computed, not branched to: the processor cannot guess which way a search goes.
    while size > 1:
        half = size >> 1
        low += half * (values[low + half - 1] < wanted)
        size -= half
    return low if values[low] == wanted else -1
