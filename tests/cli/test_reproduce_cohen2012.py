"""Theorem 3 of Cohen et al. 2012 by command, small; the parts of the experiment by enumeration."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from latentgram.lpcfg.draw import draw_trees
from latentgram.reproduce.cohen2012 import measure, probability, random_grammar


def test_the_experiment_by_command(run: Callable, tmp_path: Path) -> None:
    options = ("--trees", "300,1200", "--states", "2,3", "--draws", 1)
    assert run("reproduce", "cohen2012", *options, "--output", tmp_path).status == 0
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert {name: len(points) for name, points in results["sweeps"].items()} == {"M": 2, "σ": 4, "m": 2}
    assert set(results["slopes"]) == {"M", "σ", "m"}
    assert "theorem 3" in (tmp_path / "results.md").read_text("utf-8")
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        f"error-{x}.svg" for x in ("trees", "sigma", "states")
    }


def test_the_error_falls_as_the_theorem_says() -> None:
    few, many = (np.mean([measure(trees, 2, 1.0, seed)[0] for seed in range(3)]) for trees in (500, 8000))
    assert 0.15 < many / few < 0.4  # (500 / 8000)^½ = 0.25


@pytest.mark.parametrize("contrast", [1.0, 0.4])
def test_the_numbers_of_a_random_grammar_are_probabilities(contrast: float) -> None:
    grammar = random_grammar(3, contrast, seed=0)
    for symbol in range(6):
        own = [grammar.tensor(i).sum((1, 2)) for i, rule in enumerate(grammar.rules) if rule[0] == symbol]
        own += [grammar.vector(i) for i, entry in enumerate(grammar.lexicon) if entry[0] == symbol]
        assert np.sum(own, axis=0) == pytest.approx(np.ones(3))
    assert grammar.root_vector.sum() == pytest.approx(1)


def test_the_probability_of_a_tree_is_the_sum_over_its_states() -> None:
    grammar = random_grammar(2, 1.0, seed=1)
    names = (*grammar.interminals, *grammar.preterminals)
    for tree in [tree for tree in draw_trees(grammar, 40, seed=2) if sum(1 for _ in tree.nodes()) <= 5][:6]:
        nodes = list(tree.nodes())
        total = 0.0
        for states in itertools.product(range(2), repeat=len(nodes)):
            state = {id(node): h for node, h in zip(nodes, states, strict=True)}
            weight = grammar.of_symbol(grammar.root_vector, names.index(tree.label))[state[id(tree)]]
            for node in nodes:
                if node.word is not None:
                    row = grammar.lexicon.tolist().index([names.index(node.label), grammar.words.index(node.word)])
                    weight *= grammar.vector(row)[state[id(node)]]
                else:
                    labels = [names.index(each.label) for each in (node, *node.children)]
                    place = tuple(state[id(each)] for each in (node, *node.children))
                    weight *= grammar.tensor(grammar.rules.tolist().index(labels))[place]
            total += weight
        assert probability(grammar, tree) == pytest.approx(total)
