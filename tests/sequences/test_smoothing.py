"""Smoothed models against definitions on plain dictionaries, sums over all words, and KenLM's estimates."""

import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latentgram as lg
from latentgram.data.ngrams.arpa import read_arpa as read_arpa_file
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.tagged import read_tagged
from latentgram.data.text import Text
from latentgram.errors import DataError, SettingError
from latentgram.sequences.compact import CompactNGram
from latentgram.sequences.kernels.backoff import LINE, NARROW, write_logs
from latentgram.sequences.mixing import mix, mixing_weights
from latentgram.sequences.ngram import BackoffNGram
from latentgram.sequences.pruning import divergences, pruned
from latentgram.sequences.smoothing import SMOOTHINGS, smoothed

Gram = tuple[str, ...]
WORDS = ("a", "b", "c", "d", "e", "f", "g")


def drawn(sentences: int = 60, seed: int = 0, words: tuple[str, ...] = WORDS) -> list[list[str]]:
    """Sentences of words with unequal frequencies."""
    rng = np.random.default_rng(seed)
    weight = 1.0 / np.arange(1, len(words) + 1)
    return [
        [words[i] for i in rng.choice(len(words), rng.integers(1, 7), p=weight / weight.sum())]
        for _ in range(sentences)
    ]


class Plain:
    """The four methods as their authors define them, on dictionaries."""

    def __init__(self, text: list[list[str]], order: int, method: str) -> None:
        self.order, self.method = order, method
        self.known: dict[tuple[str, Gram], float] = {}
        self.vocabulary = sorted({word for words in text for word in words} | {"<unk>", "</s>"})
        self.count: Counter[Gram] = Counter()
        for words in text:
            marked = ("<s>", *words, "</s>")
            for size in range(1, order + 1):
                self.count.update(marked[i : i + size] for i in range(len(marked) - size + 1))
        del self.count["<s>",]
        if method == "kneser-ney":
            left = Counter(gram[1:] for gram in self.count if len(gram) > 1)
            for gram in self.count:
                if len(gram) < order and gram[0] != "<s>":
                    self.count[gram] = left[gram]
        self.followers: defaultdict[Gram, dict[str, int]] = defaultdict(dict)
        for gram, count in self.count.items():
            self.followers[gram[:-1]][gram[-1]] = count
        self.sizes = {
            k: Counter(n for gram, n in self.count.items() if len(gram) == k) for k in range(1, order + 1)
        }

    def discount(self, order: int, count: int) -> float:
        n = self.sizes[order]
        ratio = n[1] / (n[1] + 2 * n[2])
        if self.method == "absolute":
            return ratio
        j = min(count, 3)
        return j - (j + 1) * ratio * n[j + 1] / n[j]

    def good_turing(self, order: int, count: int) -> float:
        n = self.sizes[order]
        factors = [1.0, 0.5, 0.6, 0.7, 0.8, 0.9]
        if all(n[j] for j in range(1, 7)):
            r = 6 * n[6] / n[1]
            own = [((j + 1) * n[j + 1] / (j * n[j]) - r) / (1 - r) for j in range(1, 6)]
            if r < 1 and all(0 < d <= 1 for d in own):
                factors = [1.0, *own]
        return factors[count] if count <= 5 else 1.0

    def p(self, word: str, history: Gram) -> float:
        if (word, history) not in self.known:
            self.known[word, history] = self.defined(word, history)
        return self.known[word, history]

    def defined(self, word: str, history: Gram) -> float:
        seen = self.followers[history]
        lower: Callable[[str], float] = (
            (lambda other: self.p(other, history[1:])) if history else (lambda _: 1 / len(self.vocabulary))
        )
        if not seen:
            return lower(word)
        total, order = sum(seen.values()), len(history) + 1
        if self.method == "katz":
            own = {w: self.good_turing(order, n) * n / total for w, n in seen.items()}
            if sum(own.values()) > 1 - 1e-9:
                own = {w: n / (total + 1) for w, n in seen.items()}
            rest = 1 - sum(own.values())
            if not history:
                return own.get(word, 0.0) + rest / len(self.vocabulary)
            if word in own:
                return own[word]
            return rest * lower(word) / (1 - sum(lower(w) for w in own))
        if self.method == "witten-bell":
            return (seen.get(word, 0) + len(seen) * lower(word)) / (total + len(seen))
        taken = {w: self.discount(order, n) for w, n in seen.items()}
        own_share = (seen[word] - taken[word]) / total if word in seen else 0.0
        return own_share + sum(taken.values()) / total * lower(word)


