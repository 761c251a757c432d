"""`Kind`: one row of the registry, all that the rest of the library knows of a kind of model.

Whatever a kind can do is named as "module:name" and imported when it is first used, so reading the rows costs
nothing. What is left empty the kind cannot do; the commands, the page and `Parser` say so by themselves.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from latentgram.parallel import Engine, InProcess
from latentgram.progress import Progress, Silent

if TYPE_CHECKING:
    from latentgram.kinds.protocols import Backend, Inspection, Model, Reader
    from latentgram.kinds.settings import Settings


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

    >>> from latentgram.kinds.registry import kind_of
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
    segmenter: str = ""
    """What cuts raw text into sentences and words in its way: a function of the model."""
    own_tagger: str = ""
    """The `Tagger` that it tags raw text with: a function of the model."""
    tagger: bool = False
    """Whether it gives tags to words."""
    scores: Literal["", "sentences", "trees"] = ""
    """What `logprob` of the model is about, for a model that is not a parser (a `Scorer`)."""
    update: str = ""
    """The model after a few more trees: a function of model and trees."""
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
    raters: Mapping[str, tuple[Settings, ...]] = field(default_factory=dict)
    """Names under which rerankers learn it by themselves, and by what; several learners are averaged."""

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.model.partition(":")[2]

    @property
    def family(self) -> str:
        """The package of the class: kinds of one family share their kernels."""
        return ".".join(self.model.partition(":")[0].split(".")[:2])

    def model_class(self) -> type[Model]:
        """The class itself."""
        return cast("type[Model]", named(self.model))

    def backend(self) -> Callable[..., Backend]:
        """The class that parses with this kind of model."""
        return cast("Callable[..., Backend]", named(self.parser))

    def reads_words(self) -> Callable[..., Reader]:
        """The function that makes a `Reader` from it."""
        return cast("Callable[..., Reader]", named(self.reader))

    def inspection(self) -> Callable[[Model], Inspection]:
        """The functions that inspect such a model."""
        return cast("Callable[[Model], Inspection]", named(self.inspect))
