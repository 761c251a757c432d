"""`CompactNGram`: a language model in few bytes, to be stored.

An n-gram is a row of a sorted trie: its last word in ⌈log₂ V⌉ bits, and how many words extend it as that many ones
and a zero, so that prefixes need no pointers. Its log-probability is one of 2^bits values of its order, each of
which stands for equally many n-grams. Suffixes and back-off weights are not stored: the first are found again
order by order, the second are what makes every history sum to one,

    γ(h) = (1 − Σ_{hw kept} p(w | h)) / (1 − Σ_{hw kept} p(w | h′)),

so rounding never breaks the sums. Packing and unpacking cost one sort per order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats, Floats32, Integers, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.invariants import ANY, NONNEGATIVE, Broken, check, holds, rising, shape, within
from latentgram.data.ngrams.arpa import Arpa, logs
from latentgram.data.ngrams.trie import NONE, NGramTrie
from latentgram.data.provenance import Provenance, Summarised
from latentgram.errors import DataError, SettingError
from latentgram.sequences.counting import from_arpa
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.smoothing import failure_weights, sums

Bytes = NDArray[np.uint8]
MOST_BITS = 16
FULL = 1.0 - 1e-6
"""The most that the n-grams of a history may take after rounding: a word more must be possible."""


@dataclass(frozen=True, repr=False)
class CompactNGram(Summarised):
    """A back-off model with rounded probabilities, packed; `expanded` is the model to work with.

    >>> import latentgram as lg
    >>> counts = lg.NGramCounts.of(lg.Text.of(["a rose is a rose", "a rose is red"]), order=2)
    >>> model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="kneser-ney"))
    >>> again = CompactNGram.of(model, bits=10).expanded()
    >>> abs(again.logprob("a rose is red") - model.logprob("a rose is red")) < 0.01
    True
    """

    words: Annotated[Alphabet, holds("len(words) > 0", "lacks the boundary")]
    level: Annotated[
        Ints,
        shape(ANY),
        rising(strictly=False),
        holds("len(level) > 1 and level[0] == 0 and level[1] == len(words)", "does not begin with the words"),
    ]
    """[order + 1] rows `level[k - 1] : level[k]` are those of order k."""
    last_word: Annotated[Bytes, shape("word_bytes")]
    """Last words of the rows from order 2 on, packed."""
    extensions: Annotated[Bytes, shape("extension_bytes")]
    """How many words extend each row below the highest order, in unary: ones and a zero; packed."""
    codes: Annotated[Bytes, shape("code_bytes")]
    """The number of each row's probability among the values of its order, packed."""
    values: Annotated[Floats32, shape("len(level) - 1", "1 << bits"), within(-400, 1)]
    """[order, 2^bits] log₁₀ probabilities."""
    bits: Annotated[int, within(2, MOST_BITS + 1)]
    provenance: Provenance = field(default_factory=Provenance)
    sentences: Annotated[float, NONNEGATIVE] = 1.0
    """How many sentences the model stands for; see `BackoffNGram`."""

    @property
    def word_bytes(self) -> int:
        """How many bytes the last words take."""
        return _bytes(int(self.level[-1] - self.level[1]) * _width(len(self.words)))

    @property
    def extension_bytes(self) -> int:
        """How many bytes the numbers of extensions take."""
        return _bytes(int(self.level[-1] - self.level[1] + self.level[-2]))

    @property
    def code_bytes(self) -> int:
        """How many bytes the numbers of probabilities take."""
        return _bytes(int(self.level[-1]) * self.bits)

    @classmethod
    def of(cls, model: BackoffNGram, bits: int = 10) -> CompactNGram:
        """Pack a model under the failure reading, with 2^bits probabilities per order."""
        if not 2 <= bits <= MOST_BITS:
            raise SettingError(f"probabilities are rounded to 2 to {MOST_BITS} bits, got {bits}")
        arpa = model.arpa()
        trie, size = arpa.trie, 1 << bits
        levels = [slice(begin, end) for begin, end in zip(trie.level[:-1], trie.level[1:], strict=True)]
        coded = [_rounded(arpa.logprob[level], size) for level in levels]
        inner = np.diff(trie.extension)[: trie.level[-2]]
        unary = np.ones(int(inner.sum()) + len(inner), np.uint8)
        unary[np.cumsum(inner + 1) - 1] = 0
        return cls(
            model.words,
            trie.level,
            _packed(trie.word[trie.words :], _width(len(model.words))),
            np.packbits(unary),
            _packed(np.concatenate([code for code, _ in coded]), bits),
            np.array([table for _, table in coded], np.float32),
            bits,
            model.provenance,
            model.sentences,
        )

    def expanded(self) -> BackoffNGram:
        """The model itself."""
        rows, size = int(self.level[-1]), len(self.words)
        word = np.concatenate([np.arange(size), _unpacked(self.last_word, _width(size), rows - size)])
        inner = int(self.level[-2])
        zeros = np.flatnonzero(np.unpackbits(self.extensions)[: rows - size + inner] == 0)
        children = np.diff(zeros, prepend=-1) - 1
        if len(children) != inner or children.sum() != rows - size or word.max() >= size:
            raise DataError("the compact n-grams are inconsistent: the file is damaged")
        prefix = np.concatenate([np.full(size, NONE), np.repeat(np.arange(inner), children)])
        trie = _with_suffixes(self.level, word.astype(np.int32), prefix.astype(np.int32), size)
        try:
            check(trie)  # bits are checked when they are numbers
        except Broken as error:
            raise DataError(f"the compact n-grams are inconsistent: {error}") from None
        code = _unpacked(self.codes, self.bits, rows)
        order = np.repeat(np.arange(len(self.values)), np.diff(self.level))
        prob = 10.0 ** self.values[order, code].astype(np.float64)
        prob /= np.maximum(sums(trie, prob) / FULL, 1.0)[trie.prefix + 1]
        prob[:size] /= prob[:size].sum()
        model = from_arpa(Arpa(self.words, trie, np.log10(prob), logs(failure_weights(trie, prob))))
        return replace(model, provenance=self.provenance, sentences=self.sentences)

    def summary(self) -> str:
        """One line about the size."""
        return (
            f"compact back-off {len(self.level) - 1}-gram model with {int(self.level[-1]):,} n-grams, "
            f"{len(self.words) - 1:,} words and {self.bits} bits per probability"
        )


