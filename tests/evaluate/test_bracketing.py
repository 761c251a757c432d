"""The figures of EVALB: against its own output, against the definition, and in the cases where programs differ."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from latentgram.data.brackets import parse_forest, parse_tree
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.evaluate.bracketing import bracket_rows, score_brackets
from latentgram.evaluate.evalb import COLLINS, BracketingRules, parse_rules, read_rules
from latentgram.evaluate.treebanks import read_output, score_treebanks

PRM = """
DEBUG 0
MAX_ERROR 1000
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
"""


def row(gold: str, output: str, rules: BracketingRules = COLLINS) -> dict[str, int]:
    """The one row of two trees, by name."""
    rows = bracket_rows(parse_forest(gold), [None] if output == "(())" else parse_forest(output), rules)
    names = ("status", "matched", "gold", "output", "crossing", "words", "tags")
    return {"length": int(rows.length[0]), **dict(zip(names, rows.counts[0].tolist(), strict=True))}


@pytest.fixture(scope="module")
def golden() -> Path:
    folder = os.environ.get("LATENTGRAM_GOLDEN")
    if not folder:
        pytest.skip("LATENTGRAM_GOLDEN does not point to EVALB's figures")
    return Path(folder) / "evalb"


@pytest.mark.golden
def test_every_row_and_figure_is_evalbs(golden: Path) -> None:
    result = (golden / "result.txt").read_text().splitlines()
    gold, output = Treebank.read(golden / "gold.mrg"), read_output(golden / "output.mrg")
    rows = bracket_rows(gold.forest, output.forest)
    begin, end = (i for i, line in enumerate(result) if line.startswith("====") and "S" not in line)
    assert rows.table().splitlines() == result[begin + 1 : end]
    summary = "\n".join(result).split("=== Summary ===\n")[1].strip()
    assert rows.score().table() == summary
    assert score_treebanks(gold, output) == rows.score()


@pytest.mark.golden
def test_the_sum_of_parts_is_the_whole(golden: Path) -> None:
    gold, output = list(Treebank.read(golden / "gold.mrg")), list(read_output(golden / "output.mrg"))
    parts = [score_brackets(gold[i : i + 50], output[i : i + 50]) for i in range(0, len(gold), 50)]
    assert sum(parts) == score_brackets(gold, output)


def test_parameter_files(tmp_path: Path) -> None:
    path = tmp_path / "COLLINS.prm"
    path.write_text(PRM)
    assert read_rules(path) == COLLINS
    for text, complaint in [
        ("DELETE_LABELS X", ":1: DELETE_LABELS is not an EVALB parameter"),
        ("\nEQ_LABEL ADVP", ":2: EQ_LABEL takes two values, got 1"),
        ("CUTOFF_LEN forty", ":1: CUTOFF_LEN must be an integer, got forty"),
    ]:
        path.write_text(text)
        with pytest.raises(DataError, match=complaint):
            read_rules(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_rules(tmp_path / "absent.prm")


def test_punctuation_is_taken_out_of_spans_but_not_of_lengths() -> None:
    gold = "(TOP (S (NP (NN a)) (, ,) (VP (VB b)) (. .)))"
    high = "(TOP (S (NP (NN a) (, ,)) (VP (VB b) (. .))))"
    expected = {
        "length": 4,
        "status": 0,
        "matched": 3,
        "gold": 3,
        "output": 3,
        "crossing": 0,
        "words": 2,
        "tags": 2,
    }
    assert row(gold, high) == expected


def test_a_bracket_over_punctuation_only_is_none() -> None:
    assert row("(S (PRN (, ,)) (VB go))", "(S (, ,) (VB go))")["gold"] == 1


def test_a_comma_tagged_as_a_word_makes_the_lengths_differ() -> None:
    found = row("(S (NN a) (, ,))", "(S (NN a) (NN ,))")
    assert (found["status"], found["length"], found["gold"]) == (1, 2, 0)


def test_other_words_are_an_error_unless_they_are_equal() -> None:
    assert row("(S (NN a) (NN b))", "(S (NN a) (NN c))")["status"] == 1
    assert (
        row("(S (NN a) (NN b))", "(S (NN a) (NN c))", replace(COLLINS, equal_words=(("c", "b"),)))["status"] == 0
    )


def test_advp_equals_prt_in_brackets() -> None:
    found = row("(S (VB go) (PRT (RP up)))", "(S (VB go) (ADVP (RB up)))")
    assert (found["matched"], found["tags"]) == (2, 1)


def test_equality_is_not_transitive() -> None:
    rules = BracketingRules(equal_labels=(("A", "B"), ("B", "C")))
    assert row("(A (X x) (X y))", "(B (X x) (X y))", rules)["matched"] == 1
    assert row("(A (X x) (X y))", "(C (X x) (X y))", rules)["matched"] == 0


def test_functions_and_indices_are_cut_from_labels_and_not_from_tags() -> None:
    found = row("(S (NP-SBJ-1 (NN-X a)) (VP=2 (VB b)))", "(S (NP (NN a)) (VP (VB b)))")
    assert (found["matched"], found["tags"]) == (3, 1)


def test_one_word_sentences() -> None:
    assert row("(TOP (NP (NN a)))", "(TOP (NP (NN a)))")["matched"] == 1
    assert row("(TOP (FRAG (NP (NN a))))", "(TOP (NP (NN a)))") == {
        "length": 1, "status": 0, "matched": 1, "gold": 2, "output": 1, "crossing": 0, "words": 1, "tags": 1,
    }  # fmt: skip
    assert row("(NN a)", "(NN a)")["gold"] == 0


def test_no_parse_is_skipped_and_counted() -> None:
    assert row("(S (NN a))", "(())")["status"] == 2
    score = score_brackets([parse_tree("(S (NN a))")] * 2, [None, parse_tree("(S (NN a))")])
    assert (score.no_parse, score.valid, score.f1, score.sentences) == (1, 1, 100.0, 2)
    only_punctuation = row("(S (NN a) (. .))", "(S (. .))")
    assert only_punctuation["status"] == 2


def test_fallback_trees_are_scored_and_counted() -> None:
    tree = parse_tree("(S (NP (NN a)) (VB b))")
    score = score_brackets([tree, tree], [tree, parse_tree("(S (NN a) (VB b))")], fallback=[False, True])
    assert (score.no_parse, score.valid, round(score.recall, 2)) == (1, 2, 75.0)


def test_brackets_of_one_label_and_span_count_as_often_as_they_stand() -> None:
    twice, once = "(NP (NP (NP (NN a) (NN b))))", "(NP (NN a) (NN b))"
    assert row(twice, once)["matched"] == 1
    assert (row(twice, twice)["matched"], row(twice, twice)["gold"]) == (3, 3)
    collapsed = row(twice, once, replace(COLLINS, collapse_unaries=True))
    assert (collapsed["matched"], collapsed["gold"], collapsed["output"]) == (1, 1, 1)


def test_collapsing_leaves_other_chains_and_tags_alone() -> None:
    rules = replace(COLLINS, collapse_unaries=True)
    assert row("(NP (S (NP (NN a))))", "(NN a)", rules)["gold"] == 3
    assert row("(NP (NP a))", "(NP (NP a))", rules)["gold"] == 1
    assert row("(NP (NP (NN a)) (NP (NN b)))", "(NP (NN a) (NN b))", rules)["gold"] == 3


def test_crossing_counts_output_brackets() -> None:
    gold = "(S (A (X a) (X b)) (B (X c) (X d)))"
    assert row(gold, "(S (X a) (C (D (X b) (X c))) (X d))")["crossing"] == 2
    assert row(gold, "(S (X a) (X b) (C (X c) (X d)))")["crossing"] == 0


def test_unlabelled_brackets() -> None:
    assert row("(S (NP (NN a)) (VB b))", "(X (Y (NN a)) (VB b))", replace(COLLINS, labelled=False))["matched"] == 2


def test_a_nameless_top_is_no_bracket() -> None:
    assert row("( (S (NN a) (NN b)))", "(TOP (S (NN a) (NN b)))")["matched"] == 1
    assert row("( (S (NN a) (NN b)))", "(TOP (S (NN a) (NN b)))")["gold"] == 1


def test_a_quote_that_one_side_deletes_is_put_back() -> None:
    gold = "(S (NP (NNS dogs) (POS ')) (NN a) (, ,))"
    output = "(S (NP (NNS dogs) ('' ')) (NN a) (, ,))"
    assert row(gold, output)["status"] == 1
    rules = replace(COLLINS, quotes=("POS", "''"))
    for left, right in ((gold, output), (output, gold)):
        found = row(left, right, rules)
        assert (found["status"], found["matched"], found["words"], found["tags"]) == (0, 2, 3, 2)


def test_lengths_of_the_two_files_must_agree() -> None:
    tree = parse_tree("(S (NN a))")
    with pytest.raises(DataError, match="2 gold trees but 1 output trees"):
        score_brackets([tree, tree], [tree])


def test_nothing_at_all() -> None:
    score = score_brackets([], [])
    assert (score.sentences, score.f1, score.exact) == (0, 0.0, 0.0)
    assert parse_rules("").delete == ()


def test_scores_print_compare_and_go_to_json() -> None:
    tree, flat = parse_tree("(S (NP (NN a)) (VB b))"), parse_tree("(S (NN a) (VB b))")
    good, bad = score_brackets([tree], [tree]), score_brackets([tree], [flat])
    assert good > bad
    assert max(bad, good) is good
    assert good + bad == bad + good
    assert set(good.to_json()) >= {"f1", "recall", "precision", "exact", "accuracy", "sentences", "no_parse"}
    assert good.to_json()["f1"] == 100.0
    with pytest.raises(ValueError, match="cutoff"):
        _ = good + replace(good, cutoff=10)
    with pytest.raises(TypeError):
        _ = good + 1


LABELS = ("S", "NP", "ADVP", "PRT", "TOP", "NP-SBJ")
TAGS = ("NN", ",", "VB", "-NONE-")


def random_tree(tags: list[str], random: np.random.Generator) -> Tree:
    """Any tree over words with these tags: runs of up to three nodes are joined until one is left, or longer."""
    nodes = [Tree(tag, word=f"w{i}") for i, tag in enumerate(tags)]
    while len(nodes) > 1 or random.random() < 0.5:
        begin = int(random.integers(len(nodes)))
        end = min(len(nodes), begin + int(random.integers(1, 4)))
        nodes[begin:end] = [Tree(str(random.choice(LABELS)), tuple(nodes[begin:end]))]
    return nodes[0]


def brackets(tree: Tree) -> list[tuple[str, frozenset[int]]]:
    """The definition in words: labels with the sets of kept words below them, each node on its own."""
    kept = [i for i, tag in enumerate(tree.tags) if tag not in COLLINS.delete]
    found = []
    for node, (label, begin, end) in zip(tree.nodes(), tree.spans(), strict=True):
        covered = frozenset(i for i in kept if begin <= i < end)
        plain = {"PRT": "ADVP", "NP-SBJ": "NP"}.get(label, label)
        if node.word is None and covered and plain != "TOP":
            found.append((plain, covered))
    return found


def test_against_the_definition() -> None:
    random = np.random.default_rng(0)
    cases = []
    for _ in range(1500):
        tags = [str(tag) for tag in random.choice(TAGS, random.integers(1, 8))]
        cases.append((random_tree(tags, random), random_tree(tags, random)))
    rows = bracket_rows([gold for gold, _ in cases], Forest.of(output for _, output in cases))
    seen: Counter[str] = Counter()
    for (gold, output), found in zip(cases, rows.counts.tolist(), strict=True):
        right, guess = brackets(gold), brackets(output)
        words = sum(tag not in COLLINS.delete for tag in gold.tags)
        matched = sum((Counter(right) & Counter(guess)).values())
        crossing = sum(any(a & b and a - b and b - a for _, b in right) for _, a in guess)
        expected = [0, matched, len(right), len(guess), crossing, words, words] if words else [2, 0, 0, 0, 0, 0, 0]
        assert found == expected, f"{gold}\n{output}"
        seen.update(skipped=not words, crossed=crossing > 0, exact=matched == len(right) == len(guess))
    assert min(seen.values()) > 50, "the cases do not cover enough"


def test_reading_outputs(tmp_path: Path) -> None:
    path = tmp_path / "output.mrg"
    path.write_text("(S (NN a))\n(())\n( ( ) )\n(S\n (NN b))\n")
    assert [len(tree) for tree in read_output(path)] == [1, 0, 0, 1]
    path.write_text("(S (NN a))\n(S (NN b)\n")
    with pytest.raises(DataError, match=r"output\.mrg:2:1: the tree that begins here is never closed"):
        read_output(path)


def test_speed() -> None:
    """Fast enough to rate a model in every iteration: at least 5,000 sentences per second of processor time."""
    import time

    tree = parse_tree("(S " + "(NP (DT the) (NN cat)) (VP (VB sat) (PP (IN on) (NP (NN mat))))" * 5 + " (. .))")
    forest = Forest.of([tree] * 2000)
    score_brackets(forest, forest)
    started = time.process_time()
    score_brackets(forest, forest)
    assert len(forest) / (time.process_time() - started) > 5000
    assert np.all(bracket_rows(forest, forest).counts[:, 0] == 0)
