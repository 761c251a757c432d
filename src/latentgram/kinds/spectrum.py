"""Curves of a model: the singular values of a symbol, and the figures recorded during learning."""

from __future__ import annotations

from typing import Literal

from latentgram.kinds.kind import find_kind
from latentgram.kinds.looks import Request, refuse
from latentgram.kinds.protocols import Model
from latentgram.view.plots import Curves, trace_curves


def spectrum(model: Model, symbol: str, direction: Literal["left", "right"] | None = None) -> Curves:
    """The singular values, or the sizes of the hidden states, of a symbol (for head automata, with a direction).

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(100, seed=0), by=lg.Spectral(states=4))
    >>> curves = spectrum(grammar, "NP")
    >>> [place for place, _ in curves.series["NP"]][:3], curves.y_label
    ([1.0, 2.0, 3.0], 'singular value')
    """
    request = Request("symbol", symbol, spectrum=True)
    if direction is not None:
        request = Request("automaton", symbol, direction, spectrum=True)
    kind = find_kind(model)
    if kind is None or not kind.inspect:
        refuse(model, request.subject)
    shown = kind.inspection()(model).show(request)
    points = [(float(str(place)), float(str(value))) for place, value in shown.rows]
    title, measure = f"states of {symbol}, the strongest first", shown.columns[1].replace("_", " ")
    return Curves({symbol: points}, title, "state", measure)


def learning_curves(model: Model) -> dict[str, Curves]:
    """The learning curves of a model by name: bound, loss, accuracy; displayed as plots in notebooks.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.EM(states=2, iterations=3))
    >>> [len(curve.series[name]) for name, curve in learning_curves(grammar).items()][:1]
    [3]
    """
    return trace_curves(model.provenance.trace)
