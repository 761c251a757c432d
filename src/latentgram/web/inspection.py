"""What there is to see inside a model: its symbols, what their hidden states mean, spectra, automata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from latentgram.errors import SettingError
from latentgram.lpcfg.ensemble import Ensemble
from latentgram.lpcfg.inspect.coordinates import Pulling, coordinates
from latentgram.lpcfg.inspect.hidden_states import Preference, hidden_states, state_strength, symbol_number
from latentgram.lpcfg.inspect.likely_subtrees import LikelySubtrees
from latentgram.lpcfg.inspect.typical_subtrees import Subtree, TypicalSubtrees
from latentgram.lpcfg.leaves import LeafTable
from latentgram.lpcfg.model import LPCFG
from latentgram.shag.model import LEFT, RIGHT, SHAG
from latentgram.view.automata import draw_dfa
from latentgram.view.trees import draw


@dataclass(frozen=True, eq=False)
class Inspection:
    """Looks into one model."""

    model: Any

    def describe(self) -> dict[str, Any]:
        """The model and its symbols, the most frequent first."""
        made_by = self.model.provenance
        return {
            "summary": self.model.summary(),
            "learner": made_by.learner,
            "settings": made_by.fields,
            "data_size": made_by.data_size,
            "seconds": made_by.seconds,
            "symbols": _symbols(_inner(self.model)),
        }

    def look(self, symbol: str, direction: str, clusters: int) -> dict[str, Any]:
        """The hidden states of one symbol, or of one head and direction."""
        inner = _inner(self.model)
        if isinstance(inner, LPCFG):
            return self._grammar_symbol(inner, symbol)
        if isinstance(inner, SHAG):
            return _head(inner, symbol, direction, clusters)
        raise SettingError(f"a {type(self.model).__name__} has no hidden states to look at")

    @cached_property
    def _typical(self) -> TypicalSubtrees:
        return TypicalSubtrees(cast(LPCFG, _inner(self.model)))

    @cached_property
    def _likely(self) -> LikelySubtrees:
        return LikelySubtrees(cast(LPCFG, _inner(self.model)))

    def _grammar_symbol(self, grammar: LPCFG, symbol: str) -> dict[str, Any]:
        number = symbol_number(grammar, symbol)
        note = None
        if not grammar.nonnegative:
            note = (
                "The states of a spectral grammar are coordinates. Each orders what the symbol may do between two "
                "ends: those rules or words are shown that pull it most, with their share of the symbol."
            )
        elif grammar.states[number] == 1:
            note = "A symbol with a single state: this grammar has no hidden ones for it."
        return {
            "symbol": symbol,
            "direction": None,
            "note": note,
            "states": self._states(grammar, symbol) if grammar.nonnegative else [],
            "coordinates": [] if grammar.nonnegative else self._coordinates(grammar, symbol),
            "strengths": state_strength(grammar)[symbol].tolist() if grammar.nonnegative else [],
            "strengths_name": "share of each state",
            "singular_values": list(grammar.spectra.get(symbol, ())),
            "svg": None,
        }

    def _states(self, grammar: LPCFG, symbol: str) -> list[dict[str, Any]]:
        subtrees = self._typical.of(symbol)
        return [
            {
                "name": f"state {state.number + 1}",
                "share": state.share,
                "below": [_preferred(each) for each in state.below],
                "above": [_preferred(each) for each in state.above],
                "subtrees": [_drawn(each) for each in subtrees[state.number]],
            }
            for state in hidden_states(grammar, symbol, top=6)
        ]

    def _coordinates(self, grammar: LPCFG, symbol: str) -> list[dict[str, Any]]:
        return [
            {
                "name": f"coordinate {each.number + 1}",
                "ends": [self._end(end, each.number, sign) for end, sign in zip(each.ends, (1, -1), strict=True)],
            }
            for each in coordinates(grammar, symbol)
        ]

    def _end(self, pulling: tuple[Pulling, ...], coordinate: int, sign: int) -> dict[str, Any]:
        rules = [each.rule for each in pulling if each.rule is not None][:2]
        subtrees = [found for rule in rules if (found := self._likely.pulling(rule, coordinate, sign)) is not None]
        return {
            "events": [{"event": each.name, "probability": each.probability, "lift": None} for each in pulling],
            "subtrees": [_drawn(each) for each in subtrees],
        }


def _inner(model: Any) -> LPCFG | SHAG | None:
    """The part of a model that has hidden states, or at least symbols."""
    if isinstance(model, Ensemble):
        return model.grammars[0]
    for part in getattr(model, "factors", (model,)):
        if isinstance(part, LPCFG | SHAG):
            return part
    return None


def _symbols(model: LPCFG | SHAG | None) -> list[dict[str, Any]]:
    if isinstance(model, LPCFG):
        names = (*model.interminals, *model.preterminals)
        counts, inner = LeafTable(model).symbol_count, len(model.interminals)
        found = [
            {"name": name, "kind": "phrase" if i < inner else "tag", "states": int(model.states[i]), "count": n}
            for i, (name, n) in enumerate(zip(names, counts.tolist(), strict=True))
        ]
    elif isinstance(model, SHAG):
        found = [
            {"name": name, "kind": "head", "states": model.states, "count": float(n)}
            for name, n in zip(model.symbols.alphabet, model.symbols.counts.tolist(), strict=True)
        ]
        # Heads that often have modifiers come first: there is most to see.
        grown = (1.0 - (model.start * model.stop).sum(2)).sum(0) * model.symbols.counts
        return [found[i] for i in np.argsort(-grown, kind="stable")]
    else:
        found = []
    return sorted(found, key=lambda symbol: -symbol["count"])


def _drawn(each: Subtree) -> dict[str, Any]:
    return {"svg": draw(each.tree), "plain": str(each.tree), "probability": each.probability}


def _preferred(each: Preference) -> dict[str, Any]:
    return {"event": each.event, "probability": each.probability, "lift": each.lift}


def _head(grammar: SHAG, symbol: str, direction: str, clusters: int) -> dict[str, Any]:
    side = LEFT if direction == "left" else RIGHT
    number = grammar.symbols.find(symbol)
    dfa = grammar[symbol, side].to_dfa(clusters)
    values = grammar.spectrum[side, number]
    states = []
    for state in range(dfa.states):
        order = [int(s) for s in np.argsort(-dfa.step[state], kind="stable")[:6] if dfa.step[state, s] >= 0.01]
        states.append(
            {
                "name": "the beginning" if state == 0 else f"state {state}",
                "share": float(dfa.visits[state]),
                "below": [{"event": "no more", "probability": float(dfa.stop[state]), "lift": None}]
                + [
                    {"event": dfa.symbols[s], "probability": float(dfa.step[state, s]), "lift": None}
                    for s in order
                ],
                "above": [
                    {"event": example, "probability": float(dfa.visits[state]), "lift": None}
                    for example in dfa.examples[state]
                    if state
                ],
            }
        )
    return {
        "symbol": grammar.symbols.alphabet[number],
        "direction": direction,
        "note": None,
        "states": states,
        "coordinates": [],
        "strengths": dfa.visits.tolist(),
        "strengths_name": "visits of each state of the picture",
        "singular_values": [float(value) for value in values],
        "svg": draw_dfa(dfa, f"{direction} modifiers of {symbol}"),
    }
