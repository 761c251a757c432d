"""Scores of candidates on held-out data, for learners that choose among them, depending on the kind of model.

Parsers are scored by the accuracy of their parses, taggers by that of their tags, others by log-probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.evaluate.tagging import score_tags
from latentgram.kinds.kind import Kind
from latentgram.kinds.settings import Settings
from latentgram.learn.reading import read_tagged_file, read_text
from latentgram.parser.parser import accuracy_on

if TYPE_CHECKING:
    from latentgram.kinds.protocols import Model, Renaming, Scorer, SentenceTagger

NOTHING_HELD_OUT = "there are no held-out sentences: the file is empty"
IMPOSSIBLE = -1000.0
"""What a sentence of no positive probability counts."""

Judge = Callable[["Model"], float]


def judge_on(kind: Kind, file: Path, learner: Settings, data: object) -> Judge:
    """A function that rates models of a kind on held-out data of the kind of `data`; higher is better."""
    if kind.parser:
        # Names of relations tell of crossing arcs, so a choice that concerns these looks at the names as well.
        figure = "las" if learner.said.get("choose_crossing") else "headline"
        return accuracy_on(held_out_trees(file, data), figure=figure)
    if kind.tagger:
        return _by_tags(file)
    if kind.scores == "sentences":
        return _by_sentences(file, learner)
    trees = held_out_trees(file, data)
    return lambda model: sum(cast("Scorer[Tree | DependencyTree]", model).logprob(tree) for tree in trees)


def held_out_trees(file: Path, data: object) -> Treebank[Tree] | Treebank[DependencyTree]:
    """Trees of the kind of those to learn from."""
    held = Treebank.read(file)
    if not len(held):
        raise DataError("there are no held-out trees: the file is empty", path=file)
    wanted = data.kind if isinstance(data, Treebank) else held.kind
    if held.kind != wanted:
        raise DataError(f"held-out trees must be {wanted} trees, like the training trees", path=file)
    return held


def _by_sentences(file: Path, learner: Settings) -> Judge:
    """The mean log-probability of held-out sentences."""
    sentences = [sentence.words for sentence in read_text([file], learner)]
    if not sentences:
        raise DataError(NOTHING_HELD_OUT, path=file)

    def rate(model: Model) -> float:
        logs = np.array([cast("Scorer[Sequence[str]]", model).logprob(words) for words in sentences])
        return float(np.where(np.isfinite(logs), logs, IMPOSSIBLE).mean())

    return rate


def _by_tags(file: Path) -> Judge:
    """Tagging accuracy on held-out sentences; clusters without names count many-to-one."""
    sentences = read_tagged_file(str(file))
    if not sentences:
        raise DataError(NOTHING_HELD_OUT, path=file)
    gold = [sentence.tags or () for sentence in sentences]
    names = {tag for tags in gold for tag in tags}

    def rate(model: Model) -> float:
        tagger = cast("SentenceTagger", model)
        output = [result.tags for result in tagger.tag_all([sentence.words for sentence in sentences])]
        score = score_tags(gold, output)
        return score.accuracy if names & set(tagger.tags) else score.many_to_one

    return rate


def named_tags(model: Renaming, file: str) -> Renaming:
    """A tagger whose tags are renamed many-to-one to those of tagged data."""
    pairs: Counter[tuple[str, str]] = Counter()
    sentences = read_tagged_file(file)
    if not sentences:
        raise DataError("there are no sentences from which to name the tags", path=file)
    for sentence, result in zip(sentences, model.tag_all([s.words for s in sentences]), strict=True):
        pairs.update(zip(result.tags, sentence.tags or (), strict=True))
    best: dict[str, tuple[int, str]] = {}
    for (tag, gold), count in sorted(pairs.items()):
        if count > best.get(tag, (0, ""))[0]:
            best[tag] = (count, gold)
    return model.renamed({tag: gold for tag, (_, gold) in best.items()})
