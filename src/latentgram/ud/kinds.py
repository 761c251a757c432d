"""The rows of the parser of raw text and of its parts."""

from __future__ import annotations

from latentgram.kinds.kind import DEPENDENCIES, Kind, Recipe

_SETTINGS = "latentgram.ud.settings"

KINDS = [
    Kind(
        "latentgram.ud.segmenter:Segmenter",
        DEPENDENCIES,
        {"Gradient": Recipe("latentgram.ud.segmenter:learn_segmenter", f"{_SETTINGS}:GradientSegmenter")},
        parts=("latentgram.ud.multiwords:Splitter",),
    ),
    Kind(
        "latentgram.ud.lemmatiser:Lemmatiser",
        DEPENDENCIES,
        {"Gradient": Recipe("latentgram.ud.lemmatiser:learn_lemmatiser", f"{_SETTINGS}:GradientLemmatiser")},
        parts=("latentgram.ud.chooser:Chooser",),
    ),
]
