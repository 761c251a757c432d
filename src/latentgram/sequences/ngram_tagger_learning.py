"""An `NGramTagger` from an HMM and a back-off automaton: some rounds of best responses at fixed parameters."""

from __future__ import annotations

import numpy as np

from latentgram.data.text import BOUNDARY
from latentgram.sequences.hmm import HMM
from latentgram.sequences.hmm_parameters import Emissions, Parameters
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.ngram_tagger import NGramTagger
from latentgram.sequences.variational import ApproximateCorpus, first_memory


def remember_tags(hmm: HMM, automaton: BackoffNGram, rounds: int = 5) -> NGramTagger:
    """Work out q for the automaton and keep the best tag of every arc; after five rounds q hardly moves.

    >>> import latentgram as lg
    >>> tagged = lg.demo_treebank(200, seed=0).sentences()
    >>> hmm = lg.fit(lg.HMM, tagged, by=lg.Counting())
    >>> counts = lg.NGramCounts.of(lg.Text.of(tagged), order=3, cutoff=2)
    >>> fast = lg.remember_tags(hmm, lg.fit(lg.BackoffNGram, counts, by=lg.Counting()))
    >>> fast.tag(tagged[0].words).tags == tagged[0].tags
    True
    """
    parameters, shape = _on_symbols(hmm, automaton)
    lag = 0 if float(automaton.flow[: automaton.arc_start[1]].sum()) > 0 else 1
    corpus = ApproximateCorpus(automaton, shape, lag)
    _, memory = first_memory(corpus, 1)
    for _ in range(rounds):
        phi = corpus.response(memory, parameters)
        _, memory, _ = corpus.statistics(phi)
    size = np.diff(corpus.phi_start)
    arc = np.repeat(np.arange(automaton.arcs), size)
    entry = np.repeat(shape.start[corpus.machine.tagged] - corpus.phi_start[:-1], size) + np.arange(len(phi))
    best = np.lexsort((shape.tag[entry], -phi, arc))[corpus.phi_start[:-1]]
    flow = np.bincount(entry, phi * automaton.flow[arc], minlength=len(shape.tag))
    word_tag, word_sure = _usual_tags(hmm, shape, flow)
    return NGramTagger(
        tags=hmm.tags,
        words=hmm.words,
        word_symbol=_symbols(hmm, automaton),
        initial=automaton.initial,
        lag=lag,
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


def _symbols(hmm: HMM, automaton: BackoffNGram) -> np.ndarray:
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


def _usual_tags(hmm: HMM, shape: Emissions, flow: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def _states_alone(automaton: BackoffNGram) -> np.ndarray:
    """[symbols + 1] the state of each symbol as a history of one word, the empty one where it is none."""
    state = np.zeros(len(automaton.words) + 1, np.int32)
    alone = np.flatnonzero((automaton.history >= 0).sum(1) == 1)
    state[automaton.last_word[alone]] = alone
    return state
