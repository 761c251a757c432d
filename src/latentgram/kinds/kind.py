"""The registry: one row (`Kind`) for every kind of model, which is all that the rest of the library knows.

`fit`, `save` and `load`, `Parser`, the commands, the page, the law tests and the tables of the docs use it; no
other place lists kinds. Each family has its rows in its own `kinds.py`. Other packages add theirs by the entry
point group `latentgram.kinds`, whose members are rows or lists of rows, or by calling `register`.

Each capability of a kind is named as "module:name" and imported when it is first used, so reading the rows costs
nothing. An empty field means that the kind cannot do this; the commands, the page and `Parser` report it.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from latentgram.data.provenance import Provenance
from latentgram.errors import LatentgramError, SettingError, UnsupportedPair
from latentgram.kinds.settings import Settings, defaults_of, fields_of
from latentgram.parallel import Engine, InProcess
from latentgram.progress import Progress, Silent

if TYPE_CHECKING:
    from latentgram.kinds.protocols import Inspection, Model, Reader

FAMILIES = ("lpcfg", "shag", "arcs", "latent_tree", "sequences", "tagger", "ud")
"""Our own folders with rows."""
GROUP = "latentgram.kinds"
"""The entry point group of other packages' rows."""
HOW = "you can add your own with latentgram.register (see the guide on extending)"

Updated = TypeVar("Updated", bound="Model")

_ADDED: dict[str, Kind] = {}


def named(reference: str) -> object:
    """What "module:name" stands for.

    >>> named("math:pi")
    3.141592653589793
    """
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Context:
    """What a recipe is given besides data and settings.

    `dev_score` rates a candidate model (higher is better); learners that can stop early use it.
    """

    engine: Engine = field(default_factory=InProcess)
    progress: Progress = field(default_factory=Silent)
    dev_score: Callable[[Model], float] | None = None


@dataclass(frozen=True)
class Reads:
    """What a recipe learns from: its name, how the command line describes such files, and what reads them."""

    name: str
    files: str
    reader: str = "latentgram.learn.reading:read_treebank"
    """A function of the files and the learner."""


PHRASES = Reads("phrases", "bracketed trees")
DEPENDENCIES = Reads("dependencies", "dependency trees")
TEXT = Reads("text", "text", "latentgram.learn.reading:read_text")
TAGGED = Reads("tagged", "tagged text as FILE[:COLUMN], or trees", "latentgram.learn.reading:read_tagged")
TAGGED_OR_TREES = Reads("trees or tagged", TAGGED.files, "latentgram.learn.reading:read_tagged_or_trees")
TEXT_OR_COUNTS = Reads("text or counts", "text or n-gram counts", "latentgram.learn.reading:read_text_or_counts")
CONTEXTS = Reads(
    "contexts",
    "text, tagged text, n-gram counts, or (for --view tree) dependency trees",
    "latentgram.learn.reading:read_contexts",
)
NGRAMS = Reads("n-grams", "n-gram counts, automata or ARPA", "latentgram.learn.reading:read_ngrams")
COUNTS = Reads("counts", "n-gram counts", "latentgram.learn.reading:read_counts")


