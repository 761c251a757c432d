"""Head rules of English, those that fit a treebank, and the dependencies that follow from heads.

`COLLINS` is the table of Collins (1999, appendix A) for Penn labels, which the parser of Klein and Manning (2003)
and so Cohen et al. (2013) use, with his rule for coordination: where the child before the head is a conjunction,
the head is the one before that. `ENGLISH` is the table with *to* below the verb it marks, and without that rule.

A word depends on the head word of the smallest constituent that holds it and is headed by another word.
"""

from __future__ import annotations

import numpy as np

from latentgram.arrays import Ints32
from latentgram.data.alphabet import ABSENT
from latentgram.data.dependencies import ROOT, DependencyTree
from latentgram.data.forest import Forest
<<<<<<< HEAD
from latentgram.data.head_rules import HeadRules, mask_of
=======
from latentgram.data.kernels import forest as kernel
from latentgram.errors import SettingError

_SIDES = {"left": False, "leftmost": False, "right": True, "rightmost": True}
PENN_PUNCTUATION = ("``", "''", ",", ".", ":", "-LRB-", "-RRB-", "-LSB-", "-RSB-", "HYPH", "-NONE-")


@dataclass(frozen=True)
class HeadRules:
    """Passes by parent label, as the module's text says.

    >>> from latentgram.data.brackets import parse_forest
    >>> forest = parse_forest("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))")
    >>> dependencies(forest, ENGLISH)[0].heads
    (2, 3, 0, 3, 3)
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
                    raise SettingError(
                        f"a head rule must begin with one of {', '.join(_SIDES)}; the rule of {label} is {text!r}"
                    )

    def __repr__(self) -> str:
        return f"HeadRules({len(self.rules)} labels)"

    @classmethod
    def learn(cls, forest: Forest) -> HeadRules:
        """Rules for any treebank from its own statistics; see the module's text."""
        punctuation = _punctuation_labels(forest)
        child = np.flatnonzero((forest.parent != ABSENT) & ~_mask(forest.labels, punctuation)[forest.label])
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
        first_pass, from_right, wanted = self._passes(forest.labels)
        skipped = _mask(forest.labels, self.punctuation)
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
                _mask(forest.labels, self.coordination),
            )
        )

    def head_words(self, forest: Forest) -> Ints32:
        """The head word of each node, counted from 0 in its sentence."""
        return np.asarray(kernel.head_words(forest.size, forest.arity, self.head_children(forest), forest.begin))

    def ranks(self, labels: Alphabet) -> tuple[Ints16, Flags]:
        """[parents, children] the pass in which the rules of a parent ask for a child, the lowest first, and
        whether that pass looks from the right.

        What no pass asks for comes after all of them, and punctuation last.

        >>> rank, from_right = ENGLISH.ranks(Alphabet(("VP", "VB", "NP", ".")))
        >>> rank[0].argsort().tolist(), bool(from_right[0, 2])
        ([1, 0, 2, 3], False)
        """
        first_pass, from_right, wanted = self._passes(labels)
        size = len(labels)
        rank, side = np.empty((size, size), np.int16), np.empty((size, size), bool)
        unspoken = _mask(labels, self.punctuation)
        for parent, (begin, end) in enumerate(pairwise(first_pass.tolist())):
            asked = wanted[begin:end]
            first = np.where(asked.any(0), asked.argmax(0), end - begin)
            rank[parent] = np.where(asked.any(0), first, first + unspoken)
            side[parent] = np.append(from_right[begin:end], from_right[end - 1])[first]
        return rank, side

    def _passes(self, labels: Alphabet) -> tuple[Ints, Flags, Flags]:
        """The passes of every label in turn: where they begin, their side, and the labels they want."""
        first_pass, from_right, wanted = [0], [], []
        for label in labels:
            for text in self.rules.get(label, (self.otherwise,)):
                side, *names = text.split(" ")
                groups = [[name] for name in names] if side in ("left", "right") else [names]
                for group in groups or [[]]:
                    from_right.append(_SIDES[side])
                    wanted.append(_mask(labels, group))
            first_pass.append(len(wanted))
        return (
            np.array(first_pass, np.int64),
            np.array(from_right, bool),
            np.array(wanted, bool).reshape(len(wanted), len(labels)),
        )


