"""What people need of HMMs: a class of unknown words, known tags, updates, the next word, a choice of states."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.sequences.test_hmm import random_hmm

import latentgram as lg
from latentgram.data.sentence import Sentence
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context, update_model
from latentgram.sequences.em import Corpus
from latentgram.sequences.known_tags import TiedText, dictionary_of_tags
from latentgram.sequences.parameters import Emissions, Parameters
from latentgram.sequences.update import expected_visits, updates_hmm

TAGGED = [
    [("the", "D"), ("dog", "N"), ("barks", "V")],
    [("the", "D"), ("cat", "N")],
    [("a", "D"), ("dog", "N"), ("sees", "V"), ("the", "D"), ("cat", "N")],
    [("cats", "N"), ("sleep", "V")],
]


def two_states(seed: int = 0, sentences: int = 300) -> tuple[lg.HMM, list[Sentence]]:
    """A model of two states that tell themselves by their words, and sentences of it."""
    tags, words = ("</s>", "X", "Y"), ("</s>", "a", "b", "c", "d")
    truth = lg.HMM(
        lg.Alphabet(tags), lg.Alphabet(words), np.array([[0, 0.7, 0.3], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]]),
        np.array([0, 1, 3, 5, 7, 9]), np.array([0, 1, 2, 1, 2, 1, 2, 1, 2], np.int32),
        np.array([1, 0.6, 0.05, 0.3, 0.05, 0.05, 0.5, 0.05, 0.4]), np.zeros(3),
    )  # fmt: skip
    return truth, list(truth.sample(sentences, seed=seed))


@pytest.mark.parametrize(
    "by", [lg.Counting(unknown="class"), lg.EM(states=2, iterations=3, unknown="class")], ids=str
)
def test_an_unknown_class_makes_a_distribution(by: lg.Counting | lg.EM) -> None:
    hmm = lg.fit(lg.HMM, TAGGED, by=by)
    mass = np.bincount(hmm.emit_tag, hmm.emit_prob, minlength=len(hmm.tags)) + hmm.unknown
    np.testing.assert_allclose(mass[1:], 1.0)
    assert (hmm.unknown[1:] > 0).any()
    # Probabilities of all sentences of up to 40 words, by the sum over lengths, `zebra` standing for new words.
    words = [*hmm.words.symbols[1:], "zebra"]
    for length in (1, 2):
        listed = sum(np.exp(hmm.logprob(list(string))) for string in product(words, repeat=length))
        inner = hmm.transition[1:, 1:]
        exact = hmm.transition[0, 1:] @ np.linalg.matrix_power(inner, length - 1) @ hmm.transition[1:, 0]
        assert listed == pytest.approx(exact, rel=1e-9)


def test_the_class_is_learned_from_words_seen_once() -> None:
    rare = [[("the", "D"), (f"noun{i}", "N")] for i in range(30)]
    hmm = lg.fit(lg.HMM, rare, by=lg.Counting(unknown="class"))
    assert hmm.unknown[hmm.tags.index("N")] == pytest.approx(0.5)
    assert hmm.unknown[hmm.tags.index("D")] < 0.1
    assert hmm.tag("the zebra").tags == ("D", "N")


def test_lists_of_lists_are_sentences() -> None:
    lists = [[word for word, _ in sentence] for sentence in TAGGED]
    for model, by in (
        (lg.HMM, lg.EM(states=2, iterations=2)),
        (lg.OperatorAutomaton, lg.EM(states=2, iterations=2)),
        (lg.OperatorAutomaton, lg.Spectral(states=2)),
        (lg.OperatorAutomaton, lg.Clustering(states=2)),
    ):
        one, other = (lg.fit(model, data, by=by) for data in (lists, Text.of(lists)))
        assert one.logprob("the dog") == other.logprob("the dog")
    with pytest.raises(DataError, match="a sentence is a string, a list of words"):
        lg.fit(lg.HMM, [[1, 2], [3]], by=lg.EM(states=2))
    with pytest.raises(DataError, match="not from int"):
        lg.fit(lg.HMM, [1, 2], by=lg.EM(states=2))


def test_known_tags_restrict_the_sum() -> None:
    sentences = [Sentence.of([("a", "X"), ("b", "_"), ("a", "_")]), Sentence.of([("b", "_"), ("b", "Y")])]
    text = Text.of(sentences)
    shape = Emissions.of(text.words, dictionary_of_tags(sentences))
    rng = np.random.default_rng(1)
    transition = rng.random((3, 3))
    transition /= transition.sum(1, keepdims=True)
    parameters = Parameters(transition, np.concatenate([[1.0], rng.random(4)]))
    tied = TiedText.of(sentences, text, shape)
    corpus = Corpus.of(tied.text, tied.shape, 2, segments=False)
    expected = tied.fold(corpus.expect(tied.spread(parameters), Context()))
    moves, emits, bound = np.zeros((3, 3)), np.zeros(5), 0.0
    for sentence in sentences:
        numbers = text.words.encode(sentence.words)
        agree = [
            tags
            for tags in product((1, 2), repeat=len(sentence))
            if all(
                name == "_" or shape.tags[tag] == name for tag, name in zip(tags, sentence.tags or (), strict=True)
            )
        ]
        entries = {
            tags: [1 + 2 * (word - 1) + tag - 1 for word, tag in zip(numbers, tags, strict=True)] for tags in agree
        }
        weight = {
            tags: float(
                np.prod([transition[s, t] for s, t in zip((0, *tags), (*tags, 0), strict=True)])
                * np.prod(parameters.emission[entries[tags]])
            )
            for tags in agree
        }
        total = sum(weight.values())
        bound += np.log(total)
        for tags, share in weight.items():
            for s, t in zip((0, *tags), (*tags, 0), strict=True):
                moves[s, t] += share / total
            np.add.at(emits, entries[tags], share / total)
    np.testing.assert_allclose(expected.transition, moves, atol=1e-12)
    np.testing.assert_allclose(expected.emission, emits, atol=1e-12)
    assert expected.bound == pytest.approx(bound)


def test_text_with_all_tags_is_counted() -> None:
    none = {"transition_prior": 0.0, "emission_prior": 0.0}
    by_em = lg.fit(lg.HMM, TAGGED, by=lg.EM(known_tags=True, iterations=2, **none))
    counted = lg.fit(lg.HMM, TAGGED, by=lg.Counting(**none))
    for sentence in (["the", "dog", "barks"], ["a", "cat"], ["cats", "sleep"]):
        assert by_em.logprob(sentence) == pytest.approx(counted.logprob(sentence), rel=1e-9)


def test_a_few_known_tags_name_the_states() -> None:
    truth, sentences = two_states()
    bare = [Sentence(sentence.words) for sentence in sentences[10:]]
    hmm = lg.fit(lg.HMM, [*sentences[:10], *bare], by=lg.EM(known_tags=True, iterations=30))
    assert set(hmm.tags.symbols[1:]) == {"X", "Y"}
    gold = [tag for sentence in sentences[10:] for tag in sentence.tags or ()]
    right = [tag for sentence in bare for tag in hmm.tag(sentence).tags]
    best = [tag for sentence in bare for tag in truth.tag(sentence).tags]
    accuracy, possible = (np.mean([a == b for a, b in zip(tags, gold, strict=True)]) for tags in (right, best))
    assert accuracy > possible - 0.03


def test_known_tags_must_be_possible() -> None:
    dictionary = lg.TagDictionary.of([Sentence.of([("a", "X"), ("b", "Y")])], at_least=1)
    with pytest.raises(DataError, match="sentence 1: 'Z' is not among the tags"):
        lg.fit(lg.HMM, [[("a", "Z")]], by=lg.EM(known_tags=True, dictionary=dictionary))
    with pytest.raises(DataError, match="'a' is tagged Y, which"):
        lg.fit(lg.HMM, [[("a", "Y")]], by=lg.EM(known_tags=True, dictionary=dictionary))
    with pytest.raises(DataError, match="no sentence has a tag"):
        lg.fit(lg.HMM, [["a"]], by=lg.EM(known_tags=True))
    with pytest.raises(DataError, match="a Text has none"):
        lg.fit(lg.HMM, Text.of(["a"]), by=lg.EM(known_tags=True))


@pytest.mark.parametrize("order", [2, 3])
def test_an_update_by_tagged_text_is_counting_it_all(order: int) -> None:
    by = lg.Counting(order=order, transition_prior=0.0)
    before, whole = lg.fit(lg.HMM, TAGGED[:2], by=by), lg.fit(lg.HMM, TAGGED, by=by)
    after = update_model(before, TAGGED[2:])
    assert after.provenance.data_size == 4
    for sentence in TAGGED:
        words = [word for word, _ in sentence]
        assert after.logprob(words) == pytest.approx(whole.logprob(words), rel=1e-9)


@pytest.mark.parametrize("unknown", ["rarest", "class"])
def test_updates_by_bare_text_raise_its_likelihood(unknown: str) -> None:
    _, sentences = two_states()
    hmm = lg.fit(lg.HMM, sentences[:100], by=lg.EM(states=2, iterations=20, unknown=unknown))  # type: ignore[arg-type]
    fresh = [["a", "d", "d"], ["d", "b"]] * 20
    assert sum(map(lg.update_hmm(hmm, fresh).logprob, fresh)) > sum(map(hmm.logprob, fresh))
    fresh = [["a", "new", "new"], ["new", "b"]] * 20
    updated = lg.update_hmm(hmm, fresh)
    assert updated.words.index("new") > 0
    mass = np.bincount(updated.emit_tag, updated.emit_prob, minlength=3)
    np.testing.assert_allclose((mass + updated.unknown * (unknown == "class"))[1:], 1.0)
    faster = lg.update_hmm(hmm, fresh, weight=1.0)
    assert sum(map(faster.logprob, fresh)) > sum(map(updated.logprob, fresh))
    with pytest.raises(SettingError, match="weight of a model must be above 0"):
        lg.update_hmm(hmm, fresh, weight=0.0)
    with pytest.raises(SettingError, match=r"above 0 and at most 1e\+12, got 1e\+308"):
        lg.update_hmm(hmm, fresh, weight=1e308)
    with pytest.raises(DataError, match="no sentences to learn from"):
        lg.update_hmm(hmm, [])


def test_models_of_ngrams_need_a_weight() -> None:
    counts = lg.NGramCounts.of(Text.of([[word for word, _ in sentence] for sentence in TAGGED]))
    hmm = lg.fit(lg.HMM, counts, by=lg.Variational(states=2, iterations=2))
    assert not updates_hmm(hmm)
    with pytest.raises(SettingError, match="give the number of sentences"):
        lg.update_hmm(hmm, [["the", "dog"]])
    assert np.isfinite(lg.update_hmm(hmm, [["the", "dog"]], weight=4).logprob("the dog"))


def test_expected_visits_are_those_of_samples() -> None:
    truth, sentences = two_states(sentences=4000)
    visits = expected_visits(truth.transition, 3)
    tags = [tag for sentence in sentences for tag in sentence.tags or ()]
    assert visits[0] == 1.0
    assert visits[1] == pytest.approx(tags.count("X") / 4000, rel=0.05)


@pytest.mark.parametrize("order", [2, 3])
def test_the_next_word_is_a_ratio_of_sums(order: int) -> None:
    hmm = random_hmm(order, seed=2, sparse=False)
    words = hmm.words.symbols[1:]

    def prefix_mass(prefix: tuple[str, ...]) -> float:
        """p of all sentences that begin so: forward over tag sequences, listed."""
        total = 0.0
        numbers = hmm.words.encode(prefix)
        tags = len(hmm.tags)
        for path in product(range(1, tags), repeat=len(prefix)):
            weight, state = 1.0, 0
            for word, tag in zip(numbers, path, strict=True):
                row = slice(hmm.emit_start[word], hmm.emit_start[word + 1])
                emitted = hmm.emit_prob[row][hmm.emit_tag[row] == tag]
                weight *= hmm.transition[state, tag] * float(emitted.sum())
                state = (state * tags + tag) % len(hmm.transition)
            total += weight
        return total

    for prefix in ((), ("a",), ("b", "c")):
        following = hmm.next_words(list(prefix))
        for word in words:
            assert following[word] == pytest.approx(prefix_mass((*prefix, word)) / prefix_mass(prefix), rel=1e-9)


def test_posteriors_of_all_tags() -> None:
    truth, _ = two_states()
    table = truth.tag_posteriors("a c")
    assert table.shape == (2, 2)
    np.testing.assert_allclose(table.sum(1), 1.0)
    weight = {tags: np.exp(tagging.tags_logprob) for tagging in truth.nbest("a c", 4) for tags in [tagging.tags]}
    assert table[0, 0] == pytest.approx(sum(p for tags, p in weight.items() if tags[0] == "X"))


def test_a_spectral_start_is_no_worse_and_often_better() -> None:
    _, sentences = two_states(sentences=500)
    text = Text.of(sentence.words for sentence in sentences)
    spectral = lg.fit(lg.HMM, text, by=lg.EM(states=2, iterations=3, start="spectral"))
    chance = [lg.fit(lg.HMM, text, by=lg.EM(states=2, iterations=3, seed=seed)).loglik(text) for seed in range(4)]
    assert spectral.loglik(text) > np.mean(chance)
    bounds = [record["bound"] for record in spectral.provenance.trace]
    assert bounds == sorted(bounds)
    with pytest.raises(SettingError, match="without a dictionary"):
        lg.fit(lg.HMM, TAGGED, by=lg.EM(start="spectral", known_tags=True))


def test_states_are_chosen_by_held_out_likelihood() -> None:
    _, sentences = two_states(sentences=600)
    hmm = lg.fit(lg.HMM, [list(s.words) for s in sentences], by=lg.EM(states="auto", iterations=30))
    assert 2 <= hmm.states <= 4
    rng = np.random.default_rng(0)
    one = [[str(word) for word in rng.integers(5, size=rng.geometric(0.3))] for _ in range(400)]
    assert lg.fit(lg.HMM, one, by=lg.EM(states="auto", iterations=20)).states <= 2
    with pytest.raises(DataError, match="sentences are too few"):
        lg.fit(lg.HMM, [["a"]], by=lg.EM(states="auto"))
    with pytest.raises(SettingError, match=r"states must be a number|at least"):
        lg.fit(lg.LPCFG, lg.demo_treebank(5, seed=0), by=lg.EM(states="auto"))


@pytest.mark.parametrize("order", [2, 3])
def test_openfst_text_holds_every_path(tmp_path: Path, order: int) -> None:
    hmm = lg.fit(lg.HMM, TAGGED, by=lg.Counting(order=order, unknown="class"))
    hmm.to_openfst(tmp_path / "hmm.fst")
    arcs, final = [], {}
    for line in (tmp_path / "hmm.fst").read_text().splitlines():
        columns = line.split("\t")
        if len(columns) == 5:
            arcs.append((int(columns[0]), int(columns[1]), columns[2], columns[3], float(columns[4])))
        else:
            final[int(columns[0])] = float(columns[-1]) if len(columns) == 2 else 0.0
    assert arcs[0][0] == 0
    symbols = [line.split("\t")[0] for line in (tmp_path / "hmm.fst.syms").read_text().splitlines()]
    assert {label for arc in arcs for label in arc[2:4]} <= set(symbols)

    def paths(state: int, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
        """The outputs and weights of all paths for some words."""
        if not words and state in final:
            yield (), final[state]
        for start, end, taken, given, cost in arcs:
            if start == state and (taken == "<eps>" or words[:1] == (taken,)):
                for tags, rest in paths(end, words[taken != "<eps>" :]):
                    yield (tags if given == "<eps>" else (given, *tags)), cost + rest

    for words, written in ((("the", "dog"), ("the", "dog")), (("new", "cat", "barks"), ("<unk>", "cat", "barks"))):
        every = dict(paths(0, written))
        assert -np.log(sum(np.exp(-cost) for cost in every.values())) == pytest.approx(
            -hmm.logprob(words), rel=1e-6
        )
        assert min(every, key=lambda tags: every[tags]) == hmm.tag(words, decoder="viterbi").tags
