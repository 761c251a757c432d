import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.data.alphabet import Alphabet
from latentgram.data.brackets import parse_forest
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree

labels = st.sampled_from(["S", "NP", "X"])
trees = st.recursive(
    st.builds(lambda label, word: Tree(label, word=word), labels, st.sampled_from("abc")),
    lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=4).map(tuple)),
    max_leaves=10,
)
tree_lists = st.lists(trees, max_size=4)


@given(tree_lists)
def test_derived_arrays_are_those_of_a_walk(given_trees: list[Tree]) -> None:
    forest = Forest.of(given_trees)
    assert list(forest) == given_trees
    parent, depth, arity, begin, end, tree_of = [], [], [], [], [], []
    for number, tree in enumerate(given_trees):
        stack: list[tuple[Tree, int, int]] = [(tree, -1, 0)]
        while stack:
            node, above, level = stack.pop()
            stack.extend((child, len(parent), level + 1) for child in reversed(node.children))
            parent.append(above)
            depth.append(level)
            arity.append(len(node.children))
            tree_of.append(number)
        for _, first, last in tree.spans():
            begin.append(first)
            end.append(last)
    assert forest.parent.tolist() == parent
    assert forest.depth.tolist() == depth
    assert forest.arity.tolist() == arity
    assert forest.begin.tolist() == begin
    assert forest.end.tolist() == end
    assert forest.tree_of.tolist() == tree_of
    assert forest.is_unary.tolist() == [n == 1 for n in arity]
    assert forest.lengths.tolist() == [len(tree) for tree in given_trees]


@given(tree_lists, tree_lists, st.data())
def test_concatenate_and_select(first: list[Tree], second: list[Tree], data: st.DataObject) -> None:
    both = Forest.concatenate([Forest.of(first), Forest.of(second), Forest.of([])])
    assert list(both) == first + second
    if first + second:
        chosen = data.draw(st.lists(st.integers(-len(both), len(both) - 1), max_size=5))
        assert list(both.select(chosen)) == [(first + second)[i] for i in chosen]


def test_selection_outside() -> None:
    with pytest.raises(IndexError):
        parse_forest("(X a)").select([1])


def test_equality_is_of_content() -> None:
    forest = parse_forest("(X (B b) (A a))")
    reordered = Forest(
        Alphabet(("unused", "X", "B", "A")),
        Alphabet(("b", "a", "c")),
        np.array([1, 2, 3], np.int32),
        forest.size,
        np.array([-1, 0, 1], np.int32),
        forest.start,
    )
    assert forest == reordered
    assert forest.digest == reordered.digest
    assert hash(forest) == hash(reordered)
    for other in ("(X (B b) (A b))", "(X (A b) (B a))", "(X (B b) (X (A a)))", "(X (B b)) (A a)", ""):
        assert forest != parse_forest(other)


def test_digest_is_the_same_tomorrow() -> None:
    """Models carry it, so it must not depend on the machine or the day."""
    digest = parse_forest("(S (NP (NNS Cats)) (VP (VBP sleep)))").digest
    assert digest == "ced1eb247e57bd392c9cdf9e685880437a16f3a4c95f8fd760169c240b833af9"


def test_renaming_merges_labels() -> None:
    forest = parse_forest("(S (NP-1 a) (NP-2 b))").rename(lambda label: label.split("-")[0])
    assert str(forest[0]) == "(S (NP a) (NP b))"
    assert forest.labels.symbols == ("NP", "S")


@given(tree_lists, st.data())
def test_stretching_and_keeping_undo_each_other(given_trees: list[Tree], data: st.DataObject) -> None:
    forest = Forest.of(given_trees)
    count = len(forest.label)
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)), np.int64)
    stretched, step = forest.stretch_nodes(times)
    assert [tree.words for tree in stretched] == [tree.words for tree in given_trees]
    assert len(stretched.label) == times.sum()
    last = step == np.repeat(times, times) - 1
    assert stretched.keep_nodes(last) == forest
