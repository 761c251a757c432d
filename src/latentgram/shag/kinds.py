"""The rows of split head-automata grammars, of lexical ones, of distances and of products."""

from __future__ import annotations

from latentgram.kinds.kind import DEPENDENCIES, Kind

_PARSER, _INSPECT, _MASS = ".parse:DependencyBackend", ".inspect:HeadInspection", ".mass:tree_mass"
_AUTOMATA, _PRODUCT = ".learning:learn_automata", ".product:learn_product"

KINDS = [
    Kind("latentgram.shag.model:SHAG", DEPENDENCIES, streams=True)
    .by("EM", _AUTOMATA, "EMSHAG", chooses=True)
    .by("Spectral", _AUTOMATA, "SpectralSHAG", chooses=True)
    .by("Clustering", _AUTOMATA, "ClusteringSHAG")
    .by("Counting", ".counting:count_shag", "CountingSHAG")
    .trained("shag", "Split head automata with hidden states (or without, by counting): a dependency parser.")
    .holding("latentgram.sequences.statistics:SequenceCounts", ".relations:Relations")
    .parsing(_PARSER, needs_tags=True)
    .about("dependency trees with their symbols", _MASS)
    .updated(".update:update", ".update:keeps_its_statistics")
    .seen(_INSPECT)
    .rating(".settings:RATERS"),
    Kind("latentgram.shag.lexical:LexicalSHAG", DEPENDENCIES)
    .by("Counting", ".counting:count_lexical", "CountingLexical")
    .trained("lexical-shag", "A deterministic head-automata grammar over words and tags.")
    .holding(".relations:ContextCounts", ".relations:Relations")
    .parsing(_PARSER, needs_tags=True)
    .about("dependency trees with their tags and words", _MASS)
    .updated(".update:update_lexical")
    .rating(".settings:LEXICAL_RATERS"),
    Kind("latentgram.shag.product:ProductSHAG", DEPENDENCIES)
    .by("Spectral", _PRODUCT, "SpectralProduct", chooses=True)
    .by("EM", _PRODUCT, "EMProduct", chooses=True)
    .by("Clustering", _PRODUCT, "ClusteringProduct")
    .trained(
        "product-shag",
        "The product of head automata, words and distances: the most accurate head-automata grammar.",
    )
    .parsing(_PARSER, needs_tags=True)
    .about("dependency trees with their symbols", _MASS)
    .updated(".update:update_product", ".update:factors_keep_their_statistics")
    .seen(_INSPECT)
    .rating(),
    Kind("latentgram.shag.distance:ArcDistance", DEPENDENCIES)
    .by("Counting", ".counting:count_distances", "CountingDistance")
    .updated(".update:update_distances")
    .rating(),
]
