"""Tagging: accuracy for named tags, and three measures for tags that are only cluster numbers.

Everything is computed from one table n(t, c): the number of words with gold tag t and output tag c. With N words,

    accuracy     Σ_t n(t, t) / N
    many-to-one  Σ_c max_t n(t, c) / N: each cluster is mapped to its most frequent gold tag
    one-to-one   the best assignment of clusters to different tags, by the Hungarian algorithm
    V-measure    harmonic mean of homogeneity 1 − H(T|C)/H(T) and completeness 1 − H(C|T)/H(C)

The table is a sum, so scores can be added. Cost: O(words) to count, O(tags³) for the assignment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import ClassVar

import numpy as np

from latentgram.arrays import Ints
from latentgram.errors import DataError
from latentgram.evaluate.score import Rate, Score, harmonic, percent


@dataclass(frozen=True)
class TaggingScore(Score):
    """The table of gold and output tags, of all words and of those that were not in the training data.

    >>> score = score_tags([["DT", "NN", "NN"]], [["DT", "NN", "VB"]])
    >>> print(score)
    accuracy 66.67, 1 sentences, 3 words
    >>> clusters = score_tags([["DT", "NN", "NN", "VB"]], [["0", "1", "1", "1"]])
    >>> clusters.many_to_one, clusters.one_to_one, round(clusters.v_measure, 2)
    (75.0, 75.0, 70.2)
    """

    HEADLINE: ClassVar = "accuracy"
    FIGURES: ClassVar = ("accuracy", "exact", "many_to_one", "one_to_one", "v_measure", "sentences", "words")

    sentences: int = 0
    pairs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    unknown_pairs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    complete: int = 0

    @property
    def words(self) -> int:
        """All words."""
        return sum(self.pairs.values())

    @property
    def unknown_words(self) -> int:
        """Words that were not in the training data."""
        return sum(self.unknown_pairs.values())

    @property
    def right(self) -> int:
        """Words with the right tag."""
        return _right(self.pairs)

    @property
    def known_accuracy(self) -> float:
        """Of the words that were in the training data, those with the right tag, in percent."""
        return percent(self.right - _right(self.unknown_pairs), self.words - self.unknown_words)

    @property
    def unknown_accuracy(self) -> float:
        """Of the words that were not in the training data, those with the right tag, in percent."""
        return percent(_right(self.unknown_pairs), self.unknown_words)

    accuracy = Rate("right", "words", "Words with the right tag")
    exact = Rate("complete", "sentences", "Sentences with every tag right")

    @property
    def many_to_one(self) -> float:
        """Accuracy when each output tag stands for the gold tag it meets most, in percent."""
        table = self.table_of_counts()
        return percent(int(table.max(axis=0).sum()), self.words) if table.size else 0.0

    @property
    def one_to_one(self) -> float:
        """Accuracy under the best assignment of output tags to different gold tags, in percent."""
        from scipy.optimize import linear_sum_assignment

        table = self.table_of_counts()
        rows, columns = linear_sum_assignment(table, maximize=True)
        return percent(int(table[rows, columns].sum()), self.words)

    @property
    def v_measure(self) -> float:
        """The harmonic mean of homogeneity and completeness, in percent."""
        table = self.table_of_counts()
        if not table.size:
            return 0.0
        joint = _entropy(table.ravel())
        gold, output = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0))
        homogeneity = 1 - (joint - output) / gold if gold else 1.0
        completeness = 1 - (joint - gold) / output if output else 1.0
        return 100 * harmonic(max(homogeneity, 0.0), max(completeness, 0.0))

    def table_of_counts(self) -> Ints:
        """[gold tags, output tags] counts, both in sorted order."""
        gold = {tag: i for i, tag in enumerate(sorted({right for right, _ in self.pairs}))}
        output = {tag: i for i, tag in enumerate(sorted({guess for _, guess in self.pairs}))}
        table = np.zeros((len(gold), len(output)), np.int64)
        for (right, guess), count in self.pairs.items():
            table[gold[right], output[guess]] = count
        return table

    def confusions(self, most: int = 10) -> list[tuple[str, str, int]]:
        """The most frequent mistakes: gold tag, output tag, count."""
        wrong = [(right, guess, count) for (right, guess), count in self.pairs.items() if right != guess]
        return sorted(wrong, key=lambda mistake: (-mistake[2], mistake[0], mistake[1]))[:most]

    def to_json(self) -> dict[str, object]:
        """The figures by name, those of unknown words where there are any; rates in percent."""
        names = ("known_accuracy", "unknown_accuracy", "unknown_words") if self.unknown_words else ()
        return super().to_json() | {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        unknown = f" (unknown words {self.unknown_accuracy:.2f})" if self.unknown_words else ""
        return f"accuracy {self.accuracy:.2f}{unknown}, {self.sentences} sentences, {self.words} words"


def score_tags(
    gold: Iterable[Sequence[str]],
    output: Iterable[Sequence[str]],
    *,
    words: Iterable[Sequence[str]] | None = None,
    known: Collection[str] | None = None,
) -> TaggingScore:
    """Score predicted tags against gold tags.

    Given the `words` of the sentences and the words `known` from training, known and unknown words are also scored
    separately.

    >>> round(score_tags([["DT", "NN"], ["NN"]], [["DT", "VB"], ["NN"]]).accuracy, 2)
    66.67
    """
    if (words is None) != (known is None):
        raise DataError("to distinguish known from unknown words, give both words and known")
    pairs: Counter[tuple[str, str]] = Counter()
    unknown_pairs: Counter[tuple[str, str]] = Counter()
    sentences = complete = 0
    for right, guess, forms in zip_longest(gold, output, words if words is not None else ()):
        sentences += 1
        if right is None or guess is None or (words is not None and forms is None):
            raise DataError("the gold tags, the output tags and the words differ in their number of sentences")
        if len(right) != len(guess) or (forms is not None and len(forms) != len(right)):
            raise DataError(f"sentence {sentences} has {len(right)} gold tags but {len(guess)} output tags")
        both = list(zip(right, guess, strict=True))
        pairs.update(both)
        complete += tuple(right) == tuple(guess)
        if forms is not None and known is not None:
            unknown_pairs.update(pair for pair, form in zip(both, forms, strict=True) if form not in known)
    return TaggingScore(sentences, dict(sorted(pairs.items())), dict(sorted(unknown_pairs.items())), complete)


def _right(pairs: Mapping[tuple[str, str], int]) -> int:
    return sum(count for (right, guess), count in pairs.items() if right == guess)


def _entropy(counts: Ints) -> float:
    """The entropy of a distribution given by counts, in nats."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