@dataclass(frozen=True)
class Recipe:
    """How one learner makes one model: `function(data, settings, context) -> model`."""

    function: str
    settings: str
    """The class of its settings."""
    reads: Reads | None = None
    """What it learns from, if not what the kind reads."""
    chooses: bool | str = False
    """Whether it chooses among candidates by a `dev_score`; a name: if that setting is not 0."""
    learner: str = ""
    """The class of the learner, if it is not one of `latentgram.kinds.learners`."""

    def learn(self) -> Callable[[object, Settings, Context], Model]:
        """The learning function."""
        return cast("Callable[[object, Settings, Context], Model]", named(self.function))

    def settings_class(self) -> type[Settings]:
        """The class of its settings."""
        return cast("type[Settings]", named(self.settings))


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    >>> kind_of("ArcFactored").command, list(kind_of("ArcFactored").recipes)
    ('arcs', ['MIRA'])
    """

    model: str
    """The class of the model."""
    reads: Reads
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    """How it is learned, by the name of the learner; the first is the default of the command line."""
    command: str = ""
    """Its name behind `latentgram train`; without one it cannot be trained from there."""
    help: str = ""
    """What it is, in one sentence."""
    use: str = ""
    """What a file of it is good for, if it is not a parser."""
    parts: tuple[str, ...] = ()
    """Further classes that its files may hold."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """What to ask for in place of a learner that cannot make it."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Learners that have another name now."""

    parser: str = ""
    """What parses with it: `Backend` of the model and the decoder (None for its default); see `prunes`."""
    needs_tags: bool = False
    """Whether it sees tags in place of words, so that a tagger belongs to the parser."""
    streams: bool = False
    """Whether it can be learned from trees that stay on the disk."""
    prunes: bool = False
    """Whether its parser takes a `Pruning`, and how many seconds a sentence may take."""
    charted: bool = False
    """Whether p(tree) is that of a distribution over the trees of a chart, so that without pruning it needs all of
    the chart."""
    segmenter: str = ""
    """What cuts raw text into sentences and words in its way: a function of the model."""
    own_tagger: str = ""
    """The `Tagger` that it tags raw text with: a function of the model."""
    tagger: bool = False
    """Whether it gives tags to words."""
    cut_at_blanks: bool = False
    """Whether a word of raw text is to it what stands between blanks, as in the text it is learned from."""
    lookup: str = ""
    """A `SentenceTagger` that looks the tags of a tagger up: a function of the model and an n-gram automaton."""
    scores: Literal["", "sentences", "trees"] = ""
    """What `logprob` of the model is about, for a model that is not a parser (a `Scorer`)."""
    update: str = ""
    """The model after a few more trees, or sentences: a function of model and trees. One that is learned from text
    takes the `weight` of the model, `n_jobs` and `progress`, too."""
    updates: str = ""
    """Whether this model can be updated, a function of it; left empty, all can."""
    inspect: str = ""
    """What there is to see inside: an `Inspection` of the model."""
    reader: str = ""
    """What reads sentences word by word, a function of the model that makes a `Reader` (`exact`, `entropies`)."""
    over: str = ""
    """What its probabilities are of, as in "a distribution over …"; left empty, it has none. A model that may fail
    to be one is a `Distribution`."""
    mass: str = ""
    """[n] the probability of all its sentences, or trees, with 1, 2, … n words: a function of the model and n. The
    model is a `Distribution`, which says whether they sum to at most one."""
    deviation: str = ""
    """Without `mass`: what a model that is not a distribution sums to, in words; a function of the model and n."""
    rates: bool = False
    """Whether it rates the trees of n-best lists (a `Rater`)."""
    raters: str = ""
    """A table of the names under which rerankers learn it by themselves, and by what; several learners are
    averaged."""

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.model.partition(":")[2]

    @property
    def family(self) -> str:
        """The package of the class: kinds of one family share their kernels."""
        return ".".join(self.model.partition(":")[0].split(".")[:2])

    def _with(self, **said: str | bool) -> Kind:
        """The row with more fields said."""
        placed: dict[str, Any] = {name: self._place(value) for name, value in said.items()}
        return replace(self, **placed)

    def _place(self, said: object) -> object:
        """A reference that begins with a point, as in an import, is one into the family."""
        return f"{self.family}{said}" if isinstance(said, str) and said.startswith(".") else said

    def by(
        self,
        learner: str,
        function: str,
        settings: str,
        *,
        reads: Reads | None = None,
        chooses: bool | str = False,
    ) -> Kind:
        """The row with another recipe, whose settings are a class of the family's `settings`.

        >>> row = Kind("latentgram.arcs.model:Model", DEPENDENCIES).by("MIRA", ".mira:learn_arcs", "MIRAArcs")
        >>> row.recipes["MIRA"].function, row.recipes["MIRA"].settings
        ('latentgram.arcs.mira:learn_arcs', 'latentgram.arcs.settings:MIRAArcs')
        """
        recipe = Recipe(str(self._place(function)), f"{self.family}.settings:{settings}", reads, chooses)
        return replace(self, recipes={**self.recipes, learner: recipe})

    def trained(self, command: str, help: str, use: str = "") -> Kind:
        """The row with its name in `latentgram train`."""
        return replace(self, command=command, help=help, use=use)

    def holding(self, *parts: str) -> Kind:
        """The row with other classes that its files may contain."""
        return replace(self, parts=tuple(str(self._place(part)) for part in parts))

    def parsing(self, parser: str, *, needs_tags: bool = False, segmenter: str = "", own_tagger: str = "") -> Kind:
        """The row with the class that parses with the model."""
        return self._with(parser=parser, needs_tags=needs_tags, segmenter=segmenter, own_tagger=own_tagger)

    def about(self, over: str, mass: str = "", *, deviation: str = "") -> Kind:
        """The row with what the model is a distribution over."""
        return self._with(over=over, mass=mass, deviation=deviation)

    def updated(self, update: str, updates: str = "") -> Kind:
        """The row with the function that updates a model with more trees, and the models for which it works."""
        return self._with(update=update, updates=updates)

    def seen(self, inspect: str, reader: str = "") -> Kind:
        """The row with the functions that inspect a model, and that read a sentence word by word."""
        return self._with(inspect=inspect, reader=reader)

    def rating(self, raters: str = "") -> Kind:
        """The row of a model that rates trees, with its names in rerankers."""
        return self._with(rates=True, raters=raters)

    def model_class(self) -> type[Model]:
        """The class itself."""
        return cast("type[Model]", named(self.model))

    def reads_words(self) -> Callable[..., Reader]:
        """The function that makes a `Reader` from it."""
        return cast("Callable[..., Reader]", named(self.reader))

    def rated_by(self) -> Mapping[str, tuple[Settings, ...]]:
        """The learners of each name that rerankers have for it."""
        return cast("Mapping[str, tuple[Settings, ...]]", named(self.raters)) if self.raters else {}

    def inspection(self) -> Callable[[Model], Inspection]:
        """The functions that inspect such a model."""
        return cast("Callable[[Model], Inspection]", named(self.inspect))


def register(*rows: Kind) -> None:
    """Add kinds of models to the registry; a row for an existing model adds its learners to that model.

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
