"""The learners: what can be asked of `fit(Model, data, by=learner)`. None means the model's own default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from latentgram.errors import SettingError
from latentgram.kinds.settings import Settings, setting

MOST_STATES = 1024
"""Operators take the square of it for every symbol: more would ask for memory that nobody has."""


@dataclass(frozen=True, repr=False)
class GrammarSettings(Settings):
    """How a treebank becomes binary trees over known words: for learners of grammars."""

    direction: Literal["left", "right", "head"] | None = setting(
        "from where nodes with many children are made binary", choices=("left", "right", "head")
    )
    horizontal: int | None = setting("siblings remembered when nodes are made binary", at_least=0)
    vertical: int | None = setting("labels a node knows on the way up, its own included", at_least=1)
    rare: int | Literal["auto"] | None = setting(
        "words seen at most so often count as words of their form; auto: as the data say", at_least=0, word="auto"
    )


@dataclass(frozen=True, repr=False)
class LatentGrammarSettings(GrammarSettings):
    """What learners of latent-variable grammars share: smoothing, and the features of spectral views."""

    backoff: float | None = setting(
        "constant C of the back-off to estimates without states; 0 for none", at_least=0
    )
    pull: float | None = setting("weight of coarser estimates in the lexicon, in observations", at_least=0)
    features: str | None = setting("set of features of inside and outside trees: simple, paper or full")
    scaling: float | None = setting("constant kappa in the scaling of features", at_least=0)


@dataclass(frozen=True, repr=False)
class HeadSettings(Settings):
    """What the words of a dependency treebank become: for learners of head-automata grammars."""

    symbols: Literal["joined", "upos", "xpos", "words"] | None = setting(
        "what a word is to the grammar: joined (UPOS|XPOS), upos, xpos, or words (with frequent words)",
        choices=("joined", "upos", "xpos", "words"),
    )


@dataclass(frozen=True, repr=False)
class TreeSettings(Settings):
    """What the words of a dependency treebank become: for learners of latent trees."""

    valency: int | None = setting("children on a side that a symbol tells apart, at most", at_least=0)


@dataclass(frozen=True, repr=False)
class BasisSettings(HeadSettings, TreeSettings):
    """For spectral learners of automata: which strings are counted, and how they are weighed."""

    smoothing: float | None = setting("how much is kept for what was never seen; 0 for nothing", at_least=0)
    history: int | None = setting("longest string of past symbols in the basis", at_least=1, at_most=5)
    future: int | None = setting("longest string of next symbols in the basis", at_least=1, at_most=5)
    power: float | None = setting(
        "counts are divided by this power of those of their strings", at_least=0, at_most=1
    )
    ridge: float | None = setting(
        "ridge of the inverse: in units of the noise of a count, for latent trees of the largest singular value",
        at_least=0,
    )
    lexical: float | None = setting("power of the lexical factor of a product; 0 leaves it out", at_least=0)
    distance: float | None = setting("power of the distance factor of a product; 0 leaves it out", at_least=0)


@dataclass(frozen=True, repr=False)
class SequenceSettings(Settings):
    """What tags depend on and which a word may have: for learners of sequence models."""

    order: int | None = setting("2: a tag depends on the one before it; 3: on two", at_least=2, at_most=3)
    dictionary: Any = setting(  # noqa: RUF009
        "the tags that words may have: tagged sentences, as FILE[:COLUMN[:LEAST]], COLUMN counting from the word "
        "at 0 (default 1), words seen less than LEAST times being open (default 5)",
        reader="latentgram.data.tag_dictionary:read_specified",
    )
    transition_prior: float | None = setting("pseudo-count of every transition", at_least=0)
    emission_prior: float | None = setting("pseudo-count of every emission", at_least=0)
    tolerance: float | None = setting("stop when the bound rises by less than this share of itself", at_least=0)

    def resolved(self, defaults: Mapping[str, Any], use: str) -> Self:
        """As for all settings; and tags come from the dictionary or are numbered, not both."""
        if self.dictionary is not None and getattr(self, "states", None) is not None:
            raise SettingError("states has no meaning beside a dictionary, whose tags are the states")
        return super().resolved(defaults, use)


@dataclass(frozen=True, repr=False)
class Counting(GrammarSettings, HeadSettings, SequenceSettings):
    """Relative frequencies of what is observed.

    >>> Counting(memory="first").memory
    'first'
    """

    memory: Literal["none", "first", "kind"] | None = setting(
        "what a head remembers of its modifiers: none, first (was there one), kind (and what was the last)",
        choices=("none", "first", "kind"),
    )
    between: bool | None = setting("whether arcs also see the verbs, commas and conjunctions between their ends")
    reading: Literal["exclusive", "epsilon", "failure"] | None = setting(
        "how n-gram counts become an automaton", choices=("exclusive", "epsilon", "failure")
    )


@dataclass(frozen=True, repr=False)
class Spectral(LatentGrammarSettings, BasisSettings):
    """Hidden states from the singular vectors of moments of the data: one pass, no local optima.

    >>> Spectral(states=16).states
    16
    """

    states: int | None = setting(
        "number of hidden states (of each symbol, at most)", at_least=1, at_most=MOST_STATES
    )
    least: float | None = setting(
        "smallest singular value of a state, in units of the noise of a count", at_least=0
    )
    cutoff: float | None = setting(
        "smallest singular value of a state, as a share of its symbol's largest", at_least=0, at_most=1
    )
    growth: float | None = setting(
        "nodes that a symbol must have for each of its states; 1 for no limit", at_least=1
    )
    search: int | None = setting("grammars tried on held-out data to choose each symbol's states", at_least=0)
    view: Literal["context", "singular", "tree"] | None = setting(
        "what words are seen with: the words around them, the next word, or neighbours in trees",
        choices=("context", "singular", "tree"),
    )
    form: Literal["corrected", "printed"] | None = setting(
        "equations: corrected, or as printed in the paper", choices=("corrected", "printed")
    )


@dataclass(frozen=True, repr=False)
class EM(LatentGrammarSettings, BasisSettings, SequenceSettings):
    """Expectation-maximisation.

    >>> EM(states=8, iterations=0)
    Traceback (most recent call last):
    latentgram.errors.SettingError: EM.iterations must be at least 1, got 0
    """

    states: int | None = setting(
        "number of hidden states (of each symbol, at most)", at_least=1, at_most=MOST_STATES
    )
    iterations: int | None = setting("number of passes over the data", at_least=1)
    seed: int | None = setting("seed of the random start", at_least=0)
    start: Literal["random", "spectral", "clusters"] | None = setting(
        "where to begin: at random states, at the coordinates of spectral vectors or at clusters of them",
        choices=("random", "spectral", "clusters"),
    )
    segments: bool | None = setting("whether equal segments between words of one tag are worked out once (exact)")


@dataclass(frozen=True, repr=False)
class Variational(SequenceSettings):
    """A bound on the likelihood of a distribution over sentences, raised by turns in the tags and the model.

    >>> Variational(states=17, window=2).window
    2
    """

    states: int | None = setting(
        "number of hidden states, where there is no dictionary", at_least=1, at_most=MOST_STATES
    )
    iterations: int | None = setting("number of rounds", at_least=1)
    seed: int | None = setting("seed of the random start, where there is no dictionary", at_least=0)
    window: int | None = setting("1: tags are chosen one by one; 2: given the one before", at_least=1, at_most=2)
    lag: int | None = setting("1: a tag is chosen after seeing the next word; 0: before", at_least=0, at_most=1)
    optimiser: Literal["rounds", "gradient"] | None = setting(
        "rounds of best responses, or L-BFGS on the exact gradient", choices=("rounds", "gradient")
    )


@dataclass(frozen=True, repr=False)
class Clustering(LatentGrammarSettings, BasisSettings):
    """k-means of spectral vectors into hard states, then counting: non-negative by construction.

    >>> Clustering(states=24).states
    24
    """

    states: int | None = setting(
        "number of hidden states (of each symbol, at most)", at_least=1, at_most=MOST_STATES
    )
    seed: int | None = setting("seed of the clustering", at_least=0)
    iterations: int | None = setting("smoothed EM steps after the clustering", at_least=0)
    dimensions: int | None = setting("dimensions of the spectral views that are clustered", at_least=1)


@dataclass(frozen=True, repr=False)
class MIRA(Settings):
    """Online learning by margins: each mistake is mended by the smallest step that mends it; weights averaged.

    >>> MIRA(order=2, passes=8).order
    2
    """

    order: int | None = setting("1: scores of arcs; 2: of arcs and adjacent siblings", at_least=1, at_most=2)
    passes: int | None = setting("number of passes over the data", at_least=1)
    step: float | None = setting("longest step of an update", above=0)
    bits: int | None = setting("features are hashed into 2 to this power buckets", at_least=10, at_most=28)
    rare: int | Literal["auto"] | None = setting(
        "words seen at most so often count as unknown; auto: as the data say", at_least=0, word="auto"
    )
    folds: int | None = setting("parts for jackknifing; 1 for none", at_least=1)
    floor: float | None = setting(
        "second order: least posterior of a head, relative to the likeliest", above=0, at_most=1
    )
    seed: int | None = setting("seed of the order of the sentences", at_least=0)


@dataclass(frozen=True, repr=False)
class Combining(LatentGrammarSettings):
    """Several grammars that differ in learner, features, states and seed, to parse together.

    >>> Combining(members=4).members
    4
    """

    states: int | None = setting(
        "number of hidden states (of each symbol, about)", at_least=1, at_most=MOST_STATES
    )
    members: int | None = setting("number of grammars", at_least=1, at_most=8)
    iterations: int | None = setting("smoothed EM steps after each clustering", at_least=0)
    seed: int | None = setting("seed of the first clustering", at_least=0)


@dataclass(frozen=True, repr=False)
class Perceptron(Settings):
    """Averaged online learning: each sentence moves weights from what the model prefers to what is right.

    >>> Perceptron(passes=5).passes
    5
    """

    passes: int | None = setting("number of passes over the data", at_least=1)
    step: float | None = setting("longest step of an update", above=0)
    seed: int | None = setting("seed of the order of the data", at_least=0)
    order: int | None = setting("order of the base parser whose lists are reranked", at_least=1, at_most=2)
    count: int | None = setting("length of the lists", at_least=2)
    folds: int | None = setting("parts for jackknifing", at_least=2)
    closed: int | None = setting("words seen so often only get tags they were seen with", at_least=1)
    frequent: int | None = setting(
        "features seen so often are weighed for every tag, rarer ones for tags they were seen with", at_least=1
    )
    raters: str | None = setting("what rates trees besides the base parser, with commas")


@dataclass(frozen=True, repr=False)
class Gradient(HeadSettings):
    """Stochastic gradient of a conditional likelihood, with steps that shrink to nothing.

    >>> Gradient(passes=3).passes
    3
    """

    passes: int | None = setting("number of passes over the data", at_least=1)
    step: float | None = setting("length of the first steps", above=0)
    least: int | None = setting("features seen less often are left out", at_least=1)
    rare: int | Literal["auto"] | None = setting(
        "words seen at most so often count as unknown; auto: as the data say", at_least=0, word="auto"
    )
    seed: int | None = setting("seed of the order of the data", at_least=0)
