"""The lexicon as Cohen et al. (2013, §3.2) smooth it, beside ours (lexicon.py).

Words seen rarely are their tags. With Z the outside view of a leaf, n(a→x) how often word x was seen below the
preterminal a, and n(a) how often a was seen at all,

    E^{a→x} = mean of Z over the leaves a→x,        E^a = mean of Z over all leaves of a,
    q(a→x)  = n(a→x)/n(a) · (ν E^{a→x} + (1 − ν) E^a)      where n(a→x) is below the cut-off,
            = n(a→x)/n(a) · E^{a→x}                        elsewhere:

a first moment of many observations needs no smoothing. A word has only the preterminals that it was seen with, an
unknown word those of the symbol of its tag. Cost: two sums over the leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.rarewords import RareWords
from latentgram.lpcfg.statistics import GrammarData, sums_by
from latentgram.parallel import Engine


@dataclass(frozen=True)
class PrintedLexicon:
    """Entries, their counts and how to get their vectors, as a `LexiconPlan` has them."""

    data: GrammarData
    share: float
    """ν"""
    cutoff: int
    """Entries seen less often are smoothed."""

    @property
    def words(self) -> Alphabet:
        """Frequent words, and the symbols of tags."""
        return self.data.derivations.words

    @property
    def rare_words(self) -> RareWords:
        """The rule that tells rare words."""
        return self.data.rare_words

    @property
    def entries(self) -> Ints32:
        """[L, 2] preterminal symbol and word."""
        return self.data.derivations.lexicon

    @property
    def count(self) -> Floats:
        """[L]"""
        return self.data.derivations.entry_count.astype(np.float64)

    def vectors(self, rows: Floats, place: Ints, engine: Engine) -> Floats:
        """The vectors [L, m] of the entries, where the outside view of leaf l is row place[l] of `rows`."""
        del engine
        d, view, seen = self.data.derivations, np.take(rows, place, axis=0), self.count[:, None]
        symbol, total = self.entries[:, 0], d.symbol_count.astype(np.float64)[:, None]
        own = sums_by(d.entry[d.leaf], view, len(seen)) / seen
        of_symbol = sums_by(d.symbol[d.leaf], view, d.symbols) / total
        share = np.where(seen < self.cutoff, self.share, 1.0)
        return np.asarray(seen / total[symbol] * (share * own + (1.0 - share) * of_symbol[symbol]))
