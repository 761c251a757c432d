from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentgram.data.brackets import parse_forest, read_brackets
from latentgram.data.conllu import read_conllu
from latentgram.data.forest import Forest
from latentgram.data.head_rules import HeadRules
from latentgram.data.heads import COLLINS, ENGLISH, dependencies, dependency_heads
from latentgram.data.tree import Tree
from latentgram.errors import SettingError


def head_of(rules: HeadRules, tree: str) -> int:
    return int(rules.head_children(parse_forest(tree))[0])


def test_passes() -> None:
    tree = "(X (A a) (B b) (A a) (C c))"
    for rule, place in [
        (("left C A",), 3),
        (("leftmost C A",), 0),
        (("right A C",), 2),
        (("rightmost A B",), 2),
        (("left Z", "right B"), 1),
        (("left Z",), 0),
        (("left Z", "right"), 3),
        ((), 0),
    ]:
        assert head_of(HeadRules({"X": rule} if rule else {}), tree) == place, rule


def test_punctuation_is_no_head_unless_alone() -> None:
    rules = HeadRules(otherwise="right")
    assert head_of(rules, "(X (A a) (. .) ('' ''))") == 0
    assert head_of(rules, "(X (, ,) (. .))") == 1


def test_wrong_rules_are_refused() -> None:
    with pytest.raises(SettingError, match="a rule of NP is 'middle NN'"):
        HeadRules({"NP": ("middle NN",)})


def test_english() -> None:
    sentence = (
        "(TOP (S (NP (NP (DT The) (NN head)) (PP (IN of) (NP (NN sales)))) (VP (MD will) (VP (VB try) "
        "(S (VP (TO to) (VP (VB sell) (NP (PRP$ his) (NN house))))))) (. .)))"
    )
    tree = dependencies(parse_forest(sentence), ENGLISH)[0]
    assert tree.words == ("The", "head", "of", "sales", "will", "try", "to", "sell", "his", "house", ".")
    assert tree.heads == (2, 5, 2, 3, 0, 5, 8, 6, 10, 8, 5)
    assert tree.xpos[0] == "DT"


PRINTED = [
    ("VP", "TO VP", 0),
    ("VP", "MD VP", 0),
    ("VP", "ADVP VP CC VP", 1),
    ("S", "NP VP .", 1),
    ("S", "ADVP , NP VP", 3),
    ("SBAR", "WHNP S", 0),
    ("SBAR", "IN S", 0),
    ("NP", "DT JJ NN", 2),
    ("NP", "NNP POS", 1),
    ("NP", "NP PP SBAR", 0),
    ("NP", "DT CD JJ", 1),
    ("PP", "RB IN NP", 1),
    ("QP", "RB IN CD", 1),
    ("ADJP", "RB JJ PP", 1),
    ("ADVP", "RB RBR", 0),
    ("WHNP", "WP$ NN", 0),
    ("NP", "NN CC NN", 0),
    ("NP", "JJ NN , CC NN", 1),
    ("NP", "NN , NN CC NN", 2),
    ("ADVP", "RB CC RB", 0),
    ("UCP", "ADJP CC NP", 0),
    ("NP", "CC NN", 1),
]
"""Phrases, their children, and the heads that appendix A of Collins (1999) gives them, worked out by hand."""


@pytest.mark.parametrize(("label", "children", "head"), PRINTED)
def test_the_table_of_collins(label: str, children: str, head: int) -> None:
    tree = Tree(label, tuple(Tree(child, word="w") for child in children.split()))
    assert COLLINS.head_children(Forest.of([tree]))[0] == head


def brute_heads(tree: Tree, rules: HeadRules) -> list[int]:
    """Heads by walking the tree, one node at a time."""
    heads = [0] * len(tree)

    def visit(node: Tree, first: int) -> int:
        if node.word is not None:
            return first
        words, place = [], first
        for child in node.children:
            words.append(visit(child, place))
            place += len(child)
        flat = Forest.of([Tree(node.label, tuple(Tree(child.label, word="w") for child in node.children))])
        head = words[int(rules.head_children(flat)[0])]
        for word in words:
            if word != head:
                heads[word] = head + 1
        return head

    visit(tree, 0)
    return heads


labels = st.sampled_from(["S", "NP", "VP", "NN", ",", "X"])
trees = st.recursive(
    st.builds(lambda label: Tree(label, word="w"), labels),
    lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=4).map(tuple)),
    max_leaves=10,
)


@given(st.lists(trees, min_size=1, max_size=3), st.booleans())
def test_dependencies_are_those_of_a_walk(given_trees: list[Tree], learned: bool) -> None:
    forest = Forest.of(given_trees)
    rules = HeadRules.learn(forest) if learned else ENGLISH
    assert dependency_heads(forest, rules).tolist() == [
        h for tree in given_trees for h in brute_heads(tree, rules)
    ]


def test_learned_rules_find_heads_of_a_made_up_language() -> None:
    """Phrases kX have one head x and any number of modifiers, which are phrases themselves; x is always last."""
    rng = np.random.default_rng(1)

    def phrase(kind: str, depth: int) -> Tree:
        modifiers = rng.integers(0, 3) if depth < 4 else 0
        below = tuple(phrase(str(rng.choice(["q", "r", "s"])), depth + 1) for _ in range(modifiers))
        return Tree(f"phrase-{kind}", (*below, Tree(f"head-{kind}", word="w")))

    forest = Forest.of([phrase("s", 0) for _ in range(200)])
    heads = HeadRules.learn(forest).head_children(forest)
    assert (heads == np.maximum(forest.arity - 1, 0)).mean() > 0.95


@pytest.mark.corpus
def test_agreement_with_other_head_rules(corpora: Path) -> None:
    """The dependency pack was made by rules of another author, so agreement is high but not full."""
    forest = read_brackets(corpora / "constituency/wsj-sample/dev.mrg")
    gold = list(read_conllu(corpora / "dependency/wsj-sample/dev.conllu"))
    heads = np.array([head for tree in gold for head in tree.heads])
    assert np.mean(dependency_heads(forest, ENGLISH) == heads) > 0.87
    assert np.mean(dependency_heads(forest, HeadRules.learn(forest)) == heads) > 0.65
