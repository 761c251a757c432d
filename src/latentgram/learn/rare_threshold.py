"""The threshold of rare words chosen from the data: the setting `rare="auto"` of a learner.

A word seen at most θ times is replaced by its class. A small θ trusts words with too few observations,
a large one discards what words tell. So θ is the candidate with which one half of the trees best predicts the
other half: for each half in turn, with p counted on it and smoothed, the sum over the words of the other of

    log p(tag | symbol)                   for phrases: the symbol is the word, or the signature of a rare one
    log p(tag of the head | symbol, tag)  for dependencies: it is the word, or one that all rare words share

    p(y | c, s) = (n(c, s, y) + p(y | c)) / (n(c, s) + 1),    p(y | c) = (n(c, y) + p(y)) / (n(c) + 1).

The largest sum wins, the smaller threshold on a tie. O(words) for each candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.forest import Forest
from latentgram.data.rarewords import RareWords
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import DataError

Events = tuple[Ints, Ints, Ints]
"""The context, symbol and outcome at every word."""

_PRIOR = 1e-3


def choose_threshold(treebank: Any, candidates: Sequence[int] | None = None) -> int:
    """How often a word of these trees may be seen and still be rare.

    The candidates are 1, 2, 3, 5, 8 and 12; for dependencies, where a rare word still shows its tag, 0 too.

    >>> from latentgram.data.demo import demo_treebank
    >>> choose_threshold(demo_treebank(300, seed=0))
    1
    """
    bank = treebank if isinstance(treebank, Treebank) else Treebank.of(treebank)
    if not len(bank):
        raise DataError("there are no trees from which to choose the threshold of rare words")
    if bank.kind not in (CONSTITUENCY, DEPENDENCY):
        raise DataError(f"the threshold of rare words is chosen from trees, not from {bank.kind} sentences")
    foretold, usual = (
        (_tags_foretold, (1, 2, 3, 5, 8, 12))
        if bank.kind == CONSTITUENCY
        else (_heads_foretold, (0, 1, 2, 3, 5, 8, 12))
    )
    even, odd = (bank.select(np.arange(len(bank))[parity::2]) for parity in (0, 1))
    ascending = sorted(candidates or usual)
    sums = [foretold(even, odd, threshold) + foretold(odd, even, threshold) for threshold in ascending]
    return ascending[int(np.argmax(sums))]


def _tags_foretold(known: Treebank[Any], new: Treebank[Any], threshold: int) -> float:
    """Σ log p(tag | symbol) over the words of new trees."""
    rule = RareWords.of_forest(known.forest, threshold=threshold)
    leaves = [_leaves(rule.apply(half.forest)) for half in (known, new)]
    symbols, tags = (Alphabet.of(chain.from_iterable(half[column] for half in leaves)) for column in (0, 1))
    seen, met = (
        (np.zeros(len(words), np.int64), _numbers(symbols, words), _numbers(tags, names))
        for words, names in leaves
    )
    return _foretold(seen, met, len(symbols), len(tags))


def _leaves(forest: Forest) -> tuple[list[str], list[str]]:
    """The symbols and the tags of all words."""
    leaf = forest.is_tag
    return forest.words.decode(forest.word[leaf]), forest.labels.decode(forest.label[leaf])


def _heads_foretold(known: Treebank[Any], new: Treebank[Any], threshold: int) -> float:
    """Σ log p(tag of the head | symbol, tag) over the words of new trees; the artificial root has a tag too."""
    words, tags = Alphabet.of(_words(known)), Alphabet.of(_tags(known) + _tags(new))
    counts = np.bincount(_numbers(words, _words(known)), minlength=len(words))
    # Symbol 0 is that of all rare words; the last place is that of words never seen, whose number is −1.
    symbol_of = np.append(np.where(counts > threshold, np.arange(1, len(words) + 1), 0), 0)
    seen, met = (
        (tag, symbol_of[_numbers(words, _words(half))], _tags_of_heads(half, tag, len(tags)))
        for half, tag in ((half, _numbers(tags, _tags(half))) for half in (known, new))
    )
    return _foretold(seen, met, len(words) + 1, len(tags) + 1)


def _tags_of_heads(bank: Treebank[Any], tag: Ints, root: int) -> Ints:
    """The tag of every word's head, or `root`."""
    first = np.repeat(bank.arrays.offsets[:-1], bank.lengths)
    heads = bank.arrays.heads
    return np.where(heads > 0, tag[np.maximum(first + heads - 1, 0)], root)


def _numbers(alphabet: Alphabet, symbols: list[str]) -> Ints:
    return alphabet.encode(symbols).astype(np.int64)


def _words(bank: Treebank[Any]) -> list[str]:
    return [word for tree in bank for word in tree.words]


def _tags(bank: Treebank[Any]) -> list[str]:
    return [tag for tree in bank for tag in tree.sentence.tags or ("",) * len(tree)]


def _foretold(seen: Events, met: Events, n_symbols: int, n_outcomes: int) -> float:
    """Σ log p(outcome | context, symbol) over what was met, p counted on what was seen."""
    outcomes = np.bincount(seen[2], minlength=n_outcomes) + _PRIOR
    overall = outcomes / outcomes.sum()
    contexts, symbols, wanted = met
    coarse = _share(seen[0], seen[2], contexts, wanted, n_outcomes, overall[wanted])
    fine = _share(
        seen[0] * n_symbols + seen[1], seen[2], contexts * n_symbols + symbols, wanted, n_outcomes, coarse
    )
    return float(np.log(fine).sum())


def _share(keys: Ints, outcomes: Ints, asked: Ints, wanted: Ints, n_outcomes: int, prior: Floats) -> Floats:
    """(n(key, outcome) + prior) / (n(key) + 1) of what is asked for."""
    pairs = _count(keys * n_outcomes + outcomes, asked * n_outcomes + wanted)
    return np.asarray((pairs + prior) / (_count(keys, asked) + 1.0))


def _count(keys: Ints, asked: Ints) -> Ints:
    """How often each key that is asked for occurs."""
    ordered = np.sort(keys)
    return np.searchsorted(ordered, asked, side="right") - np.searchsorted(ordered, asked, side="left")
