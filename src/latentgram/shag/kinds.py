"""The rows of split head-automata grammars, of lexical ones, of distances and of products."""

from __future__ import annotations

from latentgram.kinds.kind import DEPENDENCIES, Kind, Recipe
from latentgram.kinds.learners import EM, Counting, Spectral

_SETTINGS = "latentgram.shag.settings"
_AUTOMATA = "latentgram.shag.learning:learn_automata"
_PRODUCT = "latentgram.shag.product:learn_product"
_PARSER = "latentgram.shag.parse:DependencyBackend"
_INSPECT = "latentgram.shag.inspect:HeadInspection"
_MASS = "latentgram.shag.mass:tree_mass"
STARTS = 4
"""Starts of a model whose ratings are averaged: what they agree on is less a matter of luck."""

KINDS = [
    Kind(
        "latentgram.shag.model:SHAG",
        DEPENDENCIES,
        {
            "Counting": Recipe("latentgram.shag.counting:count_shag", f"{_SETTINGS}:CountingSHAG"),
            "Spectral": Recipe(_AUTOMATA, f"{_SETTINGS}:SpectralSHAG", chooses=True),
            "EM": Recipe(_AUTOMATA, f"{_SETTINGS}:EMSHAG", chooses=True),
            "Clustering": Recipe(_AUTOMATA, f"{_SETTINGS}:ClusteringSHAG"),
        },
        command="shag",
        help="A split head-automata grammar from a dependency treebank.",
        parts=("latentgram.sequences.statistics:SequenceCounts", "latentgram.shag.relations:Relations"),
        parser=_PARSER,
        needs_tags=True,
        streams=True,
        update="latentgram.shag.update:update",
        updates="latentgram.shag.update:keeps_its_statistics",
        inspect=_INSPECT,
        over="dependency trees with their symbols",
        mass=_MASS,
        rates=True,
        raters={
            "shag": (EM(),),
            "shag-spectral": (Spectral(),),
            "shag-words": tuple(EM(symbols="words", seed=seed) for seed in range(STARTS)),
            "shag-words-random": (EM(symbols="words", start="random", iterations=40),),
        },
    ),
    Kind(
        "latentgram.shag.lexical:LexicalSHAG",
        DEPENDENCIES,
        {"Counting": Recipe("latentgram.shag.counting:count_lexical", f"{_SETTINGS}:CountingLexical")},
        command="lexical-shag",
        help="A deterministic head-automata grammar over words and tags.",
        parts=("latentgram.shag.relations:ContextCounts", "latentgram.shag.relations:Relations"),
        parser=_PARSER,
        needs_tags=True,
        update="latentgram.shag.update:update_lexical",
        over="dependency trees with their tags and words",
        mass=_MASS,
        rates=True,
        raters={"lexical": (Counting(),)},
    ),
    Kind(
        "latentgram.shag.product:ProductSHAG",
        DEPENDENCIES,
        {
            "Spectral": Recipe(_PRODUCT, f"{_SETTINGS}:SpectralProduct", chooses=True),
            "EM": Recipe(_PRODUCT, f"{_SETTINGS}:EMProduct", chooses=True),
            "Clustering": Recipe(_PRODUCT, f"{_SETTINGS}:ClusteringProduct"),
        },
        command="product-shag",
        help="The product of head automata, words and distances: the most accurate head-automata grammar.",
        parser=_PARSER,
        needs_tags=True,
        update="latentgram.shag.update:update_product",
        updates="latentgram.shag.update:factors_keep_their_statistics",
        inspect=_INSPECT,
        over="dependency trees with their symbols",
        mass=_MASS,
        rates=True,
    ),
    Kind(
        "latentgram.shag.distance:ArcDistance",
        DEPENDENCIES,
        {"Counting": Recipe("latentgram.shag.counting:count_distances", f"{_SETTINGS}:CountingDistance")},
        update="latentgram.shag.update:update_distances",
        rates=True,
    ),
]
