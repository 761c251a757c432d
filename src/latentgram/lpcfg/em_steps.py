"""EM for the hidden states of a treebank's nodes: its two steps, and the climb.

The trees are observed, the states are not. `expect` sums, over shards of trees, the expected counts of state
triples at rules, of states at lexical entries and at roots (kernels/tree_states.py); `maximise` turns them into
a grammar of probabilities. Unsmoothed, each round raises the likelihood of the trees, and overfits at once. So
rules are smoothed by the back-off of Cohen et al. (2013, §3.2) applied to the expected counts
(kernels/moments.py), and an entry seen n times in state h, p(h | a) being the distribution of the states of its
symbol a, by

    q(a→x)[h] ∝ (count(a→x, h) + K p(h | a)) · n / (n + K).

`climb` goes up from any counts; em.py and clustering.py say where it starts.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import isqrt
from operator import iadd

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.kernels.forest import depths
from latentgram.kinds.kind import Context
from latentgram.lpcfg.kernels import moments, tree_states
from latentgram.lpcfg.kernels.moments import RuleNodes, Rules
from latentgram.lpcfg.kernels.tree_states import StateGrammar, TreeNodes
from latentgram.lpcfg.lexicon import LexiconPlan, assemble
from latentgram.lpcfg.model import LPCFG, Layout
from latentgram.lpcfg.settings import EMLPCFG, ClusteringLPCFG, CombiningEnsemble
from latentgram.lpcfg.statistics import Derivations, GrammarData, by_group, sums_by
from latentgram.numeric.em import ascend
from latentgram.parallel import Engine, Kept, across, map_reduce, run_pieces, within


@dataclass(frozen=True, eq=False)
class StateCounts:
    """Expected counts in the layout of `StateGrammar`, with the log-likelihood of the trees; they add."""

    rule: Floats
    """Of the triples of states at each rule."""
    entry: Floats
    """Of the states at each lexical entry."""
    root: Floats
    """[symbols, m] of the states at the roots."""
    loglik: float = 0.0

    def __iadd__(self, other: StateCounts) -> StateCounts:
        """The sum, in the room of the first: counts of large grammars take hundreds of megabytes."""
        pairs = ((self.rule, other.rule), (self.entry, other.entry), (self.root, other.root))
        # What has travelled may be read only.
        rule, entry, root = (np.add(own, more, out=own if own.flags.writeable else None) for own, more in pairs)
        return StateCounts(rule, entry, root, self.loglik + other.loglik)


@dataclass(frozen=True, eq=False)
class TreeShard:
    """Some trees, with their inner nodes in the orders that the kernels want."""

    nodes: TreeNodes
    by_rule: RuleNodes
    root: Ints
    parts: tuple[tree_states.Part, ...]

    @classmethod
    def of(cls, derivations: Derivations, first: int, last: int) -> TreeShard:
        """The trees numbered `first` to `last`."""
        d = derivations
        nodes = slice(int(d.start[first]), int(d.start[last]))
        start = d.start[first : last + 1] - d.start[first]
        return cls.of_nodes(d.symbol[nodes], _used(d.rule[nodes], d.entry[nodes]), start, len(d.rules))

    @classmethod
    def of_nodes(cls, symbol: Ints32, used: Ints32, start: Ints, rules: int) -> TreeShard:
        """Trees of nodes in preorder, where `used` is the rule of an inner node, and -1 - the entry of a leaf."""
        rule, entry = np.where(used >= 0, used, -1), np.where(used < 0, -1 - used, -1)
        left, right, parent = tree_states.links(used >= 0)
        inner = np.flatnonzero(rule >= 0)
        height, depth = tree_states.heights(left, right), depths(parent)
        parts = []
        for low, high in pairwise([*range(0, len(start) - 1, PART), len(start) - 1]):
            nodes = inner[slice(*np.searchsorted(inner, start[[low, high]]))]
            orders = (_runs(nodes, level[nodes], rule[nodes]) for level in (height, depth))
            parts.append(tree_states.Part(int(start[low]), int(start[high]), start[low:high], *orders))
        by_rule = RuleNodes(*by_group(rule, rules), left, right)
        return cls(TreeNodes(symbol, rule, entry, left, right), by_rule, start[:-1], tuple(parts))

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as two numbers per node: links and orders cost less to find again than to send."""
        used = _used(self.nodes.rule, self.nodes.entry)
        start = np.append(self.root, len(used))
        return TreeShard.of_nodes, (self.nodes.symbol, used, start, len(self.by_rule.group) - 1)


