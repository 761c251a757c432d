"""`NGramCounts`: how often each n-gram of a text occurs, up to an order, without the rare ones.

Sentences are counted with the boundary symbol at both ends; no n-gram contains a boundary inside. The cut-off of
an order is the lowest count kept. An n-gram is kept only with all its parts, which is automatic if cut-offs do not
decrease with the order; where they do, the missing parts are kept despite their cut-off and counted in `repairs`.
Words below the cut-off of order 1 become `<unk>` before counting.

Cost: a few hash probes per token (see kernels.py); memory about 20 bytes for each n-gram kept, and during counting
24 for each n-gram whose parts reach the cut-off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from latentgram.arrays import Flags, Integers, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, expand
from latentgram.data.invariants import holds, shape, within
from latentgram.data.ngrams.kernels import count_extensions, without_rare
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import symbols_of
from latentgram.data.tag_dictionary import TagDictionary, WordClasses
from latentgram.data.text import BEGIN, BOUNDARY, END, Text
from latentgram.errors import DataError, SettingError, a_or_an
from latentgram.progress import Progress

UNKNOWN = "<unk>"
MOST_COUNT = 1 << 53
"""Sums of counts beyond are no longer exact in floating point."""
MOST_ORDERS = 6
SHOWN = 10
"""N-grams in the display of a notebook."""


@dataclass(frozen=True, repr=False)
class NGramCounts(Summarised):
    """N-grams and their counts.

    >>> counts = NGramCounts.of(Text.of(["a rose is a rose", "a rose"]), order=3, cutoff=2)
    >>> [(" ".join(gram), count) for gram, count in counts.items()][:6]
    [('</s>', 2), ('a', 3), ('is', 1), ('rose', 3), ('<s> a', 2), ('a rose', 3)]
    >>> counts["a", "rose", END], counts["is", "a", "rose"], counts.sentences
    (2, 0, 2)
    """

    words: Alphabet
    trie: Annotated[NGramTrie, holds("trie.words == len(words)", "does not fit the words")]
    count: Annotated[Ints, shape("len(trie)"), within(0, 2**62)]
    """[rows of the trie]"""
    cutoffs: Annotated[tuple[int, ...], holds("len(cutoffs) == trie.order", "does not fit the order")]
    repairs: dict[str, int] = field(default_factory=dict)
    """What was repaired on reading, and how often."""
    classes: WordClasses | None = None
    """Which words were counted as classes, if any were."""
    provenance: Provenance = field(default_factory=Provenance)

    @classmethod
    def read(
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        order: int = 3,
        cutoff: int | Sequence[int] = 1,
        all_bigrams: bool = True,
        dictionary: TagDictionary | None = None,
        memory: int | str | None = None,
        temporary: PathLike | None = None,
        progress: Progress | None = None,
    ) -> NGramCounts:
        """Count the text of files or folders: one sentence per line, words separated by spaces.

        Tables of n-grams (`words<TAB>count`, as written by `write`) are recognised by their first line and keep
        their own orders and counts: the settings apply to text only.

        With `memory` (bytes, or a size such as "2G") the text is counted in pieces of that size, with temporary
        files in the folder `temporary`, and may be larger than memory; see external.py.
        """
        from latentgram.data.ngrams.tables import is_table, read_table

        paths = expand(paths)
        if is_table(paths):
            if dictionary is not None:
                raise SettingError("a table contains counts already: to use a dictionary, count the text itself")
            return read_table(paths)
        if memory is not None:
            from latentgram.data.ngrams.external import count_files

            cutoffs = cutoffs_of(order, cutoff, all_bigrams)
            return count_files(paths, cutoffs, memory, temporary, dictionary, progress)
        text = Text.read(paths)
        if not len(text):
            raise DataError("there are no sentences to count", path=next(iter(paths), None))
        return cls.of(text, order=order, cutoff=cutoff, all_bigrams=all_bigrams, dictionary=dictionary)

    @classmethod
    def of(
        cls,
        text: Text,
        *,
        order: int = 3,
        cutoff: int | Sequence[int] = 1,
        all_bigrams: bool = True,
        dictionary: TagDictionary | None = None,
    ) -> NGramCounts:
        """Count a text.

        A single `cutoff` is for the orders from 3 on, and for bigrams too unless `all_bigrams`; a sequence gives
        one for each order and is taken as it is. With a `dictionary`, words of one tag are counted as their tag
        (see `WordClasses`).
        """
        if not isinstance(text, Text):
            raise DataError(
                f"n-grams are counted from a Text, not from {a_or_an(type(text).__name__)}: make one with Text.of"
            )
        if dictionary is not None and not isinstance(dictionary, TagDictionary):
            raise SettingError(f"dictionary must be a TagDictionary, not {a_or_an(type(dictionary).__name__)}")
        cutoffs = cutoffs_of(order, cutoff, all_bigrams)
        provenance, classes = Provenance(data_digest=text.digest, data_size=text.size), None
        text = text.compact()
        if dictionary is not None:
            classes, text = WordClasses.of(text, dictionary)
        words, tokens = text.words, text.tokens
        if cutoffs[0] > 1:
            words, place = frequent_words(words, np.bincount(tokens, minlength=len(words)), cutoffs[0])
            tokens = place[tokens]
        return cls.of_levels(words, count_levels(tokens, len(words), cutoffs), cutoffs, classes, provenance)

    @classmethod
    def of_levels(
        cls,
        words: Alphabet,
        levels: Sequence[Level],
        cutoffs: tuple[int, ...],
        classes: WordClasses | None,
        provenance: Provenance,
    ) -> NGramCounts:
        """Put together what was counted order by order, the rare n-grams left out."""
        kept, repaired = kept_rows(levels, cutoffs)
        trie, count = sorted_levels(levels, kept, len(words))
        repairs = {"parts kept below their cut-off": repaired} if repaired else {}
        return cls(words, trie, count, cutoffs, repairs, classes, provenance)

    @classmethod
    def merged(cls, parts: Sequence[NGramCounts], cutoffs: Sequence[int], provenance: Provenance) -> NGramCounts:
        """The sum of the counts of several texts, each counted without cut-offs; the cut-offs apply to the sum.

        Order by order, an n-gram of a part gets the number of its prefix in the whole and its last word's number
        there; equal pairs are one n-gram. One sort per order.
        """
        words = Alphabet((END, *sorted({word for part in parts for word in part.words.symbols[1:]})))
        number = [words.encode(part.words.symbols).astype(np.int64) for part in parts]
        row = [each.copy() for each in number]  # of the n-grams of the order before, in the order of that level
        single = np.zeros(len(words), np.int64)
        for part, place in zip(parts, number, strict=True):
            single[place] += part.count[: part.trie.words]
        levels = [unigrams(single)]
        for order in range(2, len(cutoffs) + 1):
            keys, suffixes, counts = [], [], []
            for part, rows, place in zip(parts, row, number, strict=True):
                here, below = slice(*part.trie.level[order - 1 : order + 1]), part.trie.level[order - 2]
                keys.append(rows[part.trie.prefix[here] - below] * len(words) + place[part.trie.word[here]])
                suffixes.append(rows[part.trie.suffix[here] - below])
                counts.append(part.count[here])
            distinct, first, inverse = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
            count = np.zeros(len(distinct), np.int64)
            np.add.at(count, inverse, np.concatenate(counts))
            prefix, word = (column.astype(np.int32) for column in np.divmod(distinct, len(words)))
            levels.append(Level(prefix, word, np.concatenate(suffixes)[first].astype(np.int32), count))
            row = np.split(inverse, np.cumsum([len(each) for each in keys])[:-1])
        return cls.of_levels(words, levels, tuple(cutoffs), None, provenance)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self.trie.order

    @property
    def sentences(self) -> int:
        """The number of sentences counted: each is ended by one boundary."""
        return int(self.count[BOUNDARY])

    @property
    def tokens(self) -> int:
        """The number of words counted, without ends of sentences."""
        return int(self.count[: self.trie.words].sum()) - self.sentences

    @cached_property
    def digest(self) -> str:
        """The fingerprint of the text they were counted from."""
        return self.provenance.data_digest

    def __len__(self) -> int:
        return len(self.trie)

    def __getitem__(self, gram: str | Sequence[str]) -> int:
        """The count of an n-gram, a string being split at spaces; `<s>` and `</s>` both mean the boundary.

        >>> counts = NGramCounts.of(Text.of(["a rose is a rose"]), order=2)
        >>> counts["rose"], counts["a rose"], counts["a", "rose"], counts["<s> a"], "rose a" in counts
        (2, 2, 2, 1, False)
        """
        gram = tuple(symbols_of(gram))
        if not 1 <= len(gram) <= self.order:
            return 0
        numbers = self.words.encode([END if word == BEGIN else word for word in gram])
        row = int(self.trie.find(numbers[None, :])[0]) if numbers.min() >= 0 else -1
        return int(self.count[row]) if row >= 0 else 0

    def __contains__(self, gram: object) -> bool:
        """Whether an n-gram was kept."""
        return isinstance(gram, str | Sequence) and self[gram] > 0

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (gram for gram, _ in self.items())

    def write(self, path: PathLike) -> None:
        """Write a table with a line `w1 w2<TAB>count` for each n-gram; `read` reads it."""
        from latentgram.data.ngrams.tables import write_table

        write_table(self, path)

    def items(self) -> Iterable[tuple[tuple[str, ...], int]]:
        """All n-grams with their counts, short before long, in the order of their words' numbers."""
        for order in range(1, self.order + 1):
            rows = slice(self.trie.level[order - 1], self.trie.level[order])
            for gram, count in zip(self.trie.grams(order).tolist(), self.count[rows].tolist(), strict=True):
                yield self.spelled(gram), count

    def spelled(self, gram: Sequence[int]) -> tuple[str, ...]:
        """The words of an n-gram, with a boundary at its beginning written as `<s>`."""
        first = BEGIN if gram[0] == BOUNDARY and len(gram) > 1 else self.words[gram[0]]
        return (first, *self.words.decode(gram[1:]))

    def summary(self) -> str:
        """One line about the size."""
        orders = ", ".join(f"{size:,}" for size in np.diff(self.trie.level))
        return f"n-gram counts of {self.tokens:,} tokens: {len(self):,} n-grams kept ({orders} by order)"

    def _repr_html_(self) -> str:
        """The summary and the most frequent n-grams of the highest order, in a notebook."""
        from latentgram.view.notebook import counts_html

        counts = self.count[self.trie.level[self.order - 1] :]
        most = np.argsort(-counts, kind="stable")[:SHOWN]
        grams = [" ".join(self.spelled(gram)) for gram in self.trie.grams(self.order)[most].tolist()]
        return counts_html(self.summary(), list(zip(grams, counts[most].tolist(), strict=True)))


