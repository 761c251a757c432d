"""The rows of latent dependency trees and of word vectors."""

from __future__ import annotations

from latentgram.kinds.kind import CONTEXTS, DEPENDENCIES, Kind

KINDS = [
    Kind("latentgram.latent_tree.model:LatentTree", DEPENDENCIES, scores="trees")
    .by("EM", ".em:learn_em", "EMLatentTree", chooses=True)
    .by("Spectral", ".spectral:learn_spectral", "SpectralLatentTree")
    .trained(
        "latent-tree",
        "A hidden Markov model on dependency trees: scores trees, does not parse.",
        "'latentgram score' gives log-probabilities of trees",
    )
    .holding(".symbols:TreeSymbols")
    .about("the symbols of a dependency tree given its arcs", deviation=".model:told_mass")
    .rating(".settings:RATERS"),
    Kind("latentgram.latent_tree.word_vectors:WordVectors", CONTEXTS)
    .by("Spectral", ".word_vectors:learn_vectors", "SpectralVectors")
    .trained(
        "vectors",
        "Word vectors, learned from the contexts of words.",
        "'latentgram show --word' lists neighbours",
    )
    .seen(".inspect:VectorInspection"),
]
