"""`Surprisal`: how unexpected each word is after the words before it, and how much it says.

    surprisal(x_k) = − log₂ p(x_k | x_0 … x_{k−1}) = log₂ P(x_0 … x_{k−1} …) − log₂ P(x_0 … x_k …)

with prefix probabilities P of the grammar itself, hidden states and all (kernels/prefix.py, latent_prefix.py), P
of nothing being one. After the last word the sentence ends: what is left of P is p(sentence), and −log₂
p(sentence) is the sum of the surprisals of the words and of the end (`ending`). Rules and words, seen and unseen,
are those of the parser (projection.py): it is the same p. Words that the grammar does not know are
those of their form: their surprisal is that of the form. Of an ensemble, whose p(sentence) is the mean of its
grammars', so is P (`mixed` in model.py).

The entropy reduction of a word is by how much it lowers the entropy of the derivation, hidden states and all that
is still to come included, given the words so far (Hale 2006, who counts negative values as zero; prefixes.py).

A plain PCFG is exact. A grammar with hidden states looks only at rules that its one-state projection finds worth
at least `beam`, given the words so far and nothing after them, at symbols worth some times that, and at states
worth a part of it; its P are then lower bounds. `beam=0` is exact. The numbers of a spectral grammar are signed,
and its P no probabilities: a longer prefix may have more than a shorter one, and some come out negative, of which
log |P| is taken, as of p(sentence), and which are counted (`Reading.negative`).

Where the grammar cannot go on, P is 0, and the surprisal of this word and of all later ones would be infinite.
Such a sentence may *break off*: before each word but the first, with the small probability ε, what was begun is
left unfinished and something else begins, whose symbol is drawn by how often it stands anywhere in trees,

    P(x_0 … x_k …) = Σ_{r ≤ k} E(r) (1 − ε)^{k−r} G(r,k),    E(0) = 1,    E(r) = ε P(x_0 … x_{r−1} …),

with G(r,k) the probability that what begins at r begins with x_r … x_k: a sum over all ways to break off. Every
word has a tag, which may begin anywhere, so every surprisal is finite. With ε = 2⁻²⁰ a word that does not fit
costs about 20 bits more than it would without any context. `Reading.broken` tells such sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from latentgram.arrays import Flags, Floats
from latentgram.data.alphabet import ABSENT
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.tokenise import words_of
from latentgram.errors import SettingError, a_or_an
from latentgram.interrupt import pause
from latentgram.kinds.reading import Reading
from latentgram.lpcfg.kernels.latent_inside import LatentLeaves
from latentgram.lpcfg.kernels.latent_prefix import latent_sweep
from latentgram.lpcfg.kernels.prefix import Numbers, WordWeights, sweep
from latentgram.lpcfg.model import LPCFG, Ensemble, mixed
from latentgram.lpcfg.prefixes import SLOPE, LeftCorners, with_slopes
from latentgram.lpcfg.projection import LeafTable, Projection
from latentgram.parallel import Engine, engine_for, shards

BREAK = 2.0**-20
"""How probable it is that a sentence breaks off before a word."""
BEAM = 2e-4
"""What a rule must have of the probability of the words so far."""
COARSE, FINE = 5.0, 0.1
"""What a symbol over words, and what single states must have, in multiples of the beam: a symbol is in many rules,
a rule has many states."""
_BATCH = 16
"""Sentences that a worker gets at a time."""


class Prefixes(NamedTuple):
    """What one grammar says."""

    logs: Floats
    """[n + 1] log |P| of the first 1, 2, … words, and log |p(sentence)|."""
    signs: Floats
    """[n + 1] the signs of these."""
    entropy: Floats


@dataclass(frozen=True)
class Surprisal:
    """Surprisal in bits, word by word.

    It is finite unless `break_off` is 0; then it is infinite from the first word that the grammar cannot derive.

    >>> import latentgram as lg
    >>> bits = Surprisal.of(lg.fit(lg.LPCFG, lg.demo_treebank(100, seed=0), by=lg.Counting()))
    >>> bool(bits("the the sleeps .")[1] > bits("the teacher sleeps .")[1] + 10)
    True
    >>> reading = bits.read("the teacher sleeps .")
    >>> bool(np.isclose(reading.surprisal.sum() + reading.ending, -reading.logprob / np.log(2)))
    True
    """

    grammars: tuple[LPCFG, ...]
    break_off: float = BREAK
    beam: float = BEAM
    """Of grammars with hidden states; 0 is exact."""
    entropies: bool = True
    """Whether entropies are computed, too."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.break_off < 1.0:
            raise SettingError(f"break_off must be at least 0 and below 1, got {self.break_off}")
        if not 0.0 <= self.beam < 1.0:
            raise SettingError(f"beam must be at least 0 and below 1, got {self.beam}")

    @classmethod
    def of(
        cls, model: object, break_off: float = BREAK, *, beam: float = BEAM, entropies: bool = True
    ) -> Surprisal:
        """The surprisal under the model of a parser."""
        grammars = model.grammars if isinstance(model, Ensemble) else (model,)
        kept = tuple(grammar for grammar in grammars if isinstance(grammar, LPCFG))
        if len(kept) < len(grammars):
            raise SettingError(f"surprisal needs an LPCFG, not {a_or_an(type(model).__name__)}")
        return cls(kept, break_off, beam, entropies)

    @property
    def exact(self) -> bool:
        """Whether prefix probabilities are exact, not lower bounds."""
        return self.beam == 0.0 or all(grammar.plain for grammar in self.grammars)

    @property
    def signed(self) -> bool:
        """Whether prefix sums have signed terms and are not probabilities."""
        return not all(grammar.nonnegative for grammar in self.grammars)

    @cached_property
    def corners(self) -> tuple[LeftCorners, ...]:
        """The numbers of each grammar."""
        return tuple(LeftCorners(Projection(LeafTable(g), unseen=not g.plain)) for g in self.grammars)

    def read(self, sentence: SentenceLike) -> Reading:
        """Surprisal, entropies and log p of a sentence; a string is split into words, given tags are used."""
        pause()
        words = words_of(sentence)
        broken = False
        parts = [self.prefixes(corners, words, 0.0) for corners in self.corners]
        if self.break_off > 0.0 and all(np.isneginf(part.logs[-2]) for part in parts):
            broken = True
            parts = [self.prefixes(corners, words, self.break_off) for corners in self.corners]
        logs, signs = mixed([part.logs for part in parts], [part.signs for part in parts])
        return Reading(
            words,
            logs[:-1],
            float(logs[-1]),
            parts[0].entropy if len(parts) == 1 else np.full(len(words) + 1, np.nan),
            self._unknown(words),
            broken,
            int((signs < 0.0).sum()),
        )

    def read_many(
        self, sentences: Iterable[SentenceLike], *, n_jobs: int = 1, engine: Engine | None = None
    ) -> Iterator[Reading]:
        """Process many sentences, in order."""
        for readings in (engine or engine_for(n_jobs)).map(_BatchReader(self), shards(sentences, _BATCH)):
            yield from readings

    def _unknown(self, sentence: Sentence) -> Flags:
        grammar = self.grammars[0]
        symbols = grammar.rare_words.symbols(sentence.words, sentence.tags)
        known = (grammar.words.index(word) != ABSENT and word in grammar.rare_words.known for word in symbols)
        return ~np.fromiter(known, bool, len(symbols))

    def prefixes(self, corners: LeftCorners, sentence: Sentence, break_off: float) -> Prefixes:
        """The prefix probabilities of a sentence, which may break off with some probability, under one grammar."""
        projection = corners.projection
        leaves, index = projection.leaves.of(sentence), projection.index
        # What breaks off leaves something unfinished, so that its derivation has no entropy.
        asked = self.entropies and break_off == 0.0
        start = math.nan
        weight: Numbers = leaves.weight
        if corners.grammar.plain:
            numbers = corners.plain
            if asked and (sloping := corners.plain_slopes) is not None:
                (numbers, start), weight = sloping, with_slopes(leaves.weight)
            chart = sweep(WordWeights(leaves.begin, leaves.symbol, weight), index, numbers, break_off, 0.0)
            value, whole = chart.scale * (1.0 + 1j * chart.slope), chart.whole
        else:
            latent = corners.latent
            if asked and (slopes := corners.latent_slopes) is not None:
                (latent, start), weight = slopes, with_slopes(leaves.weight)
            words = WordWeights(leaves.begin, leaves.symbol, leaves.weight)
            chart = sweep(words, index, corners.plain, break_off, min(COARSE * self.beam, 1.0))
            known = LatentLeaves(leaves.begin, leaves.symbol, leaves.entry, weight)
            fine = self.beam * FINE if corners.grammar.nonnegative else 0.0
            value, whole = latent_sweep(chart, known, index, corners.ways, latent, break_off, self.beam, fine)
        with np.errstate(divide="ignore", invalid="ignore"):
            prefix = np.cumsum(np.log(np.abs(value.real)))
            # The whole is measured, as the last prefix is, by the prefix before it.
            log_whole = np.log(abs(whole)) + np.append(0.0, prefix)[-2] if whole != 0.0 else -np.inf
            entropy = np.append(start, prefix - value.imag / value.real / SLOPE)
        if math.isnan(start):
            entropy[:] = math.nan
        return Prefixes(np.append(prefix, log_whole), np.sign(np.append(value.real, whole)), entropy)

    def prefix_logprobs(self, sentence: SentenceLike) -> Floats:
        """[n] the logarithms of the probabilities of the prefixes."""
        return self.read(sentence).prefix

    def logprob(self, sentence: SentenceLike) -> float:
        """log p(sentence), of the complete sentence."""
        return self.read(sentence).logprob

    def ending(self, sentence: SentenceLike) -> float:
        """The surprisal of the end of the sentence, in bits."""
        return self.read(sentence).ending

    def __call__(self, sentence: SentenceLike) -> Floats:
        """[n] the surprisal of each word, in bits."""
        return self.read(sentence).surprisal


@dataclass(frozen=True)
class _BatchReader:
    """Reads a batch of sentences: what a worker is given."""

    surprisal: Surprisal

    def __call__(self, batch: list[SentenceLike]) -> list[Reading]:
        """The readings, in order."""
        return [self.surprisal.read(sentence) for sentence in batch]


def reader(model: LPCFG | Ensemble, *, exact: bool = False, entropies: bool = True) -> Surprisal:
    """What reads sentences with a grammar or an ensemble: the row of the registry asks for it."""
    return Surprisal.of(model, beam=0.0 if exact else BEAM, entropies=entropies)
