"""`ArcWeights`: the scores of a first-order parser as a factor of products, `shag * ArcWeights(arcs)`.

The weight of a tree is the product of both, computed exactly and without n-best lists: P(y, x) · exp(scale ·
score(y)). The inside–outside algorithm of shag/kernels/inside_outside.py gives the posteriors of all arcs under
the product. `factor ** power` sets the influence of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from latentgram.arcs.model import ArcFactored
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels.inside_outside import HeadWeights


@dataclass(frozen=True, eq=False, repr=False)
class ArcWeights(HeadGrammar):
    """exp(scale · score) of a parser of order 1, as the weights of a grammar with one state.

    >>> import latentgram as lg
    >>> trees = lg.demo_dependencies(30, seed=0)
    >>> arcs = lg.fit(lg.ArcFactored, trees, by=lg.MIRA(order=1, passes=1))
    >>> product = lg.fit(lg.SHAG, trees, by=lg.Counting()) * lg.ArcWeights(arcs) ** 2
    >>> lg.Parser(product).parse(trees[0].sentence).tree.words == trees[0].words
    True
    """

    parser: ArcFactored
    provenance: Provenance = field(default_factory=Provenance)

    nonnegative = True
    deterministic = True

    def __post_init__(self) -> None:
        if self.parser.order != 1:
            raise SettingError("only a first-order parser scores each arc independently: learn it with order=1")
        if not self.parser.projective:
            raise SettingError(
                "products are defined for projective trees: learn the parser without non_projective"
            )

    def weights(self, sentence: Sentence) -> tuple[HeadWeights, float]:
        """The weights of a sentence's trees.

        Every word has one head, so the greatest score of its heads can be taken out of all trees.
        """
        scores = self.parser.scores(self.parser.encode(sentence)).trees
        scale, greatest = self.parser.scale, np.maximum(scores.root, scores.arc.max(0))
        arc, root = np.exp(scale * (scores.arc - greatest)), np.exp(scale * (scores.root - greatest))
        return HeadWeights.without_states(np.repeat(arc[:, :, None], 2, axis=2), root), scale * float(
            greatest.sum()
        )

    def summary(self) -> str:
        """One line about the size."""
        return f"weights of an {self.parser.summary()}"
