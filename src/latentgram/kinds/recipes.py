"""`RECIPES`: which learner can make which model, and with which settings.

One table feeds `fit`, its error message, the command line's choices and flags, the docs' table and the law
tests. A recipe names its function as "module:function", so that nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from latentgram.errors import UnsupportedPair
from latentgram.parallel import Engine, InProcess
from latentgram.progress import Progress, Silent


@dataclass(frozen=True)
class Context:
    """What a recipe is given besides data and learner.

    `dev_score` rates a candidate model (higher is better); learners that can stop early use it.
    """

    engine: Engine = field(default_factory=InProcess)
    progress: Progress = field(default_factory=Silent)
    dev_score: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Recipe:
    """How one learner makes one model: `function(data, learner, context) -> model`, and the settings it knows."""

    function: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    chooses: bool | str = False
    """Whether it chooses among candidates by a `dev_score`; a name: if that setting is not 0."""

    def load(self) -> Callable[[Any, Any, Context], Any]:
        """The function itself."""
        module, name = self.function.split(":")
        loaded: Callable[[Any, Any, Context], Any] = getattr(importlib.import_module(module), name)
        return loaded


_BASIS = {
    "symbols": "joined",
    "states": 15,
    "smoothing": 1.0,
    "history": 3,
    "future": 3,
    "power": 0.25,
    "ridge": 4.0,
}

_TREES = {"direction": "left", "horizontal": 0, "vertical": 1, "rare": 5}
_LATENT = {**_TREES, "horizontal": 1, "pull": 5.0, "features": "paper", "scaling": 5.0}
_TAGS = {"dictionary": None, "transition_prior": 1.0, "emission_prior": 0.1, "tolerance": 0.0}
_NODES = {"symbols": "joined", "valency": 3, "smoothing": 0.01}

_PRODUCT = {**_BASIS, "lexical": 0.7, "distance": 0.5}

RECIPES: dict[tuple[str, str], Recipe] = {
    ("ArcFactored", "MIRA"): Recipe(
        "latentgram.arcs.mira:learn_arcs",
        {"order": 2, "passes": 10, "step": 0.01, "bits": 22, "rare": 0, "folds": 2, "floor": 1e-3, "seed": 0},
        chooses=True,
    ),
    ("Reranker", "Perceptron"): Recipe(
        "latentgram.arcs.reranking:learn_reranker",
        {
            "passes": 10,
            "step": 0.003,
            "seed": 0,
            "order": 2,
            "count": 50,
            "folds": 3,
            "raters": "templates,shag-spectral,shag-words,shag-words-random,lexical,latent-tree,latent-tree-words,"
            "top-down",
        },
    ),
    ("TopDown", "Gradient"): Recipe(
        "latentgram.arcs.top_down_learning:learn_top_down",
        {"symbols": "joined", "passes": 6, "step": 0.2, "least": 2, "rare": 1, "seed": 0},
    ),
    ("BackoffNGram", "Counting"): Recipe(
        "latentgram.sequences.ngram_learning:count_backoff", {"reading": "exclusive"}
    ),
    ("HMM", "EM"): Recipe(
        "latentgram.sequences.hmm_learning:em_hmm",
        {**_TAGS, "order": 2, "states": 17, "iterations": 40, "seed": 0, "segments": False},
        chooses=True,
    ),
    ("HMM", "Variational"): Recipe(
        "latentgram.sequences.variational:variational_hmm",
        {**_TAGS, "states": 17, "iterations": 40, "seed": 0, "window": 1, "lag": None, "optimiser": "rounds"},
        chooses=True,
    ),
    ("HMM", "Counting"): Recipe(
        "latentgram.sequences.hmm_learning:count_hmm", {"order": 2, "transition_prior": 0.1, "emission_prior": 0.0}
    ),
    ("OperatorAutomaton", "EM"): Recipe(
        "latentgram.sequences.hmm_learning:em_automaton",
        {**_TAGS, "order": 2, "states": 10, "iterations": 40, "seed": 0, "segments": False},
        chooses=True,
    ),
    ("OperatorAutomaton", "Counting"): Recipe(
        "latentgram.sequences.hmm_learning:count_automaton",
        {"order": 2, "transition_prior": 0.1, "emission_prior": 0.0},
    ),
    ("OperatorAutomaton", "Spectral"): Recipe(
        "latentgram.sequences.spectral:spectral_automaton",
        {"states": 10, "history": 1, "future": 1, "power": 0.0, "ridge": 0.0},
    ),
    ("OperatorAutomaton", "Clustering"): Recipe(
        "latentgram.sequences.spectral:clustered_automaton",
        {"states": 10, "history": 2, "future": 2, "power": 0.25, "ridge": 3.0, "seed": 0},
    ),
    ("LPCFG", "Counting"): Recipe("latentgram.lpcfg.counting:count_pcfg", _TREES),
    ("LPCFG", "Spectral"): Recipe(
        "latentgram.lpcfg.spectral:learn_spectral",
        {**_LATENT, "states": 16, "backoff": 20.0, "cutoff": 0.0, "growth": 1.0, "search": 0},
        chooses="search",
    ),
    ("LPCFG", "EM"): Recipe(
        "latentgram.lpcfg.em:learn_em",
        {**_LATENT, "states": 16, "backoff": 10.0, "iterations": 20, "seed": 0, "start": "random"},
        chooses=True,
    ),
    ("LPCFG", "Clustering"): Recipe(
        "latentgram.lpcfg.em:learn_clusters",
        {**_LATENT, "states": 16, "backoff": 10.0, "iterations": 6, "seed": 0, "dimensions": 8},
        chooses=True,
    ),
    ("Ensemble", "Combining"): Recipe(
        "latentgram.lpcfg.combining:learn_ensemble",
        {
            **{name: value for name, value in _LATENT.items() if name != "features"},
            "states": 16,
            "backoff": 10.0,
            "iterations": 6,
            "members": 5,
            "seed": 0,
        },
    ),
    ("SHAG", "Counting"): Recipe("latentgram.shag.learning:count_shag", {"symbols": "joined", "memory": "first"}),
    ("SHAG", "Spectral"): Recipe(
        "latentgram.shag.learning:learn_spectral", {**_BASIS, "least": 0.0}, chooses=True
    ),
    ("SHAG", "EM"): Recipe(
        "latentgram.shag.learning:learn_em",
        {**_BASIS, "states": 20, "iterations": 15, "seed": 0, "start": "clusters", "backoff": 10.0},
        chooses=True,
    ),
    ("SHAG", "Clustering"): Recipe("latentgram.shag.learning:learn_clusters", {**_BASIS, "states": 20, "seed": 0}),
    ("ProductSHAG", "Spectral"): Recipe(
        "latentgram.shag.lexical_learning:learn_product", {**_PRODUCT, "least": 0.0}, chooses=True
    ),
    ("ProductSHAG", "EM"): Recipe(
        "latentgram.shag.lexical_learning:learn_product",
        {**_PRODUCT, "states": 20, "iterations": 15, "seed": 0, "start": "clusters", "backoff": 10.0},
        chooses=True,
    ),
    ("ProductSHAG", "Clustering"): Recipe(
        "latentgram.shag.lexical_learning:learn_product", {**_PRODUCT, "seed": 0}
    ),
    ("LexicalSHAG", "Counting"): Recipe(
        "latentgram.shag.lexical_learning:count_lexical", {"symbols": "joined", "memory": "kind", "rare": 1}
    ),
    ("ArcDistance", "Counting"): Recipe(
        "latentgram.shag.lexical_learning:count_distances", {"symbols": "joined", "between": True}
    ),
    ("LatentTree", "EM"): Recipe(
        "latentgram.latent_tree.learning:learn_em",
        {**_NODES, "states": 20, "iterations": 40, "seed": 0},
        chooses=True,
    ),
    ("LatentTree", "Spectral"): Recipe(
        "latentgram.latent_tree.learning:learn_spectral",
        {**_NODES, "states": 10, "ridge": 0.3, "form": "corrected"},
    ),
    ("Tagger", "Perceptron"): Recipe(
        "latentgram.tagger.learning:learn_tagger",
        {"passes": 8, "step": 0.3, "closed": 10, "frequent": 2, "seed": 0},
    ),
    ("WordVectors", "Spectral"): Recipe(
        "latentgram.latent_tree.word_vector_learning:learn_vectors",
        {"states": 50, "least": 1.0, "scaling": 5.0, "view": "context"},
    ),
}


_NO_TAGS = "its states learned so are no tags: the same model in their space is an OperatorAutomaton by "
_INSTEAD = {("HMM", learner): _NO_TAGS + learner for learner in ("Spectral", "Clustering")}
"""What to ask for in place of a pair that cannot be."""


def recipe_of(model: str, learner: str) -> Recipe:
    """The recipe of a pair, or an error that lists what there is.

    >>> recipe_of("LPCFG", "Magic")
    Traceback (most recent call last):
    latentgram.errors.UnsupportedPair: there is no recipe for LPCFG by Magic; ...
    """
    try:
        return RECIPES[model, learner]
    except KeyError:
        learners = [other for name, other in RECIPES if name == model]
        known = f"{model} can be learned by {', '.join(learners)}" if learners else f"nothing learns {model}"
        if (model, learner) in _INSTEAD:
            known += f"; {_INSTEAD[model, learner]}"
        raise UnsupportedPair(f"there is no recipe for {model} by {learner}; {known}") from None
