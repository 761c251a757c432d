"""`GrammarData`: a treebank as every learner of latent-variable grammars sees it.

Trees are made binary, words seen rarely become symbols of their tags (004 §4), and every node gets the leaf
that is its head. The words themselves and their forms (data/rarewords.py) are kept beside: learners see tags in
place of rare words while they look for hidden states, and words and forms when they write the lexicon
(grammar_lexicon.py). Forms would split what states are learned from too finely, and tags say nothing of
untagged sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Binarisation, tag_of
from latentgram.data.forest import Forest
from latentgram.data.heads import HeadRules
from latentgram.data.rarewords import RareWords, tag_symbol
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.lpcfg.settings import Trees
from latentgram.lpcfg.statistics.derivations import Derivations
from latentgram.lpcfg.statistics.features import Nodes
from latentgram.lpcfg.statistics.head_leaves import head_leaves
from latentgram.parallel import Engine, InProcess, beside

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GrammarData:
    """Binary trees with rare words replaced by their tags, and the words behind the symbols.

    `word[l]` is the word of the l-th leaf in `vocabulary`, which holds frequent and rare ones; `form[l]` is its
    form in `forms` if the word is rare, else -1; `rare_words` is the rule that gives forms.
    """

    binarisation: Binarisation
    rare_words: RareWords
    nodes: Nodes
    vocabulary: Alphabet
    word: Ints
    forms: Alphabet
    form: Ints

    @classmethod
    def of(cls, treebank: Treebank[Tree], settings: Trees, engine: Engine | None = None) -> GrammarData:
        """Prepare a treebank."""
        engine = engine or InProcess()
        forest = treebank.forest
        if not len(forest):
            raise DataError("there are no trees to learn a grammar from")
        # Words and structure do not need each other: strings are looked at here while arrays are made there.
        structure = beside(engine, lambda: _binary(forest, settings))
        heads = beside(engine, lambda: HeadRules.learn(forest))
        rare_words = RareWords.of_forest(forest, threshold=settings.rare)
        by_form = rare_words.apply(forest)
        binarisation, binary = structure()
        written, shown = forest.word[forest.is_tag], by_form.word[forest.is_tag]
        # A first word read in lower case is that word; a rare one stays what it is.
        frequent = np.array([name in rare_words.known for name in by_form.words], bool)[shown]
        names = (*by_form.words, *forest.words)
        vocabulary, word = _renumbered(names, np.where(frequent, shown, written + len(by_form.words)))
        forms, form = _renumbered((*by_form.words,), np.where(frequent, ABSENT, shown))
        tags = tuple(tag_symbol(tag_of(label)) for label in binary.labels)
        label = binary.label[binary.is_tag]
        seen, number = _renumbered((*by_form.words, *tags), np.where(frequent, shown, label + len(by_form.words)))
        derivations = Derivations.of(_with_words(binary, seen, number))
        if not len(derivations.rules):
            raise DataError("no tree has more than one word: there is nothing to learn a grammar from")
        head = head_leaves(forest, binary, derivations, heads(), binarisation)
        return cls(binarisation, rare_words, Nodes(derivations, head), vocabulary, word, forms, form)

    @property
    def derivations(self) -> Derivations:
        """The rules and entries at the nodes."""
        return self.nodes.derivations

    @cached_property
    def leaf(self) -> Ints:
        """The leaf nodes from left to right over all trees."""
        return self.nodes.leaf


def _binary(forest: Forest, settings: Trees) -> tuple[Binarisation, Forest]:
    binarisation = Binarisation.of(
        forest, direction=settings.direction, horizontal=settings.horizontal, vertical=settings.vertical
    )
    return binarisation, binarisation.binarise(forest)


def _renumbered(names: tuple[str, ...], number: NDArray[np.integer]) -> tuple[Alphabet, Ints]:
    """The alphabet of the names in use, and the numbers in it of numbers in `names`; ABSENT stays."""
    used = np.flatnonzero(np.bincount(number + 1, minlength=len(names) + 1)[1:]).tolist()
    alphabet = Alphabet.of(names[i] for i in used)
    place = np.full(len(names) + 1, ABSENT, np.int64)  # the last one is for ABSENT itself
    place[used] = alphabet.encode(names[i] for i in used)
    return alphabet, place[number]


def _with_words(forest: Forest, words: Alphabet, number: Ints) -> Forest:
    """The same trees over other words, given leaf by leaf."""
    word = np.full(len(forest.word), ABSENT, np.int32)
    word[forest.is_tag] = number
    return Forest(forest.labels, words, forest.label, forest.size, word, forest.start)
