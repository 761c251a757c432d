"""`Tagging`: the one result of every tagger."""

from __future__ import annotations

import math
from dataclasses import dataclass


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
