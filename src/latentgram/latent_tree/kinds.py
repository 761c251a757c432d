"""The rows of latent dependency trees and of word vectors."""

from __future__ import annotations

from latentgram.kinds.kind import CONTEXTS, DEPENDENCIES, Kind, Recipe
from latentgram.kinds.learners import EM, Spectral

_SETTINGS = "latentgram.latent_tree.settings"
STARTS = 4
"""Starts of a model whose ratings are averaged."""

KINDS = [
    Kind(
        "latentgram.latent_tree.model:LatentTree",
        DEPENDENCIES,
        {
            "EM": Recipe("latentgram.latent_tree.em:learn_em", f"{_SETTINGS}:EMLatentTree", chooses=True),
            "Spectral": Recipe(
                "latentgram.latent_tree.spectral:learn_spectral", f"{_SETTINGS}:SpectralLatentTree"
            ),
        },
        command="latent-tree",
        help="A hidden Markov model on dependency trees: scores trees, does not parse.",
        use="'latentgram score' gives log-probabilities of trees",
        parts=("latentgram.latent_tree.symbols:TreeSymbols",),
        scores="trees",
        over="the symbols of a dependency tree given its arcs",
        deviation="latentgram.latent_tree.model:told_mass",
        rates=True,
        raters={
            "latent-tree": tuple(EM(seed=seed) for seed in range(STARTS)),
            "latent-tree-words": tuple(EM(symbols="words", seed=seed) for seed in range(STARTS)),
            "latent-tree-spectral": (Spectral(),),
            "latent-tree-tags": (Spectral(valency=0),),
            "latent-tree-printed": (Spectral(valency=0, form="printed"),),
            "latent-tree-absolute": (Spectral(valency=0, form="printed", absolute=True),),
        },
    ),
    Kind(
        "latentgram.latent_tree.word_vectors:WordVectors",
        CONTEXTS,
        {"Spectral": Recipe("latentgram.latent_tree.word_vectors:learn_vectors", f"{_SETTINGS}:SpectralVectors")},
        command="vectors",
        help="Word vectors, learned from the contexts of words.",
        use="'latentgram show --word' lists neighbours",
        inspect="latentgram.latent_tree.inspect:VectorInspection",
    ),
]
