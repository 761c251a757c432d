"""The demo treebank: every tree is valid, agreement holds, both forms are one sentence, seeds reproduce."""

from __future__ import annotations

import itertools
import time

import pytest

from latentgram.data.conllu import parse_conllu, to_conllu
from latentgram.data.demo import demo_dependencies, demo_grammar, demo_treebank, draw_demo
from latentgram.data.dependencies import DependencyTree
from latentgram.data.feature_grammar import Draw, FeatureGrammar, Word, label_of
from latentgram.errors import DataError, SettingError

LABELS = {"TOP", "S", "SQ", "SBARQ", "SBAR", "NP", "VP", "PP", "ADVP", "ADJP", "WHNP", "WHADVP"}


@pytest.fixture(scope="module")
def draws() -> list[Draw]:
    return list(draw_demo(1500, seed=3))


def test_constituents(draws: list[Draw]):
    for draw in draws:
        assert draw.tree.label == "TOP"
        for node in draw.tree.nodes():
            assert (node.word is None) == bool(node.children)
            assert (node.label in LABELS) == bool(node.children)
        assert draw.tree.words[0][0].isupper() or draw.tree.words[0][0].isdigit()
        assert draw.tree.tags[-1] == "."


def test_dependencies_are_projective_trees_over_the_same_words(draws: list[Draw]):
    for draw in draws:
        assert draw.dependencies.words == draw.tree.words
        assert draw.dependencies.xpos == draw.tree.tags
    bank = demo_dependencies(1500, seed=3)
    assert bank.arrays.projective.all()
    assert parse_conllu("".join(map(to_conllu, bank))) == list(bank)
    roots = [
        relation for tree in bank for relation, head in zip(tree.deprels, tree.heads, strict=True) if head == 0
    ]
    assert set(roots) == {"root"}


def test_every_constituent_has_one_head_outside_of_which_it_hangs(draws: list[Draw]):
    for draw in draws[:300]:
        heads = draw.dependencies.heads
        for label, begin, end in draw.tree.spans():
            outside = [i for i in range(begin, end) if not begin < heads[i] <= end]
            # A conjunction depends on its conjunct, which is no constituent with it, but each phrase has one head.
            assert len(outside) == 1, (label, draw.tree.words[begin:end])


def is_plural(tree: DependencyTree, noun: int, before: int) -> bool:
    """Whether the noun, or what is joined by a conjunction before some word, is more than one."""
    arcs = zip(tree.heads[: before - 1], tree.deprels[: before - 1], strict=True)
    joined = any(head == noun and relation == "conj" for head, relation in arcs)
    return joined or tree.xpos[noun - 1] == "NNS" or tree.words[noun - 1].lower() == "you"


def finite_word(tree: DependencyTree, verb: int) -> tuple[str, str]:
    """Tag and form of the word of a verb group that shows number: the first auxiliary, or the verb itself."""
    helpers = [
        i
        for i, (head, relation) in enumerate(zip(tree.heads, tree.deprels, strict=True))
        if head == verb and relation in ("aux", "aux:pass", "cop")
    ]
    place = helpers[0] if helpers else verb - 1
    return tree.xpos[place], tree.words[place].lower()


def test_subjects_agree_with_verbs(draws: list[Draw]):
    checked = {True: 0, False: 0}
    for draw in draws:
        tree = draw.dependencies
        for word, (head, relation) in enumerate(zip(tree.heads, tree.deprels, strict=True), 1):
            if relation != "nsubj":
                continue
            subject, before = word, head
            if tree.xpos[word - 1] in ("WP", "WDT"):
                if tree.deprels[head - 1] != "acl:relcl":
                    continue
                subject, before = tree.heads[head - 1], word
            tag, form = finite_word(tree, head)
            if tag == "VBZ" or form == "was":
                expected = False
            elif tag == "VBP" or form == "were":
                expected = True
            else:
                continue
            assert is_plural(tree, subject, before) == expected, " ".join(tree.words)
            checked[expected] += 1
    assert min(checked.values()) > 100


