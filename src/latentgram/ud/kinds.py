"""The rows of the parser of raw text and of its parts."""

from __future__ import annotations

from latentgram.kinds.kind import DEPENDENCIES, Kind, Recipe

_SETTINGS = "latentgram.ud.settings"

KINDS = [
    Kind(
        "latentgram.ud.model:UDParser",
        DEPENDENCIES,
        {"Gradient": Recipe("latentgram.ud.model:learn_ud", f"{_SETTINGS}:GradientUD")},
        command="ud",
        help="From raw text to CoNLL-U: sentences, words, tags, features, lemmas and trees, in one model.",
        parser="latentgram.ud.parse:UDBackend",
        over="dependency trees given the sentence",
        segmenter="latentgram.ud.model:segmenter_of",
        own_tagger="latentgram.ud.model:tagger_of",
        update="latentgram.ud.model:update",
    ),
    Kind(
        "latentgram.ud.segmenter:Segmenter",
        DEPENDENCIES,
        {"Gradient": Recipe("latentgram.ud.segmenter:learn_segmenter", f"{_SETTINGS}:GradientSegmenter")},
        parts=("latentgram.ud.multiwords:Splitter",),
        over="the ends of words and sentences given the text",
    ),
    Kind(
        "latentgram.ud.lemmatiser:Lemmatiser",
        DEPENDENCIES,
        {"Gradient": Recipe("latentgram.ud.lemmatiser:learn_lemmatiser", f"{_SETTINGS}:GradientLemmatiser")},
        parts=("latentgram.ud.chooser:Chooser",),
        over="the lemmas of a word given its sentence",
    ),
]
