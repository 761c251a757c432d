"""Can posteriors be trusted? Calibration on development trees, and its evaluation on others.

A phrase is correct if the gold tree has a node with its label over the same words (the root that every tree has is
left out); an arc, if the head is correct; a tag, if it is the gold one. Calibration is fitted on trees that the
model was not learned from (`calibrate`), stored with the parser, and evaluated on yet others (`reliability`).
Trees that it was fitted on, or that the model was learned from, are refused.

A development part has few trees, and the parts of one tree tend to be right or wrong together, so a curve from
some hundreds of them is itself off by a per cent. With `folds` the training trees of the model can be used: each
part of them is parsed by a model learned from the other parts (folds.py), and the curve is fitted on all of them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.evaluate.attachment import attachment_rows
from latentgram.evaluate.bracketing import bracket_rows
from latentgram.evaluate.calibration import Calibration, calibration
from latentgram.evaluate.compare import attachment_uas, bracketing_f1
from latentgram.kinds.protocols import AnyTree
from latentgram.kinds.result import Parse
from latentgram.parallel import Engine, InProcess, engine_for
from latentgram.parser.curves import Calibrator, Curve
from latentgram.parser.folds import over_folds
from latentgram.parser.parser import Parser
from latentgram.progress import Progress, Silent

STEP = 100
"""Parses between two steps of progress."""

Floats = NDArray[np.float64]
Trees = Treebank[AnyTree]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a parser said about the parts of its trees, and what of it was right."""

    parts: Floats
    """[parts, 2] the probability of each phrase or arc, and whether it is right."""
    tags: Floats
    trees: Floats
    """[trees, 2] the expected F1 or share of right heads, and the true one."""
    rows: NDArray[np.int64]
    """[trees, …] counts that add to a score."""
    dependencies: bool

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """Those of several parts of a treebank."""
        return cls(
            np.concatenate([part.parts for part in parts]),
            np.concatenate([part.tags for part in parts]),
            np.concatenate([part.trees for part in parts]),
            np.concatenate([part.rows for part in parts]),
            parts[0].dependencies,
        )

    @cached_property
    def reliability(self) -> Calibration:
        """Of phrases or arcs."""
        return calibration(self.parts[:, 0], self.parts[:, 1] > 0)

    @cached_property
    def tag_reliability(self) -> Calibration:
        """Of tags; empty where the parser was given them."""
        return calibration(self.tags[:, 0], self.tags[:, 1] > 0)

    def selective(self, shares: Sequence[float] = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)) -> list[tuple[float, float]]:
        """The score, in percent, on the most confident part of the sentences."""
        order = np.argsort(-self.trees[:, 0], kind="stable")
        sums = np.cumsum(self.rows[order].astype(np.float64), axis=0)
        kept = [max(round(share * len(order)), 1) - 1 for share in shares]
        rate = attachment_uas if self.dependencies else bracketing_f1
        return list(zip(shares, rate(sums[kept]).tolist(), strict=True))

    def table(self) -> str:
        """Reliability of phrases or arcs and of tags, and the selective scores."""
        name = "UAS" if self.dependencies else "F1"
        lines = [f"{'arcs' if self.dependencies else 'phrases'}:", self.reliability.table()]
        if len(self.tags):
            lines += ["", f"tags: {self.tag_reliability}"]
        lines += ["", f"most confident sentences  {name}"]
        lines += [f"{100 * share:15.0f} %  {score:.2f}" for share, score in self.selective()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The reliability plot of phrases or arcs, in a notebook."""
        return self.reliability._repr_html_()

    def to_json(self) -> dict[str, object]:
        """The same figures by name."""
        return {
            "parts": self.reliability.to_json(),
            "tags": self.tag_reliability.to_json() if len(self.tags) else None,
            "selective": [{"share": share, "score": score} for share, score in self.selective()],
        }


def outcomes(parser: Parser, treebank: Trees, gold_tags: bool, engine: Engine, progress: Progress) -> Outcomes:
    """Parse the sentences of a treebank and see what is right."""
    if not len(treebank):
        raise DataError("there are no trees to compare parses with")
    parser.refuse_other_trees(treebank.kind)
    questions = [parser.question(tree, gold_tags) for tree in treebank]
    parses: list[Parse] = []
    for parse in parser.parse_many(questions, engine=engine):
        parses.append(parse)
        if len(parses) % STEP == 0 or len(parses) == len(questions):
            progress.step("parsing", len(parses), len(questions))
    pairs = list(zip(treebank, parses, strict=True))
    judged = [_judged(gold, parse) for gold, parse in pairs]
    untagged = (question.tags is None for question in questions)
    tags = [row for gold, parse in compress(pairs, untagged) for row in _judged_tags(gold, parse)]
    trees = [(parse.expected, share) for parse, (_, share) in zip(parses, judged, strict=True)]
    output = [parse.tree for parse in parses]
    phrases = [tree for tree in output if isinstance(tree, Tree)]
    rows = (
        bracket_rows(treebank.forest, phrases).counts
        if phrases
        else attachment_rows(_dependencies(treebank), _dependencies(output), punctuation="none")
    )
    return Outcomes(
        np.concatenate([parts for parts, _ in judged]),
        np.array(tags, np.float64).reshape(-1, 2),
        np.nan_to_num(np.array(trees, np.float64).reshape(-1, 2)),
        rows,
        not phrases,
    )


def calibrate(
    parser: Parser,
    dev: Trees,
    *,
    gold_tags: bool = False,
    folds: int = 0,
    n_jobs: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Parser:
    """A parser whose posteriors are calibrated on `dev`: they estimate how often an answer is correct.

    With `folds`, `dev` may be the training trees: they are divided into this many parts, and each part is parsed
    by a model learned in the same way from the others.

    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=1), by=lg.Counting()))
    >>> calibrate(parser, lg.demo_treebank(30, seed=2)).calibrator is None
    False
    """
    engine, progress = engine or engine_for(n_jobs), progress or Silent()
    if folds:
        seen = _outcomes_by_folds(parser, dev, gold_tags, folds, engine, progress)
    else:
        _refuse_training_data(parser, dev)
        plain = dataclasses.replace(parser, calibrator=None)
        seen = outcomes(plain, dev, gold_tags, engine, progress)
    parts, tags, trees = (Curve.fit(*pairs.T) for pairs in (seen.parts, seen.tags, seen.trees))
    return dataclasses.replace(parser, calibrator=Calibrator(parts, tags, trees, dev.digest))


def _outcomes_by_folds(
    parser: Parser, trees: Trees, gold_tags: bool, folds: int, engine: Engine, progress: Progress
) -> Outcomes:
    """Those of all trees; parts are contiguous, since trees of one text are alike."""
    if parser.tagger is not None and not gold_tags:
        raise SettingError("the tagger of this parser may have seen the trees: calibrate on others, without folds")

    def part(number: int) -> range:
        return range(len(trees) * number // folds, len(trees) * (number + 1) // folds)

    work = partial(_outcomes_of_part, gold_tags=gold_tags)
    return Outcomes.joined(list(over_folds(parser, list(trees), folds, part, work, engine, progress)))


def _outcomes_of_part(parser: Parser, trees: Sequence[tuple[int, AnyTree]], *, gold_tags: bool) -> Outcomes:
    return outcomes(parser, Treebank.of(tree for _, tree in trees), gold_tags, InProcess(), Silent())


def reliability(
    parser: Parser,
    treebank: Trees,
    *,
    gold_tags: bool = False,
    n_jobs: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Outcomes:
    """Measure the calibration of a parser on trees that were used neither for training nor for calibration.

    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    >>> 0 <= lg.reliability(parser, lg.demo_treebank(10, seed=1)).reliability.error <= 100
    True
    """
    _refuse_training_data(parser, treebank)
    if parser.calibrator is not None and parser.calibrator.digest == treebank.digest:
        raise DataError("the parser was calibrated on these trees: evaluate it on others")
    return outcomes(parser, treebank, gold_tags, engine or engine_for(n_jobs), progress or Silent())


def _refuse_training_data(parser: Parser, treebank: Trees) -> None:
    if parser.model.provenance.data_digest == treebank.digest:
        raise DataError("the model was learned from these trees: use others")


def _dependencies(trees: Iterable[AnyTree]) -> list[DependencyTree]:
    return [tree for tree in trees if isinstance(tree, DependencyTree)]


def _judged(gold: AnyTree, parse: Parse) -> tuple[Floats, float]:
    """What was said of each phrase or arc and whether it is right; and the F1, or the share of right heads."""
    if not isinstance(gold, Tree) or not isinstance(parse.tree, Tree):
        right, guess = (np.array(tree.heads) for tree in _dependencies((gold, parse.tree)))
        return np.column_stack([parse.confidence, guess == right]), float(np.mean(guess == right))
    phrases = [phrase for phrase in _spans(gold) if phrase is not None]
    left = Counter(phrases)
    parts = []
    for phrase, said in zip(_spans(parse.tree), parse.confidence.tolist(), strict=True):
        if phrase is not None:
            parts.append((said, left[phrase] > 0))
            left[phrase] -= 1
    both = len(parts) + len(phrases)
    return np.array(parts, np.float64).reshape(-1, 2), 2 * sum(good for _, good in parts) / both if both else 1.0


def _judged_tags(gold: AnyTree, parse: Parse) -> list[tuple[float, bool]]:
    """What was said of each tag, where something was, and whether it is right."""
    rows = zip(parse.tag_confidence, gold.sentence.tags or (), parse.tree.sentence.tags or (), strict=False)
    return [(said, right == guess) for said, right, guess in rows if not np.isnan(said)]


def _spans(tree: Tree) -> list[tuple[str, int, int] | None]:
    """The spans of the nodes; None for tags and for a root over a single node."""
    nodes = zip(tree.spans(), tree.nodes(), strict=True)
    spans = [span if node.word is None else None for span, node in nodes]
    return [None, *spans[1:]] if len(tree.children) == 1 else spans