def estimated(text: list[list[str]], order: int, method: str, **more: object) -> BackoffNGram:
    counts = NGramCounts.of(Text.of(text), order=order)
    return lg.fit(BackoffNGram, counts, by=lg.Counting(smoothing=method, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_conditional_probability_is_as_defined(method: str, order: int) -> None:
    text = drawn(300, words=(*WORDS, *(f"rare{i}" for i in range(150))))
    plain, model = Plain(text, order, method), estimated(text, order, method)
    assert method == "katz" or not model.repairs
    histories = [h for size in range(order) for h in product(WORDS[:2], repeat=size)] + [
        ("<s>",),
        ("<s>", "a", "g"),
    ]
    for history in histories:
        short = history[max(0, len(history) - order + 1) :]
        grams = [(*short, word) for word in plain.vocabulary]
        expected = [plain.p(word, short) for word in plain.vocabulary]
        np.testing.assert_allclose(np.exp(model.query(grams)), expected, rtol=1e-9)


@pytest.mark.parametrize("method", SMOOTHINGS)
@pytest.mark.parametrize("more", [{}, {"cutoff": 2}, {"cutoff": (1, 2, 2, 3)}, {"entropy": 1e-3}], ids=str)
def test_histories_sum_to_one_over_all_words(method: str, more: dict[str, object]) -> None:
    model = estimated(drawn(80), 4, method, **more)
    words = ["</s>", "<unk>", *WORDS]
    histories = [h for size in range(4) for h in product(("a", "d", "g", "<unk>", "nosuch"), repeat=size)]
    for history in [*histories, ("<s>",), ("<s>", "b", "a")]:
        assert np.exp(model.query([(*history, word) for word in words])).sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("method", SMOOTHINGS)
def test_little_text_is_enough(method: str) -> None:
    for text, order in (([["a"]], 6), ([["a"]], 1), ([["a", "a", "a"]] * 9, 3)):
        model = estimated(text, order, method)
        words = ["</s>", "<unk>", "a"]
        for history in ((), ("a",), ("<s>",), ("a", "a", "a"), ("x", "a")):
            assert np.exp(model.query([(*history, word) for word in words])).sum() == pytest.approx(1.0, abs=1e-9)
        assert np.isfinite(model.logprob("something a new"))


def test_sums_hold_when_counts_are_cut_off_already() -> None:
    counts = NGramCounts.of(Text.of(drawn(100)), order=3, cutoff=(1, 2, 3))
    for method in SMOOTHINGS:
        model = lg.fit(BackoffNGram, counts, by=lg.Counting(smoothing=method))  # type: ignore[arg-type]
        for history in product(("a", "b", "g", "<s>"), ("a", "e")):
            logs = model.query([(*history, word) for word in ("</s>", "<unk>", *WORDS)])
            assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-9)


def test_unknown_words_that_were_counted_keep_their_counts() -> None:
    counts = NGramCounts.of(Text.of(drawn(100)), order=2, cutoff=(40, 1))
    assert counts["<unk>"] > 40
    model = lg.fit(BackoffNGram, counts, by=lg.Counting(smoothing="kneser-ney"))
    assert np.exp(model.query(["<unk>"]))[0] > 0.05
    assert model.query(["a zebra"])[0] == model.query(["a <unk>"])[0]


def test_pruning_by_counts_gives_the_shares_to_the_back_off() -> None:
    """What stays has the same share; its history's weight grows by the shares of what went."""
    text = drawn(80)
    counts = NGramCounts.of(Text.of(text), order=3)
    whole, cut = smoothed(counts, "kneser-ney"), smoothed(counts, "kneser-ney", (1, 1, 2))
    assert 0 < len(cut.trie) < len(whole.trie)
    grams = cut.trie.grams(3)
    place = whole.trie.find(grams)
    rows = np.arange(cut.trie.level[2], cut.trie.level[3])
    share = [
        10.0 ** model.logprob[at]
        - 10.0 ** (model.backoff[model.trie.prefix[at]] + model.logprob[model.trie.suffix[at]])
        for model, at in ((whole, place), (cut, rows))
    ]
    np.testing.assert_allclose(*share, atol=1e-12)
    kept = {tuple(gram) for gram in grams.tolist()}
    often = {gram for gram, n in counts.items() if len(gram) == 3 and n >= 2}
    spelled = {tuple(counts.spelled([w - (w > cut.words.index("<unk>")) for w in gram])) for gram in kept}
    assert spelled == often


def test_the_loss_of_an_ngram_is_the_divergence_of_the_model_without_it() -> None:
    counts = NGramCounts.of(Text.of(drawn(40)), order=2)
    model = smoothed(counts, "kneser-ney")
    loss = divergences(model.trie, 10.0**model.logprob)
    unigram = 10.0 ** model.logprob[: len(model.words)]

    def distribution(history: int, without: int | None) -> np.ndarray:
        """p(. | history), the back-off weight made to fit when one n-gram goes."""
        own = {
            int(model.trie.word[row]): 10.0 ** model.logprob[row]
            for row in range(int(model.trie.extension[history]), int(model.trie.extension[history + 1]))
            if row != without
        }
        weight = (1 - sum(own.values())) / (1 - sum(unigram[word] for word in own))
        return np.array([own.get(word, weight * unigram[word]) for word in range(len(unigram))])

    for row in range(len(model.words), len(model.trie), 3):
        history = int(model.trie.prefix[row])
        before, after = distribution(history, None), distribution(history, row)
        expected = unigram[history] * float((before * np.log(before / after)).sum())
        assert loss[row] == pytest.approx(expected, abs=1e-12)


def test_entropy_pruning_keeps_what_matters() -> None:
    counts = NGramCounts.of(Text.of(drawn(300)), order=3)
    whole = smoothed(counts, "kneser-ney")
    sizes = [len(pruned(whole, threshold).trie) for threshold in (0.0, 1e-5, 1e-3, 1e9)]
    assert sizes[0] == len(whole.trie)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == len(whole.words)
    heldout = drawn(100, seed=9)
    perplexities = [
        estimated(drawn(300), 3, "kneser-ney", entropy=threshold).perplexity(heldout)
        for threshold in (1e-9, 1e-6, 1e-2)
    ]
    assert perplexities[1] == pytest.approx(perplexities[0], rel=0.01)


def test_a_mixture_is_the_weighted_sum() -> None:
    models = [estimated(drawn(60, 1), 3, "kneser-ney"), estimated([["a", "x"], ["x", "b", "x"]], 2, "witten-bell")]
    mixture = mix(models, [3, 1])
    assert mixture.order == 3
    words = ["</s>", "<unk>", "x", *WORDS]
    for history in ((), ("a",), ("a", "b"), ("<s>",), ("x",), ("q",)):
        logs = mixture.query([(*history, word) for word in words])
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-9)
    for gram in (("a",), ("a", "b"), ("a", "a", "b"), ("b", "x")):
        parts = [np.exp(model.query([gram])[0]) if gram[-1] in model.words else 0.0 for model in models]
        assert np.exp(mixture.query([gram])[0]) == pytest.approx(0.75 * parts[0] + 0.25 * parts[1], rel=1e-9)


