"""What learners of hidden Markov models share: expected counts of hidden tags, and parameters from counts.

With expected counts C and Dirichlet pseudo-counts κ,

    p(t | s) ∝ C(s, t) + κ,    p(w | t) ∝ C(t, w) + κ':

the maximum of the posterior. Learners differ in where the counts come from: forward–backward over text (em.py), an
approximate corpus (variational.py), tagged text (counting.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.provenance import Provenance
from latentgram.data.tag_dictionary import TagDictionary
from latentgram.data.text import BOUNDARY
from latentgram.sequences.hmm import HMM
from latentgram.sequences.kernels.chain import Chain


@dataclass(frozen=True)
class Emissions:
    """Which tags may emit which words: the shape that learning fills."""

    tags: Alphabet
    words: Alphabet
    start: Ints
    tag: Ints32

    @classmethod
    def of(cls, words: Alphabet, dictionary: TagDictionary) -> Emissions:
        """All that the dictionary allows; words that it lacks may have any tag."""
        return cls(dictionary.tags, words, *dictionary.rows(words))

    def chain(self, numbers: Parameters | Expected) -> Chain:
        """Parameters, or counts, as the kernels take them."""
        return Chain(numbers.transition, self.start, self.tag, numbers.emission)

    @property
    def full(self) -> bool:
        """Whether every tag may emit every word."""
        return len(self.tag) == 1 + (len(self.words) - 1) * (len(self.tags) - 1)


@dataclass(frozen=True)
class Expected:
    """Expected counts of transitions [T^m, T] and of the entries of the emissions; they add."""

    transition: Floats
    emission: Floats
    bound: float = 0.0
    """log p of what was counted under the parameters that were used, or a bound on it."""

    def __add__(self, other: Expected) -> Expected:
        bound = self.bound + other.bound
        return Expected(self.transition + other.transition, self.emission + other.emission, bound)

    def times(self, count: float) -> Expected:
        """The counts of so many copies of what was counted."""
        return Expected(self.transition * count, self.emission * count, self.bound * count)


@dataclass(frozen=True)
class Parameters:
    """p(next tag | last m tags) and p(word | tag) of each entry of the emissions."""

    transition: Floats
    emission: Floats


@dataclass(frozen=True)
class Prior:
    """Pseudo-counts added to expected counts."""

    transition: float = 0.0
    emission: float = 0.0

    def log_density(self, parameters: Parameters) -> float:
        """log of the prior up to a constant, Σ κ log θ over what may be positive."""
        total = 0.0
        if self.transition > 0:
            used = parameters.transition[parameters.transition > 0]
            total += self.transition * float(np.log(used).sum())
        if self.emission > 0:
            total += self.emission * float(np.log(np.maximum(parameters.emission[1:], 1e-300)).sum())
        return total


def uniform(shape: Emissions, order: int, seed: int | None = None) -> Parameters:
    """Constant weights: under them all tags a word may have are equally probable.

    With a seed the emissions are jittered, which an HMM without dictionary needs since its tags begin alike.
    """
    tags = len(shape.tags)
    emission = np.ones(len(shape.tag))
    if seed is not None:
        emission[1:] = np.exp(0.1 * np.random.default_rng(seed).standard_normal(len(emission) - 1))
    return Parameters(np.full((tags ** (order - 1), tags), 1.0 / tags), emission)


def maximise(expected: Expected, shape: Emissions, prior: Prior) -> Parameters:
    """Parameters from expected counts; a history never seen gets equal probabilities."""
    tags = len(shape.tags)
    transition = np.maximum(expected.transition, 0.0) + prior.transition
    last = np.arange(len(transition)) % tags
    if tags < len(transition):
        transition[(last == BOUNDARY) & (np.arange(len(transition)) > 0)] = 0.0
    # No sentence is empty.
    transition[0, BOUNDARY] = 0.0
    total = transition.sum(1, keepdims=True)
    equal = np.where(last == BOUNDARY, 0.0, 1.0 / tags)[:, None]
    if total[0] == 0:
        transition[0, 1:], total[0] = 1.0, tags - 1
    transition = np.where(total > 0, transition / np.where(total > 0, total, 1.0), equal)
    emission = np.maximum(expected.emission, 0.0)
    emission += prior.emission
    if shape.full:
        table = emission[1:].reshape(-1, tags - 1)
        mass = table.sum(0)
        table /= np.where(mass > 0, mass, 1.0)
    else:
        mass = np.bincount(shape.tag, emission, minlength=tags)
        emission /= np.where(mass > 0, mass, 1.0)[shape.tag]
    emission[BOUNDARY] = 1.0
    return Parameters(transition, emission)


def as_hmm(
    parameters: Parameters,
    shape: Emissions,
    word_count: Ints,
    trace: tuple[dict[str, float], ...] = (),
    unknown_words: str = "rarest",
) -> HMM:
    """The finished model. A tag emits unknown words with the weight of the rarest words it may emit.

    Or (`unknown_words="class"`) they are one more word of it, learned from the rarest ones: with m(t) the share of
    these in what the tag emits, p(unknown | t) = m/(1 + m), and all other words are discounted by that. Then p
    sums to one over all sentences whose new words are written as `<unk>`.
    """
    seen = word_count[1:][word_count[1:] > 0]
    rarest = int(seen.min()) if len(seen) else 1
    rare = np.zeros(len(shape.words), np.bool_)
    rare[1:] = word_count[1:] <= rarest
    entries = np.repeat(rare, np.diff(shape.start))
    mass = np.bincount(shape.tag[entries], parameters.emission[entries], minlength=len(shape.tags))
    unknown = np.asarray(mass / max(int(rare.sum()), 1), np.float64)
    emission = parameters.emission
    if unknown_words == "class":
        unknown = mass / (1.0 + mass)
        if not unknown.any():
            unknown[1:] = 1.0 / (len(shape.words) + 1)
        emission = emission * np.where(shape.tag == BOUNDARY, 1.0, 1.0 - unknown[shape.tag])
    if not unknown.any():
        unknown[1:] = 1.0 / len(shape.words)
    return HMM(
        shape.tags, shape.words, parameters.transition, shape.start, shape.tag, emission, unknown,
        Provenance(trace=trace),
    )  # fmt: skip
