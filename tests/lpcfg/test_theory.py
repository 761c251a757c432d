"""Cohen et al. 2012: conventional and tensor form agree, and an HMM is an L-PCFG of right-branching trees."""

import dataclasses
import itertools

import numpy as np
import pytest
from tests.oracles.latent_truth import rotated, tree_probability, truth

from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.kinds.learners import Spectral
from latentgram.learn.fit import fit
from latentgram.lpcfg.draw import draw_trees
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.pruning import Pruning


def conventional(grammar: LPCFG, tree: Tree) -> float:
    """Σ over all states of all nodes of the product of the rules' probabilities (Cohen et al. 2012, Eq. 2)."""
    nodes = list(tree.nodes())
    names = (*grammar.interminals, *grammar.preterminals)
    total = 0.0
    for states in itertools.product(range(2), repeat=len(nodes)):
        state = {id(node): h for node, h in zip(nodes, states, strict=True)}
        weight = grammar.root_vector[grammar.root_offset[names.index(tree.label)] + states[0]]
        for node in nodes:
            if node.word is not None:
                entry = (names.index(node.label), grammar.words.index(node.word))
                row = int(np.flatnonzero((grammar.lexicon == entry).all(1))[0])
                weight *= grammar.lexicon_vector[grammar.lexicon_offset[row] + state[id(node)]]
                continue
            left, right = node.children
            row = int(
                np.flatnonzero((grammar.rules == [names.index(n.label) for n in (node, left, right)]).all(1))[0]
            )
            place = (state[id(node)] * 2 + state[id(left)]) * 2 + state[id(right)]
            weight *= grammar.rule_tensor[grammar.rule_offset[row] + place]
        total += weight
    return total


@pytest.fixture(scope="module")
def small_trees() -> list[Tree]:
    """Trees without shared nodes, so that every node has a state of its own."""
    drawn = [tree for tree in draw_trees(truth(), 60, seed=4) if 3 <= sum(1 for _ in tree.nodes()) <= 9]
    return drawn[:15]


@pytest.mark.parametrize("seed", [0, 1])
def test_tensor_form_in_any_coordinates_gives_the_sum_over_states(small_trees: list[Tree], seed: int) -> None:
    random = np.random.default_rng(seed)
    other = rotated(truth(), [random.standard_normal((2, 2)) for _ in range(4)])
    assert other.rule_tensor.min() < 0
    for tree in small_trees:
        expected = conventional(truth(), tree)
        assert tree_probability(truth(), tree) == pytest.approx(expected, rel=1e-12)
        assert tree_probability(other, tree) == pytest.approx(expected, rel=1e-9)


def test_marginals_do_not_depend_on_the_coordinates(small_trees: list[Tree]) -> None:
    """Cohen et al. 2012, figs. 3 and 5, on whole charts."""
    random = np.random.default_rng(7)
    exact = dataclasses.replace(Pruning().none(), precision="float64")
    other = rotated(truth(), [random.standard_normal((2, 2)) for _ in range(4)])
    one, two = (Cascade((grammar,), exact) for grammar in (truth(), other))
    for tree in small_trees:
        words = Sentence.of([node.word for node in tree.nodes() if node.word is not None])
        first, second = one.posterior(one.leaves.of(words)), two.posterior(two.leaves.of(words))
        assert first is not None
        assert second is not None
        assert first.logprob == pytest.approx(second.logprob, abs=1e-9)
        assert first.item == pytest.approx(second.item, abs=1e-9)
        assert first.edge == pytest.approx(second.edge, abs=1e-9)


def test_an_hmm_is_a_grammar_of_right_branching_trees() -> None:
    """Cohen et al. 2012, §9: tagged sequences are trees [S tag [S tag …]]; the grammar gives the HMM's p(x)."""
    random = np.random.default_rng(3)
    start, stop = np.array([0.8, 0.2]), 0.25
    step, emit = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([[0.7, 0.25, 0.05], [0.05, 0.25, 0.7]])
    sequences = []
    while len(sequences) < 15_000:
        state, words = int(random.random() < start[1]), []
        while not words or random.random() > stop:
            words.append("xyz"[random.choice(3, p=emit[state])])
            state = int(random.random() < step[state, 1])
        if len(words) > 1:
            sequences.append(tuple(words))

    def tree(words: tuple[str, ...]) -> Tree:
        tag = Tree("T", word=words[0])
        return tag if len(words) == 1 else Tree("S", (tag, tree(words[1:])))

    def forward(words: tuple[str, ...]) -> float:
        vector = start * emit[:, "xyz".index(words[0])]
        for word in words[1:]:
            vector = (vector * (1 - stop)) @ step * emit[:, "xyz".index(word)]
        return float(vector.sum() * stop)

    learned = fit(
        LPCFG,
        Treebank.of([tree(words) for words in sequences]),
        by=Spectral(states=2, features="paper", rare=0, backoff=0.0, pull=0.0),
    )
    several = 1 - stop  # sequences of one word were left out
    errors = [
        abs(tree_probability(learned, tree(words)) - forward(words) / several) / (forward(words) / several)
        for words in itertools.product("xyz", repeat=3)
    ]
    assert np.median(errors) < 0.06
    assert max(errors) < 0.35
