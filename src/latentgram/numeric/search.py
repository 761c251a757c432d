"""Binary search in a part of a sorted array: O(log of its length)."""

from latentgram.compiling import njit


@njit()
def find(values, begin, end, wanted):
    """The place of a number in sorted values[begin:end], or −1."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else -1
