"""Looking inside a latent-variable grammar: what the hidden states of a symbol prefer, and how they are related.

In a grammar of probabilities a state h of symbol a has a share p(h | a), rewrites to rules and words with its own
probabilities, and is reached from its own contexts. A preference is told by lift,

    lift(event | h) = p(event | a, h) / p(event | a),

among events that are not too rare in h. Contexts are the rules above: p(b → ã c, h) with the foot ã marked by *.
The states of a spectral grammar are coordinates without a meaning each; for them see coordinates.py.
The hierarchy joins the states of a symbol by the likeness of what they rewrite to (Ward on square roots of
probabilities, whose distance is Hellinger's).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from latentgram.data.binarisation import Symbol, tag_of
from latentgram.data.rarewords import tag_symbol
from latentgram.errors import SettingError
from latentgram.lpcfg.model import LPCFG

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Preference:
    """An event, its probability in the state, and how many times likelier it is there than in the symbol at
    large."""

    event: str
    probability: float
    lift: float

    def __str__(self) -> str:
        return f"{self.event} ({self.probability:.1%}, ×{self.lift:.1f})"


@dataclass(frozen=True)
class HiddenState:
    """One state of a symbol: its share, and what it prefers below (rules or words) and above (contexts)."""

    number: int
    share: float
    below: tuple[Preference, ...]
    above: tuple[Preference, ...]

    def __str__(self) -> str:
        below, above = "; ".join(map(str, self.below)), "; ".join(map(str, self.above))
        return f"state {self.number} ({self.share:.1%})\n  below: {below}\n  above: {above}"


@dataclass(frozen=True)
class _Events:
    """Names [E] and probabilities [states, E] of what a symbol may do, each row summing to at most one."""

    names: tuple[str, ...]
    probability: Floats


def symbol_number(grammar: LPCFG, symbol: str) -> int:
    """The number of a symbol by its name, or by the label of the treebank that it stands for.

    Interminals and preterminals are looked up in turn.
    """
    for name in (symbol, str(Symbol((symbol,)))):
        inner, outer = grammar.interminals.index(name), grammar.preterminals.index(name)
        if inner >= 0:
            return inner
        if outer >= 0:
            return len(grammar.interminals) + outer
    near = difflib.get_close_matches(symbol, (*grammar.interminals, *grammar.preterminals), 5, 0.4)
    hint = f"; the nearest are {', '.join(near)}" if near else ""
    raise SettingError(f"the grammar has no symbol {symbol!r}{hint}")


def hidden_states(grammar: LPCFG, symbol: str, top: int = 5, least: float = 0.005) -> list[HiddenState]:
    """What each state of a symbol prefers, the most frequent state first.

    `top` events of each kind are told, among those with a probability of at least `least` in the state.
    """
    require_probabilities(grammar)
    number = symbol_number(grammar, symbol)
    share = piece(grammar.mean_outside, grammar, number)
    below, above = _below(grammar, number), _above(grammar, number)
    return [
        HiddenState(
            int(h),
            float(share[h]),
            _preferred(below, share, h, top, least),
            _preferred(above, share, h, top, least),
        )
        for h in np.argsort(-share, kind="stable")
    ]


def require_probabilities(grammar: LPCFG) -> None:
    """See that the states of a grammar mean something each."""
    if not grammar.nonnegative:
        raise SettingError(
            "the states of a spectral grammar are coordinates without a meaning each: "
            "learn the grammar by Clustering or EM to look at its states"
        )


def preferred_rules(grammar: LPCFG, symbol: int, state: int, top: int, least: float = 0.005) -> list[int]:
    """The numbers of the rules that a state prefers; those it uses most where it prefers none."""
    rules = np.flatnonzero(grammar.rules[:, 0] == symbol)
    events = _below(grammar, symbol)
    order = _by_gain(events, piece(grammar.mean_outside, grammar, symbol), state, top, least)
    return [int(rules[i]) for i in order or np.argsort(-events.probability[state], kind="stable")[:top]]


def hierarchy(grammar: LPCFG, symbol: str) -> Floats:
    """The states of a symbol joined step by step: scipy's linkage matrix [states - 1, 4]."""
    number = symbol_number(grammar, symbol)
    if grammar.states[number] < 2:
        return np.zeros((0, 4))
    probability = _below(grammar, number).probability
    return np.asarray(linkage(np.sqrt(np.maximum(probability, 0.0)), method="ward"), np.float64)


