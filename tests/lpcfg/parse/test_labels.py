"""p of a treebank tree is the sum over all binary trees that stand for it, found by enumeration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.binarisation import Symbol
from latentgram.lpcfg.parse.backend import PhraseBackend
from latentgram.lpcfg.parse.labels import TreeWeights
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.lpcfg.projection import Leaves

BANK = """
(TOP (S (NP (D a) (A b) (N c)) (V d)))
(TOP (S (NP (N c)) (V d) (NP (D a) (N c)) (P e)))
(TOP (S (NP (NP (N b)) (P e) (NP (D a) (N c))) (V d)))
(TOP (S (V d) (NP (N c)) (NP (A b) (N c))))
(TOP (S (NP (D a) (A b) (A b) (N c)) (V d) (P e)))
"""
WORDS, TAGS = ("a", "b", "c", "d"), ("D", "A", "N", "V")
LEARNERS: dict[str, lg.EM | lg.Spectral] = {
    "left": lg.EM(states=2, horizontal=1, iterations=2),
    "right": lg.EM(states=2, direction="right", horizontal=1, iterations=2),
    "head": lg.EM(states=2, direction="head", horizontal=0, iterations=2),
    "parents": lg.EM(states=2, vertical=2, iterations=2),
    "spectral": lg.Spectral(states=2, horizontal=1),
}
Node = tuple[tuple[str, ...], tuple[object, ...]]
"""The labels of a node, and the nodes below it."""


@cache
def backend_of(name: str) -> PhraseBackend:
    bank = lg.Treebank.of([lg.parse_tree(line) for line in 6 * BANK.strip().splitlines()])
    return PhraseBackend(lg.fit(lg.LPCFG, bank, by=LEARNERS[name]), pruning=Pruning.none())


def derived(weights: TreeWeights, leaves: Leaves) -> dict[Node, tuple[float, int]]:
    """The weight of every treebank tree, and how many binary trees stand for it."""
    grammar, tensors = weights.grammar, weights.tensors
    names = [Symbol.read(name) for name in (*grammar.interminals, *grammar.preterminals)]
    seen = {tuple(rule): number for number, rule in enumerate(grammar.rules.tolist())}
    begin, phrases = tensors.symbol_begin, len(grammar.interminals)
    over: dict[tuple[int, int], list[tuple[int, tuple[object, ...], np.ndarray]]] = defaultdict(list)

    def made(symbol: int, below: tuple[object, ...]) -> tuple[object, ...]:
        return below if names[symbol].intermediate else ((names[symbol].chain, below),)

    def rules(b: int, c: int) -> Iterator[tuple[int, np.ndarray]]:
        for a in range(phrases):
            sizes = tuple(tensors.states[[a, b, c]])
            if (a, b, c) in seen:
                place = tensors.rule_begin[seen[a, b, c]]
                yield a, tensors.rule[place : place + np.prod(sizes)].reshape(sizes)
            elif tensors.unseen.weight:
                weight = tensors.unseen.weight * tensors.unseen.left[b, a] * tensors.unseen.right[c, a]
                mean = tensors.mean_inside[begin[a] : begin[a + 1]]
                before, after = (tensors.mean_outside[begin[s] : begin[s + 1]] for s in (b, c))
                yield a, weight * np.einsum("i,j,k->ijk", mean, before, after)

    for word in range(len(leaves.begin) - 1):
        for leaf in range(leaves.begin[word], leaves.begin[word + 1]):
            symbol, entry = int(leaves.symbol[leaf]), int(leaves.entry[leaf])
            size = tensors.states[symbol]
            place = tensors.lexicon_begin[entry]
            vector = (
                tensors.lexicon[place : place + size]
                if entry >= 0
                else leaves.weight[leaf] * tensors.mean_inside[begin[symbol] : begin[symbol + 1]]
            )
            over[word, word + 1].append((symbol, made(symbol, ()), vector))
    for wide in range(2, len(leaves.begin)):
        for i in range(len(leaves.begin) - wide):
            for k in range(i + 1, i + wide):
                for b, left, before in over[i, k]:
                    for c, right, after in over[k, i + wide]:
                        for a, tensor in rules(b, c):
                            vector = np.einsum("ijk,j,k->i", tensor, before, after)
                            if vector.any():
                                over[i, i + wide].append((a, made(a, (*left, *right)), vector))
    total: dict[Node, tuple[float, int]] = {}
    for symbol, nodes, vector in over[0, len(leaves.begin) - 1]:
        weight = float(tensors.root[begin[symbol] : begin[symbol + 1]] @ vector)
        if not names[symbol].intermediate and weight:
            before, count = total.get(nodes[0], (0.0, 0))
            total[nodes[0]] = before + weight, count + 1
    return total


def treebank_tree(node: Node) -> str:
    """The tree in brackets, over the words in order."""
    words = iter(WORDS)

    def written(node: Node) -> str:
        labels, below = node
        inside = " ".join(map(written, below)) if below else next(words)
        return f"({' ('.join(labels)} {inside}{')' * len(labels)}"

    return f"(TOP {written(node)})"


@pytest.mark.parametrize("name", LEARNERS)
def test_a_tree_weighs_as_much_as_all_its_derivations(name: str) -> None:
    backend = backend_of(name)
    (weights,) = backend.cascade.weights
    leaves = backend.cascade.leaves.of(lg.Sentence(WORDS, TAGS))
    trees = derived(weights, leaves)
    assert any(count > 1 for _, count in trees.values())
    largest = max(abs(weight) for weight, _ in trees.values())
    for node, (expected, _) in trees.items():
        tree = lg.parse_tree(treebank_tree(node))
        [nodes] = weights.names.of_trees(lg.Forest.of([tree]), backend.grammar.binarisation)
        log, sign = weights.weight(leaves, *nodes)
        assert sign * np.exp(log) == pytest.approx(expected, rel=1e-9, abs=1e-13 * largest)


@pytest.mark.parametrize("name", LEARNERS)
def test_parser_and_score_agree_and_lists_have_no_tree_twice(name: str) -> None:
    """The trees of the whole list, each with p of all its derivations, sum to the sentence."""
    backend = backend_of(name)
    sentence = lg.Sentence(WORDS, TAGS)
    parses = backend.nbest(sentence, 4000)
    assert len({str(parse.tree) for parse in parses}) == len(parses) > 1
    for parse in parses[:20]:
        assert backend.score(parse.tree).tree_logprob == pytest.approx(parse.tree_logprob, abs=1e-9, nan_ok=True)
    if name != "spectral":
        total = np.logaddexp.reduce([parse.tree_logprob for parse in parses])
        assert total == pytest.approx(parses[0].logprob, abs=1e-9)


def test_an_intermediate_symbol_never_seen_does_not_make_a_tree_impossible() -> None:
    """Other symbols may stand for it; a label never seen does."""
    backend = backend_of("left")
    tree = lg.parse_tree("(TOP (S (NP (N c)) (A b) (V d)))")
    assert "@S/A" not in backend.grammar.interminals
    assert backend.score(tree).tree_logprob > -np.inf
    unknown = lg.parse_tree("(TOP (S (NP (N c)) (X b) (V d)))")
    assert backend.score(unknown).tree_logprob == -np.inf


def test_plain_grammars_by_heads_have_trees_of_several_derivations() -> None:
    """[A [N A]] and [[A N] A] are both made by rules that were seen."""
    phrases = "(N c) (A b) (A b)", "(A b) (A b) (N c)", "(A b) (N c) (A b)", "(N c)"
    bank = lg.Treebank.of([lg.parse_tree(f"(TOP (S (NP {phrase}) (V d)))") for phrase in phrases])
    backend = PhraseBackend(lg.fit(lg.LPCFG, bank, by=lg.Counting(direction="head")))
    sentence = bank[2].sentence
    _, posteriors = backend._analyse(sentence)
    assert posteriors is not None
    assert len(posteriors.most_probable(9)[0]) == 2
    [parse] = backend.nbest(sentence, 9)
    assert parse.tree == bank[2]
    assert parse.tree_logprob == pytest.approx(parse.logprob, abs=1e-12)


def test_long_flat_trees_do_not_underflow() -> None:
    """Parts of many children are brought to size one, too, in all directions."""
    for name in ("left", "right", "head"):
        tree = lg.parse_tree(f"(TOP (S (NP {'(A b) ' * 60}(N c)) (V d)))")
        assert -2000 < backend_of(name).score(tree).tree_logprob < -60
