"""Labelled bracketing: the figures of EVALB, row by row and in sum.

A bracket is the label of a node and the words it covers, after words with deleted tags (punctuation, traces) are
taken out; nodes directly over words are tags, not brackets. With M brackets in common (each counted once),

    recall = M / gold brackets,   precision = M / output brackets,   F1 = 2 · recall · precision / their sum.

An output bracket *crosses* when it overlaps a gold bracket and neither holds the other. A sentence without a
parse (a tree without words, `None`) is skipped, and one whose words differ is an error; like EVALB's, the rates
are over the others, so look at `no_parse` beside F1. `fallback` marks trees that a parser made up where it found
no parse: they are scored as they stand, and counted in `no_parse`. The nameless outermost bracket of `( (S …))` is
no bracket (EVALB counts it when it is there).

Cost: O(nodes + gold brackets × output brackets) a sentence, in compiled loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.errors import DataError
from latentgram.evaluate import kernels
from latentgram.evaluate.evalb_parameters import COLLINS, BracketingRules
from latentgram.evaluate.quotes import mend_quotes
from latentgram.evaluate.score import Score, harmonic, percent

Trees = Forest | Iterable[Tree | None]
"""Trees to score; None is a sentence without a parse."""


@dataclass(frozen=True)
class BracketCounts(Score):
    """What is counted over a set of sentences."""

    HEADLINE: ClassVar[str] = "f1"

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    fallbacks: int = 0
    matched: int = 0
    gold: int = 0
    output: int = 0
    complete: int = 0
    crossing: int = 0
    without_crossing: int = 0
    few_crossing: int = 0
    words: int = 0
    tags: int = 0

    @property
    def valid(self) -> int:
        """Sentences that were compared."""
        return self.sentences - self.errors - self.skipped

    @property
    def no_parse(self) -> int:
        """Sentences for which the parser found nothing."""
        return self.skipped + self.fallbacks

    @property
    def recall(self) -> float:
        """Gold brackets found, in percent."""
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """Output brackets that are right, in percent."""
        return percent(self.matched, self.output)

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision."""
        return harmonic(self.recall, self.precision)

    @property
    def exact(self) -> float:
        """Compared sentences with every bracket right, in percent."""
        return percent(self.complete, self.valid)

    @property
    def accuracy(self) -> float:
        """Words with the right tag, in percent."""
        return percent(self.tags, self.words)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets a compared sentence."""
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Compared sentences without a crossing bracket, in percent."""
        return percent(self.without_crossing, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Compared sentences with at most two crossing brackets, in percent."""
        return percent(self.few_crossing, self.valid)

    def to_json(self) -> dict[str, Any]:
        """The figures by name; rates in percent."""
        names = ("f1", "recall", "precision", "exact", "accuracy", "sentences", "no_parse", "errors")
        crossing = ("average_crossing", "no_crossing", "two_or_less_crossing")
        return {name: getattr(self, name) for name in (*names, *crossing)}

    def __str__(self) -> str:
        return (
            f"F1 {self.f1:.2f} (recall {self.recall:.2f}, precision {self.precision:.2f}), "
            f"exact {self.exact:.2f}, tags {self.accuracy:.2f}, "
            f"{self.sentences} sentences, {self.no_parse} without a parse"
            + (f", {self.errors} with other words" if self.errors else "")
        )


@dataclass(frozen=True)
class BracketingScore(BracketCounts):
    """A bracketing score: the counts over all sentences, and in `short` over those of at most `cutoff` words.

    >>> gold = Tree("S", (Tree("NP", (Tree("NNS", word="Cats"),)), Tree("VP", (Tree("VBP", word="sleep"),))))
    >>> flat = Tree("S", (Tree("NNS", word="Cats"), Tree("VP", (Tree("VBP", word="sleep"),))))
    >>> score = score_brackets([gold, gold], [gold, flat])
    >>> print(score)
    F1 90.91 (recall 83.33, precision 100.00), exact 50.00, tags 100.00, 2 sentences, 0 without a parse
    >>> score.f1 == score.short.f1, score < score_brackets([gold], [gold])
    (True, True)
    """

    short: BracketCounts = field(default_factory=BracketCounts)
    cutoff: int = field(default=COLLINS.cutoff, metadata={"same": True})

    def to_json(self) -> dict[str, Any]:
        """The figures over all sentences by name, and those over the short ones below `short`."""
        return {**super().to_json(), "short": {"length": self.cutoff, **self.short.to_json()}}

    def __str__(self) -> str:
        return super().__str__()

    def table(self) -> str:
        """The summary in EVALB's words."""
        return f"{_summary('All', self)}\n\n{_summary(f'len<={self.cutoff}', self.short)}"


@dataclass(frozen=True, eq=False)
class BracketingRows:
    """The counts of every sentence, from which scores and tests are made."""

    length: NDArray[np.int64]
    counts: NDArray[np.int64]
    """[sentences, 7]; the columns are named in `kernels`."""
    fallback: NDArray[np.bool_]
    cutoff: int

    def __len__(self) -> int:
        return len(self.length)

    def score(self) -> BracketingScore:
        """The sum."""
        short = self.length <= self.cutoff
        everything = self._sums(np.ones_like(short))
        return BracketingScore(**everything, short=BracketCounts(**self._sums(short)), cutoff=self.cutoff)

    def _sums(self, chosen: NDArray[np.bool_]) -> dict[str, int]:
        rows, fallback = self.counts[chosen], self.fallback[chosen]
        valid = rows[:, kernels.STATUS] == kernels.VALID
        crossing = rows[valid, kernels.CROSSING]
        matched, gold, output = (rows[valid, column] for column in (kernels.MATCHED, kernels.GOLD, kernels.OUTPUT))
        return {
            "sentences": len(rows),
            "errors": int(np.sum(rows[:, kernels.STATUS] == kernels.ERROR)),
            "skipped": int(np.sum(rows[:, kernels.STATUS] == kernels.SKIP)),
            "fallbacks": int(np.sum(fallback & (rows[:, kernels.STATUS] != kernels.SKIP))),
            "matched": int(matched.sum()),
            "gold": int(gold.sum()),
            "output": int(output.sum()),
            "complete": int(np.sum((matched == gold) & (matched == output))),
            "crossing": int(crossing.sum()),
            "without_crossing": int(np.sum(crossing == 0)),
            "few_crossing": int(np.sum(crossing <= 2)),
            "words": int(rows[valid, kernels.WORDS].sum()),
            "tags": int(rows[valid, kernels.TAGS].sum()),
        }

    def table(self) -> str:
        """One line a sentence, in EVALB's layout."""
        lines = []
        for number, (length, row) in enumerate(zip(self.length, self.counts, strict=True), 1):
            status, matched, gold, output, crossing, words, tags = (int(count) for count in row)
            lines.append(
                f"{number:4d}  {length:3d}    {status}"
                f"  {percent(matched, gold):6.2f} {percent(matched, output):6.2f}"
                f"   {matched:3d}    {gold:3d}  {output:3d}    {crossing:3d}"
                f"   {words:4d}  {tags:4d}   {percent(tags, words):6.2f}"
            )
        return "\n".join(lines)


def score_brackets(
    gold: Trees,
    output: Trees,
    rules: BracketingRules = COLLINS,
    *,
    fallback: Iterable[bool] | None = None,
) -> BracketingScore:
    """The score of parsed trees against the right ones, sentence by sentence in the same order.

    >>> gold = [Tree("S", (Tree("NP", (Tree("NNS", word="Cats"),)), Tree("VP", (Tree("VBP", word="sleep"),))))]
    >>> score_brackets(gold, gold).f1
    100.0
    """
    return bracket_rows(gold, output, rules, fallback=fallback).score()


def bracket_rows(
    gold: Trees,
    output: Trees,
    rules: BracketingRules = COLLINS,
    *,
    fallback: Iterable[bool] | None = None,
) -> BracketingRows:
    """The counts of every sentence."""
    right, guess = _forest(gold), _forest(output)
    if len(right) != len(guess):
        raise DataError(f"there are {len(right)} gold trees but {len(guess)} output trees")
    flags = np.zeros(len(right), np.bool_) if fallback is None else np.fromiter(fallback, np.bool_)
    if len(flags) != len(right):
        raise DataError(f"there are {len(right)} trees but {len(flags)} fallback flags")
    kept = [_kept(forest, rules) for forest in (right, guess)]
    if rules.quotes:
        mend_quotes(right, guess, kept[0], kept[1], rules)
    table = _Numbers()
    sides = [_brackets(forest, keep, rules, table) for forest, keep in zip((right, guess), kept, strict=True)]
    equal = table.pairs(rules.equal_labels)
    rows = kernels.compare_brackets(*sides[0], *sides[1], equal, equal, table.pairs(rules.equal_words))
    counted = (right.word != ABSENT) & ~_flags(right.labels, rules.delete_for_length)[right.label]
    return BracketingRows(_sums(counted, right.start), rows, flags, rules.cutoff)


class _Numbers(dict[str, int]):
    """Numbers for strings, given when first met, so that two forests share them."""

    def __missing__(self, key: str) -> int:
        self[key] = len(self)
        return self[key]

    def of(self, symbols: Iterable[str]) -> NDArray[np.int64]:
        return np.array([self[symbol] for symbol in symbols], np.int64)

    def pairs(self, pairs: tuple[tuple[str, str], ...]) -> NDArray[np.int64]:
        return np.array([[self[left], self[right]] for left, right in pairs], np.int64).reshape(-1, 2)


def _forest(trees: Trees) -> Forest:
    if isinstance(trees, Forest):
        return trees
    return Forest.of(Tree("") if tree is None else tree for tree in trees)


def _flags(alphabet: Alphabet, symbols: Iterable[str]) -> NDArray[np.bool_]:
    """For each symbol of the alphabet, whether it is one of these."""
    chosen = set(symbols)
    return np.array([symbol in chosen for symbol in alphabet], np.bool_)


def _kept(forest: Forest, rules: BracketingRules) -> NDArray[np.bool_]:
    """For each node, whether it is a word that is not taken out."""
    if not len(forest.label):
        return np.zeros(0, np.bool_)
    kept: NDArray[np.bool_] = (forest.word != ABSENT) & ~_flags(forest.labels, rules.delete)[forest.label]
    return kept


def _sums(flags: NDArray[np.bool_], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of flags set in each tree."""
    return np.diff(_before(flags)[start])


def _before(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many flags are set before each place, and in all."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(flags, dtype=np.int64)))


def cut_label(label: str) -> str:
    """A label up to its first `-` or `=`: without functions and indices.

    >>> cut_label("NP-SBJ-1"), cut_label("NP=2"), cut_label("-LRB-")
    ('NP', 'NP', '')
    """
    return label.split("-", 1)[0].split("=", 1)[0]


def _brackets(
    forest: Forest, kept: NDArray[np.bool_], rules: BracketingRules, table: _Numbers
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where the brackets of each tree begin, [n, 3] brackets; where its words begin, [m, 2] words and tags."""
    before = _before(kept)
    nodes = np.arange(len(forest.label))
    first = np.repeat(before[forest.start[:-1]], np.diff(forest.start))
    begin, end = before[nodes] - first, before[nodes + forest.size] - first
    plain = [cut_label(label) for label in forest.labels]
    deleted = {*rules.delete, *(other for pair in rules.equal_labels for other in _partner(pair, rules.delete))}
    number = table.of(plain)[forest.label]
    wanted = ~_flags(Alphabet(tuple(plain)), deleted)[forest.label]
    wanted &= (forest.word == ABSENT) & (begin < end)
    wanted[forest.start[:-1]] &= forest.label[forest.start[:-1]] != forest.labels.index("")
    if rules.collapse_unaries:
        wanted &= ~_repeats(forest, number)
    label = number if rules.labelled else np.zeros_like(number)
    brackets = np.stack((begin, end, label), axis=1)[wanted]
    words = np.stack(
        (table.of(forest.words)[forest.word[kept]], table.of(forest.labels)[forest.label[kept]]), axis=1
    )
    return _before(wanted)[forest.start], brackets, before[forest.start], words


def _partner(pair: tuple[str, str], labels: tuple[str, ...]) -> list[str]:
    """What else is deleted because it equals a deleted label."""
    return [other for one, other in (pair, pair[::-1]) if one in labels]


def _repeats(forest: Forest, number: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each node, whether its only child is a bracket with the same label."""
    repeats = np.zeros(len(number), np.bool_)
    repeats[:-1] = (
        (forest.size[:-1] == forest.size[1:] + 1) & (number[:-1] == number[1:]) & (forest.word[1:] == ABSENT)
    )
    return repeats


def _summary(title: str, counts: BracketCounts) -> str:
    figures = {
        "Number of sentence": counts.sentences,
        "Number of Error sentence": counts.errors,
        "Number of Skip  sentence": counts.skipped,
        "Number of Valid sentence": counts.valid,
        "Bracketing Recall": counts.recall,
        "Bracketing Precision": counts.precision,
        "Bracketing FMeasure": counts.f1,
        "Complete match": counts.exact,
        "Average crossing": counts.average_crossing,
        "No crossing": counts.no_crossing,
        "2 or less crossing": counts.two_or_less_crossing,
        "Tagging accuracy": counts.accuracy,
    }
    shown = (
        f"{name:25} = {value:6.2f}" if isinstance(value, float) else f"{name:25} = {value:6d}"
        for name, value in figures.items()
    )
    return "\n".join((f"-- {title} --", *shown))