def state_strength(grammar: LPCFG) -> dict[str, Floats]:
    """For every symbol the sizes of its states, from the largest: shares, or those of a spectral grammar's
    coordinates.

    The strength of a coordinate is |E[Z] · E[Y]|, what it adds to the probability of the symbol.
    """
    names = (*grammar.interminals, *grammar.preterminals)
    found = {}
    for number, name in enumerate(names):
        inside, outside = (piece(part, grammar, number) for part in (grammar.mean_inside, grammar.mean_outside))
        found[name] = np.sort(np.abs(inside * outside))[::-1]
    return found


def piece(values: Floats, grammar: LPCFG, symbol: int) -> Floats:
    """The part of a symbol in numbers that are laid out by symbols."""
    return values[grammar.root_offset[symbol] : grammar.root_offset[symbol + 1]]


def symbol_name(grammar: LPCFG, symbol: int) -> str:
    """The name of a symbol by its number."""
    inner = len(grammar.interminals)
    return grammar.interminals[symbol] if symbol < inner else grammar.preterminals[symbol - inner]


def _below(grammar: LPCFG, symbol: int) -> _Events:
    """What the symbol rewrites to: children or words."""
    names, columns = [], []
    for number in np.flatnonzero(grammar.rules[:, 0] == symbol):
        _, b, c = grammar.rules[number].tolist()
        names.append(f"{symbol_name(grammar, b)} {symbol_name(grammar, c)}")
        columns.append(rule_tensor(grammar, int(number)).sum((1, 2)))
    entries = np.flatnonzero(grammar.lexicon[:, 0] == symbol)
    unknown = grammar.words.index(tag_symbol(tag_of(symbol_name(grammar, symbol))))
    for number in entries:
        if len(entries) > 1 and grammar.lexicon[number, 1] == unknown:
            continue  # any word at all of this tag: that tells nothing
        names.append(grammar.words[grammar.lexicon[number, 1]])
        begin, end = grammar.lexicon_offset[number : number + 2]
        columns.append(grammar.lexicon_vector[begin:end])
    return _Events(tuple(names), np.column_stack(columns))


def _above(grammar: LPCFG, symbol: int) -> _Events:
    """Where the symbol stands: the rules above it, with the symbol marked, and the root."""
    names, columns = ["(root)"], [piece(grammar.root_vector, grammar, symbol) * grammar.root_count.sum()]
    total = np.bincount(grammar.rules[:, 0], grammar.rule_count, len(grammar.states))
    for place, axes in ((1, (0, 2)), (2, (0, 1))):
        for number in np.flatnonzero(grammar.rules[:, place] == symbol):
            a, b, c = grammar.rules[number].tolist()
            mark = ("*", "") if place == 1 else ("", "*")
            parent, left, right = (symbol_name(grammar, part) for part in (a, b, c))
            names.append(f"{parent} → {left}{mark[0]} {right}{mark[1]}")
            weight = total[a] * piece(grammar.mean_outside, grammar, a)
            joint = rule_tensor(grammar, int(number)) * weight[:, None, None]
            columns.append(joint.sum(axes))
    counts = np.column_stack(columns)
    return _Events(tuple(names), counts / np.maximum(counts.sum(1, keepdims=True), 1e-300))


def rule_tensor(grammar: LPCFG, number: int) -> Floats:
    """The tensor of a rule, [states of the parent, of the left, of the right child]."""
    begin, end = grammar.rule_offset[number : number + 2]
    return grammar.rule_tensor[begin:end].reshape(grammar.states[grammar.rules[number]])


def _lift(events: _Events, share: Floats, state: int) -> Floats:
    """How many times likelier each event is in a state than in the symbol at large."""
    return np.asarray(events.probability[state] / np.maximum(share @ events.probability, 1e-300))


def _by_gain(events: _Events, share: Floats, state: int, top: int, least: float) -> list[int]:
    """The events that say most of a state: frequent here and rare elsewhere, so ranked by p · log lift."""
    lift = _lift(events, share, state)
    gain = events.probability[state] * np.log(np.maximum(lift, 1e-300))
    gain[(events.probability[state] < least) | (lift <= 1.0)] = -1.0
    return [int(i) for i in np.argsort(-gain, kind="stable")[:top] if gain[i] > 0]


def _preferred(events: _Events, share: Floats, state: int, top: int, least: float) -> tuple[Preference, ...]:
    lift = _lift(events, share, state)
    return tuple(
        Preference(events.names[i], float(events.probability[state, i]), float(lift[i]))
        for i in _by_gain(events, share, state, top, least)
    )
