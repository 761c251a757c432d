"""Features against their definitions (Cohen et al. 2013, §3.1), as plain walks over one tree at a time."""

from collections.abc import Callable

import numpy as np
import pytest

from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Binarisation, strip_root
from latentgram.data.brackets import parse_forest
from latentgram.data.forest import Forest
from latentgram.data.heads import ENGLISH
from latentgram.data.kernels.forest import number_values
from latentgram.data.treebank import Treebank
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import SettingError
from latentgram.kinds.learners import Spectral
from latentgram.lpcfg.features import (
    FEATURE_SETS,
    INSIDE,
    OUTSIDE,
    WIDTHS,
    Nodes,
    cluster_features,
    view,
    word_groups,
)
from latentgram.lpcfg.settings import SpectralLPCFG
from latentgram.lpcfg.statistics import Derivations, GrammarData, head_leaves
from latentgram.parallel import InProcess

TEXT = """
(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ sees) (NP (NP (DT the) (NN dog)) (PP (IN of) (NP (PRP it)))))))
(TOP (S (NP (NN rain)) (VP (VBZ falls) (ADVP (RB here)) (PP (IN in) (NP (JJ old) (NN autumn))) (. .))))
(TOP (S (NP (DT the) (NN cat)) (VP (VBZ falls))))
(TOP (NN stop))
"""


class Walker:
    """One node of one tree, with what lies around it."""

    def __init__(self, forest: Forest, root: int, path: tuple[int, ...] = ()) -> None:
        self.forest, self.root, self.path = forest, root, path
        self.label = forest.labels[forest.label[self.node]]

    @property
    def node(self) -> int:
        v = self.root
        for step in self.path:
            v += 1
            if step:
                v += int(self.forest.size[v])
        return v

    @property
    def up(self) -> "Walker | None":
        return Walker(self.forest, self.root, self.path[:-1]) if self.path else None

    @property
    def children(self) -> list["Walker"]:
        leaf = self.forest.word[self.node] >= 0
        return [] if leaf else [Walker(self.forest, self.root, (*self.path, side)) for side in (0, 1)]

    @property
    def rule(self) -> tuple[str, ...]:
        if not self.children:
            return self.label, "word", self.forest.words[self.forest.word[self.node]]
        return (self.label, *(child.label + "*" * (not child.children) for child in self.children))

    @property
    def leaves(self) -> list["Walker"]:
        return [leaf for child in self.children for leaf in child.leaves] or [self]

    @property
    def above(self) -> "tuple[tuple[str, ...], int] | None":
        return None if self.up is None else (self.up.rule, self.path[-1])

    def places(self) -> tuple[int, int]:
        leaves = [leaf.node for leaf in Walker(self.forest, self.root).leaves]
        first = leaves.index(self.leaves[0].node)
        return first, len(leaves) - first - len(self.leaves)

    def neighbour(self, offset: int) -> str | None:
        leaves = Walker(self.forest, self.root).leaves
        first, after = self.places()
        place = first - 1 if offset < 0 else len(leaves) - after
        return leaves[place].label if 0 <= place < len(leaves) else None


def bucket(width: int) -> int:
    return sum(width > bound for bound in WIDTHS)


def child(walker: Walker, side: int) -> Walker | None:
    return walker.children[side] if walker.children else None


def edge(walker: Walker, which: int) -> str | None:
    return walker.leaves[which].label if walker.children else None


Definition = Callable[[Walker, dict[int, int]], object]


def head_above(walker: Walker, heads: dict[int, int]) -> object:
    above = walker.up
    while above is not None:
        if heads[above.node] != heads[walker.node]:
            forest = walker.forest
            return forest.labels[forest.label[heads[above.node]]]
        above = above.up
    return None


def fragments(walker: Walker, levels: int) -> object:
    found: list[object] = [walker.above]
    for _ in range(levels - 1):
        if walker.up is None:
            break
        walker = walker.up
        found.append(walker.above)
    return None if found[0] is None else tuple(found)


DEFINITIONS: dict[str, Definition] = {
    "left-child": lambda w, _: w.children and w.rule[1],
    "right-child": lambda w, _: w.children and w.rule[2],
    "rule": lambda w, _: w.rule,
    "left-rule": lambda w, _: w.children and (w.rule, w.children[0].rule),
    "right-rule": lambda w, _: w.children and (w.rule, w.children[1].rule),
    "head": lambda w, heads: w.forest.labels[w.forest.label[heads[w.node]]],
    "width": lambda w, _: bucket(len(w.leaves)),
    "first-tag": lambda w, _: edge(w, 0),
    "last-tag": lambda w, _: edge(w, -1),
    "rule-above": lambda w, _: w.above,
    "two-rules-above": lambda w, _: fragments(w, 2),
    "three-rules-above": lambda w, _: fragments(w, 3),
    "parent": lambda w, _: w.up and w.up.label,
    "grandparent": lambda w, _: w.up and (w.up.label, w.up.up and w.up.up.label),
    "head-above": head_above,
    "left-width": lambda w, _: bucket(w.places()[0]),
    "right-width": lambda w, _: bucket(w.places()[1]),
    "previous-tag": lambda w, _: w.neighbour(-1),
    "next-tag": lambda w, _: w.neighbour(1),
}


@pytest.fixture(scope="module")
def trees() -> tuple[Forest, Nodes]:
    forest = parse_forest(TEXT)
    binarisation = Binarisation.of(forest)
    binary = binarisation.binarise(forest)
    derivations = Derivations.of(binary)
    added = np.array([name.startswith("@") for name in binary.labels])[binary.label]
    plain = strip_root(forest, "TOP")
    words = ENGLISH.head_words(plain)[~plain.is_unary]
    return binary, Nodes(derivations, head_leaves(derivations, added, words))


