"""`LexicalSHAG`: a deterministic grammar over words and tags (Luque et al. 2012, §5.2; Collins 1999).

    P(a | h, d, σ) = P_A(t_a | h, d, σ) · P_B(w_a | t_a, h, d, σ)
    P_A backs off  {w_h, d, σ} → {t_h, d, σ} → {d, σ};   P_B  {t_a, w_h, d, σ} → {t_a, t_h, d, σ} → {t_a}

STOP is one of the tags. The state σ records nothing about the modifiers of the head (LEX), whether there was one
(LEX+F), or also whether the last one was a coordination, punctuation or another word (LEX+FCP).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.dependency_symbols import WordSymbols
from latentgram.data.invariants import NONNEGATIVE, holds, shape
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.shag.categories import COORDINATION, PUNCTUATION, categories
from latentgram.shag.grammar import HeadGrammar
from latentgram.shag.kernels.inside_outside import HeadWeights
from latentgram.shag.kernels.lexical_backoff import TRUST, LexicalTables, Table, lexical_weights
from latentgram.shag.relations import ContextCounts, Relations

MEMORIES = {"none": 1, "first": 2, "kind": 4}
"""What a head remembers, and the number of states that takes."""

UNKNOWN = "<unknown>"


def memory_classes(sentence: Sentence, memory: str) -> Ints:
    """What each word leaves in its head's memory: 1 for coordination and 2 for punctuation if kinds are kept."""
    if memory != "kind":
        return np.zeros(len(sentence), np.int64)
    category = categories(sentence)
    return np.where(category == COORDINATION, 1, np.where(category == PUNCTUATION, 2, 0))


@dataclass(frozen=True, eq=False, repr=False)
class LexicalSHAG(HeadGrammar):
    """A lexicalised deterministic grammar. The contexts of the word tables are positions in the tag tables.

    >>> import latentgram as lg
    >>> bank = lg.demo_dependencies(50, seed=1)
    >>> lex = lg.fit(lg.LexicalSHAG, bank, by=lg.Counting(memory="kind"))
    >>> lex.memory, lex.tree_logprob(bank[0]) <= lex.logprob(bank[0].sentence)
    ('kind', True)
    """

    symbols: WordSymbols
    vocabulary: Alphabet
    memory: Annotated[str, holds("memory in ('none', 'first', 'kind')", "is not a memory")]
    fine_tags: ContextCounts
    fine_words: Annotated[
        ContextCounts, holds("len(fine_words.context) == len(fine_tags.event)", "does not fit fine_tags")
    ]
    coarse_tags: ContextCounts
    coarse_words: Annotated[
        ContextCounts, holds("len(coarse_words.context) == len(coarse_tags.event)", "does not fit coarse_tags")
    ]
    tag_words: ContextCounts
    """Words by tag alone."""
    tag_base: Annotated[Floats, shape(2, "states", "len(symbols.alphabet) + 1"), NONNEGATIVE]
    """[2, states, tags+1] p(tag or STOP | direction, state)."""
    relations: Relations
    provenance: Provenance = field(default_factory=Provenance)

    nonnegative = True
    deterministic = True
    is_distribution = True

    @property
    def states(self) -> int:
        """The number of states of a head."""
        return MEMORIES[self.memory]

    def weights(self, sentence: Sentence) -> tuple[HeadWeights, float]:
        """The weights of a sentence's trees."""
        tags, words = self.symbols.encode(sentence).astype(np.int64), self.encode_words(sentence)
        given_tag = self._word_given_tag(tags, words)
        arc, halt, root = lexical_weights(self._tables, tags, words, given_tag, len(self.vocabulary))
        unigram = self.symbols.frequency[tags] * given_tag
        if self.memory == "none":
            arc, halt = np.repeat(arc, 2, axis=2), np.repeat(halt, 2, axis=2)
        memory = memory_classes(sentence, self.memory)
        weights = HeadWeights.without_states(arc / unigram[None, :, None], root / unigram, halt, memory)
        return weights, float(np.log(unigram).sum())

    def encode_words(self, sentence: Sentence) -> Ints:
        """The numbers of the words; rare and unknown words are `UNKNOWN`."""
        numbers = self.vocabulary.encode(word.lower() for word in sentence.words).astype(np.int64)
        return np.where(numbers == ABSENT, self.vocabulary.index(UNKNOWN), numbers)

    @cached_property
    def _tables(self) -> LexicalTables:
        """The counts as the kernel takes them."""
        fine_tags, fine_words, coarse_tags, coarse_words = (
            Table(counts.offset, counts.event, counts.count, counts.total)
            for counts in (self.fine_tags, self.fine_words, self.coarse_tags, self.coarse_words)
        )
        fine, coarse = self.fine_tags.context, self.coarse_tags.context
        return LexicalTables(fine, fine_tags, fine_words, coarse, coarse_tags, coarse_words, self.tag_base)

    @cached_property
    def _by_tag(self) -> tuple[dict[tuple[int, int], float], Floats]:
        """λ c/C + (1 − λ)/V of the pairs of tag and word that were seen, and by tag what all others have."""
        table, uniform = self.tag_words, 1.0 / len(self.vocabulary)
        trust = table.total / (table.total + TRUST * table.distinct)
        context = np.repeat(np.arange(len(table.context)), table.distinct)
        others = np.full(len(self.symbols.alphabet), uniform)
        others[table.context] *= 1 - trust
        shares = trust[context] * table.count / table.total[context] + others[table.context[context]]
        pairs = zip(table.context[context].tolist(), table.event.tolist(), strict=True)
        return dict(zip(pairs, shares.tolist(), strict=True)), others

    def _word_given_tag(self, tags: Ints, words: Ints) -> Floats:
        """p(word | tag), smoothed with the number of words: sums to one over them."""
        seen, others = self._by_tag
        pairs = zip(tags.tolist(), words.tolist(), strict=True)
        return np.array([seen.get(pair, others[pair[0]]) for pair in pairs])

    def summary(self) -> str:
        """One line about the size."""
        return (
            f"lexicalised head-automata grammar: {len(self.vocabulary)} words, {len(self.symbols.alphabet)} tags, "
            f"memory {self.memory}, {self.relations.summary()}"
        )
