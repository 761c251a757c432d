"""Learning which cells of a chart may stay closed (kernels/closing.py), from the trees a grammar is learned from.

The tags known to a parser are either given or its own best ones. So each tree is used twice: with the tags of the
treebank, and with those found by the grammar's bigram model of tags, a few of which are changed at random, because
the model knows these words too well.

A cell is closed if its score is below a threshold, which is chosen on trees that were held out: the
greatest one below which at most one in two thousand nodes of these trees lies. If a treebank has too few nodes to
estimate this, no cells are closed. Weights are rounded to bytes: a quarter of a megabyte.

The training examples are divided into shares that are learned in parallel; their number does not depend on the
number of threads.

Cost: passes · 2 · trees · 30 n²/2 look-ups, for at most `MOST` trees spread over the treebank; this is repeated
until enough nodes have been held out, which takes one round for all but small treebanks.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Floats32, Ints
from latentgram.data.forest import Forest
from latentgram.data.kernels.forest import numbered
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.lpcfg.kernels.chart import cells_of
from latentgram.lpcfg.kernels.closing import BITS, UNIT, Lessons, learn_lessons, node_scores, sentence_tags
from latentgram.lpcfg.model import LPCFG, layout
from latentgram.lpcfg.projection import Asked, LeafTable, Projection
from latentgram.parallel import Engine, within

MOST = 3_000
"""Trees to learn from."""
PASSES, STEP, WORTH, NOISE = 3, 0.07, 3.0, 0.04
"""How often all lessons are gone through, the size of steps, what a node counts beside a span that is none, and
the share of the model's tags that are changed."""
SHARES = 2
"""Into how many shares the lessons of a pass are dealt: each is learned from the weights of the last pass, by
itself, and the means of what all have learned are the weights of the next (McDonald, Hall and Mann 2010)."""
LOST = 5e-4
"""The share of nodes that may be lost."""
ENOUGH, FEWEST = 10_000, 1_000
"""Nodes on which a least score is chosen, if there are so many, and below which it cannot be."""
PARTS = 5


class Closed(NamedTuple):
    """What closes cells: `LPCFG.closing_weight` and `LPCFG.closing_least`."""

    weight: NDArray[np.int8]
    least: float


def with_closing(grammar: LPCFG, treebank: Treebank[Tree], engine: Engine, seed: int = 0) -> LPCFG:
    """The grammar with what closes cells, learned from the trees it was learned from."""
    return closed(grammar, learn_closing(grammar, treebank, engine, seed))


def closed(grammar: LPCFG, learned: Closed | None) -> LPCFG:
    """The grammar with what closes cells, if there is something."""
    if learned is None:
        return grammar
    return dataclasses.replace(grammar, closing_weight=learned.weight, closing_least=learned.least)


