"""Laws of every parser, whoever learned it: of its lists, posteriors and probabilities, on odd sentences, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import latentgram as lg
from fuzz.odd_data import BANKS
from latentgram.data.brackets import parse_forest
from latentgram.kinds.kind import kinds
from laws.cases import CASES, ODD_BANKS, Case, fitted, odd

PARSED = [case for case in CASES if kinds()[case.model].parser]
FIRST = [case for case in PARSED if case.learner in (next(iter(kinds()[case.model].recipes)), "Spectral")]
"""A learner of each kind, and those whose numbers are signed."""
ASKED = 3000
"""More trees than short sentences have."""


def exact(model: Any) -> lg.Parser:
    """The parser that prunes nothing."""
    prunes = kinds()[type(model).__name__].prunes
    return lg.Parser(model, pruning=lg.Pruning.none() if prunes else None)


def test_what_never_was_a_root_is_in_no_list() -> None:
    trees = """(TOP (N (N (A a) (S (A e) (A f))))) (TOP (N (N (S (S (A f)))) (A f) (A d))) (TOP (A f))
        (TOP (N (A f) (A a) (S (S (N (A b)))))) (TOP (N (N (A a) (A b)))) (TOP (N (A c) (S (N (A b) (A f)))))
        (TOP (S (S (N (A e) (S (A c) (A b)))))) (TOP (S (N (A a)) (N (A b) (A e))))"""
    model = lg.fit(lg.LPCFG, lg.Treebank.of(parse_forest(trees)), by=lg.Clustering(states=2))
    for parser in (lg.Parser(model), exact(model)):
        assert [str(parse.tree) for parse in parser.nbest(["a"], 10)] == ["(TOP (A a))"]


def sentence(words: tuple[str, ...], like: lg.Sentence, tag: str | None = None) -> lg.Sentence:
    """These words with some tag, or with the first tag of a sentence."""
    fine, coarse = (None if tags is None else (tag or tags[0],) * len(words) for tags in (like.xpos, like.upos))
    return lg.Sentence(words, fine, coarse)


def odd_sentences(case: Case) -> list[lg.Sentence]:
    """A short one of the training data, one word, unknown words, tags never seen, no tags."""
    first, second, *_ = sorted(case.data.sentences(), key=len)
    odd = [first, second, sentence(first.words[:1], first), sentence(("qwertz", "Zzz", "12"), first)]
    odd.append(sentence(("qwertz", "Zzz"), first, "never"))
    if not kinds()[case.model].needs_tags:
        odd.append(lg.Sentence(("qwertz", "Zzz", "12")))
    return odd


@pytest.mark.parametrize("case", PARSED, ids=str)
def test_lists_sum_to_at_most_the_sentence(case: Case) -> None:
    """And to just that where all trees are listed; a reranker's list is short."""
    parser = exact(fitted(case))
    for asked in odd_sentences(case):
        lists_keep_the_laws(parser, asked)


@pytest.mark.parametrize("case", PARSED, ids=str)
def test_lists_have_no_impossible_trees(case: Case) -> None:
    """Which may be put together of parts that are possible."""
    parser, drawn = exact(fitted(case)), np.random.default_rng(2)
    known = [sentence for sentence in case.data.sentences() if len(sentence) >= 3][:12]
    for _ in range(8):
        places = drawn.integers(len(known), size=3)
        words, fine, coarse = (
            tuple((getattr(known[place], name) or ("_",) * 3)[number] for number, place in enumerate(places))
            for name in ("words", "xpos", "upos")
        )
        like = known[0]
        lists_keep_the_laws(parser, lg.Sentence(words, like.xpos and fine, like.upos and coarse))


@pytest.mark.parametrize("name", ODD_BANKS)
@pytest.mark.parametrize("case", PARSED, ids=str)
def test_odd_treebanks_keep_the_laws(case: Case, name: str) -> None:
    """Those that a parser can be learned from: sentences of the treebank, unknown words, tags never seen."""
    model = odd(case, name)
    if model is None:
        return
    first = lg.parse_tree(BANKS[name][0]).sentence
    first = lg.Sentence(first.words[:4], *(2 * (first.tags[:4],)))
    for asked in (first, sentence(("qwertz",), first), sentence(("qwertz", "12", "a"), first, "never")):
        lists_keep_the_laws(exact(model), asked)


