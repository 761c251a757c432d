"""The rows of arc-factored parsers, of the reranker and of the top-down model."""

from __future__ import annotations

from latentgram.kinds.kind import DEPENDENCIES, Kind, Recipe
from latentgram.kinds.learners import Gradient

_SETTINGS = "latentgram.arcs.settings"

KINDS = [
    Kind(
        "latentgram.arcs.model:ArcFactored",
        DEPENDENCIES,
        {"MIRA": Recipe("latentgram.arcs.mira:learn_arcs", f"{_SETTINGS}:MIRAArcs", chooses=True)},
        command="arcs",
        help="A dependency parser that scores arcs and siblings: the most accurate one for dependencies.",
        parts=(
            "latentgram.arcs.model:ArcRelations",
            "latentgram.arcs.symbols:ArcSymbols",
            "latentgram.arcs.model:HashedWeights",
        ),
        parser="latentgram.arcs.parse:ArcBackend",
        needs_tags=True,
        over="dependency trees given the sentence",
        update="latentgram.arcs.update:update",
    ),
    Kind(
        "latentgram.arcs.factor:ArcWeights",
        DEPENDENCIES,
        update="latentgram.arcs.update:update_factor",
        rates=True,
    ),
    Kind(
        "latentgram.arcs.reranker:Reranker",
        DEPENDENCIES,
        {"MIRA": Recipe("latentgram.arcs.reranking:learn_reranker", f"{_SETTINGS}:MIRAReranker")},
        command="reranker",
        help="A dependency parser whose n-best trees are rescored by other models.",
        renamed={"Perceptron": "MIRA"},
        parser="latentgram.arcs.parse:RerankingBackend",
        needs_tags=True,
        over="the trees of an n-best list given the sentence",
    ),
    Kind(
        "latentgram.arcs.top_down:TopDown",
        DEPENDENCIES,
        {"Gradient": Recipe("latentgram.arcs.gradient:learn_top_down", f"{_SETTINGS}:GradientTopDown")},
        command="top-down",
        help="A generative, log-linear model of dependency trees: scores trees, does not parse.",
        use="'latentgram score' gives log-probabilities of trees",
        scores="trees",
        over="dependency trees with their symbols",
        rates=True,
        raters={"top-down": (Gradient(),)},
    ),
]
