"""A few more tagged sentences for a tagger: its learner is online, so learning simply continues.

Words and tags that were not seen together become possible, unseen features get weights for the tags
they occur with, and then the weights are updated as in learning (kernels/learning.py), by small steps, until the
sentences are tagged correctly or `PASSES` are over. A sentence with a tag unknown to the tagger is ignored; one
without FEATS gets the most probable ones given its tags. Cost: some passes over the weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from latentgram.arrays import Codes, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.tagger.candidates import Candidates
from latentgram.tagger.kernels.chain import Steps
from latentgram.tagger.kernels.features import keys_of
from latentgram.tagger.kernels.learning import Observed, Weights, learn_round
from latentgram.tagger.kernels.scores import Parts
from latentgram.tagger.learning import moving
from latentgram.tagger.model import Tagger
from latentgram.tagger.spelling import SpellingTable
from latentgram.tagger.tagset import Triple, tag_triples

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
    number = {triple: i for i, triple in enumerate(tagger.tagset.names)}
    tagged = []
    for sentence in sentences:
        triples = _triples(tagger, sentence)
        if sentence.tags is not None and all(triple in number for triple in triples):
            tagged.append((sentence, [number[triple] for triple in triples]))
    if not tagged:
        return tagger
    forms, token = SpellingTable.of(word for sentence, _ in tagged for word in sentence.words)
    start = np.concatenate([[0], np.cumsum([len(sentence) for sentence, _ in tagged])])
    gold = np.array([tag for _, tags in tagged for tag in tags], np.int64)
    grown = replace(tagger, candidates=_with_words(tagger, forms, token, gold))
    begin, tag = grown.candidates.of_tokens(forms, token, grown.guesser, len(tagger.xpos))
    several = np.diff(begin) > 1
    keys = keys_of(forms.table, token, start, several)
    grown = _with_features(grown, keys, gold[several])
    rows = np.where(keys == 0, -1, np.searchsorted(grown.feature, keys)).astype(np.int32)
    seen = Observed(start, gold, begin, tag, rows, (np.cumsum(several) - 1).astype(np.int32))
    begun = (moving(part) for part in (grown.row_weight, grown.pair, grown.triple))
    weights = Weights(grown.row_start, grown.row_tag, *begun)
    exponentials = Steps(np.exp(grown.pair), np.exp(grown.triple), tagger.tagset.group)
    for _ in range(PASSES):
        learned = replace(
            grown,
            row_weight=weights.parts.value.copy(),
            pair=weights.pairs.value.reshape(grown.pair.shape).copy(),
            triple=weights.triples.value.copy(),
        )
        if all(_tagged_right(learned, sentence, tags) for sentence, tags in tagged):
            break
        order = np.arange(len(tagged))
        learn_round(order, seen, tagger.tagset.parts, tagger.reach, STEP, 0.0, weights, exponentials)
    return learned


def _triples(tagger: Tagger, sentence: Sentence) -> list[Triple]:
    """The tags of a sentence, with FEATS of the tagger's where it has none."""
    if tagger.feats and sentence.feats is None and sentence.tags is not None:
        known = Constraints.of(tags=dict(enumerate(sentence.tags)))
        sentence = replace(sentence, feats=tagger.tag(sentence.without_tags(), known=known).feats)
    return tag_triples(sentence, bool(tagger.feats))


def _tagged_right(tagger: Tagger, sentence: Sentence, tags: list[int]) -> bool:
    [(found, _)] = tagger.annotate([sentence])
    return tag_triples(found, bool(tagger.feats)) == [tagger.tagset.names[tag] for tag in tags]


def _with_words(tagger: Tagger, forms: SpellingTable, token: Ints, gold: Ints) -> Candidates:
    """The tags that words may have: those they had, the guessed ones of new words, and the right ones."""
    candidates, n_tags = tagger.candidates, len(tagger.xpos)
    words = Alphabet.of((*candidates.words, *forms.words))
    place = words.encode(candidates.words).astype(np.int64)
    here = words.encode(forms.words).astype(np.int64)
    seen = [np.repeat(place, np.diff(candidates.start)) * n_tags + candidates.tag, here[token] * n_tags + gold]
    closed = np.zeros(len(words), np.bool_)
    if tagger.guesser is not None:
        begin, tags = candidates.of_tokens(forms, np.arange(len(forms.words)), tagger.guesser, n_tags)
        seen.append(np.repeat(here, np.diff(begin)) * n_tags + tags)
        closed[:] = True
    closed[place] = candidates.closed
    cells = np.unique(np.concatenate(seen))
    start = np.searchsorted(cells // n_tags, np.arange(len(words) + 1)).astype(np.int64)
    return Candidates(words, start, (cells % n_tags).astype(np.int16), closed, candidates.open)


def _with_features(tagger: Tagger, keys: Codes, gold: Ints) -> Tagger:
    """Every feature of the sentences has a weight for the parts of the tags it comes with, 0 where it had none."""
    feature = np.union1d(tagger.feature, keys[keys != 0])
    parts: Parts = tagger.tagset.parts
    known = np.repeat(np.searchsorted(feature, tagger.feature), np.diff(tagger.row_start)) * parts.number
    wanted = [known + tagger.row_tag]
    for row, tag in zip(keys, gold.tolist(), strict=True):
        here = np.searchsorted(feature, row[row != 0]) * parts.number
        wanted.append((here[:, None] + parts.part[parts.start[tag] : parts.start[tag + 1]]).ravel())
    cells = np.unique(np.concatenate(wanted))
    weight = np.zeros(len(cells), np.float32)
    weight[np.searchsorted(cells, wanted[0])] = tagger.row_weight
    row_start = np.searchsorted(cells, np.arange(len(feature) + 1) * parts.number).astype(np.int64)
    row_tag = (cells % parts.number).astype(np.int16)
    return replace(tagger, feature=feature, row_start=row_start, row_tag=row_tag, row_weight=weight)