class Level(NamedTuple):
    """The n-grams of one order in order of first sight; parts are numbers of the level below."""

    prefix: Ints32
    word: Ints32
    suffix: Ints32
    counts: Ints


def _minus(size: int) -> Ints32:
    return np.full(size, -1, np.int32)


def cutoffs_of(order: int, cutoff: int | Sequence[int], all_bigrams: bool) -> tuple[int, ...]:
    """One cut-off per order, checked."""
    if not isinstance(order, int | np.integer) or not 1 <= order <= MOST_ORDERS:
        raise SettingError(f"the order of n-gram counts must be an integer from 1 to {MOST_ORDERS}, got {order!r}")
    if isinstance(cutoff, int | np.integer):
        cutoffs = (1, 1 if all_bigrams else cutoff, *(cutoff,) * MOST_ORDERS)[:order]
    else:
        cutoffs = tuple(cutoff) if isinstance(cutoff, Sequence) else (cutoff,)
    if len(cutoffs) != order or not all(
        isinstance(least, int | np.integer) and 1 <= least < MOST_COUNT for least in cutoffs
    ):
        raise SettingError(
            f"cut-offs must be one integer of at least 1, or {order} of them, one for each order; "
            f"got {str(cutoff)[:80]}"
        )
    return cutoffs


