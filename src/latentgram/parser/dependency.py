"""Dependency parsing with head-automata grammars: inside–outside, then the tree of least risk (000 §4).

Trees are projective. Every arc gets its posterior, and its relation from the grammar's counts. The tree of a
deterministic grammar may also be chosen by `Viterbi`, which is exact there.
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
from latentgram.dp.head_automata import HeadWeights, inside, marginals, tree_weight
from latentgram.dp.head_paths import best_path, draw_tree
from latentgram.errors import DataError, SettingError
from latentgram.evaluate.attachment import AttachmentScore, score_attachment
from latentgram.models.head_grammar import ArcPosteriors, as_logprob
from latentgram.models.lexical import LexicalSHAG
from latentgram.models.product import ProductSHAG
from latentgram.models.shag import SHAG
from latentgram.parser.result import Parse

Heads = NDArray[np.int64]


class DependencyBackend:
    """Parses with a head-automata grammar; heads are numbered from 0 inside, −1 being the root's."""

    def __init__(self, model: SHAG | LexicalSHAG | ProductSHAG, decoder: Any = None) -> None:
        self.grammar = model
        self.decoder = MBR() if decoder is None else decoder
        if isinstance(self.decoder, Viterbi) and not model.deterministic:
            raise SettingError("Viterbi finds the best tree of deterministic grammars only; take MBR for this one")
        if not isinstance(self.decoder, MBR | Viterbi):
            raise SettingError(
                f"dependency trees are decoded by MBR or Viterbi, not {type(self.decoder).__name__}"
            )

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """The best tree of each sentence."""
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: Sentence) -> Parse:
        weights, log_scale = self.grammar.weights(sentence)
        posteriors = _posteriors(weights, log_scale)
        if isinstance(self.decoder, Viterbi):
            with np.errstate(divide="ignore"):
                heads, _ = best_path(*weights)
            if (heads < 0).sum() > 1:
                heads = MBR().heads(posteriors.arcs, posteriors.roots)
        else:
            heads = self.decoder.heads(posteriors.arcs, posteriors.roots)
        return self._built(sentence, heads, weights, log_scale, posteriors)

    def nbest(self, sentence: Sentence, count: int) -> list[Parse]:
        """The trees with the most probable arcs, best first."""
        weights, log_scale = self.grammar.weights(sentence)
        posteriors = _posteriors(weights, log_scale)
        decoder = self.decoder if isinstance(self.decoder, MBR) else MBR()
        found = decoder.k_best(posteriors.arcs, posteriors.roots, count)
        return [self._built(sentence, heads, weights, log_scale, posteriors) for heads in found]

    def sample(self, sentence: Sentence, count: int, seed: int) -> list[Parse]:
        """Trees drawn from the posterior given the sentence."""
        weights, log_scale = self.grammar.weights(sentence)
        posteriors = _posteriors(weights, log_scale)
        triangle, trapezoid, closed, _, _ = inside(*weights)
        uniforms = np.random.default_rng(seed).random((count, 2 * len(sentence)))
        drawn = [draw_tree(*weights, triangle, trapezoid, closed, row) for row in uniforms]
        return [self._built(sentence, heads, weights, log_scale, posteriors) for heads in drawn]

    def score(self, tree: Any) -> Parse:
        """A given tree with its probabilities; one that is not projective has the probability 0."""
        if not isinstance(tree, DependencyTree):
            raise DataError("a head-automata grammar scores dependency trees")
        sentence = tree.sentence
        weights, log_scale = self.grammar.weights(sentence)
        posteriors = _posteriors(weights, log_scale)
        heads = np.array(tree.heads, np.int64) - 1
        logprob = -np.inf
        if tree.is_projective:
            logprob = _tree_logprob(weights, log_scale, heads)
        confidence = np.clip(posteriors.of_heads(heads), 0.0, 1.0)
        return Parse(sentence, tree, posteriors.logprob, logprob, confidence, np.full(len(heads), np.nan))

    def question(self, gold: Any, gold_tags: bool) -> Sentence:
        """The words with their tags: these grammars are made of tags."""
        sentence: Sentence = gold.sentence
        return sentence

    def compare(self, gold: Any, parses: Sequence[Parse]) -> AttachmentScore:
        """Attachment, words tagged as punctuation left out."""
        trees = [parse.tree for parse in parses if isinstance(parse.tree, DependencyTree)]
        return score_attachment(gold, trees, punctuation="upos", fallback=[parse.fallback for parse in parses])

    def _built(
        self, sentence: Sentence, heads: Heads, weights: HeadWeights, log_scale: float, posteriors: ArcPosteriors
    ) -> Parse:
        """The parse of a tree given by its heads."""
        symbols = self.grammar.symbols.encode(sentence)
        words = np.arange(len(heads))
        is_root = heads < 0
        above = np.where(is_root, len(self.grammar.symbols.alphabet), symbols[heads])
        distance = np.where(is_root, 0, words - heads)
        names, _ = self.grammar.relations.predict(above, symbols, distance)
        tree = DependencyTree(
            sentence.words,
            heads=tuple((heads + 1).tolist()),
            deprels=tuple(names),
            upos=sentence.upos or (),
            xpos=sentence.xpos or (),
        )
        return Parse(
            sentence,
            tree,
            posteriors.logprob,
            _tree_logprob(weights, log_scale, heads),
            np.clip(posteriors.of_heads(heads), 0.0, 1.0),
            np.full(len(heads), np.nan),
            fallback=posteriors.logprob == -np.inf,
        )


def _posteriors(weights: HeadWeights, log_scale: float) -> ArcPosteriors:
    arcs, roots, log_total, sign = marginals(*weights)
    return ArcPosteriors(arcs, roots, as_logprob(log_total, sign, log_scale))


def _tree_logprob(weights: HeadWeights, log_scale: float, heads: Heads) -> float:
    log_weight, sign = tree_weight(*weights, heads)
    return as_logprob(log_weight, sign, log_scale)
