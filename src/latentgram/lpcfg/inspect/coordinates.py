"""What the coordinates of a spectral grammar tell apart: the rules and words at the two ends of each.

A coordinate has no meaning as a state has one, but it orders what a symbol may do. With Ī the mean inside vectors
(`mean_inside`), the trees below symbol a that begin with an event e, a rule or a word, add up to

    v(a→b c) = t(a→b c)(·, Ī(b), Ī(c)),   v(a→x) = q(a→x),

and Ō(a) · v(e) = p(e | a) for the mean outside vector Ō. Events pull coordinate h from its mean by

    v_h(e) − p(e | a) Ī_h(a),

some to one end and some to the other: those that pull most are told. The sign of a coordinate is arbitrary.
Cost: one pass over the tensors of the symbol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.data.rarewords import is_symbol
from latentgram.lpcfg.inspect.hidden_states import piece, rule_tensor, symbol_name, symbol_number
from latentgram.lpcfg.model import LPCFG


@dataclass(frozen=True)
class Pulling:
    """A rule (by its number) or a word that pulls a coordinate to one end, and its share of the symbol."""

    name: str
    probability: float
    rule: int | None = None


@dataclass(frozen=True)
class Coordinate:
    """A coordinate by its number from 0, and what is at its two ends, the strongest first."""

    number: int
    ends: tuple[tuple[Pulling, ...], tuple[Pulling, ...]]


def coordinates(grammar: LPCFG, symbol: str, top: int = 6) -> list[Coordinate]:
    """What the coordinates of a symbol tell apart.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.Spectral(states=3))
    >>> found = coordinates(grammar, "NP")
    >>> len(found), all(found[1].ends)
    (3, True)
    """
    number = symbol_number(grammar, symbol)
    events, vectors = events_below(grammar, number)
    inside, outside = piece(grammar.mean_inside, grammar, number), piece(grammar.mean_outside, grammar, number)
    probability = vectors @ outside
    pulls = vectors - probability[:, None] * inside

    def end(pull: NDArray[np.float64]) -> tuple[Pulling, ...]:
        order = np.argsort(-pull, kind="stable")[:top]
        kept = [i for i in order.tolist() if pull[i] > 0 and probability[i] > 0]
        return tuple(Pulling(events[i][0], float(probability[i]), events[i][1]) for i in kept)

    return [Coordinate(h, (end(pull), end(-pull))) for h, pull in enumerate(pulls.T)]


def events_below(grammar: LPCFG, number: int) -> tuple[list[tuple[str, int | None]], NDArray[np.float64]]:
    """The rules and words of a symbol, named, and what their trees add up to [events, states].

    Symbols that stand for unknown words are left out where the symbol has words.
    """
    events: list[tuple[str, int | None]] = []
    vectors = []
    for rule in np.flatnonzero(grammar.rules[:, 0] == number).tolist():
        _, b, c = grammar.rules[rule].tolist()
        left, right = (piece(grammar.mean_inside, grammar, child) for child in (b, c))
        events.append((f"{symbol_name(grammar, b)} {symbol_name(grammar, c)}", rule))
        vectors.append(rule_tensor(grammar, rule) @ right @ left)
    entries = np.flatnonzero(grammar.lexicon[:, 0] == number).tolist()
    words = [grammar.words[word] for word in grammar.lexicon[entries, 1]]
    plain = [not is_symbol(word) for word in words]
    for entry, word, kept in zip(entries, words, plain, strict=True):
        if kept or not any(plain):
            events.append((word, None))
            vectors.append(grammar.lexicon_vector[slice(*grammar.lexicon_offset[entry : entry + 2])])
    return events, np.array(vectors)