def _used(rule: Ints32, entry: Ints32) -> Ints32:
    return np.where(rule < 0, -1 - entry, rule)


def _runs(nodes: Ints, level: Ints32, rule: Ints32) -> tree_states.Runs:
    """Nodes by (level, rule), and where the runs of equal pairs begin, none of them longer than a chunk."""
    order = np.lexsort((rule, level))
    changes = (np.diff(level[order], prepend=-1) != 0) | (np.diff(rule[order], prepend=-1) != 0)
    begins = np.append(np.flatnonzero(changes), len(order))
    within_run = np.arange(len(order)) - np.repeat(begins[:-1], np.diff(begins))
    return tree_states.Runs(nodes[order], np.append(np.flatnonzero(within_run % moments.CHUNK == 0), len(order)))


SHARD = 4096
"""Trees whose expected counts are taken at a time, and added to those of others."""
PART = 256
"""Trees of a shard that one thread takes at a time."""


def shards_of(derivations: Derivations) -> Kept[TreeShard]:
    """All trees in shards whose size depends on nothing but the data."""
    bounds = [*range(0, len(derivations), SHARD), len(derivations)]
    return Kept(TreeShard.of(derivations, a, b) for a, b in pairwise(bounds))


def expect(shards: Kept[TreeShard], grammar: StateGrammar, engine: Engine) -> tuple[StateCounts, float]:
    """The expected counts of all shards, and the log-likelihood."""
    count = partial(_count, grammar=grammar, threads=within(engine))
    # As many sums as shards in each: counts are large beside the trees they come from, where these have to travel.
    groups = shards.grouped(max(1, isqrt(len(shards))))
    counts = map_reduce(count, groups, across(engine), add=iadd)
    return counts, counts.loglik


def _count(shards: list[TreeShard], grammar: StateGrammar, threads: Engine) -> StateCounts:
    """The expected counts of some shards, added where they are made: those of large grammars are large."""
    rule, root, loglik = np.zeros_like(grammar.rule), np.zeros_like(grammar.root), 0.0
    entry = np.zeros_like(grammar.entry)
    for shard in shards:
        vectors, bound = _inside_outside(shard, grammar, threads)

        def count(first: int, last: int, shard: TreeShard = shard, vectors: tree_states.Vectors = vectors) -> None:
            tree_states.add_rule_counts(first, last, shard.by_rule, grammar, vectors, rule)

        run_pieces(threads, count, np.diff(grammar.rules.offset) * (1 + np.diff(shard.by_rule.group)))
        entry += tree_states.leaf_counts(shard.nodes, grammar.entry_offset, vectors)
        roots = np.zeros_like(root)
        np.add.at(roots, shard.nodes.symbol[shard.root], vectors.inside[shard.root] * vectors.outside[shard.root])
        root += roots
        loglik += bound
    return StateCounts(rule, entry, root, loglik)


def _inside_outside(shard: TreeShard, grammar: StateGrammar, threads: Engine) -> tuple[tree_states.Vectors, float]:
    """The vectors of the nodes of a shard, and the log-likelihood."""
    number = len(shard.nodes.rule)
    inside, outside = (np.zeros((number, int(grammar.rules.states.max()))) for _ in range(2))
    vectors = tree_states.Vectors(inside, np.zeros(number), outside)

    def work(part: tree_states.Part) -> float:
        tree_states.inside(part, shard.nodes, grammar, vectors)
        return float(tree_states.outside(part, shard.nodes, grammar, vectors))

    return vectors, sum(threads.map(work, shard.parts))


def posteriors(shards: list[TreeShard], grammar: StateGrammar, engine: Engine) -> Floats:
    """The posterior distribution of the state of every node: [nodes, m]."""
    threads = within(engine)

    def of_shard(shard: TreeShard) -> Floats:
        vectors, _ = _inside_outside(shard, grammar, threads)
        return vectors.inside * vectors.outside

    return np.concatenate(list(across(engine).map(of_shard, shards)))


