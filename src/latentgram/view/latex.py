r"""Trees for LaTeX: constituents for the package *forest*, dependencies for *tikz-dependency*."""

from __future__ import annotations

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in text)


def latex(tree: Tree | DependencyTree) -> str:
    r"""A tree as LaTeX.

    >>> print(latex(Tree("NP", (Tree("DT", word="the"), Tree("NN", word="cat")))))
    \begin{forest}
    [{NP} [{DT} [{the}]] [{NN} [{cat}]]]
    \end{forest}
    >>> print(latex(DependencyTree(("dogs", "bark"), (2, 0), ("nsubj", "root"))))
    \begin{dependency}
    \begin{deptext}
    dogs \& bark \\
    \end{deptext}
    \depedge{2}{1}{nsubj}
    \deproot{2}{root}
    \end{dependency}
    """
    if isinstance(tree, Tree):
        return f"\\begin{{forest}}\n{_forest(tree)}\n\\end{{forest}}"
    words = r" \& ".join(map(_escaped, tree.words))
    edges = [
        f"\\depedge{{{head}}}{{{word}}}{{{_escaped(relation)}}}"
        if head
        else f"\\deproot{{{word}}}{{{_escaped(relation)}}}"
        for word, (head, relation) in enumerate(zip(tree.heads, tree.deprels, strict=True), 1)
    ]
    lines = [
        r"\begin{dependency}",
        r"\begin{deptext}",
        rf"{words} \\",
        r"\end{deptext}",
        *edges,
        r"\end{dependency}",
    ]
    return "\n".join(lines)


def _forest(tree: Tree) -> str:
    """Brackets around braces, so that nothing in a label or word has a meaning; without recursion."""
    parts: list[str] = []
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            parts.append("]")
            continue
        word = "" if node.word is None else f" [{{{_escaped(node.word)}}}]"
        parts.append(f" [{{{_escaped(node.label)}}}{word}")
        stack.append(None)
        stack.extend(reversed(node.children))
    return "".join(parts)[1:]