def learn_closing(grammar: LPCFG, treebank: Treebank[Tree], engine: Engine, seed: int = 0) -> Closed | None:
    """What closes the cells of a grammar that was learned from these trees, None if they are too few.

    Of the grammar only its counts are looked at, so an outline of it will do (lexicon.py).
    """
    lessons = _lessons(grammar, treebank, np.random.default_rng(seed))
    if lessons is None:
        return None
    number = len(lessons.start) - 1
    ends = [number // 2 * part // PARTS * 2 for part in range(PARTS + 1)]
    kept_out: list[Floats32] = []
    for first, end in itertools.pairwise(ends):
        learned = _Weights(lessons, seed, engine)
        learned.learn(np.concatenate((np.arange(first), np.arange(end, number))))
        kept_out.append(learned.scores_of_nodes(first, end))
        learned.learn(np.arange(first, end))  # in the end all trees have been learned from
        if sum(map(len, kept_out)) >= ENOUGH:
            break
    scores = np.sort(np.concatenate([np.zeros(0, np.float32), *kept_out]))
    if len(scores) < FEWEST:
        return None
    return Closed(learned.in_bytes(), float(scores[int(LOST * len(scores))]))


class _Weights:
    """Weights that are being learned."""

    def __init__(self, lessons: Lessons, seed: int, engine: Engine) -> None:
        self._lessons, self._threads = lessons, within(engine)
        self._random = np.random.default_rng(seed)
        self._weights, self._squares = np.zeros(1 << BITS, np.float32), np.full(1 << BITS, 1e-6, np.float32)

    def learn(self, chosen: Ints) -> None:
        """Go through lessons in random order, a few times."""
        for _ in range(PASSES):
            order = self._random.permutation(chosen)
            parts = list(self._threads.map(self._learned, [order[part::SHARES].copy() for part in range(SHARES)]))
            self._squares = self._squares + sum(squares - self._squares for _, squares in parts)
            self._weights = np.mean([weights for weights, _ in parts], axis=0, dtype=np.float32)

    def _learned(self, order: Ints) -> tuple[Floats32, Floats32]:
        """The weights, and the sums of squares, after some lessons more."""
        weights, squares = self._weights.copy(), self._squares.copy()
        learn_lessons(order, self._lessons, weights, squares, STEP, WORTH)
        return weights, squares

    def in_bytes(self) -> NDArray[np.int8]:
        """Rounded."""
        return np.asarray(np.clip(np.rint(self._weights / UNIT), -127, 127), np.int8)

    def scores_of_nodes(self, first: int, end: int) -> Floats32:
        """Those of the nodes of some lessons that might be lost."""
        scores: Floats32 = node_scores(first, end, self._lessons, self.in_bytes())
        return scores


def _lessons(grammar: LPCFG, treebank: Treebank[Tree], random: np.random.Generator) -> Lessons | None:
    """Two for each of some trees of the treebank, if there are any."""
    spread = np.unique(np.linspace(0, len(treebank) - 1, min(len(treebank), MOST)).astype(np.int64))
    chosen = treebank.select(spread[treebank.lengths[spread] > 2])
    if grammar.plain or not len(chosen):
        return None
    binary = grammar.binarisation.binarise(chosen.forest)
    lengths, tree, width = binary.lengths, binary.tree_of, binary.end - binary.begin
    start, cell = layout(np.repeat(lengths, 2)), layout(np.repeat(lengths * (lengths + 1) // 2, 2))
    is_node, cells = np.zeros(cell[-1], bool), cells_of(lengths[tree], binary.begin, width)
    for twin in range(2):
        is_node[cell[2 * tree + twin] + cells] = True
    table = LeafTable(grammar)
    leaves = table.of_all(*_twins(chosen.forest, start))
    own, bigram = leaves.symbol - np.int32(len(grammar.interminals)), Projection(table).boundaries.bigram
    tag = sentence_tags(start, leaves.begin, own, leaves.weight, bigram, grammar.preterminal_tag)
    found = np.repeat(np.arange(2 * len(chosen)) % 2 == 1, np.diff(start))
    changed = found & (random.random(len(tag)) < NOISE)
    tag[changed] = random.choice(np.unique(grammar.preterminal_tag), int(changed.sum()))
    return Lessons(start, cell, tag, leaves.word, is_node)


def _twins(forest: Forest, start: Ints) -> tuple[list[Asked], Ints]:
    """The distinct words of sentences with and without their tags, and which of them each word of the lessons is:
    every sentence first with its tags, then without; lesson l begins at `start[l]`."""
    over_word, none = forest.is_tag, len(forest.labels)
    first = forest.begin[over_word] == 0
    tag = forest.label[over_word].astype(np.int64)
    sentence = np.cumsum(first) - 1
    within = np.arange(len(first)) - start[2 * sentence] // 2
    key = np.empty(start[-1], np.int64)
    for twin, tags in enumerate((tag, np.full_like(tag, none))):
        key[start[2 * sentence + twin] + within] = (forest.word[over_word] * (none + 1) + tags) * 2 + first
    distinct, place = numbered(key)
    names = (*forest.labels, None)
    word, tag_first = (part.tolist() for part in np.divmod(distinct, 2 * (none + 1)))
    asked = [
        (forest.words[number], names[other // 2], bool(other % 2))
        for number, other in zip(word, tag_first, strict=True)
    ]
    return asked, place
