"""Pictures of trees: constituency trees and dependency arcs as SVG, both as an outline for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.errors import DataError
from latentgram.view import svg

_MARGIN, _GAP, _LEVEL = 12.0, 14.0, 46.0
MOST_LEVELS = 5000
"""Of an outline: every line is indented by its level, so a deeper tree would fill the memory."""


def draw(tree: Tree | DependencyTree, confidence: Sequence[float] | None = None) -> str:
    """A tree as an SVG document, coloured by the posterior of each node (or of each word's arc) where given.

    >>> draw(Tree("NP", (Tree("DT", word="the"), Tree("NN", word="cat")))).startswith("<svg")
    True
    """
    if isinstance(tree, DependencyTree):
        return _draw_arcs(tree, confidence)
    return _draw_constituents(tree, confidence)


def _draw_constituents(tree: Tree, confidence: Sequence[float] | None) -> str:
    """A node stands over the middle of its children; a subtree is as wide as its label or its children."""
    nodes = list(tree.nodes())
    children = _child_numbers(nodes)
    own = [max(svg.text_width(node.label), svg.text_width(node.word or "")) + _GAP for node in nodes]
    width = list(own)
    for v in range(len(nodes) - 1, -1, -1):
        width[v] = max(own[v], sum(width[c] for c in children[v]))
    left, depth, centre = [0.0] * len(nodes), [0] * len(nodes), [0.0] * len(nodes)
    for v, below in enumerate(children):
        at = left[v] + (width[v] - sum(width[c] for c in below)) / 2
        for c in below:
            left[c], depth[c], at = at, depth[v] + 1, at + width[c]
    for v in range(len(nodes) - 1, -1, -1):
        below = children[v]
        centre[v] = (centre[below[0]] + centre[below[-1]]) / 2 if below else left[v] + width[v] / 2

    def place(v: int) -> tuple[float, float]:
        return _MARGIN + centre[v], _MARGIN + svg.FONT_SIZE + depth[v] * _LEVEL

    parts = []
    for v, node in enumerate(nodes):
        x, y = place(v)
        shade = {} if confidence is None else {"style": f"fill:{svg.colour(confidence[v])}"}
        stroke = {} if confidence is None else {"style": f"stroke:{svg.colour(confidence[v])}"}
        tooltip = node.label if confidence is None else f"{node.label} {confidence[v]:.3f}"
        parts.append(svg.text(x, y, node.label, tooltip, **shade))
        for c in children[v]:
            below_x, below_y = place(c)
            parts.append(svg.line(x, y + 5, below_x, below_y - svg.FONT_SIZE))
        if node.word is not None:
            parts.append(svg.line(x, y + 5, x, y + 14, **stroke))
            parts.append(svg.text(x, y + 30, node.word, class_="soft"))
    height = 2 * _MARGIN + svg.FONT_SIZE + max(depth) * _LEVEL + 34
    return svg.document(2 * _MARGIN + width[0], height, parts, " ".join(tree.words))


def _child_numbers(nodes: list[Tree]) -> list[list[int]]:
    """The numbers of the children of each node, nodes being in preorder."""
    children: list[list[int]] = [[] for _ in nodes]
    open_nodes: list[int] = []
    for v, node in enumerate(nodes):
        while open_nodes and len(children[open_nodes[-1]]) == len(nodes[open_nodes[-1]].children):
            open_nodes.pop()
        if open_nodes:
            children[open_nodes[-1]].append(v)
        if node.children:
            open_nodes.append(v)
    return children


def _draw_arcs(tree: DependencyTree, confidence: Sequence[float] | None) -> str:
    """Arcs above the words, from head to modifier, higher the more arcs they span."""
    tags = tree.xpos if any(tag != "_" for tag in tree.xpos) else tree.upos
    widths = [max(map(svg.text_width, columns)) + 2 * _GAP for columns in zip(tree.words, tags, strict=True)]
    centres, at = [], _MARGIN
    for width in widths:
        centres.append(at + width / 2)
        at += width
    heights = _arc_heights(tree.heads)
    base = _MARGIN + 24 + 26.0 * max(heights)
    parts = []
    for m, head in enumerate(tree.heads):
        certain = 1.0 if confidence is None else float(confidence[m])
        style = {} if confidence is None else {"style": f"stroke:{svg.colour(certain)}"}
        relation = "" if tree.deprels[m] == "_" else tree.deprels[m]
        tooltip = f"{tree.words[head - 1] if head else 'ROOT'} → {tree.words[m]} {relation} {certain:.3f}"
        top = base - 26.0 * heights[m]
        if head == 0:
            parts.append(svg.line(centres[m], _MARGIN + 14, centres[m], base - 4, **style))
            middle, top = centres[m], _MARGIN + 12
        else:
            side = 5.0 if head - 1 < m else -5.0
            start, end = centres[head - 1] + side, centres[m] - side / 2
            path = (
                f"M{start:.1f},{base - 4:.1f} C{start:.1f},{top:.1f} {end:.1f},{top:.1f} {end:.1f},{base - 4:.1f}"
            )
            parts.append(svg.element("path", d=path, **style))
            middle, top = (start + end) / 2, base - 4 - 0.75 * (base - 4 - top)
        tip = f"M{_arrow_x(centres, head, m) - 3:.1f},{base - 9:.1f} l3,5 l3,-5"
        parts.append(svg.element("path", d=tip, **style))
        if relation or confidence is not None:
            shown = relation or f"{certain:.2f}"
            parts.append(svg.text(middle, top - 3, shown, tooltip, class_="small soft"))
    for m, word in enumerate(tree.words):
        parts.append(svg.text(centres[m], base + svg.FONT_SIZE, word))
        if tags[m] != "_":
            parts.append(svg.text(centres[m], base + 2.2 * svg.FONT_SIZE, tags[m], class_="small soft"))
    return svg.document(at + _MARGIN, base + 2.6 * svg.FONT_SIZE + _MARGIN, parts, " ".join(tree.words))


def _arrow_x(centres: Sequence[float], head: int, modifier: int) -> float:
    if head == 0:
        return centres[modifier]
    return centres[modifier] - (2.5 if head - 1 < modifier else -2.5)


def _arc_heights(heads: Sequence[int]) -> list[int]:
    """An arc is one level above the highest arc inside its span; root arcs stand on the lowest level."""
    heights = [1] * len(heads)
    spans = [(min(m, h), max(m, h)) for m, h in enumerate(head - 1 for head in heads)]
    for m in sorted((m for m in range(len(heads)) if heads[m]), key=lambda m: spans[m][1] - spans[m][0]):
        low, high = spans[m]
        inside = [
            heights[other]
            for other in range(low, high + 1)
            if other != m
            and heads[other]
            and low <= spans[other][0]
            and spans[other][1] <= high
            and spans[other][1] - spans[other][0] < high - low
        ]
        heights[m] = 1 + max(inside, default=0)
    return heights


def outline(tree: Tree | DependencyTree, confidence: Sequence[float] | None = None) -> str:
    """A tree as indented text, for terminals.

    >>> print(outline(Tree("NP", (Tree("DT", word="the"), Tree("NN", word="cat")))))
    NP
    ├─ DT the
    └─ NN cat
    >>> print(outline(DependencyTree(("Cats", "sleep"), (2, 0), deprels=("nsubj", "root"))))
    sleep (root)
    └─ Cats (nsubj)
    """
    if isinstance(tree, DependencyTree):
        names = [_word_name(tree, m) for m in range(len(tree))]
        below: list[list[int]] = [[] for _ in names]
        roots: list[int] = []
        for m, head in enumerate(tree.heads):
            (below[head - 1] if head else roots).append(m)
    else:
        nodes = list(tree.nodes())
        names = [node.label if node.word is None else f"{node.label} {node.word}" for node in nodes]
        below, roots = _child_numbers(nodes), [0]
    if confidence is not None:
        names = [f"{name}  {probability:.2f}" for name, probability in zip(names, confidence, strict=True)]
    lines = []
    stack = [(root, "", "") for root in reversed(roots)]
    while stack:
        v, first, rest = stack.pop()
        if len(rest) > 3 * MOST_LEVELS:
            raise DataError(f"a tree of more than {MOST_LEVELS:,} levels has no outline")
        lines.append(first + names[v])
        for c in reversed(below[v]):
            last = c == below[v][-1]
            stack.append((c, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")))
    return "\n".join(lines)


def _word_name(tree: DependencyTree, m: int) -> str:
    tag = next((tag for tag in (tree.xpos[m], tree.upos[m]) if tag != "_"), "")
    relation = "" if tree.deprels[m] == "_" else f"({tree.deprels[m]})"
    return " ".join(part for part in (tree.words[m], tag, relation) if part)