def maximise(
    derivations: Derivations, states: Ints32, counts: StateCounts, backoff: float, pull: float, engine: Engine
) -> StateGrammar:
    """Probabilities from expected counts, smoothed as the module's text says; zeros mean no smoothing.

    The counts of rules are used up: the probabilities take their place, where it may be written to.
    """
    d, most = derivations, int(states.max())
    offset = Layout.of(d.rules, d.lexicon, states)
    # The symbol and the state of every number in the flat layout of entries.
    symbol = d.lexicon[:, 0].astype(np.int64)
    owner = np.repeat(symbol, states[symbol])
    state = np.arange(offset.lexicon[-1]) - np.repeat(offset.lexicon[:-1], states[symbol])

    def over_words(values: Floats) -> Floats:
        """Sums of flat entry values: [symbols, m]."""
        totals = np.zeros((d.symbols, most))
        np.add.at(totals, (owner, state), values)
        return totals

    rules = Rules(d.rules, states, offset.rules)
    distribution = moments.state_totals(rules, counts.rule, d.symbols, most) + over_words(counts.entry)
    distribution /= distribution.sum(1, keepdims=True)
    number = d.rule_count.astype(np.float64)
    weight = moments.back_off_weight(number, backoff)
    rule = counts.rule if counts.rule.flags.writeable else counts.rule.copy()

    def smooth(first: int, last: int) -> None:
        moments.smooth_counts(first, last, rules, rule, number, weight, distribution)

    run_pieces(within(engine), smooth, np.diff(rules.offset))
    moments.divide_by_parent(rules, rule, moments.state_totals(rules, rule, d.symbols, most))
    seen = np.repeat(d.entry_count, states[symbol])
    entry = (counts.entry + pull * distribution[owner, state]) * (seen / (seen + pull))
    total = over_words(entry)[owner, state]
    entry = np.divide(entry, total, out=np.zeros_like(entry), where=total > 0)
    return StateGrammar(rules, rule, offset.lexicon, entry, counts.root / counts.root.sum())


def climb(
    data: GrammarData,
    start: tuple[Ints32, StateCounts],
    learner: EMLPCFG | ClusteringLPCFG | CombiningEnsemble,
    context: Context,
) -> LPCFG:
    """Rounds of EM from states of symbols and their counts; the best on `context.dev_score`, if there is one."""
    d, engine, states, counts = data.derivations, context.engine, start[0], [start[1]]
    del start  # so that counts are let go when the first grammar is made of them
    shards = shards_of(d)
    make = partial(maximise, d, states, backoff=learner.backoff, pull=learner.pull, engine=engine)
    finish = partial(finished, data, shards, pull=learner.pull, engine=engine)
    judge = context.dev_score
    ascent = ascend(
        make(counts.pop()),
        lambda grammar: expect(shards, grammar, engine),
        make,
        iterations=learner.iterations,
        score=None if judge is None else lambda grammar: judge(finish(grammar)),
        progress=context.progress,
    )
    learned = finish(ascent.model)
    return dataclasses.replace(learned, provenance=dataclasses.replace(learned.provenance, trace=ascent.trace))


def finished(
    data: GrammarData, shards: list[TreeShard], grammar: StateGrammar, pull: float, engine: Engine
) -> LPCFG:
    """The grammar with a lexicon of words and forms, from the posterior states of the leaves."""
    d, states = data.derivations, grammar.rules.states
    posterior = posteriors(shards, grammar, engine)
    totals = sums_by(d.symbol, posterior, d.symbols)
    distribution = totals / totals.sum(1, keepdims=True)
    # An outside view of probabilities: Z_h = p(h | node) / p(h | symbol).
    seen = np.take(distribution, d.symbol[d.leaf], axis=0)
    view = np.divide(np.take(posterior, d.leaf, axis=0), seen, out=np.zeros_like(seen), where=seen > 0)
    ones = (np.arange(view.shape[1]) < states[:, None]).astype(np.float64)
    lexicon = LexiconPlan.of(data, pull)
    vector = lexicon.vectors(view, np.arange(len(view)), engine)
    return assemble(
        data, states, grammar.rule, grammar.root, ones, distribution, lexicon, vector, nonnegative=True
    )
