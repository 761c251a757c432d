"""`fit`: the one door to learning."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any, TypeVar

from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds import learners
from latentgram.kinds.recipes import Context, recipe_of
from latentgram.kinds.settings import Settings
from latentgram.learn.rare_threshold import AUTO, choose_threshold
from latentgram.parallel import Engine, engine_for
from latentgram.progress import Progress, Silent

Model = TypeVar("Model")


def fit(
    model: type[Model],
    data: Any,
    *,
    by: Settings,
    dev_score: Callable[[Model], float] | None = None,
    n_jobs: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Model:
    """Learn a model of the given class from data.

    `by` is the learner with its settings; `dev_score` rates candidates for learners that choose among them
    (see `latentgram.accuracy_on`). A learner's `rare="auto"` becomes the threshold that the data ask for.
    Trees may come in a list.

    >>> import latentgram as lg
    >>> grammar = fit(lg.LPCFG, lg.demo_treebank(20, seed=0), by=lg.Counting())
    >>> grammar.provenance.learner
    'Counting'
    """
    if not isinstance(model, type) or not isinstance(by, Settings):
        raise SettingError("learning is asked for as fit(lg.LPCFG, data, by=lg.Spectral()): a class and a learner")
    if dev_score is not None and not callable(dev_score):
        raise SettingError("dev_score is a function of a model, such as accuracy_on(treebank)")
    data = _as_data(data)
    recipe = recipe_of(model.__name__, type(by).__name__)
    learner = by.resolved(recipe.defaults, f"{model.__name__} by {type(by).__name__}")
    context = Context(engine or engine_for(n_jobs), progress or Silent(), dev_score)
    started = time.perf_counter()
    if getattr(learner, "rare", None) == AUTO:
        chosen: dict[str, Any] = {"rare": choose_threshold(data)}
        learner = dataclasses.replace(learner, **chosen)
    learned = recipe.load()(data, learner, context)
    known: Provenance = learned.provenance
    provenance = dataclasses.replace(
        known,
        learner=type(by).__name__,
        fields={name: _plain(getattr(learner, name)) for name in recipe.defaults},
        data_digest=getattr(data, "digest", ""),
        data_size=len(data),
        seconds=time.perf_counter() - started,
    )
    fitted: Model = dataclasses.replace(learned, provenance=provenance)
    return fitted


def _as_data(data: Any) -> Any:
    """What was given, trees in a list or tuple as a treebank."""
    if data is None:
        raise DataError("there is nothing to learn from")
    if isinstance(data, list | tuple) and data and all(isinstance(one, Tree | DependencyTree) for one in data):
        return Treebank.of(data)
    return data


def learner_of(kind: str, made_by: Provenance) -> Any:
    """The learner that the provenance of a model of a kind tells of, with its settings.

    >>> import latentgram as lg
    >>> model = lg.fit(lg.SHAG, lg.demo_dependencies(20, seed=0), by=lg.Counting())
    >>> learner_of("SHAG", model.provenance).memory
    'first'
    """
    if not made_by.learner:
        raise SettingError("the model file does not tell how the model was learned")
    recipe_of(kind, made_by.learner)
    settings: Any = getattr(learners, made_by.learner)
    known = {field.name for field in dataclasses.fields(settings)}
    return settings(**{name: value for name, value in made_by.fields.items() if name in known})


def _plain(value: object) -> object:
    """A setting as a model file can keep it: dictionaries and the like by their description."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
