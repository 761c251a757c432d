"""The registry: every kind of model that there is, one row each.

`fit`, `save` and `load`, `Parser`, the commands, the page, the law tests and the tables of the docs ask here; no
other place lists kinds. Each family has its rows in its own `kinds.py`. Other packages add theirs by the entry
point group `latentgram.kinds`, whose members are rows or lists of rows, or by calling `register`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar, cast

from latentgram.data.provenance import Provenance
from latentgram.errors import LatentgramError, SettingError, UnsupportedPair
from latentgram.kinds.kind import Kind, Recipe, named
from latentgram.kinds.settings import Settings, defaults_of, fields_of

if TYPE_CHECKING:
    from latentgram.kinds.protocols import Model

FAMILIES = ("lpcfg", "shag", "arcs", "latent_tree", "sequences", "tagger", "ud")
"""Our own folders with rows."""
GROUP = "latentgram.kinds"
"""The entry point group of other packages' rows."""
HOW = "you can add your own with latentgram.register (see the guide on extending)"

Updated = TypeVar("Updated", bound="Model")

_ADDED: dict[str, Kind] = {}


def register(*rows: Kind) -> None:
    """Add kinds of models to the registry; a row for an existing model adds its learners to that model.

    >>> from latentgram.kinds.kind import PHRASES
    >>> register(Kind("mine.grammar:MyGrammar", PHRASES))
    >>> kind_of("MyGrammar").reads.name
    'phrases'
    """
    for kind in rows:
        _ADDED[kind.name] = _joined(_ADDED.get(kind.name), kind)
    kinds.cache_clear()


def _joined(known: Kind | None, kind: Kind) -> Kind:
    """A row with the recipes of another one of the same model."""
    if known is None:
        return kind
    if known.model != kind.model:
        raise LatentgramError(f"there are two kinds named {kind.name}: {known.model} and {kind.model}")
    parts = dict.fromkeys((*known.parts, *kind.parts))
    return replace(known, recipes={**known.recipes, **kind.recipes}, parts=tuple(parts))


@cache
def _installed() -> dict[str, Kind]:
    """The rows of our families and of installed packages."""
    rows: list[Kind] = []
    for family in FAMILIES:
        rows += importlib.import_module(f"latentgram.{family}.kinds").KINDS
    for point in entry_points(group=GROUP):
        try:
            loaded = cast("Kind | Iterable[Kind]", point.load())
        except Exception as error:
            warnings.warn(f"the kinds of {point.value} cannot be loaded: {error}", stacklevel=2)
            continue
        rows += [loaded] if isinstance(loaded, Kind) else loaded
    known: dict[str, Kind] = {}
    for kind in rows:
        known[kind.name] = _joined(known.get(kind.name), kind)
    return known


@cache
def kinds() -> Mapping[str, Kind]:
    """All rows by the names of their models.

    >>> "LPCFG" in kinds()
    True
    """
    known = dict(_installed())
    for name, kind in _ADDED.items():
        known[name] = _joined(known.get(name), kind)
    return known


def kind_of(model: object) -> Kind:
    """The row of a model, of its class or of its name.

    >>> kind_of("Tagger").tagger
    True
    """
    name = model if isinstance(model, str) else (model if isinstance(model, type) else type(model)).__name__
    known = kinds()
    if name not in known:
        raise UnsupportedPair(f"there is no kind of model {name}; known: {', '.join(sorted(known))}; {HOW}")
    return known[name]


def find_kind(model: object) -> Kind | None:
    """The row of a model or class, None if there is none."""
    return kinds().get((model if isinstance(model, type) else type(model)).__name__)


