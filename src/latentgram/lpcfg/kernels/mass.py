"""The probability of all trees below each state of each symbol, by their number of words; see lpcfg/mass.py.

    M(a, n) = Σ_{a→b c} t(a→b c)( · , Σ_{0<k<n} M(b, k) ⊗ M(c, n−k))

over rules seen and unseen. O(N²/2 · rules · m² + N · rules · m³) for trees of up to N words and m states.
"""

from __future__ import annotations

import numpy as np

from latentgram.compiling import njit


@njit()
def fill_mass(mass, rules, states, tensor, tensor_begin, symbol_begin, mean_inside, mean_outside, unseen):
    """M(a, n) of all symbols for 2 … N words."""
    longest, symbols = mass.shape[0] - 1, states.shape[0]
    smooth = unseen.weight > 0.0
    interminals = unseen.left.shape[1]
    # Of unseen rules a child counts with its mean outside vector only: [n, a] Σ_b left(b, a) F(b) · M(b, n).
    left_sum, right_sum = np.zeros((longest + 1, interminals)), np.zeros((longest + 1, interminals))
    scalar = np.zeros((longest + 1, symbols))
    outer = np.empty(states.max() * states.max())
    for n in range(1, longest + 1):
        for rule in range(rules.shape[0] if n > 1 else 0):
            a, b, c = rules[rule]
            left, right = symbol_begin[b], symbol_begin[c]
            size, place, seen_less = states[b] * states[c], tensor_begin[rule], 0.0
            outer[:size] = 0.0
            for k in range(1, n):
                cell = 0
                for h in range(states[b]):
                    for g in range(states[c]):
                        outer[cell] += mass[k, left + h] * mass[n - k, right + g]
                        cell += 1
                if smooth:
                    seen_less += scalar[k, b] * scalar[n - k, c]
            seen_less *= unseen.left[b, a] * unseen.right[c, a] if smooth else 0.0
            for h in range(symbol_begin[a], symbol_begin[a + 1]):
                total = 0.0
                for cell in range(size):
                    total += tensor[place] * outer[cell]
                    place += 1
                mass[n, h] += total - seen_less * mean_inside[h]
        for a in range(interminals if n > 1 else 0):
            total = 0.0
            for k in range(1, n):
                total += left_sum[k, a] * right_sum[n - k, a]
            for h in range(symbol_begin[a], symbol_begin[a + 1]):
                mass[n, h] += total * mean_inside[h]
        for b in range(symbols if smooth else 0):
            for h in range(symbol_begin[b], symbol_begin[b + 1]):
                scalar[n, b] += mean_outside[h] * mass[n, h]
            for a in range(interminals):
                left_sum[n, a] += unseen.left[b, a] * scalar[n, b]
                right_sum[n, a] += unseen.right[b, a] * scalar[n, b]
