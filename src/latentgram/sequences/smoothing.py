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
goes to γ.

Order by order, one pass over the n-grams for the counts of counts and one for shares, weights and probabilities,
some whole histories at a time: the columns (data/ngrams/columns.py) may lie on disk, and the estimate is the same
to the last bit. In memory some 200 bytes for each n-gram at the peak, the automaton included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from latentgram.arrays import Flags, Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.ngrams.arpa import Arpa, logs
from latentgram.data.ngrams.columns import (
    BLOCK,
    Column,
    Filled,
    Gathered,
    Held,
    Numbers,
    Rows,
    Space,
    blocks,
    tally,
)
from latentgram.data.ngrams.counts import UNKNOWN, NGramCounts
from latentgram.data.ngrams.trie import NONE, NGramTrie
from latentgram.data.text import END
from latentgram.errors import DataError, SettingError
from latentgram.progress import Progress, Silent

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
    check_smoothing(smoothing)
    if counts.sentences < 1:
        raise DataError("the counts have no sentence boundary, so no sentence ever ends: count with boundaries")
    counts = with_unknown(counts)
    trie = counts.trie
    kept = None if cutoffs is None else _kept(counts, cutoffs)
    estimate = estimated([_rows(counts, order, kept) for order in range(1, trie.order + 1)], smoothing, Space())
    logprob = np.concatenate([logs(column.read(0, len(column)), -np.inf) for column in estimate.prob])
    backoff = np.concatenate([logs(column.read(0, len(column))) for column in estimate.weight])
    if kept is not None:
        rows = np.flatnonzero(kept)
        trie, logprob, backoff = trie.restricted(rows), logprob[rows], backoff[rows]
    return Arpa(counts.words, trie, logprob, backoff, dict(counts.repairs) | estimate.repairs)


def check_smoothing(smoothing: str) -> None:
    """Refuse a method that there is not."""
    if smoothing not in SMOOTHINGS:
        raise SettingError(f"smoothing must be one of {', '.join(SMOOTHINGS)}, got {smoothing!r}")


def _rows(counts: NGramCounts, order: int, kept: Flags | None) -> Rows:
    """The columns of one order."""
    trie = counts.trie
    level = slice(trie.level[order - 1], trie.level[order])
    below = trie.level[order - 2] if order > 1 else 0
    prefix, suffix = (Held((part[level] - below).astype(np.int32)) for part in (trie.prefix, trie.suffix))
    return Rows(prefix, suffix, Held(counts.count[level]), None if kept is None else Held(kept[level]))


@dataclass(frozen=True)
class Estimate:
    """Probabilities and back-off weights of the n-grams of each order, and what was mended on the way."""

    prob: list[Filled]
    weight: list[Filled]
    repairs: dict[str, int]


def estimated(levels: Sequence[Rows], smoothing: str, space: Space, progress: Progress | None = None) -> Estimate:
    """The estimate of counted n-grams, order by order; the columns lie where `space` has them.

    N-grams that are not kept have weights and probabilities that mean nothing.
    """
    method, shown = _METHODS[smoothing], progress or Silent()
    words, top = len(levels[0]), len(levels)
    prob: list[Filled] = []
    weight: list[Filled] = []
    repairs: dict[str, int] = {}
    # Rows are sorted by words, so that those which begin a sentence are the first ones of each order.
    initial = 1
    for order, rows in enumerate(levels, 1):
        own = method.by_histories and order < top
        before, initial = initial, _first_from(rows.prefix, initial) if order > 1 else 1
        raw = initial if order > 1 else 0
        adjusted = _adjusted(rows, levels[order], raw, space, order) if own else rows.count
        amounts = method.amounts(_histogram(adjusted))
        if amounts is None:
            amounts = method.fixed
            repairs[_FIXED_NOTE] = repairs.get(_FIXED_NOTE, 0) + 1
        prob.append(space.column(f"{order}.prob", np.float64, len(rows)))
        if order == 1:
            block = _Block.of_words(rows, adjusted, own)
            share = method.share(block, amounts)
            prob[0].add(share + max(1.0 - float(np.bincount(block.history, share)[0]), 0.0) / words)
            continue
        below = levels[order - 2]
        lower = Gathered(prob[-2], rows.suffix, space)
        weight.append(space.column(f"{order - 1}.weight", np.float64, len(below)))
        for begin, end, first, last in _histories(rows.prefix, len(below)):
            history = rows.prefix.read(begin, end).astype(np.int64) - first
            seen = _Block(
                history,
                rows.count.read(begin, end).astype(np.float64),
                below.count.read(first, last).astype(np.float64),
                adjusted.read(begin, end).astype(np.float64),
                np.arange(first, last) < (before if own else last),
            )
            share = method.share(seen, amounts)
            lower_prob = lower.read(begin, end)
            if rows.kept is not None:
                kept = rows.kept.read(begin, end)
                share, lower_prob = np.where(kept, share, 0.0), np.where(kept, lower_prob, 0.0)
            left = np.maximum(1.0 - seen.sums(share), 0.0)
            if method.backs_off:
                followed = seen.sums(np.ones(len(share)) if rows.kept is None else kept) > 0
                spare = np.maximum(1.0 - seen.sums(lower_prob), 1e-300)
                weight[-1].add(np.where(followed, left / spare, 1.0))
                prob[-1].add(share)
            else:
                weight[-1].add(left)
                prob[-1].add(share + left[history] * lower_prob)
            shown.step(f"estimating order {order}", end, len(rows))
    weight.append(space.column(f"{top}.weight", np.float64, len(levels[-1])))
    for begin, end in blocks(len(levels[-1])):
        weight[-1].add(np.ones(end - begin))
    return Estimate(prob, weight, repairs)


