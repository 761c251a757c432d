"""Charts to learn from: those that a grammar makes of sentences it has not seen, and the target trees.

A grammar is far more confident about the trees it was learned from than about others, so charts of these would
teach a layer to trust everything the grammar says. `jackknifed` divides a treebank into several parts, learns one
grammar for each from all other parts, and lets it make the charts of that part: once with the tags of the treebank
and once with its own, so that one layer serves both. If a tagger helps with the latter (tags.py), each part has a
tagger that has not seen it either. These charts contain more than those of parsing (the thresholds are lower),
since a layer must also learn what is wrong. Parts are independent of each other and can be processed anywhere.

Neighbouring trees are often of one text and share its names, so parts are made of stretches of trees. But a long
stretch may have been annotated by other people, or be of another kind of text, than all the rest, which a grammar
of the whole treebank knows well. So the stretches are short and are dealt out to the parts in turn.

Cost: learning as many grammars as there are parts, and two parses of every sentence. A chart takes about 10 kB.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.forest import Forest
from latentgram.data.head_rules import HeadRules
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.lpcfg.crf.kernels.learning import Lesson
from latentgram.lpcfg.crf.kernels.target import gold_nodes, target_tree
from latentgram.lpcfg.crf.kernels.view import NARROW
from latentgram.lpcfg.crf.symbols import GrammarSymbols, WordCodes
from latentgram.lpcfg.crf.tags import TagEvidence
from latentgram.lpcfg.kernels.edgewise import log_shares
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.labels import LabelTable
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.tagger.model import Tagger

STRETCHES = 10
"""Of a part."""

Learn = Callable[[Treebank[Tree]], LPCFG | Ensemble]
LearnTagger = Callable[[Treebank[Tree]], Tagger | None]


@dataclass(frozen=True)
class Teacher:
    """Makes lessons of trees that its grammar has not seen."""

    grammar: LPCFG | Ensemble
    heads: HeadRules
    tagger: Tagger | None = None
    """What helps with the tags of sentences without any."""
    templates: int = NARROW
    """Which features the layer has."""
    codes: WordCodes = dataclasses.field(default_factory=WordCodes)

    def lessons(self, forest: Forest) -> Iterator[Lesson]:
        """Two for each tree, with the tags of the treebank and without; none where there is no parse."""
        grammars = self.grammar.grammars if isinstance(self.grammar, Ensemble) else (self.grammar,)
        first = grammars[0]
        cascade, symbols = Cascade(grammars, Pruning()), GrammarSymbols(first, self.heads, self.templates).table
        evidence = None if self.tagger is None else TagEvidence(self.tagger, first)
        names = Alphabet((*first.interminals, *first.preterminals))
        table = LabelTable(names, len(first.interminals))
        chains = table.begin, table.flat
        forest = first.binarisation.stripped(forest)
        label = table.labels.encode(forest.labels)[forest.label]
        for number, sentence in enumerate(forest.sentences()):
            nodes = slice(int(forest.start[number]), int(forest.start[number + 1]))
            gold = gold_nodes(
                label[nodes],
                forest.begin[nodes],
                forest.end[nodes],
                len(sentence),
                len(table.labels),
                table.columns,
            )
            words = self.codes.of(sentence.words)
            for asked in (sentence, Sentence(sentence.words)):
                posterior = cascade.posterior(cascade.leaves.of(asked), closing=True)
                if posterior is None:
                    continue
                item, edge = posterior.item.astype(np.float32), posterior.edge.astype(np.float32)
                if evidence is not None:
                    item, edge = evidence.reweighed(asked, posterior.chart, item, edge)
                target = target_tree(posterior.chart, log_shares(posterior.chart, item, edge), gold, *chains)
                yield Lesson(posterior.chart, item, edge, words, symbols, *target)


def dealt(trees: int, folds: int) -> Ints:
    """The part of each tree: stretches of neighbours, dealt out in turn; no more parts than trees.

    >>> dealt(12, 2).tolist(), dealt(7, 5).tolist()
    ([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 2, 2, 3, 4])
    """
    stretches = folds * max(min(STRETCHES, trees // folds), 1)
    return np.arange(trees) * stretches // trees % folds


def jackknifed(
    treebank: Treebank[Tree],
    folds: int,
    learn: Learn,
    heads: HeadRules,
    context: Context,
    learn_tagger: LearnTagger = lambda part: None,
    templates: int = NARROW,
) -> list[Lesson]:
    """The lessons of a treebank, each part taught by a grammar, and a tagger if there is one, of the others."""
    if folds < 2:
        raise SettingError(
            "folds must be at least 2: a layer learns nothing from charts of trees that the grammar has seen"
        )
    if len(treebank) < 2:
        raise DataError(
            "a layer needs at least two trees, because no grammar may have seen the trees of its charts"
        )
    folds = min(folds, len(treebank))
    fold_of = dealt(len(treebank), folds)

    def part(fold: int) -> list[Lesson]:
        others = treebank.select(np.flatnonzero(fold_of != fold))
        teacher = Teacher(learn(others), heads, learn_tagger(others), templates)
        return list(teacher.lessons(treebank.select(np.flatnonzero(fold_of == fold)).forest))

    lessons: list[Lesson] = []
    for fold, more in enumerate(context.engine.map(part, range(folds))):
        lessons += more
        context.progress.step("folds", fold + 1, folds)
    return lessons