def test_weights_by_em_are_the_best_ones() -> None:
    models = [estimated(drawn(60, 1), 2, "witten-bell"), estimated([["b", "a"] * 3, ["c"]] * 5, 2, "witten-bell")]
    heldout = Text.of(drawn(20, 2) + [["b", "a", "b", "a"]] * 4)
    weights = mixing_weights(models, heldout)
    assert weights.sum() == pytest.approx(1.0)

    def likelihood(first: float) -> float:
        logs = [np.exp(model.word_logprobs(heldout)[1:]) for model in models]
        known = heldout.encoded_by(models[1].words)[1:] >= 0
        return float(np.log(first * logs[0] + (1 - first) * np.where(known, logs[1], 0.0)).sum())

    grid = max((i / 500 for i in range(1, 500)), key=likelihood)
    assert weights[0] == pytest.approx(grid, abs=0.003)


@pytest.mark.parametrize("bits", [3, 8, 16])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_compact_models_are_nearly_the_same_and_sum_to_one(bits: int, order: int) -> None:
    model = estimated(drawn(200, words=(*WORDS, *(f"rare{i}" for i in range(50)))), order, "kneser-ney")
    packed = CompactNGram.of(model, bits)
    again = packed.expanded()
    assert (again.arc_word == model.arc_word).all()
    assert (again.arc_target == model.arc_target).all()
    assert again.sentences == model.sentences
    words = ["</s>", *model.words.symbols[1:]]
    for history in ((), ("a",), ("a", "b"), ("<s>", "c", "a"), ("rare3",)):
        logs, expected = ([*m.query([(*history, word) for word in words])] for m in (again, model))
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-6)
        assert np.abs(np.array(logs) - expected).max() < {3: 4.0, 8: 0.6, 16: 1e-4}[bits]
    with pytest.raises(SettingError, match="2 to 16 bits, got 40"):
        CompactNGram.of(model, 40)