def _histories(prefix: Column, histories: int) -> Iterator[tuple[int, int, int, int]]:
    """Rows `begin : end` that extend the histories `first : last`, all of these; every history is in one part."""
    begin, first, size = 0, 0, len(prefix)
    while first < histories:
        wanted, end, last = BLOCK, size, histories
        while begin + wanted < size:
            part = prefix.read(begin, begin + wanted)
            if part[0] != part[-1]:
                last = int(part[-1])
                end = begin + int(np.searchsorted(part, last))
                break
            wanted *= 2  # a history with more extensions than a part has rows
        yield begin, end, first, last
        begin, first = end, last


def _first_from(prefix: Column, bound: int) -> int:
    """How many rows have a prefix below a bound; rows are sorted by prefix."""
    low, high = 0, len(prefix)
    while low < high:
        middle = (low + high) // 2
        if int(prefix.read(middle, middle + 1)[0]) < bound:
            low = middle + 1
        else:
            high = middle
    return low


def _adjusted(rows: Rows, above: Rows, raw: int, space: Space, order: int) -> Column:
    """Kneser–Ney's counts below the highest order: different words before; of the first `raw` rows the count.

    What was counted but stands behind no word (counts with a cut-off) has one.
    """
    before = tally(above.suffix, len(rows), space)
    adjusted = space.column(f"{order}.adjusted", np.int64, len(rows))
    for begin, end in blocks(len(rows)):
        count, different = rows.count.read(begin, end), before.read(begin, end)
        plain = np.arange(begin, end) < raw
        adjusted.add(np.where(plain, count, np.maximum(different, np.minimum(count, 1))))
    return adjusted


def _histogram(count: Column) -> Floats:
    """How many n-grams have the counts 0 to KATZ_MOST + 1."""
    size = KATZ_MOST + 2
    total = np.zeros(size + 1)
    for begin, end in blocks(len(count)):
        total += np.bincount(_upto(count.read(begin, end), size), minlength=size + 1)
    return total[:size]


@dataclass(frozen=True)
class _Block:
    """Some histories and all their extensions."""

    history: Ints
    """[rows] the history of each."""
    count: Floats
    """[rows]"""
    of_history: Floats
    """[histories] how often they were counted themselves."""
    adjusted: Floats
    """[rows] the counts that Kneser–Ney takes."""
    by_tokens: Flags
    """[histories] whether these are counts of tokens."""

    @classmethod
    def of_words(cls, rows: Rows, adjusted: Column, own: bool) -> _Block:
        """All words: the extensions of the empty history."""
        size = len(rows)
        count, taken = (column.read(0, size).astype(np.float64) for column in (rows.count, adjusted))
        return cls(np.zeros(size, np.int64), count, np.zeros(1), taken, np.array([not own]))

    def sums(self, values: Numbers) -> Floats:
        """[histories] what their extensions sum to."""
        return np.asarray(np.bincount(self.history, values, minlength=len(self.of_history)), np.float64)

    def tokens(self) -> Floats:
        """[histories] the tokens that follow: those of n-grams that fell below a cut-off of the counts do, too."""
        return np.maximum(self.sums(self.count), self.of_history)

    def shares(self, amount: Floats, total: Floats) -> Floats:
        """[rows] an amount of each row as a share of its history's total."""
        return np.asarray(amount / np.maximum(total, 1e-300)[self.history])


