"""The surface of a dependency tree: its tokens as written in the text, which may contain several words.

In CoNLL-U a row `3-4` says that the words 3 and 4 are written as one token (a *multiword token*: French `du` for
`de le`); `SpaceAfter=No` in MISC says that no space follows a token. A text consists of tokens and spaces; the
text of a treebank has an empty line before each new document or paragraph. O(size of the rows).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from latentgram.data.files import whole_number
from latentgram.errors import DataError

if TYPE_CHECKING:
    from latentgram.data.dependencies import DependencyTree

NO_SPACE = "SpaceAfter=No"
BREAKS = ("# newdoc", "# newpar")
"""How the comments begin that stand before a new document or paragraph."""


class Token(NamedTuple):
    """A token: how it is written, its words `first` to just before `end`, and whether a blank follows."""

    form: str
    first: int
    end: int
    space_after: bool = True
    probability: float = 1.0
    """How sure it is that it ends where it does and nowhere before, given where it begins."""
    split: float = 1.0
    """How sure it is that its words are these."""

    @property
    def multiword(self) -> bool:
        """Whether it has a row of its own, because its words are not simply itself."""
        return self.end - self.first > 1

    @property
    def row(self) -> tuple[int, str]:
        """The row of a multiword token in CoNLL-U, with the number of words before it."""
        misc = "_" if self.space_after else NO_SPACE
        return self.first, "\t".join((f"{self.first + 1}-{self.end}", self.form, *"_" * 7, misc))


@dataclass(frozen=True, slots=True)
class Surface:
    """How a sentence stands in its text: its tokens, p that it is one sentence, whether it begins a paragraph."""

    tokens: tuple[Token, ...]
    probability: float = 1.0
    begins_paragraph: bool = False


def tokens_of(tree: DependencyTree) -> list[Token]:
    """The tokens of a tree, in order.

    >>> from latentgram.data.dependencies import DependencyTree
    >>> row = "1-2\\tdu\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\tSpaceAfter=No"
    >>> tree = DependencyTree(("de", "le", "."), (0, 1, 1), extra_rows=((0, row),))
    >>> [(token.form, token.first, token.end, token.space_after) for token in tokens_of(tree)]
    [('du', 0, 2, False), ('.', 2, 3, True)]
    """
    tokens: list[Token] = []
    word = 0
    for first, end, form, misc in _ranges(tree):
        if first < word or end > len(tree):
            raise DataError(f"the multiword token {first + 1}-{end} does not fit the words of its sentence")
        tokens += _single(tree, word, first)
        tokens.append(Token(form, first, end, NO_SPACE not in misc.split("|")))
        word = end
    return tokens + list(_single(tree, word, len(tree)))


def _single(tree: DependencyTree, first: int, end: int) -> Iterator[Token]:
    for word in range(first, end):
        yield Token(tree.words[word], word, word + 1, NO_SPACE not in tree.misc[word].split("|"))


def _ranges(tree: DependencyTree) -> Iterator[tuple[int, int, str, str]]:
    """The multiword rows: first word, end, form and MISC; empty nodes are not among them."""
    for before, row in tree.extra_rows:
        columns = row.split("\t")
        begin, hyphen, last = columns[0].partition("-")
        if not hyphen:
            continue
        end = whole_number(last)
        if whole_number(begin) != before + 1 or end is None or end <= before:
            raise DataError(f"the multiword token {columns[0][:50]} is not placed before its first word")
        yield before, end, columns[1], columns[-1]


def text_of(tokens: Sequence[Token]) -> str:
    """A sentence as it is written, without the blank behind it."""
    return "".join(token.form + " " * token.space_after for token in tokens).rstrip(" ")


def paragraphs_of(trees: Iterable[DependencyTree]) -> Iterator[list[tuple[DependencyTree, list[Token]]]]:
    """The sentences of each paragraph, with their tokens; a document without marks is one."""
    paragraph: list[tuple[DependencyTree, list[Token]]] = []
    for tree in trees:
        if paragraph and any(line.startswith(BREAKS) for line in tree.comments):
            yield paragraph
            paragraph = []
        paragraph.append((tree, tokens_of(tree)))
    if paragraph:
        yield paragraph


def raw_text(trees: Iterable[DependencyTree]) -> str:
    """The text of a treebank: one paragraph per line, an empty line between two of them.

    >>> from latentgram.data.dependencies import DependencyTree
    >>> cats = DependencyTree(("Cats", "sleep", "."), (2, 0, 2), misc=("_", "SpaceAfter=No", "_"))
    >>> raw_text([cats, cats, cats.replace(comments=("# newpar",))])
    'Cats sleep. Cats sleep.\\n\\nCats sleep.\\n'
    """
    lines = (
        "".join(token.form + " " * token.space_after for _, tokens in paragraph for token in tokens).rstrip(" ")
        for paragraph in paragraphs_of(trees)
    )
    return "\n\n".join(lines) + "\n"
