"""NLTK: trees in both directions, and parsers and taggers with NLTK's interfaces.

    from latentgram.compat.nltk import NLTKParser, NLTKTagger
    for tree in NLTKParser(parser).parse("The cat sleeps".split()): tree.pretty_print()

Constituency trees are `nltk.Tree`s, dependency trees `DependencyGraph`s. NLTK's own functions on these interfaces
work: `parse_one`, `parse_all` and `parse_sents` (no trees if none satisfies the constraints),
`DependencyEvaluator`, `tag_sents`, `accuracy` and `confusion`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn, Protocol, overload

from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import NoParse, SettingError
from latentgram.kinds.result import Parse
from latentgram.parser.parser import Parser

try:
    from nltk.parse.api import ParserI
    from nltk.parse.dependencygraph import DependencyGraph
    from nltk.tag.api import TaggerI
    from nltk.tree import ProbabilisticTree
    from nltk.tree import Tree as NLTKTree
except ModuleNotFoundError:
    raise SettingError("latentgram.compat.nltk needs NLTK: pip install 'latentgram[compat]'") from None


@overload
def to_nltk(tree: Tree) -> NLTKTree: ...
@overload
def to_nltk(tree: DependencyTree) -> DependencyGraph: ...
def to_nltk(tree: Tree | DependencyTree) -> NLTKTree | DependencyGraph:
    """A tree as an `nltk.Tree`, or as a `DependencyGraph`.

    >>> print(to_nltk(Tree("S", (Tree("NN", word="Cats"), Tree("VB", word="sleep")))))
    (S (NN Cats) (VB sleep))
    >>> graph = to_nltk(DependencyTree(("Cats", "sleep"), (2, 0), deprels=("nsubj", "root")))
    >>> list(graph.triples())
    [(('sleep', '_'), 'nsubj', ('Cats', '_'))]
    """
    if isinstance(tree, DependencyTree):
        return _graph(tree)
    pending: list[NLTKTree] = []
    for node in reversed(list(tree.nodes())):
        if node.word is not None:
            pending.append(NLTKTree(node.label, [node.word]))
            continue
        children = [pending.pop() for _ in node.children]
        pending.append(NLTKTree(node.label, children))
    return pending[0]


def _graph(tree: DependencyTree) -> DependencyGraph:
    """The columns as NLTK names them; words may hold blanks, so cells end with tabs."""
    columns = (tree.words, tree.lemmas, tree.upos, tree.xpos, tree.feats, tree.heads, tree.deprels)
    rows = (
        "\t".join(map(str, (place, *cells, "_", "_"))) for place, cells in enumerate(zip(*columns, strict=True), 1)
    )
    top = tree.deprels[tree.heads.index(0)] if 0 in tree.heads else "root"
    return DependencyGraph("\n".join(rows), cell_separator="\t", top_relation_label=top)


def from_nltk(tree: NLTKTree | DependencyGraph) -> Tree | DependencyTree:
    """A tree from an `nltk.Tree`, whose words are strings under tags, or from a `DependencyGraph`.

    >>> print(from_nltk(NLTKTree.fromstring("(S (NN Cats) (VB sleep))")))
    (S (NN Cats) (VB sleep))
    """
    if isinstance(tree, DependencyGraph):
        return _from_graph(tree)
    order: list[NLTKTree] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        order.append(node)
        if not (len(node) == 1 and isinstance(node[0], str)):
            if not len(node) or any(isinstance(child, str) for child in node):
                raise SettingError(f"the node {node.label()} has words next to other nodes, or no children")
            stack.extend(reversed(node))
    pending: list[Tree] = []
    for node in reversed(order):
        if isinstance(node[0], str):
            pending.append(Tree(str(node.label()), word=node[0]))
        else:
            pending.append(Tree(str(node.label()), tuple(pending.pop() for _ in node)))
    return pending[0]


def _from_graph(graph: DependencyGraph) -> DependencyTree:
    nodes = [graph.nodes[place] for place in sorted(graph.nodes) if place]

    def column(name: str) -> tuple[str, ...]:
        return tuple("_" if node[name] in (None, "") else str(node[name]) for node in nodes)

    heads = tuple(int(node["head"]) for node in nodes)
    return DependencyTree(
        column("word"), heads, column("rel"), column("ctag"), column("tag"), column("lemma"), column("feats")
    )


class NLTKParser(ParserI):  # type: ignore[misc]
    """A parser with the interface of `nltk.parse.ParserI`.

    Constituency trees carry p(tree | sentence), their `prob()`; dependency trees are `DependencyGraph`s.

    >>> import latentgram as lg
    >>> parser = NLTKParser(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())))
    >>> tree = next(parser.parse(["the", "teacher", "sleeps", "."]))
    >>> tree.leaves(), 0 < tree.prob() <= 1
    (['the', 'teacher', 'sleeps', '.'], True)
    """

    def __init__(self, parser: Parser, trees: int = 1) -> None:
        self.parser, self.trees = parser, trees

    def grammar(self) -> NoReturn:
        """Grammars with hidden states have no NLTK form."""
        raise NotImplementedError("a latentgram model is not an NLTK grammar")

    def parse(
        self, sent: Iterable[str], known: Constraints | None = None, **parts: object
    ) -> Iterator[ProbabilisticTree | DependencyGraph]:
        """The best trees, best first; none where no tree obeys what is known, nor of no words."""
        words = list(sent)
        try:
            if not words:
                parses: Sequence[Parse] = []
            elif self.trees == 1:
                parses = [self.parser.parse(words, known, **parts)]
            else:
                parses = self.parser.nbest(words, self.trees, known, **parts)
        except NoParse:
            parses = []
        return map(_as_nltk, parses)


def _as_nltk(parse: Parse) -> ProbabilisticTree | DependencyGraph:
    if not isinstance(parse.tree, Tree):
        return to_nltk(parse.tree)
    plain = to_nltk(parse.tree)
    return ProbabilisticTree(plain.label(), list(plain), prob=parse.probability)


class _Tags(Protocol):
    """What has a sequence of tags."""

    @property
    def tags(self) -> Sequence[str]: ...


class _TagsSentences(Protocol):
    """A `Tagger`, an `HMM`, or what else tags."""

    def tag(self, sentence: Sentence) -> _Tags: ...


class NLTKTagger(TaggerI):  # type: ignore[misc]
    """A tagger, or a hidden Markov model, with the interface of `nltk.tag.TaggerI`.

    >>> import latentgram as lg
    >>> sentences = lg.demo_treebank(50, seed=0).sentences()
    >>> tagger = NLTKTagger(lg.fit(lg.HMM, sentences, by=lg.Counting()))
    >>> tagger.tag(["the", "teacher", "sleeps", "."])[0]
    ('the', 'DT')
    """

    def __init__(self, tagger: _TagsSentences) -> None:
        self.tagger = tagger

    def tag(self, tokens: Iterable[str]) -> list[tuple[str, str]]:
        """Words with their tags."""
        words = tuple(tokens)
        return list(zip(words, self.tagger.tag(Sentence(words)).tags, strict=True)) if words else []
