"""EM for the hidden states of a treebank's nodes: expected counts and how they become probabilities.

The trees are observed, the states are not. `expect` sums, over shards of trees, the expected counts of state
triples at rules, of states at lexical entries and at roots (kernels/tree_states.py); `maximise` turns them into a
grammar of probabilities. Unsmoothed, each round raises the likelihood of the trees, and overfits at once. So
rules are smoothed by the back-off of 004 §3.2 applied to the expected counts (kernels/moments.py), and entries
seen n times by K/(n + K) towards the distribution of their symbol's states.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from latentgram.lpcfg.kernels import moments as rule_moments
from latentgram.lpcfg.kernels import tree_states
from latentgram.lpcfg.layout import layout, rule_layout
from latentgram.lpcfg.lexicon import LexiconPlan
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parts import assemble, back_off_weight, nodes_by_rule, ragged
from latentgram.lpcfg.statistics.data import GrammarData
from latentgram.lpcfg.statistics.derivations import Derivations
from latentgram.lpcfg.statistics.sums import sums_by
from latentgram.numeric.svd import one_thread
from latentgram.parallel import Engine, InProcess, across, map_reduce, run_pieces, within

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARD = 4096
"""Trees whose expected counts are taken at a time, and added to those of others."""
PART = 256
"""Trees of a shard that one thread takes at a time."""


@dataclass(frozen=True, eq=False)
class StateGrammar:
    """Probabilities in the order of `Derivations`: rules and entries flat, roots [symbols, m]."""

    states: NDArray[np.int32]
    rule: Floats
    entry: Floats
    root: Floats


@dataclass(frozen=True, eq=False)
class StateCounts:
    """Expected counts in the layout of `StateGrammar`, with the log-likelihood of the trees; they add."""

    rule: Floats
    entry: Floats
    root: Floats
    loglik: float = 0.0

    def __add__(self, other: StateCounts) -> StateCounts:
        return StateCounts(
            self.rule + other.rule, self.entry + other.entry, self.root + other.root, self.loglik + other.loglik
        )


@dataclass(frozen=True, eq=False)
class TreePart:
    """Consecutive trees of a shard: their nodes, their roots, and the inner nodes by height, depth and rule."""

    first: int
    last: int
    root: Ints
    by_height: tuple[Ints, Ints]
    by_depth: tuple[Ints, Ints]


@dataclass(frozen=True, eq=False)
class TreeShard:
    """Some trees, with their inner nodes in the orders that the kernels want."""

    symbol: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    rule: NDArray[np.int32]
    entry: NDArray[np.int32]
    root: Ints
    by_rule: tuple[Ints, Ints]
    parts: tuple[TreePart, ...]

    @classmethod
    def of(cls, derivations: Derivations, first: int, last: int) -> TreeShard:
        """The trees numbered `first` to `last`."""
        d = derivations
        nodes = slice(int(d.start[first]), int(d.start[last]))
        start = d.start[first : last + 1] - d.start[first]
        return cls.of_nodes(d.symbol[nodes], _used(d.rule[nodes], d.entry[nodes]), start, len(d.rules))

    @classmethod
    def of_nodes(cls, symbol: NDArray[np.int32], used: NDArray[np.int32], start: Ints, rules: int) -> TreeShard:
        """Trees of nodes in preorder, where `used` is the rule of an inner node, and -1 - the entry of a leaf."""
        rule, entry = np.where(used >= 0, used, -1), np.where(used < 0, -1 - used, -1)
        left, right, parent = tree_states.links(used >= 0)
        inner = np.flatnonzero(rule >= 0)
        order = inner[np.argsort(rule[inner], kind="stable")]
        height, depth = tree_states.heights(left, right), tree_states.depths(parent)
        parts = []
        for low, high in pairwise([*range(0, len(start) - 1, PART), len(start) - 1]):
            nodes = inner[slice(*np.searchsorted(inner, start[[low, high]]))]
            runs = (_runs(nodes, level[nodes], rule[nodes]) for level in (height, depth))
            parts.append(TreePart(int(start[low]), int(start[high]), start[low:high], *runs))
        by_rule = order, np.searchsorted(rule[order], np.arange(rules + 1))
        return cls(symbol, left, right, rule, entry, start[:-1], by_rule, tuple(parts))

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as two numbers a node: links and orders cost less to find again than to send."""
        used = _used(self.rule, self.entry)
        start = np.append(self.root, len(self.rule))
        return TreeShard.of_nodes, (self.symbol, used, start, len(self.by_rule[1]) - 1)


