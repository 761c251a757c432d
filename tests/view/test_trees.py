"""Drawings are well-formed, show every word once, keep siblings apart, and survive deep trees and odd words."""

from xml.etree import ElementTree

import pytest

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.view.svg import colour
from latentgram.view.trees import _arc_heights, draw, outline

SVG = "{http://www.w3.org/2000/svg}"
SENTENCE = Tree(
    "S",
    (
        Tree("NP", (Tree("DT", word="<the>"), Tree("NN", word='"cat&"'))),
        Tree("VP", (Tree("VBZ", word="sleeps"),)),
    ),
)
ARCS = DependencyTree(("a", "b", "c", "d"), (3, 3, 0, 3), deprels=("det", "amod", "root", "obl"))


def texts(drawing: str) -> list[tuple[str, float, float]]:
    found = ElementTree.fromstring(drawing).iter(f"{SVG}text")
    return [(node.text or "", float(node.get("x", 0)), float(node.get("y", 0))) for node in found]


def test_every_word_and_label_is_drawn_once_escaped() -> None:
    shown = [content for content, _, _ in texts(draw(SENTENCE))]
    assert sorted(shown) == sorted(["S", "NP", "VP", "DT", "NN", "VBZ", "<the>", '"cat&"', "sleeps"])


def test_control_characters_leave_a_drawing_readable() -> None:
    drawn = draw(Tree("NP\x00", (Tree("DT", word="t\x1bhe"), Tree("NN", word="c\ufffea\ud800t"))))
    shown = [element.text for element in ElementTree.fromstring(drawn).iter() if element.text]
    assert {"NP\ufffd", "t\ufffdhe", "c\ufffda\ufffdt"} <= set(shown)


def test_words_stand_from_left_to_right_and_children_below() -> None:
    at = {content: (x, y) for content, x, y in texts(draw(SENTENCE))}
    assert at["<the>"][0] < at['"cat&"'][0] < at["sleeps"][0]
    assert at["S"][1] < at["NP"][1] < at["DT"][1] < at["<the>"][1]
    assert at["NP"][0] == pytest.approx((at["DT"][0] + at["NN"][0]) / 2, abs=0.1)


def test_confidence_colours_its_own_node() -> None:
    drawn = ElementTree.fromstring(draw(SENTENCE, [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]))
    unsure = [node.text for node in drawn.iter(f"{SVG}text") if colour(0.0) in node.get("style", "")]
    assert unsure == ["NP"]


def test_arcs_never_share_a_level_with_what_they_enclose() -> None:
    tree = DependencyTree(("a", "b", "c", "d"), (2, 4, 2, 0))
    heights = _arc_heights(tree.heads)
    assert heights[1] > heights[2]
    assert "root" in [content for content, _, _ in texts(draw(ARCS, [0.1] * 4))]


def test_a_thousand_words_deep() -> None:
    tree = Tree("X", (Tree("T", word="w"),))
    for _ in range(1500):
        tree = Tree("X", (Tree("T", word="w"), tree))
    assert draw(tree).count("</text>") == 2 * 1501 + 1501
    assert outline(tree).count("\n") + 1 == 3002


def test_outline_shows_probabilities_and_heads() -> None:
    assert outline(ARCS, [0.5, 0.25, 1.0, 0.75]).splitlines() == [
        "c (root)  1.00",
        "├─ a (det)  0.50",
        "├─ b (amod)  0.25",
        "└─ d (obl)  0.75",
    ]