@dataclass(frozen=True)
class _Method:
    """How n-grams get shares of their history."""

    share: Callable[[_Block, Floats], Floats]
    amounts: Callable[[Floats], Floats | None]
    """What is taken from counts, by how many n-grams have each; None where they do not say."""
    fixed: Floats
    by_histories: bool = False
    """Whether the lower orders count different histories."""
    backs_off: bool = False
    """Whether an n-gram has its share and no more, and backing off is for those that were not seen."""


def _kneser_ney(block: _Block, discount: Floats) -> Floats:
    total = block.sums(block.adjusted)
    # A history all of whose extensions are counted by tokens has lost those below a cut-off.
    total = np.where(block.by_tokens, np.maximum(total, block.tokens()), total)
    return block.shares(block.adjusted - discount[_upto(block.adjusted, 3)], total)


def _discounts(n: Floats) -> Floats | None:
    """D of adjusted counts 0, 1, 2 and 3 or more."""
    if not n[1:4].all():
        return None
    ratio = n[1] / (n[1] + 2.0 * n[2])
    amounts = np.array([0.0, *(j - (j + 1) * ratio * n[j + 1] / n[j] for j in (1, 2, 3))])
    return amounts if (amounts >= 0).all() and (amounts <= np.arange(4)).all() else None


def _absolute(block: _Block, discount: Floats) -> Floats:
    return block.shares(block.count - np.minimum(block.count, discount[1]), block.tokens())


def _one_discount(n: Floats) -> Floats | None:
    return np.array([0.0, n[1] / (n[1] + 2.0 * n[2])]) if n[1] else None


def _witten_bell(block: _Block, _: Floats) -> Floats:
    """As much is kept for new words as there were different ones."""
    return block.shares(block.count, block.tokens() + block.sums(block.count > 0))


def _katz(block: _Block, factor: Floats) -> Floats:
    tokens = block.tokens()
    share = block.shares(block.count * factor[_upto(block.count, KATZ_MOST + 1)], tokens)
    # Where only large counts follow a history nothing is left for new words: one token more leaves some.
    spent = block.sums(share) > 1.0 - 1e-9
    return np.where(spent[block.history], block.shares(block.count, tokens + 1.0), share)


def _good_turing(n: Floats) -> Floats | None:
    """d of counts 0 to `KATZ_MOST`, and 1 for larger ones."""
    if not n[1:].all():
        return None
    large = (KATZ_MOST + 1) * n[KATZ_MOST + 1] / n[1]
    if large >= 1.0:
        return None
    j = np.arange(1, KATZ_MOST + 1)
    factors = ((j + 1) * n[2:] / (j * n[1:-1]) - large) / (1.0 - large)
    return np.array([1.0, *factors, 1.0]) if (factors > 0).all() and (factors <= 1).all() else None


def _none(_: Floats) -> Floats:
    return np.zeros(0)


_METHODS = {
    "kneser-ney": _Method(_kneser_ney, _discounts, FIXED, by_histories=True),
    "absolute": _Method(_absolute, _one_discount, FIXED),
    "katz": _Method(_katz, _good_turing, FIXED_KATZ, backs_off=True),
    "witten-bell": _Method(_witten_bell, _none, FIXED),
}


def _upto(count: Numbers, most: int) -> Ints:
    """Counts as whole numbers, large ones as `most`."""
    return np.minimum(count, most).astype(np.int64)


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

    def moved(numbers: Ints32) -> Ints32:
        return np.insert(numbers + (numbers >= place), place, NONE).astype(np.int32)

    level = trie.level.copy()
    level[1:] += 1
    word = moved(trie.word)
    word[place] = place
    whole = NGramTrie(level, word, moved(trie.prefix), moved(trie.suffix))
    return replace(counts, words=words, trie=whole, count=np.insert(counts.count, place, 0))


def _kept(counts: NGramCounts, cutoffs: Sequence[int]) -> Flags:
    """Which n-grams reach their cut-off or are part of one that does; unigrams all are kept."""
    trie = counts.trie
    kept = counts.count >= np.repeat(np.asarray(cutoffs), np.diff(trie.level))
    kept[: trie.words] = True
    return trie.closed(kept)
