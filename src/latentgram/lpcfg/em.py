"""Latent-variable PCFGs by EM over observed trees: `fit(LPCFG, trees, by=EM())`, and where EM starts from.

Random: the counts of the trees divided evenly among states but for a factor between 1/3 and 3 (Matsuzaki et al.
2005, §4).

Spectral coordinates: by Ω^a = Σᵢ σᵢ uᵢ vᵢᵀ a node with inside view Y and outside view Z is Σᵢ Yᵢ Zᵢ times as
likely as its two halves by themselves (spectral.py). A coordinate may speak against a node, so numbers of a
spectral grammar cannot be expected counts as they are; the node is shared among the coordinates by |Yᵢ Zᵢ|, which
no signs change.

Clusters of spectral views: clustering.py.
"""

from __future__ import annotations

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import Context
from latentgram.lpcfg.closing import with_closing
from latentgram.lpcfg.clustering import cluster, states_by_count
from latentgram.lpcfg.em_steps import StateCounts, climb
from latentgram.lpcfg.kernels import moments
from latentgram.lpcfg.model import LPCFG, Layout, rule_layout
from latentgram.lpcfg.settings import EMLPCFG
from latentgram.lpcfg.statistics import Derivations, GrammarData
from latentgram.lpcfg.views import NodeViews, ViewSettings, project
from latentgram.parallel import one_thread

_LEAST = 1e-6
"""What a coordinate that says nothing of a node counts beside the others."""


def learn_em(treebank: Treebank[Tree], learner: EMLPCFG, context: Context) -> LPCFG:
    """The recipe."""
    data = GrammarData.of(treebank, learner, context.engine)
    return with_closing(climb(data, _start(data, learner, context), learner, context), treebank, context.engine)


def _start(data: GrammarData, learner: EMLPCFG, context: Context) -> tuple[Ints32, StateCounts]:
    """The states of each symbol, and the counts of the first round."""
    if learner.start == "random":
        states = states_by_count(data, learner.states)
        return states, random_counts(data.derivations, states, np.random.default_rng(learner.seed))
    wanted = ViewSettings(learner.states, learner.features, learner.scaling, vectors=learner.vectors)
    views = project(data, wanted, context)
    if learner.start == "spectral":
        return views.states, shared_counts(data.derivations, views.states, shares(data, views))
    return cluster(data, views, learner.states, learner.seed, context.engine)


def random_counts(derivations: Derivations, states: Ints32, random: np.random.Generator) -> StateCounts:
    """Counts divided evenly among states but for a factor between 1/3 and 3."""
    d = derivations
    sizes = np.diff(rule_layout(d.rules, states))
    widths = states[d.lexicon[:, 0]].astype(np.int64)
    root = np.zeros((d.symbols, int(states.max())))
    root[np.arange(root.shape[1]) < states[:, None]] = np.repeat(d.root_count / states, states)

    def divided(counts: Ints, parts: Ints) -> Floats:
        """Each count in so many uneven parts, which sum to it."""
        part = 3.0 ** random.uniform(-1.0, 1.0, int(parts.sum()))
        piece = np.repeat(np.arange(len(parts)), parts)
        return np.asarray(part * (counts / np.bincount(piece, part, len(parts)))[piece], np.float64)

    return StateCounts(divided(d.rule_count, sizes), divided(d.entry_count, widths), root)


def shares(data: GrammarData, views: NodeViews) -> Floats:
    """[nodes, m] every node shared among its coordinates by |Yᵢ Zᵢ|."""
    most = int(views.states.max())
    used = np.arange(most) < views.states[data.derivations.symbol][:, None]
    share = np.abs(views.inside[:, :most] * views.outside[:, :most]) + _LEAST * used
    return np.asarray(share / share.sum(1, keepdims=True), np.float64)


def shared_counts(derivations: Derivations, states: Ints32, share: Floats) -> StateCounts:
    """The counts when every node is in each of its states by a share [nodes, m] of its own."""
    d = derivations
    offset = Layout.of(d.rules, d.lexicon, states)
    rules = moments.Rules(d.rules, states, offset.rules)
    nodes = moments.RuleNodes(*d.by_rule, d.left, d.right)
    means, rule = np.zeros((d.symbols, share.shape[1])), np.empty(offset.rules[-1])
    number = d.rule_count.astype(np.float64)
    # Moments of shares are counts: one for every instance, nothing backed off.
    with one_thread():
        views = moments.Views(share, share, means, means)
        moments.view_moments(0, len(d.rules), rules, nodes, views, np.ones(len(d.rules)), number, rule)
    entry, root = np.zeros((len(d.lexicon), share.shape[1])), np.zeros((d.symbols, share.shape[1]))
    np.add.at(entry, d.entry[d.leaf], share[d.leaf])
    np.add.at(root, d.symbol[d.root], share[d.root])
    return StateCounts(rule, moments.leading_parts(entry, offset.lexicon), root)
