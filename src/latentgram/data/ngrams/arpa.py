r"""ARPA files: back-off n-gram models as text.

    \data\            \2-grams:
    ngram 1=3         -0.3<TAB>the dog<TAB>-0.1      log₁₀ p(dog | the), log₁₀ of the back-off weight of "the dog"
    …                 …                              \end\

Files in the wild lack suffixes, have sums that are off and `-99` for ⟨s⟩. Reading repairs what leaves the meaning
as it is and counts it: a missing part of an n-gram gets the probability that backing off gives it. What cannot be
meant (a probability that is not a number or above 1, a section that is cut short, an n-gram of the wrong length or
standing there twice, a word without unigram) is refused with its line.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from latentgram.arrays import Floats, Integers, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, read_lines, whole_number, write_bytes
from latentgram.data.ngrams.columns import Numbers, blocks
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.text import BEGIN, BOUNDARY, END, refuse_blanks
from latentgram.data.word_table import RowWriter
from latentgram.errors import DataError

LEAST_LOG = -99.0
"""What these files write for log 0."""


def logs(values: Numbers, least: float = LEAST_LOG) -> Floats:
    """Logarithms to base 10, none below `least`."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log10(values), least), np.float64)


@dataclass(frozen=True)
class Arpa:
    """The content of an ARPA file: log₁₀ probabilities and back-off weights of the rows of a trie.

    The boundary is one word: its probability is that of `</s>`, its back-off weight that of `<s>`.
    """

    words: Alphabet
    trie: NGramTrie
    logprob: Floats
    backoff: Floats
    repairs: dict[str, int] = field(default_factory=dict)


def read_arpa(path: PathLike) -> Arpa:
    """Read a model; `.gz` and `.xz` by name."""
    lines = read_lines(path)
    sizes = _read_header(lines, path)
    numbers: dict[str, int] = {END: BOUNDARY}
    sections = [_read_section(lines, path, order, size, numbers) for order, size in enumerate(sizes, 1)]
    _expect_line(lines, path, "\\end\\")
    words = Alphabet((END, *sorted(numbers.keys() - {END})))
    return _assemble(words, words.encode(numbers), sections, path)


@dataclass(frozen=True)
class _Section:
    """The n-grams of one order as they stand in the file."""

    grams: Ints
    """[n, order] words, numbered in order of first sight."""
    logprob: Floats
    backoff: Floats
    line: Ints
    dropped: int
    """Those with a boundary inside, which are left out."""


def _read_header(lines: Iterator[tuple[int, str]], path: PathLike) -> list[int]:
    for _, line in lines:
        if line.strip() == "\\data\\":
            break
    else:
        raise DataError("this is not an ARPA file: it has no line \\data\\", path=path)
    sizes: list[int] = []
    for number, line in lines:
        if not line.strip():
            if sizes:
                return sizes
            continue
        left, _, right = line.strip().removeprefix("ngram").partition("=")
        size = whole_number(right.strip())
        if not line.startswith("ngram") or left.strip() != str(len(sizes) + 1) or size is None:
            raise DataError(f"expected 'ngram {len(sizes) + 1}=COUNT', got {line[:80]!r}", path=path, line=number)
        sizes.append(size)
    raise DataError("the file ends within its header", path=path)


def _expect_line(lines: Iterator[tuple[int, str]], path: PathLike, wanted: str) -> None:
    for number, line in lines:
        if line.strip() == wanted:
            return
        if line.strip():
            raise DataError(f"expected {wanted}, got {line!r}", path=path, line=number)
    raise DataError(f"the file ends before {wanted}: it is truncated", path=path)


def _read_section(
    lines: Iterator[tuple[int, str]], path: PathLike, order: int, size: int, numbers: dict[str, int]
) -> _Section:
    """The n-grams of one order. Arrays grow with what is there: a header may promise anything."""
    _expect_line(lines, path, f"\\{order}-grams:")
    words, at, logs, weights = array("q"), array("q"), array("d"), array("d")
    begin_weight, dropped = 0.0, 0
    for i in range(size):
        number, line = next(lines, (None, ""))
        if not line.strip() or line.startswith("\\"):
            what = f"the section of order {order} is truncated: {i:,} n-grams, but the header promises {size:,}"
            raise DataError(what, path=path, line=number)
        value, gram, weight = _read_entry(line, order, path, number)
        if BEGIN in gram[1:] or END in gram[:-1]:
            dropped += 1
            continue
        if gram == [BEGIN]:
            # The one symbol for both boundaries has the back-off weight of <s> and the probability of </s>.
            begin_weight = weight
            continue
        for word in gram:
            name = END if word == BEGIN else "<unk>" if word == "<UNK>" else word
            if order > 1 and name not in numbers:
                raise DataError(f"the word {word!r} has no unigram", path=path, line=number)
            words.append(numbers.setdefault(name, len(numbers)))
        logs.append(value)
        weights.append(weight)
        at.append(number or 0)
    grams, backoff = np.array(words, np.int64).reshape(-1, order), np.array(weights, np.float64)
    if order == 1:
        backoff[grams[:, 0] == BOUNDARY] = begin_weight
    return _Section(grams, np.array(logs, np.float64), backoff, np.array(at, np.int64), dropped)


