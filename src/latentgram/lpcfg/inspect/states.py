"""What the hidden states of a symbol prefer and how they are related, and what coordinates tell apart.

In a grammar of probabilities a state h of symbol a has a share p(h | a), rewrites to rules and words with its own
probabilities, and is reached from its own contexts. A preference is told by lift,

    lift(event | h) = p(event | a, h) / p(event | a),

among events that are not too rare in h. Contexts are the rules above: p(b → ã c, h) with the foot ã marked by *.
The hierarchy joins the states of a symbol by the likeness of what they rewrite to (Ward on square roots of
probabilities, whose distance is Hellinger's).

A coordinate of a spectral grammar has no meaning as a state has one, but it orders what a symbol may do. With Ī
the mean inside vectors (`mean_inside`), the trees below symbol a that begin with an event e, a rule or a word,
add up to

    v(a→b c) = t(a→b c)(·, Ī(b), Ī(c)),   v(a→x) = q(a→x),

and Ō(a) · v(e) = p(e | a) for the mean outside vector Ō. Events pull coordinate h from its mean by

    v_h(e) − p(e | a) Ī_h(a),

some to one end and some to the other: those that pull most are told. The sign of a coordinate is arbitrary.
Cost: one pass over the tensors of the symbol.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage

from latentgram.arrays import Floats
from latentgram.data.binarisation import Symbol, tag_of
from latentgram.data.rarewords import is_symbol, tag_symbol
from latentgram.errors import SettingError
from latentgram.kinds.looks import Event
from latentgram.lpcfg.model import LPCFG


@dataclass(frozen=True)
class HiddenState:
    """One state of a symbol: its share, and what it prefers below (rules or words) and above (contexts)."""

    number: int
    share: float
    below: tuple[Event, ...]
    above: tuple[Event, ...]

    def __str__(self) -> str:
        below, above = _listed(self.below), _listed(self.above)
        return f"state {self.number} ({self.share:.1%})\n  below: {below}\n  above: {above}"


def _listed(events: Iterable[Event]) -> str:
    return "; ".join(f"{each.event} ({each.probability:.1%}, ×{each.lift:.1f})" for each in events)


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
    share = grammar.of_symbol(grammar.mean_outside, number)
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
            "the states of a spectral grammar are coordinates without a meaning of their own: "
            "learn the grammar by Clustering or EM to look at its states"
        )


def preferred_rules(grammar: LPCFG, symbol: int, state: int, top: int, least: float = 0.005) -> list[int]:
    """The numbers of the rules that a state prefers; those it uses most where it prefers none."""
    rules = np.flatnonzero(grammar.rules[:, 0] == symbol)
    events = _below(grammar, symbol)
    order = _by_gain(events, grammar.of_symbol(grammar.mean_outside, symbol), state, top, least)
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
    size = np.abs(grammar.mean_inside * grammar.mean_outside)
    names = (*grammar.interminals, *grammar.preterminals)
    return {name: np.sort(grammar.of_symbol(size, number))[::-1] for number, name in enumerate(names)}


def _below(grammar: LPCFG, symbol: int) -> _Events:
    """What the symbol rewrites to: children or words."""
    names, columns = [], []
    for number in np.flatnonzero(grammar.rules[:, 0] == symbol):
        _, b, c = grammar.rules[number].tolist()
        names.append(f"{grammar.symbol_name(b)} {grammar.symbol_name(c)}")
        columns.append(grammar.tensor(int(number)).sum((1, 2)))
    entries = np.flatnonzero(grammar.lexicon[:, 0] == symbol)
    unknown = grammar.words.index(tag_symbol(tag_of(grammar.symbol_name(symbol))))
    for number in entries:
        if len(entries) > 1 and grammar.lexicon[number, 1] == unknown:
            continue  # any word at all of this tag: that tells nothing
        names.append(grammar.words[grammar.lexicon[number, 1]])
        columns.append(grammar.vector(int(number)))
    return _Events(tuple(names), np.column_stack(columns))


def _above(grammar: LPCFG, symbol: int) -> _Events:
    """Where the symbol stands: the rules above it, with the symbol marked, and the root."""
    names, columns = ["(root)"], [grammar.of_symbol(grammar.root_vector, symbol) * grammar.root_count.sum()]
    total = np.bincount(grammar.rules[:, 0], grammar.rule_count, len(grammar.states))
    for place, axes in ((1, (0, 2)), (2, (0, 1))):
        for number in np.flatnonzero(grammar.rules[:, place] == symbol):
            a, b, c = grammar.rules[number].tolist()
            mark = ("*", "") if place == 1 else ("", "*")
            parent, left, right = (grammar.symbol_name(part) for part in (a, b, c))
            names.append(f"{parent} → {left}{mark[0]} {right}{mark[1]}")
            weight = total[a] * grammar.of_symbol(grammar.mean_outside, a)
            joint = grammar.tensor(int(number)) * weight[:, None, None]
            columns.append(joint.sum(axes))
    counts = np.column_stack(columns)
    return _Events(tuple(names), counts / np.maximum(counts.sum(1, keepdims=True), 1e-300))


def _lift(events: _Events, share: Floats, state: int) -> Floats:
    """How many times likelier each event is in a state than in the symbol at large."""
    return np.asarray(events.probability[state] / np.maximum(share @ events.probability, 1e-300))


def _by_gain(events: _Events, share: Floats, state: int, top: int, least: float) -> list[int]:
    """The events that say most of a state: frequent here and rare elsewhere, so ranked by p · log lift."""
    lift = _lift(events, share, state)
    gain = events.probability[state] * np.log(np.maximum(lift, 1e-300))
    gain[(events.probability[state] < least) | (lift <= 1.0)] = -1.0
    return [int(i) for i in np.argsort(-gain, kind="stable")[:top] if gain[i] > 0]


def _preferred(events: _Events, share: Floats, state: int, top: int, least: float) -> tuple[Event, ...]:
    lift = _lift(events, share, state)
    return tuple(
        Event(events.names[i], float(events.probability[state, i]), float(lift[i]))
        for i in _by_gain(events, share, state, top, least)
    )


class Pulling(NamedTuple):
    """A rule (by its number) or a word that pulls a coordinate to one end, and its share of the symbol."""

    name: str
    probability: float
    rule: int | None = None


class Coordinate(NamedTuple):
    """A coordinate by its number from 0, and what is at its two ends, the strongest first."""

    number: int
    ends: tuple[tuple[Pulling, ...], tuple[Pulling, ...]]


def coordinates(grammar: LPCFG, symbol: str, top: int = 6) -> list[Coordinate]:
    """What the coordinates of a symbol tell apart.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.Spectral(states=3))
    >>> of_np = coordinates(grammar, "NP")
    >>> len(of_np), all(of_np[1].ends)
    (3, True)
    """
    number = symbol_number(grammar, symbol)
    events, vectors = events_below(grammar, number)
    probability = vectors @ grammar.of_symbol(grammar.mean_outside, number)
    pulls = vectors - probability[:, None] * grammar.of_symbol(grammar.mean_inside, number)

    def end(pull: Floats) -> tuple[Pulling, ...]:
        order = np.argsort(-pull, kind="stable")[:top]
        kept = [i for i in order.tolist() if pull[i] > 0 and probability[i] > 0]
        return tuple(Pulling(events[i][0], float(probability[i]), events[i][1]) for i in kept)

    return [Coordinate(h, (end(pull), end(-pull))) for h, pull in enumerate(pulls.T)]


def events_below(grammar: LPCFG, number: int) -> tuple[list[tuple[str, int | None]], Floats]:
    """The rules and words of a symbol, named, and what their trees add up to [events, states]."""
    events: list[tuple[str, int | None]] = []
    vectors = []
    for rule in np.flatnonzero(grammar.rules[:, 0] == number).tolist():
        _, b, c = grammar.rules[rule].tolist()
        left, right = (grammar.of_symbol(grammar.mean_inside, child) for child in (b, c))
        events.append((f"{grammar.symbol_name(b)} {grammar.symbol_name(c)}", rule))
        vectors.append(grammar.tensor(rule) @ right @ left)
    for entry in entries_of(grammar, number):
        events.append((grammar.words[int(grammar.lexicon[entry, 1])], None))
        vectors.append(grammar.vector(entry))
    return events, np.array(vectors)


def entries_of(grammar: LPCFG, number: int) -> list[int]:
    """The entries of a symbol; those of what stands for unknown words only if it has no others."""
    entries: list[int] = np.flatnonzero(grammar.lexicon[:, 0] == number).tolist()
    named = [entry for entry in entries if not is_symbol(grammar.words[int(grammar.lexicon[entry, 1])])]
    return named or entries
