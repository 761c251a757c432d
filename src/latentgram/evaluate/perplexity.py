"""`TextScore`: how well a language model predicts a text, with unknown words counted separately.

Sums of log-probabilities (natural logarithms) can be added; perplexities follow from them:

    perplexity = exp(−Σ log p(token) / tokens)

over all tokens, ends of sentences included; over the known tokens; or over sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from latentgram.arrays import Flags, Floats
from latentgram.evaluate.score import Score


@dataclass(frozen=True)
class TextScore(Score):
    """Sums over a text.

    >>> score = TextScore.of(np.log([0.5, 0.25, 0.001]), np.array([False, False, True]), 1)
    >>> round(score.known_perplexity, 3), score.unknown
    (2.828, 1)
    >>> (score + score).tokens
    6
    """

    HEADLINE: ClassVar[str] = "mean_logprob"
    FIGURES: ClassVar[tuple[str, ...]] = (
        "perplexity", "known_perplexity", "sentence_perplexity", "tokens", "unknown", "impossible", "sentences",
    )  # fmt: skip

    sentences: int
    tokens: int
    """Words and ends of sentences."""
    unknown: int
    """Words that the model does not know."""
    impossible: int
    """Tokens of probability 0."""
    known_logprob: float
    """Of the tokens that the model knows and does not hold impossible."""
    unknown_logprob: float
    """Of the unknown words, where they have a probability."""
    impossible_unknown: int = 0
    """Unknown words among the impossible tokens."""

    @classmethod
    def of(cls, logs: Floats, unknown: Flags, sentences: int) -> TextScore:
        """The score from log-probabilities of tokens, and which of these are unknown words."""
        possible = np.isfinite(logs)
        return cls(
            sentences,
            len(logs),
            int(unknown.sum()),
            int((~possible).sum()),
            float(logs[possible & ~unknown].sum()),
            float(logs[possible & unknown].sum()),
            int((~possible & unknown).sum()),
        )

    @property
    def logprob(self) -> float:
        """log p of the whole text, -inf if a token is impossible."""
        return -np.inf if self.impossible else self.known_logprob + self.unknown_logprob

    @property
    def mean_logprob(self) -> float:
        """log p per token; higher is better."""
        return self.logprob / max(self.tokens, 1)

    @property
    def perplexity(self) -> float:
        """Per token, unknown words included; infinite if a token is impossible."""
        return float(np.exp(-self.mean_logprob))

    @property
    def known_perplexity(self) -> float:
        """Per token, without unknown words; infinite if a known word is impossible."""
        known = self.tokens - self.unknown
        if self.impossible > self.impossible_unknown:
            return float("inf")
        return float(np.exp(-self.known_logprob / known)) if known else float("nan")

    @property
    def sentence_perplexity(self) -> float:
        """Per sentence."""
        with np.errstate(over="ignore"):
            return float(np.exp(-self.logprob / max(self.sentences, 1)))

    def __str__(self) -> str:
        rest = f", {self.impossible:,} impossible" if self.impossible else ""
        return (
            f"perplexity {self.perplexity:.2f} per token, {self.known_perplexity:.2f} without unknown words; "
            f"{self.tokens:,} tokens in {self.sentences:,} sentences, {self.unknown:,} unknown{rest}"
        )
