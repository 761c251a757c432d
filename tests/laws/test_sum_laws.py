"""All that a model can say has a probability of at most one together, by exact recursion; bounds rise in EM."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import latentgram as lg
from latentgram.cli.main import app
from latentgram.kinds.kind import named
from latentgram.kinds.protocols import Distribution
from latentgram.kinds.registry import kinds, recipe_of
from latentgram.kinds.settings import defaults_of
from latentgram.latent_tree.model import LatentTree
from latentgram.sequences.mass import string_mass
from latentgram.shag.mass import tree_mass
from laws.cases import CASES, Case, fitted

SUMMED = [case for case in CASES if kinds()[case.model].mass]


@pytest.mark.parametrize("case", SUMMED, ids=str)
def test_what_claims_to_be_a_distribution_sums_to_at_most_one(case: Case) -> None:
    """Sentences of up to 100 words. What does not claim it was learned from moments."""
    model = fitted(case)
    assert isinstance(model, Distribution)
    assert model.is_distribution == (case.learner != "Spectral")
    mass = np.asarray(named(kinds()[case.model].mass)(model, 100))
    assert mass.shape == (100,)
    if model.is_distribution:
        assert (mass >= 0.0).all()
        assert 0.9 < mass.sum() <= 1 + 1e-9


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


def test_words_of_an_ngram_model_sum_to_one_after_any_history() -> None:
    """Of one with exact failure arcs word by word; of one that was read as exclusive by all sentences together."""
    case = Case("BackoffNGram", "Counting")
    smooth = lg.fit(lg.BackoffNGram, case.data, by=lg.Counting(smoothing="witten-bell"))
    words = [word for word in smooth.words if word != "</s>"]
    for history in (["<s>"], ["the"], ["<s>", words[5]], words[7:9], ["never-seen", "words"]):
        following = np.exp(smooth.query([[*history, word] for word in (*words, "</s>")]))
        assert following.sum() == pytest.approx(1.0, abs=1e-9)
    model = fitted(case)
    assert model.reading == "exclusive"
    ends, total = model.arc_word == model.words.index("</s>"), 0.0
    state = np.eye(model.states)[model.initial]
    for _ in range(100):
        visited, left = state.copy(), state
        while left.any():
            left = np.bincount(model.backoff[1:], (left * model.failure)[1:], minlength=model.states)
            visited += left
        taken = visited[model.source] * model.arc_prob
        total += taken[ends].sum()
        state = np.bincount(model.arc_target[~ends], taken[~ends], minlength=model.states)
    assert 0.9 < total <= 1 + 1e-9


@pytest.mark.parametrize("learner", ["EM", "Spectral"])
def test_words_of_a_latent_tree_sum_to_one_given_the_tree(learner: str) -> None:
    """Of all pairs of symbols in a tree of two words; a spectral one comes near to it."""
    model = fitted(Case("LatentTree", learner))
    assert isinstance(model, LatentTree)
    names = [symbol.split("|") for symbol in model.symbols.words.alphabet]
    total = 0.0
    for pair in itertools.product(names, repeat=2):
        coarse, fine = zip(*pair, strict=True)
        sentence = lg.Sentence(("x", "y"), xpos=fine, upos=coarse)
        total += np.exp(model.logprobs_of_heads(sentence, np.array([[2, 0]]))[0].sum())
    assert total <= (1 + 1e-9 if learner == "EM" else 1.5)


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


@pytest.mark.parametrize("learner", ["Spectral", "Clustering"])
def test_info_tells_what_is_not_a_distribution(learner: str, tmp_path: Path) -> None:
    grammar = fitted(Case("LPCFG", learner))
    lg.save(grammar, tmp_path / "model.lg")
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "model.lg")]).output
    assert ("not a distribution: all sentences of up to 40 words" in shown) == (learner == "Spectral")
