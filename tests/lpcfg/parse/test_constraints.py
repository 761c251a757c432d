"""Parsing under constraints, against the trees that obey among all trees of small sentences."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.nbest import NBestList
from latentgram.data.brackets import parse_forest
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.lpcfg.parse.backend import PhraseBackend
from latentgram.lpcfg.parse.cascade import Cascade
from latentgram.lpcfg.parse.pruning import Pruning
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
    parser.backend.cascade = Cascade((parser.model,), Pruning.none())
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


LATENT = {
    "EM": lg.EM(states=2, iterations=1, rare=0),
    "Clustering": lg.Clustering(states=2, rare=0),
    "Spectral": lg.Spectral(states=2, rare=0, backoff=0, pull=0),
}


def _latent(name: str) -> lg.LPCFG:
    if name not in _MODELS:
        _MODELS[name] = lg.fit(lg.LPCFG, BANK, by=LATENT[name])
    return _MODELS[name]


def _exhaustive(model: lg.LPCFG | lg.Ensemble) -> PhraseBackend:
    backend = PhraseBackend(model)
    backend.cascade = Cascade(backend.cascade.finest, Pruning.none(), unseen=False)
    return backend


def _weights(model: lg.LPCFG, trees: list[lg.Tree]) -> list[float]:
    """The weights of trees, signed: spectral grammars have negative ones."""
    backend, found = _exhaustive(model), []
    (weights,) = backend.cascade.weights
    for tree in trees:
        leaves = backend.cascade.leaves.of(lg.Sentence(tree.words, tree.tags))
        [nodes] = weights.names.of_trees(lg.Forest.of([tree]), backend.grammar.binarisation)
        log, sign = weights.weight(leaves, *nodes)
        found.append(sign * np.exp(log))
    return found


@pytest.mark.parametrize("parts", KNOWN, ids=str)
@pytest.mark.parametrize("name", LATENT)
def test_latent_grammar(every: list[lg.Parse], parts: dict[str, Any], name: str) -> None:
    """|Z| under constraints is the sum of the weights of the trees that obey, negative ones too."""
    known, model = lg.Constraints.of(**parts), _latent(name)
    weights = np.array(_weights(model, [parse.tree for parse in every]))
    total = weights[[known.obeyed_by(parse.tree) for parse in every]].sum()
    [found] = _exhaustive(model).parse([lg.Sentence.of(SENTENCE)], [known])
    # A spectral grammar of low rank gives some trees nothing but rounding errors of the others.
    assert np.exp(found.logprob) == pytest.approx(abs(total), rel=1e-7, abs=1e-12 * np.abs(weights).sum())
    assert known.obeyed_by(found.tree)
    assert known.obeyed_by(lg.Parser(model).parse(SENTENCE, known).tree)


@pytest.mark.parametrize("parts", KNOWN, ids=str)
def test_ensemble(every: list[lg.Parse], parts: dict[str, Any]) -> None:
    """p of a sentence is the mean over the members, and each of them sums over the trees that obey."""
    known, members = lg.Constraints.of(**parts), (_latent("EM"), _latent("Clustering"))
    obeying = [parse.tree for parse in every if known.obeyed_by(parse.tree)]
    sums = [sum(_weights(member, obeying)) for member in members]
    [found] = _exhaustive(lg.Ensemble(members)).parse([lg.Sentence.of(SENTENCE)], [known])
    assert found.logprob == pytest.approx(np.log(np.mean(sums)), abs=1e-7)
    assert known.obeyed_by(found.tree)


def test_draws_of_a_latent_grammar(every: list[lg.Parse]) -> None:
    """Trees come with their posterior, hidden states summed out (chi-square)."""
    model = lg.fit(lg.LPCFG, BANK, by=lg.EM(states=2, iterations=3, rare=0))
    backend = PhraseBackend(model)
    backend.cascade = Cascade((model,), Pruning.none(), unseen=False)
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
    {"forbidden_spans": [(0, 2)]},
    {"forbidden_spans": [(1, 4)], "heads": {4: 5}},
    {"forbidden_spans": [(0, 3), (2, 5)], "spans": [(2, 4)]},
]


@pytest.fixture(scope="module")
def dependencies() -> lg.Treebank:
    return lg.demo_dependencies(60, seed=3)


@pytest.mark.parametrize("parts", ARCS, ids=str)
@pytest.mark.parametrize("kind", ["SHAG", "ArcFactored", "second order"])
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
    if kind == "ArcFactored":
        assert best.entropy == pytest.approx(entropy, abs=1e-8)
    arcs = [[parse.tree.heads[word] == head for parse in scored] for word, head in enumerate(best.tree.heads)]
    np.testing.assert_allclose(best.confidence, np.array(arcs) @ np.exp(weights - total), atol=1e-8)
    assert all(known.obeyed_by(parse.tree) for parse in [best, *found, *parser.sample(sentence, 20, 1, known)])


def _fitted(kind: str, bank: lg.Treebank) -> Any:
    if kind not in _MODELS and kind == "SHAG":
        _MODELS[kind] = lg.fit(lg.SHAG, bank, by=lg.EM(states=2, iterations=1))
    if kind not in _MODELS:
        order = 2 if kind == "second order" else 1
        # So small a floor prunes nothing: sums are over all trees.
        by = lg.MIRA(order=order, passes=1, bits=14, folds=1, floor=1e-300)
        _MODELS[kind] = lg.fit(lg.ArcFactored, bank, by=by)
    return _MODELS[kind]


_MODELS: dict[str, Any] = {}


@pytest.mark.parametrize("parts", ARCS, ids=str)
def test_a_reranker_ranks_the_trees_that_obey(dependencies: lg.Treebank, parts: dict[str, Any]) -> None:
    known = lg.Constraints.of(**parts)
    if "reranker" not in _MODELS:
        by = lg.MIRA(passes=1, order=1, count=200, folds=2, raters="templates")
        _MODELS["reranker"] = lg.fit(lg.Reranker, dependencies[:30], by=by)
    model = _MODELS["reranker"]
    sentence = lg.Sentence.of(list(zip("abcde", ("DT", "NN", "VBZ", "DT", "NN"), strict=True)))
    base = lg.Parser(model.base).nbest(sentence, 200)
    heads = [parse.tree.heads for parse in base if known.obeyed_by(parse.tree)]
    assert 0 < len(heads) < len(base) < 200
    scores = [model.base.tree_score(parse.tree) for parse in base if known.obeyed_by(parse.tree)]
    merits = model.scores(NBestList(sentence, np.array(heads), np.array(scores)))
    found = lg.Parser(model).nbest(sentence, 200, known)
    assert len(found) == len(heads)
    merit_of = dict(zip(heads, merits.tolist(), strict=True))
    assert [merit_of[parse.tree.heads] for parse in found] == pytest.approx(sorted(merits, reverse=True), abs=1e-5)
    assert lg.Parser(model).parse(sentence, known).tree.heads == found[0].tree.heads


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
    with pytest.raises(NoParse, match=r"no tree of this grammar satisfies: spans \(0, 2, VP\)"):
        parser.parse(SENTENCE, spans=[(0, 2, "VP")])
    with pytest.raises(NoParse, match="no symbol over 'a'"):
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
    with pytest.raises(DataError, match="no labels such as NP"):
        arcs.parse(sentence, spans=[(0, 2, "NP")])
    for parser in (arcs, lg.Parser(_fitted("ArcFactored", dependencies))):
        for impossible in ((0, 1), (0, len(sentence))):  # a word, or a sentence, is always a unit
            with pytest.raises(NoParse, match="no projective tree satisfies: forbidden spans"):
                parser.parse(sentence, forbidden_spans=[impossible])
            with pytest.raises(NoParse, match="no projective tree satisfies: forbidden spans"):
                parser.nbest(sentence, 3, forbidden_spans=[impossible])
    with pytest.raises(DataError, match="more than 500 ways"):
        arcs.parse([("a", "NN")] * 40, forbidden_spans=[(0, 35)])
    with pytest.raises(NoParse, match="no projective tree satisfies"):
        arcs.parse(sentence, forbidden_heads=[(1, head) for head in range(len(sentence) + 1) if head != 1])
