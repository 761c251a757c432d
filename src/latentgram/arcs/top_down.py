"""`TopDown`: a generative model; every choice is conditioned on all earlier ones (Dhillon et al. 2012, §4).

    P(tree, symbols) = ∏ over heads and sides of ∏ p(modifier | history) · p(end | history)

A tree grows from its root (kernels/histories.py); the choices are log-linear in features of their histories: three
generations above the head, all siblings, the words below them, word forms (kernels/top_down.py). So there is no
dynamic program over all trees of a sentence: the model scores given trees, such as those of a list.
O(events · templates · outcomes) per tree.

log P has two parts, that of the modifiers and that of the ends: an end competes with all modifiers that might have
followed, a modifier also with other modifiers, and the two parts are not equally reliable.

**The sum over all trees.** A tree with the symbols and forms of its words is a sequence of choices. A choice
depends on the symbols and forms of words that are already there, which earlier choices determine; a form is
generated with its word, from any distribution q(form | symbol). Every choice sums to one, so all sequences of k
choices, together with the trees that are finished earlier, sum to one for each k, by induction over k. A tree of n
words is finished after 3n + 1 choices, hence

    Σ over trees of up to n words, with all symbols and forms, of P(tree, symbols) ∏ q(form_i | symbol_i) ≤ 1

for every n and q. The rest of the mass belongs to roots with no word or several words below them, to larger trees,
and to trees that never end. There is no recursion over sizes as for head automata, since a history contains all
siblings and more. The sum includes the forms: for a given string of words there is no such statement, because the
position of a word in the string is not known when the word is generated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from latentgram.arcs.kernels.histories import ATOMS, TEMPLATE_ATOMS, histories
from latentgram.arcs.kernels.top_down import log_probabilities
from latentgram.arcs.symbols import normal_form
from latentgram.arrays import Codes, Floats, Floats32, Integers, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.invariants import ANY, FINITE, rising, shape
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.rounding import RoundedSteps
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class TopDown(Summarised):
    """The symbols of words, and the weights of features of histories.

    >>> import latentgram as lg
    >>> trees = lg.demo_dependencies(100, seed=0)
    >>> model = lg.fit(lg.TopDown, trees, by=lg.Gradient(passes=2))
    >>> model.logprob(trees[0]) < 0, model.logprobs_of_heads(trees[0].sentence, np.array([trees[0].heads])).shape
    (True, (1, 2))
    """

    RATINGS: ClassVar[tuple[str, ...]] = ("modifiers", "ends")
    """The parts of log P."""
    is_distribution: ClassVar[bool] = True
    """Of trees with the symbols of their words, whose forms may come from any distribution given the symbols."""

    tags: WordSymbols
    """What histories see of a word's tags."""
    words: Alphabet
    """What they see of its form."""
    outcomes: WordSymbols
    """What is made of it."""
    key: Annotated[Codes, shape(ANY), rising()]
    """[features] in order."""
    weight: Annotated[
        NDArray[np.float16], shape("len(key)", "len(outcomes.alphabet) + 1"), FINITE, RoundedSteps(0.01)
    ]
    """[features, outcomes + 1], the end last."""
    provenance: Provenance = field(default_factory=Provenance)

    def logprob(self, tree: DependencyTree) -> float:
        """log P(tree, symbols) of a projective tree."""
        if not tree.is_projective:
            raise DataError(
                "the tree is not projective, so it has no probability under this model (projectivise it first)"
            )
        return float(self.logprobs_of_heads(tree.sentence, np.array([tree.heads])).sum())

    def logprobs(self, trees: Iterable[DependencyTree]) -> Floats:
        """The same of many trees."""
        return np.array([self.logprob(tree) for tree in trees])

    def rate(self, sentence: Sentence, heads: Ints) -> Floats:
        """[k, 2] as a rater of n-best lists."""
        return self.logprobs_of_heads(sentence, heads)

    def logprobs_of_heads(self, sentence: Sentence, heads: Integers) -> Floats:
        """[trees, 2] log P of the modifiers and of the ends of trees of one sentence.

        `heads` [trees, words] number words from 1, with 0 for the root.
        """
        tags, words = self.encode(sentence)
        logs: Floats = log_probabilities(
            heads.astype(np.int64), tags, words, self.outcomes.encode(sentence).astype(np.int64),
            len(self.tags.alphabet), TEMPLATE_ATOMS, len(ATOMS), self.key, self._weights,
        )  # fmt: skip
        return logs

    def encode(self, sentence: Sentence) -> tuple[Ints, Ints]:
        """The tags and words of a sentence as histories see them; 0 for a rare or new word."""
        words = self.words.encode(normal_form(word) for word in sentence.words)
        return self.tags.encode(sentence).astype(np.int64), words.astype(np.int64) + 1

    def events(self, tree: DependencyTree) -> tuple[Ints, Ints]:
        """The histories [events, atoms] of a tree, and the numbers of their outcomes."""
        tags, words = self.encode(tree.sentence)
        count = 3 * len(tree) + 1
        history, made = np.empty((count, len(ATOMS)), np.int64), np.empty(count, np.int64)
        used = histories(np.array(tree.heads, np.int64), tags, words, len(self.tags.alphabet), history, made)
        outcomes = np.append(self.outcomes.encode(tree.sentence).astype(np.int64), len(self.outcomes.alphabet))
        return history[:used], outcomes[made[:used] - 1]

    @cached_property
    def _weights(self) -> Floats32:
        return self.weight.astype(np.float32)

    def summary(self) -> str:
        """One line about the size."""
        return f"top-down model: {len(self.key):,} features of histories, {self.weight.shape[1]:,} outcomes"
