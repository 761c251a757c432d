"""Compact files: what is packed comes back to the last bit, what is rounded stays near and keeps its sums."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.store.test_store import everything, forge, same

import latentgram as lg
from latentgram.data.brackets import parse_forest
from latentgram.data.rounding import roundings_of
from latentgram.errors import ModelFileError, SettingError
from latentgram.lpcfg.mass import tree_mass
from latentgram.store import read_header
from latentgram.store.packing import Packed

Floats = NDArray[np.float64]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(-400, 400, 3),
        np.array([[2**63, 0], [1, 2**64 - 1]] * 50, np.uint64),
        np.repeat(np.array([-128, 127], np.int8), 300),
        np.array([np.nan, -np.inf, -0.0, 1e-310] * 100),
        np.zeros((20, 3, 40), np.float16),
        np.arange(1000) % 3 == 0,
    ],
    ids=lambda array: str(array.dtype),
)
def test_packing_loses_no_bit(array: Any) -> None:
    packed = Packed.of(array)
    assert packed is not None
    assert packed.data.nbytes < array.nbytes
    again = packed.array()
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()
    assert again.flags.writeable
    assert again.flags.c_contiguous


def test_what_does_not_shrink_is_left_alone() -> None:
    assert Packed.of(np.random.default_rng(0).integers(0, 2**62, 1000)) is None
    assert Packed.of(np.zeros(3)) is None


def test_values_without_rounded_fields_are_the_same(tmp_path: Path) -> None:
    value = everything()
    lg.save(value, tmp_path / "a.lg", precision="compact")
    assert same(value, lg.load(tmp_path / "a.lg"))


def test_full_is_the_default_and_as_before(tmp_path: Path) -> None:
    lg.save(everything(), tmp_path / "a.lg")
    header = read_header(tmp_path / "a.lg")
    assert (header.precision, header.format) == ("full", 1)
    with pytest.raises(SettingError, match="precision must be full or compact, got 'small'"):
        lg.save(everything(), tmp_path / "b.lg", precision="small")  # type: ignore[arg-type]
    assert not (tmp_path / "b.lg").exists()


@pytest.fixture(scope="module")
def trees() -> lg.Treebank[lg.Tree]:
    return lg.demo_treebank(150, seed=1)


def compact(model: Any, folder: Path) -> Any:
    lg.save(model, folder / "model.lg", precision="compact")
    return lg.load(folder / "model.lg")


def rule_sums(grammar: lg.LPCFG) -> Floats:
    """Σ over the rules of each symbol of t(h, ·, ·), by the definition."""
    sums = np.zeros((len(grammar.states), int(grammar.states.max())))
    for rule, (parent, _, _) in enumerate(grammar.rules):
        tensor = grammar.tensor(rule)
        sums[parent, : len(tensor)] += tensor.sum((1, 2))
    return sums


def word_sums(grammar: lg.LPCFG) -> Floats:
    sums = np.zeros((len(grammar.states), int(grammar.states.max())))
    for entry, (symbol, _) in enumerate(grammar.lexicon):
        vector = grammar.vector(entry)
        sums[symbol, : len(vector)] += vector
    return sums


LEARNERS = [lg.Counting(), lg.Clustering(states=4), lg.EM(states=2, iterations=3), lg.Spectral(states=4)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_grammars_stay_near_and_keep_their_sums(learner: Any, trees: lg.Treebank[lg.Tree], tmp_path: Path) -> None:
    grammar = lg.fit(lg.LPCFG, trees, by=learner)
    again = compact(grammar, tmp_path)
    for field, rounding in roundings_of(lg.LPCFG).items():
        before, after = getattr(grammar, field), getattr(again, field)
        assert ((before == 0) == (after == 0)).all()
        assert (np.sign(before) == np.sign(after)).all()
        near = np.abs(before) > 2.0**-20 * np.abs(before).max()
        moved = np.abs(np.log2(np.abs(after[near] / before[near])))
        # Half a step, half a step of the scale, and as much as sums were off by before they were put right.
        assert moved.max() < rounding.step + 0.001
    if grammar.nonnegative:
        assert again.is_distribution
        assert tree_mass(again, 60).sum() <= 1 + 1e-9
        assert np.allclose(rule_sums(again), rule_sums(grammar), rtol=1e-6, atol=0)
        assert np.allclose(word_sums(again), word_sums(grammar), rtol=1e-6, atol=0)
    rounded = set(roundings_of(lg.LPCFG))
    for field in dataclasses.fields(lg.LPCFG):
        if field.name not in rounded:
            assert same(getattr(grammar, field.name), getattr(again, field.name)), field.name
    before, after = lg.Parser(grammar), lg.Parser(again)
    for tree in trees[:10]:
        assert after.score(tree).logprob == pytest.approx(before.score(tree).logprob, abs=0.2)
    assert (tmp_path / "model.lg").stat().st_size < 0.5 * _full_size(grammar, tmp_path)


def _full_size(model: Any, folder: Path) -> int:
    lg.save(model, folder / "full.lg")
    return (folder / "full.lg").stat().st_size


def test_equal_models_are_equal_files(trees: lg.Treebank[lg.Tree], tmp_path: Path) -> None:
    grammar = lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=3))
    lg.save(grammar, tmp_path / "full.lg")
    lg.save(grammar, tmp_path / "a.lg", precision="compact")
    lg.save(lg.load(tmp_path / "full.lg"), tmp_path / "b.lg", precision="compact")
    assert (tmp_path / "a.lg").read_bytes() == (tmp_path / "b.lg").read_bytes()


def test_trees_of_compact_files_sum_to_the_sentence(tmp_path: Path) -> None:
    """Rules in single precision are kept so, but those never seen are not rounded to it when a tree is weighed."""
    trees = "(S (A x)) (S (A x) (A x) (B x)) (N (S (B x) (B x)) (N (S (B x)))) (S (N (S x) (B x)))"
    learner = lg.EM(states=2, iterations=2, direction="head", start="spectral")
    grammar = compact(lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=learner), tmp_path)
    assert grammar.rule_tensor.dtype == np.float32
    parser = lg.Parser(grammar).exact
    parses = parser.nbest([("x", "S"), ("x", "B")], 1000)
    assert 1 < len(parses) < 1000
    whole = np.logaddexp.reduce([parse.tree_logprob for parse in parses])
    assert whole == pytest.approx(parses[0].logprob, abs=1e-11)


def test_members_of_an_ensemble_share_what_is_equal(trees: lg.Treebank[lg.Tree], tmp_path: Path) -> None:
    first, second = (lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=3, seed=seed)) for seed in (0, 1))
    again = compact(lg.Ensemble((first, second)), tmp_path)
    assert again.grammars[0].lexicon is again.grammars[1].lexicon
    assert again.grammars[0].words.symbols is again.grammars[1].words.symbols
    for before, after in zip((first, second), again.grammars, strict=True):
        assert same(after, compact(before, tmp_path))


def test_weights_are_rounded_to_steps(tmp_path: Path) -> None:
    data = lg.demo_dependencies(60, seed=0)
    model = lg.fit(lg.TopDown, data, by=lg.Gradient(passes=2))
    model.weight[3, 1], model.weight[0, 0] = 40.5, -3.3125  # more steps than a byte has
    again = compact(model, tmp_path)
    assert again.weight.dtype == np.float16
    assert np.array_equal(again.key, model.key)
    assert (again.weight[3, 1], again.weight[0, 0]) == (40.5, -3.3125)
    step = roundings_of(lg.TopDown)["weight"].step
    assert np.abs(again.weight.astype(float) - model.weight).max() <= step / 2 + 1e-3
    assert again.logprob(data[5]) == pytest.approx(model.logprob(data[5]), rel=0.05)


@pytest.mark.parametrize(
    "change",
    [
        lambda fields, arrays: arrays.update({"rule_tensor.codes": arrays["rule_tensor.codes"][:-9].copy()}),
        lambda fields, arrays: fields["rule_tensor"]["$rounded"]["codes"]["$packed"].__setitem__(2, [2**40]),
        lambda fields, arrays: fields["rule_tensor"]["$rounded"]["codes"]["$packed"].__setitem__(2, [-1]),
        lambda fields, arrays: fields["rule_tensor"]["$rounded"]["codes"]["$packed"].__setitem__(1, "O"),
        lambda fields, arrays: fields["rule_tensor"]["$rounded"].update(codes=fields["rules"]),
        lambda fields, arrays: fields["rule_tensor"]["$rounded"].update(step=0.0),
        lambda fields, arrays: fields["rule_tensor"]["$rounded"].update(sums=None),
        lambda fields, arrays: fields.update(mean_inside=fields["rule_tensor"]),
        lambda fields, arrays: arrays.update({"states": -arrays["states"]}),
    ],
)
def test_forged_compact_files(change: Any, trees: lg.Treebank[lg.Tree], tmp_path: Path) -> None:
    lg.save(lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=3)), tmp_path / "a.lg", precision="compact")
    forge(tmp_path / "a.lg", tmp_path / "b.lg", lambda header, arrays: change(header["value"]["fields"], arrays))
    with pytest.raises(ModelFileError, match=r"b\.lg"):
        lg.load(tmp_path / "b.lg")


@pytest.mark.parametrize("kind", ["O", ",", "(1,,2)f4", "f4,,f4", "V99999999", "<c16"])
def test_a_forged_type_is_refused_by_who_reads_the_header_alone(
    kind: str, trees: lg.Treebank[lg.Tree], tmp_path: Path
) -> None:
    lg.save(lg.fit(lg.LPCFG, trees, by=lg.Counting()), tmp_path / "a.lg", precision="compact")

    def change(header: Any, arrays: Any) -> None:
        header["value"]["fields"]["rules"]["$packed"][1] = kind

    forge(tmp_path / "a.lg", tmp_path / "b.lg", change)
    for reader in (read_header, lg.load):
        with pytest.raises(ModelFileError, match=r"b\.lg is damaged: the array rules is invalid"):
            reader(tmp_path / "b.lg")
