"""`Parse`: the one result of every parser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree


@dataclass(frozen=True, eq=False)
class Parse:
    """A tree and how sure the parser is of it.

    `logprob` is log p(sentence) (nan for models that score trees only), `tree_logprob` log p(tree, sentence);
    `confidence` holds the posterior of every node in the order of `tree.nodes()`, or of every word's arc;
    `tag_confidence` that of every word's tag. A sentence without a parse gets a fallback tree, flagged.
    """

    sentence: Sentence
    tree: Tree | DependencyTree
    logprob: float
    tree_logprob: float
    confidence: NDArray[np.float64]
    tag_confidence: NDArray[np.float64]
    fallback: bool = False