def recipe_of(model: str, learner: str) -> Recipe:
    """The recipe of a pair, or an error that lists what there is.

    >>> recipe_of("LPCFG", "Magic")
    Traceback (most recent call last):
    latentgram.errors.UnsupportedPair: there is no recipe for LPCFG by Magic; ...
    """
    kind, learner = kinds().get(model), current_name(model, learner)
    if kind is not None and learner in kind.recipes:
        return kind.recipes[learner]
    if kind is None or not kind.recipes:
        known = f"nothing learns {model}"
    else:
        known = f"{model} can be learned by {', '.join(kind.recipes)}"
        if learner in kind.instead:
            known += f"; {kind.instead[learner]}"
    raise UnsupportedPair(f"there is no recipe for {model} by {learner}; {known}; {HOW}")


def current_name(model: str, learner: str) -> str:
    """The name of a learner; if it is a former one of what learns this model, with a warning."""
    kind = kinds().get(model)
    if kind is None or learner not in kind.renamed:
        return learner
    now = kind.renamed[learner]
    warnings.warn(
        f"{model} is learned by {now}: its former name {learner} is deprecated", FutureWarning, stacklevel=2
    )
    return now


def learner_class(model: str, learner: str) -> type[Settings]:
    """The class of a learner of a model.

    >>> learner_class("LPCFG", "Spectral").__name__
    'Spectral'
    """
    name = current_name(model, learner)
    return cast(type[Settings], named(recipe_of(model, name).learner or f"latentgram.kinds.learners:{name}"))


def default_learner(model: str) -> Settings:
    """The learner that a model has if none is named: the first of its row, with default settings.

    >>> default_learner("LPCFG")
    Clustering()
    """
    kind = kind_of(model)
    if not kind.recipes:
        raise UnsupportedPair(f"there is no learner for {model}; {HOW}")
    return learner_class(model, next(iter(kind.recipes)))()


def learner_of(model: str, made_by: Provenance) -> Settings:
    """The learner that the provenance of a model tells of, with its settings.

    >>> import latentgram as lg
    >>> model = lg.fit(lg.SHAG, lg.demo_dependencies(20, seed=0), by=lg.Counting())
    >>> learner_of("SHAG", model.provenance)
    Counting()
    """
    learner = _learner_class_of(model, made_by)
    known, usual = fields_of(learner), defaults_of(recipe_of(model, learner.__name__).settings_class())
    # A file keeps all settings, some of which exclude each other if they are said: what is usual goes unsaid.
    told = {name: value for name, value in made_by.fields.items() if name in known and value is not None}
    said = {name: value for name, value in told.items() if value != usual.get(name)}
    if described := [name for name in said if known[name].reader]:
        raise SettingError(f"the model was learned with {described[0]}, which its file does not contain: use fit")
    return learner(**said)


def _learner_class_of(model: str, made_by: Provenance) -> type[Settings]:
    if not made_by.learner:
        raise SettingError("the model file does not say how the model was learned")
    return learner_class(model, kind_of(model).renamed.get(made_by.learner, made_by.learner))


def settings_of(model: str, made_by: Provenance) -> Settings:
    """The settings that the provenance of a model tells of, without what was read from other files."""
    recipe = recipe_of(model, _learner_class_of(model, made_by).__name__)
    known = {name for name, field in fields_of(recipe.settings_class()).items() if not field.reader}
    said = {name: value for name, value in made_by.fields.items() if name in known and value is not None}
    return recipe.settings_class()(**said)


def updates(model: Model) -> bool:
    """Whether a model learns more trees at once.

    >>> import latentgram as lg
    >>> updates(lg.fit(lg.SHAG, lg.demo_dependencies(20, seed=0), by=lg.Counting()))
    True
    """
    kind = find_kind(model)
    if kind is None or not kind.update:
        return False
    return not kind.updates or bool(cast("Callable[[Model], bool]", named(kind.updates))(model))


def update_model(model: Updated, items: Sequence[object]) -> Updated:
    """The model after learning from more trees or tagged sentences, each kind in its way."""
    kind = kind_of(model)
    if not kind.update:
        raise UnsupportedPair(f"{kind.name} cannot be updated: learn it again from all trees")
    return (
        cast("Callable[[Updated, Sequence[object]], Updated]", named(kind.update))(model, items)
        if items
        else model
    )
