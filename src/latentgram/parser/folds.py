"""Trees parsed by parsers that have not seen them: one for each part of a treebank, learned from all others.

The learner is that of the parser's own model, with its settings; parts can be processed anywhere, and results come
in the order of the parts. Cost: learning as many times as there are parts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.kind import learner_of
from latentgram.kinds.protocols import AnyTree
from latentgram.learn.fit import fit
from latentgram.parallel import Engine, InProcess
from latentgram.parser.parser import Parser
from latentgram.progress import Progress

Result = TypeVar("Result")
Work = Callable[[Parser, Sequence[tuple[int, AnyTree]]], Result]
"""What is done with the trees of a part, numbered from 0, by the parser of the others."""


def over_folds(
    parser: Parser,
    trees: Sequence[AnyTree],
    folds: int,
    part: Callable[[int], Sequence[int]],
    work: Work[Result],
    engine: Engine,
    progress: Progress,
) -> Iterator[Result]:
    """What comes of the work on each part of the trees, with a parser learned from all other trees.

    `part` gives the numbers of the trees of a part, from the number of this.
    """
    if not 2 <= folds <= len(trees):
        raise SettingError(f"folds must be from 2 to the number of trees ({len(trees)}), got {folds}")
    learner_of(type(parser.model).__name__, parser.model.provenance)  # refused before any work is done
    for done, result in enumerate(engine.map(_Fold(parser, trees, work), map(part, range(folds))), 1):
        progress.step("learning from the other parts", done, folds)
        yield result


@dataclass(frozen=True)
class _Fold(Generic[Result]):
    """Learns from all trees but those of a part; a class, so that workers can be sent it."""

    parser: Parser
    trees: Sequence[AnyTree]
    work: Work[Result]

    def __call__(self, part: Sequence[int]) -> Result:
        model, own = self.parser.model, set(part)
        others = [tree for number, tree in enumerate(self.trees) if number not in own]
        learner = learner_of(type(model).__name__, model.provenance)
        learned = fit(type(model), Treebank.of(others), by=learner, engine=InProcess())
        parser = dataclasses.replace(self.parser, model=learned, calibrator=None)
        return self.work(parser, [(number, self.trees[number]) for number in part])
