"""All that a model can say has a probability of at most one together, by exact recursion; bounds rise in EM."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

import latentgram as lg
from latentgram.arcs.kernels.histories import TEMPLATE_ATOMS, all_feature_keys
from latentgram.arcs.kernels.top_down import all_rows_of, log_total
from latentgram.cli.main import app
from latentgram.data.brackets import parse_forest
from latentgram.errors import SettingError
from latentgram.kinds.kind import kinds, named, recipe_of
from latentgram.kinds.protocols import Distribution
from latentgram.kinds.settings import defaults_of
from latentgram.latent_tree.model import LatentTree
from latentgram.lpcfg.mass import tree_mass as tree_mass_of_phrases
from latentgram.sequences.mass import ngram_mass, string_mass, tagged_mass
from latentgram.shag.categories import categories
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels.inside_outside import log_partition
from latentgram.shag.mass import kinds_of_words, tree_mass
from laws.cases import CASES, ODD_BANKS, Case, fitted, odd
from oracles.projective import projective_trees

SUMMED = [case for case in CASES if kinds()[case.model].mass]


@cache
def with_few_words(case: Case) -> Distribution:
    """The model of a case, or one like it that tells few words apart, or knows unknown ones as a class."""
    if case.model == "HMM":
        return lg.fit(lg.HMM, case.data, by=dataclasses.replace(case.by, unknown="class"))
    if case.model not in ("LexicalSHAG", "ProductSHAG"):
        return fitted(case)
    lexical = lg.fit(lg.LexicalSHAG, case.data, by=lg.Counting(rare=60))
    return lexical if case.model == "LexicalSHAG" else fitted(Case("SHAG", case.learner)) * lexical**0.7


@pytest.mark.parametrize("case", SUMMED, ids=str)
def test_what_claims_to_be_a_distribution_sums_to_at_most_one(case: Case) -> None:
    """Sentences of up to 100 words. What does not claim it was learned from moments, or is a product."""
    model = with_few_words(case)
    assert isinstance(model, Distribution)
    assert model.is_distribution == (case.learner != "Spectral" and case.model != "ProductSHAG")
    mass = np.asarray(named(kinds()[case.model].mass)(model, 100))
    assert mass.shape == (100,)
    if model.is_distribution:
        assert (mass >= 0.0).all()
        assert 0.9 < mass.sum() <= 1 + 1e-9


@pytest.mark.parametrize("name", ODD_BANKS)
@pytest.mark.parametrize("case", [case for case in SUMMED if case.model != "ProductSHAG"], ids=str)
def test_odd_treebanks_sum_to_at_most_one(case: Case, name: str) -> None:
    model = odd(case, name)
    if model is not None and model.is_distribution:
        mass = np.asarray(named(kinds()[case.model].mass)(model, 100))
        assert (mass >= 0.0).all()
        assert mass.sum() <= 1 + 1e-9


@pytest.mark.parametrize("name", ODD_BANKS)
def test_odd_trees_with_hidden_states_sum_to_at_most_one(name: str) -> None:
    model = odd(Case("LatentTree", "EM"), name)
    for words in (1, 100):
        chain = lg.DependencyTree(("x",) * words, tuple(range(words)), upos=("never",) * words)
        assert 0.0 <= model.mass([chain])[0] <= 1 + 1e-9
        assert -np.inf < model.logprob(chain) <= 1e-9


def signed_weight(grammar: HeadGrammar, words: lg.Sentence, places: tuple[int, ...]) -> float:
    """The weight of all trees of these words."""
    columns = (column and tuple(column[i] for i in places) for column in (words.words, words.xpos, words.upos))
    weights, log_scale = grammar.weights(lg.Sentence(*columns))
    log_size, sign = log_partition(weights)
    return float(sign * np.exp(log_size + log_scale))


@pytest.mark.parametrize("case", [case for case in CASES if case.model in ("LexicalSHAG", "ProductSHAG")], ids=str)
def test_the_sum_over_trees_of_words_is_that_of_all_sentences(case: Case) -> None:
    """Of all sentences of one and of two words, one by one."""
    few = case.data[:5]
    grammar = lexical = lg.fit(lg.LexicalSHAG, few, by=lg.Counting(rare=6))
    if case.model == "ProductSHAG":
        grammar = lg.fit(lg.SHAG, few, by=Case("SHAG", case.learner).by) * lexical**0.7
    words = kinds_of_words(grammar)
    assert len(words) > 10

    expected = [
        sum(signed_weight(grammar, words, places) for places in itertools.product(range(len(words)), repeat=count))
        for count in (1, 2)
    ]
    np.testing.assert_allclose(tree_mass(grammar, 2), expected, rtol=1e-9)


def tree(tags: str, *heads: int, fine: bool = False) -> lg.DependencyTree:
    """A tree of words that are called like their tags."""
    names = tuple(tags.split())
    return lg.DependencyTree(names, heads, xpos=names, upos=("_",) * len(names) if fine else names)


COARSE = [
    tree("NOUN VERB PUNCT", 2, 0, 2),
    tree("VERB NOUN CCONJ NOUN PUNCT", 0, 1, 2, 2, 1),
    tree("NOUN VERB VERB NOUN", 2, 0, 2, 3),
    tree("NOUN CCONJ NOUN VERB VERB PUNCT PUNCT", 4, 1, 1, 0, 4, 4, 4),
]
FINE = [tree("NN VB ,", 2, 0, 2, fine=True), tree("VB NN CC VB , ,", 0, 1, 1, 1, 4, 1, fine=True)]


@pytest.mark.parametrize("trees", [COARSE, FINE], ids=["UPOS", "XPOS"])
@pytest.mark.parametrize("between", [True, False])
def test_the_sum_over_trees_with_distances_is_that_of_all_sentences(
    trees: list[lg.DependencyTree], between: bool
) -> None:
    """Of all sentences of up to five words of four kinds, among them what is counted between words."""
    bank = lg.Treebank.of(trees)
    hidden = lg.fit(lg.SHAG, bank, by=lg.Spectral(states=3))
    lexical = lg.fit(lg.LexicalSHAG, bank, by=lg.Counting(memory="kind", rare=10))
    distance = lg.fit(lg.ArcDistance, bank, by=lg.Counting(between=between))
    product = hidden * lexical**0.7 * distance**0.5
    words, longest = kinds_of_words(product), 5
    assert len(words) == 4
    assert set(categories(words)) == {0, 1, 2, 3}
    expected = [
        sum(signed_weight(product, words, places) for places in itertools.product(range(4), repeat=count))
        for count in range(1, longest + 1)
    ]
    np.testing.assert_allclose(tree_mass(product, longest), expected, rtol=1e-9)
    assert not product.is_distribution
    assert np.isfinite(tree_mass(product, 100)).all()


def test_products_with_too_many_words_say_that_they_have_no_sum() -> None:
    with pytest.raises(SettingError, match="use a grammar of fewer words"):
        tree_mass(fitted(Case("ProductSHAG", "EM")), 100)


@pytest.mark.parametrize("name", ["", *ODD_BANKS])
def test_trees_that_grow_from_their_root_sum_to_at_most_one(name: str) -> None:
    """By induction over choices, which need that what a choice sees is decided by those before it.

    All trees of up to four words (of odd treebanks three) of three kinds are grown, choice by choice. The same
    choices show the same history, whatever comes later; its outcomes sum to one; what is finished has the
    probability that the model gives it, and sums to one with all that is not finished.
    """
    case = Case("TopDown", "Gradient")
    model = odd(case, name) if name else fitted(case)
    assert model.is_distribution
    symbols = [symbol.split("|") for symbol in model.outcomes.alphabet]
    forms = [*[*model.words][:1], "never-seen"]
    share = {(len(symbols) - 1, "never-seen"): 1.0} | {(0, form): 1.0 / len(forms) for form in forms}
    seen: dict[tuple[tuple[int, str], ...], bytes] = {}
    finished: dict[tuple[tuple[int, str], ...], float] = {}
    for count in range(1, 4 if name else 5):
        trees = np.array([*projective_trees(count)]) + 1
        for words in itertools.product(share, repeat=count):
            coarse, fine = zip(*(symbols[symbol] for symbol, _ in words), strict=True)
            sentence = lg.Sentence(tuple(form for _, form in words), xpos=fine, upos=coarse)
            logs = model.logprobs_of_heads(sentence, trees).sum(1)
            for heads, log in zip(trees, logs, strict=True):
                histories, _ = model.events(
                    lg.DependencyTree(sentence.words, tuple(heads), upos=coarse, xpos=fine)
                )
                choices: tuple[tuple[int, str], ...] = ()
                for event, word in growth(heads.tolist()):
                    assert seen.setdefault(choices, histories[event].tobytes()) == histories[event].tobytes()
                    choices += ((-1, ""),) if word == 0 else (words[word - 1],)
                finished[choices] = float(log)
    weight, total, weights = {(): 1.0}, 0.0, model.weight.astype(np.float32)
    for choices in sorted(seen, key=len):
        shares = next_choices(model.key, weights, np.frombuffer(bytearray(seen[choices]), np.int64))
        assert shares.sum() == pytest.approx(1.0, abs=1e-12)
        for (symbol, form), part in share.items():
            weight[(*choices, (symbol, form))] = weight[choices] * shares[symbol] * part
        weight[(*choices, (-1, ""))] = weight[choices] * shares[-1]
        told = shares[[symbol for symbol, _ in share]] @ [*share.values()] + shares[-1]
        total += weight.pop(choices) * (1.0 - told)
    for choices, log in finished.items():
        forms_share = np.prod([share[choice] for choice in choices if choice in share])
        assert weight[choices] == pytest.approx(np.exp(log) * forms_share, rel=1e-5)
    mass = sum(weight[choices] for choices in finished)
    assert 0.0 < mass <= 1 + 1e-9
    assert sum(weight.values()) + total == pytest.approx(1.0, abs=1e-9)


def growth(heads: list[int]) -> list[tuple[int, int]]:
    """The events of a tree as it grows: their numbers by heads and sides, and the words made, 0 for an end."""
    order, number = [], {}
    for head in range(len(heads) + 1):
        below = [word for word, above in enumerate(heads, 1) if above == head]
        left, right = [word for word in below[::-1] if word < head], [word for word in below if word > head]
        for side in [right] if head == 0 else [left, right]:
            number[head, side is right] = [(len(order) + place, word) for place, word in enumerate([*side, 0])]
            order += number[head, side is right]

    def grown(head: int) -> Iterator[tuple[int, int]]:
        for right in (True,) if head == 0 else (False, True):
            for event, word in number[head, right]:
                yield event, word
                if word:
                    yield from grown(word)

    return [*grown(0)]


def next_choices(
    known: NDArray[np.uint64], weights: NDArray[np.float32], history: NDArray[np.int64]
) -> NDArray[np.float64]:
    """[outcomes + 1] the probabilities of the next choice."""
    keys = all_feature_keys(history[None], TEMPLATE_ATOMS)
    scores = np.zeros(weights.shape[1], np.float32)
    total = log_total(all_rows_of(keys, known)[0], weights, scores)
    return np.exp(scores.astype(np.float64) - total)


@pytest.mark.parametrize("learner", ["Counting", "Spectral", "EM", "Clustering"])
def test_the_sum_over_trees_of_heads_is_that_of_all_sentences(learner: str) -> None:
    """Of all sentences of one, two and three words of five symbols, one by one."""
    shag = fitted(Case("SHAG", learner))
    names = [symbol.split("|") for symbol in shag.symbols.alphabet][:5]
    weight = shag.pair_weight.copy()
    weight[:, :, 5:] = 0.0
    few = dataclasses.replace(shag, root=shag.root * (np.arange(len(shag.root)) < 5), pair_weight=weight)

    def probability(symbols: tuple[list[str], ...]) -> float:
        coarse, fine = zip(*symbols, strict=True)
        return float(np.exp(few.logprob(lg.Sentence(("x",) * len(symbols), xpos=fine, upos=coarse))))

    expected = [sum(map(probability, itertools.product(names, repeat=words))) for words in (1, 2, 3)]
    np.testing.assert_allclose(tree_mass(few, 3), expected, rtol=1e-9)


def test_trees_of_deterministic_automata_sum_to_at_most_one() -> None:
    """Those made of a grammar that claims nothing: by its own prefixes, and by those of trees."""
    shag = fitted(Case("SHAG", "Spectral"))
    for trees in (None, Case("SHAG", "Spectral").data[:20]):
        deterministic = shag.determinise(6, trees=trees)
        assert deterministic.is_distribution
        assert 0.9 < tree_mass(deterministic, 100).sum() <= 1 + 1e-9


@pytest.mark.parametrize("unknown", ["class", "rarest"])
@pytest.mark.parametrize("learner", ["EM", "Variational", "Counting"])
def test_words_of_a_hidden_markov_model_sum_to_one(learner: str, unknown: str) -> None:
    """All strings of known words together; and all that may come next, the end among it.

    Unknown words are among it, too, where they are a class of their own. Where each of them has the weight of a
    rare word, the model claims nothing of them.
    """
    case = Case("HMM", learner)
    hmm = lg.fit(lg.HMM, case.data, by=dataclasses.replace(case.by, unknown=unknown))
    assert hmm.is_distribution == (unknown == "class")
    assert string_mass(hmm.automaton(), 100).sum() <= 1 + 1e-9
    for prefix in ((), ("the",), ("never-seen", "the")):
        following = hmm.next_words(prefix)
        known = sum(share for word, share in following.items() if word != "<unk>")
        assert known + following["<unk>"] * hmm.is_distribution == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    "by",
    [
        *(lg.Counting(smoothing="none", reading=reading) for reading in ("exclusive", "epsilon", "failure")),
        lg.Counting(smoothing="witten-bell"),
        lg.Counting(smoothing="kneser-ney"),
    ],
    ids=str,
)
def test_the_sum_over_sentences_of_an_ngram_model_is_that_of_all_of_them(by: lg.Counting, order: int) -> None:
    """Of all sentences of up to three words, one by one."""
    text = lg.Text.of(["a b", "a c a", "b a b", "c", "a b b", "c a", "a b a c"])
    model = lg.fit(lg.BackoffNGram, lg.NGramCounts.of(text, order=order), by=by)
    assert model.is_distribution
    words = [word for word in model.words if word != "</s>"]
    expected = [
        sum(np.exp(model.logprob(string)) for string in itertools.product(words, repeat=count))
        for count in (1, 2, 3)
    ]
    np.testing.assert_allclose(ngram_mass(model, 3), expected, rtol=1e-9)
    assert 0.7 < ngram_mass(model, 100).sum() <= 1 + 1e-9
    louder = dataclasses.replace(model, arc_prob=model.arc_prob * 1.01)
    assert not louder.is_distribution


@pytest.mark.parametrize("unknown", ["class", "rarest"])
@pytest.mark.parametrize("order", [2, 3])
def test_the_sum_over_sentences_of_a_hidden_markov_model_is_that_of_all_of_them(order: int, unknown: str) -> None:
    """Of all sentences of up to three words, one of them never seen, one by one."""
    tagged = [[("a", "A"), ("b", "B")], [("a", "A"), ("a", "B"), ("c", "C")], [("b", "A")]]
    hmm = lg.fit(lg.HMM, tagged, by=lg.Counting(unknown=unknown, order=order))
    expected = [
        sum(
            np.exp(hmm.logprob(string))
            for string in itertools.product(("a", "b", "c", "never-seen"), repeat=count)
        )
        for count in (1, 2, 3)
    ]
    np.testing.assert_allclose(tagged_mass(hmm, 3), expected, rtol=1e-9)
    assert (tagged_mass(hmm, 100).sum() <= 1 + 1e-9) == hmm.is_distribution == (unknown == "class")


def test_words_of_an_ngram_model_sum_to_one_after_any_history() -> None:
    case = Case("BackoffNGram", "Counting")
    smooth = lg.fit(lg.BackoffNGram, case.data, by=lg.Counting(smoothing="witten-bell"))
    words = [word for word in smooth.words if word != "</s>"]
    for history in (["<s>"], ["the"], ["<s>", words[5]], words[7:9], ["never-seen", "words"]):
        following = np.exp(smooth.query([[*history, word] for word in (*words, "</s>")]))
        assert following.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("valency", [0, 3])
@pytest.mark.parametrize("learner", ["EM", "Spectral"])
def test_words_of_a_latent_tree_sum_to_one_given_the_tree(learner: str, valency: int) -> None:
    """By recursion, of trees of up to 100 words; and of all pairs of symbols in a tree of two words."""
    case = Case("LatentTree", learner)
    model = lg.fit(LatentTree, case.data, by=dataclasses.replace(case.by, valency=valency))
    assert model.is_distribution == (learner == "EM")
    names = [symbol.split("|") for symbol in model.symbols.words.alphabet]
    logs = []
    for pair in itertools.product(names, repeat=2):
        coarse, fine = zip(*pair, strict=True)
        logs.append(model.logprobs_of_heads(lg.Sentence(("x", "y"), xpos=fine, upos=coarse), np.array([[2, 0]])))
    random = np.random.default_rng(0)
    shapes = [[2, 0], [0, *range(1, 100)], [0, *(random.integers(0, word) + 1 for word in range(1, 100))]]
    words = [lg.DependencyTree(("x",) * len(heads), tuple(map(int, heads))) for heads in shapes]
    mass = model.mass(words)
    if learner == "EM":
        assert np.exp(logs).sum() == pytest.approx(mass[0], abs=1e-9)
        assert (mass <= 1 + 1e-9).all()
        assert valency or mass == pytest.approx(np.ones(len(mass)), abs=1e-9)
    else:
        # Floors and ceilings keep estimates that are not probabilities out of the sum over pairs.
        assert mass[0] <= np.exp(logs).sum() < 1.5
        assert np.isfinite(mass).all()


@pytest.mark.parametrize("case", [case for case in CASES if case.learner in ("EM", "Variational")], ids=str)
def test_the_bound_rises_from_round_to_round(case: Case) -> None:
    known = defaults_of(recipe_of(case.model, case.learner).settings_class())
    asked = {"iterations": 6, "states": 2, "backoff": 0.0, "pull": 0.0}
    learner = dataclasses.replace(case.by, **{name: value for name, value in asked.items() if name in known})
    trace = lg.fit(type(fitted(case)), case.data, by=learner).provenance.trace
    bounds = [step["bound"] for step in trace if "bound" in step]
    assert len(bounds) >= 5
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()
    assert bounds[-1] > bounds[0]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (Case("LPCFG", "Spectral"), "not a distribution: all sentences of up to 40 words together have"),
        (Case("LPCFG", "Clustering"), "a distribution over trees with their words"),
        (Case("LexicalSHAG", "Counting"), "a distribution over dependency trees with their tags and words"),
        (Case("ProductSHAG", "EM"), "not a distribution: the cost of a sum over trees is quadratic"),
        (Case("TopDown", "Gradient"), "a distribution over dependency trees with their symbols"),
        (Case("HMM", "EM"), "not a distribution: all sentences of up to 40 words together have"),
        (Case("BackoffNGram", "Counting"), "a distribution over sentences"),
        (Case("LatentTree", "EM"), "a distribution over the symbols of a dependency tree given its arcs"),
        (Case("LatentTree", "Spectral"), "not a distribution: the symbols of a chain of 40 words together have"),
        (Case("Tagger", "Gradient"), "a distribution over the tags of a sentence given its words"),
    ],
    ids=str,
)
def test_info_tells_what_probabilities_are_of(case: Case, said: str, tmp_path: Path) -> None:
    lg.save(fitted(case), tmp_path / "model.lg")
    lines = CliRunner().invoke(app, ["info", str(tmp_path / "model.lg")]).output.splitlines()
    [told] = [line for line in lines if line.startswith(("a distribution", "not a distribution"))]
    assert told.startswith(said)


def test_words_never_seen_are_in_the_sum_of_a_printed_lexicon() -> None:
    """All sentences of one word, one by one; without rare words no symbol stands for those never seen."""
    bank = lg.Treebank.of(parse_forest("(S (A x)) (S (A x)) (S (A y)) (S (A x) (B y))"))
    grammar = lg.fit(lg.LPCFG, bank, by=lg.Spectral(states=1, lexicon="printed", rare=0))
    parses = [lg.Parser(grammar).exact.parse([(word, "A")]) for word in ("x", "y", "never-seen")]
    parses.append(lg.Parser(grammar).exact.parse([("never-seen", "B")]))
    possible = [np.exp(parse.logprob) for parse in parses if not parse.fallback]
    assert tree_mass_of_phrases(grammar, 1)[0] == pytest.approx(sum(possible), rel=1e-9)


def test_an_ensemble_sums_to_the_mean_of_its_grammars() -> None:
    signed, distribution = (fitted(Case("LPCFG", learner)) for learner in ("Spectral", "Counting"))
    assert not lg.Ensemble((signed, signed)).is_distribution
    assert lg.Ensemble((distribution,)).is_distribution
    case = Case("Ensemble", "Combining")
    ensemble = fitted(case)
    mass = tree_mass_of_phrases(ensemble, 100)
    assert mass == pytest.approx(np.mean([tree_mass_of_phrases(each, 100) for each in ensemble.grammars], axis=0))
    assert 0.9 < mass.sum() <= 1 + 1e-9


def test_the_guide_tells_of_every_kind_what_its_probabilities_are_of() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "probabilities.md").read_text("utf-8")
    for kind in kinds().values():
        if kind.name != "NGramTagger":  # it keeps the best tags, and no probabilities
            assert bool(kind.over) == bool(kind.parser or kind.tagger or kind.scores or kind.family.endswith("ud"))
        assert not kind.over or f"`{kind.name}`" in page
