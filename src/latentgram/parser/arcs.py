"""Dependency parsing with an `ArcFactored` model: the best tree by its score, or the one of least risk.

Confidence is the posterior of an arc in the model's normalised reading; `tree_logprob` is log p(tree | sentence).
There is no probability of the sentence itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.decode.mbr import MBR
from latentgram.decode.viterbi import Viterbi
from latentgram.errors import DataError, SettingError
from latentgram.evaluate.attachment import AttachmentScore, score_attachment
from latentgram.models.arcs import ArcFactored, ArcScores
from latentgram.models.head_grammar import ArcPosteriors
from latentgram.parser.result import Parse

Heads = NDArray[np.int64]


class ArcBackend:
    """Parses with scores of arcs; heads are numbered from 0 inside, −1 being the root's."""

    def __init__(self, model: ArcFactored, decoder: Any = None) -> None:
        self.model = model
        self.decoder = Viterbi() if decoder is None else decoder
        if not isinstance(self.decoder, MBR | Viterbi):
            raise SettingError(
                f"dependency trees are decoded by MBR or Viterbi, not {type(self.decoder).__name__}"
            )

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """The best tree of each sentence."""
        encoded = self.model.symbols.encode(sentences)
        return [self._parse(sentence, encoded[number]) for number, sentence in enumerate(sentences)]

    def _parse(self, sentence: Sentence, symbols: NDArray[np.int32]) -> Parse:
        scores = self.model.scores(symbols)
        posteriors = self._posteriors(scores)
        heads, score = scores.best()
        if isinstance(self.decoder, MBR):
            heads = self.decoder.heads(posteriors.arcs, posteriors.roots)
            score = scores.of_heads(heads)
        return self._built(sentence, symbols, heads, score, posteriors)

    def nbest(self, sentence: Sentence, count: int) -> list[Parse]:
        """The trees with the best scores, best first."""
        symbols = self.model.encode(sentence)
        scores = self.model.scores(symbols)
        posteriors = self._posteriors(scores)
        found = zip(*scores.k_best(count), strict=True)
        return [self._built(sentence, symbols, heads, score, posteriors) for heads, score in found]

    def sample(self, sentence: Sentence, count: int, seed: int) -> list[Parse]:
        """Trees drawn from the posterior given the sentence."""
        symbols = self.model.encode(sentence)
        scores = self.model.scores(symbols)
        posteriors = self._posteriors(scores)
        uniforms = np.random.default_rng(seed).random((count, 4 * len(sentence)))
        drawn = scores.draw(self.model.scale, uniforms)
        return [self._built(sentence, symbols, heads, scores.of_heads(heads), posteriors) for heads in drawn]

    def score(self, tree: Any) -> Parse:
        """A given tree with its probabilities; one that is not projective, or uses a pruned arc, has 0."""
        if not isinstance(tree, DependencyTree):
            raise DataError("an ArcFactored model scores dependency trees")
        scores = self.model.scores(self.model.encode(tree.sentence))
        posteriors = self._posteriors(scores)
        heads = np.array(tree.heads, np.int64) - 1
        score = scores.of_heads(heads) if tree.is_projective else -np.inf
        return Parse(
            tree.sentence,
            tree,
            np.nan,
            self.model.scale * score - posteriors.logprob,
            posteriors.of_heads(heads),
            np.full(len(heads), np.nan),
        )

    def question(self, gold: Any, gold_tags: bool) -> Sentence:
        """The words with their tags: these models take tags as given."""
        sentence: Sentence = gold.sentence
        return sentence

    def compare(self, gold: Any, parses: Sequence[Parse]) -> AttachmentScore:
        """Attachment, words tagged as punctuation left out."""
        trees = [parse.tree for parse in parses if isinstance(parse.tree, DependencyTree)]
        return score_attachment(gold, trees, punctuation="upos", fallback=[parse.fallback for parse in parses])

    def _posteriors(self, scores: ArcScores) -> ArcPosteriors:
        """The posteriors of arcs; in place of log p(sentence) the logarithm of the sum over all trees."""
        return ArcPosteriors(*scores.marginals(self.model.scale))

    def _built(
        self,
        sentence: Sentence,
        symbols: NDArray[np.int32],
        heads: Heads,
        score: float,
        posteriors: ArcPosteriors,
    ) -> Parse:
        tree = DependencyTree(
            sentence.words,
            heads=tuple((heads + 1).tolist()),
            deprels=self.model.relations.predict(symbols, heads + 1),
            upos=sentence.upos or (),
            xpos=sentence.xpos or (),
        )
        return Parse(
            sentence,
            tree,
            np.nan,
            self.model.scale * float(score) - posteriors.logprob,
            np.clip(posteriors.of_heads(heads), 0.0, 1.0),
            np.full(len(heads), np.nan),
        )