def _mask(labels: Alphabet, names: tuple[str, ...] | list[str]) -> Flags:
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
>>>>>>> 983062e (n-gram models are built, mixed and queried by several workers, and Smith and Eisner's tables too; plainer messages, help and pages)


def fitting_rules(forest: Forest) -> HeadRules:
    """`ENGLISH` where it asks for a child of 19 of 20 nodes with several, else rules learned from the treebank.

    >>> from latentgram.data.brackets import parse_forest
    >>> fitting_rules(parse_forest("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))")) is ENGLISH
    True
    >>> fitting_rules(parse_forest("(IP (NP (NN 猫)) (VP (VV 睡) (AS 了)))")) is ENGLISH
    False
    """
    rank, _ = ENGLISH.ranks(forest.labels)
    child = np.flatnonzero(forest.parent != ABSENT)
    parent = forest.parent[child]
    passes = np.diff(ENGLISH.passes(forest.labels)[0])
    asked = np.zeros(len(forest.label), bool)
    asked[parent[rank[forest.label[parent], forest.label[child]] < passes[forest.label[parent]]]] = True
    ruled = mask_of(forest.labels, tuple(ENGLISH.rules))[forest.label]
    fitting = (asked & ruled)[forest.arity > 1]
    return ENGLISH if fitting.size and fitting.mean() >= 0.95 else HeadRules.learn(forest)


def dependency_heads(forest: Forest, rules: HeadRules) -> Ints32:
    """The head of every word of the forest, from 1 in its sentence, 0 for the root; sentence after sentence."""
    word = rules.head_words(forest)
    offset = np.concatenate((np.zeros(1, np.int64), np.cumsum(forest.lengths)))[:-1]
    heads = np.full(int(forest.lengths.sum()), ROOT, np.int32)
    parent = forest.parent
    # A word's topmost node is the one whose parent has another head word.
    top = np.flatnonzero((parent != ABSENT) & (word != word[parent]))
    heads[offset[forest.tree_of[top]] + word[top]] = word[parent[top]] + 1
    return heads


def dependencies(forest: Forest, rules: HeadRules) -> list[DependencyTree]:
    """The unlabelled dependency trees of constituency trees; tags go to XPOS."""
    heads = np.split(dependency_heads(forest, rules), np.cumsum(forest.lengths)[:-1])
    return [
        DependencyTree(sentence.words, tuple(own.tolist()), xpos=sentence.xpos or ())
        for sentence, own in zip(forest.sentences(), heads, strict=True)
    ]


COLLINS = HeadRules(
    {
        "ADJP": ("left NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",),
        "ADVP": ("right RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",),
        "CONJP": ("right CC RB IN",),
        "FRAG": ("right",),
        "INTJ": ("left",),
        "LST": ("right LS :",),
        "NAC": ("left NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",),
        "NML": (
            "rightmost NN NNP NNPS NNS NX NML",
            "left NP",
            "rightmost $ ADJP PRN",
            "right CD",
            "rightmost JJ JJS RB QP",
        ),
        "NP": (
            "rightmost NN NNP NNPS NNS NX NML POS JJR",
            "left NP",
            "rightmost $ ADJP PRN",
            "right CD",
            "rightmost JJ JJS RB QP",
            "right",
        ),
        "NX": ("rightmost NN NNP NNPS NNS NX NML POS JJR", "left NP", "rightmost $ ADJP PRN", "right CD JJ"),
        "PP": ("right IN TO VBG VBN RP FW",),
        "PRN": ("left",),
        "PRT": ("right RP",),
        "QP": ("left $ IN NNS NN JJ RB DT CD QP JJR JJS",),
        "RRC": ("right VP NP ADVP ADJP PP",),
        "S": ("left TO IN VP S SBAR ADJP UCP NP",),
        "SBAR": ("left WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",),
        "SBARQ": ("left SQ S SINV SBARQ FRAG",),
        "SINV": ("left VBZ VBD VBP VB MD VP S SINV ADJP NP",),
        "SQ": ("left VBZ VBD VBP VB MD VP SQ",),
        "UCP": ("right",),
        "VP": ("left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP",),
        "WHADJP": ("left CC WRB JJ ADJP",),
        "WHADVP": ("right CC WRB",),
        "WHNP": ("left WDT WP WP$ WHADJP WHPP WHNP",),
        "WHPP": ("right IN TO FW",),
        "X": ("right",),
    },
    coordination=("CC",),
)
"""Penn Treebank English, as printed."""
ENGLISH = HeadRules({**COLLINS.rules, "VP": ("left VBD VBN MD VBZ VB VBG VBP VP TO ADJP NN NNS NP",)})
"""Penn Treebank English, with content verbs as heads of *to*."""
