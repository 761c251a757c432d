"""Spectral learning of latent-variable PCFGs (Cohen et al. 2012, §7–8; Cohen et al. 2013, §2.2 and §3).

1. For each symbol the views Y and Z of every node, coordinates of its hidden state seen from inside and from
   outside (views.py).
2. Moments over **all nodes of all trees** (one node per tree, as in Cohen et al. 2012, would make inside and
   outside dependent), smoothed by back-off (kernels/moments.py):

       t(a→b c) = count(a→b c)/count(a) · E[Z ⊗ Y_b ⊗ Y_c | a→b c],   π(a) = E[Y of the root, root = a]

3. The lexicon from Z at the leaves (lexicon.py).

The number of states is fixed, or bounded for each symbol by its spectrum (`cutoff`) or its number of nodes
(`growth`), or searched on held-out trees (`search_states`). Cost, for N nodes, F features per view and m states:
N·F² for Ω, one truncated decomposition per symbol, N·m³ for the moments at the speed of matrix products. No
iteration, no local optima.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.lpcfg.closing import Closed, closed, learn_closing
from latentgram.lpcfg.kernels import moments
from latentgram.lpcfg.lexicon import Lexicon, LexiconPlan, assemble, outline
from latentgram.lpcfg.low_rank import low_rank
from latentgram.lpcfg.model import LPCFG, rule_layout
from latentgram.lpcfg.printed_lexicon import PrintedLexicon
from latentgram.lpcfg.settings import SpectralLPCFG
from latentgram.lpcfg.smaller import truncated
from latentgram.lpcfg.statistics import GrammarData, sums_by
from latentgram.lpcfg.views import NodeViews, ViewSettings, project
from latentgram.parallel import Engine, beside, run_pieces, within
from latentgram.progress import Progress


def learn_spectral(treebank: Treebank[Tree], learner: SpectralLPCFG, context: Context) -> LPCFG:
    """The recipe."""
    if learner.search and context.dev_score is None:
        raise SettingError("a search for the number of states needs held-out trees to score candidates on")
    data, engine = GrammarData.of(treebank, learner, context.engine), context.engine

    def of_counts() -> tuple[Lexicon, Callable[[], Closed | None]]:
        """What needs no views: the lexicon, and what closes cells, which is begun."""
        lexicon = lexicon_of(data, learner)
        return lexicon, beside(engine, lambda: learn_closing(outline(data, lexicon), treebank, engine))

    counted = beside(engine, of_counts)
    views = project(data, ViewSettings.of(learner), context)
    lexicon, closing = counted()
    grammar = spectral_grammar(data, views, learner.backoff, lexicon, engine)
    best, trace = grammar, grammar.provenance.trace
    if learner.search and context.dev_score is not None:
        best, trace = search_states(grammar, context.dev_score, learner.search, context.progress)
    if learner.rank:
        best = low_rank(best, learner.rank)
    best = dataclasses.replace(best, provenance=dataclasses.replace(best.provenance, trace=trace))
    return closed(best, closing())


def lexicon_of(data: GrammarData, learner: SpectralLPCFG) -> Lexicon:
    """The lexicon that is asked for."""
    if learner.lexicon == "printed":
        return PrintedLexicon(data, learner.lexical_share, learner.lexical_cutoff)
    return LexiconPlan.of(data, learner.pull)


def spectral_grammar(
    data: GrammarData, views: NodeViews, backoff: float, lexicon: Lexicon, engine: Engine
) -> LPCFG:
    """The grammar of the moments of the views."""
    d, means, unseen = data.derivations, mean_views(data, views, engine), outline(data, lexicon).unseen
    tensor = rule_tensors(data, views, means, backoff, engine, 1.0 - unseen)
    root = np.zeros((d.symbols, views.inside.shape[1]))
    np.add.at(root, d.symbol[d.root], np.take(views.inside, d.root, axis=0) / len(d))
    vector = lexicon.vectors(views.outside, d.leaf, engine)
    grammar = assemble(data, views.states, tensor, root, *means, lexicon, vector, nonnegative=False, unseen=unseen)
    return dataclasses.replace(grammar, spectra=spectra_by_name(data, views))


def mean_views(data: GrammarData, views: NodeViews, engine: Engine) -> tuple[Floats, Floats]:
    """H and F: the means of the outside and of the inside views of each symbol's nodes, [symbols, m]."""
    d = data.derivations

    def means(rows: Floats) -> Floats:
        return np.asarray(sums_by(d.symbol, rows, d.symbols) / d.symbol_count[:, None], np.float64)

    outside, inside = within(engine).map(means, (views.outside, views.inside))
    return outside, inside