def count_levels(tokens: Ints32, words: int, cutoffs: Sequence[int]) -> list[Level]:
    """The n-grams of each order whose parts reach the cut-off, in order of first sight."""
    levels = [unigrams(np.bincount(tokens[1:], minlength=words).astype(np.int64))]
    at = tokens
    for k in range(2, len(cutoffs) + 1):
        often = without_rare(at, levels[-1].counts, min(cutoffs[k - 1 :]))
        at, *columns = count_extensions(tokens, often, k == 2)
        levels.append(Level(*columns))
    return levels


def unigrams(count: Ints) -> Level:
    """The lowest level: every word."""
    return Level(_minus(len(count)), np.arange(len(count), dtype=np.int32), _minus(len(count)), count)


def frequent_words(words: Alphabet, count: Integers, least: int) -> tuple[Alphabet, Ints32]:
    """The words that occur often enough and `<unk>`, and which of them stands for each word."""
    often = count >= least
    often[BOUNDARY] = True
    frequent = Alphabet((END, *sorted({UNKNOWN, *words.decode(np.flatnonzero(often)[1:].tolist())})))
    place = frequent.encode(words)
    place[~often | (place < 0)] = frequent.index(UNKNOWN)
    place[BOUNDARY] = BOUNDARY
    return frequent, place


