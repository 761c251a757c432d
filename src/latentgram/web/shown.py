"""Trees as the API shows them: their nodes or arcs, each with its posterior, and their text."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from latentgram.data.brackets import parse_tree
from latentgram.data.cleaning import EMPTY, plain_label
from latentgram.data.conllu import parse_conllu
from latentgram.data.dependencies import DependencyTree
from latentgram.data.surface import tokens_of
from latentgram.data.tree import Tree
from latentgram.errors import DataError
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.protocols import AnyTree
from latentgram.kinds.result import Parse, finite
from latentgram.parser.answers import render
from latentgram.web.editing.phrases import spans
from latentgram.web.schemas import Marginal, Node, TreeAnswer

LEVELS = 50
"""Levels that a tree may have beyond two for each word."""


def read_tree(text: str, phrases: bool) -> AnyTree:
    """One tree from its text: brackets, or CoNLL-U."""
    if not phrases:
        trees = parse_conllu(text)
        if len(trees) != 1:
            raise DataError(f"expected one sentence in CoNLL-U, got {len(trees)}")
        return trees[0]
    tree = parse_tree(text)
    depth = max(accumulate((char == "(") - (char == ")") for char in text))
    if depth > LEVELS + 2 * len(tree):
        raise DataError(
            f"the tree has {depth} levels over {len(tree)} words: unary chains of this length are refused"
        )
    return tree


@dataclass(frozen=True)
class Posteriors:
    """The posteriors of spans or arcs and those of tags, as they are sent, and by what they are of."""

    parts: list[Marginal]
    tags: list[Marginal]
    by_part: dict[tuple[int, int, str | int | None], float]
    names: frozenset[str | None]
    """All labels and tags that have a posterior somewhere."""

    @classmethod
    def of(cls, marginals: Marginals) -> Posteriors:
        """Those that the parser tells."""
        parts = [
            Marginal(first=first, end=end, label=label, probability=p) for first, end, label, p in marginals.spans
        ]
        parts += [
            Marginal(first=modifier - 1, end=modifier, head=head, probability=p)
            for head, modifier, p in marginals.arcs
        ]
        tags = [Marginal(first=word, end=word + 1, label=tag, probability=p) for word, tag, p in marginals.tags]
        known = {(part.first, part.end, part.label if part.head is None else part.head): part for part in parts}
        known |= {(part.first, part.end, part.label): part for part in tags}
        names = frozenset(part.label for part in (*parts, *tags))
        return cls(parts, tags, {key: part.probability for key, part in known.items()}, names)

    def of_node(self, label: str, first: int, end: int) -> float | None:
        """The posterior of a node; function tags are none of the grammar's business."""
        plain = plain_label(label)
        if first == end or label == EMPTY or not self.names.intersection((label, plain)):
            return None  # the parser cannot tell
        return self.by_part.get((first, end, label), self.by_part.get((first, end, plain), 0.0))

    def of_arc(self, word: int, head: int) -> float | None:
        """The posterior of an arc."""
        return self.by_part.get((word, word + 1, head), 0.0) if self.by_part else None


def shown(parse: Parse, tree: AnyTree, posteriors: Posteriors) -> TreeAnswer:
    """A tree as it is sent; one that was changed by hand has the posteriors that its parts have anyhow."""
    changed = tree != parse.tree or math.isnan(parse.tree_logprob)
    size = len(list(tree.nodes())) if isinstance(tree, Tree) else len(tree)
    if changed:
        confidence = _looked_up(tree, posteriors)
        known = [math.nan if p is None else p for p in confidence]
        tag_confidence = (
            parse.tag_confidence if len(parse.tag_confidence) == len(tree) else np.full(size, math.nan)
        )
        parse = dataclasses.replace(
            parse,
            tree=tree,
            confidence=np.array(known),
            tag_confidence=tag_confidence,
            relation_confidence=np.zeros(0),
            expected=math.nan,
        )
    else:
        confidence = [finite(p) for p in parse.confidence]
    return TreeAnswer(
        nodes=_nodes(tree, confidence) if isinstance(tree, Tree) else [],
        heads=() if isinstance(tree, Tree) else tree.heads,
        relations=() if isinstance(tree, Tree) else tree.deprels,
        rows=rows_of(tree),
        multiword=_multiword(tree),
        confidence=confidence,
        logprob=None if changed else finite(parse.tree_logprob),
        probability=None if changed else finite(parse.probability),
        expected=finite(parse.expected),
        plain=render(parse),
        annotated=render(parse, probabilities=True),
    )


def rows_of(tree: AnyTree) -> dict[str, tuple[str, ...]]:
    """The columns of a dependency tree that can be set."""
    if not isinstance(tree, DependencyTree):
        return {}
    return {"lemma": tree.lemmas, "upos": tree.upos, "xpos": tree.xpos, "feats": tree.feats, "misc": tree.misc}


def _multiword(tree: AnyTree) -> list[tuple[int, int, str]]:
    if not isinstance(tree, DependencyTree) or not tree.extra_rows:
        return []
    return [(token.first, token.end, token.form) for token in tokens_of(tree) if token.multiword]


def _looked_up(tree: AnyTree, posteriors: Posteriors) -> list[float | None]:
    if isinstance(tree, Tree):
        return [posteriors.of_node(*part) for part in spans(tree)]
    return [posteriors.of_arc(word, head) for word, head in enumerate(tree.heads)]


def _nodes(tree: Tree, confidence: list[float | None]) -> list[Node]:
    """The nodes with their parents; a parent is the last node before that still has room for children."""
    nodes: list[Node] = []
    open_nodes: list[list[int]] = []
    for number, (node, (label, first, end), p) in enumerate(
        zip(tree.nodes(), spans(tree), confidence, strict=True)
    ):
        while open_nodes and open_nodes[-1][1] == 0:
            open_nodes.pop()
        parent = open_nodes[-1][0] if open_nodes else None
        if open_nodes:
            open_nodes[-1][1] -= 1
        nodes.append(Node(label=label, first=first, end=end, parent=parent, word=node.word, probability=p))
        open_nodes.append([number, len(node.children)])
    return nodes
