"""Theorem 3 of Cohen, Stratos, Collins, Foster and Ungar (2012) on grammars whose truth is known.

The theorem: of M trees drawn from an L-PCFG with m states, spectral learning gives 1 − ε ≤ p̂/p ≤ 1 + ε for a tree
of N rules with probability 1 − δ if

    M ≥ 128 m² log(2mR/δ) / ( ((1 + ε)^{1/(2N+1)} − 1)² Λ² σ⁴ ),

R being the number of rules, Λ the smallest number in the parameters and σ the smallest m-th singular value of the
covariances Ω^a of inside and outside features. So the error may grow at most like m/(σ²√M). Trees are drawn from
random grammars, learned from, and weighed as in figure 4 of the paper; |p̂/p − 1| is set against each of M, σ and m
while the others stay, and the slope between their logarithms is fitted.

Literal: the model, the tensor form, the projections by singular vectors, no smoothing of any kind. Ours: all nodes
of all trees are counted, where figure 7 takes one node per tree (which makes inside and outside depend on each
other, as large trees then count less per node); the features are those of Cohen et al. 2013; U and V come from the
estimate of Ω, not from Ω itself; σ is read off the scaled features of the largest sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Binarisation
from latentgram.data.rarewords import RareWords
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.learners import Spectral
from latentgram.learn.fit import fit
from latentgram.lpcfg.draw import draw_trees
from latentgram.lpcfg.model import LPCFG, Layout
from latentgram.parallel import engine_for
from latentgram.progress import Progress
from latentgram.reproduce.experiment import Results, table
from latentgram.view.plots import line_plot

INTERMINALS, PRETERMINALS = ("S", "X", "Y"), ("A", "B", "C")
SPREAD = 0.3
"""The Dirichlet parameter of the numbers of a state: the smaller, the more states differ."""
CONTRASTS = (1.0, 0.8, 0.6, 0.4)
"""How much of its numbers a state has for itself; the rest is shared by the states of the symbol."""
JUDGED = 200
"""Fresh trees whose probabilities are compared."""


@dataclass(frozen=True)
class Point:
    """One setting: trees, states and contrast; σ in the largest sample, and the median of |p̂/p − 1|."""

    trees: int
    states: int
    contrast: float
    sigma: float
    error: float

    @property
    def bound(self) -> float:
        """m/(σ²√M), what the bound of the theorem grows like."""
        return float(self.states / max(self.sigma**2, 1e-9) / np.sqrt(self.trees))


def reproduce(
    sizes: Sequence[int], states: Sequence[int], draws: int, progress: Progress, *, n_jobs: int = 1
) -> Results:
    """Errors against M, σ and m, their slopes, a page and its pictures; workers share the draws of a setting."""
    few, middle = min(states), sizes[len(sizes) // 2]
    done: dict[tuple[int, int, float], tuple[float, float]] = {}

    def measured(*setting: int | float) -> tuple[float, float]:
        trees, m, contrast = int(setting[0]), int(setting[1]), float(setting[2])
        if (trees, m, contrast) not in done:
            pairs = list(engine_for(n_jobs).map(partial(measure, trees, m, contrast), range(draws)))
            error, sigma = np.mean(pairs, axis=0).tolist()
            done[trees, m, contrast] = error, sigma
            progress.step("grammars", len(done), None, error=error)
        return done[trees, m, contrast]

    def point(trees: int, m: int, contrast: float) -> Point:
        return Point(trees, m, contrast, measured(max(sizes), m, contrast)[1], measured(trees, m, contrast)[0])

    sweeps = {
        "M": [point(trees, few, 1.0) for trees in sizes],
        "σ": [point(middle, few, contrast) for contrast in CONTRASTS],
        "m": [point(middle, m, 1.0) for m in states],
    }
    field = {"M": "trees", "σ": "sigma", "m": "states"}
    against = {
        name: [(float(vars(each)[field[name]]), each.error) for each in points] for name, points in sweeps.items()
    }
    slopes = {name: slope(points) for name, points in against.items()}
    plots = {
        f"error-{field[name]}.svg": line_plot(
            {"spectral": [(float(np.log10(max(x, 1e-9))), float(np.log10(max(y, 1e-9)))) for x, y in points]},
            title=f"Error against {name}",
            x_label=f"log₁₀ {name}",
            y_label="log₁₀ median |p̂/p − 1|",
        )
        for name, points in against.items()
    }
    figures: dict[str, object] = {
        "sweeps": {name: [vars(each) for each in points] for name, points in sweeps.items()},
        "slopes": slopes,
        "draws": draws,
    }
    return Results(figures, page(sweeps, slopes, draws), plots)


def measure(trees: int, states: int, contrast: float, seed: int) -> tuple[float, float]:
    """Learn from drawn trees: the median of |p̂/p − 1| over fresh ones, and σ."""
    truth = random_grammar(states, contrast, seed)
    fresh = [*draw_trees(truth, JUDGED, seed=1000 + seed)]
    data = Treebank.of([*draw_trees(truth, trees, seed=seed)])
    learned = fit(LPCFG, data, by=Spectral(states=states, rare=0, backoff=0.0, pull=0.0))
    exact, estimated = (np.array([probability(grammar, tree) for tree in fresh]) for grammar in (truth, learned))
    spectra = (learned.spectra[name] for name in (*INTERMINALS, *PRETERMINALS))
    sigma = min(values[states - 1] if len(values) >= states else 0.0 for values in spectra)
    return float(np.median(np.abs(estimated / exact - 1.0))), float(sigma)


def random_grammar(states: int, contrast: float, seed: int) -> LPCFG:
    """An L-PCFG over three phrases and three tags in which each state has numbers of its own.

    Phrases become two tags, or a tag and a phrase on either side, one as likely as the other: trees are small.
    A tag has 3·`states` words.
    """
    random = np.random.default_rng((seed, states))
    inner, outer = len(INTERMINALS), len(PRETERMINALS)
    tags, phrases = range(inner, inner + outer), range(inner)
    ends = [(a, b, c) for a in phrases for b in tags for c in tags]
    grows = [(a, b, c) for a in phrases for b in tags for c in phrases]
    grows += [(a, c, b) for a, b, c in grows]
    rules = np.array(sorted((*ends, *grows)), np.int32)
    words = Alphabet(tuple(f"{tag}{i:02}" for tag in "abc" for i in range(3 * states)))
    lexicon = np.array([(inner + i // (3 * states), i) for i in range(len(words))], np.int32)
    m = np.full(inner + outer, states, np.int32)
    layout = Layout.of(rules, lexicon, m)
    tensor, vector = np.zeros(layout.rules[-1]), np.zeros(layout.lexicon[-1])
    for a in phrases:
        own = np.flatnonzero(rules[:, 0] == a)
        growing = np.array([int((rules[rule] < inner).sum() > 1) for rule in own])
        numbers = _distributions(random, states, len(own) * states**2, contrast).reshape(states, len(own), -1)
        for kind in (0, 1):
            chosen = growing == kind
            numbers[:, chosen] *= 0.5 / numbers[:, chosen].sum((1, 2), keepdims=True)
        for place, rule in enumerate(own):
            tensor[layout.rules[rule] : layout.rules[rule + 1]] = numbers[:, place].ravel()
    for tag in tags:
        own = np.flatnonzero(lexicon[:, 0] == tag)
        numbers = _distributions(random, states, len(own), contrast)
        for place, entry in enumerate(own):
            vector[layout.lexicon[entry] : layout.lexicon[entry + 1]] = numbers[:, place]
    roots = np.zeros(int(m.sum()))
    roots[:states] = 1.0 / states
    return LPCFG(
        Alphabet(INTERMINALS),
        Alphabet(PRETERMINALS),
        words,
        states=m,
        rules=rules,
        rule_offset=layout.rules,
        rule_tensor=tensor,
        lexicon=lexicon,
        lexicon_offset=layout.lexicon,
        lexicon_vector=vector,
        root_offset=np.arange(len(m) + 1) * states,
        root_vector=roots,
        mean_inside=np.ones(int(m.sum())),
        mean_outside=np.full(int(m.sum()), 1.0 / states),
        rule_count=np.ones(len(rules)),
        lexicon_count=np.ones(len(lexicon)),
        root_count=np.eye(len(m))[0],
        rare_words=RareWords(known=words, threshold=0),
        binarisation=Binarisation(root=None),
    )


def _distributions(random: np.random.Generator, states: int, size: int, contrast: float) -> Floats:
    """[states, size] a distribution for each state: its own, and one that all share."""
    own = random.dirichlet(np.full(size, SPREAD), states)
    return np.asarray(contrast * own + (1 - contrast) * random.dirichlet(np.full(size, 1.0)))


def probability(grammar: LPCFG, tree: Tree) -> float:
    """p(tree) by figure 4: f^i = C^{a→bc}(f^j, f^k) from the words up, p = f · c¹; 0 if a rule is missing."""
    symbols = {name: number for number, name in enumerate((*grammar.interminals, *grammar.preterminals))}
    rules = {tuple(rule): number for number, rule in enumerate(grammar.rules.tolist())}
    entries = {tuple(entry): number for number, entry in enumerate(grammar.lexicon.tolist())}

    def inside(node: Tree) -> Floats | None:
        symbol = symbols[node.label]
        if node.word is not None:
            entry = entries.get((symbol, grammar.words.index(node.word)))
            return None if entry is None else grammar.vector(entry)
        below = [inside(child) for child in node.children]
        rule = rules.get((symbol, *(symbols[child.label] for child in node.children)))
        if rule is None or below[0] is None or below[1] is None:
            return None
        return np.asarray(np.einsum("ijk,j,k->i", grammar.tensor(rule), below[0], below[1]))

    vector = inside(tree)
    return 0.0 if vector is None else float(grammar.of_symbol(grammar.root_vector, symbols[tree.label]) @ vector)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The exponent of a power law through points, by least squares of logarithms.

    >>> round(slope([(1.0, 8.0), (2.0, 2.0), (4.0, 0.5)]), 3)
    -2.0
    """
    logs = np.log(np.maximum(np.array(points), np.finfo(float).tiny))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0]) if len(points) > 1 else float("nan")


