"""What can be inspected in an `LPCFG`, or in the first grammar of an `Ensemble`: its symbols and their states."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cached_property

from latentgram.kinds.looks import (
    CoordinateLook,
    EndLook,
    Event,
    Look,
    Request,
    Shown,
    StateLook,
    SymbolFacts,
    TypicalTree,
    refuse,
    shown_values,
)
from latentgram.lpcfg.inspect.states import (
    Pulling,
    coordinates,
    hidden_states,
    hierarchy,
    state_strength,
    symbol_number,
)
from latentgram.lpcfg.inspect.subtrees import LikelySubtrees, Subtree, TypicalSubtrees
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.view.plots import line_plot
from latentgram.view.trees import draw

_COORDINATES = (
    "The states of a spectral grammar are coordinates. Each orders what the symbol may do between two ends: those "
    "rules or words are shown that pull it most, with their share of the symbol."
)
_SINGLE = "A symbol with a single state: this grammar has no hidden ones for it."


class GrammarInspection:
    """Looks into a grammar."""

    def __init__(self, model: LPCFG | Ensemble) -> None:
        self.grammar = model.grammars[0] if isinstance(model, Ensemble) else model

    @cached_property
    def _typical(self) -> TypicalSubtrees:
        return TypicalSubtrees(self.grammar)

    @cached_property
    def _likely(self) -> LikelySubtrees:
        return LikelySubtrees(self.grammar)

    def symbols(self) -> list[SymbolFacts]:
        """Phrases and tags, the most frequent first."""
        grammar = self.grammar
        names = (*grammar.interminals, *grammar.preterminals)
        counts, inner = grammar.symbol_count.tolist(), len(grammar.interminals)
        facts = [
            SymbolFacts(name, "phrase" if number < inner else "tag", int(grammar.states[number]), counts[number])
            for number, name in enumerate(names)
        ]
        return sorted(facts, key=lambda symbol: -symbol.count)

    def look(self, symbol: str, direction: str, clusters: int) -> Look:
        """The hidden states, or coordinates, of a symbol."""
        del direction, clusters
        grammar, number = self.grammar, symbol_number(self.grammar, symbol)
        values = tuple(grammar.spectra.get(symbol, ()))
        if not grammar.nonnegative:
            return Look(
                symbol,
                (),
                "share of each state",
                note=_COORDINATES,
                coordinates=self._coordinates(symbol),
                singular_values=values,
            )
        return Look(
            symbol,
            tuple(state_strength(grammar)[symbol].tolist()),
            "share of each state",
            note=_SINGLE if grammar.states[number] == 1 else None,
            states=self._states(symbol),
            singular_values=values,
        )

    def _states(self, symbol: str) -> tuple[StateLook, ...]:
        subtrees = self._typical.of(symbol)
        return tuple(
            StateLook(
                f"state {state.number + 1}",
                state.share,
                state.below,
                state.above,
                _drawn(subtrees[state.number]),
            )
            for state in hidden_states(self.grammar, symbol, top=6)
        )

    def _coordinates(self, symbol: str) -> tuple[CoordinateLook, ...]:
        return tuple(
            CoordinateLook(
                f"coordinate {each.number + 1}",
                tuple(self._end(end, each.number, sign) for end, sign in zip(each.ends, (1, -1), strict=True)),
            )
            for each in coordinates(self.grammar, symbol)
        )

    def _end(self, pulling: Sequence[Pulling], coordinate: int, sign: int) -> EndLook:
        rules = [each.rule for each in pulling if each.rule is not None][:2]
        subtrees = [self._likely.pulling(rule, coordinate, sign) for rule in rules]
        return EndLook(
            tuple(Event(each.name, each.probability) for each in pulling),
            _drawn(each for each in subtrees if each is not None),
        )

    def show(self, request: Request) -> Shown:
        """What the states of a symbol prefer and how they are alike; or what its coordinates tell apart."""
        if request.subject != "symbol":
            refuse(self.grammar, request.subject)
        grammar, symbol = self.grammar, request.name
        number = symbol_number(grammar, symbol)
        if request.svg or request.spectrum or not grammar.nonnegative:
            return self._sizes(request)
        subtrees = self._typical.of(symbol)
        lines, rows = [], []
        for state in hidden_states(grammar, symbol, request.top):
            lines += [str(state), f"  trees: {'; '.join(map(str, subtrees[state.number]))}"]
            for side, events in (("below", state.below), ("above", state.above)):
                named = ((each.event, each.probability, each.lift) for each in events)
                rows += [(state.number, state.share, side, *each) for each in named]
        joins = _joins(hierarchy(grammar, symbol).tolist(), int(grammar.states[number]))
        columns = ("state", "share", "side", "event", "probability", "lift")
        return Shown("\n".join([*lines, *joins]), columns=columns, rows=tuple(rows))

    def _sizes(self, request: Request) -> Shown:
        """Singular values or sizes of states, in text or drawn."""
        grammar, symbol = self.grammar, request.name
        values = grammar.spectra.get(symbol)
        sizes, what = (values, "singular value") if values else (state_strength(grammar)[symbol], "size")
        if request.svg:
            points = [(float(place), float(value)) for place, value in enumerate(sizes, 1)]
            title = f"states of {symbol}, the strongest first"
            return Shown(line_plot({symbol: points}, title=title, x_label="state", y_label=what))
        shown, lines = shown_values(sizes, what.replace(" ", "_")), []
        for each in coordinates(grammar, symbol, request.top) if not request.spectrum else ():
            ends = ["; ".join(f"{pull.name} ({pull.probability:.1%})" for pull in end) for end in each.ends]
            lines.append(f"coordinate {each.number + 1}\n  at one end: {ends[0]}\n  at the other: {ends[1]}")
        return dataclasses.replace(shown, content="\n".join([shown.content, *lines]))


def _drawn(subtrees: Iterable[Subtree]) -> tuple[TypicalTree, ...]:
    return tuple(TypicalTree(draw(each.tree), str(each.tree), each.probability) for each in subtrees)


def _joins(steps: list[list[float]], states: int) -> list[str]:
    """The steps of a hierarchy, a line each, the most alike first."""
    groups: dict[int, list[int]] = {state: [state] for state in range(states)}
    lines = []
    for number, (first, second, distance, _) in enumerate(steps):
        left, right = groups[int(first)], groups[int(second)]
        groups[states + number] = sorted(left + right)
        lines.append(f"at distance {distance:.3f}: states {_listed(left)} and {_listed(right)} become one")
    return lines


def _listed(states: list[int]) -> str:
    return "{" + " ".join(map(str, states)) + "}"
