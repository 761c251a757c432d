"""The parser of latent-variable PCFGs: posteriors by a cascade of grammars, then a decoder, then trees.

Posteriors are divided by the signed probability of the sentence, so that a sentence whose probability comes out
negative keeps the order of its parses (Cohen et al. 2013 §3.3 decode with absolute values for the same reason; the
decoders do both).

A plain PCFG is parsed by the first stage of the same cascade. Without hidden states its most probable derivations
can be found, and samples drawn edge by edge are samples from the posterior over trees. A tree has a single
derivation, unless nodes are split outward from their heads.

p(tree) is the sum over all derivations of the treebank tree (labels.py), and an n-best list contains no tree
twice.

Every sentence gets a tree. One that the grammar cannot derive is covered with as few derivable parts as possible,
each parsed by the same cascade as a part of some sentence, and the parts are joined under the most frequent root;
such trees are flagged as fallback.

A sentence that exceeds its time gets the tree of the last completed stage or, if it is so long that there is
none, one that is built from short parts by the first grammar alone: such trees are flagged as coarse.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Symbol
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.interrupt import pause
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.result import Parse
from latentgram.lpcfg.decoders import (
    Brackets,
    Decoded,
    EdgewisePhrases,
    Goodman,
    PhraseDecoder,
    Phrases,
    Trees,
)
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.constraints import choose_leaves, span_masks
from latentgram.lpcfg.parse.labels import (
    LabelTable,
    Nodes,
    assemble,
    span_marginals,
)
from latentgram.lpcfg.parse.pruning import (
    NO_LIMIT,
    PASSED,
    Deadline,
    OutOfTime,
    Pruning,
    checked_limit,
)
from latentgram.lpcfg.projection import Leaves

if TYPE_CHECKING:
    from latentgram.evaluate.bracketing import BracketingScore

Ints = NDArray[np.int32]

MOST_NODES = 1 << 24
"""Nodes of all derivations that are searched at most for a list of trees."""


PLAIN = Pruning(floor=0.0, beam=0.0, coarse_threshold=1e-4, coarse_edge_threshold=0.0)
"""For plain PCFGs: nothing is cut while the chart grows; decoders are given the items of at least this posterior,
and all edges between them."""
WITH_CLOSING = Pruning(floor=1e-4, beam=1e-3, member_threshold=3e-4)
"""For grammars that know which cells may stay closed: what is left needs less room. The threshold of members was
chosen on a held-out fifth of the training trees of the wsj sample."""


class PhraseBackend:
    """Parses with an L-PCFG, or with several that share their symbols and rules.

    Hidden states make posteriors that are worth taking at their word: the default is the tree of the greatest
    expected F1. Of a plain PCFG it is the one with most nodes right.
    """

    def __init__(
        self,
        model: LPCFG | Ensemble,
        decoder: PhraseDecoder | None = None,
        pruning: Pruning | None = None,
        limit_seconds: float | None = None,
    ) -> None:
        self.limit_seconds = checked_limit(limit_seconds)
        grammars = model.grammars if isinstance(model, Ensemble) else (model,)
        plain = len(grammars) == 1 and grammars[0].plain
        self.grammar = grammars[0]
        self.decoder = decoder or (Goodman() if plain else Brackets())
        if not isinstance(self.decoder, PhraseDecoder):
            raise SettingError(
                f"{type(self.decoder).__name__} is for dependency trees; for constituents use Goodman, MaxRule, "
                "Viterbi or Brackets"
            )
        self.cascade = Cascade(grammars, pruning or usual_pruning(grammars))

    @cached_property
    def symbols(self) -> Alphabet:
        """Interminals and preterminals in the order of their numbers."""
        return Alphabet(self.grammar.interminals.symbols + self.grammar.preterminals.symbols)

    @cached_property
    def table(self) -> LabelTable:
        """The labels that the symbols stand for."""
        return LabelTable(self.symbols, len(self.grammar.interminals))

    def parse(
        self, sentences: Sequence[Sentence], known: Sequence[Constraints | None] | None = None
    ) -> list[Parse]:
        """The best tree of each sentence under the decoder, of those that obey what is known."""
        constraints = known or [None] * len(sentences)
        return self._assemble(sentences, list(map(self._parse, sentences, constraints)))

    def _assemble(self, sentences: Sequence[Sentence], trees: Sequence[Decoded]) -> list[Parse]:
        assembled = assemble(sentences, [tree.nodes for tree in trees], self.table, self.grammar.binarisation)
        return [
            Parse(
                sentence,
                made.tree,
                tree.logprob,
                tree.tree_logprob,
                made.confidence,
                made.tag_confidence,
                tree.fallback,
                tree.entropy,
                tree.expected,
                tree.conditional,
                coarse=tree.coarse,
                tightened=tree.tightened,
                pruned=tree.pruned,
            )
            for sentence, made, tree in zip(sentences, assembled, trees, strict=True)
        ]

    def _analyse(
        self, sentence: Sentence, known: Constraints | None = None, *, limited: bool = True
    ) -> tuple[Leaves, Phrases | None]:
        """Leaves and posteriors; words without a parse are tried with all preterminals, if no tags were given.

        All that is asked of a sentence is asked of the same chart, so that a tree has the same probability
        whether it was found or given. If the time is limited and too short for any posteriors, `OutOfTime` is
        raised.
        """
        pause()
        deadline = Deadline.after(self.limit_seconds if limited else None)
        table, lookup, masks = self.table, self.cascade.leaves, None
        if known:
            masks = span_masks(known, len(sentence), table, self.grammar.binarisation.root)
        without: list[Leaves] = []
        for look in (lookup.of, lookup.every):
            leaves = look(sentence)
            if known:
                try:
                    leaves = choose_leaves(known, sentence, leaves, (lookup, table))
                except NoParse:
                    # What is asked for was never seen over a word: it may still be among all there is.
                    if look == lookup.every or sentence.tags is not None:
                        raise
                    continue
            posterior = self.cascade.posterior(leaves, masks=masks, closing=True, deadline=deadline)
            if posterior is not None:
                widened = look == lookup.every
                kind = EdgewisePhrases if len(self.cascade.finest) > 1 and not posterior.coarse else Phrases
                return leaves, kind(self.cascade, table, leaves, posterior, masks, widened=widened)
            without.append(leaves)
            if sentence.tags is not None:
                break
        if known and (known.spans or known.forbidden_spans):
            raise NoParse(f"no tree of this grammar satisfies: {known}")
        return without[0], None

    def _parse(self, sentence: Sentence, known: Constraints | None) -> Decoded:
        try:
            leaves, phrases = self._analyse(sentence, known)
        except OutOfTime:
            return self._hurried(sentence, known)
        if phrases is not None:
            symbols, sizes = self.decoder.trees(phrases.chosen_by, 1)
            return phrases.decoded(symbols[0], sizes[0])
        parts = [self._fragment(leaves.between(*span)) for span in self.cascade.fragments(leaves)]
        joined, pruned = self._join(parts), self.cascade.prunes
        return Decoded(joined, -math.inf, -math.inf, fallback=True, pruned=pruned)

    def _hurried(self, sentence: Sentence, known: Constraints | None) -> Decoded:
        """A tree of short parts, each by the first grammar alone."""
        if known:
            raise NoParse(
                f"within {self.limit_seconds:g} seconds no tree was found that satisfies: {known}; allow more time"
            )
        leaves = self.cascade.leaves.of(sentence)
        spans = self.cascade.fragments(leaves, hurried=True)
        parts = [self._fragment(leaves.between(*span), PASSED) for span in spans]
        return Decoded(self._join(parts), math.nan, math.nan, coarse=True)

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The most probable trees, best first; with hidden states p(tree) cannot be searched, and they are those
        that are best by the decoder's objective."""
        try:
            _, phrases = self._analyse(sentence, known)
        except OutOfTime:
            return self._assemble([sentence], [self._hurried(sentence, known)])
        if phrases is None:
            return self.parse([sentence], [known])
        if not phrases.searchable:
            return self._parses(
                sentence, phrases, distinct(phrases, partial(self.decoder.trees, phrases.chosen_by), count)
            )
        parses = self._parses(sentence, phrases, distinct(phrases, phrases.most_probable, count))
        return sorted(parses, key=lambda parse: -parse.tree_logprob)

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Draws from the posterior over trees; see `Phrases.draws`."""
        try:
            _, phrases = self._analyse(sentence, known)
        except OutOfTime:
            return self._assemble([sentence] * count, [self._hurried(sentence, known)] * count)
        if phrases is None:
            return self.parse([sentence] * count, [known] * count)
        uniforms = np.random.default_rng(seed).random((count, len(sentence)))
        return self._parses(sentence, phrases, zip(*phrases.draws(uniforms), strict=True))

    def _parses(self, sentence: Sentence, phrases: Phrases, trees: Iterable[tuple[Ints, Ints]]) -> list[Parse]:
        """The parses of some trees of one sentence."""
        decoded = [phrases.decoded(symbol, size) for symbol, size in trees]
        return self._assemble([sentence] * len(decoded), decoded)

    def score(self, tree: Tree | DependencyTree) -> Parse:
        """A given tree with its probabilities; its tags are taken as given."""
        if not isinstance(tree, Tree):
            raise DataError("an LPCFG scores only constituency trees")
        sentence = Sentence(tree.words, tree.tags)
        leaves, phrases = self._analyse(sentence, limited=False)
        confidence = np.zeros(len(list(tree.spans())))
        if phrases is not None:
            confidence = self.table.of_spans(phrases.labels, tree)
            confidence[0] = 1.0 if tree.label == self.grammar.binarisation.root else confidence[0]
        return Parse(
            sentence,
            tree,
            -math.inf if phrases is None else phrases.posterior.logprob,
            self._tree_logprob(leaves, phrases, tree),
            confidence,
            confidence[[node.word is not None for node in tree.nodes()]],
            pruned=self.cascade.prunes,
        )

    def impossible_part(self, tree: Tree | DependencyTree) -> int | None:
        """The node that gives a tree the probability 0: of a label or rule never seen, or over a word never so."""
        if not isinstance(tree, Tree):
            return None
        binary = self.grammar.binarisation.binarise(Forest.of([tree]))
        leaves = self.cascade.leaves.of(Sentence(tree.words, tree.tags))
        symbols = [Symbol.read(name) for name in binary.labels]
        intermediate = np.array([symbol.intermediate for symbol in symbols], bool)[binary.label]
        node = self.cascade.weights[0].impossible_node(leaves, self._numbers(binary), binary.size, intermediate)
        while intermediate[node]:
            node = int(binary.parent[node])
        span = (symbols[binary.label[node]].chain[0], int(binary.begin[node]), int(binary.end[node]))
        return next((place for place, each in enumerate(tree.spans()) if each == span), None)

    def _tree_logprob(self, leaves: Leaves, phrases: Phrases | None, tree: Tree) -> float:
        """log p(tree, sentence); a tree may have one though pruning left no parse."""
        [nodes] = self.cascade.names.of_trees(Forest.of([tree]), self.grammar.binarisation)
        if phrases is None:
            return self.cascade.tree_logprob(leaves, *nodes)
        return phrases.tree_logprob(*nodes)

    def _numbers(self, binary: Forest) -> Ints:
        """The grammar's symbols at the nodes of binarised trees, `ABSENT` where it has none.

        A name may be marked as one over words in the grammar, but not in a single tree.
        """
        inner, leaf = self.grammar.interminals, self.grammar.preterminals
        marked = [str(Symbol.read(name)._replace(over_word=True)) for name in binary.labels]
        over_words = np.maximum(leaf.encode(binary.labels), leaf.encode(marked))
        over_words[over_words != ABSENT] += len(inner)
        return np.where(binary.is_tag, over_words[binary.label], inner.encode(binary.labels)[binary.label])

    def _fragment(self, leaves: Leaves, deadline: Deadline = NO_LIMIT) -> Nodes:
        """The best tree over a part of a sentence."""
        try:
            posterior = self.cascade.posterior(leaves, anywhere=True, deadline=deadline)
        except OutOfTime:
            posterior = None
        if posterior is not None:
            phrases = Phrases(self.cascade, self.table, leaves, posterior, anywhere=True)
            symbols, sizes = self.decoder.trees(phrases.chosen_by, 1)
            return phrases.nodes(symbols[0], sizes[0])
        return self._join([self._unknown(leaves.symbol[first], 1) for first in leaves.begin[:-1]])

    def _unknown(self, symbol: int, size: int) -> Nodes:
        """A node of which nothing is known."""
        labels = int(self.table.length[symbol])
        return Nodes(np.array([symbol], np.int32), np.array([size], np.int32), np.zeros(labels))

    def _join(self, parts: list[Nodes]) -> Nodes:
        """Trees side by side under the commonest root; a single one that is a tree already stays as it is."""
        intermediate = self.table.length == 0
        if len(parts) == 1 and not intermediate[parts[0].symbol[0]]:
            return parts[0]
        # Where no tree had two words there are no phrases but the chains over words.
        phrases = len(self.grammar.interminals) or len(intermediate)
        whole = np.where(intermediate[:phrases], -1.0, self.grammar.root_count[:phrases])
        top = self._unknown(int(np.argmax(whole)), 1 + sum(len(part.symbol) for part in parts))
        return Nodes(*(np.concatenate(each) for each in zip(top, *parts, strict=True)))

    @property
    def tags(self) -> frozenset[str]:
        """The tags of words."""
        return frozenset(self.grammar.tags)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of phrases."""
        phrases = len(self.grammar.interminals)
        above = [symbol.chain for symbol in self.grammar.symbols[:phrases]]
        above += [symbol.chain[:-1] for symbol in self.grammar.symbols[phrases:]]
        return tuple(sorted({label for chain in above for label in chain}))

    def marginals(self, sentence: Sentence, known: Constraints | None = None) -> Marginals:
        """The posteriors of all labelled spans and tags; none where there is no parse, or no time for one."""
        try:
            _, phrases = self._analyse(sentence, known)
        except OutOfTime:
            return Marginals()
        return Marginals() if phrases is None else span_marginals(self.table, phrases.chart, phrases.item)

    def compare(self, gold: Treebank[Tree], parses: Sequence[Parse]) -> BracketingScore:
        """Labelled brackets as EVALB counts them."""
        from latentgram.evaluate.bracketing import score_brackets  # parsing does without it

        trees = [parse.tree for parse in parses if isinstance(parse.tree, Tree)]
        return score_brackets(gold.forest, trees, fallback=[parse.fallback for parse in parses])


