"""What is removed from treebank trees before a grammar is learned from them, and how to restore it.

Each function returns the cleaned forest and a record; `record.restore(cleaned)` is the original forest, to the
last label. Records are for whole treebanks: there is nothing to restore in a parser's own trees.

- `strip_empties`: traces and other empty elements (`-NONE-`), with all nodes that dominate nothing else;
- `strip_functions`: function tags and indices of phrases, `NP-SBJ-1` → `NP`, `NP=2` → `NP`; `-LRB-`, `ADVP|PRT`
  and the tags of words are kept;
- `collapse_repeats`: X with X as its only child becomes one X, as when scores of GENIA parsers are compared.

Each is one pass over the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Flags
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError

EMPTY = "-NONE-"
"""Penn's tag of empty elements."""
ROOT = "TOP"
"""The name of roots that have none."""


@dataclass(frozen=True)
class Relabelling:
    """The forest whose labels were changed."""

    before: Forest

    def restore(self, forest: Forest) -> Forest:
        """The same nodes under the labels that they had."""
        if len(forest.label) != len(self.before.label):
            raise DataError("labels can be restored only in the trees they were removed from")
        return forest.with_labels(self.before.labels, self.before.label)


@dataclass(frozen=True)
class Removal:
    """The forest that nodes were taken out of, and which were not."""

    before: Forest
    kept: Flags

    def __len__(self) -> int:
        return int(np.count_nonzero(~self.kept))

    def restore(self, forest: Forest) -> Forest:
        """The forest with the nodes in their places; labels and words of the others may have changed since."""
        if np.count_nonzero(self.kept) != len(forest.label):
            raise DataError("nodes can be restored only in the trees they were removed from")
        before = self.before
        labels = Alphabet.of((*before.labels, *forest.labels))
        words = Alphabet.of((*before.words, *forest.words))
        label = labels.encode(before.labels)[before.label]
        word = np.append(words.encode(before.words), np.int32(ABSENT))[before.word]
        label[self.kept] = labels.encode(forest.labels)[forest.label]
        word[self.kept] = np.append(words.encode(forest.words), np.int32(ABSENT))[forest.word]
        whole = Forest(labels, words, label, before.size, word, before.start)
        if not np.array_equal(whole.keep_nodes(self.kept).size, forest.size):
            raise DataError(
                "nodes can be restored only in trees of the same shape as those they were removed from"
            )
        return whole.compact()


def _remove(forest: Forest, kept: Flags) -> tuple[Forest, Removal]:
    return forest.keep_nodes(kept).compact(), Removal(forest, kept)


def strip_empties(forest: Forest, empty: str = EMPTY) -> tuple[Forest, Removal]:
    """Without empty elements and what is over nothing else; a tree of nothing else is left out.

    >>> from latentgram.data.brackets import parse_forest
    >>> forest = parse_forest("(S (NP (-NONE- *-1)) (VP (VB go) (NP (-NONE- *T*))))")
    >>> stripped, removal = strip_empties(forest)
    >>> print(stripped[0], len(removal), removal.restore(stripped) == forest)
    (S (VP (VB go))) 4 True
    """
    spoken = forest.is_tag & (forest.label != forest.labels.index(empty))
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(spoken)))
    here = np.arange(len(forest.size))
    return _remove(forest, before[here + forest.size] > before[here])


def collapse_repeats(forest: Forest) -> tuple[Forest, Removal]:
    """X over nothing but X is one X.

    >>> from latentgram.data.brackets import parse_forest
    >>> print(collapse_repeats(parse_forest("(TOP (S (S (S (NP (NP (NN a)))))))"))[0][0])
    (TOP (S (NP (NN a))))
    """
    below = np.append(forest.label[1:], np.int32(ABSENT))
    return _remove(forest, ~(forest.is_unary & (below == forest.label)))


