"""The parser of a `ChartCRF`: that of its grammar, with the posteriors of the layer.

The grammar prunes, and says what p(sentence) is and which trees obey constraints; then the layer gives the items
and edges of the chart their posteriors anew. Decoders, n-best lists, entropies and marginals take these. Draws
follow the edges by them, which is exact: the layer has no hidden states. A sentence without a parse is put
together from parts by the grammar alone.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.lpcfg.crf.kernels.features import Symbols
from latentgram.lpcfg.crf.kernels.marginals import layer_posteriors, tree_log_share
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.crf.symbols import GrammarSymbols, WordCodes
from latentgram.lpcfg.decoders import Brackets, PhraseDecoder
from latentgram.lpcfg.leaves import Leaves
from latentgram.lpcfg.parse.backend import PhraseBackend, Phrases
from latentgram.lpcfg.parse.cascade import Posterior
from latentgram.lpcfg.parse.pruning import Pruning

Ints = NDArray[np.int32]


class LayerPhrases(Phrases):
    """The posteriors of the layer over a sentence."""

    @property
    def searchable(self) -> bool:
        """Its trees are weighed by features of the whole sentence, not by a grammar."""
        return False

    def tree_logprob(self, symbol: Ints, size: Ints) -> float:
        """log p(sentence) of the grammar and log p(tree | sentence) of the layer."""
        if (symbol < 0).any():
            return -math.inf
        share = tree_log_share(self.chart, self.item, self.edge, symbol, size)
        return self.posterior.logprob + float(share)


class ChartCRFBackend(PhraseBackend):
    """Parses with a `ChartCRF`."""

    def __init__(
        self, model: ChartCRF, decoder: PhraseDecoder | None = None, pruning: Pruning | None = None
    ) -> None:
        super().__init__(model.grammar, decoder or Brackets(), pruning or Pruning())
        self.model = model
        self._codes = WordCodes()

    @cached_property
    def _symbols(self) -> Symbols:
        return GrammarSymbols(self.grammar, self.model.heads).table

    def _analyse(self, sentence: Sentence, known: Constraints | None = None) -> tuple[Leaves, Phrases | None]:
        leaves, phrases = super()._analyse(sentence, known)
        if phrases is None:
            return leaves, None
        weighed = self._weighed(sentence, phrases.posterior)
        return leaves, LayerPhrases(self.cascade, self.table, leaves, weighed, phrases.masks)

    def _weighed(self, sentence: Sentence, posterior: Posterior) -> Posterior:
        """The posteriors of the layer on the chart of the grammar's."""
        item, edge = layer_posteriors(
            posterior.chart,
            posterior.item.astype(np.float32),
            posterior.edge.astype(np.float32),
            self._codes.of(sentence.words),
            self._symbols,
            self.model.trust,
            self.model.weights,
        )
        return posterior._replace(item=item, edge=edge, tensors=None)

    def _tree_logprob(self, leaves: Leaves, phrases: Phrases | None, symbol: Ints, size: Ints) -> float:
        """That of the layer, which knows nothing of a sentence without a parse."""
        return -math.inf if phrases is None else phrases.tree_logprob(symbol, size)
