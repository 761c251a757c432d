"""`SHAG` by clustering: forward vectors of prefixes under spectral automata become hard states, which are counted.

No number is negative, and no state is hidden once the prefix is known.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from latentgram.arrays import Ints
from latentgram.kinds.kind import Context
from latentgram.numeric.kmeans import kmeans
from latentgram.parallel import Engine
from latentgram.sequences.spectral import prefix_directions
from latentgram.sequences.statistics import SequenceCounts
from latentgram.shag.automata import Automata, grammar_of, smoothed
from latentgram.shag.counting import automata_of_labels
from latentgram.shag.model import SHAG
from latentgram.shag.settings import EMSHAG, ClusteringSHAG
from latentgram.shag.spectral import spectral_automata
from latentgram.shag.statistics import HeadCounts, Trees


def learn_clusters(trees: Trees, learner: ClusteringSHAG, context: Context) -> SHAG:
    """The recipe."""
    statistics = HeadCounts.of(trees, learner.rule)
    automata = clustered_automata(statistics.counts, learner, context.engine)
    return grammar_of(statistics, smoothed(statistics.counts, automata, learner.smoothing), nonnegative=True)


def clustered_automata(counts: SequenceCounts, learner: ClusteringSHAG | EMSHAG, engine: Engine) -> Automata:
    """Relative frequencies of the clusters of prefixes."""
    return automata_of_labels(counts, clusters_of_prefixes(counts, learner, engine))


def clusters_of_prefixes(counts: SequenceCounts, learner: ClusteringSHAG | EMSHAG, engine: Engine) -> Ints:
    """The cluster of every prefix, by source: k-means of the normalised forward vectors."""
    automata, _ = spectral_automata(counts, learner, engine)
    vectors = prefix_directions(counts, counts.step[1], automata.start, automata.operators)
    rng = np.random.default_rng(learner.seed)
    state = np.zeros(len(counts.parent), np.int64)
    order = np.argsort(counts.source, kind="stable")
    bounds = np.searchsorted(counts.source[order], np.arange(counts.n_sources + 1))
    for begin, end in pairwise(bounds):
        nodes = order[begin:end]
        state[nodes] = kmeans(vectors[nodes], counts.passes[nodes], learner.states, rng)
    return state
