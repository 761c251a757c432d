"""`NGramTagger`: the variational distribution q as a tagger (Smith and Eisner 2012, §3.2).

Raising the bound learns two taggers: a compact slow one, the HMM, and a large fast one that remembers the likely
tag in every n-gram context. Here each arc of the automaton keeps its best tag; tagging is one walk, O(order · log
arcs) a word, without any sum over tag sequences. It is made from an HMM and a back-off automaton by some rounds of
best responses at fixed parameters (`remember_tags`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.invariants import ANY, FINITE, below, earlier, holds, offsets, rising, shape, within
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.text import BOUNDARY, Text
from latentgram.kinds.tagging import Tagging
from latentgram.sequences.approximate_corpus import ApproximateCorpus
from latentgram.sequences.hmm import HMM
from latentgram.sequences.kernels.backoff import Memory, walk_tags
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.parameters import Emissions, Parameters

_TOGETHER = 20_000


@dataclass(frozen=True)
class NGramTagger:
    """The best tag of every arc; see `BackoffNGram` for the arrays of the automaton. `remember_tags` makes one."""

    tags: Alphabet
    words: Alphabet
    word_symbol: Annotated[Ints32, shape("len(words)"), below("len(word_tag) - 1", or_none=True)]
    """[words] the symbol of the automaton that stands for each word."""
    initial: Annotated[int, below("len(backoff)")]
    lag: Annotated[int, within(0, 2)]
    backoff: Annotated[Ints32, shape(ANY), earlier(1)]
    arc_start: Annotated[Ints, shape("len(backoff) + 1"), offsets("arc_word")]
    arc_word: Annotated[Ints32, shape(ANY), below("len(word_tag) - 1"), rising(rows="arc_start")]
    arc_target: Annotated[Ints32, shape("len(arc_word)"), below("len(backoff)")]
    arc_tag: Annotated[Ints32, shape("len(arc_word)"), below("len(tags)")]
    arc_sure: Annotated[Floats, shape("len(arc_word)"), FINITE]
    word_tag: Annotated[Ints32, shape(ANY), below("len(tags)"), holds("len(word_tag) > 0", "is empty")]
    """[symbols + 1] the most frequent tag of each symbol; the last entry is for unknown words."""
    word_sure: Annotated[Floats, shape("len(word_tag)"), FINITE]
    word_state: Annotated[Ints32, shape("len(word_tag)"), below("len(backoff)")]
    """[symbols + 1] the state after a symbol alone."""
    provenance: Provenance = field(default_factory=Provenance)

    def tag(self, sentence: SentenceLike) -> Tagging:
        """The tags of one sentence."""
        return next(self.tag_all([sentence]))

    def tag_all(self, sentences: Iterable[SentenceLike]) -> Iterator[Tagging]:
        """Tag many sentences, lazily. There is no probability of the sentence: `logprob` is nan."""
        stream = map(Sentence.of, sentences)
        while chunk := list(islice(stream, _TOGETHER)):
            text = Text.of(chunk)
            known = text.encoded_by(self.words)
            tag, sure = self.tag_numbers(known)
            names = self.tags.decode(tag.tolist())
            for i, sentence in enumerate(chunk):
                span = slice(int(text.start[i]), int(text.start[i + 1]) - 1)
                yield Tagging(
                    sentence.words, tuple(names[span]), tuple(sure[span].tolist()), float("nan"),
                    tuple((known[span] < 0).tolist()),
                )  # fmt: skip

    def tag_numbers(self, tokens: Ints32) -> tuple[Ints32, Floats]:
        """Tags and confidences of an array of word numbers with boundaries, unknown words -1."""
        symbols = np.where(tokens >= 0, self.word_symbol[tokens], -1).astype(np.int32)
        memory = Memory(self.arc_tag, self.arc_sure, self.word_tag, self.word_sure, self.word_state)
        tag, sure = walk_tags(
            self.initial, self.backoff, self.arc_start, self.arc_word, self.arc_target, memory, self.lag, symbols
        )
        return tag, sure

    def summary(self) -> str:
        """One line about the size."""
        return f"n-gram tagger with {len(self.tags) - 1} tags and {len(self.arc_word):,} contexts"


def remember_tags(hmm: HMM, automaton: BackoffNGram, rounds: int = 5) -> NGramTagger:
    """Compute q for the automaton and store the best tag of every arc; q hardly changes after five rounds.

    >>> import latentgram as lg
    >>> tagged = lg.demo_treebank(200, seed=0).sentences()
    >>> hmm = lg.fit(lg.HMM, tagged, by=lg.Counting())
    >>> counts = lg.NGramCounts.of(lg.Text.of(tagged), order=3, cutoff=2)
    >>> fast = lg.remember_tags(hmm, lg.fit(lg.BackoffNGram, counts, by=lg.Counting()))
    >>> fast.tag(tagged[0].words).tags == tagged[0].tags
    True
    """
    parameters, shape = _on_symbols(hmm, automaton)
    corpus = ApproximateCorpus.of_shape(automaton, shape)
    phi = corpus.uniform_phi
    for _ in range(rounds):
        _, memory = corpus.statistics(phi)
        phi = corpus.response(memory, parameters)
    arc, entry = np.repeat(np.arange(automaton.arcs), np.diff(corpus.phi_start)), corpus.phi_entry
    best = np.lexsort((shape.tag[entry], -phi, arc))[corpus.phi_start[:-1]]
    flow = np.bincount(entry, phi * automaton.flow[arc], minlength=len(shape.tag)).astype(np.float64)
    word_tag, word_sure = _usual_tags(hmm, shape, flow)
    return NGramTagger(
        tags=hmm.tags,
        words=hmm.words,
        word_symbol=_symbols(hmm, automaton),
        initial=automaton.initial,
        lag=corpus.lag,
        backoff=automaton.backoff,
        arc_start=automaton.arc_start,
        arc_word=automaton.arc_word,
        arc_target=automaton.arc_target,
        arc_tag=shape.tag[entry[best]],
        arc_sure=phi[best],
        word_tag=word_tag,
        word_sure=word_sure,
        word_state=_states_alone(automaton),
    )


def _symbols(hmm: HMM, automaton: BackoffNGram) -> Ints32:
    """[words of the HMM] the symbol of the automaton for each word, -1 where it has none."""
    if automaton.classes is None:
        symbol = automaton.words.encode(hmm.words.symbols)
    else:
        place = automaton.classes.words.encode(hmm.words.symbols)
        symbol = np.where(place >= 0, automaton.classes.place[place], -1).astype(np.int32)
    symbol[BOUNDARY] = BOUNDARY
    return symbol


def _on_symbols(hmm: HMM, automaton: BackoffNGram) -> tuple[Parameters, Emissions]:
    """The HMM's emissions for the symbols of the automaton; a class emits what its words emit together."""
    symbol = _symbols(hmm, automaton)
    word = np.repeat(np.arange(len(hmm.words)), np.diff(hmm.emit_start))
    there = symbol[word] >= 0
    key = symbol[word[there]].astype(np.int64) * len(hmm.tags) + hmm.emit_tag[there]
    distinct, place = np.unique(key, return_inverse=True)
    prob = np.bincount(place, hmm.emit_prob[there])
    # Symbols the HMM has never seen may have any tag.
    known = np.zeros(len(automaton.words), np.bool_)
    known[distinct // len(hmm.tags)] = True
    strange = np.flatnonzero(~known)
    extra = (strange[:, None] * len(hmm.tags) + np.arange(1, len(hmm.tags))).ravel()
    keys = np.concatenate([distinct, extra])
    probs = np.concatenate([prob, np.tile(hmm.unknown[1:], len(strange))])
    order = np.argsort(keys)
    keys, probs = keys[order], probs[order]
    start = np.searchsorted(keys, np.arange(len(automaton.words) + 1) * len(hmm.tags)).astype(np.int64)
    shape = Emissions(hmm.tags, automaton.words, start, (keys % len(hmm.tags)).astype(np.int32))
    return Parameters(hmm.transition, probs), shape


def _usual_tags(hmm: HMM, shape: Emissions, flow: Floats) -> tuple[Ints32, Floats]:
    """[symbols + 1] the tag with the greatest flow of each symbol and its share; at the end, of unknown words."""
    row = np.repeat(np.arange(len(shape.words)), np.diff(shape.start))
    best = np.lexsort((shape.tag, -flow, row))[shape.start[:-1]]
    total = np.bincount(row, flow, minlength=len(shape.words))
    share = np.where(total > 0, flow[best] / np.where(total > 0, total, 1.0), 0.0)
    used = np.bincount(shape.tag, flow, minlength=len(hmm.tags)) * hmm.unknown
    used[BOUNDARY] = 0.0
    unknown = int(used.argmax())
    return (
        np.append(shape.tag[best], unknown).astype(np.int32),
        np.append(share, used[unknown] / max(used.sum(), 1e-300)),
    )


def _states_alone(automaton: BackoffNGram) -> Ints32:
    """[symbols + 1] the state of each symbol as a history of one word, the empty one where it is none."""
    state = np.zeros(len(automaton.words) + 1, np.int32)
    alone = np.flatnonzero((automaton.history >= 0).sum(1) == 1)
    state[automaton.last_word[alone]] = alone
    return state
