"""The learners: the argument `by` of `fit(Model, data, by=learner)`. None means the default of the model.

Each has the settings that any of its models accepts; which model accepts which, and the defaults, is determined by
the settings of the recipes (settings.py of each family).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latentgram.errors import SettingError
from latentgram.kinds import fields
from latentgram.kinds.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latentgram.data.tag_dictionary import TagDictionary
    from latentgram.data.text import Text
    from latentgram.kinds.settings import Made
    from latentgram.kinds.word_space import ClusterSpace

Direction = Literal["left", "right", "head"]
Symbols = Literal["joined", "upos", "xpos", "words", "forms"]
Smoothing = Literal["none", "kneser-ney", "absolute", "katz", "witten-bell"]
Rare = int | Literal["auto"]


@dataclass(frozen=True, repr=False)
class _Grammar(Settings):
    """How a treebank becomes binary trees over known words."""

    direction: Direction | None = fields.DIRECTION(None)
    horizontal: int | None = fields.HORIZONTAL(None)
    vertical: int | None = fields.VERTICAL(None)
    rare: Rare | None = fields.RARE(None)
    heads: Literal["learned", "collins", "english"] | None = fields.HEADS(None)


@dataclass(frozen=True, repr=False)
class _LatentGrammar(_Grammar):
    """Smoothing, and the features of spectral views."""

    vectors: ClusterSpace | None = fields.VECTORS_OR_CLUSTERS(None)
    backoff: float | None = fields.BACKOFF(None)
    pull: float | None = fields.PULL(None)
    features: str | None = fields.FEATURES(None)
    scaling: float | None = fields.SCALING(None)


@dataclass(frozen=True, repr=False)
class _CountedStates(_LatentGrammar):
    """A latent grammar whose number of states is said."""

    states: int | None = fields.STATES(None)


@dataclass(frozen=True, repr=False)
class _Heads(Settings):
    """What the words of a dependency treebank become."""

    symbols: Symbols | None = fields.FORMS(None)
    vectors: ClusterSpace | None = fields.VECTORS_OR_CLUSTERS(None)
    clusters: int | None = fields.CLUSTERS(None)


@dataclass(frozen=True, repr=False)
class _Basis(_Heads):
    """Which strings are counted, and how they are weighed."""

    valency: int | None = fields.VALENCY(None)
    smoothing: float | None = fields.SMOOTHING(None)
    history: int | None = fields.HISTORY(None)
    future: int | None = fields.FUTURE(None)
    basis: int | None = fields.BASIS(None)
    power: float | None = fields.POWER(None)
    ridge: float | Literal["auto"] | None = fields.CHOSEN_RIDGE(None)
    deterministic: int | None = fields.DETERMINISTIC(None)
    lexical: float | None = fields.LEXICAL(None)
    distance: float | None = fields.DISTANCE(None)


@dataclass(frozen=True, repr=False)
class _Sequences(Settings):
    """What tags depend on and which a word may have."""

    order: int | None = fields.ORDER(None)
    dictionary: TagDictionary | None = fields.DICTIONARY(None)
    transition_prior: float | None = fields.TRANSITION_PRIOR(None)
    emission_prior: float | None = fields.EMISSION_PRIOR(None)
    tolerance: float | None = fields.TOLERANCE(None)
    unknown: Literal["rarest", "class"] | None = fields.UNKNOWN_WORDS(None)

    def settings(self, wanted: type[Made], use: str, chosen: Mapping[str, object] | None = None) -> Made:
        """As for all learners; and tags come from the dictionary or are numbered, not both."""
        if {"dictionary", "states"} <= self.said.keys():
            raise SettingError("states has no meaning with a dictionary, whose tags are the states")
        return super().settings(wanted, use, chosen)


@dataclass(frozen=True, repr=False)
class Counting(_Grammar, _Heads, _Sequences):
    """Relative frequencies of observed events.

    >>> Counting(memory="first").memory
    'first'
    """

    pull: float | None = fields.PULL(None)
    memory: Literal["none", "first", "kind"] | None = fields.MEMORY(None)
    between: bool | None = fields.BETWEEN(None)
    reading: Literal["exclusive", "epsilon", "failure"] | None = fields.READING(None)
    smoothing: Smoothing | None = fields.SMOOTHING_METHOD(None)
    cutoff: int | tuple[int, ...] | None = fields.LEAST_COUNT(None)
    entropy: float | None = fields.ENTROPY(None)

    def settings(self, wanted: type[Made], use: str, chosen: Mapping[str, object] | None = None) -> Made:
        """As for all learners; and a smoothed model has exact failure arcs, which nothing else has to prune."""
        smooth = self.said.get("smoothing", "none") != "none"
        if smooth and self.said.get("reading", "failure") != "failure":
            raise SettingError(f"a smoothed model has the failure reading and cannot be read as {self.reading}")
        if not smooth and {"cutoff", "entropy"} & self.said.keys():
            raise SettingError(
                "cutoff and entropy prune smoothed models: name a smoothing, or count with a cut-off"
            )
        return super().settings(wanted, use, chosen)


@dataclass(frozen=True, repr=False)
class Spectral(_CountedStates, _Basis):
    """Hidden states from the singular vectors of moments of the data: one pass, no local optima.

    >>> Spectral(states=16).states
    16
    """

    least: float | None = fields.LEAST_VALUE(None)
    cutoff: float | None = fields.CUTOFF(None)
    growth: float | None = fields.GROWTH(None)
    search: int | None = fields.SEARCH(None)
    view: Literal["context", "singular", "lr-mvl", "tree"] | None = fields.VIEW(None)
    form: Literal["corrected", "printed"] | None = fields.FORM(None)
    absolute: bool | None = fields.ABSOLUTE(None)
    lexicon: Literal["forms", "printed"] | None = fields.LEXICON(None)
    lexical_share: float | None = fields.LEXICAL_SHARE(None)
    lexical_cutoff: int | None = fields.LEXICAL_CUTOFF(None)
    noise: float | None = fields.NOISE(None)
    noise_kind: Literal["dropout", "gaussian"] | None = fields.NOISE_KIND(None)
    seed: int | None = fields.SEED(None)
    rank: int | None = fields.RANK(None)
    hankel: Literal["places", "string", "prefix", "factor"] | None = fields.HANKEL(None)
    completion: float | None = fields.COMPLETION(None)

    def settings(self, wanted: type[Made], use: str, chosen: Mapping[str, object] | None = None) -> Made:
        """As for all learners; and each lexicon has its own settings."""
        other = {"pull"} if self.lexicon == "printed" else {"lexical_share", "lexical_cutoff"}
        if unused := sorted(other & self.said.keys()):
            raise SettingError(f"{unused[0]} has no meaning for the lexicon {self.lexicon or 'forms'}")
        return super().settings(wanted, use, chosen)


@dataclass(frozen=True, repr=False)
class EM(_LatentGrammar, _Basis, _Sequences):
    """Expectation-maximisation.

    >>> EM(states=8, iterations=0)
    Traceback (most recent call last):
    latentgram.errors.SettingError: EM.iterations must be at least 1, got 0
    """

    states: int | Literal["auto"] | None = fields.STATES_OR_AUTO(None)
    known_tags: bool | None = fields.KNOWN_TAGS(None)
    iterations: int | None = fields.ITERATIONS(None)
    seed: int | None = fields.SEED(None)
    start: Literal["random", "spectral", "clusters"] | None = fields.START(None)
    segments: bool | None = fields.SEGMENTS(None)


@dataclass(frozen=True, repr=False)
class Variational(_Sequences):
    """Variational EM on a distribution over sentences, such as n-gram counts: raises a bound on the likelihood.

    >>> Variational(states=17, window=2).window
    2
    """

    states: int | None = fields.OPEN_STATES(None)
    iterations: int | None = fields.ROUNDS(None)
    seed: int | None = fields.SEED(None)
    window: int | Literal["auto"] | None = fields.WINDOW(None)
    lag: int | Literal["auto"] | None = fields.LAG(None)
    empty_history: bool | None = fields.EMPTY_HISTORY(None)
    hard: bool | None = fields.HARD(None)
    sweeps: int | None = fields.SWEEPS(None)
    sequential: bool | None = fields.SEQUENTIAL(None)
    sentences: int | None = fields.STANDS_FOR(None)
    optimiser: Literal["rounds", "gradient"] | None = fields.OPTIMISER(None)


@dataclass(frozen=True, repr=False)
class Clustering(_CountedStates, _Basis):
    """k-means of spectral vectors into hard states, then counting: non-negative by construction.

    >>> Clustering(states=24).states
    24
    """

    seed: int | None = fields.SEED(None)
    iterations: int | None = fields.STEPS_AFTER(None)
    dimensions: int | None = fields.DIMENSIONS(None)
    noise: float | None = fields.NOISE(None)
    noise_kind: Literal["dropout", "gaussian"] | None = fields.NOISE_KIND(None)


@dataclass(frozen=True, repr=False)
class Combining(_CountedStates):
    """Several grammars that differ in learner, features, states and seed, for an ensemble.

    >>> Combining(members=4).members
    4
    """

    members: int | None = fields.MEMBERS(None)
    noise: float | None = fields.NOISE(None)
    noise_kind: Literal["dropout", "gaussian"] | None = fields.NOISE_KIND(None)
    iterations: int | None = fields.STEPS_AFTER(None)
    seed: int | None = fields.SEED(None)


@dataclass(frozen=True, repr=False)
class MIRA(Settings):
    """Online large-margin learning: each mistake is corrected by the smallest sufficient step; averaged weights.

    >>> MIRA(order=2, passes=8).order
    2
    """

    order: int | None = fields.ARC_ORDER(None)
    passes: int | None = fields.PASSES(None)
    step: float | None = fields.STEP(None)
    bits: int | None = fields.BITS(None)
    best: int | None = fields.BEST(None)
    rule: Literal["margin", "perceptron"] | None = fields.RULE(None)
    rare: Rare | None = fields.RARE_UNKNOWN(None)
    folds: int | None = fields.FOLDS(None)
    floor: float | None = fields.FLOOR(None)
    non_projective: bool | None = fields.NON_PROJECTIVE(None)
    choose_crossing: bool | None = fields.CHOOSE_CROSSING(None)
    count: int | None = fields.COUNT(None)
    raters: str | None = fields.RATERS(None)
    seed: int | None = fields.SEED(None)


@dataclass(frozen=True, repr=False)
class Gradient(_CountedStates, _Heads):
    """Stochastic gradient ascent on a conditional likelihood, with decreasing steps (AdaGrad).

    >>> Gradient(passes=3).passes
    3
    """

    iterations: int | None = fields.STEPS_AFTER(None)
    members: int | None = fields.MEMBERS(None)
    layers: int | None = fields.LAYERS(None)
    folds: int | None = fields.FOLDS(None)
    margin: float | None = fields.MARGIN(None)
    bits: int | Literal["auto"] | None = fields.LAYER_BITS(None)
    tagger_up_to: int | None = fields.TAGGER_UP_TO(None)
    text: Text | None = fields.RAW_TEXT(None)
    passes: int | None = fields.PASSES(None)
    step: float | None = fields.FIRST_STEP(None)
    least: int | None = fields.LEAST_SEEN(None)
    rare: Rare | None = fields.RARE_UNKNOWN(None)
    closed: int | None = fields.CLOSED(None)
    frequent: int | None = fields.FREQUENT(None)
    feats: bool | None = fields.FEATS(None)
    non_projective: bool | None = fields.NON_PROJECTIVE(None)
    choose_crossing: bool | None = fields.CHOOSE_CROSSING(None)
    seed: int | None = fields.SEED(None)


@dataclass(frozen=True, repr=False)
class Perceptron(Settings):
    """The former name of the learner of taggers (now `Gradient`) and of rerankers (now `MIRA`).

    >>> Perceptron(passes=5).passes
    5
    """

    passes: int | None = fields.PASSES(None)
    step: float | None = fields.STEP(None)
    order: int | None = fields.ARC_ORDER(None)
    count: int | None = fields.COUNT(None)
    folds: int | None = fields.FOLDS(None)
    raters: str | None = fields.RATERS(None)
    closed: int | None = fields.CLOSED(None)
    frequent: int | None = fields.FREQUENT(None)
    seed: int | None = fields.SEED(None)
