"""A PCFG by counting: an `LPCFG` with one hidden state per symbol.

    t(a→b c) = count(a→b c) / count(a),   q(a→x) = count(a→x) / count(a),   π(a) = count of a at the root / trees

are the maximum-likelihood estimates; the words of a preterminal are smoothed with those of its tag, with the
weight `pull`, and a share is reserved for words never seen with their tag (projection.py). Rare words
are counted as their signatures (data/rarewords.py). The pass over the trees is a map over shards of fixed size and
a sum.
"""

from __future__ import annotations

import numpy as np

from latentgram.data.binarisation import Binarisation
from latentgram.data.forest import Forest
from latentgram.data.rarewords import RareWords
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.projection import discounted
from latentgram.lpcfg.settings import CountingLPCFG
from latentgram.lpcfg.statistics import Derivations, GrammarCounts, trees_of
from latentgram.parallel import map_reduce

SHARD = 4096
"""Trees counted at a time."""


def count_pcfg(treebank: Treebank[Tree], learner: CountingLPCFG, context: Context) -> LPCFG:
    """The recipe: read the rules off a treebank and divide their counts."""
    forest, binarisation, _ = trees_of(treebank, learner)
    rare_words = RareWords.of_forest(forest, threshold=learner.rare)
    binary = rare_words.apply(binarisation.binarise(forest))
    parts = (
        binary.select(np.arange(first, min(first + SHARD, len(binary)))) for first in range(0, len(binary), SHARD)
    )
    return pcfg_of(map_reduce(_count, parts, context.engine), rare_words, binarisation, learner.pull)


def _count(forest: Forest) -> GrammarCounts:
    return GrammarCounts.of(Derivations.of(forest))


def pcfg_of(counts: GrammarCounts, rare_words: RareWords, binarisation: Binarisation, pull: float) -> LPCFG:
    """The grammar of relative frequencies."""
    symbols, rules, entries = len(counts.root_count), len(counts.rules), len(counts.lexicon)
    grammar = LPCFG(
        counts.interminals,
        counts.preterminals,
        counts.words,
        states=np.ones(symbols, np.int32),
        rules=counts.rules,
        rule_offset=np.arange(rules + 1),
        rule_tensor=counts.rule_share,
        lexicon=counts.lexicon,
        lexicon_offset=np.arange(entries + 1),
        lexicon_vector=counts.lexicon_share,
        root_offset=np.arange(symbols + 1),
        root_vector=counts.root_count / counts.root_count.sum(),
        mean_inside=np.ones(symbols),
        mean_outside=np.ones(symbols),
        rule_count=counts.rule_count,
        lexicon_count=counts.lexicon_count,
        root_count=counts.root_count,
        rare_words=rare_words,
        binarisation=binarisation,
        pull=pull,
    )
    return discounted(grammar)
