"""The parser of a `ChartCRF`: that of its grammar, with the posteriors of the layer.

The grammar prunes, and determines p(sentence) and which trees satisfy constraints; then the layer computes new
posteriors of the items and edges of the chart. Decoders, n-best lists, entropies and marginals use these. The
layer has no hidden states: samples are drawn edge by edge, which is exact, and `Viterbi` finds the most probable
trees. For a sentence without a parse, the grammar alone builds a tree from parts.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.lpcfg.crf.kernels.marginals import layer_posteriors
from latentgram.lpcfg.crf.kernels.view import Symbols
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.crf.symbols import GrammarSymbols, WordCodes
from latentgram.lpcfg.crf.tags import TagEvidence
from latentgram.lpcfg.decoders import Brackets, EdgewisePhrases, PhraseDecoder, Phrases
from latentgram.lpcfg.parse.backend import PhraseBackend
from latentgram.lpcfg.parse.cascade import Posterior
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.projection import Leaves


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
        return GrammarSymbols(self.grammar, self.model.heads, self.model.templates).table

    @cached_property
    def _evidence(self) -> TagEvidence | None:
        return None if self.model.tagger is None else TagEvidence(self.model.tagger, self.grammar)

    def _analyse(
        self, sentence: Sentence, known: Constraints | None = None, *, limited: bool = True
    ) -> tuple[Leaves, Phrases | None]:
        leaves, phrases = super()._analyse(sentence, known, limited=limited)
        if phrases is None or phrases.posterior.coarse:
            return leaves, phrases
        weighed = self._weighed(sentence, phrases.posterior)
        return leaves, EdgewisePhrases(
            self.cascade, self.table, leaves, weighed, phrases.masks, widened=phrases.widened
        )

    def _weighed(self, sentence: Sentence, posterior: Posterior) -> Posterior:
        """The posteriors of the layer on the chart of the grammar's."""
        chart, item, edge = posterior.chart, posterior.item.astype(np.float32), posterior.edge.astype(np.float32)
        if self._evidence is not None:
            item, edge = self._evidence.reweighed(sentence, chart, item, edge)
        items, edges = layer_posteriors(
            chart,
            item,
            edge,
            self._codes.of(sentence.words),
            self._symbols,
            self.model.trust,
            self.model.weights,
        )
        return posterior._replace(item=items, edge=edges, tensors=None, means=None)