def lists_keep_the_laws(parser: lg.Parser, asked: lg.Sentence) -> None:
    """Posteriors are from 0 to 1, and the trees of a list sum to the sentence, or to less if some are missing."""
    parse = parser.parse(asked)
    whole = 0.0 if parse.conditional else parse.logprob
    assert parse.tree.words == asked.words
    assert np.min(parse.confidence) >= 0.0
    assert np.max(parse.confidence) <= 1.0
    assert not parse.entropy < 0.0
    assert np.isnan(parse.expected) or 0.0 <= parse.expected <= 1.0
    marginals = parser.marginals(asked)
    assert all(0.0 <= part[-1] <= 1.0 for part in (*marginals.spans, *marginals.tags, *marginals.arcs))
    trees = parser.nbest(asked, ASKED)
    weights = np.array([tree.tree_logprob for tree in trees])
    if whole == -np.inf:
        assert (weights == -np.inf).all()
        return
    assert not (weights == -np.inf).any()
    # Signed weights of trees may be negative, and have no logarithm.
    total = np.logaddexp.reduce(weights[~np.isnan(weights)])
    if not np.isnan(weights).any():
        assert parse.tree_logprob <= whole + 1e-9
        assert total <= whole + 1e-9
        if len(trees) < ASKED and not isinstance(parser.model, lg.Reranker):
            assert total == pytest.approx(whole, abs=1e-9)
            if getattr(parser.model, "is_distribution", True):
                posteriors_are_sums_over_trees(marginals, trees, np.exp(weights - whole))
    assert len({str(tree.tree) for tree in trees}) == len(trees)
    best = parser.score(trees[0].tree)
    assert 0.0 <= best.probability <= 1.0 or np.isnan(best.tree_logprob)
    if best.logprob == pytest.approx(whole, abs=1e-9):  # not where the tree has other tags than were given
        assert best.tree_logprob == pytest.approx(trees[0].tree_logprob, abs=1e-9, nan_ok=True)


def posteriors_are_sums_over_trees(
    marginals: lg.Marginals, trees: list[lg.Parse], shares: NDArray[np.float64]
) -> None:
    """The posterior of a span, tag or arc is what the trees that have it have together."""
    told = {(label, first, end): p for first, end, label, p in marginals.spans}
    told |= {(tag, word, word + 1): p for word, tag, p in marginals.tags}
    told |= {("", head, modifier): p for head, modifier, p in marginals.arcs}
    sums: dict[tuple[str, int, int], float] = {}
    for parse, share in zip(trees, shares, strict=True):
        if isinstance(parse.tree, lg.DependencyTree):
            parts = {("", head, word) for word, head in enumerate(parse.tree.heads, 1)}
        else:
            parts = set(parse.tree.spans())
        for part in parts:
            sums[part] = sums.get(part, 0.0) + share
    assert set(told) <= set(sums)
    assert told == pytest.approx({part: sums[part] for part in told}, abs=1e-8)


@pytest.mark.parametrize("case", FIRST, ids=str)
def test_five_hundred_words_are_parsed(case: Case) -> None:
    """With posteriors from 0 to 1, and a probability that can be told."""
    many = case.data.sentences()
    words, fine, coarse = (
        tuple(item for part in many for item in (getattr(part, name) or ()))[:500]
        for name in ("words", "xpos", "upos")
    )
    parse = lg.Parser(fitted(case)).parse(lg.Sentence(words, fine or None, coarse or None))
    assert len(parse.tree.words) == 500
    assert np.min(parse.confidence) >= 0.0
    assert np.max(parse.confidence) <= 1.0
    if not parse.conditional:
        assert parse.logprob < -500


PRUNED = [case for case in PARSED if kinds()[case.model].prunes]


@pytest.mark.parametrize("case", PRUNED, ids=str)
def test_a_tree_found_and_the_same_tree_given_have_one_probability(case: Case) -> None:
    """By the parser as it comes, pruning and closed cells and all; its posteriors and lists are the same, too."""
    parser = lg.Parser(fitted(case))
    for asked in list(case.data.sentences())[:12]:
        found = parser.parse(asked)
        given, [listed, *_] = parser.score(found.tree), parser.nbest(asked, 1)
        marginals = parser.marginals(asked)
        assert found.tree.sentence.tags == asked.tags
        assert given.logprob == listed.logprob == found.logprob
        assert given.tree_logprob == found.tree_logprob
        assert parser.score(listed.tree).tree_logprob == listed.tree_logprob
        assert given.confidence.tolist() == found.confidence.tolist()
        told = {(label, first, end): p for first, end, label, p in marginals.spans}
        spans = dict(zip(found.tree.spans(), found.confidence.tolist(), strict=True))
        assert all(told[span] == pytest.approx(p, abs=1e-12) for span, p in spans.items() if span in told)


@pytest.mark.parametrize("case", PRUNED, ids=str)
def test_pruning_gives_a_lower_bound(case: Case) -> None:
    """Of p(sentence), under one grammar of probabilities; in single precision."""
    model = fitted(case)
    pruned, whole = lg.Parser(model), exact(model)
    for asked in sorted(case.data.sentences(), key=len)[:4]:
        if case.learner != "Spectral":
            assert pruned.parse(asked).logprob <= whole.parse(asked).logprob + 1e-4
