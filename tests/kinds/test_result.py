"""A parse as plain values and back."""

import json
import math

import numpy as np
import pytest

import latentgram as lg


@pytest.fixture(scope="module")
def parses() -> list[lg.Parse]:
    phrases = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    arcs = lg.Parser(lg.fit(lg.SHAG, lg.demo_dependencies(50, seed=0), by=lg.Counting()))
    tagged = lg.demo_dependencies(3, seed=1)[0]
    featured = tagged.replace(feats=("Case=Nom|Number=Sing", *("_",) * (len(tagged) - 1)))
    answers = [arcs.parse(tree.sentence) for tree in (tagged, featured)]
    return [*phrases.nbest("The dog sleeps .", 2), phrases.parse("zzz"), *answers]


def test_json_and_back(parses):
    for parse in parses:
        again = lg.Parse.from_json(json.loads(json.dumps(parse.to_json())))
        assert again.tree == parse.tree
        assert again.to_json() == parse.to_json()
        np.testing.assert_array_equal(again.confidence, parse.confidence)


def test_features_go_with_the_sentence_into_the_tree_and_its_rows(parses):
    featured = parses[-1]
    assert featured.tree.feats == featured.sentence.feats
    assert featured.tree.feats[0] == "Case=Nom|Number=Sing"
    rows = featured.tree.replace(feats=("X=Y",) * len(featured.tree), lemmas=("l",) * len(featured.tree))
    assert featured.onto(rows).tree.feats == featured.tree.feats
    assert parses[-2].onto(rows).tree.feats == rows.feats, "a parser that knows none leaves those of the rows"
    old = {name: value for name, value in featured.to_json().items() if name != "feats"}
    assert set(lg.Parse.from_json(old).tree.feats) == {"_"}


def test_what_is_not_known_is_nan_again(parses):
    plain = parses[0].to_json() | {"entropy": None}
    assert math.isnan(lg.Parse.from_json(plain).entropy)


@pytest.mark.parametrize("plain", [{}, {"words": 5}, {"words": ["a"], "heads": "x"}])
def test_other_json_is_refused(plain):
    with pytest.raises(lg.DataError, match="not a parse"):
        lg.Parse.from_json(plain)


def test_trees_and_parses_show_themselves_in_a_notebook(parses):
    for parse in parses:
        assert parse._repr_svg_().startswith("<svg")
        assert parse.tree._repr_svg_().startswith("<svg")