BOUNDS = {"M": "−½", "σ": "−2", "m": "1"}
"""The exponents with which the bound of the theorem grows."""


def page(sweeps: Mapping[str, Sequence[Point]], slopes: Mapping[str, float], draws: int) -> str:
    """All of it as Markdown."""
    lines = ["# Cohen, Stratos, Collins, Foster and Ungar (2012), theorem 3", ""]
    lines += [
        f"Median of |p̂/p − 1| over {JUDGED} fresh trees, the mean over {draws} random grammars; no smoothing.",
        "The theorem bounds the error by a number that grows like m/(σ²√M).",
        "",
    ]
    for name, points in sweeps.items():
        lines += [f"## Against {name}", ""]
        rows = [
            [
                f"{each.trees:,}",
                str(each.states),
                f"{each.contrast:.1f}",
                f"{each.sigma:.3f}",
                f"{each.bound:.3f}",
                f"{each.error:.4f}",
            ]
            for each in points
        ]
        lines += table(["trees M", "states m", "contrast", "σ", "m/(σ²√M)", "error"], rows, left=())
        lines += [
            f"The error is proportional to {name} to the power {slopes[name]:.2f}; the bound: {BOUNDS[name]}.",
            "",
        ]
    lines += ["With more states the smallest singular value falls as well, so the error rises by both.", ""]
    return "\n".join(lines)
