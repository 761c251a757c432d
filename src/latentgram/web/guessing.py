"""Tags for sentences without tags, for a parser without a tagger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank
from latentgram.kinds.learners import Counting
from latentgram.kinds.protocols import AnyTree

if TYPE_CHECKING:
    from latentgram.sequences.hmm import HMM

_JOIN = "\u241f"


@dataclass(frozen=True, eq=False)
class TagGuesser:
    """Tags for sentences that came without: a hidden Markov model counted from the treebank when first asked.

    Coarse and fine tags are guessed together, so that they go with each other.
    """

    sentences: tuple[Sentence, ...]

    @classmethod
    def of(cls, trees: Iterable[AnyTree]) -> TagGuesser:
        """One that knows the tags of a treebank.

        >>> import latentgram as lg
        >>> guesser = TagGuesser.of(lg.demo_dependencies(60, seed=0))
        >>> guesser.tag(Sentence(("the", "teacher"))).xpos
        ('DT', 'NN')
        """
        return cls(tuple(_joined(tree) for tree in trees if isinstance(tree, DependencyTree)))

    def more(self, tree: DependencyTree) -> TagGuesser:
        """One that knows the tags of another tree as well."""
        return TagGuesser((*self.sentences, _joined(tree)))

    @cached_property
    def model(self) -> HMM:
        """The model of all sentences."""
        from latentgram.learn.fit import fit  # most models have a tagger, and the page is there sooner
        from latentgram.sequences.hmm import HMM

        return fit(HMM, Treebank.of(self.sentences), by=Counting())

    @cached_property
    def tags(self) -> list[str]:
        """The fine tags where there are some, else the coarse ones."""
        pairs = [name.split(_JOIN) for name in self.model.tags if _JOIN in name]
        return sorted({xpos if xpos != "_" else upos for upos, xpos in pairs})

    def tag(self, sentence: Sentence) -> Sentence:
        """The sentence with the most probable tag of each word."""
        pairs = [name.split(_JOIN) for name in self.model.tag(sentence).tags]
        upos, xpos = (tuple(column) for column in zip(*pairs, strict=True))
        return Sentence(sentence.words, _unless_missing(xpos), _unless_missing(upos), sentence.space_after)


def _joined(tree: DependencyTree) -> Sentence:
    return Sentence(tree.words, tuple(_JOIN.join(pair) for pair in zip(tree.upos, tree.xpos, strict=True)))


def _unless_missing(tags: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if all(tag == "_" for tag in tags) else tags
