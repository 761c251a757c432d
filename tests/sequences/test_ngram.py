"""`BackoffNGram` in its three readings against definitions computed on plain dictionaries."""

import os
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from latentgram.data.ngrams.arpa import read_arpa
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError
from latentgram.sequences.counting import from_arpa, from_counts
from latentgram.sequences.ngram import READINGS, BackoffNGram

# Every word has its own position, so the automata have no cycles and all strings can be listed.
CHOICES = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")]


def layered_text(sentences: int = 30, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(sentences):
        word = [pair[rng.integers(2)] for pair in CHOICES]
        word[3] = word[3] if rng.random() < 0.8 else CHOICES[3][word[0] == "A"]
        drawn.append(word[: rng.integers(3, 5)])
    return drawn


def model(reading: str, cutoff: int = 4, order: int = 3, *, all_bigrams: bool = True) -> BackoffNGram:
    text = Text.of(layered_text())
    return from_counts(NGramCounts.of(text, order=order, cutoff=cutoff, all_bigrams=all_bigrams), reading)


def every_string() -> list[tuple[str, ...]]:
    return [words for length in range(1, 5) for words in product(*CHOICES[:length])] + [()]


class Plain:
    """The automaton as dictionaries: counts, histories with extensions, and the three sets of weights."""

    def __init__(self, reading: str, cutoff: int, order: int, all_bigrams: bool = True) -> None:
        self.reading = reading
        count: Counter[tuple[str, ...]] = Counter()
        for words in layered_text():
            marked = ("<s>", *words, "</s>")
            for size in range(1, order + 1):
                count.update(marked[i : i + size] for i in range(len(marked) - size + 1))
        least = 1 if all_bigrams else cutoff
        self.count = {g: n for g, n in count.items() if len(g) == 1 or n >= (least if len(g) == 2 else cutoff)}
        grams = [g for g in self.count if g != ("<s>",)]
        self.count[()] = sum(self.count[g] for g in grams if len(g) == 1)
        self.arcs: dict[tuple[str, ...], dict[str, int]] = {}
        for g in grams:
            self.arcs.setdefault(g[:-1], {})[g[-1]] = self.count[g]
        self.exclusive = {
            g: self.count[g] - sum(self.count[o] for o in grams if len(o) == len(g) + 1 and o[1:] == g)
            for g in grams
        }

    def weights(self, h: tuple[str, ...]) -> tuple[dict[str, float], float]:
        rest = self.count[h] - sum(self.arcs[h].values()) if h else 0
        if self.reading == "exclusive":
            own = {w: self.exclusive[*h, w] for w in self.arcs[h]}
            total = sum(own.values()) + rest
            return {w: x / total for w, x in own.items() if x}, rest / total
        own = {w: n / self.count[h] for w, n in self.arcs[h].items()}
        return own, rest / self.count[h]

    def after(self, h: tuple[str, ...]) -> tuple[str, ...]:
        while h not in self.arcs:
            h = h[1:]
        return h

    def paths(self, words: tuple[str, ...]) -> float:
        """p(words </s>): the sum over paths, or the one path with failures."""

        def onward(h: tuple[str, ...], rest: tuple[str, ...]) -> float:
            if not rest:
                return 1.0
            own, fail = self.weights(h)
            w = rest[0]
            taken = own.get(w, 0.0) * onward(self.after((*h, w)), rest[1:]) if w in own else 0.0
            if not h or (self.reading == "failure" and w in own):
                return taken
            if self.reading == "failure" and fail:
                lower, _ = self.weights(h[1:])
                left = 1 - sum(lower.get(v, 0.0) for v in own)
                fail = fail / left if left > 1e-12 else 0.0
            return taken + (fail * onward(h[1:], rest) if fail else 0.0)

        return onward(("<s>",), (*words, "</s>"))


SHAPES = [(4, 3, True), (4, 4, True), (6, 2, False), (5, 3, False), (1, 3, True)]


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(("cutoff", "order", "bigrams"), SHAPES)
def test_strings_have_the_probability_of_their_paths(reading: str, cutoff: int, order: int, bigrams: bool) -> None:
    plain = Plain(reading, cutoff, order, bigrams)
    found = model(reading, cutoff, order, all_bigrams=bigrams)
    for words in every_string()[:-1]:
        expected = plain.paths(words)
        assert np.exp(found.logprob(list(words))) == pytest.approx(expected, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(("cutoff", "order"), [(4, 3), (4, 4), (1, 3)])
def test_visits_and_flows_are_expectations(reading: str, cutoff: int, order: int) -> None:
    found = model(reading, cutoff, order)
    probabilities = {words: np.exp(found.logprob(list(words))) for words in every_string()[:-1]}
    assert sum(probabilities.values()) == pytest.approx(1.0, rel=1e-10)
    expected: Counter[str] = Counter()
    for words, probability in probabilities.items():
        for word in words:
            expected[word] += probability
    by_word = np.bincount(found.arc_word, found.flow, minlength=len(found.words))
    for number, word in enumerate(found.words):
        assert by_word[number] == pytest.approx(1.0 if number == 0 else expected[word], rel=1e-9)
    into = np.bincount(found.arc_target, found.flow, minlength=found.states)
    if reading != "failure":
        np.add.at(into, found.backoff[1:], (found.failure * found.expected_visits)[1:])
        np.testing.assert_allclose(into, found.expected_visits, atol=1e-12)


def test_exclusive_counts_keep_the_marginals_of_the_text() -> None:
    counts = NGramCounts.of(Text.of(layered_text()), order=4, cutoff=5)
    found = from_counts(counts)
    by_word = np.bincount(found.arc_word, found.flow, minlength=len(found.words)) * found.sentences
    np.testing.assert_allclose(by_word, counts.count[: len(found.words)], rtol=1e-12)
    tokens = found.flow * found.sentences
    np.testing.assert_allclose(tokens, np.round(tokens), atol=1e-9)


@pytest.mark.parametrize("reading", READINGS)
def test_long_ngrams_are_the_corpus_itself(reading: str) -> None:
    text = layered_text()
    found = from_counts(NGramCounts.of(Text.of(text), order=5), reading)
    for words, times in Counter(map(tuple, text)).items():
        assert np.exp(found.logprob(list(words))) == pytest.approx(times / len(text), rel=1e-10)


@pytest.mark.parametrize("reading", READINGS)
def test_samples_follow_the_model(reading: str) -> None:
    found = model(reading, 4, 3)
    drawn = Counter(sentence.words for sentence in found.sample(20_000, seed=5))
    for words in sorted(drawn, key=lambda w: -drawn[w])[:8]:
        assert drawn[words] / 20_000 == pytest.approx(np.exp(found.logprob(list(words))), abs=0.01)
    assert list(found.sample(5, seed=1)) == list(found.sample(5, seed=1))


def test_unknown_words_and_bad_readings() -> None:
    found = model("exclusive")
    assert found.logprob("a zebra") == -np.inf
    assert found.unknown_words(Text.of(["a zebra"])) == 1
    with pytest.raises(SettingError, match="must be one of exclusive, epsilon, failure"):
        model("magic")


def test_inconsistent_counts_are_mended_and_counted() -> None:
    from dataclasses import replace

    counts = NGramCounts.of(Text.of(layered_text()), order=2)
    spoiled = counts.count.copy()
    spoiled[1] = 0
    found = from_counts(replace(counts, count=spoiled))
    assert found.repairs["negative exclusive counts set to 0"] == 1
    assert found.repairs["negative rests of histories set to 0"] == 1
    own = np.bincount(found.source, found.arc_prob, minlength=found.states)
    np.testing.assert_allclose((own + found.failure)[found.expected_visits > 0], 1.0)


@pytest.fixture(scope="module")
def kenlm_folder() -> Path:
    folder = os.environ.get("LATENTGRAM_GOLDEN")
    if not folder:
        pytest.skip("LATENTGRAM_GOLDEN does not point to KenLM's figures")
    return Path(folder) / "kenlm"


@pytest.mark.golden
def test_scores_are_those_of_kenlm(kenlm_folder: Path) -> None:
    found = from_arpa(read_arpa(kenlm_folder / "brown3.arpa"))
    assert not found.repairs.get("histories made to sum to one")
    lines = (kenlm_folder / "sentences.txt").read_text("utf-8").splitlines()
    scores = (kenlm_folder / "scores.txt").read_text("utf-8").splitlines()
    for line, (_, total, _, unknown) in zip(lines, map(str.split, scores), strict=True):
        assert found.logprob(line) / np.log(10) == pytest.approx(float(total), abs=1e-4)
        assert found.unknown_words(Text.of([line])) == int(unknown)


def test_a_text_without_sentences_has_no_perplexity() -> None:
    with pytest.raises(DataError, match="has no perplexity"):
        from_counts(NGramCounts.of(Text.of(["a b"]))).perplexity(Text.of([]))
