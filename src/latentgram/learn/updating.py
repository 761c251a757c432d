"""Absorb a few more trees into a model of any kind: grammars whose statistics add, and online learners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from latentgram.arcs.factor import ArcWeights
from latentgram.arcs.model import ArcFactored
from latentgram.arcs.update import absorb_arcs
from latentgram.data.provenance import Provenance
from latentgram.learn.fit import learner_of
from latentgram.lpcfg.ensemble import Ensemble
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.update import absorb_into
from latentgram.shag.distance import ArcDistance
from latentgram.shag.lexical import LexicalSHAG
from latentgram.shag.model import SHAG
from latentgram.shag.product import ProductSHAG
from latentgram.shag.update import absorb_heads
from latentgram.shag.update_words import absorb_distances, absorb_words


def absorbs(model: Any) -> bool:
    """Whether a model learns more trees at once; head automata must tell how and from what they were learned.

    >>> import latentgram as lg
    >>> absorbs(lg.fit(lg.SHAG, lg.demo_dependencies(20, seed=0), by=lg.Counting()))
    True
    """
    return _absorbs(model, Provenance())


def absorbed(model: Any, trees: list[Any]) -> Any:
    """The model after learning from more trees, each kind in its way."""
    return _absorbed(model, trees, Provenance()) if trees else model


def _absorbs(model: Any, made_by: Provenance) -> bool:
    if isinstance(model, SHAG):
        return model.counts is not None and bool(model.provenance.learner or made_by.learner)
    if isinstance(model, ProductSHAG):
        return all(_absorbs(factor, model.provenance) for factor in model.factors)
    return isinstance(model, LPCFG | Ensemble | ArcFactored | LexicalSHAG | ArcDistance | ArcWeights)


def _absorbed(model: Any, trees: list[Any], made_by: Provenance) -> Any:
    """`made_by` tells of the product that a factor was learned in."""
    if isinstance(model, ProductSHAG):
        factors = tuple(_absorbed(factor, trees, model.provenance) for factor in model.factors)
        return replace(model, factors=factors)
    if isinstance(model, SHAG):
        known = model.provenance if model.provenance.learner else made_by
        return absorb_heads(model, trees, learner_of("SHAG", known))
    if isinstance(model, LexicalSHAG):
        return absorb_words(model, trees)
    if isinstance(model, ArcDistance):
        return absorb_distances(model, trees)
    if isinstance(model, ArcWeights):
        return replace(model, parser=absorb_arcs(model.parser, trees))
    if isinstance(model, ArcFactored):
        return absorb_arcs(model, trees)
    return absorb_into(model, trees)
