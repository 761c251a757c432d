"""Constituency parsing with an `LPCFG`; what a grammar with one state a symbol can do beyond the others.

A plain PCFG is parsed like any other grammar (latent.py), but with the exact posteriors of `OneState`. A tree has
a single derivation in it, so the best trees, draws and the probability of a tree are exact and cheap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.data.symbols import Symbol
from latentgram.data.tree import Tree
from latentgram.decode.viterbi import Viterbi
from latentgram.errors import DataError
from latentgram.models.ensemble import Ensemble
from latentgram.models.leaves import Leaves
from latentgram.models.lpcfg import LPCFG
from latentgram.parser.assemble import Nodes, assemble
from latentgram.parser.cascade import Posterior
from latentgram.parser.latent import Found, LatentBackend
from latentgram.parser.one_state import OneState
from latentgram.parser.result import Parse

Ints = NDArray[np.int32]


def constituency_backend(model: LPCFG | Ensemble, decoder: Any) -> LatentBackend:
    """The backend for a grammar or an ensemble of grammars."""
    if isinstance(model, LPCFG) and model.states.max() == 1:
        return PlainBackend(model, decoder)
    return LatentBackend(model, decoder)


class PlainBackend(LatentBackend):
    """Parses with a grammar that has one state a symbol."""

    def __init__(self, model: LPCFG, decoder: Any = None) -> None:
        super().__init__(model, decoder)
        self.cascade = self.exact = OneState(model)

    def nbest(self, sentence: Sentence, count: int) -> list[Parse]:
        """The most probable trees, best first."""
        leaves, posterior = self._analyse(sentence)
        if posterior is None:
            return self.parse([sentence])
        return self._given(sentence, leaves, posterior, self.exact.best(leaves, count))

    def sample(self, sentence: Sentence, count: int, seed: int) -> list[Parse]:
        """Exact draws from the posterior over trees."""
        leaves, posterior = self._analyse(sentence)
        if posterior is None:
            return self.parse([sentence] * count)
        uniforms = np.random.default_rng(seed).random((count, len(sentence)))
        return self._given(sentence, leaves, posterior, self.exact.draw(leaves, uniforms))

    def score(self, tree: Any) -> Parse:
        """A given tree with its probabilities; its tags are taken as given."""
        if not isinstance(tree, Tree):
            raise DataError("an LPCFG scores constituency trees")
        sentence = Sentence(tree.words, tree.tags)
        binary = self.grammar.binarisation.binarise(Forest.of([tree]))
        symbol = self._numbers(binary)
        leaves, posterior = self._analyse(sentence)
        nodes = Nodes(binary.label, binary.size, _posterior_of(posterior, symbol, binary.size))
        [made] = assemble([sentence], [nodes], binary.labels, self.grammar.binarisation)
        return Parse(
            sentence,
            tree,
            -np.inf if posterior is None else posterior.logprob,
            self.exact.log_probability(leaves, symbol, binary.size),
            made.confidence,
            made.tag_confidence,
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

    def _given(
        self, sentence: Sentence, leaves: Leaves, posterior: Posterior | None, trees: list[tuple[Ints, Ints]]
    ) -> list[Parse]:
        """Trees that were not found by the decoder, with their probabilities."""
        found = []
        for symbol, size in trees:
            nodes = Nodes(symbol, size, _posterior_of(posterior, symbol, size))
            logprob = -np.inf if posterior is None else posterior.logprob
            found.append(Found(nodes, logprob, self._tree_logprob(leaves, nodes)))
        return self._assemble([sentence] * len(trees), found)

    def _tree_logprob(self, leaves: Leaves, nodes: Nodes) -> float:
        return self.exact.log_probability(leaves, nodes.symbol, nodes.size)

    def _decode(self, leaves: Leaves, posterior: Posterior, *, anywhere: bool) -> Nodes:
        if not isinstance(self.decoder, Viterbi):
            return super()._decode(leaves, posterior, anywhere=anywhere)
        symbol, size = self.exact.best(leaves, 1, anywhere=anywhere)[0]
        return Nodes(symbol, size, _posterior_of(posterior, symbol, size))


def _posterior_of(posterior: Posterior | None, symbol: Ints, size: Ints) -> NDArray[np.float64]:
    """The posteriors of the nodes of a tree in preorder."""
    if posterior is None:
        return np.zeros(len(symbol))
    chart = posterior.chart
    width = (size.astype(np.int64) + 1) // 2
    first = np.cumsum(size == 1) - (size == 1)
    cell = (width - 1) * chart.length - (width - 1) * (width - 2) // 2 + first
    cell_of_item = np.repeat(np.arange(len(chart.cell_begin) - 1), np.diff(chart.cell_begin))
    symbols = int(max(symbol.max(), chart.item_symbol.max(initial=0))) + 1
    known = cell_of_item * symbols + chart.item_symbol
    wanted = cell * symbols + symbol
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found = (known[place] == wanted) & (symbol >= 0)
    return np.where(found, np.clip(posterior.item[place], 0.0, 1.0), 0.0)
