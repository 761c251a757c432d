"""Attachment: the number of words with the correct head, and with the correct head and relation.

Which words count is a convention that changes the figures by whole points, so it has a name (`Punctuation`):
`none` leaves out nothing (the rule of the CoNLL shared tasks since 2017), `upos` the words whose gold universal
tag is PUNCT, `ptb` those whose gold Penn tag is one of `` '' : , . (usual on the Penn Treebank).

O(words).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import ClassVar, Literal, get_args

import numpy as np

from latentgram.arrays import Flags, Ints
from latentgram.data.dependencies import DependencyTree
from latentgram.errors import DataError, SettingError
from latentgram.evaluate.score import Rate, Score, table

Punctuation = Literal["none", "upos", "ptb"]
"""Which words are left out."""

PTB_PUNCTUATION = frozenset({"``", "''", ":", ",", "."})
"""The Penn tags of punctuation."""


@dataclass(frozen=True)
class AttachmentScore(Score):
    """Heads and relations, right and counted.

    `relation_accuracy` is the share of words with the right relation among those with the right head; `exact` that
    of sentences in which every counted word has the right head, `labelled_exact` the same with relations.

    >>> gold = DependencyTree(("Cats", "sleep", "."), heads=(2, 0, 2), deprels=("nsubj", "root", "punct"))
    >>> guess = gold.replace(heads=(2, 0, 1), deprels=("obj", "root", "punct"))
    >>> print(score_attachment([gold], [guess], punctuation="none"))
    UAS 66.67, LAS 33.33, exact 0.00, 1 sentences, 3 words (punctuation: none left out)
    """

    HEADLINE: ClassVar = "uas"
    FIGURES: ClassVar = (
        *("uas", "las", "relation_accuracy", "exact", "labelled_exact"),
        *("sentences", "words", "punctuation", "no_parse"),
    )

    sentences: int = 0
    words: int = 0
    heads: int = 0
    labelled: int = 0
    complete: int = 0
    labelled_complete: int = 0
    fallbacks: int = 0
    punctuation: Punctuation = field(default="none", metadata={"same": True})

    @property
    def no_parse(self) -> int:
        """Sentences for which the parser found nothing."""
        return self.fallbacks

    uas = Rate("heads", "words", "Counted words with the right head")
    las = Rate("labelled", "words", "Counted words with the right head and relation")
    relation_accuracy = Rate("labelled", "heads", "Words with the right relation among those with the right head")
    exact = Rate("complete", "sentences", "Sentences with every counted head right")
    labelled_exact = Rate("labelled_complete", "sentences", "Sentences with every counted head and relation right")

    def table(self) -> str:
        """The figures, one per line; of punctuation whether it is counted."""
        rule = "counted" if self.punctuation == "none" else f"left out by {self.punctuation}"
        return table({**self.to_json(), "punctuation": rule})

    def __str__(self) -> str:
        left_out = "none left out" if self.punctuation == "none" else f"left out by {self.punctuation}"
        return (
            f"UAS {self.uas:.2f}, LAS {self.las:.2f}, exact {self.exact:.2f}, "
            f"{self.sentences} sentences, {self.words} words (punctuation: {left_out})"
        )


def score_attachment(
    gold: Iterable[DependencyTree],
    output: Iterable[DependencyTree],
    *,
    punctuation: Punctuation,
    fallback: Iterable[bool] = (),
) -> AttachmentScore:
    """Score parsed trees against gold trees, given in the same order.

    >>> gold = [DependencyTree(("Cats", "sleep", "here"), (2, 0, 2))]
    >>> score_attachment(gold, [gold[0].replace(heads=(2, 0, 1))], punctuation="none").heads
    2
    """
    rows = attachment_rows(gold, output, punctuation=punctuation)
    words, heads, labelled = rows.T
    return AttachmentScore(
        sentences=len(rows),
        words=int(words.sum()),
        heads=int(heads.sum()),
        labelled=int(labelled.sum()),
        complete=int(np.sum(heads == words)),
        labelled_complete=int(np.sum(labelled == words)),
        fallbacks=sum(bool(flag) for flag in fallback),
        punctuation=punctuation,
    )


def attachment_rows(
    gold: Iterable[DependencyTree], output: Iterable[DependencyTree], *, punctuation: Punctuation
) -> Ints:
    """[sentences, 3] counted words, right heads, right heads with right relations."""
    if punctuation not in get_args(Punctuation):
        raise SettingError(f"punctuation must be one of {', '.join(get_args(Punctuation))}, got {punctuation!r}")
    rows = []
    for number, (right, guess) in enumerate(zip_longest(gold, output), 1):
        if right is None or guess is None:
            raise DataError(f"there are {'more' if right is None else 'fewer'} output trees than gold trees")
        if right.words != guess.words:
            raise DataError(f"the words of sentence {number} differ between output and gold treebank")
        counted = counted_words(right, punctuation, number)
        heads = np.array(right.heads) == np.array(guess.heads)
        relations = np.array(right.deprels) == np.array(guess.deprels)
        rows.append((counted.sum(), (heads & counted).sum(), (heads & relations & counted).sum()))
    return np.array(rows, np.int64).reshape(-1, 3)


def counted_words(tree: DependencyTree, punctuation: Punctuation, number: int) -> Flags:
    """For each word, whether it counts."""
    if punctuation == "none":
        return np.ones(len(tree), np.bool_)
    tags = tree.upos if punctuation == "upos" else tree.xpos
    if all(tag == "_" for tag in tags):
        column = "UPOS" if punctuation == "upos" else "XPOS"
        raise DataError(
            f"sentence {number} of the gold treebank has no {column} tags, which the punctuation rule "
            f"{punctuation} needs; choose another"
        )
    left_out = {"PUNCT"} if punctuation == "upos" else PTB_PUNCTUATION
    return np.array([tag not in left_out for tag in tags], np.bool_)
