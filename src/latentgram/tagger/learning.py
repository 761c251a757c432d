"""Learning a `Tagger`: features of word forms, weights by online learning of a log-linear model, averaged.

Every feature that training shows has a weight for each tag it was seen with, and for all tags if it was seen at
least `frequent` times. The loss is −log p(tags | words), so that posteriors are probabilities: the mean over all
moments of learning keeps them from being too sure.

Jackknifing (`jackknifed`) tags each part of a treebank by a tagger that was learned from the other parts: what a
parser should be trained on that will be given tags with a tagger's errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.dependencies import DependencyTree
from latentgram.data.kernels.numbering import numbered
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.kinds.kind import Context
from latentgram.tagger.kernels.features import all_keys
from latentgram.tagger.kernels.learning import learn_round
from latentgram.tagger.model import Candidates, Tagger
from latentgram.tagger.settings import GradientTagger
from latentgram.tagger.spelling import SpellingTable

Ints = NDArray[np.int64]

LARGEST_TABLE = 1 << 21
"""Weights of three tags in a row beyond so many share places."""
SMALLEST = 0.01
"""Weights smaller than this are not kept."""
OPEN_TYPES = 2
"""A tag is open if so many different rare words have it."""
MOST_WEIGHTS = 20_000_000
"""At most so many weights for the frequent features."""


@dataclass(frozen=True, eq=False)
class Tagged:
    """Tagged sentences end to end."""

    forms: SpellingTable
    token: Ints
    start: Ints
    gold: Ints
    pairs: tuple[tuple[str, str], ...]
    """The fine and the coarse name of every tag."""

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Tagged:
        """Number words and tags."""
        sentences = [sentence for sentence in sentences if sentence.tags is not None]
        if not sentences:
            raise DataError("there are no tagged sentences to learn from")
        forms = SpellingTable()
        token = forms.encode(word for sentence in sentences for word in sentence.words)
        start = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
        names = [pair for sentence in sentences for pair in tag_pairs(sentence)]
        pairs = tuple(sorted(set(names)))
        number = {pair: i for i, pair in enumerate(pairs)}
        return cls(forms, token, start, np.array([number[pair] for pair in names], np.int64), pairs)

    def candidates(self, closed: int) -> Candidates:
        """Which tags each word was seen with, and which tags are open."""
        words = self.forms.words
        order = sorted(range(len(words)), key=words.__getitem__)
        place = np.empty(len(words), np.int64)
        place[order] = np.arange(len(words))
        n_tags = len(self.pairs)
        seen = np.unique(place[self.token] * n_tags + self.gold)
        count = np.bincount(place[self.token], minlength=len(words))
        rare = count[seen // n_tags] < max(closed // 2, 2)
        types = np.bincount(seen[rare] % n_tags, minlength=n_tags)
        is_open = types >= OPEN_TYPES if (types >= OPEN_TYPES).any() else np.ones(n_tags, np.bool_)
        return Candidates(
            Alphabet(tuple(words[i] for i in order)),
            np.searchsorted(seen // n_tags, np.arange(len(words) + 1)).astype(np.int64),
            (seen % n_tags).astype(np.int16),
            count >= closed,
            np.flatnonzero(is_open).astype(np.int16),
        )


def tag_pairs(sentence: Sentence) -> list[tuple[str, str]]:
    """The fine and the coarse tag of every word."""
    fine, coarse = (tags or ("",) * len(sentence) for tags in (sentence.xpos, sentence.upos))
    return list(zip(fine, coarse, strict=True))


def learn_tagger(data: Any, learner: GradientTagger, context: Context) -> Tagger:
    """A tagger of tagged sentences or of the sentences of a treebank."""
    return _learn(_sentences(data), learner, context)


def _sentences(data: Any) -> list[Sentence]:
    return data.sentences() if isinstance(data, Treebank) else [Sentence.of(item.sentence) for item in data]


def _learn(sentences: Sequence[Sentence], learner: GradientTagger, context: Context) -> Tagger:
    data = Tagged.of(sentences)
    n_tags = len(data.pairs)
    candidates = data.candidates(learner.closed)
    start, tag = candidates.of_tokens(data.forms, data.token)
    feature, rows, row_start, row_tag = _observe(data, learner.frequent)
    weights, squares, drift = (np.zeros(len(row_tag), np.float32) for _ in range(3))
    pair, pair_squares, pair_drift = (np.zeros((n_tags + 1, n_tags + 1), np.float32) for _ in range(3))
    size = min((n_tags + 1) ** 3, LARGEST_TABLE)
    triple, triple_squares, triple_drift = (np.zeros(size, np.float32) for _ in range(3))
    factor = np.ones(size, np.float32)
    rng = np.random.default_rng(learner.seed)
    count = len(data.start) - 1
    trace = []
    for done in range(1, learner.passes + 1):
        loss = learn_round(
            rng.permutation(count), data.start, rows, row_start, row_tag, start, tag, data.gold, n_tags,
            learner.step, float((done - 1) * count), weights, squares, drift,
            pair, pair_squares, pair_drift, triple, triple_squares, triple_drift, factor,
        )  # fmt: skip
        context.progress.step("learning", done, learner.passes, loss=loss / len(data.token))
        trace.append({"pass": float(done), "loss": loss / len(data.token)})
    moments = float(learner.passes * count)
    mean = weights - drift / moments
    kept = np.abs(mean) >= SMALLEST
    row = np.repeat(np.arange(len(feature)), np.diff(row_start))[kept]
    used = np.unique(row)
    return Tagger(
        tuple(fine for fine, _ in data.pairs),
        tuple(coarse for _, coarse in data.pairs),
        candidates,
        feature[used],
        np.searchsorted(row, np.append(used, len(feature))).astype(np.int64),
        row_tag[kept],
        mean[kept].astype(np.float32),
        (pair - pair_drift / moments).astype(np.float32),
        (triple - triple_drift / moments).astype(np.float32),
        Provenance(trace=tuple(trace)),
    )


def _observe(data: Tagged, frequent: int) -> tuple[NDArray[np.uint64], NDArray[np.int32], Ints, NDArray[np.int16]]:
    """The features seen, those of every token, and the tags for which each is weighed with where they begin."""
    n_tags = len(data.pairs)
    keys = all_keys(data.forms.table, data.token, data.start)
    feature, flat = numbered(keys.ravel())
    rows, count = flat.reshape(keys.shape), np.bincount(flat)
    if len(feature) and feature[0] == 0:
        feature, count, rows = feature[1:], count[1:], rows - 1
    often = count >= frequent
    if often.sum() * n_tags > MOST_WEIGHTS:
        often[np.argsort(-count, kind="stable")[MOST_WEIGHTS // n_tags :]] = False
    rare = (rows >= 0) & ~often[rows]
    seen = np.unique((rows * n_tags + data.gold[:, None])[rare])
    tags_of = np.bincount(seen // n_tags, minlength=len(feature))
    row_start = np.concatenate([[0], np.cumsum(np.where(often, n_tags, tags_of))])
    row_tag = np.empty(row_start[-1], np.int16)
    whole = np.repeat(often, np.diff(row_start))
    row_tag[whole] = np.tile(np.arange(n_tags, dtype=np.int16), int(often.sum()))
    row_tag[~whole] = seen % n_tags
    return feature, rows.astype(np.int32), row_start, row_tag


def jackknifed(
    trees: Treebank[DependencyTree], learner: GradientTagger, context: Context, folds: int = 5
) -> Treebank[DependencyTree]:
    """The trees with tags and features in place of the gold ones, by taggers that have not seen the sentence."""
    found: list[DependencyTree] = list(trees)
    sentences = trees.sentences()
    for fold in range(folds):
        context.progress.step("jackknifing", fold + 1, folds)
        tagger = _learn([s for i, s in enumerate(sentences) if i % folds != fold], learner, Context())
        part = range(fold, len(sentences), folds)
        for i, (tagged, _) in zip(part, tagger.annotate([sentences[i] for i in part]), strict=True):
            found[i] = found[i].replace(xpos=tagged.xpos or (), upos=tagged.upos or (), feats=tagged.feats or ())
    return Treebank.of(found)
