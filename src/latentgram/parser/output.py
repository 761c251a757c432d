"""Parses as text: brackets, CoNLL-U, JSON lines, or an outline; with probabilities where asked for.

Brackets carry the posterior of a node behind an `@` (`(NP@0.982 …)`), CoNLL-U in MISC (`HeadProb=`, `RelProb=` of
the relation given the head, `TagProb=`, `UposProb=`, `XposProb=` and `FeatsProb=` where a tagger gave them,
`LemmaProb=`, and `TokenProb=` and `SplitProb=` for text that a model has cut), JSON in its own fields. A fallback
tree is flagged in each of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from latentgram.data.conllu import to_conllu
from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.errors import SettingError
from latentgram.kinds.result import COLUMN_MARKS, NOTES, SPLIT_MARK, TOKEN_MARK, WORD_MARKS, Parse
from latentgram.view.trees import outline

FORMATS = ("brackets", "conllu", "json", "outline")
"""The names of the output formats."""


def render(parse: Parse, form: str | None = None, probabilities: bool = False) -> str:
    """A parse in one of `FORMATS`, with its line ends; by default brackets or CoNLL-U, as fits the tree."""
    constituency = isinstance(parse.tree, Tree)
    form = form or ("brackets" if constituency else "conllu")
    if form == "json":
        return json.dumps(parse.to_json(), ensure_ascii=False) + "\n"
    if form == "outline":
        return outline(parse.tree, parse.confidence.tolist() if probabilities else None) + "\n\n"
    if form == "brackets" and isinstance(parse.tree, Tree):
        tree = _with_endings(parse.tree, [f"@{p:.4g}" for p in parse.confidence]) if probabilities else parse.tree
        return f"{tree}\n"
    if form == "conllu" and isinstance(parse.tree, DependencyTree):
        return to_conllu(_with_marks(parse.tree, parse) if probabilities else parse.tree)
    raise SettingError(
        f"this parser gives {'constituents' if constituency else 'dependencies'}, which have no {form} format"
    )


def _with_endings(tree: Tree, endings: list[str]) -> Tree:
    """A tree whose labels, in the order of `nodes`, got endings."""
    pending: list[Tree] = []
    for node, ending in zip(reversed(list(tree.nodes())), reversed(endings), strict=True):
        children = tuple(pending.pop() for _ in node.children)
        pending.append(Tree(node.label + ending, children, node.word))
    return pending[0]


def _with_marks(tree: DependencyTree, parse: Parse) -> DependencyTree:
    """A dependency tree with posteriors in MISC and the log-probability in a comment."""
    columns = (parse.confidence, parse.relation_confidence, parse.tag_confidence, parse.lemma_confidence)
    known = {mark: column for mark, column in zip(WORD_MARKS, columns, strict=True) if len(column)}
    known.update({COLUMN_MARKS[name]: column for name, column in parse.column_confidence.items()})
    shares = ({mark: column[word] for mark, column in known.items()} for word in range(len(tree)))
    misc, rows = list(map(_marked, tree.misc, shares)), list(tree.extra_rows)
    notes = [] if math.isnan(parse.logprob) else [f"{NOTES[0]}{parse.logprob:.6f}"]
    notes += [f"{NOTES[1]}yes"] if parse.fallback else []
    if parse.sentence.surface is not None:
        notes.append(f"{NOTES[2]}{parse.sentence.surface.probability:.4g}")
        for token in parse.sentence.surface.tokens:
            if token.multiword:
                before, row = token.row
                cells, column = row.rsplit("\t", 1)
                marked = _marked(column, {TOKEN_MARK: token.probability, SPLIT_MARK: token.split})
                rows[rows.index(token.row)] = before, f"{cells}\t{marked}"
            else:
                misc[token.first] = _marked(misc[token.first], {TOKEN_MARK: token.probability})
    return tree.replace(misc=tuple(misc), extra_rows=tuple(rows), comments=(*tree.comments, *notes))


def _marked(misc: str, posteriors: Mapping[str, float]) -> str:
    """A MISC column with some posteriors, those that are known."""
    marks = [f"{mark}{p:.4g}" for mark, p in posteriors.items() if not math.isnan(p)]
    return "|".join([misc, *marks] if misc != "_" else marks) or "_"
