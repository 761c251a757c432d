from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentgram.data.binarisation import Binarisation, Symbol, root_label, strip_root, tag_of
from latentgram.data.brackets import parse_forest, parse_tree, read_brackets
from latentgram.data.forest import Forest
from latentgram.data.head_rules import HeadRules
from latentgram.data.heads import ENGLISH
from latentgram.data.tree import Tree

ODD = ["S", "NP", "@NP", "A+B", "ADVP|PRT", "X^Y", "\\", "~", "a/b", "-LRB-", "TOP", "", "é"]
labels = st.sampled_from(ODD)
trees = st.recursive(
    st.builds(lambda label, word: Tree(label or "x", word=word), labels, st.sampled_from(["a", "b", "(", "c"])),
    lambda below: st.builds(
        lambda label, children: Tree(label, tuple(children)), labels, st.lists(below, min_size=1, max_size=5)
    ),
    max_leaves=12,
)
forests = st.lists(trees, min_size=0, max_size=5).map(Forest.of)
heads = HeadRules({"S": ("left NP A+B",), "NP": ("rightmost @NP X^Y S",)}, "right", ("~",))
binarisations = st.builds(
    lambda direction, *rest: Binarisation(direction, *rest, heads=heads if direction == "head" else None),
    st.sampled_from(["left", "right", "head"]),
    st.sampled_from([None, 0, 1, 2]),
    st.integers(1, 3),
    st.none(),
)


@settings(max_examples=150)
@given(forests, binarisations)
def test_restore_is_the_inverse(forest: Forest, binarisation: Binarisation) -> None:
    binary = binarisation.binarise(forest)
    assert binarisation.restore_forest(binary) == forest
    assert [tree.words for tree in binary] == [tree.words for tree in forest]
    assert np.isin(binary.arity, (0, 2)).all()
    assert ((binary.arity == 0) == binary.is_tag).all()
    over_words = set(binary.label[binary.is_tag].tolist())
    assert not over_words & set(binary.label[~binary.is_tag].tolist())
    assert [tag_of(binary.labels[i]) for i in binary.label[binary.is_tag]] == [
        tag for tree in forest for tag in tree.tags
    ]


@settings(max_examples=60)
@given(st.lists(trees, min_size=1, max_size=4), binarisations)
def test_the_root_label_comes_back(below: list[Tree], binarisation: Binarisation) -> None:
    forest = Forest.of([Tree("ROOT", (tree,)) for tree in below])
    with_root = Binarisation.of(forest, direction=binarisation.direction, vertical=binarisation.vertical)
    assert (with_root.heads is not None) == (binarisation.direction == "head")
    assert with_root.root == "ROOT"
    assert with_root.restore_forest(with_root.binarise(forest)) == forest


FLAT = "(TOP (X (A a) (B b) (C c) (D d)))"


@pytest.mark.parametrize(
    ("settings_", "expected"),
    [
        (Binarisation(), "(X (@X (@X (A a) (B b)) (C c)) (D d))"),
        (Binarisation("right"), "(X (A a) (@X (B b) (@X (C c) (D d))))"),
        (Binarisation(horizontal=1), "(X (@X/C (@X/B (A a) (B b)) (C c)) (D d))"),
        (Binarisation("right", horizontal=None), "(X (A a) (@X/B/C/D (B b) (@X/C/D (C c) (D d))))"),
        (
            Binarisation("head", horizontal=1, heads=HeadRules({"X": ("left C",)})),
            "(X (A a) (@X/B (B b) (@X/D (C c) (D d))))",
        ),
        (Binarisation("head", heads=HeadRules({"X": ("left B",)})), "(X (A a) (@X (@X (B b) (C c)) (D d)))"),
        (Binarisation(vertical=2), "(X (@X (@X (A a) (B b)) (C c)) (D d))"),
    ],
)
def test_shapes(settings_: Binarisation, expected: str) -> None:
    assert str(settings_.binarise(parse_forest(FLAT))[0]) == expected


