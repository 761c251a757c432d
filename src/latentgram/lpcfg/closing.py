"""Learning which cells of a chart may stay closed (kernels/closing.py), from the trees a grammar is learned from.

The tags that a parser knows are given, or its own best ones. So each tree is a lesson twice: with the tags of the
treebank, and with those that the grammar's bigram model of tags finds, a few of them changed at random, because
the model knows these words too well.

A cell is closed if its score is below a least score. It is chosen on trees that were kept out of learning: the
greatest score below which at most one in two thousand nodes of these trees lies. A treebank with too few nodes to
tell gets no closing at all. Weights are rounded to bytes: a quarter of a megabyte.

Cost: passes · 2 · trees · 30 n²/2 look-ups, at most for `MOST` trees spread over the treebank; as often as parts
have to be kept out to have nodes enough, which is once for all but small treebanks.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Flags, Floats, Floats32, Ints
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.lpcfg.kernels.chart import cells_of
from latentgram.lpcfg.kernels.closing import BITS, UNIT, filter_tags, learn_sentence, span_scores, sure_tags
from latentgram.lpcfg.leaves import LeafTable, Leaves
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.projection import Projection

MOST = 3_000
"""Trees to learn from."""
PASSES, STEP, WORTH, NOISE = 3, 0.07, 3.0, 0.04
"""How often all lessons are gone through, the size of steps, what a node counts beside a span that is none, and
the share of the model's tags that are changed."""
LOST = 5e-4
"""The share of nodes that may be lost."""
ENOUGH, FEWEST = 10_000, 1_000
"""Nodes on which a least score is chosen, if there are so many, and below which it cannot be."""
PARTS = 5


class _Lesson(NamedTuple):
    tag: Ints
    word: Ints
    is_node: Flags


class Closed(NamedTuple):
    """What closes cells: `LPCFG.closing_weight` and `LPCFG.closing_least`."""

    weight: NDArray[np.int8]
    least: float


def with_closing(grammar: LPCFG, treebank: Treebank[Tree], seed: int = 0) -> LPCFG:
    """The grammar with what closes cells, learned from the trees it was learned from."""
    return closed(grammar, learn_closing(grammar, treebank, seed))


def closed(grammar: LPCFG, learned: Closed | None) -> LPCFG:
    """The grammar with what closes cells, if there is something."""
    if learned is None:
        return grammar
    return dataclasses.replace(grammar, closing_weight=learned.weight, closing_least=learned.least)


def learn_closing(grammar: LPCFG, treebank: Treebank[Tree], seed: int = 0) -> Closed | None:
    """What closes the cells of a grammar that was learned from these trees, None if they are too few.

    Of the grammar only its counts are looked at, so an outline of it will do (lexicon.py).
    """
    if grammar.plain or not len(grammar.interminals):
        return None
    lessons = _lessons(grammar, treebank, np.random.default_rng(seed))
    ends = [len(lessons) // 2 * part // PARTS * 2 for part in range(PARTS + 1)]
    kept_out: list[Floats32] = []
    for first, end in itertools.pairwise(ends):
        learned = _Weights(seed)
        learned.learn(lessons[:first] + lessons[end:])
        kept_out += [learned.scores_of_nodes(lesson) for lesson in lessons[first:end]]
        learned.learn(lessons[first:end])  # in the end all trees have been learned from
        if sum(map(len, kept_out)) >= ENOUGH:
            break
    scores = np.sort(np.concatenate([np.zeros(0, np.float32), *kept_out]))
    if len(scores) < FEWEST:
        return None
    return Closed(learned.in_bytes(), float(scores[int(LOST * len(scores))]))


class _Weights:
    """Weights that are being learned."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._weights, self._squares = np.zeros(1 << BITS, np.float32), np.full(1 << BITS, 1e-6, np.float32)

    def learn(self, lessons: list[_Lesson]) -> None:
        """Go through lessons in random order, a few times."""
        for _ in range(PASSES):
            for number in self._random.permutation(len(lessons)).tolist():
                tag, word, is_node = lessons[number]
                learn_sentence(tag, word, is_node, self._weights, self._squares, STEP, WORTH)

    def in_bytes(self) -> NDArray[np.int8]:
        """Rounded."""
        return np.asarray(np.clip(np.rint(self._weights / UNIT), -127, 127), np.int8)

    def scores_of_nodes(self, lesson: _Lesson) -> Floats32:
        """Those of the nodes that might be lost: over two words and more, but not over all."""
        wide = lesson.is_node.copy()
        wide[: len(lesson.tag)] = wide[-1] = False
        scores: Floats32 = span_scores(lesson.tag, lesson.word, self.in_bytes())[wide]
        return scores


def _lessons(grammar: LPCFG, treebank: Treebank[Tree], random: np.random.Generator) -> list[_Lesson]:
    """Two for each of at most so many trees that has more than two words."""
    trees = np.unique(np.linspace(0, len(treebank) - 1, min(len(treebank), MOST)).astype(np.int64))
    chosen = treebank.select(trees)
    binary, sentences = grammar.binarisation.binarise(chosen.forest), list(chosen.sentences())
    first, widths, lengths = binary.begin, binary.end - binary.begin, binary.lengths.tolist()
    table = LeafTable(grammar)
    bigram, codes = Projection(table).boundaries.bigram, np.unique(grammar.preterminal_tag)
    lessons = []
    for number, (sentence, length) in enumerate(zip(sentences, lengths, strict=True)):
        nodes = slice(int(binary.start[number]), int(binary.start[number + 1]))
        if length < 3:
            continue
        is_node = np.zeros(length * (length + 1) // 2, bool)
        is_node[cells_of(length, first[nodes], widths[nodes])] = True
        for asked in (sentence, Sentence(sentence.words)):
            leaves = table.of(asked)
            tag = tags_of(leaves, table, bigram)
            if asked is not sentence:
                changed = random.random(length) < NOISE
                tag[changed] = random.choice(codes, int(changed.sum()))
            lessons.append(_Lesson(tag, leaves.word, is_node))
    return lessons


def tags_of(leaves: Leaves, table: LeafTable, bigram: Floats) -> Ints:
    """The most probable tags of words."""
    own = leaves.symbol - np.int32(len(table.grammar.interminals))
    forward, backward, _ = filter_tags(leaves.begin, own, leaves.weight, bigram)
    tags: Ints = sure_tags(leaves.begin, own, forward, backward, table.grammar.preterminal_tag)
    return tags