def rule_tensors(
    data: GrammarData,
    views: NodeViews,
    means: tuple[Floats, Floats],
    backoff: float,
    engine: Engine,
    seen: Floats | None = None,
) -> Floats:
    """t of all rules, smoothed; `seen` [symbols] is what each symbol gives to the rules it was seen with: all, if
    it is not said."""
    d, states, threads = data.derivations, views.states, within(engine)
    rules = moments.Rules(d.rules, states, rule_layout(d.rules, states))
    nodes = moments.RuleNodes(*d.by_rule, d.left, d.right)
    both = moments.Views(views.outside, views.inside, *means)
    offset, weight = rules.offset, moments.back_off_weight(d.rule_count, backoff)
    parent = d.rules[:, 0]
    tensor, share = np.empty(offset[-1]), d.rule_count / d.symbol_count[parent]
    if seen is not None:
        share = share * seen[parent]

    def work(first: int, last: int) -> None:
        moments.view_moments(first, last, rules, nodes, both, weight, share, tensor)

    run_pieces(threads, work, np.diff(offset) * (1 + np.diff(nodes.group)))
    return tensor


def spectra_by_name(data: GrammarData, views: NodeViews) -> dict[str, tuple[float, ...]]:
    """The singular values of each symbol under its name."""
    names = (*data.derivations.interminals, *data.derivations.preterminals)
    return {name: tuple(values.tolist()) for name, values in zip(names, views.spectra, strict=True)}


def search_states(
    grammar: LPCFG, score: Callable[[LPCFG], float], budget: int, progress: Progress
) -> tuple[LPCFG, tuple[dict[str, float], ...]]:
    """The best grammar among slices of `grammar` within `budget` scored candidates, and what was tried.

    Narayan and Cohen (2016) found that numbers of states chosen symbol by symbol on the accuracy of the whole
    parser beat any rule that looks at one symbol's spectrum. A spectral grammar with fewer states is a slice of
    one with more, so a candidate costs no learning, only a parse of the held-out trees. The search is greedy and
    begins at half of the most states that any symbol has: symbols come in the order of their frequency, each is
    tried at half and at twice its states (within what was learned), and a change that scores better is kept;
    rounds go on until the budget of candidates is spent or a round changes nothing.
    """
    most = grammar.states
    states = np.minimum(most, max(1, int(most.max()) // 2)).astype(np.int32)
    best = truncated(grammar, states)
    best_score = score(best)
    trace = [{"symbol": -1.0, "states": float(states.max()), "score": best_score}]
    order = np.argsort(-grammar.symbol_count, kind="stable")
    spent, changed = 1, True
    while changed and spent < budget:
        changed = False
        for symbol in order:
            for wanted in (states[symbol] // 2, states[symbol] * 2):
                few = int(np.clip(wanted, 1, most[symbol]))
                if few == states[symbol] or spent >= budget:
                    continue
                tried = states.copy()
                tried[symbol] = few
                candidate = truncated(grammar, tried)
                reached = score(candidate)
                spent += 1
                trace.append({"symbol": float(symbol), "states": float(few), "score": reached})
                if reached > best_score:
                    best, best_score, states, changed = candidate, reached, tried, True
                progress.step("states", spent, budget, score=best_score)
    return best, tuple(trace)
