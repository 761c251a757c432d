"""The rows of the parser of raw text and of its parts."""

from __future__ import annotations

from latentgram.kinds.kind import DEPENDENCIES, Kind

KINDS = [
    Kind("latentgram.ud.model:UDParser", DEPENDENCIES)
    .by("Gradient", ".model:learn_ud", "GradientUD")
    .trained("ud", "From raw text to CoNLL-U: sentences, words, tags, features, lemmas and trees, in one model.")
    .parsing(".parse:UDBackend", segmenter=".model:segmenter_of", own_tagger=".model:tagger_of")
    .about("dependency trees given the sentence")
    .updated(".model:update"),
    Kind("latentgram.ud.segmenter:Segmenter", DEPENDENCIES)
    .by("Gradient", ".segmenter:learn_segmenter", "GradientSegmenter")
    .holding(".multiwords:Splitter")
    .about("the ends of words and sentences given the text"),
    Kind("latentgram.ud.lemmatiser:Lemmatiser", DEPENDENCIES)
    .by("Gradient", ".lemmatiser:learn_lemmatiser", "GradientLemmatiser")
    .holding(".chooser:Chooser")
    .about("the lemmas of a word given its sentence"),
]