def kept_rows(levels: Sequence[Level], cutoffs: Sequence[int]) -> tuple[list[Flags], int]:
    """Which n-grams reach their cut-off or are part of one that is kept; and how many are kept only as parts."""
    kept = [np.ones(len(levels[0].counts), np.bool_)]
    kept += [level.counts >= least for level, least in zip(levels[1:], cutoffs[1:], strict=True)]
    before = sum(int(flags.sum()) for flags in kept)
    for level, flags, parts in zip(levels[:0:-1], kept[:0:-1], kept[-2::-1], strict=True):
        parts[level.prefix[flags]] = True
        parts[level.suffix[flags]] = True
    return kept, sum(int(flags.sum()) for flags in kept) - before


def sorted_levels(levels: Sequence[Level], kept: Sequence[Flags], words: int) -> tuple[NGramTrie, Ints]:
    """The kept n-grams as a trie, and their counts."""
    rows = np.arange(words, dtype=np.int32)
    bounds, columns = [0, words], [unigrams(levels[0].counts)]
    for level, flags in zip(levels[1:], kept[1:], strict=True):
        chosen = np.flatnonzero(flags)
        prefix = rows[level.prefix[chosen]]
        order = np.argsort(prefix.astype(np.int64) * words + level.word[chosen])
        chosen, prefix = chosen[order], prefix[order]
        columns.append(Level(prefix, level.word[chosen], rows[level.suffix[chosen]], level.counts[chosen]))
        rows = _minus(len(flags))
        rows[chosen] = np.arange(bounds[-1], bounds[-1] + len(chosen), dtype=np.int32)
        bounds.append(bounds[-1] + len(chosen))
    trie = NGramTrie(
        np.array(bounds, np.int64),
        np.concatenate([level.word for level in columns]),
        np.concatenate([level.prefix for level in columns]),
        np.concatenate([level.suffix for level in columns]),
    )
    return trie, np.concatenate([level.counts for level in columns])
