"""`HMM` of both orders against enumeration of every tag sequence."""

from itertools import product

import numpy as np
import pytest

from latentgram.data.alphabet import Alphabet
from latentgram.data.sentence import Sentence
from latentgram.data.tag_dictionary import TagDictionary, open_dictionary
from latentgram.data.text import END, Text
from latentgram.errors import DataError, SettingError
from latentgram.sequences.hmm import HMM
from latentgram.sequences.kernels.chain import Chain, Sequences, expect
from latentgram.sequences.kernels.chain_dense import DenseChain, expect_dense

WORDS = Alphabet((END, "a", "b", "c", "d"))


def random_hmm(order: int, seed: int = 0, tags: int = 3, sparse: bool = True) -> HMM:
    rng = np.random.default_rng(seed)
    size = tags + 1
    transition = rng.dirichlet(np.ones(size), size ** (order - 1))
    transition[0, 0] = 0.0
    transition[0] /= transition[0].sum()
    dictionary = open_dictionary(tags)
    if sparse:
        seen = [("a", "1"), ("b", "1"), ("b", "3"), ("c", "2"), ("c", "3")]
        dictionary = TagDictionary.of([Sentence.of(seen), Sentence.of([("d", t) for t in "123"])], 1)
    start, tag = dictionary.rows(WORDS)
    prob = rng.random(len(tag))
    prob[0] = 1.0
    unknown = np.array([0.0, *rng.random(tags)])
    return HMM(dictionary.tags, WORDS, transition, start, tag, prob, unknown)


def joint(hmm: HMM, words: str, tags: tuple[int, ...]) -> float:
    """p(words, tags) by the definition."""
    history, value = [0] * (hmm.order - 1), 1.0
    for word, tag in [*zip(words, tags, strict=True), (END, 0)]:
        state = 0
        for previous in history:
            state = state * len(hmm.tags) + previous
        value *= hmm.transition[state, tag]
        number = hmm.words.index(word)
        if number > 0:
            row = slice(hmm.emit_start[number], hmm.emit_start[number + 1])
            value *= dict(zip(hmm.emit_tag[row].tolist(), hmm.emit_prob[row], strict=True)).get(tag, 0.0)
        elif tag > 0:
            value *= hmm.unknown[tag]
        history = [*history[1:], tag]
    return value


def every(hmm: HMM, words: str) -> dict[tuple[int, ...], float]:
    return {
        tags: value
        for tags in product(range(1, len(hmm.tags)), repeat=len(words))
        if (value := joint(hmm, words, tags)) > 0
    }


def chain(hmm: HMM) -> Chain:
    return Chain(hmm.transition, hmm.emit_start, hmm.emit_tag, hmm.emit_prob)


def no_counts(hmm: HMM) -> Chain:
    return chain(hmm)._replace(transition=np.zeros_like(hmm.transition), prob=np.zeros_like(hmm.emit_prob))


SENTENCES = ["a", "ab", "dbc", "dcbd", "ddxd", "abcd"]


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("words", SENTENCES)
def test_sums_and_posteriors(order: int, words: str) -> None:
    hmm = random_hmm(order)
    table = every(hmm, words)
    total = sum(table.values())
    assert hmm.logprob(list(words)) == pytest.approx(np.log(total), rel=1e-12)
    tagging = hmm.tag(list(words))
    for i, (tag, confidence) in enumerate(zip(tagging.tags, tagging.confidence, strict=True)):
        marginal = np.zeros(len(hmm.tags))
        for tags, value in table.items():
            marginal[tags[i]] += value / total
        assert tag == hmm.tags[int(marginal.argmax())]
        assert confidence == pytest.approx(marginal.max(), rel=1e-10)
    assert tagging.unknown == tuple(word == "x" for word in words)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("words", SENTENCES)
def test_best_sequences(order: int, words: str) -> None:
    hmm = random_hmm(order)
    ranked = sorted(every(hmm, words).items(), key=lambda item: -item[1])
    found = hmm.nbest(list(words), 7)
    assert len(found) == min(7, len(ranked))
    for one, (expected, value) in zip(found, ranked, strict=False):
        assert one.logprob + one.tags_logprob == pytest.approx(np.log(value), rel=1e-12)
        assert one.tags == tuple(hmm.tags.decode(expected))
    assert hmm.tag(list(words), "viterbi").tags == found[0].tags


