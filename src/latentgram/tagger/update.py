"""Absorb a few more tagged sentences into a tagger at once: its learner is online, so it simply goes on.

Words and tags that were not seen together become possible, features that were not seen are weighed for the tags
they came with, and then the weights move as in learning (kernels/learning.py), by small steps, until the sentences
are tagged as they should be or `PASSES` have gone by. A sentence with a tag that the tagger does not know teaches
it nothing. Cost: some passes over the weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.sentence import Sentence
from latentgram.tagger.kernels.features import all_keys
from latentgram.tagger.kernels.learning import learn_round
from latentgram.tagger.learning import tag_pairs
from latentgram.tagger.model import Candidates, Tagger
from latentgram.tagger.spelling import SpellingTable

Ints = NDArray[np.int64]

PASSES = 10
STEP = 0.2
"""Of a pass; what a tagger has seen of its features, and made its steps shorter by, is not kept in it."""


def update(tagger: Tagger, sentences: Iterable[Sentence]) -> Tagger:
    """The tagger after learning from more sentences.

    >>> import latentgram as lg
    >>> tagger = lg.fit(lg.Tagger, lg.demo_dependencies(100, seed=0), by=lg.Gradient(passes=2))
    >>> strange = Sentence(("the", "dog", "zyxes"), ("DT", "NN", "VBD"), ("DET", "NOUN", "VERB"))
    >>> update(tagger, [strange]).tag(strange.words).tags
    ('DT', 'NN', 'VBD')
    """
    number = {pair: i for i, pair in enumerate(zip(tagger.xpos, tagger.upos, strict=True))}
    tagged = [
        (sentence, [number[pair] for pair in tag_pairs(sentence)])
        for sentence in sentences
        if sentence.tags is not None and all(pair in number for pair in tag_pairs(sentence))
    ]
    if not tagged:
        return tagger
    forms = SpellingTable()
    token = forms.encode(word for sentence, _ in tagged for word in sentence.words)
    start = np.concatenate([[0], np.cumsum([len(sentence) for sentence, _ in tagged])])
    gold = np.array([tag for _, tags in tagged for tag in tags], np.int64)
    keys = all_keys(forms.table, token, start)
    grown = replace(tagger, candidates=_with_words(tagger.candidates, forms, token, gold))
    grown = _with_features(grown, keys, gold)
    rows = np.searchsorted(grown.feature, keys)
    rows = np.where(keys == 0, -1, rows).astype(np.int32)
    begin, tag = grown.candidates.of_tokens(forms, token)
    weights, pair, triple = grown.row_weight.copy(), grown.pair.copy(), grown.triple.copy()
    sums = [np.zeros_like(part) for part in (weights, weights, pair, pair, triple, triple)]
    for _ in range(PASSES):
        learned = replace(grown, row_weight=weights.copy(), pair=pair.copy(), triple=triple.copy())
        found = learned.annotate([sentence for sentence, _ in tagged])
        if all(tag_pairs(given) == tag_pairs(made) for (given, _), (made, _) in zip(tagged, found, strict=True)):
            return learned
        learn_round(
            np.arange(len(tagged)), start, rows, grown.row_start, grown.row_tag, begin, tag, gold,
            len(tagger.xpos), STEP, 0.0, weights, sums[0], sums[1], pair, sums[2], sums[3],
            triple, sums[4], sums[5], np.exp(triple),
        )  # fmt: skip
    return replace(grown, row_weight=weights, pair=pair, triple=triple)


def _with_words(candidates: Candidates, forms: SpellingTable, token: Ints, gold: Ints) -> Candidates:
    """The tags that words have been seen with, new ones among them."""
    words = Alphabet.of((*candidates.words, *forms.words))
    place = words.encode(candidates.words).astype(np.int64)
    span = int(max(candidates.tag.max(initial=0), gold.max())) + 1
    seen = np.repeat(place, np.diff(candidates.start)) * span + candidates.tag
    seen = np.union1d(seen, words.encode(forms.words).astype(np.int64)[token] * span + gold)
    closed = np.zeros(len(words), np.bool_)
    closed[place] = candidates.closed
    start = np.searchsorted(seen // span, np.arange(len(words) + 1)).astype(np.int64)
    return Candidates(words, start, (seen % span).astype(np.int16), closed, candidates.open)


def _with_features(tagger: Tagger, keys: NDArray[np.uint64], gold: Ints) -> Tagger:
    """Every feature of the sentences has a weight for the tags it comes with, 0 where it had none."""
    feature = np.union1d(tagger.feature, keys[keys != 0])
    n_tags = len(tagger.xpos)
    known = (
        np.repeat(np.searchsorted(feature, tagger.feature), np.diff(tagger.row_start)) * n_tags + tagger.row_tag
    )
    wanted = (np.searchsorted(feature, keys) * n_tags + gold[:, None])[keys != 0]
    cells = np.union1d(known, wanted)
    weight = np.zeros(len(cells), np.float32)
    weight[np.searchsorted(cells, known)] = tagger.row_weight
    row_start = np.searchsorted(cells, np.arange(len(feature) + 1) * n_tags).astype(np.int64)
    return replace(
        tagger, feature=feature, row_start=row_start, row_tag=(cells % n_tags).astype(np.int16), row_weight=weight
    )
