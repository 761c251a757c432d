"""Tags for the sentences that come without any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.kinds.result import TagPosteriors
from latentgram.tagger.model import Tagger


def fill_tags(
    tagger: Tagger | None, sentences: Sequence[Sentence], known: Sequence[Constraints | None]
) -> tuple[list[Sentence], list[TagPosteriors | None]]:
    """Sentences with the tagger's tags where they had none, and how sure it was of them."""
    given: list[Sentence] = list(sentences)
    sure: list[TagPosteriors | None] = [None] * len(given)
    bare = [number for number, sentence in enumerate(given) if sentence.tags is None]
    if tagger is not None and bare:
        tagged = tagger.annotated([given[i] for i in bare], [known[i] for i in bare])
        for number, (sentence, confidence) in zip(bare, tagged, strict=True):
            given[number], sure[number] = replace(sentence, surface=given[number].surface), confidence
    return given, sure
