"""The confidence of a tagger: the scale of its scores with which its posteriors are calibrated.

    argmax_s Σ_words Σ_columns log p_s(whether the predicted tag is right) − c (log s)²,

where the columns are XPOS with UPOS, and FEATS, on sentences that the tagger has not seen. The best tags do not
depend on s; only their posteriors do. A word whose correct tag is not among its candidates counts too. The last
term keeps s near 1 if there are few words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentgram.arrays import Flags
from latentgram.data.sentence import Sentence
from latentgram.tagger.model import Tagger

FITTED = 500
"""Sentences that a scale is fitted to, at most."""
CAUTION = 10.0
"""The weight c."""
SCALES = np.geomspace(0.05, 2.0, 25)
"""The scales to choose from: the sum may have several peaks."""
NEVER = 1e-4
"""No decision is held for more certain than 1 minus this."""


def fitted_scale(tagger: Tagger, unseen: Sequence[Sentence]) -> float:
    """The scale for a tagger with FEATS, by tagged sentences that it was not learned from."""
    tagged = [sentence for sentence in unseen if sentence.tags is not None]
    tagged = tagged[:: max(1, len(tagged) // FITTED)]
    if not tagged:
        return 1.0

    def loss(scale: float) -> float:
        total = CAUTION * float(np.log(scale)) ** 2
        output = tagger.scaled(scale).annotated(tagged)
        for gold, (found, sure) in zip(tagged, output, strict=True):
            tags = sure.together, _same(gold.xpos, found.xpos) & _same(gold.upos, found.upos)
            feats = sure.columns.get("feats"), _same(gold.feats, found.feats)
            for share, right in (tags, feats):
                if share is None:
                    continue
                p = np.clip(np.where(right, share, 1.0 - share), NEVER, 1.0 - NEVER)
                total -= float(np.log(p).sum())
        return total

    return float(min(SCALES, key=loss))


def _same(gold: tuple[str, ...] | None, found: tuple[str, ...] | None) -> Flags:
    """Which entries of a column agree; all of one that either side lacks."""
    if gold is None or found is None:
        return np.ones(1, np.bool_)
    return np.asarray(np.array(gold, object) == np.array(found, object))
