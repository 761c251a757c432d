"""What a worker does with a sentence: its trees and posteriors as the API answers them."""

from __future__ import annotations

import time

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import LatentgramError
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.result import Parse
from latentgram.parser.output import finite, render
from latentgram.parser.parser import Parser
from latentgram.web.schemas import Analysis, Marginal, Node, ParseAnswer, TreeAnswer


def analyse(parser: Parser, sentence: Sentence, known: Constraints | None, count: int) -> Analysis:
    """The best trees of a sentence, and the posteriors of all that may be in a tree."""
    started = time.perf_counter()
    best = parser.parse(sentence, known)
    parses = [best]
    if count > 1:
        others = [parse for parse in parser.nbest(sentence, count, known) if parse.tree != best.tree]
        parses += others[: count - 1]
    marginals, tags = _posteriors(parser.marginals(sentence, known))
    return Analysis(
        kind="constituency" if isinstance(best.tree, Tree) else "dependency",
        words=best.sentence.words,
        xpos=best.sentence.xpos,
        upos=best.sentence.upos,
        logprob=finite(best.logprob),
        entropy=finite(best.entropy),
        fallback=best.fallback,
        trees=[_tree(parse) for parse in parses],
        marginals=marginals,
        tags=tags,
        milliseconds=1000 * (time.perf_counter() - started),
    )


def answer(
    parser: Parser, sentence: Sentence, known: Constraints | None, count: int, version: int, guessed_tags: bool
) -> str:
    """The analysis as the JSON of an answer: made where the work is done, it travels quickly."""
    analysis = analyse(parser, sentence, known, count)
    return ParseAnswer(version=version, guessed_tags=guessed_tags, **dict(analysis)).model_dump_json()


def entropies(parser: Parser, sentences: list[Sentence]) -> list[float | None]:
    """How unsure the parser is of each sentence; None where it cannot parse it."""
    return [_entropy(parser, sentence) for sentence in sentences]


def _entropy(parser: Parser, sentence: Sentence) -> float | None:
    try:
        return finite(parser.parse(sentence).entropy)
    except LatentgramError:
        return None


def _tree(parse: Parse) -> TreeAnswer:
    confidence = [finite(p) for p in parse.confidence]
    tree = parse.tree
    return TreeAnswer(
        nodes=_nodes(tree, confidence) if isinstance(tree, Tree) else [],
        heads=() if isinstance(tree, Tree) else tree.heads,
        relations=() if isinstance(tree, Tree) else tree.deprels,
        confidence=confidence,
        logprob=finite(parse.tree_logprob),
        probability=finite(parse.probability),
        expected=finite(parse.expected),
        plain=render(parse),
        annotated=render(parse, probabilities=True),
    )


def _nodes(tree: Tree, confidence: list[float | None]) -> list[Node]:
    """The nodes with their parents; a parent is the last node before that still has room for children."""
    nodes: list[Node] = []
    open_nodes: list[list[int]] = []
    for number, (node, (label, first, end), p) in enumerate(
        zip(tree.nodes(), tree.spans(), confidence, strict=True)
    ):
        while open_nodes and open_nodes[-1][1] == 0:
            open_nodes.pop()
        parent = open_nodes[-1][0] if open_nodes else None
        if open_nodes:
            open_nodes[-1][1] -= 1
        nodes.append(Node(label=label, first=first, end=end, parent=parent, word=node.word, probability=p))
        open_nodes.append([number, len(node.children)])
    return nodes


def _posteriors(marginals: Marginals) -> tuple[list[Marginal], list[Marginal]]:
    """The posteriors of spans or arcs, and those of tags."""
    spans = [
        Marginal(first=first, end=end, label=label, probability=p) for first, end, label, p in marginals.spans
    ]
    arcs = [
        Marginal(first=modifier - 1, end=modifier, head=head, probability=p)
        for head, modifier, p in marginals.arcs
    ]
    tags = [Marginal(first=word, end=word + 1, label=tag, probability=p) for word, tag, p in marginals.tags]
    return spans + arcs, tags
