"""Possible annotation errors: trees of a treebank that a model finds improbable.

Trees are ranked by log p̂(tree | sentence) / words, worst first. For a tree that the model can derive,
p̂ = p(tree | sentence). For one that it cannot derive (a rule never seen, crossing arcs),

    p̂(tree | sentence) = ∏_v max(q(v), ε),

over its parts v, phrases or arcs, with their posteriors q(v), and q = 0 for the part that makes it impossible:
this measures how much of the tree the model agrees with. For a sentence that the model cannot derive at all, only
that part is known. Every score is finite.

A model rarely doubts trees that it was learned from. With `folds` parts every tree is scored by a model
learned by the same learner from the other parts. Cost: one analysis of a sentence for each tree, and
with parts as many times learning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from latentgram.data.tree import Tree
from latentgram.kinds.protocols import AnyTree, Explaining
from latentgram.kinds.result import Parse
from latentgram.parallel import Engine, engine_for, shards
from latentgram.parser.folds import over_folds
from latentgram.parser.parser import BATCH, Parser
from latentgram.progress import Progress, Silent
from latentgram.view.report import Report
from latentgram.view.trees import draw

LEAST = 1e-9
"""ε: the least that the posterior of a part counts for."""
DRAWN = 50
"""Trees of a report that are drawn, at most."""


@dataclass(frozen=True)
class Suspect:
    """A doubtful tree: its number, from 1, log p̂(tree | sentence) per word, and its most doubtful part."""

    number: int
    per_word: float
    part: str
    """The phrase, or the word and its head."""
    probability: float
    """The posterior of this part; 0 where it makes the tree impossible."""
    text: str
    mean: float
    impossible: bool
    """Whether the model cannot derive the tree."""
    place: int
    """Which part it is: the node in preorder, or the word, from 0."""


def find_suspects(
    parser: Parser,
    trees: Iterable[AnyTree],
    count: int,
    *,
    folds: int = 0,
    n_jobs: int = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> list[Suspect]:
    """The `count` most doubtful trees, worst first; with `folds`, each part is judged by a model of the others.

    >>> import latentgram as lg
    >>> trees = list(lg.demo_treebank(60, seed=0))
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=lg.Counting()))
    >>> trees[7] = lg.parse_tree(str(trees[7]).replace("(VP ", "(PP "))
    >>> worst = find_suspects(parser, trees, 1)[0]
    >>> worst.number, worst.impossible, worst.part.split()[0]
    (8, True, 'PP')
    """
    where, shown = engine or engine_for(n_jobs), progress or Silent()
    rated = _by_folds(parser, list(trees), folds, where, shown) if folds else _by_one(parser, trees, where, shown)
    return sorted(rated, key=lambda suspect: (suspect.per_word, suspect.mean))[:count]


def _by_one(parser: Parser, trees: Iterable[AnyTree], engine: Engine, progress: Progress) -> list[Suspect]:
    """All trees, rated by one parser, batch by batch."""
    rated: list[Suspect] = []
    total = len(trees) if isinstance(trees, Sequence) else None
    for batch in engine.map(_Rating(parser), shards(enumerate(trees, 1), BATCH)):
        rated += batch
        progress.step("rating trees", len(rated), total)
    return rated


def _by_folds(
    parser: Parser, trees: list[AnyTree], folds: int, engine: Engine, progress: Progress
) -> Iterator[Suspect]:
    """All trees, each rated by a parser learned from the parts that it is not in; parts are every n-th tree."""

    def part(number: int) -> range:
        return range(number, len(trees), folds)

    for suspects in over_folds(parser, trees, folds, part, _rated, engine, progress):
        yield from suspects


def _rated(parser: Parser, trees: Sequence[tuple[int, AnyTree]]) -> list[Suspect]:
    return _Rating(parser)([(number + 1, tree) for number, tree in trees])


@dataclass(frozen=True)
class _Rating:
    """Rates a batch of numbered trees; a class, so that worker processes can be sent it."""

    parser: Parser

    def __call__(self, batch: Sequence[tuple[int, AnyTree]]) -> list[Suspect]:
        return [_suspect(number, self.parser, tree) for number, tree in batch]


def _suspect(number: int, parser: Parser, tree: AnyTree) -> Suspect:
    parse = parser.score(tree)
    impossible = not parse.probability > 0
    posteriors = np.nan_to_num(parse.confidence, nan=1.0)
    place = int(np.argmin(posteriors))
    if impossible:
        backend = parser.backend
        told = backend.impossible_part(tree) if isinstance(backend, Explaining) else None
        place = place if told is None else told
        posteriors = np.where(parse.logprob == -math.inf, 1.0, posteriors)
        posteriors[place] = 0.0
    log = float(np.log(np.maximum(posteriors, LEAST)).sum()) if impossible else math.log(parse.probability)
    return Suspect(
        number,
        log / len(parse.sentence),
        _named(parse, place),
        float(posteriors[place]),
        " ".join(parse.sentence.words),
        float(posteriors.mean()),
        impossible,
        place,
    )


def _named(parse: Parse, place: int) -> str:
    """A part of a tree in words."""
    words = parse.sentence.words
    if isinstance(parse.tree, Tree):
        label, first, end = list(parse.tree.spans())[place]
        return f"{label} over {' '.join(words[first:end])}"
    head = parse.tree.heads[place]
    return f"{words[place]} under {words[head - 1] if head else 'the root'}"


def suspects_report(suspects: Sequence[Suspect], trees: Sequence[AnyTree], title: str) -> str:
    """A page with the table, and the trees with the part that is doubted in colour."""
    page = Report(title)
    page.text(
        "The most doubtful trees, worst first. A score is log p(tree | sentence) per word; where the model cannot "
        "derive the tree, the posteriors of its parts are used instead."
    )
    page.table(
        ("tree", "score", "least probable part", "its probability", "sentence"),
        [
            (str(each.number), f"{each.per_word:.3f}", each.part, f"{each.probability:.3g}", each.text)
            for each in suspects
        ],
    )
    for each in suspects[:DRAWN]:
        tree = trees[each.number - 1]
        parts = sum(1 for _ in tree.nodes()) if isinstance(tree, Tree) else len(tree)
        shades = [0.0 if place == each.place else 1.0 for place in range(parts)]
        why = ", which makes the tree impossible to the model" if each.impossible else ""
        page.picture(draw(tree, shades), f"Tree {each.number}: {each.part}{why}")
    return page.html()
