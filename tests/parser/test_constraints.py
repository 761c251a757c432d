"""Parsing under constraints, against the trees that obey among all trees of small sentences."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.brackets import parse_forest
from latentgram.decode.prune import Pruning
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.parser.cascade import Cascade
from latentgram.parser.latent import LatentBackend
from latentgram.parser.one_state import OneState
from oracles.projective import projective_trees

SENTENCE = "a a and a a"
PARTS = {"N": "(N (n a) (n a))", "M": "(M (n a) (c and))", "n": "(n a)", "c": "(c and)", "m": "(m a)"}
PAIRS = ["Nn", "nN", "cM", "nM", "NM", "Mn", "cn", "nc", "Nc", "mc", "mn", "cN", "Mm"]
BANK = lg.Treebank.of(
    parse_forest(
        " ".join(
            f"(TOP ({'NM'[i % 2]} {PARTS[left]} {PARTS[right]}))" for i, (left, right) in enumerate(PAIRS * 2)
        )
        + """(TOP (N (N (n a)) (M (c and) (M (n a))))) (TOP (M (n a) (c and) (n a))) (TOP (M (N (n a) (c and))))
             (TOP (M (N (n a) (n a)) (c and) (N (n a))))"""
    )
)
KNOWN: list[dict[str, Any]] = [
    {"spans": [(1, 3)]},
    {"spans": [(0, 2, "N"), (3, 5)]},
    {"spans": [(0, 5, "TOP"), (0, 5, "M")]},
    {"spans": [(2, 4, "M")], "forbidden_spans": [(1, 4)]},
    {"forbidden_spans": [(0, 3), (1, 3), (3, 5, "M")]},
    {"spans": [(0, 1, "N")]},
    {"spans": [(3, 4, "M")], "tags": {0: "m"}},
    {"forbidden_spans": [(0, 1, "N"), (3, 4, "M")]},
    {"tags": {1: "m", 2: "c"}, "forbidden_tags": [(3, "m"), (4, "n")]},
]


def plain() -> lg.Parser:
    """A PCFG that leaves nothing out, however improbable."""
    parser = lg.Parser(lg.fit(lg.LPCFG, BANK, by=lg.Counting(rare=0)))
    parser.backend.cascade = parser.backend.exact = OneState(parser.model, threshold=0.0)
    return parser


@pytest.fixture(scope="module")
def every() -> list[lg.Parse]:
    parses = plain().nbest(SENTENCE, 20000)
    assert len(parses) < 20000
    return parses


@pytest.mark.parametrize("parts", KNOWN, ids=str)
def test_plain_grammar(every: list[lg.Parse], parts: dict[str, Any]) -> None:
    known, parser = lg.Constraints.of(**parts), plain()
    obeying = [parse for parse in every if known.obeyed_by(parse.tree)]
    assert 0 < len(obeying) < len(every)
    total = np.logaddexp.reduce([parse.tree_logprob for parse in obeying])
    found = parser.nbest(SENTENCE, 20000, **parts)
    assert found[0].logprob == pytest.approx(total, abs=1e-9)
    assert {str(parse.tree) for parse in found} == {str(parse.tree) for parse in obeying}
    np.testing.assert_allclose(
        [parse.tree_logprob for parse in found], [parse.tree_logprob for parse in obeying], atol=1e-9
    )
    best = parser.parse(SENTENCE, known)
    share = np.exp([parse.tree_logprob - total for parse in obeying])
    for span, said in zip(best.tree.spans(), best.confidence, strict=True):
        assert said == pytest.approx(share @ [span in parse.tree.spans() for parse in obeying], abs=1e-9)
    draws = parser.sample(SENTENCE, 20, seed=1, known=known)
    for decoder in (None, lg.Viterbi(), lg.MaxRule(), lg.Brackets()):
        draws.append(lg.Parser(parser.model, decoder).parse(SENTENCE, known))
    assert all(known.obeyed_by(parse.tree) for parse in [best, *draws])


@pytest.mark.parametrize("parts", KNOWN, ids=str)
def test_latent_grammar(every: list[lg.Parse], parts: dict[str, Any]) -> None:
    known = lg.Constraints.of(**parts)
    model = lg.fit(lg.LPCFG, BANK, by=lg.EM(states=2, iterations=1, rare=0))
    backend = LatentBackend(model)
    backend.cascade = Cascade((model,), Pruning(precision="float64").none(), unseen=False)
    scores = [backend.score(parse.tree).tree_logprob for parse in every if known.obeyed_by(parse.tree)]
    [found] = backend.parse([lg.Sentence.of(SENTENCE)], [known])
    assert found.logprob == pytest.approx(np.logaddexp.reduce(scores), abs=1e-9)
    assert known.obeyed_by(found.tree)
    assert known.obeyed_by(lg.Parser(model).parse(SENTENCE, known).tree)


def test_draws_of_a_latent_grammar(every: list[lg.Parse]) -> None:
    """Trees come with their posterior, hidden states summed out (chi-square)."""
    model = lg.fit(lg.LPCFG, BANK, by=lg.EM(states=2, iterations=3, rare=0))
    backend = LatentBackend(model)
    backend.cascade = Cascade((model,), Pruning(precision="float64").none(), unseen=False)
    scored = [backend.score(parse.tree) for parse in every]
    total = np.logaddexp.reduce([parse.tree_logprob for parse in scored])
    draws = 3000
    drawn = backend.sample(lg.Sentence.of(SENTENCE), draws, 5)
    seen = Counter(str(parse.tree) for parse in drawn)
    expected = np.array([draws * np.exp(parse.tree_logprob - total) for parse in scored])
    observed = np.array([seen[str(parse.tree)] for parse in scored])
    assert observed.sum() == draws
    likely = expected > 5
    statistic = ((observed - expected) ** 2 / np.maximum(expected, 1e-12))[likely].sum()
    assert likely.sum() > 10
    assert statistic < likely.sum() + 4 * np.sqrt(2 * likely.sum())
    assert drawn[0].probability == pytest.approx(np.exp(drawn[0].tree_logprob - total))


ARCS: list[dict[str, Any]] = [
    {"heads": {1: 2}},
    {"heads": {3: 0}, "forbidden_heads": [(1, 3), (4, 3)]},
    {"forbidden_heads": [(1, 0), (2, 0), (3, 0)]},
    {"spans": [(0, 2)]},
    {"spans": [(1, 4), (2, 4)], "heads": {5: 2}},
    {"spans": [(0, 3), (3, 5)], "forbidden_heads": [(2, 1)]},
]


@pytest.fixture(scope="module")
def dependencies() -> lg.Treebank:
    return lg.demo_dependencies(60, seed=3)


@pytest.mark.parametrize("parts", ARCS, ids=str)
@pytest.mark.parametrize("kind", ["SHAG", "ArcFactored"])
def test_arcs(dependencies: lg.Treebank, kind: str, parts: dict[str, Any]) -> None:
    known = lg.Constraints.of(**parts)
    parser = lg.Parser(_fitted(kind, dependencies))
    sentence = next(tree for tree in dependencies if len(tree) >= 5).sentence
    sentence = lg.Sentence(
        sentence.words[:5], sentence.xpos and sentence.xpos[:5], sentence.upos and sentence.upos[:5]
    )
    shape = parser.parse(sentence).tree
    trees = [shape.replace(heads=tuple(head + 1 for head in heads)) for heads in projective_trees(5)]
    scored = [parser.score(tree) for tree in trees if known.obeyed_by(tree)]
    assert 0 < len(scored) < len(trees)
    weights = np.array([parse.tree_logprob for parse in scored])
    total = np.logaddexp.reduce(weights)
    found = parser.nbest(sentence, 500, known)
    assert len(found) == len(scored)
    np.testing.assert_allclose(
        sorted(parse.probability for parse in found), sorted(np.exp(weights - total)), atol=1e-8
    )
    if kind == "SHAG":
        assert found[0].logprob == pytest.approx(total)
    best = parser.parse(sentence, known)
    entropy = -(np.exp(weights - total) * (weights - total)).sum()
    assert best.entropy >= entropy - 1e-8
    if kind == "ArcFactored" and not known.spans:
        assert best.entropy == pytest.approx(entropy, abs=1e-8)
    arcs = [[parse.tree.heads[word] == head for parse in scored] for word, head in enumerate(best.tree.heads)]
    np.testing.assert_allclose(best.confidence, np.array(arcs) @ np.exp(weights - total), atol=1e-8)
    assert all(known.obeyed_by(parse.tree) for parse in [best, *found, *parser.sample(sentence, 20, 1, known)])


def _fitted(kind: str, bank: lg.Treebank) -> Any:
    by = lg.EM(states=2, iterations=1) if kind == "SHAG" else lg.MIRA(order=1, passes=1, bits=14, folds=1)
    if kind not in _MODELS:
        _MODELS[kind] = lg.fit(getattr(lg, kind), bank, by=by)
    return _MODELS[kind]


_MODELS: dict[str, Any] = {}


def test_tags_are_kept_where_there_is_no_parse() -> None:
    """A sentence without a parse gets a fallback tree, and that obeys what is known of the tags."""
    trees = parse_forest("(TOP (S (A a) (B b))) (TOP (S (A a) (S (A a) (B b)))) (TOP (S (C b) (B b)))")
    parser = lg.Parser(lg.fit(lg.LPCFG, lg.Treebank.of(trees), by=lg.Counting(rare=0)))
    found = parser.parse("b a b a", tags={0: "C", 3: "A"})
    assert found.fallback
    assert found.tree.tags[0] == "C"
    assert found.tree.tags[3] == "A"


def test_what_cannot_be_obeyed_is_said(dependencies: lg.Treebank) -> None:
    parser = plain()
    with pytest.raises(NoParse, match=r"no tree of this grammar obeys: spans \(0, 2, VP\)"):
        parser.parse(SENTENCE, spans=[(0, 2, "VP")])
    with pytest.raises(NoParse, match="nothing that may stand over 'a'"):
        parser.parse(SENTENCE, tags={0: "c"}, forbidden_tags=[(1, "n"), (1, "m"), (1, "c")])
    with pytest.raises(NoParse, match="TOP over the whole"):
        parser.parse(SENTENCE, forbidden_spans=[(0, 5, "TOP")])
    with pytest.raises(DataError, match="ends after"):
        parser.parse(SENTENCE, spans=[(0, 9)])
    with pytest.raises(SettingError, match="no constraint 'span'"):
        parser.parse(SENTENCE, span=[(0, 2)])
    with pytest.raises(SettingError, match="not both"):
        parser.parse(SENTENCE, lg.Constraints(), spans=[(0, 2)])
    arcs = lg.Parser(_fitted("SHAG", dependencies))
    sentence = dependencies[0].sentence
    with pytest.raises(SettingError, match="label NP"):
        arcs.parse(sentence, spans=[(0, 2, "NP")])
    with pytest.raises(NoParse, match="no projective tree obeys"):
        arcs.parse(sentence, forbidden_heads=[(1, head) for head in range(len(sentence) + 1) if head != 1])
