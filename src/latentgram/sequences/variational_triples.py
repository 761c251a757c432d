"""`Variational` for HMMs of order 3 (Smith and Eisner 2012, n_p = 3): a tag depends on the two before it.

A round as in variational.py, with tables of pairs of tags (kernels/variational_triples.py). Where a sentence
begins both tags before are the boundary, whatever came before it: p(u | s, #) = p(u | #, #).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from latentgram.arrays import Floats
from latentgram.errors import SettingError, a_or_an
from latentgram.parallel import one_thread
from latentgram.sequences.approximate_corpus import ApproximateCorpus, Memory, safe_log
from latentgram.sequences.kernels import variational as kernels
from latentgram.sequences.kernels import variational_triples as triple_kernels
from latentgram.sequences.parameters import Expected, Parameters


@dataclass(frozen=True)
class PairMemory(Memory):
    """What φ leaves behind: D and m, and the pairs of tags before and after each state, [states, T²]."""

    pairs_down: Floats
    pairs_up: Floats


def triple_statistics(corpus: ApproximateCorpus, phi: Floats) -> tuple[Expected, PairMemory]:
    """Expected counts per sentence of triples of tags under a stored φ, and its memory."""
    if corpus.model.reading == "failure":
        raise SettingError("an HMM of order 3 is learned from n-grams in the exclusive or the epsilon reading")
    tags = corpus.tags
    expected, memory = corpus.statistics(phi)
    last = np.asarray(memory.down * corpus.inverse_visits, np.float64)
    shape = (corpus.model.states, tags * tags)
    into, own = np.zeros(shape), np.zeros(shape)
    up = np.asarray(memory.up, np.float64)
    triple_kernels.carry_pairs(corpus.machine, corpus.phi_start, phi, last, into, own, up)
    kernels.spread_down(corpus.machine, into)
    kernels.gather_up(corpus.machine, own)
    # n(h) = m(h) − f(h) m(b(h)), and without what the arcs that choose no tag brought.
    single = up.copy()
    single[1:] -= corpus.model.failure[1:, None] * up[corpus.model.backoff[1:]]
    np.subtract.at(single, corpus.rise.source, corpus.rise.share[:, None] * up[corpus.rise.target])
    with one_thread():
        triples = (into.T @ single).reshape(tags, tags, tags)
    triples[0, 0] += triples[1:, 0].sum(0)
    triples[1:, 0] = 0.0
    counts = replace(expected, transition=triples.reshape(tags * tags, tags))
    return counts, PairMemory(memory.down, up, into, own)


def triple_response(corpus: ApproximateCorpus, parameters: Parameters, memory: PairMemory) -> Floats:
    """The best φ of every arc against the others' of the round before."""
    tags = corpus.tags
    logs = triple_logs(parameters, tags)
    last = np.asarray(memory.down * corpus.inverse_visits, np.float64)
    with one_thread():
        before = (memory.pairs_down * corpus.inverse_visits) @ logs.reshape(tags * tags, tags)
        middle = memory.up @ np.ascontiguousarray(logs.transpose(2, 0, 1)).reshape(tags, tags * tags)
        after = memory.pairs_up @ np.ascontiguousarray(logs.reshape(tags, tags * tags).T)
    scores, phi = np.zeros(int(corpus.phi_start[-1])), np.empty(int(corpus.phi_start[-1]))
    triple_kernels.triple_scores(corpus.machine, corpus.phi_start, last, before, middle, after, scores)
    kernels.best_response(corpus.machine, corpus.phi_start, parameters.emission, scores, phi)
    return phi


def triple_round(
    corpus: ApproximateCorpus, parameters: Parameters, memory: Memory, hard: bool = False
) -> tuple[Expected, Memory]:
    """One E-step: the best response, its counts and its bound."""
    if not isinstance(memory, PairMemory):
        given = a_or_an(type(memory).__name__)
        raise TypeError(f"rounds of order 3 begin with triple_statistics, not with {given}")
    phi = triple_response(corpus, parameters, memory)
    phi = corpus.hardened(phi) if hard else phi
    expected, fresh = triple_statistics(corpus, phi)
    return corpus.bounded(phi, expected, parameters), fresh


def triple_logs(parameters: Parameters, tags: int) -> Floats:
    """[T, T, T] log p(u | s, t); behind a boundary all that counts is the boundary."""
    logs = safe_log(parameters.transition).reshape(tags, tags, tags)
    logs[1:, 0] = logs[0, 0]
    return logs
