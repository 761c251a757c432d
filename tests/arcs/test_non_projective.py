"""Parsers whose arcs may cross: learned from such trees, exact in the first order, sensible in the second."""

from __future__ import annotations

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.crossing import LEAST, lowered, marked_names
from latentgram.arcs.update import update
from latentgram.data.dependencies import projectivise
from latentgram.numeric.projective import best_heads, score_heads
from latentgram.numeric.rearranging import best_rearranged
from oracles.spanning import all_trees


def crossing_trees(count: int, seed: int) -> lg.Treebank:
    """a b a' b' with a → a' and b → b', a → b, and some words before and after that belong to a."""
    random = np.random.default_rng(seed)
    trees = []
    for _ in range(count):
        before, after = random.integers(0, 3, 2)
        top = before + 1
        tags = ("Z",) * before + ("A", "B", "A2", "B2") + ("Z",) * after
        heads = (top,) * before + (0, top, top, top + 1) + (top,) * after
        words = tuple(f"{tag.lower()}{random.integers(5)}" for tag in tags)
        trees.append(lg.DependencyTree(words, heads, upos=tags, deprels=tuple(tag.lower() for tag in tags)))
    return lg.Treebank.of(trees)


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return crossing_trees(60, 0)


@pytest.fixture(scope="module")
def learned(bank: lg.Treebank) -> dict[int, lg.ArcFactored]:
    learners = {order: lg.MIRA(order=order, passes=3, bits=16, non_projective=True) for order in (1, 2)}
    return {order: lg.fit(lg.ArcFactored, bank[:40], by=learner) for order, learner in learners.items()}


@pytest.fixture(params=[1, 2])
def model(request: pytest.FixtureRequest, learned: dict[int, lg.ArcFactored]) -> lg.ArcFactored:
    return learned[request.param]


