"""`Surprisal`: how unexpected each word is after the words before it, under a PCFG.

    surprisal(x_k) = − log₂ p(x_k | x_0 … x_{k−1}) = log₂ P(x_0 … x_{k−1} …) − log₂ P(x_0 … x_k …)

with prefix probabilities P by kernels/prefix.py, P of nothing being one. After the last word the sentence ends:
what is left of P is p(sentence), and −log₂ p(sentence) is the sum of the surprisals of the words and of the end
(`ending`). Of a grammar with hidden states its one-state projection is taken, with the rules that were never seen;
rules, words and their smoothing are those of the parser (leaves.py, unseen.py). Words that the grammar does not
know are those of their form: their surprisal is that of the form.

Where the grammar cannot go on, P would be 0 and the surprisal of this word and of all later ones infinite. So a
sentence may *break off*: before each word but the first, with the small probability ε, what was begun is left
unfinished and something else begins, whose symbol is drawn by how often it stands anywhere in trees,

    P(x_0 … x_k …) = Σ_{r ≤ k} E(r) (1 − ε)^{k−r} G(r,k),    E(0) = 1,    E(r) = ε P(x_0 … x_{r−1} …),

with G(r,k) the probability that what begins at r begins with x_r … x_k: a sum over all ways to break off. Every
word has a tag, which may begin anywhere, so every surprisal is finite. It costs O(n²) more. With ε = 2⁻²⁰ a word
that fits changes by less than 10⁻⁴ bits below 6 bits of surprisal; one that does not fit costs about 20 bits more
than it would without any context.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.errors import SettingError
from latentgram.lpcfg.kernels.first_pass import Limits
from latentgram.lpcfg.kernels.prefix import prefix_values, whole_value
from latentgram.lpcfg.leaves import LeafTable
from latentgram.lpcfg.model import LPCFG, Ensemble
from latentgram.lpcfg.parse.projection import Projection

Floats = NDArray[np.float64]


BREAK = 2.0**-20
"""How probable it is that a sentence breaks off before a word."""


@dataclass(frozen=True)
class Surprisal:
    """Surprisal in bits, word by word.

    It is finite unless `break_off` is 0; then it is infinite from where the grammar cannot go on.

    >>> import latentgram as lg
    >>> bits = Surprisal.of(lg.fit(lg.LPCFG, lg.demo_treebank(100, seed=0), by=lg.Counting()))
    >>> bool(bits("the the sleeps .")[1] > bits("the teacher sleeps .")[1] + 10)
    True
    """

    grammar: LPCFG
    break_off: float = BREAK

    def __post_init__(self) -> None:
        if not 0.0 <= self.break_off < 1.0:
            raise SettingError(f"the probability of breaking off is at least 0 and below 1, not {self.break_off}")

    @classmethod
    def of(cls, model: object, break_off: float = BREAK) -> Surprisal:
        """For the model of a parser."""
        grammar = model.grammars[0] if isinstance(model, Ensemble) else model
        if not isinstance(grammar, LPCFG):
            raise SettingError(f"surprisal comes from an LPCFG, not from a {type(model).__name__}")
        return cls(grammar, break_off)

    @cached_property
    def projection(self) -> Projection:
        """The PCFG whose prefixes are asked for."""
        return Projection(LeafTable(self.grammar), unseen=not self.grammar.plain)

    @cached_property
    def corners(self) -> tuple[Floats, Floats]:
        """[I, I] and [I, P] how often each symbol is a left corner of each interminal."""
        size, index = len(self.grammar.interminals), self.projection.index
        step = np.zeros((size, len(self.grammar.states)))
        rules = self.grammar.rules[index.rule]
        np.add.at(step, (rules[:, 0], rules[:, 1]), self.projection.probability)
        if self.projection.unseen:
            step += index.unseen.weight * (index.unseen.left * index.unseen.right.sum(0)).T
        closure = np.asarray(np.linalg.inv(np.eye(size) - step[:, :size]), np.float64)
        return closure, np.ascontiguousarray(closure @ step[:, size:])

    def prefix_logprobs(self, sentence: SentenceLike) -> Floats:
        """[n] the logarithms of the probabilities of the prefixes."""
        return self._prefixes(sentence)[0]

    def logprob(self, sentence: SentenceLike) -> float:
        """log p(sentence): of the whole sentence, and nothing after it."""
        return self._prefixes(sentence)[1]

    def ending(self, sentence: SentenceLike) -> float:
        """How unexpected it is, in bits, that the sentence ends after its last word."""
        prefixes, whole = self._prefixes(sentence)
        return float(np.nan_to_num(prefixes[-1] - whole, nan=np.inf, posinf=np.inf) / np.log(2))

    def _prefixes(self, sentence: SentenceLike) -> tuple[Floats, float]:
        """log P of the prefixes [n], and of the sentence that ends there."""
        projection = self.projection
        index = projection.index
        grown, scale = projection.grow(projection.leaves.of(Sentence.of(sentence)), Limits())
        rules = np.ascontiguousarray(self.grammar.rules[index.rule])
        starts = projection.root, projection.anywhere
        values = prefix_values(grown, rules, projection.probability, index.unseen, *self.corners, *starts)
        length, shift = len(scale), np.concatenate(([0.0], np.cumsum(np.log(scale))))
        with np.errstate(divide="ignore"):
            logs = np.log(values) + shift[None, 1:] - shift[:-1, None]
            ended = np.log([whole_value(grown, first, *starts) for first in range(length)])
        prefixes, entered = self._broken_off(logs)
        going = np.log1p(-self.break_off) * np.arange(length - 1, -1, -1)
        return prefixes, float(np.logaddexp.reduce(entered + going + ended + shift[-1] - shift[:-1]))

    def _broken_off(self, begun: Floats) -> tuple[Floats, Floats]:
        """[n] log P of the prefixes from log G [n, n], the sums over all ways to break off; and log E [n]."""
        with np.errstate(divide="ignore"):
            breaks, goes_on = np.log(self.break_off), np.log1p(-self.break_off)
        entered, prefix = np.full(len(begun), -np.inf), np.empty(len(begun))
        entered[0] = 0.0
        for k in range(len(begun)):
            if k > 0:
                entered[k] = breaks + prefix[k - 1]
            going = goes_on * np.arange(k, -1, -1)
            prefix[k] = np.logaddexp.reduce(entered[: k + 1] + going + begun[: k + 1, k])
        return prefix, entered

    def __call__(self, sentence: SentenceLike) -> Floats:
        """[n] the surprisal of each word, in bits."""
        logs = np.concatenate(([0.0], self.prefix_logprobs(sentence)))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(logs[:-1] - logs[1:], nan=np.inf, posinf=np.inf) / np.log(2))
