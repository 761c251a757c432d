"""Trees of a treebank that a model doubts: where to look for errors of annotation.

Trees are ranked by log p(tree | sentence) / words, and shown with the part that has the least posterior. One whose
probability is zero (a rule never seen, crossing arcs) comes first; among those the least mean posterior decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from latentgram.data.tree import Tree
from latentgram.kinds.protocols import AnyTree
from latentgram.kinds.result import Parse
from latentgram.parser.parser import Parser


@dataclass(frozen=True)
class Suspect:
    """A doubtful tree: its number, from 1, log p(tree | sentence) a word, and its most doubtful part."""

    number: int
    per_word: float
    part: str
    probability: float
    text: str
    mean: float


def find_suspects(parser: Parser, trees: Iterable[AnyTree], count: int) -> list[Suspect]:
    """The `count` most doubtful of some trees, worst first."""
    suspects = [_suspect(number, parser.score(tree)) for number, tree in enumerate(trees, 1)]
    return sorted(suspects, key=lambda suspect: (suspect.per_word, suspect.mean))[:count]


def _suspect(number: int, parse: Parse) -> Suspect:
    per_word = math.log(parse.probability) / len(parse.sentence) if parse.probability > 0 else -math.inf
    worst = int(np.argmin(parse.confidence))
    words = parse.sentence.words
    if isinstance(parse.tree, Tree):
        label, first, end = list(parse.tree.spans())[worst]
        part = f"{label} over {' '.join(words[first:end])}"
    else:
        head = parse.tree.heads[worst]
        part = f"{words[worst]} under {words[head - 1] if head else 'the root'}"
    mean = float(parse.confidence.mean())
    return Suspect(number, per_word, part, float(parse.confidence[worst]), " ".join(words), mean)