@pytest.mark.parametrize("order", [2, 3])
def test_expected_counts(order: int) -> None:
    hmm = random_hmm(order)
    text = Text.of([list(words) for words in SENTENCES if "x" not in words])
    tokens = text.encoded_by(hmm.words)
    begin, end = text.start[:-1], text.start[1:] - 1
    weight = np.arange(1.0, len(begin) + 1)
    transitions, _, _, emissions = counts = no_counts(hmm)
    ends = np.zeros(len(begin), np.int64)
    expect(chain(hmm), Sequences(tokens, begin, end, ends, ends, weight), counts)
    expected_t, expected_e = np.zeros_like(transitions), np.zeros((len(WORDS), len(hmm.tags)))
    for sentence, times in zip(text, weight, strict=True):
        words = "".join(sentence.words)
        table = every(hmm, words)
        total = sum(table.values())
        for tags, value in table.items():
            path = [*[0] * (order - 1), *tags, 0]
            for i in range(order - 1, len(path)):
                state = int("".join(map(str, path[i - order + 1 : i])), len(hmm.tags))
                expected_t[state, path[i]] += times * value / total
            for word, tag in zip(words, tags, strict=True):
                expected_e[WORDS.index(word), tag] += times * value / total
    np.testing.assert_allclose(transitions, expected_t, rtol=1e-10, atol=1e-12)
    rows = np.repeat(np.arange(len(WORDS)), np.diff(hmm.emit_start))
    np.testing.assert_allclose(emissions[1:], expected_e[rows, hmm.emit_tag][1:], rtol=1e-10, atol=1e-12)


def test_the_dense_kernel_is_the_sparse_one() -> None:
    hmm = random_hmm(2, sparse=False)
    rng = np.random.default_rng(1)
    text = Text.of([rng.choice(list("abcd"), rng.integers(1, 9)).tolist() for _ in range(40)])
    tokens = text.encoded_by(hmm.words)
    begin, end = text.start[:-1], text.start[1:] - 1
    weight = rng.random(len(begin))
    transitions, _, _, emissions = counts = no_counts(hmm)
    ends = np.zeros(len(begin), np.int64)
    logs = expect(chain(hmm), Sequences(tokens, begin, end, ends, ends, weight), counts)
    order = np.argsort(end - begin, kind="stable")
    table = np.zeros((5, 3))
    table[1:] = hmm.emit_prob[1:].reshape(4, 3)
    inner = np.ascontiguousarray(hmm.transition[1:, 1:])
    full = DenseChain(hmm.transition[0, 1:], inner, hmm.transition[1:, 0].copy(), table)
    dense = DenseChain(*(np.zeros(part.shape) for part in full))
    total = expect_dense(full, tokens, begin[order], (end - begin)[order], weight[order], dense)
    assert total == pytest.approx(logs @ weight, rel=1e-12)
    np.testing.assert_allclose(dense.start, transitions[0, 1:], rtol=1e-10)
    np.testing.assert_allclose(dense.inner, transitions[1:, 1:], rtol=1e-10)
    np.testing.assert_allclose(dense.stop, transitions[1:, 0], rtol=1e-10)
    np.testing.assert_allclose(dense.emission[1:].ravel(), emissions[1:], rtol=1e-10)


@pytest.mark.parametrize("order", [2, 3])
def test_samples_of_tags_follow_the_posterior(order: int) -> None:
    hmm = random_hmm(order)
    table = every(hmm, "dbd")
    total = sum(table.values())
    drawn = [one.tags for one in hmm.sample_tags(list("dbd"), 4000, seed=3)]
    for tags, value in table.items():
        share = drawn.count(tuple(hmm.tags.decode(tags))) / len(drawn)
        assert share == pytest.approx(value / total, abs=0.03)


@pytest.mark.parametrize("order", [2, 3])
def test_samples_of_sentences_follow_the_model(order: int) -> None:
    hmm = random_hmm(order)
    emission = np.bincount(hmm.emit_tag, hmm.emit_prob)
    hmm = HMM(
        hmm.tags, hmm.words, hmm.transition, hmm.emit_start, hmm.emit_tag,
        hmm.emit_prob / emission[hmm.emit_tag], hmm.unknown,
    )  # fmt: skip
    drawn = [(s.words, s.tags) for s in hmm.sample(6000, seed=1)]
    for words, tags in [("d", (1,)), ("d", (2,)), ("ab", (1, 3)), ("cb", (2, 1))]:
        share = drawn.count((tuple(words), tuple(hmm.tags.decode(tags)))) / len(drawn)
        assert share == pytest.approx(joint(hmm, words, tags), abs=0.015)


def test_as_an_automaton() -> None:
    hmm = random_hmm(2)
    automaton = hmm.automaton()
    for words in ["a", "dbc", "dcbd"]:
        assert automaton.probability(list(words)) == pytest.approx(np.exp(hmm.logprob(list(words))), rel=1e-12)
    with pytest.raises(SettingError, match="order 2"):
        random_hmm(3).automaton()


def test_long_sentences_keep_their_scale() -> None:
    hmm = random_hmm(2)
    assert hmm.logprob(list("dbcd" * 500)) == pytest.approx(2 * hmm.logprob(list("dbcd" * 250)), rel=1e-2)


def test_impossible_sentences_and_bad_requests() -> None:
    hmm = random_hmm(2)
    shut = HMM(hmm.tags, hmm.words, hmm.transition, hmm.emit_start, hmm.emit_tag, hmm.emit_prob, np.zeros(4))
    assert shut.logprob(["x"]) == -np.inf
    with pytest.raises(DataError, match="probability zero to 'x'"):
        shut.tag(["x"])
    with pytest.raises(SettingError, match="posterior or viterbi"):
        hmm.tag("a", "guess")
