"""Accuracy on held-out trees, measured again whenever the parser has changed.

A few trees are parsed at a time, so that nobody waits for it; scores are added, so that the total is the sum of
the parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from latentgram.evaluate.score import Score
from latentgram.parser.parser import Parser
from latentgram.parser.pipeline import Trees
from latentgram.web.history import Measured

TOGETHER = 10
"""Trees that are parsed in one go."""


@dataclass
class HeldOut:
    """Trees that nothing is learned from, and how well each version of the parser did on them."""

    trees: Trees
    curve: list[Measured] = field(default_factory=list)
    _version: int = -1
    _sum: Score | None = None
    _done: int = 0

    def part(self, version: int) -> Trees | None:
        """The trees to be parsed next by this version; None if all have been."""
        if version != self._version:
            self._version, self._sum, self._done = version, None, 0
        part = self.trees[self._done : self._done + TOGETHER]
        return part if len(part) else None

    def add(self, version: int, score: Score, size: int, accepted: int) -> Measured | None:
        """Take the score of a part, and give that of all if this was the last and it says something new.

        A score of another version than the last asked for is forgotten.
        """
        if version != self._version:
            return None
        self._sum = score if self._sum is None else self._sum + score
        self._done += size
        if self._done < len(self.trees):
            return None
        made = Measured(version, accepted, self._sum.headline, self.trees.digest)
        if self.curve and (self.curve[-1].accepted, self.curve[-1].score) == (made.accepted, made.score):
            return None
        self.curve.append(made)
        return made


def score_part(parser: Parser, trees: Trees) -> Score:
    """The score of a parser on some trees: what a worker does."""
    return parser.evaluate(trees)
