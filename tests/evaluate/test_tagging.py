"""Accuracy and the measures for clusters, against enumeration and a peer."""

import itertools

import numpy as np
import pytest

from latentgram.errors import DataError
from latentgram.evaluate.tagging import TaggingScore, score_tags


def random_tags(seed: int, clusters: int) -> tuple[list[list[str]], list[list[str]]]:
    random = np.random.default_rng(seed)
    gold = [[f"T{t}" for t in random.integers(4, size=random.integers(1, 9))] for _ in range(20)]
    output = [[f"C{(int(t[1]) + random.integers(2)) % clusters}" for t in sentence] for sentence in gold]
    return gold, output


@pytest.mark.parametrize("clusters", [2, 4, 6])
def test_mappings_against_enumeration(clusters: int) -> None:
    gold, output = random_tags(clusters, clusters)
    pairs = [pair for right, guess in zip(gold, output, strict=True) for pair in zip(right, guess, strict=True)]
    tags, names = sorted({t for t, _ in pairs}), sorted({c for _, c in pairs})

    def best(mappings: "itertools.product[tuple[str, ...]] | itertools.permutations[str]") -> float:
        rates = []
        for mapping in mappings:
            where = dict(zip(names, mapping, strict=False))
            rates.append(100 * sum(where.get(c) == t for t, c in pairs) / len(pairs))
        return max(rates)

    score = score_tags(gold, output)
    assert score.many_to_one == pytest.approx(best(itertools.product(tags, repeat=len(names))))
    padded = tags + ["none"] * max(0, len(names) - len(tags))
    assert score.one_to_one == pytest.approx(best(itertools.permutations(padded, len(names))))


@pytest.mark.parametrize("clusters", [1, 2, 5])
def test_v_measure_against_scikit_learn(clusters: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gold, output = random_tags(clusters, clusters)
    flat = [list(itertools.chain(*sentences)) for sentences in (gold, output)]
    assert score_tags(gold, output).v_measure == pytest.approx(100 * metrics.v_measure_score(*flat))


def test_known_and_unknown_words() -> None:
    score = score_tags(
        [["DT", "NN"], ["NN"]], [["DT", "VB"], ["NN"]], words=[["the", "yak"], ["cat"]], known={"the", "cat"}
    )
    assert (score.known_accuracy, score.unknown_accuracy, score.unknown_words) == (100, 0, 1)
    assert score.exact == 50
    assert score.confusions() == [("NN", "VB", 1)]
    assert "unknown words 0.00" in str(score)


def test_scores_add() -> None:
    gold, output = random_tags(1, 4)
    parts = [score_tags(gold[i : i + 7], output[i : i + 7]) for i in range(0, 20, 7)]
    assert sum(parts) == score_tags(gold, output)
    assert TaggingScore() + parts[0] == parts[0]


def test_nothing_and_bad_input() -> None:
    empty = score_tags([], [])
    assert empty.to_json()["one_to_one"] == empty.many_to_one == empty.v_measure == 0
    with pytest.raises(DataError, match="sentence 1 has 2 gold tags but 1 output tags"):
        score_tags([["A", "B"]], [["A"]])
    with pytest.raises(DataError, match="differ in their number of sentences"):
        score_tags([["A"]], [["A"], ["B"]])
    with pytest.raises(DataError, match="give both words and known"):
        score_tags([["A"]], [["A"]], known={"a"})
