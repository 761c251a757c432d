"""Smoothed back-off models from n-gram counts: probability for what was never seen.

Every method gives an n-gram hw a share of its history and hands the rest of the history, γ(h), to h′, the history
without its first word:

    p(w | h) = share(hw) + γ(h) · p(w | h′),    γ(h) = 1 − Σ_w share(hw),    p(w | nothing seen) = 1/|V|

so that each history sums to one, and every word, `<unk>` included, has a probability. With c the count of hw,
N the tokens that follow h, T how many different words do, and n_j how many n-grams of the order have count j:

* `kneser-ney`, modified and interpolated (Chen and Goodman 1998): share = (a − D(a)) / Σ_v a(hv). At the highest
  order a is the count; below it is the number of different words seen before hw, or the count if h begins a
  sentence. D(j) = j − (j + 1) · n₁/(n₁ + 2 n₂) · n_{j+1}/n_j for j = 1, 2 and 3 or more. KenLM's `lmplz` does so.
* `absolute` (Ney, Essen and Kneser 1994): share = (c − D)/N with one D = n₁/(n₁ + 2 n₂) per order.
* `witten-bell` (Witten and Bell 1991): share = c/(N + T), so γ = T/(N + T).
* `katz` (1987): p(w | h) = d_c · c/N for what was seen, and for the rest γ(h) p(w | h′) with the γ that makes the
  sum one. Good and Turing say d_c for c ≤ 5: with r = 6 n₆/n₁, d_c = ((c + 1) n_{c+1}/(c n_c) − r)/(1 − r).

Where the counts of counts give no sound discount (little text, counts with a cut-off) fixed ones are taken, and
`repairs` says so. N-grams below `cutoffs` are left out after the estimation, as `lmplz --prune` does: their share
goes to γ. Cost: a few passes over the n-grams in whole arrays; memory some 200 bytes for each at the peak, the
automaton included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.arpa import Arpa
from latentgram.data.ngrams.counts import UNKNOWN, NGramCounts
from latentgram.data.ngrams.trie import NONE, NGramTrie
from latentgram.data.text import BOUNDARY, END
from latentgram.errors import DataError, SettingError

Floats = NDArray[np.float64]
SMOOTHINGS = ("kneser-ney", "absolute", "katz", "witten-bell")
FIXED = np.array([0.0, 0.5, 1.0, 1.5])
"""Discounts of counts 0, 1, 2 and 3 or more where the data give none."""
KATZ_MOST = 5
"""Larger counts are taken at their word by Good and Turing's estimate."""
FIXED_KATZ = np.array([1.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
_FIXED_NOTE = "orders with fixed discounts"


def smoothed(counts: NGramCounts, smoothing: str, cutoffs: Sequence[int] | None = None) -> Arpa:
    """The smoothed model of n-gram counts, as an ARPA file would say it.

    >>> from latentgram.data.text import Text
    >>> model = smoothed(NGramCounts.of(Text.of(["a rose is a rose", "a rose is red"]), order=2), "witten-bell")
    >>> unigrams = 10 ** model.logprob[: len(model.words)]
    >>> round(float(unigrams.sum()), 12), round(float(unigrams[model.words.index("<unk>")]), 4)
    (1.0, 0.0521)
    """
    if smoothing not in SMOOTHINGS:
        raise SettingError(f"smoothing must be one of {', '.join(SMOOTHINGS)}, got {smoothing!r}")
    if counts.sentences < 1:
        raise DataError("the counts have no sentence boundary, so no sentence ever ends: count with boundaries")
    counts = with_unknown(counts)
    estimate = _Estimate(counts)
    share = {
        "kneser-ney": estimate.kneser_ney,
        "absolute": estimate.absolute,
        "witten-bell": estimate.witten_bell,
        "katz": estimate.katz,
    }[smoothing]()
    trie, rows = counts.trie, np.arange(len(counts.trie))
    if cutoffs is not None:
        rows = np.flatnonzero(_kept(counts, cutoffs))
        trie, share = trie.restricted(rows), share[rows]
    prob, gamma = backed_off(trie, share) if smoothing == "katz" else interpolated(trie, share)
    with np.errstate(divide="ignore"):
        logprob, backoff = np.log10(prob), np.maximum(np.log10(gamma), -99.0)
    backoff[np.diff(trie.extension) == 0] = 0.0
    return Arpa(counts.words, trie, logprob, backoff, dict(counts.repairs) | estimate.repairs)


def interpolated(trie: NGramTrie, share: Floats) -> tuple[Floats, Floats]:
    """Probabilities and back-off weights of shares that every n-gram adds to what its lower history gives it."""
    left = 1.0 - sums(trie, share)
    gamma = np.maximum(left[1:], 0.0)
    prob = share.copy()
    prob[: trie.words] += max(float(left[0]), 0.0) / trie.words
    for order in range(2, trie.order + 1):
        level = slice(trie.level[order - 1], trie.level[order])
        prob[level] += gamma[trie.prefix[level]] * prob[trie.suffix[level]]
    return prob, gamma


def backed_off(trie: NGramTrie, share: Floats) -> tuple[Floats, Floats]:
    """The same where an n-gram has its share and no more: the weights make every history sum to one."""
    prob = share.copy()
    prob[: trie.words] += max(1.0 - float(share[: trie.words].sum()), 0.0) / trie.words
    return prob, failure_weights(trie, prob)


def failure_weights(trie: NGramTrie, prob: Floats) -> Floats:
    """γ(h) = (1 − Σ_{hw kept} p(w | h)) / (1 − Σ_{hw kept} p(w | h′)) of each row, 1 where nothing follows."""
    inner = np.arange(trie.words, len(trie))
    below = np.bincount(trie.prefix[inner], prob[trie.suffix[inner]], minlength=len(trie))
    left = np.maximum(1.0 - sums(trie, prob)[1:], 0.0)
    followed = np.diff(trie.extension) > 0
    return np.where(followed, left / np.maximum(1.0 - below, 1e-300), 1.0)


def sums(trie: NGramTrie, values: Floats) -> Floats:
    """[1 + rows] what the extensions of the empty history, and then of every row, sum to."""
    return np.asarray(np.bincount(trie.prefix + 1, values, minlength=len(trie) + 1), np.float64)


def with_unknown(counts: NGramCounts) -> NGramCounts:
    """The counts with the word `<unk>`, never seen if it was not there; numbers behind its place move up."""
    if UNKNOWN in counts.words:
        return counts
    words = Alphabet((END, *sorted((*counts.words.symbols[1:], UNKNOWN))))
    place = words.index(UNKNOWN)
    trie = counts.trie

    def moved(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.insert(numbers + (numbers >= place), place, NONE).astype(np.int32)

    level = trie.level.copy()
    level[1:] += 1
    word = moved(trie.word)
    word[place] = place
    whole = NGramTrie(level, word, moved(trie.prefix), moved(trie.suffix))
    return replace(counts, words=words, trie=whole, count=np.insert(counts.count, place, 0))


def _kept(counts: NGramCounts, cutoffs: Sequence[int]) -> NDArray[np.bool_]:
    """Which n-grams reach their cut-off or are part of one that does; unigrams all are kept."""
    trie = counts.trie
    kept = counts.count >= np.repeat(np.asarray(cutoffs), np.diff(trie.level))
    kept[: trie.words] = True
    return trie.closed(kept)


class _Estimate:
    """What the methods ask of the counts; every method returns the share of each n-gram in its history."""

    def __init__(self, counts: NGramCounts) -> None:
        self.trie = counts.trie
        self.count = counts.count.astype(np.float64)
        self.repairs: dict[str, int] = {}
        # Tokens of n-grams that fell below a cut-off of the counts still followed their history.
        self.tokens = np.maximum(sums(self.trie, self.count), np.append(0.0, self.count))

    def kneser_ney(self) -> Floats:
        """Modified Kneser–Ney."""
        trie = self.trie
        first = np.where(trie.prefix < 0, trie.word, 0)
        for order in range(2, trie.order + 1):
            level = slice(trie.level[order - 1], trie.level[order])
            first[level] = first[trie.prefix[level]]
        raw = first == BOUNDARY
        raw[: trie.words] = trie.order == 1
        raw[trie.level[-2] :] = True
        before = np.bincount(trie.suffix[trie.words :], minlength=len(trie))
        adjusted = np.where(raw, self.count, np.maximum(before, np.minimum(self.count, 1)))
        total = sums(trie, adjusted)
        # A history all of whose extensions are counted by tokens has lost those below a cut-off.
        counted = np.bincount(trie.prefix + 1, ~raw, minlength=len(trie) + 1) == 0
        total = np.where(counted, np.maximum(total, self.tokens), total)
        discount = np.concatenate(
            [self._discounts(adjusted[level])[_upto(adjusted[level], 3)] for level in self._levels()]
        )
        return self._share(adjusted - discount, total)

    def absolute(self) -> Floats:
        """Absolute discounting, one discount per order."""
        taken = []
        for level in self._levels():
            ones, twos = ((self.count[level] == j).sum() for j in (1, 2))
            if not ones:
                self._note()
            amount = ones / (ones + 2.0 * twos) if ones else FIXED[1]
            taken.append(np.minimum(self.count[level], amount))
        return self._share(self.count - np.concatenate(taken), self.tokens)

    def witten_bell(self) -> Floats:
        """Witten–Bell: as much is kept for new words as there were different ones."""
        different = sums(self.trie, (self.count > 0).astype(np.float64))
        return self._share(self.count, self.tokens + different)

    def katz(self) -> Floats:
        """Katz with Good–Turing discounts."""
        factor = np.concatenate(
            [
                self._katz_factors(self.count[level])[_upto(self.count[level], KATZ_MOST + 1)]
                for level in self._levels()
            ]
        )
        share = self._share(self.count * factor, self.tokens)
        # Where only large counts follow a history nothing is left for new words: one token more leaves some.
        spent = sums(self.trie, share) > 1.0 - 1e-9
        return np.where(spent[self.trie.prefix + 1], self._share(self.count, self.tokens + 1.0), share)

    def _levels(self) -> list[slice]:
        return [slice(begin, end) for begin, end in zip(self.trie.level[:-1], self.trie.level[1:], strict=True)]

    def _share(self, amount: Floats, total: Floats) -> Floats:
        return np.asarray(amount / np.maximum(total, 1e-300)[self.trie.prefix + 1])

    def _note(self) -> None:
        self.repairs[_FIXED_NOTE] = self.repairs.get(_FIXED_NOTE, 0) + 1

    def _discounts(self, adjusted: Floats) -> Floats:
        """D of adjusted counts 0, 1, 2 and 3 or more, for one order."""
        n = [int((adjusted == j).sum()) for j in range(5)]
        if n[1] and n[2] and n[3]:
            ratio = n[1] / (n[1] + 2.0 * n[2])
            amounts = np.array([0.0, *(j - (j + 1) * ratio * n[j + 1] / n[j] for j in (1, 2, 3))])
            if (amounts >= 0).all() and (amounts <= np.arange(4)).all():
                return amounts
        self._note()
        return FIXED

    def _katz_factors(self, count: Floats) -> Floats:
        """d of counts 0 to `KATZ_MOST`, and 1 for larger ones, for one order."""
        n = np.array([(count == j).sum() for j in range(KATZ_MOST + 2)], np.float64)
        if n[1:].all():
            large = (KATZ_MOST + 1) * n[KATZ_MOST + 1] / n[1]
            j = np.arange(1, KATZ_MOST + 1)
            factors = ((j + 1) * n[2:] / (j * n[1:-1]) - large) / (1.0 - large)
            if large < 1.0 and (factors > 0).all() and (factors <= 1).all():
                return np.array([1.0, *factors, 1.0])
        self._note()
        return FIXED_KATZ


def _upto(count: Floats, most: int) -> NDArray[np.int64]:
    """Counts as whole numbers, large ones as `most`."""
    return np.minimum(count, most).astype(np.int64)
