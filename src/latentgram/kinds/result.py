"""`Parse`: the one result of every parser."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import DataError

HEAD_MARK, TAG_MARK = "HeadProb=", "TagProb="
"""How the posteriors of arcs and tags are written in MISC."""
NOTES = ("# logprob = ", "# fallback = ")
"""How the comments that speak of a whole parse begin."""


@dataclass(frozen=True, eq=False)
class Parse:
    """A tree and how sure the parser is of it.

    `logprob` is log p(sentence) (nan for models that score trees only), `tree_logprob` log p(tree, sentence);
    `confidence` holds the posterior of every node in the order of `tree.nodes()`, or of every word's arc;
    `tag_confidence` that of every word's tag. A sentence without a parse gets a fallback tree, flagged. Once a
    parser is calibrated, these are the calibrated posteriors.

    `entropy` is that of the posterior over trees, in nats: exact for plain PCFGs and arc-factored models of the
    first order, for other models that of the simplest distribution with the same posteriors (of rules, or of each
    word's head), which is an upper bound.
    `expected` is the F1 of phrases, or the share of right heads, that the posteriors promise for this tree.

    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    >>> parse = parser.parse("The dog sleeps .")
    >>> len(parse.confidence) == len(list(parse.tree.nodes())), parse.fallback
    (True, False)
    """

    sentence: Sentence
    tree: Tree | DependencyTree
    logprob: float
    tree_logprob: float
    confidence: NDArray[np.float64]
    tag_confidence: NDArray[np.float64]
    fallback: bool = False
    entropy: float = math.nan
    expected: float = math.nan
    conditional: bool = False
    """Whether the model has only p(tree | sentence), which then is in `tree_logprob`."""

    def onto(self, source: DependencyTree) -> Parse:
        """This parse on the rows the sentence came from: all of them is kept but heads, relations and tags.

        Comments, lemmas, features, multiword and empty rows, MISC and line ends stay; tags are the parser's where
        it has some. What an earlier run wrote of its own tree (its probabilities) goes.

        >>> import latentgram as lg
        >>> parser = lg.Parser(lg.fit(lg.SHAG, lg.demo_dependencies(50), by=lg.Counting()))
        >>> row = lg.DependencyTree(("Hi",), (-1,), upos=("INTJ",), lemmas=("hi",), comments=("# sent_id = 1",))
        >>> tree = parser.parse(row.sentence).onto(row).tree
        >>> tree.heads, tree.lemmas, tree.comments
        ((0,), ('hi',), ('# sent_id = 1',))
        """
        if not isinstance(self.tree, DependencyTree):
            raise DataError("only a dependency tree can be written onto the rows of CoNLL-U")
        found = {name: getattr(self.tree, name) for name in ("upos", "xpos")}
        tags = {name: column for name, column in found.items() if any(tag != "_" for tag in column)}
        tree = source.replace(
            heads=self.tree.heads,
            deprels=self.tree.deprels,
            misc=tuple(map(_without_marks, source.misc)),
            comments=tuple(line for line in source.comments if not line.startswith(NOTES)),
            **tags,
        )
        return dataclasses.replace(self, tree=tree)

    @property
    def probability(self) -> float:
        """The posterior of the whole tree, p(tree | sentence); nan where the model has none for trees."""
        if self.tree_logprob == -math.inf:
            return 0.0
        given = 0.0 if self.conditional else self.logprob
        return math.exp(min(self.tree_logprob - given, 0.0))


def _without_marks(misc: str) -> str:
    """A MISC column without the posteriors of an earlier parse."""
    if HEAD_MARK not in misc and TAG_MARK not in misc:
        return misc
    return "|".join(part for part in misc.split("|") if not part.startswith((HEAD_MARK, TAG_MARK))) or "_"