def test_scores_tell_unknown_words_apart() -> None:
    model = estimated(drawn(100), 3, "kneser-ney")
    text = [["a", "b"], ["zebra", "a"]]
    score = model.score(text)
    assert (score.sentences, score.tokens, score.unknown, score.impossible) == (2, 6, 1, 0)
    assert score.perplexity == pytest.approx(model.perplexity(text))
    logs = [model.query([gram])[0] for gram in ("<s> a", "<s> a b", "a b </s>", "<s> zebra a", "zebra a </s>")]
    assert score.known_perplexity == pytest.approx(math.exp(-sum(logs) / 5))
    assert model.score(text[:1]) + model.score(text[1:]) == score
    assert score < model.score(text[:1])
    bare = lg.fit(BackoffNGram, NGramCounts.of(Text.of(drawn(100)), order=3), by=lg.Counting())
    assert bare.score(text).impossible >= bare.score(text).impossible_unknown == 1
    assert bare.score(text).perplexity == math.inf


def test_bad_settings_are_refused() -> None:
    counts = NGramCounts.of(Text.of(["a b"]), order=2)
    with pytest.raises(SettingError, match="smoothing must be one of none, kneser-ney"):
        lg.Counting(smoothing="magic")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="failure reading and cannot be read as epsilon"):
        lg.fit(BackoffNGram, counts, by=lg.Counting(smoothing="katz", reading="epsilon"))
    with pytest.raises(SettingError, match="name a smoothing"):
        lg.fit(BackoffNGram, counts, by=lg.Counting(cutoff=2))
    with pytest.raises(SettingError, match="or 2 of them"):
        lg.fit(BackoffNGram, counts, by=lg.Counting(smoothing="katz", cutoff=(1, 1, 2)))
    bare, smooth = lg.fit(BackoffNGram, counts, by=lg.Counting()), estimated([["a", "b"]], 2, "katz")
    with pytest.raises(SettingError, match="model 2 has the reading exclusive"):
        mix([smooth, bare], [1, 1])
    with pytest.raises(SettingError, match="not all 0"):
        mix([smooth, smooth], [0, 0])
    with pytest.raises(SettingError, match="two or more models"):
        mix([smooth], [1])
    with pytest.raises(SettingError, match="exact failure arcs"):
        bare.query(["a b"])
    with pytest.raises(DataError, match="n-gram 2 has no words"):
        smooth.query(["a b", ""])


def test_the_variational_learner_reads_smoothed_models() -> None:
    model = estimated(drawn(80), 3, "kneser-ney")
    hmm = lg.fit(lg.HMM, model, by=lg.Variational(states=3, iterations=4))
    assert np.isfinite(hmm.logprob(["a", "b"]))
    visits = model.expected_visits
    assert visits[model.initial] == pytest.approx(1.0)
    assert float(model.flow[model.arc_word == 0].sum()) == pytest.approx(1.0, rel=1e-8)


def brown_in_order(folder: Path) -> list[tuple[str, ...]]:
    """The first 1,500 sentences of the corpus, whose files ca09 and ca10 lie in other parts of the pack."""

    def first(part: str, size: int) -> list[tuple[str, ...]]:
        return [sentence.words for sentence in islice(read_tagged(folder / f"{part}.tsv"), size)]

    train = first("train", 1281)
    return train[:800] + first("dev", 113) + first("test", 106) + train[800:]


@pytest.fixture(scope="module")
def kenlm_model() -> BackoffNGram:
    """Our estimate of the model that `lmplz` made."""
    if "LATENTGRAM_GOLDEN" not in os.environ or "LATENTGRAM_DATA" not in os.environ:
        pytest.skip("LATENTGRAM_GOLDEN and LATENTGRAM_DATA do not point to KenLM's figures and the Brown corpus")
    text = brown_in_order(Path(os.environ["LATENTGRAM_DATA"]) / "tagged" / "brown")
    return estimated([list(words) for words in text], 3, "kneser-ney")


