"""`Reading`: the probabilities of a sentence under a model, word by word, from the left."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Flags, Floats
from latentgram.data.sentence import Sentence


@dataclass(frozen=True)
class Reading:
    """A sentence as it is read, word by word."""

    sentence: Sentence
    prefix: Floats
    """[n] log P of the first 1, 2, … words."""
    logprob: float
    """log p(sentence)."""
    entropy: Floats
    """[n + 1] that of the derivation after 0, 1, … words, in nats; nan where there is none."""
    unknown: Flags
    """[n] whether the grammar knows only the form of the word."""
    broken: bool = False
    """Whether the grammar cannot derive a sentence with these words, so that it had to break off."""
    negative: int = 0
    """How many of the probabilities came out negative."""

    @property
    def surprisal(self) -> Floats:
        """[n] that of the words, in bits."""
        return _bits(np.concatenate(([0.0], self.prefix)))

    @property
    def ending(self) -> float:
        """The surprisal of the end of the sentence, in bits."""
        return float(_bits(np.array([self.prefix[-1], self.logprob]))[0])

    @property
    def reduction(self) -> Floats:
        """[n] by how many bits each word lowers the entropy."""
        return np.asarray(-np.diff(self.entropy) / math.log(2))

    def __repr__(self) -> str:
        words = zip(self.sentence.words, self.surprisal.tolist(), strict=True)
        return f"<Reading: {' '.join(f'{word} {bits:.2f}' for word, bits in words)} (bits)>"

    def _repr_html_(self) -> str:
        """The words with their surprisal, in a notebook; unknown words are marked."""
        from latentgram.view.report import html_table

        figures = self.surprisal.tolist(), self.reduction.tolist(), self.unknown.tolist()
        rows = [
            (word, f"{bits:.2f}", "" if math.isnan(less) else f"{less:.2f}", "unknown" if unknown else "")
            for word, bits, less, unknown in zip(self.sentence.words, *figures, strict=True)
        ]
        rows.append(("(end)", f"{self.ending:.2f}", "", ""))
        return html_table(("word", "surprisal (bits)", "entropy reduction (bits)", ""), rows)


def _bits(logs: Floats) -> Floats:
    """By how much logarithms fall from one to the next, in bits; infinite from where nothing is left."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(logs[:-1] - logs[1:], nan=np.inf, posinf=np.inf) / math.log(2))
