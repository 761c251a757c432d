"""`Tagging`: the one result of every tagger."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from latentgram.errors import SettingError

DECODERS = ("posterior", "viterbi")
"""How tags are chosen: the most probable one of each word, or the most probable sequence."""


def check_decoder(decoder: str) -> None:
    """Raise if a tagger has no such decoder.

    >>> check_decoder("greedy")
    Traceback (most recent call last):
    latentgram.errors.SettingError: the decoder of a tagger must be posterior or viterbi, got 'greedy'
    """
    if decoder not in DECODERS:
        raise SettingError(f"the decoder of a tagger must be {' or '.join(DECODERS)}, got {decoder!r}")


@dataclass(frozen=True)
class Tagging:
    """A sentence with its tags.

    `confidence` is the posterior probability of each tag; `unknown` marks the words the model had never seen.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    confidence: tuple[float, ...]
    logprob: float
    """log p(words); nan for taggers that only know p(tags | words)."""
    unknown: tuple[bool, ...]
    tags_logprob: float = math.nan
    """log p(tags | words), of the members of lists and of draws."""
    xpos: tuple[str, ...] | None = None
    upos: tuple[str, ...] | None = None
    feats: tuple[str, ...] | None = None
    """The sides of the tags of a `Tagger`, None for what it has not learned; FEATS as in CoNLL-U, `_` for none."""
    posteriors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The posterior of every entry of `xpos`, `upos` and `feats`, by these names."""

    def _repr_html_(self) -> str:
        """The words with their tags and the posteriors of these, in a notebook."""
        from latentgram.view.report import html_table

        rows = zip(self.words, self.tags, self.confidence, self.unknown, strict=True)
        cells = [(word, tag, f"{sure:.3f}", "unknown" if new else "") for word, tag, sure, new in rows]
        return html_table(("word", "tag", "p", ""), cells)
