from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.data.brackets import parse_forest, read_brackets
from latentgram.data.cleaning import clean, collapse_repeats, strip_empties, strip_functions
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.errors import DataError

labels = st.sampled_from(["S", "NP-SBJ", "NP", "NP=2", "-LRB-", "-NONE-", "X-1"])
trees = st.recursive(
    st.builds(lambda label, word: Tree(label, word=word), labels, st.sampled_from(["a", "b", "*"])),
    lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=4).map(tuple)),
    max_leaves=10,
)
forests = st.lists(trees, max_size=5).map(Forest.of)


def without_empties(tree: Tree) -> Tree | None:
    if tree.word is not None:
        return None if tree.label == "-NONE-" else tree
    below = tuple(kept for kept in map(without_empties, tree.children) if kept is not None)
    return Tree(tree.label, below) if below else None


def without_repeats(tree: Tree) -> Tree:
    below = tuple(map(without_repeats, tree.children))
    if len(below) == 1 and below[0].label == tree.label:
        return below[0]
    return Tree(tree.label, below, tree.word)


@given(forests)
def test_empties(forest: Forest) -> None:
    stripped, removal = strip_empties(forest)
    assert list(stripped) == [kept for kept in map(without_empties, forest) if kept is not None]
    assert removal.restore(stripped) == forest


@given(forests)
def test_repeats(forest: Forest) -> None:
    collapsed, removal = collapse_repeats(forest)
    assert list(collapsed) == [without_repeats(tree) for tree in forest]
    assert removal.restore(collapsed) == forest


@given(forests)
def test_a_chain_of_transforms_is_undone_backwards(forest: Forest) -> None:
    without, removal = strip_empties(forest)
    plain, relabelling = strip_functions(without)
    collapsed, repeats = collapse_repeats(plain)
    assert clean(forest)[0] == plain
    assert removal.restore(relabelling.restore(repeats.restore(collapsed))) == forest


def test_penn_tree() -> None:
    forest = parse_forest(
        "( (S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)) "
        "(ADVP|PRT-TMP=2 (RB up)))) (-RRB- -RRB-) (. .)) )"
    )
    assert str(clean(forest)[0][0]) == (
        "(TOP (S (NP (DT The) (NN cat)) (VP (VBD was) (VP (VBN seen) (ADVP|PRT (RB up)))) (-RRB- -RRB-) (. .)))"
    )


def test_records_are_for_their_own_trees() -> None:
    forest = parse_forest("(S (A a) (-NONE- *) (B b))")
    stripped, removal = strip_empties(forest)
    _, relabelling = strip_functions(forest)
    with pytest.raises(DataError, match="only in the trees"):
        removal.restore(forest)
    with pytest.raises(DataError, match="only in the trees"):
        relabelling.restore(stripped)
    with pytest.raises(DataError, match="the same shape"):
        removal.restore(parse_forest("(S (A (B b)))"))


@pytest.mark.corpus
@pytest.mark.parametrize("pack", ["wsj-sample", "genia", "gum"])
def test_whole_corpora(pack: str, corpora: Path) -> None:
    forest = read_brackets(corpora / "constituency" / pack / "train.mrg")
    assert clean(forest)[0] == forest
    collapsed, removal = collapse_repeats(forest)
    assert len(removal) == {"wsj-sample": 126, "genia": 14870, "gum": 206}[pack]
    assert removal.restore(collapsed) == forest
    assert np.array_equal(collapsed.lengths, forest.lengths)


def test_tags_of_words_keep_their_names() -> None:
    assert str(strip_functions(parse_forest("(NP-TMP (NN-SHORT today))"))[0][0]) == "(NP (NN-SHORT today))"


def test_what_was_cleaned_is_counted() -> None:
    forest = parse_forest("( (S-1 (NP-SBJ (-NONE- *)) (VP=2 (VB go))))\n(S (VB stay))")
    cleaning = clean(forest)[1]
    assert (cleaning.empties, cleaning.marks, cleaning.roots) == (2, 2, 1)
    assert not clean(parse_forest("(S (VB stay))"))[1]
