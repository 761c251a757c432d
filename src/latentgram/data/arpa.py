r"""ARPA files: back-off n-gram models as text.

    \data\            \2-grams:
    ngram 1=3         -0.3<TAB>the dog<TAB>-0.1      log₁₀ p(dog | the), log₁₀ of the back-off weight of "the dog"
    …                 …                              \end\

Files in the wild lack suffixes, have sums that are off and `-99` for ⟨s⟩. Reading repairs what leaves the meaning
as it is and counts it: a missing part of an n-gram gets the probability that backing off gives it. What cannot be
meant (a probability above 1, a section that is cut short, an n-gram of the wrong length) is refused with its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, read_lines, write_text
from latentgram.data.ngram_trie import NGramTrie
from latentgram.data.text import BEGIN, BOUNDARY, END
from latentgram.errors import DataError

Floats = NDArray[np.float64]


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
    grams: list[NDArray[np.int64]] = []
    columns: list[tuple[Floats, Floats]] = []
    dropped = 0
    for order, size in enumerate(sizes, 1):
        table, logprob, backoff, lost = _read_section(lines, path, order, size, numbers)
        grams.append(table)
        columns.append((logprob, backoff))
        dropped += lost
    _expect_line(lines, path, "\\end\\")
    words = Alphabet((END, *sorted(numbers.keys() - {END})))
    place = words.encode(numbers)
    return _assemble(words, [place[table] for table in grams], columns, dropped, path)


def _read_header(lines: Iterator[tuple[int, str]], path: PathLike) -> list[int]:
    for _, line in lines:
        if line.strip() == "\\data\\":
            break
    else:
        raise DataError("this is no ARPA file: it has no line \\data\\", path=path)
    sizes: list[int] = []
    for number, line in lines:
        if not line.strip():
            if sizes:
                return sizes
            continue
        left, _, right = line.strip().removeprefix("ngram").partition("=")
        if not line.startswith("ngram") or left.strip() != str(len(sizes) + 1) or not right.strip().isdigit():
            raise DataError(f"expected 'ngram {len(sizes) + 1}=COUNT', got {line!r}", path=path, line=number)
        sizes.append(int(right))
    raise DataError("the file ends within its header", path=path)


def _expect_line(lines: Iterator[tuple[int, str]], path: PathLike, wanted: str) -> None:
    for number, line in lines:
        if line.strip() == wanted:
            return
        if line.strip():
            raise DataError(f"expected {wanted}, got {line!r}", path=path, line=number)
    raise DataError(f"the file ends before {wanted}: it is cut short", path=path)


def _read_section(
    lines: Iterator[tuple[int, str]], path: PathLike, order: int, size: int, numbers: dict[str, int]
) -> tuple[NDArray[np.int64], Floats, Floats, int]:
    """The n-grams of one order; those with a boundary inside are left out and counted."""
    _expect_line(lines, path, f"\\{order}-grams:")
    table = np.zeros((size, order), np.int64)
    logprob, backoff = np.zeros(size), np.zeros(size)
    kept = dropped = 0
    for _ in range(size):
        number, line = next(lines, (None, ""))
        parts = line.split()
        if len(parts) not in (order + 1, order + 2):
            what = f"{line!r} is not a probability, {order} words and perhaps a back-off weight"
            raise DataError(what if line else f"the section of order {order} is cut short", path=path, line=number)
        try:
            value = float(parts[0])
            weight = float(parts[order + 1]) if len(parts) == order + 2 else 0.0
        except ValueError:
            raise DataError(f"{line!r} has no number where one belongs", path=path, line=number) from None
        if value > 1e-6 or not weight < 99:
            raise DataError(f"log probability {value} or back-off {weight} is too large", path=path, line=number)
        gram = parts[1 : order + 1]
        inside = gram[1:] if order > 1 else []
        if BEGIN in inside or END in gram[:-1]:
            dropped += 1
            continue
        if gram == [BEGIN]:
            # The one symbol for both boundaries has the back-off weight of <s> and the probability of </s>.
            backoff[size - 1] = weight
            continue
        row = table[kept]
        for i, word in enumerate(gram):
            name = END if word == BEGIN else "<unk>" if word == "<UNK>" else word
            row[i] = numbers.setdefault(name, len(numbers))
        logprob[kept], kept = value, kept + 1
        if gram != [END]:
            backoff[kept - 1] = weight
    if order == 1:
        begin = backoff[size - 1] if kept < size - dropped else 0.0
        backoff[:kept][table[:kept, 0] == BOUNDARY] = begin
    return table[:kept], logprob[:kept], backoff[:kept], dropped


def _assemble(
    words: Alphabet,
    grams: list[NDArray[np.int32]],
    columns: list[tuple[Floats, Floats]],
    dropped: int,
    path: PathLike,
) -> Arpa:
    """Sort into a trie, and give the parts that were missing what backing off gives them."""
    unigrams = np.sort(grams[0][:, 0])
    if len(unigrams) != len(words) or np.any(unigrams[1:] == unigrams[:-1]):
        missing = [words[i] for i in np.setdiff1d(np.arange(len(words)), unigrams)[:3].tolist()]
        what = f"words without a unigram: {', '.join(missing)}" if missing else "a unigram stands there twice"
        raise DataError(what, path=path)
    trie, rows = NGramTrie.of(grams, len(words))
    logprob, backoff = np.full(len(trie), np.nan), np.zeros(len(trie))
    for row, (value, weight) in zip(rows, columns, strict=True):
        logprob[row], backoff[row] = value, weight
    added = 0
    for order in range(2, trie.order + 1):
        level = np.arange(trie.level[order - 1], trie.level[order])
        missing_rows = level[np.isnan(logprob[level])]
        added += len(missing_rows)
        logprob[missing_rows] = backoff[trie.prefix[missing_rows]] + logprob[trie.suffix[missing_rows]]
    repairs = {
        "missing parts of n-grams added": added,
        "n-grams with a boundary inside left out": dropped,
        "back-off weights above 1 kept": int((backoff > 0).sum()),
    }
    return Arpa(words, trie, logprob, backoff, {name: count for name, count in repairs.items() if count})


def write_arpa(arpa: Arpa, path: PathLike) -> None:
    """Write a model with seven digits; the last order has no back-off weights."""
    trie, symbols = arpa.trie, arpa.words.symbols
    with write_text(path) as out:
        out.write("\\data\\\n")
        for order in range(1, trie.order + 1):
            size = int(trie.level[order] - trie.level[order - 1]) + (order == 1)
            out.write(f"ngram {order}={size}\n")
        for order in range(1, trie.order + 1):
            out.write(f"\n\\{order}-grams:\n")
            begin, end = int(trie.level[order - 1]), int(trie.level[order])
            rows = zip(
                trie.grams(order).tolist(), arpa.logprob[begin:end].tolist(),
                arpa.backoff[begin:end].tolist(), strict=True,
            )  # fmt: skip
            for gram, value, weight in rows:
                names = [symbols[i] for i in gram]
                if order == 1 and gram[0] == BOUNDARY:
                    out.write(f"-99\t{BEGIN}\t{weight:.7g}\n{value:.7g}\t{END}\n")
                    continue
                names[0] = BEGIN if order > 1 and gram[0] == BOUNDARY else names[0]
                tail = "" if order == trie.order or gram[-1] == BOUNDARY else f"\t{weight:.7g}"
                out.write(f"{value:.7g}\t{' '.join(names)}{tail}\n")
        out.write("\n\\end\\\n")