def usual_pruning(grammars: tuple[LPCFG, ...]) -> Pruning:
    """How these grammars are pruned where nothing else is asked for."""
    if len(grammars) == 1 and grammars[0].plain:
        return PLAIN
    return WITH_CLOSING if grammars[0].closes else Pruning()


def distinct(
    phrases: Phrases, search: Callable[[int], Trees], count: int, most: int = MOST_NODES
) -> list[tuple[Ints, Ints]]:
    """The best derivation of each of the best trees: as long as a list has a tree twice, a longer one is searched,
    until it has as many as asked for, or all there are. One that needs more than `most` nodes ends, and says so.
    """
    asked = count
    while True:
        best: dict[tuple[bytes, bytes], tuple[Ints, Ints]] = {}
        symbols, sizes = search(asked)
        for derivation in zip(symbols, sizes, strict=True):
            name, size = phrases.treebank_nodes(*derivation)
            best.setdefault((name.tobytes(), size.tobytes()), derivation)
        if len(best) >= count or len(symbols) < asked:
            return list(best.values())[:count]
        if 4 * symbols.size > most:
            warnings.warn(
                f"an n-best list ends after {len(best)} trees, although there may be more: they have so many "
                f"derivations that the search stopped after {len(symbols)}",
                stacklevel=2,
            )
            return list(best.values())
        asked *= 4
