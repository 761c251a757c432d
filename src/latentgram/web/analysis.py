"""What a worker does with a sentence: trees, posteriors, and all in plain values that travel between processes."""

from __future__ import annotations

import math
import time
from typing import Any

from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import LatentgramError
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.result import Parse
from latentgram.parser.output import render
from latentgram.parser.parser import Parser


def analyse(parser: Parser, sentence: Sentence, known: Constraints | None, count: int) -> dict[str, Any]:
    """The best trees of a sentence, and the posteriors of all that may be in a tree."""
    started = time.perf_counter()
    best = parser.parse(sentence, known)
    parses = [best]
    if count > 1:
        others = [parse for parse in parser.nbest(sentence, count, known) if parse.tree != best.tree]
        parses += others[: count - 1]
    marginals = parser.marginals(sentence, known)
    return {
        "kind": "constituency" if isinstance(best.tree, Tree) else "dependency",
        "words": list(best.sentence.words),
        "xpos": _listed(best.sentence.xpos),
        "upos": _listed(best.sentence.upos),
        "logprob": finite(best.logprob),
        "entropy": finite(best.entropy),
        "fallback": best.fallback,
        "trees": [tree_values(parse) for parse in parses],
        **marginal_values(marginals),
        "milliseconds": 1000 * (time.perf_counter() - started),
    }


def entropies(parser: Parser, sentences: list[Sentence]) -> list[float | None]:
    """How unsure the parser is of each sentence; None where it cannot parse it."""
    found: list[float | None] = []
    for sentence in sentences:
        try:
            found.append(finite(parser.parse(sentence).entropy))
        except LatentgramError:
            found.append(None)
    return found


def tree_values(parse: Parse) -> dict[str, Any]:
    """One tree in plain values."""
    shared = {
        "plain": render(parse),
        "annotated": render(parse, probabilities=True),
        "confidence": [finite(p) for p in parse.confidence],
        "logprob": finite(parse.tree_logprob),
        "probability": finite(parse.probability),
        "expected": finite(parse.expected),
    }
    tree = parse.tree
    if isinstance(tree, DependencyTree):
        return {**shared, "heads": list(tree.heads), "relations": list(tree.deprels)}
    return {**shared, "nodes": _nodes(tree, shared["confidence"])}


def _nodes(tree: Tree, confidence: Any) -> list[dict[str, Any]]:
    """The nodes with their parents; a parent is the last node before that still has room for children."""
    nodes: list[dict[str, Any]] = []
    open_nodes: list[list[int]] = []
    for number, (node, span, p) in enumerate(zip(tree.nodes(), tree.spans(), confidence, strict=True)):
        while open_nodes and open_nodes[-1][1] == 0:
            open_nodes.pop()
        parent = open_nodes[-1][0] if open_nodes else None
        if open_nodes:
            open_nodes[-1][1] -= 1
        nodes.append(
            {
                "label": node.label,
                "first": span[1],
                "end": span[2],
                "parent": parent,
                "word": node.word,
                "probability": p,
            }
        )
        open_nodes.append([number, len(node.children)])
    return nodes


def marginal_values(found: Marginals) -> dict[str, list[dict[str, Any]]]:
    """Posteriors in plain values."""
    spans = [_span(*part) for part in found.spans]
    arcs = [
        {"first": modifier - 1, "end": modifier, "head": head, "probability": p}
        for head, modifier, p in found.arcs
    ]
    return {"marginals": spans + arcs, "tags": [_span(word, word + 1, tag, p) for word, tag, p in found.tags]}


def _span(first: int, end: int, label: str, p: float) -> dict[str, Any]:
    return {"first": first, "end": end, "label": label, "probability": p}


def _listed(tags: tuple[str, ...] | None) -> list[str] | None:
    return None if tags is None else list(tags)


def finite(number: float) -> float | None:
    """A number that JSON knows."""
    value = float(number)
    return value if math.isfinite(value) else None
