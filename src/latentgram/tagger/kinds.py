"""The row of the tagger."""

from __future__ import annotations

from latentgram.kinds.kind import TAGGED_OR_TREES, Kind, Recipe

KINDS = [
    Kind(
        "latentgram.tagger.model:Tagger",
        TAGGED_OR_TREES,
        {
            "Gradient": Recipe(
                "latentgram.tagger.learning:learn_tagger", "latentgram.tagger.settings:GradientTagger"
            )
        },
        command="tagger",
        help="A tagger for parts of speech and morphological features.",
        use="'latentgram tag' tags with it, and 'latentgram eval GOLD OUTPUT' scores what it tagged",
        parts=("latentgram.tagger.candidates:Candidates", "latentgram.tagger.guesser:Guesser"),
        renamed={"Perceptron": "Gradient"},
        tagger=True,
        over="the tags of a sentence given its words",
        update="latentgram.tagger.update:update",
    ),
]
