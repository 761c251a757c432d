"""The four categories of words that heads and arcs take notice of: coordination, punctuation, verb, other."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from latentgram.arrays import Ints
from latentgram.data.sentence import Sentence

OTHER, COORDINATION, PUNCTUATION, VERB = range(4)

_BY_UPOS = {"CCONJ": COORDINATION, "PUNCT": PUNCTUATION, "VERB": VERB, "AUX": VERB}
_BY_PENN = {"CC": COORDINATION, "MD": VERB, "$": OTHER, "#": OTHER}
_BY_PENN |= dict.fromkeys(("-LRB-", "-RRB-", "-LSB-", "-RSB-", "HYPH", "NFP"), PUNCTUATION)


def categories(sentence: Sentence) -> Ints:
    """The category of each word by its UPOS, else by its Penn tag.

    >>> categories(Sentence(("and", ",", "goes"), xpos=("CC", ",", "VBZ"))).tolist()
    [1, 2, 3]
    """
    if sentence.upos is not None:
        return np.array([_BY_UPOS.get(tag, OTHER) for tag in sentence.upos])
    return np.array([_by_penn(tag) for tag in sentence.xpos or ("_",) * len(sentence)])


def are_coarse(tags: Collection[str]) -> bool:
    """Whether tags are UPOS and not Penn tags, where it is not said: whether one of a category of theirs is there.

    >>> are_coarse(("NOUN", "VERB")), are_coarse(("NN", "VB"))
    (True, False)
    """
    return not _BY_UPOS.keys().isdisjoint(tags)


def _by_penn(tag: str) -> int:
    if tag in _BY_PENN or tag == "_":
        return _BY_PENN.get(tag, OTHER)
    if tag.startswith("VB"):
        return VERB
    return OTHER if any(letter.isalnum() for letter in tag) else PUNCTUATION
