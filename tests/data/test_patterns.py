"""Patterns of trees find what a look at every node finds, and say what is wrong with them."""

from __future__ import annotations

import pytest

import latentgram as lg
from latentgram.data.brackets import parse_tree
from latentgram.data.patterns import ArcPattern, PhrasePattern
from latentgram.errors import DataError


@pytest.mark.parametrize(
    ("pattern", "hits"),
    [
        ("NP", 3),
        ("NP < PP", 1),
        ("NP << garden", 2),
        ("NP > PP", 1),
        ("PP >> VP", 1),
        ("VBD $. NP", 1),
        ("NP . VP", 1),
        ("NP !< PP", 2),
        ("/^N/", 6),
        ("VP < (NP < (PP < IN))", 1),
        ("* < the", 2),
        ("DT|NN", 6),
    ],
)
def test_patterns_of_phrases(pattern: str, hits: int) -> None:
    tree = parse_tree(
        "(S (NP (DT a) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog) (PP (IN in) (NP (DT the) (NN garden))))))"
    )
    assert len(PhrasePattern.parse(pattern).find(tree)) == hits


def test_patterns_against_a_check_of_all_nodes() -> None:
    """What a pattern finds is what one finds by looking at every pair of nodes of every tree."""
    for tree in lg.demo_treebank(30, seed=3):
        expected = set()
        for node, (_, first, end) in zip(tree.nodes(), tree.spans(), strict=True):
            if node.label == "NP" and any(child.label == "PP" for child in node.children):
                expected.add((first, end))
        assert set(PhrasePattern.parse("NP < PP").find(tree)) == expected


def test_patterns_of_arcs_and_patterns_that_are_none() -> None:
    tree = lg.DependencyTree(
        ("the", "dog", "sees", "cats"),
        (2, 3, 0, 3),
        ("det", "nsubj", "root", "obj"),
        upos=("DET", "NOUN", "VERB", "NOUN"),
        feats=("_", "Number=Sing", "_", "Number=Plur"),
    )
    assert ArcPattern.parse("V [upos=VERB]; V -[obj]-> N").find(tree) == [(2, 3), (3, 4)]
    assert ArcPattern.parse("N [Number=Plur]").find(tree) == [(3, 4)]
    assert ArcPattern.parse("V -[^obj]-> N; N [upos=NOUN]").find(tree) == [(1, 2), (2, 3)]
    assert ArcPattern.parse("pattern { N [upos=NOUN] } without { N -[det]-> D }").find(tree) == [(3, 4)]
    assert ArcPattern.parse("A [form=dog]; A < B").find(tree) == [(1, 2), (2, 3)]
    assert ArcPattern.parse("A [form=sees]; A << B; B [form=dog]").find(tree) == []
    many = lg.DependencyTree(tuple("abcdefghijklmnopqrst"), tuple(range(20)))
    unconnected = ArcPattern.parse("A [!x]; B [!x]; C [!x]; D [!x]; E [x]")
    with pytest.raises(DataError, match="too many combinations"):
        unconnected.find(many)
    for bad in ("NP <", "(NP < PP", "< NP", "NP < /(/", ""):
        with pytest.raises(DataError):
            PhrasePattern.parse(bad).find(parse_tree("(S (NP (NN a)))"))
    with pytest.raises(DataError, match="not part of a pattern"):
        ArcPattern.parse("V =>> N")
    with pytest.raises(DataError, match="more than 100 names"):
        ArcPattern.parse("; ".join(f"N{i} [!x]" for i in range(1500)))
