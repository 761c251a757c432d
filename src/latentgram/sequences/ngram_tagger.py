"""`NGramTagger`: the variational distribution q as a tagger (002 §3.2).

Raising the bound learns two taggers: a compact slow one, the HMM, and a large fast one that remembers the likely
tag in every n-gram context. Here each arc of the automaton keeps its best tag; tagging is one walk, O(order · log
arcs) a word, without any sum over tag sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.text import Text
from latentgram.sequences.kernels.ngram_tags import walk_tags
from latentgram.sequences.tagging import Tagging

_TOGETHER = 20_000


@dataclass(frozen=True)
class NGramTagger:
    """The best tag of every arc; see `BackoffNGram` for the automaton's arrays."""

    tags: Alphabet
    words: Alphabet
    word_symbol: NDArray[np.int32]
    """[words] the symbol of the automaton that stands for each word."""
    initial: int
    lag: int
    backoff: NDArray[np.int32]
    arc_start: NDArray[np.int64]
    arc_word: NDArray[np.int32]
    arc_target: NDArray[np.int32]
    arc_tag: NDArray[np.int32]
    arc_sure: NDArray[np.float64]
    word_tag: NDArray[np.int32]
    """[symbols + 1] the most frequent tag of each symbol; the last entry is for unknown words."""
    word_sure: NDArray[np.float64]
    word_state: NDArray[np.int32]
    """[symbols + 1] the state after a symbol alone."""
    provenance: Provenance = field(default_factory=Provenance)

    def tag(self, sentence: SentenceLike) -> Tagging:
        """The tags of one sentence."""
        return next(self.tag_all([sentence]))

    def tag_all(self, sentences: Iterable[SentenceLike]) -> Iterator[Tagging]:
        """Tag many sentences, lazily. There is no probability of the sentence: `logprob` is nan."""
        stream = map(Sentence.of, sentences)
        while chunk := list(islice(stream, _TOGETHER)):
            text = Text.of(chunk)
            known = text.encoded_by(self.words)
            tag, sure = self.tag_numbers(known)
            names = self.tags.decode(tag.tolist())
            for i, sentence in enumerate(chunk):
                span = slice(int(text.start[i]), int(text.start[i + 1]) - 1)
                yield Tagging(
                    sentence.words, tuple(names[span]), tuple(sure[span].tolist()), float("nan"),
                    tuple((known[span] < 0).tolist()),
                )  # fmt: skip

    def tag_numbers(self, tokens: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Tags and confidences of an array of word numbers with boundaries, unknown words -1."""
        symbols = np.where(tokens >= 0, self.word_symbol[tokens], -1).astype(np.int32)
        tag, sure = walk_tags(
            self.initial, self.backoff, self.arc_start, self.arc_word, self.arc_target, self.arc_tag,
            self.arc_sure, self.word_tag, self.word_sure, self.word_state, self.lag, symbols,
        )  # fmt: skip
        return tag, sure

    def summary(self) -> str:
        """One line about the size."""
        return f"n-gram tagger with {len(self.tags) - 1} tags and {len(self.arc_word):,} contexts"