def _used(rule: NDArray[np.int32], entry: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(rule < 0, -1 - entry, rule)


def shards_of(derivations: Derivations) -> list[TreeShard]:
    """All trees in shards whose size depends on nothing but the data."""
    bounds = [*range(0, len(derivations), SHARD), len(derivations)]
    return [TreeShard.of(derivations, a, b) for a, b in pairwise(bounds)]


def _runs(nodes: Ints, level: NDArray[np.int32], rule: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Nodes by (level, rule), and where the runs of equal pairs begin and end."""
    order = np.lexsort((rule, level))
    changes = (np.diff(level[order]) != 0) | (np.diff(rule[order]) != 0)
    begins = np.concatenate(([0], np.flatnonzero(changes) + 1)) if len(order) else np.zeros(0, np.int64)
    return nodes[order], np.append(begins, len(order)).astype(np.int64)


def _inside_outside(
    shard: TreeShard,
    rules: NDArray[np.int32],
    lexicon: NDArray[np.int32],
    grammar: StateGrammar,
    threads: Engine,
) -> tuple[Floats, Floats, Floats, float]:
    """Inside and outside vectors of the nodes, their log scales and the log-likelihood."""
    states = grammar.states
    offset, entry_offset = rule_layout(rules, states), layout(states[lexicon[:, 0]])
    inside, outside = (np.zeros((len(shard.rule), int(states.max()))) for _ in range(2))
    log_scale = np.zeros(len(shard.rule))

    def work(part: TreePart) -> float:
        tree_states.inside(
            part.first, part.last, *part.by_height, shard.rule, shard.left, shard.right, shard.entry,
            rules, states, offset, grammar.rule, entry_offset, grammar.entry, inside, log_scale,
        )  # fmt: skip
        bound: float = tree_states.outside(
            part.first, part.last, *part.by_depth, shard.rule, shard.left, shard.right, part.root, shard.symbol,
            rules, states, offset, grammar.rule, grammar.root, inside, log_scale, outside,
        )  # fmt: skip
        return bound

    return inside, outside, log_scale, sum(threads.map(work, shard.parts))


def count_shard(
    shard: TreeShard,
    rules: NDArray[np.int32],
    lexicon: NDArray[np.int32],
    grammar: StateGrammar,
    threads: Engine,
) -> StateCounts:
    """The expected counts of a shard."""
    inside, outside, log_scale, loglik = _inside_outside(shard, rules, lexicon, grammar, threads)
    states = grammar.states
    offset, (order, group) = rule_layout(rules, states), shard.by_rule
    rule = np.empty_like(grammar.rule)

    def count(first: int, last: int) -> None:
        tree_states.rule_counts(
            first, last, order, group, shard.left, shard.right, rules, states, offset, grammar.rule,
            inside, outside, log_scale, rule,
        )  # fmt: skip

    run_pieces(threads, count, np.diff(offset) * (1 + np.diff(group)))
    entry = tree_states.leaf_counts(shard.left, shard.entry, layout(states[lexicon[:, 0]]), inside, outside)
    root = np.zeros_like(grammar.root)
    np.add.at(root, shard.symbol[shard.root], inside[shard.root] * outside[shard.root])
    return StateCounts(rule, entry, root, loglik)


def expect(
    derivations: Derivations, shards: list[TreeShard], grammar: StateGrammar, engine: Engine
) -> tuple[StateCounts, float]:
    """The expected counts of all shards, and the log-likelihood."""
    count = partial(
        count_shard,
        rules=derivations.rules,
        lexicon=derivations.lexicon,
        grammar=grammar,
        threads=within(engine),
    )
    # As many sums as shards in each: counts are large beside the trees they come from, where these have to travel.
    counts = map_reduce(count, shards, across(engine), group=max(1, isqrt(len(shards))))
    return counts, counts.loglik


def state_distribution(derivations: Derivations, states: NDArray[np.int32], counts: StateCounts) -> Floats:
    """How often each symbol has each of its states: [symbols, m], rows summing to one."""
    roof = int(states.max())
    totals = rule_moments.state_totals(
        counts.rule, derivations.rules, states, rule_layout(derivations.rules, states), derivations.symbols, roof
    )
    totals += _entry_totals(derivations, states, counts.entry)
    return np.asarray(totals / totals.sum(1, keepdims=True), np.float64)


def _entry_totals(derivations: Derivations, states: NDArray[np.int32], values: Floats) -> Floats:
    """Sums of flat entry values over the words: [symbols, m]."""
    owner, state = _entry_places(derivations, states)
    totals = np.zeros((derivations.symbols, int(states.max())))
    np.add.at(totals, (owner, state), values)
    return totals


def _entry_places(derivations: Derivations, states: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """The symbol and the state of every number in the flat layout of entries."""
    symbol = derivations.lexicon[:, 0].astype(np.int64)
    offset = layout(states[symbol])
    return np.repeat(symbol, states[symbol]), np.arange(offset[-1]) - np.repeat(offset[:-1], states[symbol])


def maximise(
    derivations: Derivations,
    states: NDArray[np.int32],
    counts: StateCounts,
    backoff: float,
    pull: float,
    engine: Engine | None = None,
) -> StateGrammar:
    """Probabilities from expected counts, smoothed as the module's text says; zeros mean no smoothing."""
    d = derivations
    distribution = state_distribution(d, states, counts)
    offset = rule_layout(d.rules, states)
    number = d.rule_count.astype(np.float64)
    weight = back_off_weight(number, backoff)
    rule = np.empty_like(counts.rule)

    def smooth(first: int, last: int) -> None:
        rule_moments.smooth_counts(
            first, last, counts.rule, number, d.rules, states, offset, weight, distribution, rule
        )

    run_pieces(within(engine or InProcess()), smooth, np.diff(offset))
    totals = rule_moments.state_totals(rule, d.rules, states, offset, d.symbols, int(states.max()))
    rule_moments.divide_by_parent(rule, d.rules, states, offset, totals)
    owner, state = _entry_places(d, states)
    seen = np.repeat(d.entry_count, states[d.lexicon[:, 0]])
    entry = (counts.entry + pull * distribution[owner, state]) * (seen / (seen + pull))
    total = _entry_totals(d, states, entry)[owner, state]
    entry = np.divide(entry, total, out=np.zeros_like(entry), where=total > 0)
    return StateGrammar(states, rule, entry, counts.root / counts.root.sum())


def random_counts(derivations: Derivations, states: NDArray[np.int32], random: np.random.Generator) -> StateCounts:
    """Counts divided evenly among states but for a factor between 1/3 and 3 (Matsuzaki et al., 2005, §4)."""
    d = derivations
    sizes = np.diff(rule_layout(d.rules, states))
    widths = states[d.lexicon[:, 0]].astype(np.int64)
    root = np.zeros((d.symbols, int(states.max())))
    root[np.arange(root.shape[1]) < states[:, None]] = np.repeat(d.root_count / states, states)

    def noise(number: int) -> Floats:
        return 3.0 ** random.uniform(-1.0, 1.0, number)

    def shared(counts: NDArray[np.int64], parts: Ints) -> Floats:
        """Each count in so many uneven parts, which sum to it."""
        part = noise(int(parts.sum()))
        piece = np.repeat(np.arange(len(parts)), parts)
        return np.asarray(part * (counts / np.bincount(piece, part, len(parts)))[piece], np.float64)

    return StateCounts(shared(d.rule_count, sizes), shared(d.entry_count, widths), root)


def labelled_counts(derivations: Derivations, states: NDArray[np.int32], label: Ints) -> StateCounts:
    """The counts when the state of every node is known."""
    d = derivations
    offset, entry_offset = rule_layout(d.rules, states), layout(states[d.lexicon[:, 0]])
    inner, leaf = np.flatnonzero(d.rule >= 0), np.flatnonzero(d.rule < 0)
    used = d.rule[inner]
    middle, right = states[d.rules[used, 1]].astype(np.int64), states[d.rules[used, 2]].astype(np.int64)
    place = (label[inner] * middle + label[d.left[inner]]) * right + label[d.right[inner]]
    root = np.zeros((d.symbols, int(states.max())))
    np.add.at(root, (d.symbol[d.root], label[d.root]), 1.0)
    return StateCounts(
        np.bincount(offset[used] + place, minlength=offset[-1]).astype(np.float64),
        np.bincount(entry_offset[d.entry[leaf]] + label[leaf], minlength=entry_offset[-1]).astype(np.float64),
        root,
    )


def shared_counts(derivations: Derivations, states: NDArray[np.int32], share: Floats) -> StateCounts:
    """The counts when every node is in each of its states by a share [nodes, m] of its own."""
    d = derivations
    order, group = nodes_by_rule(d)
    offset, means = rule_layout(d.rules, states), np.zeros((d.symbols, share.shape[1]))
    rule = np.empty(offset[-1])
    # Moments of shares are counts: one for every instance, nothing backed off.
    with one_thread():
        rule_moments.view_moments(
            0, len(d.rules), order, group, d.left, d.right, d.rules, states, offset, np.ones(len(d.rules)),
            share, share, means, means, rule,
        )  # fmt: skip
    leaf = np.flatnonzero(d.rule < 0)
    entry, root = np.zeros((len(d.lexicon), share.shape[1])), np.zeros((d.symbols, share.shape[1]))
    np.add.at(entry, d.entry[leaf], share[leaf])
    np.add.at(root, d.symbol[d.root], share[d.root])
    return StateCounts(
        rule * np.repeat(d.rule_count, np.diff(offset)), ragged(entry, states[d.lexicon[:, 0]]), root
    )


def posteriors(derivations: Derivations, shards: list[TreeShard], grammar: StateGrammar, engine: Engine) -> Floats:
    """The posterior distribution of the state of every node: [nodes, m]."""

    threads = within(engine)

    def of_shard(shard: TreeShard) -> Floats:
        inside, outside, _, _ = _inside_outside(shard, derivations.rules, derivations.lexicon, grammar, threads)
        return inside * outside

    return np.concatenate(list(across(engine).map(of_shard, shards)))


def finished(
    data: GrammarData, shards: list[TreeShard], grammar: StateGrammar, pull: float, engine: Engine
) -> LPCFG:
    """The grammar with a lexicon of words and forms, from the posterior states of the leaves."""
    d, states = data.derivations, grammar.states
    posterior = posteriors(d, shards, grammar, engine)
    distribution = _means(d, posterior)
    # An outside view of probabilities: Z_h = p(h | node) / p(h | symbol).
    seen = np.take(distribution, d.symbol[data.leaf], axis=0)
    view = np.divide(np.take(posterior, data.leaf, axis=0), seen, out=np.zeros_like(seen), where=seen > 0)
    ones = (np.arange(view.shape[1]) < states[:, None]).astype(np.float64)
    lexicon = LexiconPlan.of(data, pull)
    vector = lexicon.vectors(view, np.arange(len(view)), engine)
    return assemble(
        data, states, grammar.rule, grammar.root, ones, distribution, lexicon, vector, nonnegative=True
    )


def _means(derivations: Derivations, posterior: Floats) -> Floats:
    totals = sums_by(derivations.symbol, posterior, derivations.symbols)
    return np.asarray(totals / totals.sum(1, keepdims=True), np.float64)
