"""What there is to see inside a model: its symbols, what their hidden states mean, spectra, automata."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentgram.errors import SettingError
from latentgram.models.ensemble import Ensemble
from latentgram.models.hidden_states import Preference, hidden_states, state_strength, symbol_number
from latentgram.models.leaves import LeafTable
from latentgram.models.lpcfg import LPCFG
from latentgram.models.shag import LEFT, RIGHT, SHAG
from latentgram.models.typical_subtrees import Subtree, TypicalSubtrees
from latentgram.view.automata import draw_dfa
from latentgram.view.trees import draw


def describe(model: Any) -> dict[str, Any]:
    """The model and its symbols, the most frequent first."""
    made_by = model.provenance
    return {
        "summary": model.summary(),
        "learner": made_by.learner,
        "settings": made_by.fields,
        "data_size": made_by.data_size,
        "seconds": made_by.seconds,
        "symbols": _symbols(_inner(model)),
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


def look(model: Any, symbol: str, direction: str, clusters: int) -> dict[str, Any]:
    """The hidden states of one symbol, or of one head and direction."""
    inner = _inner(model)
    if isinstance(inner, LPCFG):
        return _grammar_symbol(inner, symbol)
    if isinstance(inner, SHAG):
        return _head(inner, symbol, direction, clusters)
    raise SettingError(f"a {type(model).__name__} has no hidden states to look at")


def _grammar_symbol(grammar: LPCFG, symbol: str) -> dict[str, Any]:
    number = symbol_number(grammar, symbol)
    note, states = None, []
    if grammar.nonnegative:
        subtrees = TypicalSubtrees(grammar).of(symbol)
        states = [
            {
                "name": f"state {state.number + 1}",
                "share": state.share,
                "below": [_preferred(each) for each in state.below],
                "above": [_preferred(each) for each in state.above],
                "subtrees": [_drawn(each) for each in subtrees[state.number]],
            }
            for state in hidden_states(grammar, symbol, top=6)
        ]
        if grammar.states[number] == 1:
            note = "A symbol with a single state: this grammar has no hidden ones for it."
    else:
        note = (
            "The states of a spectral grammar are coordinates without a meaning each; what they weigh is shown. "
            "Learn the grammar by clustering or em to see states with preferences."
        )
    return {
        "symbol": symbol,
        "direction": None,
        "note": note,
        "states": states,
        "strengths": state_strength(grammar)[symbol].tolist(),
        "strengths_name": "share of each state" if grammar.nonnegative else "weight of each coordinate",
        "singular_values": list(grammar.spectra.get(symbol, ())),
        "svg": None,
    }


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
        "strengths": dfa.visits.tolist(),
        "strengths_name": "visits of each state of the picture",
        "singular_values": [float(value) for value in values],
        "svg": draw_dfa(dfa, f"{direction} modifiers of {symbol}"),
    }
