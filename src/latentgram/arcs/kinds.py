"""The rows of arc-factored parsers, of the reranker and of the top-down model."""

from __future__ import annotations

from latentgram.kinds.kind import DEPENDENCIES, Kind

_SCORES_TREES = "'latentgram score' gives log-probabilities of trees"

KINDS = [
    Kind("latentgram.arcs.model:ArcFactored", DEPENDENCIES)
    .by("MIRA", ".choosing:learn_chosen", "MIRAArcs", chooses=True)
    .trained("arcs", "A dependency parser that scores arcs and siblings: the most accurate one for dependencies.")
    .holding(".model:ArcRelations", ".symbols:ArcSymbols", ".model:HashedWeights")
    .parsing(".parse:ArcBackend", needs_tags=True)
    .about("dependency trees given the sentence")
    .updated(".update:update"),
    Kind("latentgram.arcs.factor:ArcWeights", DEPENDENCIES).updated(".update:update_factor").rating(),
    Kind("latentgram.arcs.reranker:Reranker", DEPENDENCIES, renamed={"Perceptron": "MIRA"})
    .by("MIRA", ".reranking:learn_reranker", "MIRAReranker")
    .trained("reranker", "A dependency parser whose n-best trees are rescored by other models.")
    .parsing(".parse:RerankingBackend", needs_tags=True)
    .about("the trees of an n-best list given the sentence"),
    Kind("latentgram.arcs.top_down:TopDown", DEPENDENCIES, scores="trees")
    .by("Gradient", ".gradient:learn_top_down", "GradientTopDown")
    .trained(
        "top-down",
        "A generative, log-linear model of dependency trees: scores trees, does not parse.",
        _SCORES_TREES,
    )
    .about("dependency trees with their symbols")
    .rating(".settings:RATERS"),
]
