"""A head-automata grammar of deterministic automata, each of which reads like one with hidden states (`to_dfa`).

Luque et al. 2012 draw such automata (section 5.3); here they make a grammar. State p of a source with C visits and
U different modifiers keeps 1 − ε of its probabilities, ε = (U + 1) / (C + U + 1) (Witten & Bell 1991); the rest
goes to the end and to all symbols by their frequency, in the proportion 1 : V for V visits of states per sequence.
A modifier that p never took leads where it leads from the state that takes it most; one that no state took leads
back to p. A sequence has one path, so the best tree can be found (`Viterbi`), and the grammar can be a factor of
any product.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from latentgram.arrays import Floats
from latentgram.errors import SettingError
from latentgram.sequences.dfa import DFA
from latentgram.shag.model import SHAG
from latentgram.shag.statistics import Trees, sequences_of


def determinise(grammar: SHAG, clusters: int = 10, trees: Trees | None = None) -> SHAG:
    """A deterministic grammar of at most `clusters` states besides the initial one for each head and direction.

    With trees the states are clusters of the prefixes of their modifier sequences, as printed in the paper, for
    the heads that the trees have; else of the likeliest prefixes of the automata themselves.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(50, seed=1)
    >>> shag = lg.fit(lg.SHAG, bank, by=lg.Spectral(states=3))
    >>> dfa = shag.determinise(clusters=3, trees=bank)
    >>> dfa.deterministic, dfa.states, round(dfa["NN", lg.LEFT].total(), 9)
    (True, 4, 1.0)
    """
    names = grammar.symbols.alphabet
    seen = sequences_of(trees, grammar.symbols) if trees is not None else {}
    automata = [
        [_approximation(grammar, name, direction, clusters, seen.get((name, direction))) for name in names]
        for direction in range(2)
    ]
    n_symbols, n_states = len(names), max(dfa.states for side in automata for dfa in side)
    start, stop = np.zeros((2, n_symbols, n_states)), np.zeros((2, n_symbols, n_states))
    start[:, :, 0] = 1.0
    pair = np.zeros((2, n_symbols, n_symbols), np.int32)
    weight = np.tile(grammar.symbols.frequency, (2, n_symbols, 1))
    operators: list[Floats] = []
    for direction, head in np.ndindex(2, n_symbols):
        dfa = automata[direction][head]
        states = np.arange(dfa.states)
        taken = dfa.target >= 0
        distinct = taken.sum(1) + 1.0
        smoothed = distinct / (dfa.visits * grammar.symbols.counts[head] + distinct)
        ending = 1.0 / (1.0 + dfa.visits.sum())
        stop[direction, head, states] = (1.0 - smoothed) * dfa.stop + smoothed * ending
        unseen = smoothed * (1.0 - ending)
        pair[direction, head] = len(operators)
        operators.append(np.zeros((n_states, n_states)))
        operators[-1][states, states] = unseen
        usual = np.argmax(dfa.visits[:, None] * dfa.step, axis=0)
        for symbol in np.flatnonzero(taken.any(0)):
            target = np.where(taken[:, symbol], dfa.target[:, symbol], dfa.target[usual[symbol], symbol])
            share = grammar.symbols.frequency[symbol]
            operator = np.zeros((n_states, n_states))
            operator[target, states] = (1.0 - smoothed) * dfa.step[:, symbol] + unseen * share
            pair[direction, head, symbol] = len(operators)
            weight[direction, head, symbol] = 1.0
            operators.append(operator)
    return replace(
        grammar,
        start=start,
        stop=stop,
        operators=np.array(operators),
        pair=pair,
        pair_weight=weight,
        spectrum=np.zeros((2, n_symbols, 0)),
        nonnegative=True,
        deterministic=True,
        counts=None,  # more trees would add to the counts of the hidden states, which are gone
        root_count=None,
    )


def _approximation(
    grammar: SHAG, head: str, direction: int, clusters: int, sequences: list[list[str]] | None
) -> DFA:
    try:
        return grammar[head, direction].to_dfa(clusters, sequences=sequences)
    except SettingError:
        # Errors of estimation may leave an automaton without a positive sum: what was seen of it stands for it.
        return grammar[head, direction].to_dfa(clusters, sequences=_learned_from(grammar, head, direction))


def _learned_from(grammar: SHAG, head: str, direction: int) -> list[list[str]]:
    """The modifier sequences that an automaton was learned from."""
    if grammar.counts is None:
        raise SettingError(f"the automaton of {head} has no positive sum, and its counts are not stored")
    names, wanted = grammar.symbols.alphabet, 2 * grammar.symbols.find(head) + direction
    sources, offset, symbols, count = grammar.counts.sequences()
    return [
        [names[int(symbol)] for symbol in symbols[offset[number] : offset[number + 1]]]
        for number in np.flatnonzero(sources == wanted)
        for _ in range(round(count[number]))
    ]
