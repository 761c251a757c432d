"""A `Reranker` by margins over jackknifed n-best lists (Dhillon et al. 2012, section 4.3; Collins & Koo 2005).

The lists that weights are learned from must resemble those of new text. So the treebank is divided into folds,
and the lists of a fold come from a parser, and their scores from generative models, learned from the other folds.
The reranker itself contains a parser and models learned from everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from latentgram.arcs.kernels.reranking import FlatLists, margin_pass
from latentgram.arcs.mira import learn_arcs
from latentgram.arcs.model import ArcFactored, HashedWeights
from latentgram.arcs.nbest import NBestList, TreeScorer, feature_names, nbest_lists
from latentgram.arcs.reranker import BASE, Reranker, template_room
from latentgram.arcs.settings import MIRAArcs, MIRAReranker
from latentgram.arcs.symbols import projective_treebank
from latentgram.arrays import Floats
from latentgram.data.dependencies import DependencyTree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context, Kind, kind_of, kinds
from latentgram.kinds.protocols import Rater
from latentgram.kinds.settings import Settings

Trees = Treebank[DependencyTree]

TEMPLATES = "templates"


def generative() -> dict[str, Kind]:
    """The kinds of models that a reranker can learn by itself, by the names of their features."""
    return {name: kind for kind in kinds().values() for name in kind.rated_by()}


@dataclass(frozen=True, eq=False)
class RatedLists:
    """N-best lists with named ratings of their trees: [k] numbers per list."""

    lists: list[NBestList]
    ratings: dict[str, list[Floats]]

    def __len__(self) -> int:
        return len(self.lists)

    def __add__(self, other: RatedLists) -> RatedLists:
        both = {name: self.ratings[name] + other.ratings[name] for name in self.ratings}
        return RatedLists(self.lists + other.lists, both)

    @classmethod
    def of(cls, lists: list[NBestList], scorers: Mapping[str, TreeScorer]) -> RatedLists:
        """Rate lists; the score of the parser is the rating `base`."""
        if not lists:
            raise DataError("there are no n-best lists to score")
        ratings = {BASE: [candidates.scores - candidates.scores[0] for candidates in lists]}
        for name, scorer in scorers.items():
            columns = [candidates.columns(scorer, name).T for candidates in lists]
            names = feature_names(name, scorer)
            ratings.update(zip(names, map(list, zip(*columns, strict=True)), strict=True))
        return cls(lists, ratings)

    def dense(self, names: Sequence[str]) -> list[Floats]:
        """[k, features] of each list."""
        return [np.stack(columns, axis=1) for columns in zip(*(self.ratings[name] for name in names), strict=True)]


def features_of(scorers: Mapping[str, TreeScorer]) -> tuple[str, ...]:
    """The names of all features of a reranker with these scorers."""
    return (BASE, *(feature for name, scorer in scorers.items() for feature in feature_names(name, scorer)))


Ways = Mapping[str, tuple[str, Settings]]
"""Further models by the names of their features: the kind and the learner of each."""


def learn_generative(
    treebank: Trees, names: Sequence[str], context: Context, ways: Ways | None = None
) -> dict[str, TreeScorer]:
    """The generative models of these names, learned from a treebank; `ways` says how those of other names are."""
    known = {name: (kind, kind.rated_by()[name]) for name, kind in generative().items()}
    known.update({name: (kind_of(kind), (learner,)) for name, (kind, learner) in (ways or {}).items()})
    scorers: dict[str, TreeScorer] = {}
    for name in names:
        models = []
        kind, learners = known[name]
        for learner in learners:
            recipe = kind.recipes[type(learner).__name__]
            settings = learner.settings(recipe.settings_class(), name)
            models.append(cast(Rater, recipe.learn()(treebank, settings, context)))
        scorers[name] = models[0] if len(models) == 1 else tuple(models)
    return scorers


@dataclass(frozen=True)
class _Fold:
    """Makes the rated lists of a fold; a class, so that worker processes can be sent it."""

    base: MIRAArcs
    names: tuple[str, ...]
    count: int
    ways: Ways | None

    def __call__(self, fold: tuple[Trees, Trees]) -> RatedLists:
        rest, held = fold
        parser = learn_arcs(rest, self.base, Context())
        models = learn_generative(rest, self.names, Context(), self.ways)
        return RatedLists.of(nbest_lists(parser, held, self.count), models)


def jackknifed_lists(
    treebank: Trees,
    base: MIRAArcs,
    names: Sequence[str],
    *,
    count: int,
    folds: int,
    context: Context,
    ways: Ways | None = None,
) -> RatedLists:
    """Rated lists of a treebank's own sentences, by models that have not seen them.

    The parsers of the folds are learned without jackknifing of their own.
    """
    if folds < 2 or len(treebank) < folds:
        raise DataError(f"jackknifing needs at least 2 folds with at least one sentence each, got {folds}")
    work = _Fold(replace(base, folds=1), tuple(names), count, ways)
    number = np.arange(len(treebank)) % folds
    parts = (
        (treebank.select(np.flatnonzero(number != fold)), treebank.select(np.flatnonzero(number == fold)))
        for fold in range(folds)
    )
    total: RatedLists | None = None
    for done, lists in enumerate(context.engine.map(work, parts), 1):
        total = lists if total is None else total + lists
        context.progress.step("folds", done, folds)
    assert total is not None
    return total


def learn_weights(
    rated: RatedLists, base: ArcFactored, names: Sequence[str], learner: MIRAReranker, *, templates: bool
) -> tuple[Floats, HashedWeights]:
    """The weights of named ratings and of the templates.

    Ratings are brought to a common spread first; the weights are those of the ratings as they are. The parser's
    own score starts with the weight 1, so that before any step the order is the parser's.
    """
    tags = base.symbols.tags
    dense = np.concatenate(rated.dense(names))
    spread = np.sqrt((dense**2).mean(0))
    spread[spread == 0] = 1.0
    room = template_room(len(tags.alphabet)) if templates else 0
    weights, summed = np.zeros(len(names)), np.zeros(len(names))
    weights[list(names).index(BASE)] = 1.0
    template_weights, template_summed = np.zeros(room), np.zeros(room)
    lists = rated.lists
    flat = FlatLists(
        np.cumsum([0, *map(len, lists)]),
        np.cumsum([0, *(candidates.heads.size for candidates in lists)]),
        np.concatenate([candidates.heads.ravel() for candidates in lists]),
        np.cumsum([0, *(len(candidates.sentence) for candidates in lists)]),
        np.concatenate([tags.encode(candidates.sentence) for candidates in lists]).astype(np.int64),
        dense / spread,
        np.concatenate([candidates.right for candidates in lists]),
        len(tags.alphabet) + 2,
    )
    random, clock = np.random.default_rng(learner.seed), 0.0
    limit = learner.step if learner.rule == "margin" else 0.0
    for _ in range(learner.passes):
        order = random.permutation(len(lists))
        _, clock = margin_pass(order, flat, limit, clock, weights, summed, template_weights, template_summed)
    averaged = (weights - summed / clock) / spread
    return averaged, HashedWeights.of(template_weights - template_summed / clock)


def learn_reranker(trees: Sequence[DependencyTree], learner: MIRAReranker, context: Context) -> Reranker:
    """The recipe: everything from a treebank."""
    treebank, _ = projective_treebank(trees)
    wanted = [name.strip() for name in learner.raters.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in (TEMPLATES, *generative())]
    if unknown:
        known = ", ".join((TEMPLATES, *generative()))
        raise SettingError(f"{unknown[0]!r} is not a feature of trees; known: {known}")
    models = [name for name in wanted if name != TEMPLATES]
    parser = MIRAArcs(order=learner.order)
    rated = jackknifed_lists(treebank, parser, models, count=learner.count, folds=learner.folds, context=context)
    base = learn_arcs(treebank, parser, context)
    scorers = learn_generative(treebank, models, context)
    return train_reranker(rated, base, scorers, learner, templates=TEMPLATES in wanted)


def train_reranker(
    rated: RatedLists,
    base: ArcFactored,
    scorers: Mapping[str, TreeScorer],
    learner: MIRAReranker,
    *,
    templates: bool = True,
) -> Reranker:
    """A reranker from lists rated under the names of its scorers, which may be any functions of a tree."""
    names = features_of(scorers)
    weights, template_weights = learn_weights(rated, base, names, learner, templates=templates)
    return Reranker(base, learner.count, names, weights, tuple(scorers.values()), template_weights)
