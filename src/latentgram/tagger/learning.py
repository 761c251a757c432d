"""Learning a `Tagger`: features of word forms, weights by online learning of a log-linear model, averaged.

Every feature that occurs in training at a word with more than one candidate has a weight for the parts of the
correct tag and, if it was seen at least `frequent` times, for those of all candidates. The loss is −log p(tags |
words), so that posteriors are probabilities; averaging the weights over all steps keeps them from being
overconfident.

With FEATS a tag has many parts, whose weights together make it overconfident: all scores are multiplied by the
factor with which the posteriors of a tagger that has not seen every fifth sentence are calibrated there
(scaling.py).

Jackknifing (`jackknifed`) tags each part of a treebank by a tagger that was learned from the other parts: training
data for a parser that will get predicted tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentgram.arrays import Codes, Flags, Floats32, Ints, Ints16, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.kernels.forest import numbered
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.numeric.adagrad import Moving
from latentgram.tagger.candidates import Candidates
from latentgram.tagger.guesser import Guesser
from latentgram.tagger.kernels.cells import cells
from latentgram.tagger.kernels.chain import Steps
from latentgram.tagger.kernels.features import keys_of
from latentgram.tagger.kernels.learning import Observed, Weights, learn_round
from latentgram.tagger.model import Tagger
from latentgram.tagger.scaling import fitted_scale
from latentgram.tagger.settings import GradientTagger
from latentgram.tagger.spelling import SpellingTable
from latentgram.tagger.tagset import TagSet, Triple, tag_triples

FOLDS = 5
"""A sentence out of so many is held out to find how sure a tagger with FEATS may be."""
LARGEST_TABLE = 1 << 21
"""Weights of three tags in a row beyond so many share places."""
SMALLEST = 0.01
"""Weights smaller than this are not kept."""
FLOOR = 1e-4
"""A tag of words that look like a rare one has at least this share of the probability of the likeliest."""
MARGIN = 10.0
"""Candidates that score so much less than the best one of their token are left out."""
MOST_WEIGHTS = 20_000_000
"""At most so many weights for the frequent features."""


@dataclass(frozen=True, eq=False)
class Tagged:
    """Tagged sentences end to end."""

    forms: SpellingTable
    token: Ints
    start: Ints
    gold: Ints
    names: tuple[Triple, ...]
    """XPOS, UPOS and FEATS of every tag."""

    @classmethod
    def of(cls, sentences: Sequence[Sentence], feats: bool) -> Tagged:
        """Number words and tags."""
        sentences = [sentence for sentence in sentences if sentence.tags is not None]
        if not sentences:
            raise DataError("there are no tagged sentences to learn from")
        feats = feats and any(sentence.feats is not None for sentence in sentences)
        forms, token = SpellingTable.of(word for sentence in sentences for word in sentence.words)
        start = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
        tags = [triple for sentence in sentences for triple in tag_triples(sentence, feats)]
        names = tuple(sorted(set(tags)))
        number = {triple: i for i, triple in enumerate(names)}
        return cls(forms, token, start, np.array([number[triple] for triple in tags], np.int64), names)

    def candidates(self, closed: int) -> tuple[Candidates, Guesser]:
        """Which tags each word may have, and what tells those of words that were never seen."""
        words = self.forms.words
        order = np.array(sorted(range(len(words)), key=words.__getitem__))
        place = np.empty(len(words), np.int64)
        place[order] = np.arange(len(words))
        n_tags = len(self.names)
        seen = np.unique(place[self.token] * n_tags + self.gold)
        word, tag = seen // n_tags, (seen % n_tags).astype(np.int16)
        rare = np.bincount(place[self.token], minlength=len(words)) < closed
        forms = self.forms.table[order]
        guesser = Guesser.of(forms, word, tag, rare if rare.any() else ~rare, FLOOR)
        seen_start = np.searchsorted(word, np.arange(len(words) + 1)).astype(np.int64)
        start, tags = guesser.candidates(forms, n_tags, seen_start, tag, rare)
        every = np.unique(tags)
        sorted_words = Alphabet(tuple(words[i] for i in order.tolist()))
        return Candidates(sorted_words, start, tags, np.ones(len(words), np.bool_), every), guesser


def learn_tagger(data: Any, learner: GradientTagger, context: Context) -> Tagger:
    """A tagger of tagged sentences or of the sentences of a treebank."""
    sentences = _sentences(data)
    tagger = _learn(sentences, learner, context)
    if not tagger.feats or len(sentences) < FOLDS:
        return tagger
    without, part = next(_held_out(sentences, learner, FOLDS))
    return tagger.scaled(fitted_scale(without, [sentences[i] for i in part]))


def _sentences(data: Any) -> list[Sentence]:
    if isinstance(data, Treebank):
        return data.sentences()
    return [item.sentence if isinstance(item, DependencyTree | Tree) else Sentence.of(item) for item in data]


def _learn(sentences: Sequence[Sentence], learner: GradientTagger, context: Context) -> Tagger:
    data = Tagged.of(sentences, learner.feats)
    tags = TagSet(data.names)
    candidates, guesser = data.candidates(learner.closed)
    start, tag = candidates.of_tokens(data.forms, data.token, guesser, len(data.names))
    open_tokens = np.diff(start) > 1
    keys = keys_of(data.forms.table, data.token, data.start, open_tokens)
    feature, features, row_start, row_part = _observe(
        keys, start, tag, data.gold, open_tokens, tags, learner.frequent
    )
    feature_row = (np.cumsum(open_tokens) - 1).astype(np.int32)
    seen = Observed(data.start, data.gold, start, tag, features, feature_row)
    n_tags = len(data.names)
    sizes = (len(row_part), (n_tags + 1) ** 2, min((int(tags.group[-1]) + 1) ** 3, LARGEST_TABLE))
    weights = Weights(row_start, row_part, *(moving(np.zeros(size, np.float32)) for size in sizes))
    exponentials = Steps(np.ones((n_tags + 1, n_tags + 1), np.float32), np.ones(sizes[2], np.float32), tags.group)
    rng = np.random.default_rng(learner.seed)
    count = len(data.start) - 1
    trace = []
    for done in range(1, learner.passes + 1):
        order, moment = rng.permutation(count), float((done - 1) * count)
        try:
            loss = learn_round(order, seen, tags.parts, MARGIN, learner.step, moment, weights, exponentials)
        except ZeroDivisionError:  # the exponentials of the weights have no sum
            raise SettingError(
                f"weights grew too large with a step of {learner.step:g}: use a smaller one"
            ) from None
        context.progress.step("learning", done, learner.passes, loss=loss / len(data.token))
        trace.append({"pass": float(done), "loss": loss / len(data.token)})
    moments = float(learner.passes * count)
    mean, pair, triple = (part.value - part.drift / moments for part in weights[2:])
    kept = np.abs(mean) >= SMALLEST
    row = np.repeat(np.arange(len(feature)), np.diff(row_start))[kept]
    used = np.unique(row)
    return Tagger(
        tuple(xpos for xpos, _, _ in data.names),
        tuple(upos for _, upos, _ in data.names),
        candidates,
        feature[used],
        np.searchsorted(row, np.append(used, len(feature))).astype(np.int64),
        row_part[kept],
        mean[kept].astype(np.float32),
        pair.reshape(n_tags + 1, n_tags + 1).astype(np.float32),
        triple.astype(np.float32),
        Provenance(trace=tuple(trace)),
        tuple(feats for _, _, feats in data.names) if any(feats for _, _, feats in data.names) else (),
        guesser,
        MARGIN,
    )


def moving(values: Floats32) -> Moving:
    """Weights that begin to move; what a step changes of one stands together, for the sake of the cache."""
    together = np.zeros((values.size, 4), np.float32)
    together[:, 0] = values.ravel()
    return Moving(together[:, 0], together[:, 1], together[:, 2])


def _observe(
    keys: Codes, start: Ints, tag: Ints16, gold: Ints, wanted: Flags,
    tags: TagSet, frequent: int,
) -> tuple[Codes, Ints32, Ints, Ints16]:  # fmt: skip
    """The features seen, those of every token, and the parts for which each is weighed with where they begin."""
    feature, flat = numbered(keys.ravel())
    count = np.bincount(flat, minlength=len(feature))
    rows = flat.reshape(keys.shape).astype(np.int32)
    if len(feature) and feature[0] == 0:
        feature, count, rows = feature[1:], count[1:], rows - np.int32(1)
    tokens = np.flatnonzero(wanted)
    while True:
        row_start, row_part = cells(rows, count, tokens, start, tag, gold, tags.parts, frequent)
        if len(row_part) <= MOST_WEIGHTS:
            return feature, rows, row_start, row_part
        frequent *= 2


def jackknifed(
    trees: Treebank[DependencyTree], learner: GradientTagger, context: Context, folds: int = 5
) -> Treebank[DependencyTree]:
    """The trees with tags and features in place of the gold ones, by taggers that have not seen the sentence."""
    found: list[DependencyTree] = list(trees)
    sentences = trees.sentences()
    for fold, (tagger, part) in enumerate(_held_out(sentences, learner, folds), 1):
        context.progress.step("jackknifing", fold, folds)
        for i, (tagged, _) in zip(part, tagger.annotate([sentences[i] for i in part]), strict=True):
            found[i] = found[i].replace(xpos=tagged.xpos or (), upos=tagged.upos or (), feats=tagged.feats or ())
    return Treebank.of(found)


def _held_out(
    sentences: Sequence[Sentence], learner: GradientTagger, folds: int
) -> Iterator[tuple[Tagger, range]]:
    """For each fold a tagger that was learned from the others, and the numbers of the fold's sentences."""
    for fold in range(folds):
        others = [sentence for i, sentence in enumerate(sentences) if i % folds != fold]
        yield _learn(others, learner, Context()), range(fold, len(sentences), folds)
