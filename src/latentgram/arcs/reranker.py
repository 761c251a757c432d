"""`Reranker`: the best of n trees, by the scores of a parser and of other models (Dhillon et al. 2012, §4.3).

    score(y) = Σ_i weight_i · feature_i(y) + Σ of the weights of y's templates (kernels/reranking.py)

The features are named: `base` is the parser's score, the others are log-probabilities of the tree under generative
models, each relative to that of the best tree in the list (see `NBestList.rated_by`). A list of k trees costs k
evaluations of each model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated

import numpy as np

from latentgram.arcs.kernels.reranking import KINDS, score_candidates
from latentgram.arcs.model import ArcFactored, HashedWeights
from latentgram.arcs.nbest import NBestList, TreeScorer, feature_names
from latentgram.arrays import Floats
from latentgram.data.invariants import FINITE, shape, within
from latentgram.data.provenance import Provenance, Summarised
from latentgram.errors import SettingError

BASE = "base"


@dataclass(frozen=True, eq=False, repr=False)
class Reranker(Summarised):
    """A base parser, models that score its trees, and the weights of their scores.

    >>> import latentgram as lg
    >>> trees = lg.demo_dependencies(40, seed=0)
    >>> by = lg.MIRA(order=1, passes=1, folds=2, count=4)
    >>> lg.fit(lg.Reranker, trees, by=by).names[0]
    'base'
    """

    base: ArcFactored
    count: Annotated[int, within(1, 2**20)]
    """The length of the lists."""
    names: tuple[str, ...]
    """The features: `base`, then those of each scorer (see `feature_names`)."""
    weights: Annotated[Floats, shape("len(names)"), FINITE]
    """[features]"""
    scorers: tuple[TreeScorer, ...]
    """Grammars, latent tree models, functions of a tree (which cannot be stored), tuples of such to average, or
    top-down models."""
    templates: HashedWeights
    """Weights of the templates over tags; of size 0 if they are not used."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        names = 1 + sum(len(feature_names("", scorer)) for scorer in self.scorers)
        if not len(self.names) == len(self.weights) == names:
            raise SettingError(
                f"a reranker with these scorers has {names} features with a name and a weight each, "
                f"got {len(self.names)} names and {len(self.weights)} weights"
            )
        if not self.base.projective:
            raise SettingError("a reranker scores projective trees: its base parser must be projective")
        tags = len(self.base.symbols.tags.alphabet)
        if self.templates.size not in (0, template_room(tags)):
            raise SettingError(
                f"the templates of a reranker over {tags} tags have {template_room(tags)} weights, or none, "
                f"got {self.templates.size}: they belong to another parser"
            )

    def features(self, candidates: NBestList) -> Floats:
        """[k, features] of the trees of a list."""
        columns = [(candidates.scores - candidates.scores[0])[:, None]]
        names = iter(self.names[1:])
        for scorer in self.scorers:
            own = list(islice(names, len(feature_names("", scorer))))
            columns.append(candidates.columns(scorer, own[0]))
        return np.concatenate(columns, axis=1)

    def scores(self, candidates: NBestList) -> Floats:
        """[k] the scores of the trees of a list."""
        return self.scored(candidates, self.features(candidates))

    def scored(self, candidates: NBestList, features: Floats) -> Floats:
        """The same, given their features."""
        tags = self.base.symbols.tags
        scores: Floats = score_candidates(
            tags.encode(candidates.sentence).astype(np.int64),
            candidates.heads,
            features,
            self.weights,
            len(tags.alphabet) + 2,
            self.templates.dense,
        )
        return scores

    def weights_by_name(self) -> dict[str, float]:
        """The weight of each feature."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def strongest_templates(self, count: int) -> list[tuple[str, float]]:
        """The templates with the greatest weights in either direction, with their tags."""
        order = np.argsort(-np.abs(self.templates.value), kind="stable")[:count]
        return [(self._name(int(self.templates.bucket[i])), float(self.templates.value[i])) for i in order]

    def _name(self, code: int) -> str:
        tags: Sequence[str] = (*self.base.symbols.tags.alphabet.symbols, "ROOT", "NONE")
        size = len(tags)
        kind, first, second, third = (code // size**power % size for power in (3, 2, 1, 0))
        form = ("{0} ← {1} → {2}", "{0} ← {1} under {2}", "{1} → {0} under {2}")[kind]
        return form.format(tags[first], tags[second], tags[third])

    def summary(self) -> str:
        """One line about the weights."""
        shown = ", ".join(f"{name} {weight:.3g}" for name, weight in self.weights_by_name().items())
        return f"reranker of {self.count} best trees: {shown}; {len(self.templates):,} templates"


def template_room(n_tags: int) -> int:
    """The number of template codes over so many tags, root and none not counted."""
    return KINDS * (n_tags + 2) ** 3