def _bytes(bits: int) -> int:
    return -(-bits // 8)


def _width(size: int) -> int:
    """How many bits the numbers below a size need."""
    return max(int(size - 1).bit_length(), 1)


def _packed(numbers: Integers, width: int) -> Bytes:
    """Numbers side by side, `width` bits each, the highest first."""
    shifts = np.arange(width - 1, -1, -1)
    parts = [
        ((numbers[begin : begin + _TOGETHER, None].astype(np.int64) >> shifts) & 1).astype(np.uint8).ravel()
        for begin in range(0, len(numbers), _TOGETHER)
    ]
    # Pieces of a multiple of eight numbers end at a byte.
    return np.concatenate([np.zeros(0, np.uint8), *map(np.packbits, parts)])


def _unpacked(packed: Bytes, width: int, size: int) -> Ints:
    weights = (1 << np.arange(width - 1, -1, -1)).astype(np.int64)
    numbers = np.empty(size, np.int64)
    step = _TOGETHER * width // 8
    for piece, begin in enumerate(range(0, size, _TOGETHER)):
        end = min(begin + _TOGETHER, size)
        bits = np.unpackbits(packed[piece * step : (piece + 1) * step])[: (end - begin) * width]
        numbers[begin:end] = bits.reshape(-1, width) @ weights
    return numbers


_TOGETHER = 1 << 16
"""Numbers packed at a time."""


def _rounded(logs: Floats, size: int) -> tuple[Ints, Floats]:
    """The bin of each log-probability, and the logarithm of the mean probability of each bin."""
    distinct, inverse, count = np.unique(logs, return_inverse=True, return_counts=True)
    if len(distinct) <= size:
        table = np.concatenate([distinct, np.zeros(size - len(distinct))])
        return inverse.astype(np.int64), table
    place = ((np.cumsum(count) - 1) * size // len(logs)).astype(np.int64)
    mass, total = (
        np.bincount(place, count * 10.0**distinct, minlength=size),
        np.bincount(place, count, minlength=size),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        table = np.where(total > 0, np.log10(mass / total), 0.0)
    return place[inverse], table


def _with_suffixes(level: Ints, word: Ints32, prefix: Ints32, words: int) -> NGramTrie:
    """The trie: the suffix of a row is the extension of its prefix's suffix by its word."""
    suffix = np.full(len(word), NONE, np.int32)
    keys = prefix.astype(np.int64) * words + word
    if (np.diff(keys[words:]) <= 0).any():
        raise DataError("the compact n-grams are not sorted: the file is damaged")
    for order in range(2, len(level)):
        rows = slice(level[order - 1], level[order])
        if order == 2:
            suffix[rows] = word[rows]
            continue
        below = slice(level[order - 2], level[order - 1])
        wanted = suffix[prefix[rows]].astype(np.int64) * words + word[rows]
        place = np.minimum(
            np.searchsorted(keys[below], wanted), max(int(level[order - 1] - level[order - 2]) - 1, 0)
        )
        if len(wanted) and (keys[below][place] != wanted).any():
            raise DataError("a compact n-gram lacks its parts: the file is damaged")
        suffix[rows] = level[order - 2] + place
    return NGramTrie(level, word, prefix, suffix)
