"""Constituency parsing with an `LPCFG`; what a grammar with one state a symbol can do beyond the others.

A plain PCFG is parsed like any other grammar (latent.py), but with the exact posteriors of `OneState`. A tree has
a single derivation in it, so the best trees, draws and the probability of a tree are exact and cheap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.kinds.decoders import Viterbi
from latentgram.kinds.result import Parse
from latentgram.lpcfg.decoders import Goodman
from latentgram.lpcfg.kernels.span_masks import SpanMasks
from latentgram.lpcfg.leaves import Leaves
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.parse.assemble import Nodes
from latentgram.lpcfg.parse.backend import Found, LatentBackend
from latentgram.lpcfg.parse.cascade import Posterior
from latentgram.lpcfg.parse.one_state import OneState
from latentgram.lpcfg.parse.pruning import Pruning

Ints = NDArray[np.int32]


def constituency_backend(model: LPCFG | Ensemble, decoder: Any, pruning: Pruning | None = None) -> LatentBackend:
    """The backend for a grammar or an ensemble of grammars."""
    if isinstance(model, LPCFG) and model.states.max() == 1:
        if pruning is not None:
            raise SettingError("pruning has a meaning for phrase grammars with hidden states only")
        return PlainBackend(model, decoder)
    return LatentBackend(model, decoder, pruning)


class PlainBackend(LatentBackend):
    """Parses with a grammar that has one state a symbol."""

    default_decoder = Goodman()

    def __init__(self, model: LPCFG, decoder: Any = None) -> None:
        super().__init__(model, decoder)
        self.cascade = self.exact = OneState(model)

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The most probable trees, best first."""
        leaves, posterior, masks = self._analyse(sentence, known)
        if posterior is None:
            return self.parse([sentence], [known])
        return self._given(sentence, leaves, posterior, self.exact.best(leaves, count, masks=masks))

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Exact draws from the posterior over trees."""
        leaves, posterior, masks = self._analyse(sentence, known)
        if posterior is None:
            return self.parse([sentence] * count, [known] * count)
        uniforms = np.random.default_rng(seed).random((count, len(sentence)))
        return self._given(sentence, leaves, posterior, self.exact.draw(leaves, uniforms, masks))

    def _given(
        self, sentence: Sentence, leaves: Leaves, posterior: Posterior | None, trees: list[tuple[Ints, Ints]]
    ) -> list[Parse]:
        """Trees that were not found by the decoder, with their probabilities."""
        if posterior is None:
            unknown = [Nodes(symbol, size, np.zeros(self.table.length[symbol].sum())) for symbol, size in trees]
            found = [Found(nodes, -np.inf, -np.inf) for nodes in unknown]
        else:
            labels, length = self._labels(posterior), posterior.chart.length
            found = [self._found(leaves, posterior, self._nodes(labels, length, *tree)) for tree in trees]
        return self._assemble([sentence] * len(trees), found)

    def _tree_logprob(self, leaves: Leaves, posterior: Posterior | None, symbol: Ints, size: Ints) -> float:
        return self.exact.log_probability(leaves, symbol, size)

    def _decode(
        self,
        leaves: Leaves,
        posterior: Posterior,
        *,
        anywhere: bool = False,
        masks: SpanMasks | None = None,
    ) -> Nodes:
        if not isinstance(self.decoder, Viterbi):
            return super()._decode(leaves, posterior, anywhere=anywhere, masks=masks)
        best = self.exact.best(leaves, 1, anywhere=anywhere, masks=masks)[0]
        return self._nodes(self._labels(posterior), posterior.chart.length, *best)
