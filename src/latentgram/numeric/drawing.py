"""One of several places, drawn with probabilities in proportion to their shares: O(places)."""

from numba import njit


@njit(cache=True)
def draw_place(shares, uniform):
    """The place that a number in [0, 1) falls on; shares that are not positive are never drawn."""
    total = 0.0
    for share in shares:
        total += max(share, 0.0)
    left = uniform * total
    chosen = 0
    for place in range(len(shares)):
        if shares[place] > 0.0:
            chosen = place
            left -= shares[place]
            if left < 0.0:
                break
    return chosen