def strip_functions(forest: Forest) -> tuple[Forest, Relabelling]:
    """Without function tags and indices.

    >>> from latentgram.data.brackets import parse_forest
    >>> forest = parse_forest("(S (NP-SBJ-1 (-LRB- -LRB-)) (ADVP|PRT=2 (RB up)))")
    >>> stripped, relabelling = strip_functions(forest)
    >>> print(stripped[0], relabelling.restore(stripped) == forest)
    (S (NP (-LRB- -LRB-)) (ADVP|PRT (RB up))) True
    """
    phrases = [plain_label(label) for label in forest.labels]
    labels = Alphabet.of((*forest.labels, *phrases))
    label = np.where(
        forest.is_tag, labels.encode(forest.labels)[forest.label], labels.encode(phrases)[forest.label]
    )
    return forest.with_labels(labels, label), Relabelling(forest)


def plain_label(label: str) -> str:
    """A label without function tags and indices; one that begins with a hyphen is left alone.

    >>> [plain_label(label) for label in ("NP-SBJ-1", "NP=2", "-LRB-", "WHNP-1=3", "X")]
    ['NP', 'NP', '-LRB-', 'WHNP', 'X']
    """
    if label.startswith(("-", "=")):
        return label
    return label.split("-", 1)[0].split("=", 1)[0]


@dataclass(frozen=True)
class Cleaning:
    """How much was taken off a treebank; false if nothing."""

    empties: int
    """Empty elements, with what was over nothing else."""
    marks: int
    """Nodes that lost function tags or indices."""
    roots: int
    """Roots without a label, which became TOP."""

    def __bool__(self) -> bool:
        return bool(self.empties or self.marks or self.roots)

    def __str__(self) -> str:
        """What was done, in a sentence without its end."""
        parts = {
            "empty nodes removed": self.empties,
            "labels stripped of function tags and indices": self.marks,
            f"roots named {ROOT}": self.roots,
        }
        return ", ".join(f"{what}: {count:,}" for what, count in parts.items() if count)


def clean(forest: Forest) -> tuple[Forest, Cleaning]:
    """Without empty elements, function tags and indices: what parsers of the Penn Treebank learn from.

    >>> from latentgram.data.brackets import parse_forest
    >>> forest, cleaning = clean(parse_forest("( (S (NP-SBJ-1 (NNP Kim)) (VP (VBZ waits) (S (-NONE- *-1)))))"))
    >>> print(forest[0])
    (TOP (S (NP (NNP Kim)) (VP (VBZ waits))))
    >>> print(cleaning)
    empty nodes removed: 2, labels stripped of function tags and indices: 1, roots named TOP: 1
    """
    spoken, removal = strip_empties(forest)
    plain, _ = strip_functions(spoken)
    rooted = plain.rename(lambda label: label or ROOT)
    marks = sum(count for label, count in _label_counts(spoken) if label and plain_label(label) != label)
    return rooted, Cleaning(len(removal), marks, sum(count for label, count in _label_counts(plain) if not label))


def _label_counts(forest: Forest) -> list[tuple[str, int]]:
    """How many phrases have each label."""
    counts = np.bincount(forest.label[~forest.is_tag], minlength=len(forest.labels))
    return list(zip(forest.labels, counts.tolist(), strict=True))


def question_of(sentence: Sentence, *, tags: bool) -> Sentence:
    """What a parser is asked of a sentence of a treebank: the spoken words, with or without their tags."""
    spoken = without_empties(sentence)
    return spoken if tags else spoken.without_tags()


def without_empties(sentence: Sentence) -> Sentence:
    """The words that are spoken.

    >>> without_empties(Sentence(("he", "*-1", "left"), ("PRP", EMPTY, "VBD"))).words
    ('he', 'left')
    """
    if sentence.xpos is None or EMPTY not in sentence.xpos:
        return sentence
    kept = [(word, tag) for word, tag in zip(sentence.words, sentence.xpos, strict=True) if tag != EMPTY]
    return Sentence.of(kept)
