"""`Splitter`: which tokens consist of several words, and of which: a split chosen for each token (chooser.py).

Tokens seen in training have the words they had there; others are split like tokens with the same ending or
beginning. If the same token is sometimes one word and sometimes several, the tokens around it and their endings
decide. Linear in the tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from latentgram.arrays import Codes
from latentgram.ud.averaging import Learning
from latentgram.ud.chooser import Chooser, Items, codes_of, learn_chooser
from latentgram.ud.scripts import WHOLE, split_between, split_of

_APOSTROPHES = str.maketrans("’ʼ‘´`", "'" * 5)
ENDING = 3
"""So many letters are an ending."""
Split = tuple[tuple[str, ...], float]
"""The words of a token and the probability that these are they."""


@dataclass(frozen=True, eq=False)
class Splitter:
    """Splits tokens into words."""

    chooser: Chooser
    endings: bool = False
    """Whether the choice looks at the endings of the tokens around one, too."""
    plain: bool = False
    """Whether all apostrophes are the same to it."""

    def split(self, tokens: Sequence[str]) -> list[Split]:
        """The words of each token of a text, in which they follow each other."""
        results = self.chooser.results(tokens, items_of(tokens, self.endings, self.plain), split_of)
        best: list[Split] = []
        for token, found in zip(tokens, results, strict=True):
            words, share = max(found.items(), key=lambda pair: pair[1], default=((token,), 1.0))
            best.append((tuple(words), min(share, 1.0)) if all(words) else ((token,), 1.0))
        return best


def items_of(tokens: Sequence[str], endings: bool, plain: bool) -> Items:
    """Tokens with those before and behind them and, if they are wanted, the endings of these."""
    tokens = [token.translate(_APOSTROPHES) for token in tokens] if plain else tokens
    low = [token.lower() for token in tokens]
    none = np.zeros(len(tokens), np.uint64)
    around = [*_neighbours(low), *(_neighbours([token[-ENDING:] for token in low]) if endings else ())]
    items = Items.of(tokens, none, none, around)
    if not plain:
        return items
    signs = np.array([sign_of(token) for token in tokens], np.int64)
    return replace(items, words=items.words._replace(shape=items.words.shape + 16 * signs))


def sign_of(token: str) -> int:
    """Where the last sign of a token is, counted from its end, and what it is: 0 for a token of letters only.

    >>> [sign_of(token) for token in ("cat", "cats'", "cat's", "they're", "tell-me", "12.5")]
    [0, 1, 2, 3, 11, 18]
    """
    for place, sign in enumerate(reversed(token)):
        if not sign.isalnum():
            kind = 0 if sign == "'" else 1 if sign in "-‐‑–" else 2
            return 1 + min(place, 7) + 8 * kind
    return 0


def _neighbours(texts: Sequence[str]) -> tuple[Codes, Codes]:
    """The codes of the texts before and behind each; 0 at the ends."""
    codes = np.concatenate([np.zeros(1, np.uint64), codes_of(texts), np.zeros(1, np.uint64)])
    return codes[:-2], codes[2:]


def learn_splitter(paragraphs: Sequence[Sequence[tuple[str, tuple[str, ...]]]], how: Learning) -> Splitter | None:
    """A splitter from the tokens of paragraphs and their words; None where no token has several."""
    pairs = [pair for paragraph in paragraphs for pair in paragraph]
    common = Counter(word.lower() for _, words in pairs if len(words) > 1 for word in words)
    if not common:
        return None
    made: dict[tuple[str, tuple[str, ...]], str] = {}
    for token, words in pairs:
        if (token, words) not in made:
            made[token, words] = WHOLE if words == (token,) else split_between(token, words, common)
    tokens = [token for token, _ in pairs]
    scripts = [made[pair] for pair in pairs]
    return Splitter(
        learn_chooser(items_of(tokens, True, True), scripts, how, lambda done, loss: None, splits=True), True, True
    )
