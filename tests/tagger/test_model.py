"""The tagger's dynamic programs against enumeration of tag sequences; what it does with strange words."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

import latentgram as lg
from latentgram.errors import SettingError
from latentgram.tagger.kernels.chain import Steps, best_path, expectations, triple_index
from latentgram.tagger.kernels.paths import k_best_tags, path_scores, sample_tags
from oracles.equality import same

RNG = np.random.default_rng(0)
TAGS = 4


def lattice(length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = RNG.integers(1, TAGS + 1, length)
    start = np.concatenate([[0], np.cumsum(sizes)])
    tag = np.concatenate([np.sort(RNG.permutation(TAGS)[:size]) for size in sizes]).astype(np.int16)
    return start, tag, RNG.normal(size=start[-1])


GROUPS = (np.arange(TAGS + 1), np.array([0, 1, 0, 1, 2]))
"""Every tag a group of its own, or two of a group; the boundary is the last."""


def steps_of(size: int, group: np.ndarray) -> Steps:
    pair = RNG.normal(size=(TAGS + 1, TAGS + 1)).astype(np.float32)
    return Steps(pair, RNG.normal(size=size).astype(np.float32), group)


def exponentials(steps: Steps) -> Steps:
    return Steps(np.exp(steps.pair), np.exp(steps.triple), steps.group)


def score(path, start, tag, emission, steps) -> float:
    numbers = [TAGS, TAGS, *(int(tag[start[i] + k]) for i, k in enumerate(path)), TAGS]
    total = sum(emission[start[i] + k] for i, k in enumerate(path))
    for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False):
        total += steps.pair[b, c] + steps.triple[triple_index(a, b, c, steps)]
    return total


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [(TAGS + 1) ** 3, 17])
@pytest.mark.parametrize("group", GROUPS)
def test_best_path_and_posteriors_equal_enumeration(length: int, size: int, group: np.ndarray) -> None:
    start, tag, emission = lattice(length)
    steps = steps_of(size, group)
    every = list(product(*(range(start[i + 1] - start[i]) for i in range(length))))
    scores = np.array([score(path, start, tag, emission, steps) for path in every])
    found = np.empty(length, np.int64)
    top = best_path(start, tag, emission, steps, found)
    assert top == pytest.approx(scores.max(), abs=1e-5)
    assert tuple(found) == every[int(np.argmax(scores))]

    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    posterior = np.zeros(start[-1])
    pairs, triples = np.zeros((TAGS + 1, TAGS + 1)), np.zeros(size)
    log_total, noted = expectations(
        start, tag, emission, exponentials(steps), posterior, pairs, triples, np.empty(2 * size, np.int64)
    )
    expected, expected_pairs, expected_triples = np.zeros(start[-1]), np.zeros_like(pairs), np.zeros(size)
    for path, weight in zip(every, weights, strict=True):
        numbers = [TAGS, TAGS, *(int(tag[start[i] + k]) for i, k in enumerate(path)), TAGS]
        for i, k in enumerate(path):
            expected[start[i] + k] += weight
        for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False):
            expected_pairs[b, c] += weight
            expected_triples[triple_index(a, b, c, steps)] += weight
    assert log_total == pytest.approx(np.log(np.exp(scores).sum()), abs=1e-4)
    assert posterior == pytest.approx(expected, abs=1e-5)
    assert pairs == pytest.approx(expected_pairs, abs=1e-5)
    assert triples == pytest.approx(expected_triples, abs=1e-4)
    assert noted == np.count_nonzero(triples)


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("size", [(TAGS + 1) ** 3, 17])
@pytest.mark.parametrize("group", GROUPS)
def test_lists_and_draws_equal_enumeration(length: int, size: int, group: np.ndarray) -> None:
    start, tag, emission = lattice(length)
    steps = steps_of(size, group)
    every = list(product(*(range(start[i + 1] - start[i]) for i in range(length))))
    scores = np.array([score(path, start, tag, emission, steps) for path in every])
    order = np.argsort(-scores)
    for count in (1, 7, len(every) + 3):
        paths, found = k_best_tags(start, tag, emission, steps, count)
        assert found == pytest.approx(scores[order[:count]], abs=1e-5)
        assert [tuple(path) for path in paths.tolist()] == [every[n] for n in order[:count]]
    assert path_scores(np.array(every), start, tag, emission, steps) == pytest.approx(scores, abs=1e-5)

    uniform = np.random.default_rng(5).random((5000, length))
    sampled = sample_tags(start, tag, emission, steps, exponentials(steps), uniform)
    drawn = Counter(map(tuple, sampled.tolist()))
    likely = np.exp(scores - np.logaddexp.reduce(scores))
    often = likely * len(uniform) >= 5  # as the chi-square approximation wants; the rest is one more class
    observed = np.array([drawn[path] for path in every])
    classes = [np.append(values[often], values[~often].sum()) for values in (observed, likely * len(uniform))]
    classes = [values[classes[1] > 0] for values in classes]
    assert chisquare(*classes).pvalue > 1e-3 if len(classes[0]) > 1 else observed.sum() == len(uniform)


@pytest.fixture(scope="module")
def tagger() -> lg.Tagger:
    return lg.fit(lg.Tagger, lg.demo_dependencies(300, seed=0), by=lg.Gradient(passes=4))


def test_tagged_sentences_come_as_pairs_as_trees_or_as_sentences():
    pairs = [[("the", "D"), ("dog", "N")], [("dogs", "N"), ("bark", "V")]]
    sentences = [lg.Sentence.of(each) for each in pairs]
    trees = [lg.parse_tree("(S (D the) (N dog))"), lg.parse_tree("(S (N dogs) (V bark))")]
    learned = [lg.fit(lg.Tagger, data, by=lg.Gradient(passes=2)) for data in (pairs, sentences, trees)]
    assert same(learned[0].row_weight, learned[1].row_weight)
    assert same(learned[0].row_weight, learned[2].row_weight)


def test_lists_and_draws_of_a_tagger(tagger: lg.Tagger) -> None:
    words = "the strange frobbers mend a lamp ."
    every = tagger.nbest(words, 100_000)
    assert sum(np.exp(one.tags_logprob) for one in every) == pytest.approx(1, abs=1e-4)
    assert every[0].tags == tagger.tag(words).tags
    assert every[0].confidence == pytest.approx(tagger.tag(words).confidence)
    known = lg.Constraints.of(tags={2: "NNS"}, forbidden_tags=[(3, every[0].tags[3])])
    obeying = [one for one in every if one.tags[2] == "NNS" and one.tags[3] != every[0].tags[3]]
    mass = sum(np.exp(one.tags_logprob) for one in obeying)
    listed = tagger.nbest(words, 10, known)
    assert [one.tags for one in listed] == [one.tags for one in obeying[:10]]
    for one, free in zip(listed, obeying, strict=False):
        assert np.exp(one.tags_logprob) == pytest.approx(np.exp(free.tags_logprob) / mass, rel=1e-3)
    assert {one.tags for one in tagger.sample_tags(words, 30, 1, known)} <= {one.tags for one in obeying}
    assert same(tagger.sample_tags(words, 5, 3), tagger.sample_tags(words, 5, 3))
    for wrong in (lambda: tagger.nbest(words, 0), lambda: tagger.sample_tags(words, 0)):
        with pytest.raises(SettingError, match="at least 1"):
            wrong()
    for wrong in (lambda: tagger.tag(words, "posteriors"), lambda: list(tagger.tag_all([words], "posteriors"))):
        with pytest.raises(SettingError, match="must be posterior or viterbi"):
            wrong()


def test_new_sentences_are_tagged_well_and_posteriors_sum_to_one(tagger: lg.Tagger) -> None:
    fresh = lg.demo_dependencies(100, seed=1)
    right = total = 0
    for tree in fresh:
        result = tagger.tag(tree.sentence.without_tags())
        right += sum(a == b for a, b in zip(result.tags, tree.xpos, strict=True))
        total += len(tree)
        assert tagger.posteriors(tree.sentence).sum(1) == pytest.approx(np.ones(len(tree)), abs=1e-5)
        assert all(0 < sure <= 1 for sure in result.confidence)
    assert right / total > 0.95


def test_both_kinds_of_tags_are_given_and_batches_change_nothing(tagger: lg.Tagger) -> None:
    sentences = [tree.sentence.without_tags() for tree in lg.demo_dependencies(20, seed=2)]
    together = tagger.annotate(sentences)
    for sentence, (tagged, sure) in zip(sentences, together, strict=True):
        [(alone, same_sure)] = tagger.annotate([sentence])
        assert alone == tagged
        assert sure == pytest.approx(same_sure)
        assert tagged.words == sentence.words
        assert len(tagged.xpos) == len(tagged.upos) == len(sentence)


@pytest.mark.parametrize("word", ["qwxz", "💡", "-LRB-", "(", "ИНН", "x" * 3000, "12,5%"])
def test_no_word_is_too_strange(tagger: lg.Tagger, word: str) -> None:
    assert len(tagger.tag([word, "sleeps", word]).tags) == 3


def test_equal_seeds_give_equal_taggers_and_files_keep_them(tagger: lg.Tagger, tmp_path) -> None:
    again = lg.fit(lg.Tagger, lg.demo_dependencies(300, seed=0), by=lg.Gradient(passes=4))
    lg.save(tagger, tmp_path / "tagger.lg")
    stored = lg.load(tmp_path / "tagger.lg")
    for name in ("feature", "row_weight", "pair", "triple"):
        assert np.array_equal(getattr(tagger, name), getattr(again, name))
    assert same(stored, tagger)


def test_the_loss_falls(tagger: lg.Tagger) -> None:
    losses = [record["loss"] for record in tagger.provenance.trace]
    assert losses == sorted(losses, reverse=True)
