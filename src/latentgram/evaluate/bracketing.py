"""Labelled bracketing: the figures of EVALB, for each sentence and in total.

A bracket is the label of a node and the words it covers, after words with deleted tags (punctuation, traces) have
been removed; nodes directly over words are tags, not brackets. With M brackets in common (each counted once),

    recall = M / gold brackets,   precision = M / output brackets,   F1 = 2 · recall · precision / their sum.

An output bracket *crosses* if it overlaps with a gold bracket and neither contains the other. A sentence without a
parse (a tree without words, `None`) is skipped, and one whose words differ is an error; as in EVALB, the rates are
over the others, so check `no_parse` as well as F1. `fallback` marks trees that a parser made up because it found
no parse: they are scored like any other tree, and counted in `no_parse`. The unlabelled outermost bracket of `( (S
…))` is not counted (EVALB counts it where there is one). evalb.py has the rules, and the cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from latentgram.arrays import Flags, Ints
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.errors import DataError
from latentgram.evaluate.evalb import COLLINS, BracketingRules, count_brackets
from latentgram.evaluate.kernels import brackets as kernels
from latentgram.evaluate.score import Rate, Score, harmonic, percent

Trees = Forest | Iterable[Tree | None]
"""Trees to score; None is a sentence without a parse."""


@dataclass(frozen=True)
class BracketCounts(Score):
    """What is counted over a set of sentences."""

    HEADLINE: ClassVar = "f1"
    FIGURES: ClassVar = (
        *("f1", "recall", "precision", "exact", "accuracy", "sentences", "no_parse", "errors"),
        *("average_crossing", "no_crossing", "two_or_less_crossing"),
    )

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

    recall = Rate("matched", "gold", "Gold brackets found")
    precision = Rate("matched", "output", "Output brackets that are right")
    exact = Rate("complete", "valid", "Compared sentences with every bracket right")
    accuracy = Rate("tags", "words", "Words with the right tag")
    no_crossing = Rate("without_crossing", "valid", "Compared sentences without a crossing bracket")
    two_or_less_crossing = Rate("few_crossing", "valid", "Compared sentences with at most two crossing brackets")

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision."""
        return harmonic(self.recall, self.precision)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets per compared sentence."""
        return self.crossing / self.valid if self.valid else 0.0

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

    def to_json(self) -> dict[str, object]:
        """The figures over all sentences by name, and those over the short ones below `short`."""
        return {**super().to_json(), "short": {"length": self.cutoff, **self.short.to_json()}}

    def table(self) -> str:
        """The summary in EVALB's words."""
        return f"{_summary('All', self)}\n\n{_summary(f'len<={self.cutoff}', self.short)}"


@dataclass(frozen=True, eq=False)
class BracketingRows:
    """The counts of every sentence, from which scores and tests are made."""

    length: Ints
    counts: Ints
    """[sentences, 7]; the columns are named in `kernels`."""
    cutoff: int

    def __len__(self) -> int:
        return len(self.length)

    def score(self, fallback: Iterable[bool] | None = None) -> BracketingScore:
        """The sum; `fallback` says which trees a parser made up."""
        flags = np.zeros(len(self), np.bool_) if fallback is None else np.fromiter(fallback, np.bool_)
        if len(flags) != len(self):
            raise DataError(f"there are {len(self)} trees but {len(flags)} fallback flags")
        short = self.length <= self.cutoff
        everything, of_short = _sums(self.counts, flags), _sums(self.counts[short], flags[short])
        return BracketingScore(**everything, short=BracketCounts(**of_short), cutoff=self.cutoff)

    def table(self) -> str:
        """One line per sentence, in EVALB's layout."""
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
    """Score parsed trees against gold trees, given in the same order.

    >>> gold = [Tree("S", (Tree("NP", (Tree("NNS", word="Cats"),)), Tree("VP", (Tree("VBP", word="sleep"),))))]
    >>> score_brackets(gold, gold).f1
    100.0
    """
    return bracket_rows(gold, output, rules).score(fallback)


def bracket_rows(gold: Trees, output: Trees, rules: BracketingRules = COLLINS) -> BracketingRows:
    """The counts of every sentence."""
    right, guess = _forest(gold), _forest(output)
    if len(right) != len(guess):
        raise DataError(f"there are {len(right)} gold trees but {len(guess)} output trees")
    return BracketingRows(*count_brackets(right, guess, rules), rules.cutoff)


def _sums(rows: Ints, fallback: Flags) -> dict[str, int]:
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


def _forest(trees: Trees) -> Forest:
    if isinstance(trees, Forest):
        return trees
    return Forest.of(Tree("") if tree is None else tree for tree in trees)


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
