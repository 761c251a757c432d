"""`fit`: learn a model from data."""

from __future__ import annotations

import dataclasses
import os
import time
import warnings
from collections.abc import Callable, Sized
from typing import TYPE_CHECKING, TypeVar, cast

from latentgram.data.cleaning import EMPTY
from latentgram.data.dependencies import DependencyTree
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds import protocols
from latentgram.kinds.kind import Context, current_name, default_learner, recipe_of
from latentgram.kinds.settings import AUTO, Settings
from latentgram.learn.rare_threshold import choose_threshold
from latentgram.parallel import Engine, engine_for
from latentgram.progress import Progress, Silent

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Model = TypeVar("Model")


def fit(
    model: type[Model],
    data: Sized,
    *,
    by: Settings | None = None,
    dev_score: Callable[[Model], float] | None = None,
    n_jobs: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Model:
    """Learn a model of the given class from data.

    `by` is the learner with its settings, by default the same one as in `latentgram train`; `dev_score` rates
    candidates for learners that choose among them (see `latentgram.accuracy_on`). With `rare="auto"` the learner
    chooses the threshold of rare words from the data. `data` may also be a list of trees.

    >>> import latentgram as lg
    >>> grammar = fit(lg.LPCFG, lg.demo_treebank(20, seed=0), by=lg.Counting())
    >>> grammar.provenance.learner
    'Counting'
    """
    if not isinstance(model, type) or not (by is None or isinstance(by, Settings)):
        raise SettingError("fit needs a class and a learner, as in fit(lg.LPCFG, data, by=lg.Spectral())")
    if by is None:
        by = default_learner(model.__name__)
    if dev_score is not None and not callable(dev_score):
        raise SettingError("dev_score must be a function of a model, such as accuracy_on(treebank)")
    data = _as_data(data)
    learner = current_name(model.__name__, type(by).__name__)
    recipe = recipe_of(model.__name__, learner)
    started = time.perf_counter()
    chosen = {"rare": choose_threshold(data)} if by.said.get("rare") == AUTO else {}
    settings = by.settings(recipe.settings_class(), f"{model.__name__} by {learner}", chosen)
    fields, learn = settings.plain(), recipe.learn()
    judge = cast("Callable[[protocols.Model], float] | None", dev_score)
    context = Context(engine or engine_for(n_jobs), progress or Silent(), judge)
    learned = learn(data, settings, context)
    provenance = dataclasses.replace(
        learned.provenance,
        learner=learner,
        fields=fields,
        data_digest=data.digest if isinstance(data, protocols.Digested) else "",
        data_size=len(data),
        seconds=time.perf_counter() - started,
    )
    return cast(Model, dataclasses.replace(cast("DataclassInstance", learned), provenance=provenance))


def _as_data(data: Sized) -> Sized:
    """What was given, trees in a list or tuple as a treebank."""
    if data is None:
        raise DataError("there are no data to learn from")
    if isinstance(data, str | os.PathLike):
        raise DataError("fit needs data, not a string or a path: read files with Treebank.read or Text.read")
    if isinstance(data, list | tuple) and data and all(isinstance(item, Tree | DependencyTree) for item in data):
        data = Treebank.of(data)
    if isinstance(data, Treebank) and isinstance(data.items, Forest) and EMPTY in data.items.labels.symbols:
        message = f"the trees have empty elements ({EMPTY}), which are learned as words: see Treebank.clean"
        warnings.warn(message, stacklevel=3)
    return data
