"""`Calibrator`: from posteriors to proportions of correct answers, fitted on trees the model has not seen.

A grammar is overconfident: predictions with probability p are correct in f(p) < p of the
cases. f is fitted by isotonic regression, the non-decreasing function of least squared error, and interpolated
linearly between the centres of its steps; it never reverses the order of two posteriors. There is one for
phrases or arcs, one for tags, and one for whole trees: from the expected to the true F1, or proportion of correct
heads.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from latentgram.data.constraints import Constraints
from latentgram.data.invariants import ANY, FINITE, rising, shape
from latentgram.data.tree import Tree
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.result import Parse

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A non-decreasing function: straight lines between points, level beyond the first and the last.

    >>> curve = Curve.fit(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0.0, 0.5, 0.4, 1.0]))
    >>> curve(np.array([0.0, 0.5, 1.0])).round(2)
    array([0.  , 0.45, 1.  ])
    """

    x: Annotated[Floats, shape(ANY), FINITE, rising(strictly=False)]
    y: Annotated[Floats, shape("len(x)"), FINITE]

    @classmethod
    def fit(cls, said: Floats, right: Floats) -> Curve:
        """The curve of least squared error through pairs of what was said and what was right."""
        from scipy.optimize import isotonic_regression  # a third of a second, which no parser needs

        if not len(said):
            return cls(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        order = np.argsort(said, kind="stable")
        said, right = said[order], right[order].astype(np.float64)
        level, first, count = np.unique(said, return_index=True, return_counts=True)
        mean = np.add.reduceat(right, first) / count
        steps = isotonic_regression(mean, weights=count)
        begin = steps.blocks[:-1]
        weight = np.add.reduceat(count, begin)
        return cls(np.add.reduceat(level * count, begin) / weight, np.asarray(steps.x[begin], np.float64))

    def __call__(self, said: Floats) -> Floats:
        """The values of the function; nan stays nan."""
        return np.where(np.isnan(said), np.nan, np.interp(said, self.x, self.y))


@dataclass(frozen=True)
class Calibrator:
    """Curves for phrases or arcs, tags and whole trees, and the digest of the trees they were fitted on."""

    parts: Curve
    tags: Curve
    trees: Curve
    digest: str = ""

    def apply(self, parse: Parse, known: Constraints | None = None) -> Parse:
        """A parse with calibrated posteriors; its probabilities of sentence and tree stay as they are.

        What was asked for stays certain: heads, tags and labelled spans that `known` requires.
        """
        confidence = self.parts(parse.confidence)
        tags = self.tags(parse.tag_confidence)
        required = known or Constraints()
        tags[[word for word, _ in required.tags if not np.isnan(tags[word])]] = 1.0
        if isinstance(parse.tree, Tree):
            over_word = np.array([node.word is not None for node in parse.tree.nodes()])
            confidence[over_word] = tags
            confidence[0] = 1.0 if parse.confidence[0] == 1.0 else confidence[0]
            asked = [(first, end, label) in required.spans for label, first, end in parse.tree.spans()]
            confidence[asked] = 1.0
        else:
            confidence[[word - 1 for word, _ in required.heads]] = 1.0
        expected = float(self.trees(np.array([parse.expected]))[0])
        return dataclasses.replace(parse, confidence=confidence, tag_confidence=tags, expected=expected)

    def apply_to_marginals(self, marginals: Marginals, known: Constraints | None = None) -> Marginals:
        """All posteriors calibrated by the same curves as those of a parse, and with the same certainties."""
        required = known or Constraints()
        spans = [
            (first, end, label, self._part(p, (first, end, label) in required.spans))
            for first, end, label, p in marginals.spans
        ]
        tags = [
            (word, tag, 1.0 if (word, tag) in required.tags else float(self.tags(np.array(p))))
            for word, tag, p in marginals.tags
        ]
        arcs = [(head, word, self._part(p, (word, head) in required.heads)) for head, word, p in marginals.arcs]
        return Marginals(tuple(spans), tuple(tags), tuple(arcs))

    def _part(self, said: float, certain: bool) -> float:
        return 1.0 if certain else float(self.parts(np.array(said)))
