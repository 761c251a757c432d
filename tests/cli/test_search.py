"""Trees found by patterns, and trees for LaTeX, by commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import latentgram as lg


def test_trees_are_found_by_a_pattern(run: Callable, tmp_path: Path) -> None:
    bank = lg.demo_treebank(40, seed=0)
    bank.write(tmp_path / "bank.mrg")
    expected = [
        str(tree)
        for tree in bank
        if any(node.label == "NP" and any(child.label == "PP" for child in node.children) for node in tree.nodes())
    ]
    assert 0 < len(expected) < 40
    assert run("search", "NP < PP", tmp_path / "bank.mrg").out.splitlines() == expected
    assert run("search", "NP < PP", tmp_path / "bank.mrg", "--count").out.strip() == f"{len(expected)} of 40"
    arcs = lg.demo_dependencies(40, seed=0)
    arcs.write(tmp_path / "bank.conllu")
    having = [tree for tree in arcs if "obj" in tree.deprels]
    found = run("search", "V -[obj]-> N", tmp_path / "bank.conllu").out
    assert found.count("\n\n") == len(having) > 0


def test_what_is_no_pattern_is_one_line_of_error(run: Callable, tmp_path: Path) -> None:
    lg.demo_treebank(3, seed=0).write(tmp_path / "bank.mrg")
    done = run("search", "NP <", tmp_path / "bank.mrg")
    assert done.status == 1
    assert "a node is missing" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_tree_for_latex(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "bank.mrg").write_text("(NP (DT the) (NN 50_%))\n")
    shown = run("show", tmp_path / "bank.mrg", "--latex").out
    assert shown.splitlines() == [r"\begin{forest}", r"[{NP} [{DT} [{the}]] [{NN} [{50\_\%}]]]", r"\end{forest}"]
