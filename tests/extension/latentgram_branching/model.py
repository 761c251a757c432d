"""A model, its learner and its parser: every sentence has one tree, whose words are drawn one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

import latentgram as lg
from latentgram.data.provenance import Provenance
from latentgram.kinds.kind import Context
from latentgram.kinds.marginals import Marginals
from latentgram_branching.settings import Guessing


@dataclass(frozen=True)
class Branching:
    """Trees that branch to one side under one label; what words were seen as, and how often."""

    root: str
    side: str
    tag_of: dict[str, str]
    count: dict[str, int]
    provenance: Provenance = field(default_factory=Provenance)

    def summary(self) -> str:
        return f"{self.side}-branching trees over {len(self.tag_of)} words"

    def tree(self, words: Sequence[str]) -> lg.Tree:
        """The only tree of a sentence."""
        leaves = [lg.Tree(self.tag_of.get(word, "NN"), word=word) for word in words]
        while len(leaves) > 2:
            pair = slice(-2, None) if self.side == "right" else slice(0, 2)
            leaves[pair] = [lg.Tree(self.root, tuple(leaves[pair]))]
        return lg.Tree(self.root, tuple(leaves))

    def logprob(self, words: Sequence[str]) -> float:
        """log p(words), one count being kept for a word never seen."""
        total = sum(self.count.values()) + 1
        return sum(math.log(self.count.get(word, 1) / total) for word in words)


def learn_branching(treebank: lg.Treebank[lg.Tree], settings: Guessing, context: Context) -> Branching:
    """Count labels of roots, words and their tags."""
    roots = Counter(tree.label for tree in treebank)
    pairs = Counter(pair for tree in treebank for pair in zip(tree.words, tree.tags, strict=True))
    tags = {word: tag for (word, tag), _ in sorted(pairs.items(), key=lambda item: item[1])}
    count = Counter(word for tree in treebank for word in tree.words)
    return Branching(roots.most_common(1)[0][0], settings.side, tags, dict(count))


class BranchingBackend:
    """Parses with the model; there is one tree, so every posterior is 1."""

    def __init__(self, model: Branching, decoder: None = None) -> None:
        self.model = model

    @property
    def tags(self) -> frozenset[str]:
        return frozenset(self.model.tag_of.values())

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.model.root,)

    def parse(self, sentences: Sequence[lg.Sentence], known: object = None) -> list[lg.Parse]:
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: lg.Sentence) -> lg.Parse:
        tree, logprob = self.model.tree(sentence.words), self.model.logprob(sentence.words)
        nodes = sum(1 for _ in tree.nodes())
        return lg.Parse(sentence, tree, logprob, logprob, np.ones(nodes), np.ones(len(sentence)))

    def nbest(self, sentence: lg.Sentence, count: int, known: object = None) -> list[lg.Parse]:
        return self.parse([sentence])

    def sample(self, sentence: lg.Sentence, count: int, seed: int, known: object = None) -> list[lg.Parse]:
        return self.parse([sentence] * count)

    def score(self, tree: lg.Tree) -> lg.Parse:
        return self._parse(lg.Sentence(tree.words))

    def marginals(self, sentence: lg.Sentence, known: object = None) -> Marginals:
        tree = self.model.tree(sentence.words)
        return Marginals(spans=tuple((begin, end, label, 1.0) for label, begin, end in tree.spans()))

    def compare(self, gold: Sequence[lg.Tree], parses: Sequence[lg.Parse]) -> object:
        return lg.score_brackets(gold, [parse.tree for parse in parses])
