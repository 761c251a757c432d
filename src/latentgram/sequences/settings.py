"""The settings of the recipes of `HMM`, `OperatorAutomaton` and `BackoffNGram`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latentgram.kinds import fields
from latentgram.kinds.groups import Iterated, Seeded, Strings
from latentgram.kinds.settings import Settings

if TYPE_CHECKING:
    from latentgram.data.tag_dictionary import TagDictionary


@dataclass(frozen=True, repr=False)
class Tags(Settings):
    """What tags depend on, and what is kept for what was never seen."""

    order: int = fields.ORDER(2)
    transition_prior: float = fields.TRANSITION_PRIOR(1.0)
    emission_prior: float = fields.EMISSION_PRIOR(0.1)
    unknown: Literal["rarest", "class"] = fields.UNKNOWN_WORDS("rarest")


@dataclass(frozen=True, repr=False)
class CountingHMM(Tags, transition_prior=0.1, emission_prior=0.0):
    """Relative frequencies of tagged text."""


@dataclass(frozen=True, repr=False)
class HiddenTags(Tags, Iterated):
    """Which tags a word may have; without a dictionary they are `states` numbered ones."""

    dictionary: TagDictionary | None = fields.DICTIONARY(None)
    tolerance: float = fields.TOLERANCE(0.0)


@dataclass(frozen=True, repr=False)
class EMHMM(HiddenTags):
    """EM over sentences."""

    states: int | Literal["auto"] = fields.STATES_OR_AUTO(17)
    known_tags: bool = fields.KNOWN_TAGS(False)
    start: Literal["random", "spectral"] = fields.HMM_START("random")
    segments: bool = fields.SEGMENTS(False)


@dataclass(frozen=True, repr=False)
class VariationalHMM(HiddenTags):
    """Smith and Eisner 2012: EM over an approximate corpus."""

    states: int = fields.OPEN_STATES(17)
    window: int | Literal["auto"] = fields.WINDOW("auto")
    lag: int | Literal["auto"] = fields.LAG("auto")
    empty_history: bool = fields.EMPTY_HISTORY(True)
    hard: bool = fields.HARD(False)
    sweeps: int = fields.SWEEPS(1)
    sequential: bool = fields.SEQUENTIAL(False)
    sentences: int = fields.STANDS_FOR(0)
    optimiser: Literal["rounds", "gradient"] = fields.OPTIMISER("rounds")


@dataclass(frozen=True, repr=False)
class EMAutomaton(EMHMM, states=10):
    """An HMM by EM, as operators."""


@dataclass(frozen=True, repr=False)
class CountedPlaces(Strings):
    """What is counted at each place of a sequence: all strings, or the most frequent ones."""

    basis: int = fields.BASIS(0)


@dataclass(frozen=True, repr=False)
class SpectralAutomaton(CountedPlaces):
    """Operators from counted strings."""

    hankel: Literal["places", "string", "prefix", "factor"] = fields.HANKEL("places")
    completion: float = fields.COMPLETION(0.0)


@dataclass(frozen=True, repr=False)
class ClusteringAutomaton(CountedPlaces, Seeded, history=2, future=2, power=0.25, ridge=3.0):
    """Clusters of spectral vectors, counted."""


@dataclass(frozen=True, repr=False)
class CountingNGram(Settings):
    """Relative frequencies of n-grams, smoothed or not."""

    reading: Literal["exclusive", "epsilon", "failure"] = fields.READING("exclusive")
    smoothing: Literal["none", "kneser-ney", "absolute", "katz", "witten-bell"] = fields.SMOOTHING_METHOD("none")
    cutoff: int | tuple[int, ...] = fields.LEAST_COUNT(1)
    entropy: float = fields.ENTROPY(0.0)