def test_crossing_arcs_are_learned(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    score = lg.Parser(model).evaluate(bank[40:])
    assert score.uas > 99
    assert not model.projective
    assert "may cross" in model.summary()
    nameless = lg.Treebank.of(tree.replace(deprels=("_",) * len(tree)) for tree in bank)
    flat = lg.fit(lg.ArcFactored, nameless[:40], by=lg.MIRA(order=1, passes=3, bits=16))
    assert lg.Parser(flat).evaluate(nameless[40:]).exact == 0


def test_names_of_relations_lower_what_was_lifted(bank: lg.Treebank) -> None:
    """A projective parser learns from lifted arcs; their names tell where they belong."""
    flat = lg.fit(lg.ArcFactored, bank[:40], by=lg.MIRA(order=2, passes=3, bits=16))
    parser, tree = lg.Parser(flat), bank[41]
    assert flat.relations.lifts
    score = parser.evaluate(bank[40:])
    assert score.exact == score.labelled_exact == 100
    assert set(parser.backend.labels) == {"a", "b", "a2", "b2", "z"}
    assert parser.name_arcs(bank[40:42], gold_tags=True) == list(bank[40:42])
    parse = parser.parse(tree.sentence)
    assert (parse.confidence <= 1).all()
    assert not parse.tree.is_projective
    top = tree.heads.index(0) + 1
    required = parser.parse(tree.sentence, heads={top + 3: top})
    assert required.tree.heads[top + 2] == top
    assert required.tree.deprels == tree.deprels


def test_names_do_not_tell_what_they_do_not_help_to_find() -> None:
    """Where lifting does not go with anything that can be seen, a mark would be wrong as often as right."""
    random = np.random.default_rng(0)
    trees = [
        lg.DependencyTree(("a", "b", "c", "d"), (0, 1, 1, 2 if random.random() < 0.5 else 1), upos=("X",) * 4)
        for _ in range(100)
    ]
    named = [tree.replace(deprels=("root", "r", "s", "t")) for tree in trees]
    assert not lg.fit(lg.ArcFactored, named, by=lg.MIRA(order=1, passes=2, bits=16)).relations.lifts


def test_lifting_and_lowering_are_inverse_where_one_word_has_the_relation() -> None:
    tree = lg.DependencyTree(tuple("abcde"), (3, 5, 0, 3, 4), deprels=("p", "q", "root", "s", "t"))
    (higher,), _ = projectivise([tree])
    names = marked_names([tree] * LEAST, [higher] * LEAST)[: len(tree)]
    assert higher.is_projective
    assert names[1] == "q↑t"
    assert lowered(higher.heads, names) == (tree.heads, tree.deprels)
    assert lowered(higher.heads, ("p", "q↑none", "root", "s", "t"))[0] == higher.heads
    assert marked_names([tree], [higher]) == list(tree.deprels)


def test_posteriors_are_those_of_all_trees(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    """In the second order they are the pruner's, so that they are exact there too."""
    tree = next(tree for tree in bank if len(tree) == 5)
    parser, arcs, total = lg.Parser(model), np.zeros((6, 5)), 0.0
    exact = model.pruner or model
    for heads in all_trees(5):
        other = tree.replace(heads=tuple(head + 1 for head in heads))
        probability = np.exp(parser.score(other).tree_logprob)
        arcs[other.heads, range(5)] += probability
        total += probability
    assert total == pytest.approx(1.0, abs=1e-6)
    parse = parser.parse(tree.sentence)
    np.testing.assert_allclose(parse.confidence, arcs[parse.tree.heads, range(5)], atol=1e-6)
    marginals = exact.scores(model.encode(tree.sentence)).marginals(model.scale)
    np.testing.assert_allclose(np.vstack([marginals[1], marginals[0]]), arcs, atol=1e-6)
    drawn = np.array([parse.tree.heads for parse in parser.sample(tree.sentence, 200, seed=1)])
    np.testing.assert_allclose((drawn == np.array(parse.tree.heads)).mean(0), parse.confidence, atol=0.12)


def test_lists_are_the_best_trees(learned: dict[int, lg.ArcFactored], bank: lg.Treebank) -> None:
    tree, model = next(tree for tree in bank if len(tree) == 5), learned[1]
    scores = {heads: model.tree_score(tree.replace(heads=tuple(h + 1 for h in heads))) for heads in all_trees(5)}
    listed = lg.Parser(model).nbest(tree.sentence, 7)
    found = [scores[tuple(head - 1 for head in parse.tree.heads)] for parse in listed]
    np.testing.assert_allclose(found, sorted(scores.values(), reverse=True)[:7], atol=1e-4)
    with pytest.raises(lg.LatentgramError, match="not an n-best list"):
        lg.Parser(learned[2]).nbest(tree.sentence, 7)
    by_risk = lg.Parser(model, decoder=lg.MBR()).nbest(tree.sentence, 3)
    assert not by_risk[0].tree.is_projective
    assert lg.Parser(model, decoder=lg.MBR()).parse(tree.sentence).tree == by_risk[0].tree


def test_constraints(model: lg.ArcFactored, bank: lg.Treebank) -> None:
    tree = next(tree for tree in bank if len(tree) == 5 and tree.heads[0] == 0)
    parser = lg.Parser(model)
    forced = parser.parse(tree.sentence, heads=[(3, 5)])
    assert forced.tree.heads[2] == 5
    assert forced.tree.fault is None
    assert (
        parser.parse(tree.sentence, heads=[(3, 1)]).tree.heads == tree.heads
    )  # crosses an arc that is not required
    assert parser.parse(tree.sentence, forbidden_heads=[(3, 1)]).tree.heads[2] != 1
    with pytest.raises(lg.NoParse, match="no tree satisfies"):
        parser.parse(tree.sentence, forbidden_heads=[(3, head) for head in (0, 1, 2, 4, 5)])


def test_no_single_change_betters_a_rearranged_tree(learned: dict[int, lg.ArcFactored], bank: lg.Treebank) -> None:
    model = learned[2]
    for tree in lg.demo_dependencies(6, seed=3):  # tags that it never saw: scores that are far from sure
        symbols = model.encode(tree.sentence)
        listed = model.scores(symbols, (~np.eye(len(tree), dtype=bool), np.ones(len(tree), bool))).listed
        listed.sibling[:] = np.random.default_rng(0).normal(0, 1, len(listed.sibling))
        projective = best_heads(listed)[1]
        heads, best = best_rearranged(listed)
        assert best >= projective
        assert best == pytest.approx(score_heads(listed, heads))
        for word in range(len(tree)):
            for head in range(len(tree)):
                other = heads.copy()
                other[word] = head
                if heads[word] >= 0 and tree.replace(heads=tuple((other + 1).tolist())).fault is None:
                    assert score_heads(listed, other) <= best + 1e-6


def test_storage_and_update(model: lg.ArcFactored, bank: lg.Treebank, tmp_path) -> None:
    lg.save(lg.Parser(model), tmp_path / "arcs.lg")
    again = lg.load(tmp_path / "arcs.lg")
    assert not again.model.projective
    tree = bank[50]
    assert again.parse(tree.sentence).tree == lg.Parser(model).parse(tree.sentence).tree
    heads = tuple(head if word != 1 or head == 0 else len(tree) for word, head in enumerate(tree.heads))
    wanted = tree.replace(heads=heads)
    assert wanted.fault is None
    assert lg.Parser(update(model, [wanted])).parse(tree.sentence).tree.heads == heads


def test_what_needs_projective_trees_says_so(learned: dict[int, lg.ArcFactored], bank: lg.Treebank) -> None:
    with pytest.raises(lg.LatentgramError, match="k-best MIRA"):
        lg.fit(lg.ArcFactored, bank, by=lg.MIRA(best=3, non_projective=True))
    with pytest.raises(lg.LatentgramError, match="projective trees"):
        lg.ArcWeights(learned[1])
    circle = lg.DependencyTree(("a", "b"), heads=(2, 1), upos=("A", "B"))
    with pytest.raises(lg.LatentgramError, match="cycle"):
        lg.fit(lg.ArcFactored, lg.Treebank.of([circle]), by=lg.MIRA(non_projective=True))
