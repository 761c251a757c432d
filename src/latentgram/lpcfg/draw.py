"""Sampling trees from a grammar of probabilities: data from a known distribution.

From the root down, each node (symbol a, state h) draws one of its rewrites: a rule with the states of both
children, or a word (Cohen et al. 2012, §4.1). Cost: one look-up in a table of cumulative probabilities per node.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from itertools import accumulate

import numpy as np

from latentgram.arrays import Flags, Ints32
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.errors import SettingError
from latentgram.lpcfg.model import LPCFG

Node = tuple[int, int]
"""Symbol and state."""
Choice = tuple[list[float], list[tuple[Node, Node] | int]]
"""Cumulated probabilities, and the children or the word that each stands for."""


def draw_trees(grammar: LPCFG, number: int, seed: int = 0, longest: int = 1000) -> Forest:
    """Independent binary trees from a grammar of probabilities (turn them back by `grammar.binarisation`).

    A tree with more than `longest` nodes raises: the grammar's trees are endless or nearly so.
    """
    if not grammar.nonnegative:
        raise SettingError("trees can be sampled only from a grammar of probabilities, not from a spectral one")
    choices = _choices(grammar)
    roots: list[Node] = []
    weights: list[float] = []
    for symbol in range(len(grammar.states)):
        roots.extend((symbol, state) for state in range(int(grammar.states[symbol])))
        weights.extend(grammar.of_symbol(grammar.root_vector, symbol).tolist())
    cumulated_roots = list(accumulate(weights))
    source = random.Random(seed)
    inner = len(grammar.interminals)
    label: list[int] = []
    word: list[int] = []
    start = [0]
    for _ in range(number):
        pending = [roots[bisect_right(cumulated_roots, source.random() * cumulated_roots[-1])]]
        while pending:
            if len(label) - start[-1] >= longest:
                raise SettingError(f"a tree of more than {longest} nodes was sampled: the trees do not end")
            node = pending.pop()
            cumulated, outcomes = choices[node]
            outcome = outcomes[bisect_right(cumulated, source.random() * cumulated[-1])]
            label.append(node[0])
            if isinstance(outcome, int):
                word.append(outcome)
            else:
                word.append(ABSENT)
                pending.extend((outcome[1], outcome[0]))
        start.append(len(label))
    names = Alphabet.of((*grammar.interminals, *grammar.preterminals))
    code = np.concatenate((names.encode(grammar.interminals), names.encode(grammar.preterminals)))
    symbols, words = np.array(label, np.int64), np.array(word, np.int32)
    return Forest(names, grammar.words, code[symbols], _sizes(symbols < inner), words, np.array(start, np.int64))


def _choices(grammar: LPCFG) -> dict[Node, Choice]:
    """What each symbol in each state may be rewritten to."""
    weights: dict[Node, list[float]] = {
        (symbol, state): [] for symbol, states in enumerate(grammar.states) for state in range(states)
    }
    outcomes: dict[Node, list[tuple[Node, Node] | int]] = {node: [] for node in weights}
    for number, (a, b, c) in enumerate(grammar.rules.tolist()):
        tensor = grammar.tensor(number)
        for i, j, k in np.argwhere(tensor > 0).tolist():
            weights[a, i].append(float(tensor[i, j, k]))
            outcomes[a, i].append(((b, j), (c, k)))
    for number, (a, x) in enumerate(grammar.lexicon.tolist()):
        for state, weight in enumerate(grammar.vector(number).tolist()):
            weights[a, state].append(weight)
            outcomes[a, state].append(x)
    return {node: (list(accumulate(weights[node])), outcomes[node]) for node in weights}


def _sizes(is_inner: Flags) -> Ints32:
    """Subtree sizes of binary trees in preorder."""
    size = np.ones(len(is_inner), np.int32)
    for v in np.flatnonzero(is_inner)[::-1]:
        size[v] += size[v + 1] + size[v + 1 + size[v + 1]]
    return size