@pytest.mark.golden
def test_kneser_ney_is_that_of_lmplz(kenlm_model: BackoffNGram, tmp_path: Path) -> None:
    kenlm_model.to_arpa(tmp_path / "ours.arpa")
    ours = read_arpa_file(tmp_path / "ours.arpa")
    theirs = read_arpa_file(Path(os.environ["LATENTGRAM_GOLDEN"]) / "kenlm" / "brown3.arpa")
    assert ours.words == theirs.words
    assert (ours.trie.word == theirs.trie.word).all()
    assert (ours.trie.prefix == theirs.trie.prefix).all()
    np.testing.assert_allclose(ours.logprob, theirs.logprob, atol=1e-6)
    np.testing.assert_allclose(ours.backoff, theirs.backoff, atol=1e-6)


@pytest.mark.golden
def test_the_kenlm_package_reads_our_files(kenlm_model: BackoffNGram, tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm", reason="the package kenlm is not installed")
    kenlm_model.to_arpa(tmp_path / "ours.arpa")
    theirs = kenlm.Model(str(tmp_path / "ours.arpa"))
    for sentence in ("The Fulton County Grand Jury said Friday", "an unheard-of zebra said no ."):
        assert kenlm_model.logprob(sentence) / math.log(10) == pytest.approx(theirs.score(sentence), abs=1e-4)


def test_queries_as_strings_lists_and_lines_agree() -> None:
    sentences = [("13 819", "a"), ("a", "b", "c"), ("a", "b", "13 819"), ("b",)] * 3
    counts = NGramCounts.of(Text.of(sentences), order=3)
    model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="absolute"))
    grams = [
        ("a",),
        ("<s>", "a"),
        ("zebra", "a", "b"),
        ("a", "b", "</s>"),
        ("a", "zebra"),
        ("c", "</s>", "a", "b"),
    ]
    lines = [" ".join(gram) for gram in grams]
    one_by_one = [model.query([gram])[0] for gram in grams]
    for form in (lines, grams, [*lines[:2], *grams[2:]]):
        assert model.query(form).tolist() == one_by_one
    assert model.query_lines("\n".join(lines)).tolist() == one_by_one
    assert model.query_lines("\n".join([*lines, ""])).tolist() == one_by_one
    # A word with a blank is one word in a list, and a string with a line break is blanks between words.
    apart = model.query([("a", "b", "13 819"), ("a", "b", "13", "819"), "a\nb"])
    assert apart.tolist() == [model.query([gram])[0] for gram in (("a", "b", "13 819"), ("819",), ("a", "b"))]
    assert apart[0] > apart[1]
    assert model.query([]).size == model.query_lines("").size == 0


def test_queries_are_those_of_the_arpa_file_by_its_definition(tmp_path: Path) -> None:
    words = tuple(f"w{number}" for number in range(40))
    counts = NGramCounts.of(Text.of(drawn(600, words=words)), order=4)
    model = lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="kneser-ney"))
    width = np.diff(model.arc_start)
    assert (width[1:] > NARROW).any(), "no wide state is asked"
    assert (width[1:] <= NARROW).any(), "no narrow state is asked"
    model.to_arpa(tmp_path / "model.arpa")
    lines = (line.split("\t") for line in (tmp_path / "model.arpa").read_text().splitlines() if "\t" in line)
    entries = {tuple(gram.split()): [float(log), *map(float, weight)] for log, gram, *weight in lines}

    def log(gram: Gram) -> float:
        if gram in entries:
            return entries[gram][0]
        weight = entries.get(gram[:-1], [0.0, 0.0])
        return (weight[1] if len(weight) > 1 else 0.0) + log(gram[1:])

    rng = np.random.default_rng(1)
    grams: list[Gram] = []
    for _ in range(2000):
        first = ("<s>",) if rng.random() < 0.2 else ()
        chosen = rng.choice([*words, "<unk>"], rng.integers(0, 4)).tolist()
        grams.append((*first, *chosen, str(rng.choice([*words, "</s>", "<unk>"]))))
    np.testing.assert_allclose(model.query(grams) / np.log(10), [log(gram) for gram in grams], atol=1e-6)


@given(st.lists(st.floats(-300, 0) | st.just(-np.inf)))
def test_logs_are_written_as_python_writes_them(logs: list[float]) -> None:
    out = np.empty(LINE * len(logs), np.uint8)
    written = out[: write_logs(np.array(logs), out)].tobytes().decode().splitlines()
    assert [float(text) for text in written] == pytest.approx(logs, abs=5.001e-6)
    assert all(text == "-inf" or text == f"{float(text):.5f}" for text in written)
