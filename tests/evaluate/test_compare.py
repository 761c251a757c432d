"""The paired bootstrap: exact on tiny data, honest under no difference, sure under a clear one."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from latentgram.data.dependencies import DependencyTree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.evaluate.compare import attachment_las, attachment_uas, bracketing_f1, paired_bootstrap
from latentgram.evaluate.treebanks import compare_treebanks, read_output, score_treebanks


def test_against_all_draws_of_a_tiny_sample() -> None:
    """With 4 sentences there are 256 draws; the bootstrap's share must be theirs, up to chance."""
    first = np.array([[5, 3, 0], [7, 6, 0], [2, 2, 0], [9, 4, 0]])
    second = np.array([[5, 4, 0], [7, 5, 0], [2, 1, 0], [9, 7, 0]])
    differences = []
    for chosen in itertools.product(range(4), repeat=4):
        rows = list(chosen)
        one, other = first[rows].sum(axis=0), second[rows].sum(axis=0)
        differences.append(100 * (other[1] / other[0] - one[1] / one[0]))
    found = paired_bootstrap(first, second, attachment_uas, draws=20_000)
    assert found.difference == pytest.approx(100 * 2 / 23)
    assert found.p_value == pytest.approx(2 * np.mean(np.array(differences) <= 0), abs=0.02)
    assert found.low == pytest.approx(np.quantile(differences, 0.025), abs=0.01)


def test_p_values_are_uniform_without_a_difference() -> None:
    random = np.random.default_rng(3)
    values = []
    for trial in range(200):
        words = random.integers(5, 30, 120)
        heads = [random.binomial(words, 0.8) for _ in range(2)]
        rows = [np.stack((words, right, right), axis=1) for right in heads]
        values.append(paired_bootstrap(*rows, attachment_las, draws=300, seed=trial).p_value)
    assert 0.01 <= np.mean(np.array(values) <= 0.05) <= 0.11
    assert 0.38 <= np.mean(np.array(values) <= 0.5) <= 0.62


def test_signs_seeds_and_equal_outputs() -> None:
    random = np.random.default_rng(4)
    rows = np.stack((np.zeros(80), *random.integers(5, 20, (6, 80))), axis=1)
    better = rows + np.eye(7)[1] * 2
    up, down = (paired_bootstrap(*pair, bracketing_f1, draws=500) for pair in ((rows, better), (better, rows)))
    assert up.difference == -down.difference > 0
    assert up.p_value == down.p_value == pytest.approx(2 / 501)
    assert up == paired_bootstrap(rows, better, bracketing_f1, draws=500)
    assert paired_bootstrap(rows, rows, bracketing_f1, draws=100).p_value == 1
    assert up.to_json()["difference"] == up.difference


def test_rows_must_pair() -> None:
    with pytest.raises(DataError, match="got 3 and 2 rows"):
        paired_bootstrap(np.ones((3, 3)), np.ones((2, 3)), attachment_uas)


def test_outputs_of_trees(tmp_path: Path) -> None:
    gold, first, second = (tmp_path / name for name in ("gold.mrg", "a.mrg", "b.mrg"))
    gold.write_text("(S (NP (NN a)) (VP (VB b)))\n" * 30)
    first.write_text("(S (NN a) (VP (VB b)))\n" * 30)
    second.write_text("(S (NN a) (VP (VB b)))\n" * 10 + "(())\n" + "(S (NP (NN a)) (VP (VB b)))\n" * 19)
    found = compare_treebanks(*map(read_output, (gold, first, second)), draws=200)
    assert found.first == 80
    assert found.second == pytest.approx(100 * 2 * 77 / (87 + 77))
    assert found.low > 0


def test_outputs_of_dependencies_and_tags() -> None:
    gold = [DependencyTree(("a", "b"), heads=(2, 0), xpos=("NN", "VB"))] * 20
    wrong = [tree.replace(heads=(0, 1), xpos=("NN", "NN")) for tree in gold[:10]] + gold[10:]
    banks = [Treebank.of(trees) for trees in (gold, wrong, gold)]
    found = compare_treebanks(*banks, draws=200)
    assert (found.first, found.second) == (50, 100)
    tagged = [Treebank.of([tree.sentence for tree in trees]) for trees in (gold, wrong, gold)]
    assert compare_treebanks(*tagged, draws=200).first == score_treebanks(*tagged[:2]).headline == 75
    with pytest.raises(DataError, match="the gold treebank is dependency, the output is tagged"):
        score_treebanks(banks[0], tagged[0])


def test_outputs_that_differ_in_relations_only_differ_labelled() -> None:
    gold = [DependencyTree(("a", "b"), heads=(2, 0), deprels=("nsubj", "root"))] * 20
    wrong = [tree.replace(deprels=("obj", "root")) for tree in gold]
    banks = [Treebank.of(trees) for trees in (gold, wrong, gold)]
    assert compare_treebanks(*banks, draws=200).difference == 0
    found = compare_treebanks(*banks, labelled=True, draws=200)
    assert (found.first, found.second) == (50, 100)
