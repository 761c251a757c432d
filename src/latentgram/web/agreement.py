"""The agreement of two annotators on the same sentences.

Labelled F1 of brackets, or UAS and LAS of arcs, with one of them as the gold standard (F1 is symmetric); and
Cohen's κ = (o − e)/(1 − e) over words, with o the proportion of words with the same category from both and e the
proportion expected by chance, from how often each uses each category. The category of a word is the label of the
lowest constituent over it that is not its tag, or the relation to its head.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.evaluate.attachment import score_attachment
from latentgram.evaluate.bracketing import score_brackets
from latentgram.kinds.protocols import AnyTree
from latentgram.web.editing.phrases import spans


@dataclass(frozen=True)
class Agreement:
    """Figures in percent, but κ."""

    sentences: int
    same: int
    f1: float | None
    uas: float | None
    las: float | None
    kappa: float | None


def agreement_of(pairs: Sequence[tuple[AnyTree, AnyTree]]) -> Agreement:
    """How the first of each pair agrees with the second.

    >>> from latentgram.data.brackets import parse_tree
    >>> tree = parse_tree("(S (NP (NN a)) (VP (VB b) (NN c)))")
    >>> other = parse_tree("(S (NP (NN a)) (VP (VB b) (NP (NN c))))")
    >>> found = agreement_of([(tree, other), (tree, tree)])
    >>> found.sentences, found.same, round(found.f1 or 0, 1), round(found.kappa or 0, 2)
    (2, 1, 92.3, 0.67)
    """
    same = sum(same_tree(first, second) for first, second in pairs)
    arcs = [
        (first, second)
        for first, second in pairs
        if isinstance(first, DependencyTree) and isinstance(second, DependencyTree)
    ]
    phrases = [(first, second) for first, second in pairs if isinstance(first, Tree) and isinstance(second, Tree)]
    f1 = uas = las = None
    if arcs:
        score = score_attachment(
            Treebank.of([first for first, _ in arcs]), [second for _, second in arcs], punctuation="none"
        )
        uas, las = float(score.uas), float(score.las)
    elif phrases:
        gold = Treebank.of([first for first, _ in phrases])
        f1 = float(score_brackets(gold.forest, [second for _, second in phrases]).f1)
    categories = [each for pair in pairs for each in zip(*map(_categories, pair), strict=True)]
    return Agreement(len(pairs), same, f1, uas, las, kappa(categories))


def same_tree(first: AnyTree, second: AnyTree) -> bool:
    """Whether two trees say the same; what their comments say, and their names, does not matter."""
    if isinstance(first, DependencyTree) and isinstance(second, DependencyTree):
        return first.replace(comments=()) == second.replace(comments=())
    return first == second


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's κ of two raters; None without anything rated, or where chance alone would agree always.

    >>> kappa([("a", "a"), ("b", "b"), ("a", "b"), ("b", "a")])
    0.0
    """
    if not pairs:
        return None
    size = len(pairs)
    observed = sum(left == right for left, right in pairs) / size
    first, second = (Counter(rater) for rater in zip(*pairs, strict=True))
    expected = sum(first[name] * second[name] for name in first) / size**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _categories(tree: AnyTree) -> list[str]:
    if isinstance(tree, DependencyTree):
        return list(tree.deprels)
    lowest: list[str] = []
    nodes = list(zip(tree.nodes(), spans(tree), strict=True))
    for word in range(max(end for _, (_, _, end) in nodes)):
        over = [label for node, (label, first, end) in nodes if first <= word < end and node.word is None]
        lowest.append(over[-1] if over else "")
    return lowest