def test_vertical_memory() -> None:
    forest = parse_forest("(S (NP (NP (A a) (B b)) (PP (C c) (NP (D d) (E e) (F f)))) (VP (G g)))")
    assert str(Binarisation(vertical=2, root=None).binarise(forest)[0]) == (
        "(S (NP^S (NP^NP (A a) (B b)) (PP^NP (C c) (NP^PP (@NP^PP (D d) (E e)) (F f)))) (VP+G g))"
    )


def test_a_label_may_be_tag_and_phrase() -> None:
    forest = parse_forest("(TOP (NP (NP the) (NP (A a) (B b))))")
    binary = Binarisation().binarise(forest)
    assert str(binary[0]) == "(NP (NP~ the) (NP (A a) (B b)))"
    assert Binarisation().restore(binary[0]) == forest[0]


def test_one_word_sentences() -> None:
    forest = parse_forest("(TOP (NN yes)) (TOP (S (VP (VB go))))")
    binary = Binarisation.of(forest).binarise(forest)
    assert [str(tree) for tree in binary] == ["(NN yes)", "(S+VP+VB go)"]
    assert Binarisation().restore_forest(binary) == forest


def test_a_parse_whose_root_is_intermediate_is_still_a_tree() -> None:
    assert str(Binarisation().restore(parse_tree("(@VP (@VP (V v) (NP n)) (PP p))"))) == (
        "(TOP (VP (V v) (NP n) (PP p)))"
    )


def test_root_label_is_only_a_label_of_roots() -> None:
    assert root_label(parse_forest("(TOP (S (A a))) (TOP (X b))")) == "TOP"
    assert root_label(parse_forest("( (S (A a)))")) == ""
    assert root_label(parse_forest("(S (S (A a) (B b)))")) is None
    assert root_label(parse_forest("(S (A a) (B b))")) is None
    assert root_label(parse_forest("(TOP (A a)) (S (A a))")) is None
    assert root_label(Forest.of([])) is None


def test_a_root_over_several_nodes_stays() -> None:
    forest = parse_forest("(TOP (S (A a)) (. .)) (TOP (TOP (A a) (B b))) (TOP (X x))")
    assert [str(tree) for tree in strip_root(forest, "TOP")] == [
        "(TOP (S (A a)) (. .))",
        "(TOP (TOP (A a) (B b)))",
        "(X x)",
    ]
    assert Binarisation().restore_forest(Binarisation().binarise(forest)) == forest


@given(
    st.builds(
        Symbol,
        st.lists(st.text(), min_size=1, max_size=3).map(tuple),
        st.booleans(),
        st.lists(st.text(), max_size=2).map(tuple),
        st.lists(st.text(), max_size=2).map(tuple),
        st.booleans(),
    )
)
def test_symbols_can_be_read_back(symbol: Symbol) -> None:
    assert Symbol.read(str(symbol)) == symbol


def test_deep_trees_do_not_recurse() -> None:
    depth = 20_000
    text = "(A " * depth + "(B b)" + " (C c))" * depth
    tree = parse_tree(text)
    assert len(tree) == depth + 1
    binarisation = Binarisation(root=None)
    forest = parse_forest(text)
    assert binarisation.restore_forest(binarisation.binarise(forest)) == forest


@pytest.mark.corpus
@pytest.mark.parametrize("pack", ["wsj-sample", "genia", "gum"])
def test_whole_corpora(pack: str, corpora: Path) -> None:
    forest = read_brackets(corpora / "constituency" / pack / "train.mrg")
    for binarisation in (
        Binarisation.of(forest),
        Binarisation.of(forest, direction="right", horizontal=2, vertical=3),
        Binarisation.of(forest, direction="head", horizontal=1, vertical=2, heads=ENGLISH),
    ):
        assert binarisation.root == "TOP"
        assert binarisation.restore_forest(binarisation.binarise(forest)) == forest


@pytest.mark.corpus
def test_the_symbols_of_the_paper(corpora: Path) -> None:
    """Cohen et al. 2013's set-up on this corpus is known to give 144 preterminals and 75 interminals."""
    forest = read_brackets(corpora / "constituency/wsj-sample/train.mrg")
    binary = Binarisation.of(forest).binarise(forest)
    preterminals = np.unique(binary.label[binary.is_tag])
    assert (len(preterminals), len(binary.labels) - len(preterminals)) == (144, 75)