def _read_entry(line: str, order: int, path: PathLike, number: int | None) -> tuple[float, list[str], float]:
    """Log-probability, words and back-off weight of a line."""
    parts = line.split()
    if len(parts) not in (order + 1, order + 2):
        what = f"{line!r} is not a probability, {order} words and perhaps a back-off weight"
        raise DataError(what, path=path, line=number)
    try:
        value = float(parts[0])
        weight = float(parts[order + 1]) if len(parts) == order + 2 else 0.0
    except ValueError:
        raise DataError(f"{line!r} has no number where one is expected", path=path, line=number) from None
    if not (math.isfinite(value) and math.isfinite(weight)):
        what = (
            f"log probability {value} or back-off {weight} is not a finite number; ARPA files write -99 for log 0"
        )
        raise DataError(what, path=path, line=number)
    if value > 1e-6 or weight >= 99:
        raise DataError(f"log probability {value} or back-off {weight} is too large", path=path, line=number)
    return value, parts[1 : order + 1], weight


def _refuse_repeated(row: Integers, section: _Section, path: PathLike) -> None:
    """No n-gram may stand in the file twice: which of its probabilities would be meant?"""
    order = np.argsort(row, kind="stable")
    again = order[1:][row[order[1:]] == row[order[:-1]]]
    if len(again):
        name = f"{section.grams.shape[1]}-gram"
        raise DataError(f"the {name} of this line occurs twice", path=path, line=int(section.line[again.min()]))


def _assemble(words: Alphabet, place: Ints32, sections: list[_Section], path: PathLike) -> Arpa:
    """Sort into a trie, and give the parts that were missing what backing off gives them."""
    grams = [place[section.grams] for section in sections]
    _refuse_repeated(grams[0][:, 0], sections[0], path)
    if len(grams[0]) != len(words):
        raise DataError(f"there is no unigram {END}, so no sentence ever ends", path=path)
    trie, rows = NGramTrie.of(grams, len(words))
    logprob, backoff = np.full(len(trie), np.nan), np.zeros(len(trie))
    for row, section in zip(rows, sections, strict=True):
        _refuse_repeated(row, section, path)
        logprob[row], backoff[row] = section.logprob, section.backoff
    added = 0
    for order in range(2, trie.order + 1):
        level = np.arange(trie.level[order - 1], trie.level[order])
        missing_rows = level[np.isnan(logprob[level])]
        added += len(missing_rows)
        logprob[missing_rows] = backoff[trie.prefix[missing_rows]] + logprob[trie.suffix[missing_rows]]
    repairs = {
        "missing parts of n-grams added": added,
        "n-grams with a boundary inside left out": sum(section.dropped for section in sections),
        "back-off weights above 1 kept": int((backoff > 0).sum()),
    }
    return Arpa(words, trie, logprob, backoff, {name: count for name, count in repairs.items() if count})


def write_arpa(arpa: Arpa, path: PathLike) -> None:
    """Write a model with seven digits; the last order has no back-off weights."""
    trie = arpa.trie

    def entries(order: int) -> Iterator[Entries]:
        grams = trie.grams(order)
        first = int(trie.level[order - 1])
        for begin, end in blocks(len(grams)):
            rows = slice(first + begin, first + end)
            yield grams[begin:end], arpa.logprob[rows], arpa.backoff[rows]

    write_entries(arpa.words, np.diff(trie.level).tolist(), entries, path)


Entries = tuple[Integers, Floats, Floats]
"""Some n-grams of one order as word numbers, their log₁₀ probabilities and their back-off weights."""


def write_entries(
    words: Alphabet, sizes: Sequence[int], entries: Callable[[int], Iterator[Entries]], path: PathLike
) -> None:
    """Write an ARPA file of `entries(order)`, of which there are `sizes[order - 1]`, some at a time."""
    refuse_blanks(words.symbols, "an ARPA file")
    writer = RowWriter(words, BEGIN)
    with write_bytes(path) as out:
        out.write(b"\\data\\\n")
        for order, size in enumerate(sizes, 1):
            out.write(b"ngram %d=%d\n" % (order, size + (order == 1)))
        for order in range(1, len(sizes) + 1):
            out.write(b"\n\\%d-grams:\n" % order)
            for grams, logs, weights in entries(order):
                weighty = np.full(len(grams), order < len(sizes)) & (grams[:, -1] != BOUNDARY)
                if order == 1 and len(grams) and grams[0, 0] == BOUNDARY:
                    # One symbol for both boundaries: it has the back-off weight of <s>.
                    out.write(f"{LEAST_LOG:g}\t{BEGIN}\t{weights[0]:.7g}\n".encode())
                out.write(writer.entries(grams, np.maximum(logs, LEAST_LOG), weights, weighty))
        out.write(b"\n\\end\\\n")
