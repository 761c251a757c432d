"""`ChartCRF`: a discriminative layer over an L-PCFG, a conditional random field over its pruned charts.

The grammar determines the possible constituents of a sentence and their probabilities; the layer sees words, tags
and heads at all boundaries at once, and re-weights the edges of the chart (kernels/marginals.py):

    p(tree | sentence) ∝ q(tree | sentence)^b · exp( Σ w · f ),

where q chooses every edge independently with the grammar's posteriors. So a `ChartCRF` has

    p(sentence)        from the grammar,
    p(tree | sentence) from the layer: that of trees, spans, tags, the entropy and the expected F1.

At w = 0 and b = 1 the posteriors are the grammar's own. If the treebank was small, a tagger helps with sentences
without tags: q then is the grammar's distribution times the tagger's probabilities of the tags (tags.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from latentgram.data.head_rules import HeadRules
from latentgram.data.invariants import ANY, FINITE, NONNEGATIVE, holds, shape
from latentgram.data.provenance import Provenance, Summarised
from latentgram.lpcfg.crf.kernels.view import NARROW
from latentgram.lpcfg.inspect.inspection import GrammarInspection
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.surprisal import Surprisal, reader
from latentgram.tagger.model import Tagger

Floats = NDArray[np.float32]
POWER = "len(weights) > 1 and len(weights) & (len(weights) - 1) == 0"


@dataclass(frozen=True, repr=False)
class ChartCRF(Summarised):
    """A conditional random field over the charts of a grammar.

    >>> import latentgram as lg
    >>> crf = lg.fit(lg.ChartCRF, lg.demo_treebank(40, seed=0), by=lg.Gradient(states=2, passes=1, bits=12))
    >>> parse = lg.Parser(crf).parse("The dog sleeps .")
    >>> parse.tree.words
    ('The', 'dog', 'sleeps', '.')
    """

    grammar: LPCFG | Ensemble
    heads: HeadRules
    """By which features know the heads of constituents."""
    weights: Annotated[Floats, shape(ANY), FINITE, holds(POWER, "is not a power of two long")]
    """[2^bits] of the hashed features."""
    squares: Annotated[Floats, shape("len(weights)"), NONNEGATIVE]
    """[2^bits] how far each weight has been taught: learning goes on from there."""
    trust: Annotated[float, FINITE] = 1.0
    """b, the power of the grammar's posteriors."""
    provenance: Provenance = field(default_factory=Provenance)
    tagger: Tagger | None = None
    """What helps with the tags of sentences that have none."""
    templates: Annotated[int, holds("templates in (1, 2)", "is not a set of features")] = NARROW
    """Which features it has: `NARROW`, as in files of an earlier version, or `WIDE`."""

    def summary(self) -> str:
        """One line on its size."""
        used = int(np.count_nonzero(self.weights))
        beside = "" if self.tagger is None else f"; beside it a {self.tagger.summary()}"
        return f"conditional random field of {used:,} weights over an {self.grammar.summary()}{beside}"

    @property
    def grammars(self) -> tuple[LPCFG, ...]:
        """The grammars whose charts it scores."""
        return self.grammar.grammars if isinstance(self.grammar, Ensemble) else (self.grammar,)


def read_words(model: ChartCRF, *, exact: bool = False, entropies: bool = True) -> Surprisal:
    """What reads sentences word by word: p of words is the grammar's."""
    return reader(model.grammar, exact=exact, entropies=entropies)


def inspection(model: ChartCRF) -> GrammarInspection:
    """The symbols and hidden states of the grammar."""
    return GrammarInspection(model.grammar)
