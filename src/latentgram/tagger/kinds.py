"""The row of the tagger."""

from __future__ import annotations

from latentgram.kinds.kind import TAGGED_OR_TREES, Kind

KINDS = [
    Kind("latentgram.tagger.model:Tagger", TAGGED_OR_TREES, renamed={"Perceptron": "Gradient"}, tagger=True)
    .by("Gradient", ".learning:learn_tagger", "GradientTagger")
    .trained(
        "tagger",
        "A tagger for parts of speech and morphological features.",
        "'latentgram tag' tags with it, and 'latentgram eval GOLD OUTPUT' scores what it tagged",
    )
    .holding(".candidates:Candidates", ".guesser:Guesser")
    .about("the tags of a sentence given its words")
    .updated(".update:update"),
]
