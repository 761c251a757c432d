"""The parser of a `ChartCRF`: that of its grammar, with the posteriors of the layer.

The grammar prunes, and says what p(sentence) is and which trees obey constraints; then the layer gives the items
and edges of the chart their posteriors anew. Decoders, n-best lists, entropies and marginals take these. The layer
has no hidden states: draws follow the edges, which is exact, and `Viterbi` finds the most probable trees. A
sentence without a parse is put together from parts by the grammar alone.
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
from latentgram.lpcfg.decoders import Brackets, PhraseDecoder, parents_of_edges
from latentgram.lpcfg.kernels.chart_trees import k_best_trees
from latentgram.lpcfg.leaves import Leaves
from latentgram.lpcfg.parse.backend import PhraseBackend, Phrases
from latentgram.lpcfg.parse.cascade import Posterior
from latentgram.lpcfg.parse.pruning import Pruning

Ints = NDArray[np.int32]


class LayerPhrases(Phrases):
    """The posteriors of the layer over a sentence."""

    @property
    def searchable(self) -> bool:
        """The trees are not those of a plain PCFG, even where the grammar below the layer is one."""
        return False

    def tree_logprob(self, name: Ints, size: Ints, *, exact: bool = False) -> float:
        """log p(sentence) of the grammar and log p(tree | sentence) of the layer.

        The layer knows nothing of trees that are not in the chart: these have what the grammar gives them.
        """
        share = tree_log_share(self.chart, self.item, self.edge, self.cascade.names.nodes, name, size)
        if share > -math.inf:
            return self.posterior.logprob + float(share)
        return super().tree_logprob(name, size, exact=exact)

    def most_probable(self, count: int) -> tuple[Ints, Ints]:
        """The trees of the greatest log p(root) + Σ log p(edge)/p(parent)."""
        chart, gain = self.chart, np.zeros(len(self.item))
        with np.errstate(divide="ignore"):
            logs, edges = np.log(self.item), np.log(self.edge)
        roots = slice(chart.cell_begin[-2], None)
        gain[roots] = logs[roots]
        shares = np.subtract(
            edges, logs[parents_of_edges(chart)], out=np.full(len(edges), -np.inf), where=edges > -np.inf
        )
        items, sizes = k_best_trees(chart, gain, shares, count)
        return chart.item_symbol[items], sizes


class ChartCRFBackend(PhraseBackend):
    """Parses with a `ChartCRF`."""

    def __init__(
        self,
        model: ChartCRF,
        decoder: PhraseDecoder | None = None,
        pruning: Pruning | None = None,
        limit_seconds: float | None = None,
    ) -> None:
        super().__init__(model.grammar, decoder or Brackets(), pruning, limit_seconds)
        self.model = model
        self._codes = WordCodes()

    @cached_property
    def _symbols(self) -> Symbols:
        return GrammarSymbols(self.grammar, self.model.heads).table

    def _analyse(
        self, sentence: Sentence, known: Constraints | None = None, *, closing: bool = True, limited: bool = True
    ) -> tuple[Leaves, Phrases | None]:
        leaves, phrases = super()._analyse(sentence, known, closing=closing, limited=limited)
        if phrases is None or phrases.posterior.coarse:
            return leaves, phrases
        weighed = self._weighed(sentence, phrases.posterior)
        return leaves, LayerPhrases(
            self.cascade, self.table, leaves, weighed, phrases.masks, widened=phrases.widened
        )

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
