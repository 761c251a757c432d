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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.data.heads import HeadRules
from latentgram.data.rarewords import RareWords, tag_symbol
from latentgram.data.symbols import tag_of
from latentgram.data.transforms import Binarisation
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.learn.settings import Settings
from latentgram.stats.derivations import Derivations
from latentgram.stats.features import Nodes
from latentgram.stats.head_leaves import head_leaves

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
    def of(cls, treebank: Treebank[Tree], settings: Settings) -> GrammarData:
        """Prepare a treebank; `settings` have `direction`, `horizontal`, `vertical` and `rare`."""
        forest = treebank.forest
        if not len(forest):
            raise DataError("there are no trees to learn a grammar from")
        wanted: dict[str, Any] = {
            name: getattr(settings, name) for name in ("direction", "horizontal", "vertical")
        }
        threshold: int = vars(settings)["rare"]
        binarisation = Binarisation.of(forest, **wanted)
        binary = binarisation.binarise(forest)
        rare_words = RareWords.of_forest(forest, threshold=threshold)
        by_form = rare_words.apply(binary)
        leaf = binary.is_tag
        # A first word read in lower case is that word; a rare one stays what it is.
        symbol = np.array(by_form.words.symbols, object)[by_form.word[leaf]]
        frequent = np.array([name in rare_words.known for name in by_form.words], bool)[by_form.word[leaf]]
        names = np.where(frequent, symbol, np.array(binary.words.symbols, object)[binary.word[leaf]])
        vocabulary = Alphabet.of(names.tolist())
        forms = Alphabet.of(symbol[~frequent].tolist())
        tags = [tag_symbol(tag_of(label)) if used else "" for label, used in _leaf_labels(binary)]
        seen = np.where(frequent, symbol, np.array(tags, object)[binary.label[leaf]])
        derivations = Derivations.of(_with_words(binary, seen))
        if not len(derivations.rules):
            raise DataError("no tree has more than one word: there is nothing to learn a grammar from")
        head = head_leaves(forest, binary, derivations, HeadRules.learn(forest), binarisation)
        return cls(
            binarisation,
            rare_words,
            Nodes(derivations, head),
            vocabulary,
            vocabulary.encode(names.tolist()).astype(np.int64),
            forms,
            np.where(frequent, ABSENT, forms.encode(symbol.tolist())).astype(np.int64),
        )

    @property
    def derivations(self) -> Derivations:
        """The rules and entries at the nodes."""
        return self.nodes.derivations

    @cached_property
    def leaf(self) -> Ints:
        """The leaf nodes from left to right over all trees."""
        return self.nodes.leaf


def _leaf_labels(forest: Forest) -> list[tuple[str, bool]]:
    """Every label, and whether it stands over a word."""
    over_word = np.bincount(forest.label[forest.is_tag], minlength=len(forest.labels)) > 0
    return list(zip(forest.labels, over_word.tolist(), strict=True))


def _with_words(forest: Forest, words: NDArray[np.object_]) -> Forest:
    """The same trees over other words, given leaf by leaf."""
    alphabet = Alphabet.of(words.tolist())
    word = np.full(len(forest.word), ABSENT, np.int32)
    word[forest.is_tag] = alphabet.encode(words.tolist())
    return Forest(forest.labels, alphabet, forest.label, forest.size, word, forest.start)
