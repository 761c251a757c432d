"""Constraints: what is refused and why, what is read, and what obeys."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest

from latentgram.data.brackets import parse_tree
from latentgram.data.constraints import Constraints, partial_brackets, read_constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.errors import DataError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"spans": [(0, 3), (2, 5)]}, r"spans \(0, 3\) and \(2, 5\) cross"),
        (
            {"spans": [(0, 3, "NP")], "forbidden_spans": [(0, 3, "NP")]},
            r"\(0, 3, NP\) is required, but \(0, 3, NP\)",
        ),
        ({"spans": [(0, 3, "NP")], "forbidden_spans": [(0, 3)]}, r"but \(0, 3\) is forbidden"),
        ({"spans": [(3, 3)]}, "empty"),
        ({"spans": [(-1, 3)]}, "before the sentence"),
        ({"spans": [(0, 3, 4)]}, "label of a span is a string"),
        ({"spans": ["NP"]}, "a span is"),
        ({"tags": [(1, "NN"), (1, "VB")]}, "word 1 cannot have two tags, NN and VB"),
        ({"tags": {1: "NN"}, "forbidden_tags": [(1, "NN")]}, "tag NN of word 1 is both required and forbidden"),
        ({"tags": {1: 2}}, "not a tag"),
        ({"tags": [3]}, "a tag needs a word and a value"),
        ({"heads": {1: 2}, "forbidden_heads": [(1, 2)]}, "head 2 of word 1 is both required and forbidden"),
        ({"heads": {0: 2}}, "words are counted from 1"),
        ({"heads": {1: 0, 2: 0}}, "words 1 and 2 cannot both be the root"),
        ({"heads": {1: 2, 2: 3, 3: 1}}, "cycle at word 1"),
        ({"heads": {1: 1}}, "cycle at word 1"),
        ({"heads": {1: 3, 2: 4}}, "between 1 and 3 and between 2 and 4 cross"),
    ],
)
def test_clashes_are_named(given: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Constraints.of(**given)


@pytest.mark.parametrize("seed", range(40))
def test_a_crossing_is_found_where_two_spans_cross(seed: int) -> None:
    draw = random.Random(seed)
    spans = sorted({tuple(sorted(draw.sample(range(9), 2))) for _ in range(draw.choice((2, 3, 4)))})
    if any(a < c < b < d for (a, b), (c, d) in combinations(spans, 2)):
        with pytest.raises(DataError, match="cross"):
            Constraints.of(spans=spans)
    else:
        assert [span[:2] for span in Constraints.of(spans=spans).spans] == spans


def test_many_constraints_take_no_longer_than_reading_them() -> None:
    """Each pair of them was looked at once, which never ended here."""
    many = 200_000
    known = Constraints.of(
        spans=[(0, end) for end in range(1, many)],
        forbidden_spans=[(1, end) for end in range(2, many)],
        tags=dict.fromkeys(range(many), "X"),
        heads={word: word + 1 for word in range(1, many)},
    )
    assert len(known.spans) == len(known.heads) == many - 1


def test_what_goes_together() -> None:
    known = Constraints.of(
        spans=[(0, 4), (0, 2, "NP"), (2, 4, "VP"), (0, 2, "S")],
        forbidden_spans=[(0, 2, "VP"), (1, 5)],
        tags={0: "DT"},
        forbidden_tags=[(0, "NN"), (1, "DT")],
        heads={1: 2, 2: 0, 3: 2},
    )
    assert known
    assert not Constraints()
    known.fit(5)
    with pytest.raises(DataError, match="ends after the 4 words"):
        known.fit(4)
    with pytest.raises(DataError, match="words are 1 to 2"):
        Constraints.of(heads={3: 1}).fit(2)
    with pytest.raises(DataError, match="no word 2"):
        Constraints.of(tags={2: "NN"}).fit(2)


def test_trees_obey_or_do_not() -> None:
    tree = parse_tree("(TOP (S (NP (NP (NN man)) (PP (IN of) (NN war))) (VP (VBZ goes))))")
    yes = [{"spans": [(0, 3, "NP")]}, {"spans": [(1, 3)]}, {"spans": [(3, 4, "VP")]}, {"spans": [(0, 1, "NN")]}]
    yes += [{"forbidden_spans": [(0, 2)]}, {"tags": {1: "IN"}}, {"forbidden_tags": [(1, "NN")]}]
    no = [{"spans": [(0, 2)]}, {"spans": [(0, 3, "VP")]}, {"forbidden_spans": [(0, 1, "NP")]}, {"tags": {0: "VB"}}]
    assert all(Constraints.of(**given).obeyed_by(tree) for given in yes)
    assert not any(Constraints.of(**given).obeyed_by(tree) for given in no)
    arcs = DependencyTree(("a", "b", "c", "d"), heads=(2, 0, 2, 3), xpos=("A", "B", "C", "D"))
    yes = [{"heads": {1: 2}}, {"spans": [(2, 4)]}, {"spans": [(0, 2)]}, {"forbidden_heads": [(1, 3)]}]
    no = [{"heads": {1: 0}}, {"forbidden_heads": [(4, 3)]}, {"forbidden_spans": [(2, 4)]}, {"tags": {0: "B"}}]
    assert all(Constraints.of(**given).obeyed_by(arcs) for given in yes)
    assert not any(Constraints.of(**given).obeyed_by(arcs) for given in no)
    star = DependencyTree(("a", "b", "c"), heads=(2, 0, 2))
    assert not Constraints.of(spans=[(1, 3)]).obeyed_by(arcs.replace(heads=(3, 1, 0, 3)))
    assert Constraints.of(spans=[(0, 2)]).obeyed_by(star)


def test_brackets_in_text() -> None:
    sentence, known = partial_brackets(r"[S [NP the \[ ] [ b ] ] \] c")
    assert sentence.words == ("the", "[", "b", "]", "c")
    assert known.spans == ((0, 2, "NP"), (0, 3, "S"), (2, 3, None))
    with pytest.raises(DataError, match="has no matching"):
        partial_brackets("a ] b")
    with pytest.raises(DataError, match="before word 2 is never closed"):
        partial_brackets("a [NP b")
    with pytest.raises(DataError, match="empty"):
        partial_brackets("a [ ] b")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "known.jsonl"
    path.write_text('{"spans": [[0, 2, "NP"]], "tags": {"2": "VB"}}\n\n{"heads": {"1": 2}}\n')
    one, none, heads = read_constraints(path)
    assert one == Constraints.of(spans=[(0, 2, "NP")], tags={2: "VB"})
    assert not none
    assert heads.heads == ((1, 2),)
    for text, message in [
        ('{"span": []}', "1: 'span' is not a constraint"),
        ("[1]", "1: \\[1\\] is not a constraint"),
        ("{", "1:2: not JSON"),
        ('\n{"heads": {"1": 1}}', "2: the required heads form a cycle"),
        ('{"heads": {"1": 2, "1": 3}}', "1: '1' occurs twice"),
        ('{"spans": [[0, 1]], "spans": []}', "1: 'spans' occurs twice"),
    ]:
        path.write_text(text + "\n")
        with pytest.raises(DataError, match=f"known.jsonl:{message}"):
            list(read_constraints(path))
