"""The settings of the recipes of `HMM`, `OperatorAutomaton` and `BackoffNGram`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latentgram.kinds import fields
from latentgram.kinds.settings import Settings

if TYPE_CHECKING:
    from latentgram.data.tag_dictionary import TagDictionary


@dataclass(frozen=True, repr=False)
class CountingHMM(Settings):
    """Relative frequencies of tagged text."""

    order: int = fields.ORDER(2)
    transition_prior: float = fields.TRANSITION_PRIOR(0.1)
    emission_prior: float = fields.EMISSION_PRIOR(0.0)
    unknown: Literal["rarest", "class"] = fields.UNKNOWN_WORDS("rarest")


@dataclass(frozen=True, repr=False)
class HiddenTags(Settings):
    """Which tags a word may have; without a dictionary they are `states` numbered ones."""

    dictionary: TagDictionary | None = fields.DICTIONARY(None)
    transition_prior: float = fields.TRANSITION_PRIOR(1.0)
    emission_prior: float = fields.EMISSION_PRIOR(0.1)
    tolerance: float = fields.TOLERANCE(0.0)
    unknown: Literal["rarest", "class"] = fields.UNKNOWN_WORDS("rarest")
    iterations: int = fields.ITERATIONS(40)
    seed: int = fields.SEED(0)


@dataclass(frozen=True, repr=False)
class EMHMM(HiddenTags):
    """EM over sentences."""

    states: int | Literal["auto"] = fields.STATES_OR_AUTO(17)
    known_tags: bool = fields.KNOWN_TAGS(False)
    start: Literal["random", "spectral"] = fields.HMM_START("random")
    order: int = fields.ORDER(2)
    segments: bool = fields.SEGMENTS(False)


@dataclass(frozen=True, repr=False)
class VariationalHMM(HiddenTags):
    """Smith and Eisner 2012: EM over an approximate corpus."""

    states: int = fields.OPEN_STATES(17)
    order: int = fields.ORDER(2)
    window: int | Literal["auto"] = fields.WINDOW("auto")
    lag: int | Literal["auto"] = fields.LAG("auto")
    empty_history: bool = fields.EMPTY_HISTORY(True)
    hard: bool = fields.HARD(False)
    sweeps: int = fields.SWEEPS(1)
    sequential: bool = fields.SEQUENTIAL(False)
    sentences: int = fields.STANDS_FOR(0)
    optimiser: Literal["rounds", "gradient"] = fields.OPTIMISER("rounds")


@dataclass(frozen=True, repr=False)
class EMAutomaton(EMHMM):
    """An HMM by EM, as operators."""

    states: int | Literal["auto"] = fields.STATES_OR_AUTO(10)


@dataclass(frozen=True, repr=False)
class CountedPlaces(Settings):
    """What is counted at each place of a sequence: strings before it and behind it."""

    states: int = fields.STATES(10)
    history: int = fields.HISTORY(1)
    future: int = fields.FUTURE(1)
    basis: int = fields.BASIS(0)
    power: float = fields.POWER(0.0)
    ridge: float = fields.RIDGE(0.0)


@dataclass(frozen=True, repr=False)
class SpectralAutomaton(CountedPlaces):
    """Operators from counted strings."""

    hankel: Literal["places", "string", "prefix", "factor"] = fields.HANKEL("places")
    completion: float = fields.COMPLETION(0.0)


@dataclass(frozen=True, repr=False)
class ClusteringAutomaton(CountedPlaces):
    """Clusters of spectral vectors, counted."""

    history: int = fields.HISTORY(2)
    future: int = fields.FUTURE(2)
    power: float = fields.POWER(0.25)
    ridge: float = fields.RIDGE(3.0)
    seed: int = fields.SEED(0)


@dataclass(frozen=True, repr=False)
class CountingNGram(Settings):
    """Relative frequencies of n-grams, smoothed or not."""

    reading: Literal["exclusive", "epsilon", "failure"] = fields.READING("exclusive")
    smoothing: Literal["none", "kneser-ney", "absolute", "katz", "witten-bell"] = fields.SMOOTHING_METHOD("none")
    cutoff: int | tuple[int, ...] = fields.LEAST_COUNT(1)
    entropy: float = fields.ENTROPY(0.0)
