"""`TableRows`: the lines of tables of n-grams as arrays of word numbers with their counts.

Blocks of lines are read in compiled code (kernels/tables.py), except for lines in an unusual form, which
are read one by one. Lines of the same n-gram, as in tables with a line for each year, are summed whenever
as many have accumulated as there were distinct ones. Memory: 4 k + 16 bytes for each distinct n-gram of order k,
twice that while they are summed, and the words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from latentgram.arrays import Flags, Ints, Ints32
from latentgram.data.files import MOST_DIGITS, PathLike, read_blocks, whole_number
from latentgram.data.kernels.tables import cut_counts
from latentgram.data.ngrams.counts import MOST_COUNT, MOST_ORDERS
from latentgram.data.word_table import BLANKS, WordTable
from latentgram.errors import DataError

Grams = Ints32
Counted = tuple[Grams, Ints]
"""[n, order] n-grams of one order and their counts; in `TableRows` [n, 2], also the number of lines of each."""
NEWLINE = -2
MANY = 1 << 20
"""Lines of one order that wait before equal ones are summed."""
_YEAR = re.compile(r"\d+,(\d+),\d+")


class TableRows:
    """N-grams of word numbers, in order of first sight of the words, with their counts and numbers of lines."""

    def __init__(self) -> None:
        self.words = WordTable()
        self._total = 0
        self._waiting: defaultdict[int, list[Counted]] = defaultdict(list)

    def read(self, path: PathLike) -> None:
        """Add the lines of a file."""
        for first, block in read_blocks(path):
            self._add(first, block if block.endswith("\n") else f"{block}\n", path)

    def _add(self, first: int, block: str, path: PathLike) -> None:
        plain = block if block.isascii() else BLANKS.sub(" ", block)
        data = np.frombuffer(plain.encode("utf-8", "surrogatepass"), np.uint8).copy()
        count = np.empty(block.count("\n"), np.int64)
        cut_counts(data, count)
        numbers = self.words.encode(data.tobytes().decode("utf-8", "surrogatepass"), newline=NEWLINE)
        end = np.flatnonzero(numbers == NEWLINE)
        size = np.diff(end, prepend=-1) - 1
        odd = (count < 0) | (size < 1) | (size > MOST_ORDERS)
        if odd.any() or self._total + count.sum(dtype=np.float64) > MOST_COUNT / 2:
            self._read_each(first, block, path, count, odd)
        else:
            self._total += int(count.sum())
        for order in np.unique(size[size > 0]).tolist():
            here = np.flatnonzero(size == order)
            gram = numbers[(end[here] - order)[:, None] + np.arange(order)]
            self._wait(order, (gram, np.column_stack([count[here], np.ones_like(here)])))

    def _read_each(self, first: int, block: str, path: PathLike, count: Ints, odd: Flags) -> None:
        """Check the counts line by line, and read those that are not plainly written."""
        for number, line in enumerate(block.removesuffix("\n").split("\n")):
            if not line:
                continue
            said = read_line(line, path, first + number) if odd[number] else int(count[number])
            self._total += said
            if self._total > MOST_COUNT:
                what = f"the counts up to here sum to {self._total}, but are exact only up to {MOST_COUNT} (2^53)"
                raise DataError(what, path=path, line=first + number)
            count[number] = said

    def _wait(self, order: int, part: Counted) -> None:
        parts = self._waiting[order]
        parts.append(part)
        if sum(len(gram) for gram, _ in parts[1:]) > max(MANY, len(parts[0][0])):
            self._waiting[order] = [self._summed(order)]

    def _summed(self, order: int) -> Counted:
        return merged_rows(self._waiting.pop(order), len(self.words))

    def distinct(self) -> Iterator[Counted]:
        """The n-grams of each order, once."""
        for order in sorted(self._waiting):
            yield self._summed(order)


def merged_rows(parts: Sequence[Counted], words: int) -> Counted:
    """Distinct n-grams of one order, in the order of their numbers, and the sums of their counts."""
    gram, counts = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
    key, most = gram[:, 0].astype(np.int64), words
    for column in range(1, gram.shape[1]):
        if most > (1 << 62) // words:
            distinct, key = np.unique(key, return_inverse=True)
            most = len(distinct)
        key, most = key * words + gram[:, column], most * words
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    sums = np.zeros((len(first), *counts.shape[1:]), np.int64)
    np.add.at(sums, which, counts)
    return gram[first], sums


def read_line(line: str, path: PathLike, number: int) -> int:
    """The count of a line."""
    fields = line.split("\t")
    years = [_YEAR.fullmatch(field) for field in fields[1:]]
    if all(years) and years:
        numbers = [whole_number(year[1]) for year in years if year]
        written = str(sum(number or 0 for number in numbers)) if None not in numbers else line
    elif len(fields) in (2, 4):
        written = fields[1 if len(fields) == 2 else 2].strip()
    else:
        raise DataError(
            "expected 'words<TAB>count' or 'words<TAB>year<TAB>count<TAB>books'", path=path, line=number
        )
    count = whole_number(written)
    if count is None:
        wrong = f"the count {written[:20]!r} is not a non-negative integer of at most {MOST_DIGITS} digits"
        raise DataError(wrong, path=path, line=number)
    if not 1 <= (words := len(fields[0].split())) <= MOST_ORDERS:
        raise DataError(f"an n-gram has 1 to {MOST_ORDERS} words, not {words}", path=path, line=number)
    return count