def walkers(forest: Forest) -> list[Walker]:
    found = []
    for root in forest.start[:-1]:
        pending = [Walker(forest, int(root))]
        while pending:
            walker = pending.pop()
            found.append(walker)
            pending.extend(walker.children)
    return sorted(found, key=lambda walker: walker.node)


@pytest.mark.parametrize("name", [*INSIDE, *OUTSIDE])
def test_a_feature_tells_apart_what_its_definition_does(trees: tuple[Forest, Nodes], name: str) -> None:
    forest, nodes = trees
    heads = {v: int(nodes.head[v]) for v in range(len(forest.label))}
    expected = [DEFINITIONS[name](walker, heads) for walker in walkers(forest)]
    found = ({**INSIDE, **OUTSIDE})[name](nodes)
    by_definition = {(w.label, repr(value)): [] for w, value in zip(walkers(forest), expected, strict=True)}
    for walker, value in zip(walkers(forest), expected, strict=True):
        by_definition[walker.label, repr(value)].append(walker.node)
    by_number: dict[tuple[str, int], list[int]] = {}
    for walker in walkers(forest):
        by_number.setdefault((walker.label, max(int(found[walker.node]), -1)), []).append(walker.node)
    assert sorted(by_number.values()) == sorted(by_definition.values())


def test_heads_of_binary_nodes(trees: tuple[Forest, Nodes]) -> None:
    forest, nodes = trees

    def heads(label: str) -> list[str]:
        chosen = np.flatnonzero(forest.label == forest.labels.index(label))
        return [forest.words[forest.word[nodes.head[v]]] for v in chosen]

    assert heads("S") == ["sees", "falls", "falls"]
    assert heads("@NP") == ["old"]
    assert heads("PP") == ["of", "in"]


@pytest.mark.parametrize(("name", "head"), [("collins", "TO"), ("english", "VB"), ("learned", "VB")])
def test_heads_are_those_of_the_rules_that_are_asked_for(name: str, head: str) -> None:
    """In the table of Collins *to* is the head of its phrase; in the English one, or learned, the verb is."""
    text = "(TOP (S (NP (PRP I)) (VP (VB want) (S (VP (TO to) (VP (VB go) (ADVP (RB home))))))))" * 3
    text += "(TOP (S (NP (PRP I)) (VP (VB go) (ADVP (RB home)))))" * 9
    settings = Spectral(heads=name).settings(SpectralLPCFG, "test")
    data = GrammarData.of(Treebank.of(parse_forest(text)), settings, InProcess())
    d = data.derivations
    [symbol] = {int(d.symbol[node]) for node in range(len(d.symbol)) if _name(d, node).startswith("S+VP")}
    assert {_name(d, int(data.head[node])) for node in np.flatnonzero(d.symbol == symbol)} == {head}


def _name(derivations: Derivations, node: int) -> str:
    names = (*derivations.interminals, *derivations.preterminals)
    return names[derivations.symbol[node]]


def test_a_view_has_one_indicator_a_feature_and_counts_add_up(trees: tuple[Forest, Nodes]) -> None:
    _, nodes = trees
    names = FEATURE_SETS["paper"][0]
    inside = view(nodes, names, INSIDE, InProcess())
    for symbol in range(nodes.derivations.symbols):
        chosen = np.flatnonzero(nodes.symbol == symbol)
        column = inside.column[chosen]
        assert column.shape == (len(chosen), len(names))
        assert all(len(set(row)) == len(names) for row in column.tolist())
        assert np.bincount(column.ravel()).min() >= 1
        assert column.max() + 1 == inside.width[symbol]


def test_unknown_features_are_named(trees: tuple[Forest, Nodes]) -> None:
    with pytest.raises(SettingError, match="no feature is named colour; known: left-child"):
        view(trees[1], ["rule", "colour"], INSIDE, InProcess())


def test_a_feature_of_ones_own(trees: tuple[Forest, Nodes]) -> None:
    own = {"depth": lambda nodes: (nodes.up(2) >= 0).astype(np.int64)}
    found = view(trees[1], ["depth"], own, InProcess())
    assert set(found.width) <= {1, 2}


def test_values_are_numbered_by_their_groups() -> None:
    random = np.random.default_rng(0)
    group, value = random.integers(4, size=500), random.integers(40, size=500) * 10**12
    number, width = number_values(group, value, 4)
    for g in range(4):
        first_seen = list(dict.fromkeys(value[group == g].tolist()))
        assert number[group == g].tolist() == [first_seen.index(v) for v in value[group == g]]
        assert width[g] == len(first_seen)


def test_clusters_that_are_the_tags_make_the_features_of_tags(trees: tuple[Forest, Nodes]) -> None:
    _, nodes = trees
    inside, outside = cluster_features(nodes.symbol[nodes.derivations.leaf])
    known = {**INSIDE, **OUTSIDE, "head-tag": INSIDE["head"], "head-above-tag": OUTSIDE["head-above"]}
    for name, feature in {**inside, **outside}.items():
        assert np.array_equal(feature(nodes), known[name.replace("cluster", "tag")](nodes)), name


def test_groups_of_words_are_the_beginnings_of_their_bits() -> None:
    bits = ("000000", "000001", "00001", "1")
    clusters = WordClusters(Alphabet(("a", "b", "c", "d")), np.array([0, 1, 2, 3]), bits)
    words, word = Alphabet(("B", "a", "c", "d", "z")), np.array([2, 4, 1, 0, 3])
    assert word_groups(clusters, words, word).tolist() == [1, -1, 0, 0, 2]