def test_features_are_hidden_and_decide(draws: list[Draw]):
    for draw in draws[:200]:
        refined = draw.refined
        assert [label_of(node.label) for node in refined.nodes()] == [node.label for node in draw.tree.nodes()]
        assert refined.words == draw.tree.words
        for node in refined.nodes():
            parts = [child.label for child in node.children]
            if "CC" in parts and node.label.startswith("NP"):
                assert (
                    len({part.split(",")[-1] for part in parts if part != "CC"} | {node.label.split(",")[-1]}) == 1
                )
            if "IN[of]" in parts:
                assert node.label.startswith("PP[of")
    attached_to = {
        (child.label, label_of(node.label))
        for draw in draws
        for node in draw.refined.nodes()
        for child in node.children
        if child.label.startswith("PP")
    }
    # Labels alone do not tell where a PP goes, its hidden feature mostly does.
    assert ("PP[into]", "VP") in attached_to
    assert ("PP[into]", "NP") not in attached_to
    assert ("PP[near]", "NP") in attached_to
    assert ("PP[near]", "VP") not in attached_to
    assert {("PP[with]", "NP"), ("PP[with]", "VP")} <= attached_to


def test_seeds_reproduce_and_streams_are_prefixes():
    bank = demo_treebank(60, seed=5)
    assert bank == demo_treebank(60, seed=5)
    assert bank != demo_treebank(60, seed=6)
    assert demo_treebank(40, seed=5) == bank[:40]
    with pytest.raises(SettingError, match="the number of sentences must be at least 1"):
        demo_treebank(0)


def test_lengths_and_unknown_words():
    train, test = demo_treebank(2000, seed=0), demo_treebank(500, seed=1)
    assert train.summary.longest <= 40
    assert 10 < train.summary.mean < 20
    known = {word for sentence in train.sentences() for word in sentence.words}
    tokens = [word for sentence in test.sentences() for word in sentence.words]
    assert len(known) > 700
    assert 0.01 < sum(word not in known for word in tokens) / len(tokens) < 0.10
    kinds = {child.label for tree in train for child in tree.children}
    assert kinds == {"S", "SQ", "SBARQ"}


def test_drawing_is_fast():
    demo_grammar()
    begin = time.process_time()
    assert sum(1 for _ in draw_demo(1000, seed=9)) == 1000
    assert 1000 / (time.process_time() - begin) > 2000


WORDS = {"A": [(3.0, Word("a", "a", "X")), (1.0, Word("b", "b", "X"))]}


def test_drawing_follows_the_weights():
    grammar = FeatureGrammar.parse("3 S -> S:* S:dep \n 7 S -> A:*", {}, WORDS, "S", longest=1000)
    # A branching process: mean m = 0.3 · 2m + 0.7.
    trees = [draw.tree for draw in itertools.islice(grammar.draw(0), 4000)]
    assert sum(map(len, trees)) / 4000 == pytest.approx(1.75, abs=0.1)
    words = [word.lower() for tree in trees for word in tree.words]
    assert words.count("a") / len(words) == pytest.approx(0.75, abs=0.02)
    assert sum(len(tree) == 1 for tree in trees) / 4000 == pytest.approx(0.7, abs=0.03)


def test_variables_share_the_weight_of_a_rule():
    variables = {"v": ("x", "y"), "w": ("x", "y", "y")}
    words = {f"A[{v}]": WORDS["A"] for v in "xy"}
    grammar = FeatureGrammar.parse("2 S -> A[v]:* A[v]:dep A[w]:dep \n 1 S -> A[x]:*", variables, words, "S")
    weights = [(weight, rule.parts) for weight, rule in grammar.rules["S"]]
    assert sum(weight for weight, _ in weights) == pytest.approx(3)
    assert sum(weight for weight, parts in weights if parts == ("A[x]", "A[x]", "A[y]")) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 S => A:*", "weight symbol ->"),
        ("1 S -> A", "one head"),
        ("1 S -> A:* A:*", "one head"),
        ("1 S -> A]:*", "not a symbol"),
        ("1 S -> B:*", "cannot rewrite B"),
        ("1 S -> A:* \n 1 T -> A:*", "never uses T"),
    ],
)
def test_faults_of_a_grammar(text: str, message: str):
    with pytest.raises(DataError, match=message):
        FeatureGrammar.parse(text, {}, WORDS, "S")


def test_an_article_goes_with_the_sound_of_the_next_word():
    pairs = [pair for tree in demo_treebank(400, seed=3) for pair in itertools.pairwise(tree.words)]
    following = {article: {word[0] for first, word in pairs if first == article} for article in ("a", "an")}
    assert following["an"]
    assert following["an"] <= set("aeiou")
    assert not following["a"] & set("aeiou")
