"""`TagSet`: the tags of a tagger, their parts, and their groups.

A tag is a triple of XPOS, UPOS and FEATS. Without FEATS it has one part, itself, and is a group of its own. With
FEATS its parts are itself, its UPOS, its XPOS and each of its attributes with its value, so that what is learned
about `Case=Nom` in one tag applies to all that have it; its group is its XPOS and UPOS.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from latentgram.arrays import Ints
from latentgram.data.sentence import Sentence
from latentgram.tagger.kernels.scores import Parts

Triple = tuple[str, str, str]


def tag_triples(sentence: Sentence, feats: bool) -> list[Triple]:
    """XPOS, UPOS and, if they are wanted, FEATS (`_` for none) of every word; empty where there are none."""
    none = ("",) * len(sentence)
    features = (sentence.feats or ("_",) * len(sentence)) if feats else none
    return list(zip(sentence.xpos or none, sentence.upos or none, features, strict=True))


@dataclass(frozen=True, eq=False)
class TagSet:
    """The names of tags with what follows from them.

    >>> tags = TagSet((("", "NOUN", "Case=Nom|Number=Sing"), ("", "NOUN", "Case=Acc|Number=Sing")))
    >>> tags.parts_of(0)
    ('tag 0', 'UPOS=NOUN', 'Case=Nom', 'Number=Sing')
    """

    names: tuple[Triple, ...]

    def parts_of(self, number: int) -> tuple[str, ...]:
        """What a tag is made of."""
        xpos, upos, feats = self.names[number]
        if not any(feats for _, _, feats in self.names):
            return (f"tag {number}",)
        sides = [f"{side}={name}" for side, name in (("UPOS", upos), ("XPOS", xpos)) if name]
        return (f"tag {number}", *sides, *feats.split("|"))

    @cached_property
    def parts(self) -> Parts:
        """The parts of all tags as numbers, the tags themselves first."""
        named = [self.parts_of(tag)[1:] for tag in range(len(self.names))]
        others = sorted(set(chain.from_iterable(named)))
        number = {name: len(self.names) + i for i, name in enumerate(others)}
        each = [[tag, *(number[name] for name in names)] for tag, names in enumerate(named)]
        start = np.concatenate([[0], np.cumsum([len(parts) for parts in each])])
        return Parts(start, np.array(list(chain.from_iterable(each)), np.int64), len(self.names) + len(others))

    @cached_property
    def group(self) -> Ints:
        """[tags + 1] the number of the XPOS and UPOS of each tag; that of the boundary is the last."""
        sides = [(xpos, upos) for xpos, upos, _ in self.names]
        number = {pair: i for i, pair in enumerate(sorted(set(sides)))}
        return np.array([*(number[pair] for pair in sides), len(number)], np.int64)
