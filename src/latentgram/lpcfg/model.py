"""`LPCFG`: a latent-variable PCFG in tensor form (003 §4–5). A plain PCFG is one with a single state a symbol.

A grammar over binarised trees: interminals a (numbered 0 … I-1) rewrite to pairs of symbols, preterminals
(numbered I … I+P-1) to words. Symbol s has `states[s]` hidden states. With t(a→b c) an m_a × m_b × m_c tensor,
q(a→x) a vector of m_a and π(a) a vector of m_a,

    p(tree) = π(root)ᵀ v(root),   v(a→b c) = t(a→b c)(·, v(b), v(c)),   v(a→x) = q(a→x).

The vectors of a spectral grammar live in a rotated space and may be negative; only whole contractions mean
something. All arrays are flat and sorted, so that equal grammars are equal files.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Binarisation
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.rarewords import RareWords


@dataclass(frozen=True, repr=False)
class LPCFG(Summarised):
    """A latent-variable PCFG; see the module's text for the meaning of the arrays.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())
    >>> int(grammar.states.max()), grammar.nonnegative, "NP" in grammar.interminals
    (1, True, True)
    """

    interminals: Alphabet
    preterminals: Alphabet
    words: Alphabet
    states: NDArray[np.int32]
    """[I+P] hidden states of each symbol."""
    rules: NDArray[np.int32]
    """[R, 3] parent, left child, right child; sorted."""
    rule_offset: NDArray[np.int64]
    """[R+1] where the tensor of each rule begins in `rule_tensor` (C order, m_a × m_b × m_c)."""
    rule_tensor: NDArray[np.float64]
    lexicon: NDArray[np.int32]
    """[L, 2] preterminal symbol, word; sorted by (word, symbol)."""
    lexicon_offset: NDArray[np.int64]
    """[L+1] where the vector of each entry begins in `lexicon_vector`."""
    lexicon_vector: NDArray[np.float64]
    root_offset: NDArray[np.int64]
    """[I+P+1] where the root vector of each symbol begins in `root_vector`."""
    root_vector: NDArray[np.float64]
    mean_inside: NDArray[np.float64]
    """[Σ states] laid out as `root_vector`: the inside vector averaged over all trees below a symbol. A vector of
    ones where all numbers are probabilities; the mean of Z (004 §3.2: H) where they are coordinates."""
    mean_outside: NDArray[np.float64]
    """[Σ states] the outside vector averaged over all nodes of a symbol: the distribution of its states where all
    numbers are probabilities; the mean of Y (004 §3.2: F) where they are coordinates."""
    rule_count: NDArray[np.float64]
    """[R] how often each rule was counted in the treebank; with the next two, the grammar's one-state projection,
    by which parsers prune and from which unseen rules are smoothed."""
    lexicon_count: NDArray[np.float64]
    """[L] how often each word was counted below each preterminal."""
    root_count: NDArray[np.float64]
    """[I+P] how often each symbol was counted at the root."""
    rare_words: RareWords
    binarisation: Binarisation
    nonnegative: bool = True
    """Whether every number is a probability (counting, EM, clustering) and not a coordinate (spectral)."""
    spectra: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """The singular values that were found for each symbol in learning, the largest first: of Ω = E[φ ψᵀ] for a
    spectral grammar, or for the views that were clustered; empty where nothing was decomposed."""
    provenance: Provenance = field(default_factory=Provenance)

    def summary(self) -> str:
        """One line on its size."""
        return (
            f"LPCFG with {len(self.interminals)} phrase and {len(self.preterminals)} tag symbols, "
            f"{len(self.rules):,} rules, {len(self.lexicon):,} lexical entries, "
            f"up to {int(self.states.max(initial=0))} states a symbol"
        )
