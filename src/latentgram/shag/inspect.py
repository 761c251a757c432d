"""What there is to see inside a head-automata grammar: the automaton of each head and direction."""

from __future__ import annotations

import numpy as np

from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.looks import Event, Look, Request, Shown, StateLook, SymbolFacts, refuse, shown_values
from latentgram.sequences.dfa import DFA
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.model import LEFT, RIGHT, SHAG
from latentgram.shag.product import ProductSHAG
from latentgram.view.automata import FAINT, draw_dfa
from latentgram.view.plots import line_plot

SIDES = {"left": LEFT, "right": RIGHT}
EVENTS = 6
"""Modifiers named of each state, at most."""
LEAST = 0.01
"""The least probability of a modifier that is named."""


class HeadInspection:
    """Looks into the factor with hidden states of a grammar."""

    def __init__(self, model: HeadGrammar) -> None:
        factors = model.factors if isinstance(model, ProductSHAG) else (model,)
        self.model = model
        self.grammar = next((factor for factor in factors if isinstance(factor, SHAG)), None)

    def symbols(self) -> list[SymbolFacts]:
        """The heads; those that often have modifiers come first, since there is most to see."""
        if self.grammar is None:
            return []
        grammar, counts = self.grammar, self.grammar.symbols.counts
        grown = (1.0 - (grammar.start * grammar.stop).sum(2)).sum(0) * counts
        names = grammar.symbols.alphabet
        return [
            SymbolFacts(names[int(i)], "head", grammar.states, float(counts[i]))
            for i in np.argsort(-grown, kind="stable")
        ]

    def look(self, symbol: str, direction: str, clusters: int) -> Look:
        """The automaton of a head and a direction."""
        grammar = self._automata("symbol")
        number = grammar.symbols.find(symbol)
        dfa = grammar[symbol, SIDES[direction]].to_dfa(clusters)
        return Look(
            grammar.symbols.alphabet[number],
            tuple(dfa.visits.tolist()),
            "visits of each state of the picture",
            direction="left" if direction == "left" else "right",
            states=tuple(_state(dfa, state) for state in range(dfa.states)),
            singular_values=tuple(grammar.spectrum[SIDES[direction], number].tolist()),
            svg=draw_dfa(dfa, f"{direction} modifiers of {symbol}"),
        )

    def _automata(self, subject: str) -> SHAG:
        if self.grammar is None:
            refuse(self.model, subject)
        return self.grammar

    def show(self, request: Request) -> Shown:
        """The automaton of a head, or its singular values."""
        if request.subject != "automaton":
            refuse(self.model, request.subject)
        grammar, head, side = self._automata("automaton"), request.name, SIDES[request.direction]
        title = f"{request.direction} modifiers of {head}"
        if not request.spectrum:
            sequences = None
            if request.trees is not None:
                sequences = grammar.sequences(Treebank.read(request.trees, "conllu"), head, side)
            dfa = grammar[head, side].to_dfa(request.clusters, sequences=sequences)
            if not request.svg:
                steps = tuple(
                    (state, dfa.symbols[symbol], int(dfa.target[state, symbol]), float(dfa.step[state, symbol]))
                    for state, symbol in np.argwhere(dfa.target >= 0).tolist()
                )
                return Shown(str(dfa), columns=("state", "symbol", "target", "probability"), rows=steps)
            faint = int((dfa.visits < FAINT).sum())
            note = f"states left out, each visited in less than {FAINT:.1%} of the sequences: {faint}"
            return Shown(draw_dfa(dfa, title), note if faint else "")
        values = grammar.spectrum[side, grammar.symbols.find(head)]
        if not len(values):
            raise SettingError("only a spectral grammar has singular values")
        if not request.svg:
            return shown_values(values.tolist(), "singular_value")
        points = [(float(place), float(value)) for place, value in enumerate(values, 1)]
        return Shown(line_plot({head: points}, title=title, x_label="state", y_label="singular value"))


def _state(dfa: DFA, state: int) -> StateLook:
    order = [int(s) for s in np.argsort(-dfa.step[state], kind="stable")[:EVENTS] if dfa.step[state, s] >= LEAST]
    share = float(dfa.visits[state])
    return StateLook(
        "the beginning" if state == 0 else f"state {state}",
        share,
        (
            Event("no more", float(dfa.stop[state])),
            *(Event(dfa.symbols[symbol], float(dfa.step[state, symbol])) for symbol in order),
        ),
        tuple(Event(example, share) for example in dfa.examples[state] if state),
    )
