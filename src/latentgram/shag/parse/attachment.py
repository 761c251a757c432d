"""What all backends for dependency trees share: which decoders there are, what is asked, and how it is scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.evaluate.attachment import AttachmentScore, score_attachment
from latentgram.kinds.decoders import MBR, Viterbi
from latentgram.kinds.marginals import Marginals, arc_marginals
from latentgram.kinds.result import Parse
from latentgram.shag.grammar import ArcPosteriors


class Analysis(Protocol):
    """What a model knows of one sentence."""

    @property
    def posteriors(self) -> ArcPosteriors:
        """The posteriors of its arcs."""


class AttachmentBackend(ABC):
    """Parses words with tags into heads."""

    def __init__(self, decoder: Any) -> None:
        self.decoder = decoder
        if not isinstance(decoder, MBR | Viterbi):
            raise SettingError(f"dependency trees are decoded by MBR or Viterbi, not {type(decoder).__name__}")

    @abstractmethod
    def _analysis(self, sentence: Sentence, known: Constraints | None = None) -> Analysis:
        """The analysis of a sentence under what is known of it."""

    def marginals(self, sentence: Sentence, known: Constraints | None = None) -> Marginals:
        """The posteriors of all arcs."""
        posteriors = self._analysis(sentence, known).posteriors
        return arc_marginals(posteriors.arcs, posteriors.roots)

    def question(self, gold: Any, gold_tags: bool) -> Sentence:
        """The words with their tags: these models take tags as given."""
        sentence: Sentence = gold.sentence
        return sentence

    def compare(self, gold: Any, parses: Sequence[Parse]) -> AttachmentScore:
        """Attachment, words tagged as punctuation left out."""
        trees = [parse.tree for parse in parses if isinstance(parse.tree, DependencyTree)]
        return score_attachment(gold, trees, punctuation="upos", fallback=[parse.fallback for parse in parses])
