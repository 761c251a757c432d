"""NLTK: trees both ways, and a parser with NLTK's interface.

from latentgram.compat.nltk import NLTKParser
for tree in NLTKParser(parser).parse("The cat sleeps".split()): tree.pretty_print()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn

from latentgram.data.constraints import Constraints
from latentgram.data.tree import Tree
from latentgram.errors import SettingError
from latentgram.kinds.result import Parse
from latentgram.parser.parser import Parser

try:
    from nltk.parse.api import ParserI
    from nltk.tree import ProbabilisticTree
    from nltk.tree import Tree as NLTKTree
except ModuleNotFoundError:
    raise SettingError("latentgram.compat.nltk needs NLTK: pip install 'latentgram[compat]'") from None


def to_nltk(tree: Tree) -> NLTKTree:
    """A tree as an `nltk.Tree`.

    >>> print(to_nltk(Tree("S", (Tree("NN", word="Cats"), Tree("VB", word="sleep")))))
    (S (NN Cats) (VB sleep))
    """
    pending: list[NLTKTree] = []
    for node in reversed(list(tree.nodes())):
        if node.word is not None:
            pending.append(NLTKTree(node.label, [node.word]))
            continue
        children = [pending.pop() for _ in node.children]
        pending.append(NLTKTree(node.label, children))
    return pending[0]


def from_nltk(tree: NLTKTree) -> Tree:
    """A tree from an `nltk.Tree`, whose words are strings under tags.

    >>> print(from_nltk(NLTKTree.fromstring("(S (NN Cats) (VB sleep))")))
    (S (NN Cats) (VB sleep))
    """
    order: list[NLTKTree] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        if not (len(node) == 1 and isinstance(node[0], str)):
            if not len(node) or any(isinstance(child, str) for child in node):
                raise SettingError(f"the node {node.label()} has words beside other nodes, or nothing below it")
            stack.extend(reversed(node))
    pending: list[Tree] = []
    for node in reversed(order):
        if isinstance(node[0], str):
            pending.append(Tree(str(node.label()), word=node[0]))
        else:
            pending.append(Tree(str(node.label()), tuple(pending.pop() for _ in node)))
    return pending[0]


class NLTKParser(ParserI):  # type: ignore[misc]
    """A constituency parser with the interface of `nltk.parse.ParserI`; trees carry p(tree | sentence)."""

    def __init__(self, parser: Parser, trees: int = 1) -> None:
        self.parser, self.trees = parser, trees

    def grammar(self) -> NoReturn:
        """Grammars with hidden states have no NLTK form."""
        raise NotImplementedError("a latentgram model is not an NLTK grammar")

    def parse(
        self, sent: Iterable[str], known: Constraints | None = None, **parts: object
    ) -> Iterator[ProbabilisticTree]:
        """The best trees as `ProbabilisticTree`s, best first."""
        words = list(sent)
        if self.trees == 1:
            parses = [self.parser.parse(words, known, **parts)]
        else:
            parses = self.parser.nbest(words, self.trees, known, **parts)
        return (_probabilistic(parse) for parse in parses)


def _probabilistic(parse: Parse) -> ProbabilisticTree:
    if not isinstance(parse.tree, Tree):
        raise SettingError("NLTK's parsers give constituency trees, and this one gives dependencies")
    plain = to_nltk(parse.tree)
    return ProbabilisticTree(plain.label(), list(plain), prob=parse.probability)
