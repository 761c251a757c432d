"""`DependencyTree`: a sentence whose words point to their heads, with all ten columns of CoNLL-U.

`DependencyArrays` has the heads of many sentences as flat arrays, checked, tested for
projectivity and projectivised in linear time (kernels/arcs.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from latentgram.arrays import Flags, Ints, Ints32
from latentgram.data.kernels import arcs
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError

ROOT = 0
"""The head of the root word; words are numbered from 1."""

UNATTACHED = -1
"""The head of a word that has none yet (`_` in CoNLL-U), as in text that is still to be parsed."""

MOST_HEAD = int(np.iinfo(np.int32).max)
"""The largest head that arrays hold, which stands for all larger ones: no sentence has so many words."""

UNIVERSAL_TAGS = frozenset(
    {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"}
    | {"PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"}
)
"""The UPOS tags of Universal Dependencies."""

COLUMNS = ("deprels", "upos", "xpos", "lemmas", "feats", "deps", "misc")


class Columns(TypedDict, total=False):
    """What `DependencyTree.replace` can change."""

    words: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    lemmas: tuple[str, ...]
    feats: tuple[str, ...]
    deps: tuple[str, ...]
    misc: tuple[str, ...]
    comments: tuple[str, ...]
    extra_rows: tuple[tuple[int, str], ...]
    line_end: str


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """Words and their heads (numbered from 1; 0 is the artificial root), with the other CoNLL-U columns.

    `comments` are the lines before the sentence, without their newlines. `extra_rows` are multiword ranges and
    empty nodes: pairs of the number of words before them and the raw line. `line_end` is that of its file.

    >>> tree = DependencyTree(("Cats", "sleep"), heads=(2, 0), xpos=("NNS", "VBP"))
    >>> tree.heads, tree.deprels, len(tree), tree.root, tree.is_projective
    ((2, 0), ('_', '_'), 2, 2, True)
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()
    deps: tuple[str, ...] = ()
    misc: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    extra_rows: tuple[tuple[int, str], ...] = ()
    line_end: str = "\n"

    def __post_init__(self) -> None:
        length = len(self.words)
        if len(self.heads) != length:
            raise DataError(f"the sentence has {length} words but {len(self.heads)} heads")
        for name in COLUMNS:
            values = getattr(self, name)
            if not values:
                object.__setattr__(self, name, ("_",) * length)
            elif len(values) != length:
                raise DataError(f"the sentence has {length} words but {len(values)} {name}")

    def replace(self, **columns: Unpack[Columns]) -> Self:
        """A copy with some columns changed."""
        return dataclasses.replace(self, **columns)

    @property
    def sentence(self) -> Sentence:
        """The words, tags and features without the tree; an empty column is None."""
        xpos, upos, feats = (
            None if all(entry == "_" for entry in column) else column
            for column in (self.xpos, self.upos, self.feats)
        )
        return Sentence(self.words, xpos, upos, feats=feats)

    @property
    def root(self) -> int:
        """The number of the word whose head is the artificial root."""
        return self.heads.index(ROOT) + 1

    @property
    def fault(self) -> str | None:
        """The reason why the heads do not form a tree with one root, or None if they do."""
        return DependencyArrays.of([self]).fault(0)

    @property
    def is_projective(self) -> bool:
        """Whether no two arcs cross, the root arc counted from an artificial word 0."""
        return bool(DependencyArrays.of([self]).projective[0])

    def _repr_svg_(self) -> str:
        """The arcs as a picture, in a notebook."""
        from latentgram.view.trees import draw

        return draw(self)

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class DependencyArrays:
    """The heads of many sentences end to end; sentence s holds `heads[offsets[s]:offsets[s + 1]]`.

    >>> crossing = DependencyTree(("a", "b", "c", "d"), heads=(3, 4, 0, 3))
    >>> arrays = DependencyArrays.of([crossing, DependencyTree(("x", "y"), heads=(2, 1))])
    >>> arrays.fault(0), arrays.fault(1)
    (None, 'the heads of the words form a cycle at word 1')
    """

    heads: Ints32
    offsets: Ints

    @classmethod
    def of(cls, trees: Iterable[DependencyTree]) -> DependencyArrays:
        """Flatten trees."""
        return cls.of_heads([tree.heads for tree in trees])

    @classmethod
    def of_heads(cls, heads: Sequence[Sequence[int]]) -> DependencyArrays:
        """Flatten sequences of heads."""
        offsets = np.zeros(len(heads) + 1, np.int64)
        np.cumsum([len(sentence) for sentence in heads], out=offsets[1:])
        every, size = (head for sentence in heads for head in sentence), int(offsets[-1])
        try:
            flat = np.fromiter(every, np.int32, size)
        except OverflowError:
            bounded = (min(max(head, -1), MOST_HEAD) for sentence in heads for head in sentence)
            flat = np.fromiter(bounded, np.int32, size)
        return cls(flat, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> Ints32:
        """The heads of one sentence."""
        return self.heads[self.offsets[number] : self.offsets[number + 1]]

    @cached_property
    def faults(self) -> tuple[NDArray[np.int8], Ints32]:
        """For each sentence what is wrong (0: nothing) and the word that shows it (0: none)."""
        return arcs.find_faults(self.heads, self.offsets)

    def fault(self, number: int) -> str | None:
        """Why the heads of a sentence are not a tree with one root, or None if they are."""
        kind, word = (int(column[number]) for column in self.faults)
        if kind == arcs.GOOD:
            return None
        length = int(self.offsets[number + 1] - self.offsets[number])
        head = self[number][word - 1]
        told = f"{head} or more" if head == MOST_HEAD else f"{head}"
        return {
            arcs.OUT_OF_RANGE: f"the head of word {word} is {told}, out of 0 to {length}",
            arcs.NO_ROOT: "no word has the head 0",
            arcs.TWO_ROOTS: f"word {word} is a second root: only one word may have the head 0",
            arcs.CYCLE: f"the heads of the words form a cycle at word {word}",
        }[kind]

    @cached_property
    def projective(self) -> Flags:
        """Which sentences are projective."""
        kinds = self.faults[0]
        if kinds.any():
            raise DataError(f"not a tree: {self.fault(int(np.flatnonzero(kinds)[0]))}")
        return arcs.find_projective(self.heads, self.offsets)

    def projectivise(self) -> tuple[DependencyArrays, Ints32]:
        """Lift arcs until all is projective; also how often each word was lifted."""
        heads, lifts = arcs.lift_arcs(self.heads, self.offsets, self.projective)
        return DependencyArrays(heads, self.offsets), lifts


@dataclass(frozen=True)
class Lifting:
    """What projectivisation changed; it adds and prints itself.

    >>> print(Lifting(sentences=100, changed=3, words=2000, moved=4, lifts=5))
    3 of 100 sentences (3.00 %) not projective: 4 of 2000 words (0.20 %) got a higher head, by 5 lifts
    """

    sentences: int = 0
    changed: int = 0
    words: int = 0
    moved: int = 0
    lifts: int = 0

    def __add__(self, other: Lifting) -> Lifting:
        return Lifting(
            *(a + b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True))
        )

    def __str__(self) -> str:
        sentences, words = (100 / total if total else 0.0 for total in (self.sentences, self.words))
        return (
            f"{self.changed} of {self.sentences} sentences ({self.changed * sentences:.2f} %) not projective: "
            f"{self.moved} of {self.words} words ({self.moved * words:.2f} %) got a higher head, "
            f"by {self.lifts} lifts"
        )


def projectivise(trees: Sequence[DependencyTree]) -> tuple[list[DependencyTree], Lifting]:
    """Projective trees for training, and how much had to be changed; projective ones come back as they are.

    Pseudo-projective lifting of Nivre & Nilsson (2005), shortest arc first, without their label encoding: relation
    names stay as they are.

    >>> crossing = DependencyTree(("a", "b", "c", "d"), heads=(3, 4, 0, 3))
    >>> lifted, report = projectivise([crossing])
    >>> lifted[0].heads, report.moved
    ((3, 3, 0, 3), 1)
    """
    arrays = DependencyArrays.of(trees)
    lifted, lifts = arrays.projectivise()
    result = [
        tree if good else tree.replace(heads=tuple(lifted[s].tolist()))
        for s, (tree, good) in enumerate(zip(trees, arrays.projective.tolist(), strict=True))
    ]
    report = Lifting(
        sentences=len(trees),
        changed=int((~arrays.projective).sum()),
        words=len(arrays.heads),
        moved=int((lifts > 0).sum()),
        lifts=int(lifts.sum()),
    )
    return result, report
