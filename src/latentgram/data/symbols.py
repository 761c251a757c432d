r"""The names of grammar symbols: what a node of a binarised tree stands for, written so that it can be read back.

A symbol is written

    [@] label {+ label} {/ sibling} {^ ancestor} [~]

`S+VP+VB` is a unary chain from top to bottom; `@VP` a node that binarisation put under VP, `@VP/PP/NP` one that
remembers the children it has taken last; `NP^S` an NP under an S; `NP~` an NP directly over a word, where the
treebank has NP over other nodes too. The six marks may occur in labels: a backslash before one makes it a plain
character. So no label clashes with a mark, `ADVP|PRT` and `A+B` among them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_MARKS = re.compile(r"[\\+@/^~]")


class Symbol(NamedTuple):
    """What a symbol stands for; `str` writes it.

    >>> str(Symbol(("S", "VP"))), str(Symbol(("VP",), intermediate=True, siblings=("A/B",)))
    ('S+VP', '@VP/A\\\\/B')
    >>> Symbol.read("S+VP^SBAR").ancestors
    ('SBAR',)
    """

    chain: tuple[str, ...]
    intermediate: bool = False
    siblings: tuple[str, ...] = ()
    ancestors: tuple[str, ...] = ()
    over_word: bool = False

    def __str__(self) -> str:
        return "".join(
            (
                "@" if self.intermediate else "",
                "+".join(map(_quote, self.chain)),
                *("/" + _quote(sibling) for sibling in self.siblings),
                *("^" + _quote(ancestor) for ancestor in self.ancestors),
                "~" if self.over_word else "",
            )
        )

    @staticmethod
    def read(text: str) -> Symbol:
        """The symbol written so."""
        return _read(text)


def _quote(label: str) -> str:
    return _MARKS.sub(r"\\\g<0>", label)


@lru_cache(maxsize=1 << 16)
def _read(text: str) -> Symbol:
    parts: dict[str, list[str]] = {"+": [], "/": [], "^": []}
    intermediate = text.startswith("@")
    kind, label, quoted, over_word = "+", "", False, False
    for character in text[intermediate:]:
        if quoted:
            label, quoted = label + character, False
        elif character == "\\":
            quoted = True
        elif character == "~":
            over_word = True
        elif character in parts:
            parts[kind].append(label)
            kind, label = character, ""
        else:
            label += character
    parts[kind].append(label)
    return Symbol(tuple(parts["+"]), intermediate, tuple(parts["/"]), tuple(parts["^"]), over_word)


def tag_of(symbol: str) -> str:
    """The tag at the bottom of a preterminal symbol's chain.

    >>> tag_of("S+VP+VB"), tag_of("NP~")
    ('VB', 'NP')
    """
    return _read(symbol).chain[-1]
