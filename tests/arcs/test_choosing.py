"""Whether arcs may cross is chosen on trees that were not learned from."""

from __future__ import annotations

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs import choosing


def trees(count: int, seed: int, crossing: bool) -> lg.Treebank:
    """a b a' b' with a → a', a → b and b' of b, so that arcs cross, or of a', so that they do not."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        before = int(random.integers(0, 3))
        top, tags = before + 1, ("Z",) * before + ("A", "B", "A2", "B2")
        heads = (top,) * before + (0, top, top, top + 1 if crossing else top + 2)
        words = tuple(f"{tag.lower()}{random.integers(5)}" for tag in tags)
        made.append(lg.DependencyTree(words, heads, upos=tags, deprels=tuple(map(str.lower, tags))))
    return lg.Treebank.of(made)


def two_ways(count: int, seed: int) -> lg.Treebank:
    """Trees like those whose arcs cross, with one relation throughout: no name can tell of crossing arcs."""
    return lg.Treebank.of(
        tree.replace(deprels=tuple("root" if head == 0 else "dep" for head in tree.heads))
        for tree in trees(count, seed, crossing=True)
    )


LEARNER = lg.MIRA(passes=3, bits=16, choose_crossing=True)


def rates_of(model: lg.ArcFactored) -> dict[str, float]:
    (rates,) = (record for record in model.provenance.trace if "crossing" in record)
    return rates


@pytest.mark.parametrize("judged", [False, True])
def test_crossing_arcs_are_chosen_where_they_are_found_better(judged: bool) -> None:
    bank, new = two_ways(60, 0), two_ways(20, 1)
    score = lg.accuracy_on(new, figure="las") if judged else None
    model = lg.fit(lg.ArcFactored, bank, by=LEARNER, dev_score=score)
    rates = rates_of(model)
    assert rates["crossing"] > rates["projective"]
    assert not model.projective
    assert lg.Parser(model).evaluate(new).las == pytest.approx(100)
    if judged:
        assert rates["crossing"] == pytest.approx(100)


def test_what_is_told_is_the_las_of_each_on_trees_not_learned_from() -> None:
    bank = two_ways(30, 0)
    rest = [tree for number, tree in enumerate(bank) if number % choosing.HELD_OUT]
    held_out = [tree for number, tree in enumerate(bank) if not number % choosing.HELD_OUT]
    rates = rates_of(lg.fit(lg.ArcFactored, bank, by=LEARNER))
    for name, crossing in (("projective", False), ("crossing", True)):
        alone = lg.fit(lg.ArcFactored, rest, by=lg.MIRA(passes=3, bits=16, non_projective=crossing))
        assert rates[name] == pytest.approx(
            lg.Parser(alone).evaluate(lg.Treebank.of(held_out), gold_tags=True).las
        )


def test_equally_good_parsers_are_projective() -> None:
    bank = trees(40, 0, crossing=True)
    model = lg.fit(lg.ArcFactored, bank, by=LEARNER, dev_score=lambda model: 1.0)
    assert rates_of(model) == {"projective": 1.0, "crossing": 1.0}
    assert model.projective


def test_nothing_is_compared_where_no_arcs_cross() -> None:
    model = lg.fit(lg.ArcFactored, trees(20, 0, crossing=False), by=LEARNER)
    assert model.projective
    assert not any("crossing" in record for record in model.provenance.trace)


def test_the_model_is_that_of_the_setting_chosen() -> None:
    bank = two_ways(30, 0)
    chosen = lg.fit(lg.ArcFactored, bank, by=LEARNER)
    alone = lg.fit(lg.ArcFactored, bank, by=lg.MIRA(passes=3, bits=16, non_projective=True))
    np.testing.assert_array_equal(chosen.weights.dense, alone.weights.dense)


def test_a_choice_needs_something_to_choose_from() -> None:
    bank = two_ways(10, 0)
    with pytest.raises(lg.SettingError, match="leave out non_projective"):
        lg.fit(lg.ArcFactored, bank, by=lg.MIRA(non_projective=True, choose_crossing=True))
    with pytest.raises(lg.SettingError, match="leave out k-best"):
        lg.fit(lg.ArcFactored, bank, by=lg.MIRA(best=2, choose_crossing=True))


def test_parsers_of_raw_text_choose_as_well() -> None:
    learner = lg.Gradient(passes=3, bits=16, folds=2, choose_crossing=True)
    model = lg.fit(lg.UDParser, two_ways(30, 0), by=learner)
    assert not model.arcs.projective
    parse = lg.Parser(model).parse("a0 b1 a21 b23")
    assert parse.tree.heads == (0, 1, 1, 2)
