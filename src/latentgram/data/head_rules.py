"""Head rules: which child of a node is its head, and the dependencies that follow.

The rule of a parent label is a list of passes, tried in order:

- `left A B …`: the leftmost child labelled A; if there is none, the leftmost labelled B; and so on;
- `leftmost A B …`: the leftmost child labelled A or B or …;
- `right …` and `rightmost …` from the other side.

If no pass finds a child, the head is the first child from the side of the last pass that is not punctuation.

`HeadRules.learn` learns rules from any treebank, without knowledge of the language. The head of X should be
something that X nodes have and other nodes do not: the passes of X are its child labels Y ordered by

    P(X has a child Y) · (P(the parent is X | Y) + [X and Y begin with the same letter]),

so IN comes before NP under PP, the verbs before NP under VP, and N before DT under NP. If several children have
the best label, the side decides: if only one child has it, is it more often the first or the last? Labels are
punctuation if nine of ten words under them have neither letters nor digits.

Cost: O(nodes × passes × children), compiled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from latentgram.arrays import Flags, Integers, Ints, Ints16, Ints32
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.data.kernels import forest as kernel
from latentgram.errors import SettingError

_SIDES = {"left": False, "leftmost": False, "right": True, "rightmost": True}
PENN_PUNCTUATION = ("``", "''", ",", ".", ":", "-LRB-", "-RRB-", "-LSB-", "-RSB-", "HYPH", "-NONE-")


@dataclass(frozen=True)
class HeadRules:
    """Passes by parent label, as the module's text says.

    >>> from latentgram.data.brackets import parse_forest
    >>> forest = parse_forest("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))")
    >>> HeadRules({"S": ("left VP",), "NP": ("right NN",)}).head_words(forest).tolist()
    [2, 1, 0, 1, 2, 2, 3, 3, 4]
    """

    rules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    otherwise: str = "left"
    """The pass for labels without a rule."""
    punctuation: tuple[str, ...] = PENN_PUNCTUATION
    coordination: tuple[str, ...] = ()
    """Labels that make a head of the child before them, not counting punctuation, in place of the one behind."""

    def __post_init__(self) -> None:
        for label, passes in (*self.rules.items(), ("otherwise", (self.otherwise,))):
            for text in passes:
                if text.split(" ")[0] not in _SIDES:
                    known = ", ".join(_SIDES)
                    raise SettingError(f"a head rule begins with one of {known}; a rule of {label} is {text!r}")

    def __repr__(self) -> str:
        return f"HeadRules({len(self.rules)} labels)"

    @classmethod
    def learn(cls, forest: Forest) -> HeadRules:
        """Rules for any treebank from its own statistics; see the module's text."""
        punctuation = _punctuation_labels(forest)
        child = np.flatnonzero((forest.parent != ABSENT) & ~mask_of(forest.labels, punctuation)[forest.label])
        width = len(forest.labels)
        pairs = np.sort(forest.parent[child].astype(np.int64) * width + forest.label[child])
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]  # np.unique hashes, and takes ten times as long
        nodes = np.bincount(forest.label[~forest.is_tag], minlength=width)[:, None]
        has_child = _table(forest.label[pairs // width], pairs % width, width) / np.maximum(nodes, 1)
        is_child = _table(forest.label[forest.parent[child]], forest.label[child], width)
        letter = np.array([label[:1] for label in forest.labels])
        score = has_child * (is_child / np.maximum(is_child.sum(0), 1) + (letter[:, None] == letter))
        orders = {
            forest.labels[x]: forest.labels.decode(
                y for y in np.argsort(-score[x], kind="stable") if score[x, y] > 0
            )
            for x in np.flatnonzero(score.any(1)).tolist()
        }
        either = [
            cls({x: (" ".join((side, *order)),) for x, order in orders.items()}, side, punctuation)
            for side in ("left", "right")
        ]
        places = [rules.head_children(forest) for rules in either]
        alone = (places[0] == places[1]) & (forest.arity > 1)
        last = np.bincount(forest.label[alone & (places[0] == forest.arity - 1)], minlength=width)
        first = np.bincount(forest.label[alone & (places[0] == 0)], minlength=width)
        chosen = {x: either[int(last[i] > first[i])].rules[x] for i, x in enumerate(forest.labels) if x in orders}
        return cls(chosen, "right" if last.sum() > first.sum() else "left", punctuation)

    def head_children(self, forest: Forest, *, child_label: Ints32 | None = None) -> Ints32:
        """The place of the head among the children of each node, from 0; 0 for nodes over words.

        `child_label` gives labels for nodes in their role as children, where a node stands for a unary chain.
        """
        below = forest.label if child_label is None else child_label
        first_pass, from_right, wanted = self.passes(forest.labels)
        skipped = mask_of(forest.labels, self.punctuation)
        return np.asarray(
            kernel.head_children(
                forest.size,
                forest.arity,
                forest.label,
                below,
                first_pass,
                from_right,
                wanted,
                skipped,
                mask_of(forest.labels, self.coordination),
            )
        )

    def head_words(self, forest: Forest) -> Ints32:
        """The head word of each node, counted from 0 in its sentence."""
        return np.asarray(kernel.head_words(forest.size, forest.arity, self.head_children(forest), forest.begin))

    def ranks(self, labels: Alphabet) -> tuple[Ints16, Flags]:
        """[parents, children] the pass in which the rules of a parent ask for a child, the lowest first, and
        whether that pass looks from the right.

        What no pass asks for comes after all of them, and punctuation last.

        >>> from latentgram.data.heads import ENGLISH
        >>> rank, from_right = ENGLISH.ranks(Alphabet(("VP", "VB", "NP", ".")))
        >>> rank[0].argsort().tolist(), bool(from_right[0, 2])
        ([1, 0, 2, 3], False)
        """
        first_pass, from_right, wanted = self.passes(labels)
        size = len(labels)
        rank, side = np.empty((size, size), np.int16), np.empty((size, size), bool)
        unspoken = mask_of(labels, self.punctuation)
        for parent, (begin, end) in enumerate(pairwise(first_pass.tolist())):
            asked = wanted[begin:end]
            first = np.where(asked.any(0), asked.argmax(0), end - begin)
            rank[parent] = np.where(asked.any(0), first, first + unspoken)
            side[parent] = np.append(from_right[begin:end], from_right[end - 1])[first]
        return rank, side

    def passes(self, labels: Alphabet) -> tuple[Ints, Flags, Flags]:
        """The passes of every label in turn: where they begin, their side, and the labels they want."""
        first_pass, from_right, wanted = [0], [], []
        for label in labels:
            for text in self.rules.get(label, (self.otherwise,)):
                side, *names = text.split(" ")
                groups = [[name] for name in names] if side in ("left", "right") else [names]
                for group in groups or [[]]:
                    from_right.append(_SIDES[side])
                    wanted.append(mask_of(labels, group))
            first_pass.append(len(wanted))
        return (
            np.array(first_pass, np.int64),
            np.array(from_right, bool),
            np.array(wanted, bool).reshape(len(wanted), len(labels)),
        )


def mask_of(labels: Alphabet, names: tuple[str, ...] | list[str]) -> Flags:
    """[labels] which of them have these names."""
    mask = np.zeros(len(labels), bool)
    number = labels.encode(names)
    mask[number[number != ABSENT]] = True
    return mask


def _table(rows: Integers, columns: Integers, width: int) -> Ints:
    """How often each row and column come together."""
    return np.bincount(rows.astype(np.int64) * width + columns, minlength=width * width).reshape(width, width)


def _punctuation_labels(forest: Forest) -> tuple[str, ...]:
    """The labels that are over words without any letter or digit nine times of ten."""
    silent = np.array([not any(map(str.isalnum, word)) for word in forest.words] or [False])
    unspoken = forest.label[forest.is_tag & silent[np.maximum(forest.word, 0)]]
    used = np.bincount(forest.label, minlength=len(forest.labels))
    often = 10 * np.bincount(unspoken, minlength=len(forest.labels)) >= 9 * used
    return tuple(forest.labels[i] for i in np.flatnonzero(often & (used > 0)).tolist())
