"""Trees, projectivity and lifting against enumeration and against the definitions, word by word."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentgram.data.dependencies import DependencyArrays, DependencyTree, Lifting, projectivise
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError


def reaches_root(heads: tuple[int, ...], word: int) -> bool:
    for _ in heads:
        word = heads[word - 1]
        if word == 0:
            return True
    return False


def is_tree(heads: tuple[int, ...]) -> bool:
    return heads.count(0) == 1 and all(reaches_root(heads, word) for word in range(1, len(heads) + 1))


def arcs_cross(heads: tuple[int, ...]) -> bool:
    spans = [(min(head, word), max(head, word)) for word, head in enumerate(heads, 1)]
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(spans, 2))


def tree_of(heads: tuple[int, ...]) -> DependencyTree:
    return DependencyTree(tuple("w" * len(heads)), heads)


EVERY_HEADS = [heads for length in range(1, 6) for heads in itertools.product(range(length + 1), repeat=length)]
EVERY_TREE = [heads for heads in EVERY_HEADS if is_tree(heads)]


def test_checks_against_every_function_from_words_to_heads():
    kinds, _ = DependencyArrays.of_heads(EVERY_HEADS).faults
    assert [kind == 0 for kind in kinds] == [is_tree(heads) for heads in EVERY_HEADS]
    # Cayley: n^(n-1) rooted trees over n words.
    assert len(EVERY_TREE) == sum(n ** (n - 1) for n in range(1, 6))


def test_projectivity_against_crossing_of_arcs():
    projective = DependencyArrays.of_heads(EVERY_TREE).projective
    assert projective.tolist() == [not arcs_cross(heads) for heads in EVERY_TREE]


def test_lifting_makes_every_tree_a_projective_tree_and_leaves_projective_ones():
    trees = [tree_of(heads) for heads in EVERY_TREE]
    lifted, report = projectivise(trees)
    crossing = [arcs_cross(heads) for heads in EVERY_TREE]
    for before, after, crossed in zip(trees, lifted, crossing, strict=True):
        assert is_tree(after.heads)
        assert not arcs_cross(after.heads)
        assert (after is before) != crossed
        assert (after.heads != before.heads) == crossed
    assert report.changed == sum(crossing)
    moved = sum(a != b for x, y in zip(trees, lifted, strict=True) for a, b in zip(x.heads, y.heads, strict=True))
    assert report.moved == moved
    assert report.lifts >= moved


def lift_by_definition(heads: list[int]) -> list[int]:
    """Nivre & Nilsson's algorithm 1 as they state it."""

    def ancestors(word: int) -> set[int]:
        found = set()
        while word:
            word = heads[word - 1]
            found.add(word)
        return found

    heads = list(heads)
    while True:
        bad = [
            (abs(head - word), word)
            for word, head in enumerate(heads, 1)
            if any(head not in ancestors(k) for k in range(min(head, word) + 1, max(head, word)))
        ]
        if not bad:
            return heads
        _, word = min(bad)
        heads[word - 1] = heads[heads[word - 1] - 1]


@st.composite
def random_trees(draw: st.DrawFn) -> tuple[int, ...]:
    order = draw(st.permutations(range(1, draw(st.integers(2, 14)) + 1)))
    heads = [0] * len(order)
    for place, word in enumerate(order[1:], 1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    return tuple(heads)


@settings(max_examples=150, deadline=None)
@given(random_trees())
def test_lifting_equals_the_algorithm_as_stated(heads: tuple[int, ...]):
    lifted, _ = projectivise([tree_of(heads)])
    assert list(lifted[0].heads) == lift_by_definition(list(heads))
    assert tree_of(heads).is_projective == (not arcs_cross(heads))


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((0, 5), "the head of word 2 is 5, out of 0 to 2"),
        ((0, -3), "the head of word 2 is -3"),
        ((0, 1, 0), "word 3 is a second root"),
        ((0, 3, 2), "cycle at word"),
        ((1,), "cycle at word 1"),
        ((2, 1), "cycle"),
    ],
)
def test_faults_are_named(heads: tuple[int, ...], message: str):
    tree = tree_of(heads)
    assert message in (tree.fault or "")
    with pytest.raises(DataError, match="not a tree"):
        _ = tree.is_projective


def test_columns_must_have_one_value_a_word():
    with pytest.raises(DataError, match="2 words but 1 heads"):
        DependencyTree(("a", "b"), (0,))
    with pytest.raises(DataError, match="2 words but 3 upos"):
        DependencyTree(("a", "b"), (0, 1), upos=("X", "Y", "Z"))


def test_empty_treebank_and_sums():
    lifted, report = projectivise([])
    assert lifted == []
    assert str(report).startswith("0 of 0 sentences (0.00 %)")
    assert Lifting(1, 1, 5, 2, 3) + Lifting(2, 0, 7, 0, 0) == Lifting(3, 1, 12, 2, 3)
    assert np.array_equal(DependencyArrays.of([]).offsets, [0])


def test_the_sentence_of_a_tree_has_the_columns_that_say_something():
    tree = DependencyTree(("evler", "."), (0, 1), upos=("NOUN", "PUNCT"), feats=("Number=Plur", "_"))
    assert tree.sentence == Sentence(("evler", "."), None, ("NOUN", "PUNCT"), feats=("Number=Plur", "_"))
    assert tree.replace(feats=("_", "_")).sentence.feats is None
    assert tree.sentence.without_tags() == Sentence(("evler", "."))
    with pytest.raises(DataError, match="2 words but 1 feats"):
        Sentence(("a", "b"), feats=("_",))
