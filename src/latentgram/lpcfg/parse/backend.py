"""The parser of latent-variable PCFGs: posteriors by a cascade of grammars, then a decoder, then trees.

Posteriors are divided by the signed probability of the sentence, so that a sentence whose probability comes out
negative keeps the order of its parses (004 §3.3 decodes with sizes for the same reason; the decoders do both).

Every sentence gets a tree. One that the grammar cannot derive is covered with the fewest parts that it can, each
parsed by the same cascade as a part of some sentence, and the parts are joined under the commonest root; such
trees are flagged as fallback.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Symbol, tag_of
from latentgram.data.constraints import Constraints
from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.evaluate.bracketing import BracketingScore, score_brackets
from latentgram.kinds.decoders import MBR
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.result import Parse
from latentgram.lpcfg.decoders import Brackets, expected_f1
from latentgram.lpcfg.kernels.chart_trees import best_tree, draw_trees, k_best_trees
from latentgram.lpcfg.kernels.draws import draw_exactly
from latentgram.lpcfg.kernels.span_masks import SpanMasks
from latentgram.lpcfg.leaves import LeafTable, Leaves
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.parse.assemble import Nodes, assemble
from latentgram.lpcfg.parse.cascade import Cascade, Posterior
from latentgram.lpcfg.parse.constrained import choose_leaves, span_masks
from latentgram.lpcfg.parse.labels import LabelTable, span_marginals, tree_entropy
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.parse.single_tree import TreeWeights
from latentgram.lpcfg.unseen import unseen_rules

Ints = NDArray[np.int32]


class Found(NamedTuple):
    """A tree over grammar symbols with what is said about it in `Parse`."""

    nodes: Nodes
    logprob: float
    tree_logprob: float
    fallback: bool = False
    entropy: float = np.nan
    expected: float = np.nan


class Analyser(Protocol):
    """Where leaves and posteriors come from."""

    @property
    def leaves(self) -> LeafTable:
        """What may stand over words."""

    def posterior(
        self, leaves: Leaves, *, anywhere: bool = False, masks: SpanMasks | None = None
    ) -> Posterior | None:
        """The posteriors over a sentence with these leaves, or `anywhere` in one; None if there is no parse."""

    def fragments(self, leaves: Leaves) -> list[tuple[int, int]]:
        """The fewest and likeliest spans that have parses of their own and together make up a sentence."""


class LatentBackend:
    """Parses with an L-PCFG, or with several that share their symbols and rules."""

    default_decoder: Any = Brackets()
    """Hidden states make posteriors that are worth taking at their word: the tree of the greatest expected F1."""

    def __init__(self, model: LPCFG | Ensemble, decoder: Any = None, pruning: Pruning | None = None) -> None:
        self.grammars = model.grammars if isinstance(model, Ensemble) else (model,)
        self.grammar = self.grammars[0]
        self.decoder = self.default_decoder if decoder is None else decoder
        if isinstance(self.decoder, MBR):
            raise SettingError(
                "MBR is for dependency trees; phrases are decoded by Goodman, MaxRule, Viterbi or Brackets"
            )
        self.cascade: Analyser = Cascade(self.grammars, pruning or Pruning())

    @cached_property
    def symbols(self) -> Alphabet:
        """Interminals and preterminals in the order of their numbers."""
        return Alphabet(self.grammar.interminals.symbols + self.grammar.preterminals.symbols)

    @cached_property
    def table(self) -> LabelTable:
        """The labels that the symbols stand for."""
        return LabelTable(self.symbols, len(self.grammar.interminals))

    @cached_property
    def _intermediate(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray(self.table.length == 0)

    def parse(
        self, sentences: Sequence[Sentence], known: Sequence[Constraints | None] | None = None
    ) -> list[Parse]:
        """The best tree of each sentence under the decoder, of those that obey what is known."""
        constraints = known or [None] * len(sentences)
        return self._assemble(sentences, list(map(self._parse, sentences, constraints)))

    def _assemble(self, sentences: Sequence[Sentence], found: Sequence[Found]) -> list[Parse]:
        trees = assemble(sentences, [each.nodes for each in found], self.table, self.grammar.binarisation)
        return [
            Parse(
                sentence,
                made.tree,
                each.logprob,
                each.tree_logprob,
                made.confidence,
                made.tag_confidence,
                each.fallback,
                each.entropy,
                each.expected,
            )
            for sentence, made, each in zip(sentences, trees, found, strict=True)
        ]

    def _analyse(
        self, sentence: Sentence, known: Constraints | None = None
    ) -> tuple[Leaves, Posterior | None, SpanMasks | None]:
        """Leaves and posteriors; words without a parse are tried with all preterminals, if no tags were given."""
        masks = None
        if known:
            masks = span_masks(known, len(sentence), self.table, self.grammar.binarisation.root)
        found: list[tuple[Leaves, Posterior | None]] = []
        for look in (self.cascade.leaves.of, self.cascade.leaves.every):
            leaves = look(sentence)
            if known:
                try:
                    leaves = choose_leaves(known, sentence, leaves, (self.cascade.leaves, self.table))
                except NoParse:
                    # What is asked for was never seen over a word: it may still be among all there is.
                    if look == self.cascade.leaves.every or sentence.tags is not None:
                        raise
                    continue
            found.append((leaves, self.cascade.posterior(leaves, masks=masks)))
            if found[-1][1] is not None or sentence.tags is not None:
                break
        if known and (known.spans or known.forbidden_spans) and found[-1][1] is None:
            raise NoParse(f"no tree of this grammar obeys: {known}")
        return (*(found[0] if found[-1][1] is None else found[-1]), masks)

    def _parse(self, sentence: Sentence, known: Constraints | None) -> Found:
        leaves, posterior, masks = self._analyse(sentence, known)
        if posterior is not None:
            nodes = self._decode(leaves, posterior, masks=masks)
            return self._found(leaves, posterior, nodes)
        spans = self.cascade.fragments(leaves)
        joined = self._join([self._fragment(leaves.between(*span)) for span in spans])
        return Found(joined, -np.inf, -np.inf, fallback=True)

    def _found(self, leaves: Leaves, posterior: Posterior, nodes: Nodes) -> Found:
        chart, item = posterior.chart, posterior.item
        return Found(
            nodes,
            posterior.logprob,
            self._tree_logprob(leaves, posterior, nodes.symbol, nodes.size),
            False,
            tree_entropy(chart, item, posterior.edge),
            expected_f1(chart, item, nodes.symbol, nodes.posterior, self.table),
        )

    def _tree_logprob(self, leaves: Leaves, posterior: Posterior | None, symbol: Ints, size: Ints) -> float:
        """log p(tree, sentence); of an ensemble the mean of the logarithms, as for the sentence."""
        return float(np.mean([weights.log_weight(leaves, symbol, size) for weights in self._weights]))

    @cached_property
    def _weights(self) -> tuple[TreeWeights, ...]:
        return tuple(TreeWeights(grammar, unseen_rules(grammar)) for grammar in self.grammars)

    def _labels(self, posterior: Posterior) -> NDArray[np.float64]:
        """The posteriors of treebank nodes, from those of grammar symbols."""
        return self.table.posteriors(posterior.chart, posterior.item)

    def _nodes(self, labels: NDArray[np.float64], length: int, symbol: Ints, size: Ints) -> Nodes:
        """A tree with the posteriors of its treebank nodes."""
        return Nodes(symbol, size, self.table.of_tree(labels, length, symbol, size))

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The best trees by the decoder's objective, best first: with hidden states p(tree) cannot be searched."""
        leaves, posterior, _ = self._analyse(sentence, known)
        if posterior is None:
            return self.parse([sentence], [known])
        items, sizes = k_best_trees(posterior.chart, *self._gains(posterior, self._labels(posterior)), count)
        return self._trees(sentence, leaves, posterior, items, sizes)

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Exact draws from the posterior over trees, if the grammar has only non-negative numbers.

        Of others, and of ensembles, draws from the distribution that chooses each rule by itself and has the same
        posteriors.
        """
        leaves, posterior, _ = self._analyse(sentence, known)
        if posterior is None:
            return self.parse([sentence] * count, [known] * count)
        uniforms = np.random.default_rng(seed).random((count, len(sentence)))
        if posterior.numbers is not None and self.grammar.nonnegative:
            items, sizes = draw_exactly(posterior.chart, *posterior.numbers, uniforms)
        else:
            items, sizes = draw_trees(posterior.chart, posterior.item, posterior.edge, uniforms)
        return self._trees(sentence, leaves, posterior, items, sizes)

    def _trees(
        self, sentence: Sentence, leaves: Leaves, posterior: Posterior, items: Ints, sizes: Ints
    ) -> list[Parse]:
        """The parses of trees given by their items, one a row."""
        symbols = posterior.chart.item_symbol[items]
        labels, length = self._labels(posterior), posterior.chart.length
        nodes = [self._nodes(labels, length, *tree) for tree in zip(symbols, sizes, strict=True)]
        return self._assemble([sentence] * len(nodes), [self._found(leaves, posterior, each) for each in nodes])

    def _gains(
        self, posterior: Posterior, labels: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each item and each edge adds to the decoder's objective."""
        chart = posterior.chart
        if isinstance(self.decoder, Brackets):
            return self.decoder.item_gains(chart, posterior.item, labels, self.table), np.zeros_like(
                posterior.edge
            )
        gains: tuple[NDArray[np.float64], NDArray[np.float64]] = self.decoder.gains(
            posterior.item,
            posterior.edge,
            chart.cell_begin[chart.length],
            self._intermediate[chart.item_symbol],
        )
        return gains

    def score(self, tree: Any) -> Parse:
        """A given tree with its probabilities; its tags are taken as given."""
        if not isinstance(tree, Tree):
            raise DataError("an LPCFG scores constituency trees")
        sentence = Sentence(tree.words, tree.tags)
        leaves, posterior, _ = self._analyse(sentence)
        spans = list(tree.spans())
        confidence = np.zeros(len(spans))
        if posterior is not None:
            confidence = self.table.of_spans(self._labels(posterior), tree)
            confidence[0] = 1.0 if tree.label == self.grammar.binarisation.root else confidence[0]
        binary = self.grammar.binarisation.binarise(Forest.of([tree]))
        symbol = self._numbers(binary)
        return Parse(
            sentence,
            tree,
            -np.inf if posterior is None else posterior.logprob,
            self._tree_logprob(leaves, posterior, symbol, binary.size),
            confidence,
            confidence[[node.word is not None for node in tree.nodes()]],
        )

    def _numbers(self, binary: Forest) -> Ints:
        """The grammar's symbols at the nodes of binarised trees, `ABSENT` where it has none.

        A name may be marked as one over words in the grammar, but not in a single tree.
        """
        inner, leaf = self.grammar.interminals, self.grammar.preterminals
        marked = [str(Symbol.read(name)._replace(over_word=True)) for name in binary.labels]
        over_words = np.maximum(leaf.encode(binary.labels), leaf.encode(marked))
        over_words[over_words != ABSENT] += len(inner)
        return np.where(binary.is_tag, over_words[binary.label], inner.encode(binary.labels)[binary.label])

    def _fragment(self, leaves: Leaves) -> Nodes:
        posterior = self.cascade.posterior(leaves, anywhere=True)
        if posterior is not None:
            return self._decode(leaves, posterior, anywhere=True)
        return self._join([self._unknown(leaves.symbol[first], 1) for first in leaves.begin[:-1]])

    def _unknown(self, symbol: int, size: int) -> Nodes:
        """A node of which nothing is known."""
        labels = int(self.table.length[symbol])
        return Nodes(np.array([symbol], np.int32), np.array([size], np.int32), np.zeros(labels))

    def _join(self, parts: list[Nodes]) -> Nodes:
        """Trees side by side under the commonest root; a single one that is a tree already stays as it is."""
        if len(parts) == 1 and not self._intermediate[parts[0].symbol[0]]:
            return parts[0]
        interminals = len(self.grammar.interminals)
        whole = np.where(self._intermediate[:interminals], -1.0, self.grammar.root_count[:interminals])
        root = np.array([np.argmax(whole)], np.int32)
        size = np.array([1 + sum(len(part.symbol) for part in parts)], np.int32)
        top = Nodes(root, size, np.zeros(1))
        return Nodes(*(np.concatenate(each) for each in zip(top, *parts, strict=True)))

    def _decode(
        self,
        leaves: Leaves,
        posterior: Posterior,
        *,
        anywhere: bool = False,
        masks: SpanMasks | None = None,
    ) -> Nodes:
        chart = posterior.chart
        labels = self._labels(posterior)
        item_gain, edge_gain = self._gains(posterior, labels)
        roots = len(chart.item_symbol) - chart.cell_begin[-2]
        items, size, _ = best_tree(chart, item_gain, edge_gain, np.zeros(roots))
        return self._nodes(labels, chart.length, chart.item_symbol[items], size)

    @property
    def tags(self) -> frozenset[str]:
        """The tags of words."""
        return frozenset(map(tag_of, self.grammar.preterminals))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of phrases."""
        chains = [Symbol.read(name).chain for name in self.grammar.interminals]
        chains += [Symbol.read(name).chain[:-1] for name in self.grammar.preterminals]
        return tuple(sorted({label for chain in chains for label in chain}))

    def marginals(self, sentence: Sentence, known: Constraints | None = None) -> Marginals:
        """The posteriors of all labelled spans and tags; none where there is no parse."""
        _, posterior, _ = self._analyse(sentence, known)
        return Marginals() if posterior is None else span_marginals(self.table, posterior.chart, posterior.item)

    def compare(self, gold: Any, parses: Sequence[Parse]) -> BracketingScore:
        """Labelled brackets as EVALB counts them."""
        trees = [parse.tree for parse in parses if isinstance(parse.tree, Tree)]
        return score_brackets(gold.forest, trees, fallback=[parse.fallback for parse in parses])
