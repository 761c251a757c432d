"""Doubtful trees: finite scores, the part that is to blame, models of the other parts, a report."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

import latentgram as lg
from latentgram.errors import SettingError
from latentgram.parser.suspects import LEAST, find_suspects, suspects_report

BANK = lg.demo_treebank(60, seed=1)


def rules(trees: list[lg.Tree]) -> set[tuple[str, ...]]:
    return {(node.label, *(child.label for child in node.children)) for tree in trees for node in tree.nodes()}


def spoiled(tree: lg.Tree, place: int, label: str) -> lg.Tree:
    """The tree with another label at one node, counted in preorder."""
    numbers = iter(range(1000))

    def copy(node: lg.Tree) -> lg.Tree:
        name = label if next(numbers) == place else node.label
        return lg.Tree(name, tuple(copy(child) for child in node.children), node.word)

    return copy(tree)


@pytest.fixture(scope="module")
def parser() -> lg.Parser:
    return lg.Parser(lg.fit(lg.LPCFG, BANK, by=lg.Counting()))


def test_the_node_to_blame_is_made_by_a_rule_never_seen(parser: lg.Parser) -> None:
    seen = rules(list(BANK))
    blamed = 0
    for tree in BANK[:15]:
        places = [at for at, node in enumerate(tree.nodes()) if node.label == "NP" and len(node.children) == 2]
        worse = spoiled(tree, places[0] if places else 2, "VP")
        suspect = find_suspects(parser, [worse], 1)[0]
        assert math.isfinite(suspect.per_word)
        assert suspect.impossible == (parser.score(worse).tree_logprob == -math.inf)
        if suspect.impossible:
            node = list(worse.nodes())[suspect.place]
            assert (node.label, *(child.label for child in node.children)) not in seen
            assert suspect.probability == 0
            assert suspect.part.startswith(f"{node.label} over ")
            blamed += 1
    assert blamed > 5


def test_a_label_never_seen_is_to_blame(parser: lg.Parser) -> None:
    worse = spoiled(BANK[0], 2, "NEVER")
    assert find_suspects(parser, [worse], 1)[0].place == 2


def test_a_tree_the_model_can_derive_keeps_its_probability(parser: lg.Parser) -> None:
    suspect = find_suspects(parser, [BANK[3]], 1)[0]
    assert suspect.per_word == pytest.approx(math.log(parser.score(BANK[3]).probability) / len(BANK[3]))
    assert not suspect.impossible


def test_crossing_arcs_are_to_blame() -> None:
    bank = lg.demo_dependencies(40, seed=1)
    parser = lg.Parser(lg.fit(lg.SHAG, bank, by=lg.Counting()))
    tree = lg.DependencyTree(("a", "b", "c", "d", "e"), (3, 4, 0, 3, 3), xpos=("DT", "NN", "VBZ", "NN", "."))
    suspect = find_suspects(parser, [tree], 1)[0]
    assert suspect.impossible
    assert suspect.place in (1, 0)  # b ← d crosses the arc of c from the root, and a ← c
    assert suspect.per_word >= math.log(LEAST)


def test_each_part_is_rated_by_a_model_of_the_others(parser: lg.Parser) -> None:
    steps = []

    class Watch:
        def step(self, stage: str, done: int, total: int | None = None, **figures: float) -> None:
            steps.append((done, total))

    trees = list(BANK)
    found = {each.number: each for each in find_suspects(parser, trees, len(trees), folds=3, progress=Watch())}
    assert sorted(found) == list(range(1, len(trees) + 1))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    others = lg.Parser(
        lg.fit(
            lg.LPCFG,
            lg.Treebank.of(tree for number, tree in enumerate(trees) if number % 3 != 1),
            by=lg.Counting(),
        )
    )
    for number in range(1, len(trees), 3):
        alone = find_suspects(others, [trees[number]], 1)[0]
        assert found[number + 1].per_word == pytest.approx(alone.per_word)
        assert found[number + 1].part == alone.part
    for folds in (5, 10**30):
        with pytest.raises(SettingError, match="folds"):
            find_suspects(parser, trees[:4], 2, folds=folds)


def test_the_report_holds_together(parser: lg.Parser) -> None:
    trees = [BANK[0], spoiled(BANK[1], 2, "NEVER")]
    page = suspects_report(find_suspects(parser, trees, 2), trees, "Doubtful <trees>")
    assert "NEVER over" in page
    assert page.count("<svg") == 2
    ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
