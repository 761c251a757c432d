"""How many states each symbol should have, searched on held-out trees as one optimisation over all symbols.

Narayan and Cohen (2016) found that numbers of states chosen symbol by symbol on the accuracy of the whole
parser beat any rule that looks at one symbol's spectrum. A spectral grammar with fewer states is a slice of one
with more, so a candidate costs no learning, only a parse of the held-out trees. The search is greedy: symbols
come in the order of their frequency, each is tried at half and at twice its states (within what was learned),
and a change that scores better is kept; rounds go on until the budget of candidates is spent or a round changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from latentgram.lpcfg.layout import truncated
from latentgram.lpcfg.model import LPCFG
from latentgram.progress import Progress, Silent


def search_states(
    grammar: LPCFG,
    score: Callable[[LPCFG], float],
    budget: int,
    *,
    start: int | None = None,
    progress: Progress | None = None,
) -> tuple[LPCFG, tuple[dict[str, float], ...]]:
    """The best grammar found among slices of `grammar` within `budget` scored candidates, and what was tried.

    The search begins at `start` states for every symbol (half of the most that any has, if not given).
    """
    show = (progress or Silent()).step
    most = grammar.states
    states = np.minimum(most, start or max(1, int(most.max()) // 2)).astype(np.int32)
    best = truncated(grammar, states)
    best_score = score(best)
    trace = [{"symbol": -1.0, "states": float(states.max()), "score": best_score}]
    counts = _symbol_counts(grammar)
    order = np.argsort(-counts, kind="stable")
    spent, changed = 1, True
    while changed and spent < budget:
        changed = False
        for symbol in order:
            for wanted in (states[symbol] // 2, states[symbol] * 2):
                few = int(np.clip(wanted, 1, most[symbol]))
                if few == states[symbol] or spent >= budget:
                    continue
                tried = states.copy()
                tried[symbol] = few
                candidate = truncated(grammar, tried)
                reached = score(candidate)
                spent += 1
                trace.append({"symbol": float(symbol), "states": float(few), "score": reached})
                if reached > best_score:
                    best, best_score, states, changed = candidate, reached, tried, True
                show("states", spent, budget, score=best_score)
    return best, tuple(trace)


def _symbol_counts(grammar: LPCFG) -> NDArray[np.float64]:
    """How often each symbol was counted."""
    size = len(grammar.states)
    over_words = np.bincount(grammar.lexicon[:, 0], grammar.lexicon_count, size)
    return np.asarray(over_words + np.bincount(grammar.rules[:, 0], grammar.rule_count, size), np.float64)
