r"""N-gram counts as tables of text: `w1 w2 w3<TAB>count`, as Web 1T and Google Books have them.

Three kinds of line are told apart by their tabs: one count; or year, count and number of books (Google Books of
2009 and 2012; the years of an n-gram are summed); or many fields `year,count,books` (Google Books of 2020).
Entries with a part of speech (`run_VERB`, `_NOUN_`) repeat others and are dropped. `<S>`, `<s>` and `_START_` are
boundaries at the beginning, `</S>`, `</s>` and `_END_` at the end. Folders are read as they come: indexes and
totals, and the second copy of the vocabulary that Web 1T has, are left out.

A table without boundaries gets them by a local rule, as footnote 1 of Smith and Eisner (2012) allows: a sentence
ends after `.`, `!` or `?`. So cnt(… . #) = cnt(… .), cnt(# v …) = Σ_p cnt(p v …) over the three, and n-grams that
go on behind one of them are dropped. Parts of n-grams that a table lacks are added with the largest count that
needs them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from latentgram.data.alphabet import Alphabet
from latentgram.data.files import STANDARD, PathLike, expand, plain_suffix, read_lines, whole_number, write_text
from latentgram.data.ngrams.counts import MOST_COUNT, MOST_ORDERS, UNKNOWN, NGramCounts
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.tagged import TAGGED_SUFFIXES
from latentgram.data.text import BEGIN, BOUNDARY, END, refuse_blanks
from latentgram.errors import DataError

_TAGGED = re.compile(r"(^|.)_(NOUN|VERB|ADJ|ADV|PRON|DET|ADP|NUM|CONJ|PRT|X|\.)_?$")
_BEGINS = {"<S>", BEGIN, "_START_"}
_ENDS = {"</S>", END, "_END_"}
_FINAL = (".", "!", "?")
_YEAR = re.compile(r"\d+,(\d+),\d+")
_LINE = re.compile(r"[^\t]*[^\t\s][^\t]*\t(\s*-?\d+\s*|\d+\t\d+\t\d+|\d+,\d+,\d+(\t\d+,\d+,\d+)*)$")
"""What a line of a table looks like; a negative count is a table with a fault, and no text."""
_NO_TABLE = re.compile(
    r"(vocab_cs|total|total_?counts.*|.*[-_.]total_?counts.*|.*\.idx)(\.gz|\.txt|\.csv)*", re.IGNORECASE
)
"""Files beside the tables of Web 1T and Google Books that hold no n-grams, or hold them twice."""
_LEFT_OUT = "files of totals and indexes left out"

Gram = tuple[str, ...]


def is_table(paths: PathLike | Iterable[PathLike]) -> bool:
    """Whether files are tables of n-grams and not text: by their first lines, or by their endings.

    Standard input is never looked into. A file that is named as columns are (`.tsv`) is no text either. Tables and
    text at once are refused.
    """
    files, _ = _tables(paths)
    told = [_is_table(file) for file in files]
    if any(told) and not all(told):
        table, text = files[told.index(True)], files[told.index(False)]
        raise DataError(f"this is a table of n-grams, but {text} is not: count them separately", path=table)
    return any(told)


def _tables(paths: PathLike | Iterable[PathLike]) -> tuple[list[str], int]:
    """The files that may hold n-grams, and how many others there were."""
    files = expand(paths)
    kept = [file for file in files if not _NO_TABLE.fullmatch(Path(file).name)]
    return (kept, len(files) - len(kept)) if kept else (files, 0)


def _is_table(path: str) -> bool:
    line = None if path == STANDARD else next((line for _, line in read_lines(path) if line), None)
    return line is not None and (plain_suffix(path) in TAGGED_SUFFIXES or bool(_LINE.match(line)))


def read_table(paths: PathLike | Iterable[PathLike]) -> NGramCounts:
    """Counts from tables in any order, of any orders up to 6."""
    counts: Counter[Gram] = Counter()
    repairs: Counter[str] = Counter()
    files, others = _tables(paths)
    if others:
        repairs[_LEFT_OUT] = others
    total = 0
    for path in files:
        for number, line in read_lines(path):
            if line:
                total += _read_line(line, path, number, counts, repairs)
                if total > MOST_COUNT:
                    what = f"the counts up to here sum to {total}, but are exact only up to {MOST_COUNT} (2^53)"
                    raise DataError(what, path=path, line=number)
    if not counts:
        raise DataError("the table has no n-grams", path=next(iter(files), None))
    marked = any(word in (BEGIN, END) for gram in counts for word in (gram[0], gram[-1]))
    if not marked:
        counts = _with_boundaries(counts, repairs, files[0])
    return _assemble(counts, repairs)


def _read_line(line: str, path: PathLike, number: int, counts: Counter[Gram], repairs: Counter[str]) -> int:
    """Add one line to the counts; what it counts."""
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
        raise DataError(f"the count {written[:20]!r} is not a non-negative integer", path=path, line=number)
    words = [UNKNOWN if word == "<UNK>" else word for word in fields[0].split()]
    if not 1 <= len(words) <= MOST_ORDERS:
        raise DataError(f"an n-gram has 1 to {MOST_ORDERS} words, not {len(words)}", path=path, line=number)
    gram = tuple(BEGIN if word in _BEGINS else END if word in _ENDS else word for word in words)
    if any(word.startswith("_") or "_" in word for word in gram) and any(map(_TAGGED.search, gram)):
        repairs["entries with parts of speech dropped"] += 1
    elif BEGIN in gram[1:] or END in gram[:-1]:
        repairs["n-grams with a boundary inside left out"] += 1
    else:
        counts[gram] += count
    return count


def _with_boundaries(counts: Counter[Gram], repairs: Counter[str], path: PathLike) -> Counter[Gram]:
    """Boundaries after final punctuation, where the table has none."""
    marked: Counter[Gram] = Counter()
    longest = max(map(len, counts))
    for gram, count in counts.items():
        if any(word in _FINAL for word in gram[1:-1]):
            repairs["n-grams across a found boundary dropped"] += 1
            continue
        if len(gram) > 1 and gram[0] in _FINAL:
            marked[(BEGIN, *gram[1:])] += count
            continue
        marked[gram] += count
        if gram[-1] in _FINAL and len(gram) < longest:
            marked[(*gram, END)] += count
    marked[END,] = sum(counts[mark,] for mark in _FINAL)
    if not marked[END,]:
        raise DataError(
            "the table has neither boundary symbols nor the words . ! ? from which to derive them", path=path
        )
    repairs["boundaries found by final punctuation"] = marked[END,]
    return marked


def _assemble(counts: Counter[Gram], repairs: Counter[str]) -> NGramCounts:
    """Number the words, close the set under parts and give those counts."""
    begins = counts.pop((BEGIN,), 0)
    counts[END,] = max(counts[END,], begins)
    words = Alphabet((END, *sorted({word for gram in counts for word in gram} - {BEGIN, END})))
    by_order: defaultdict[int, list[tuple[list[int], int]]] = defaultdict(list)
    for gram, count in counts.items():
        numbers = [BOUNDARY if word == BEGIN else words.index(word) for word in gram]
        by_order[len(gram)].append((numbers, count))
    orders = range(1, max(by_order) + 1)
    grams = [np.array([g for g, _ in by_order[k]], np.int64).reshape(-1, k) for k in orders]
    trie, rows = NGramTrie.of(grams, len(words))
    count_of = np.full(len(trie), -1, np.int64)
    for k, row in zip(orders, rows, strict=True):
        count_of[row] = [count for _, count in by_order[k]]
    added = int((count_of < 0).sum())
    for longer in range(len(trie) - 1, trie.words - 1, -1):
        for part in (trie.prefix[longer], trie.suffix[longer]):
            if count_of[part] < count_of[longer]:
                repairs["counts raised to those of longer n-grams"] += int(count_of[part] >= 0)
                count_of[part] = count_of[longer]
    count_of = np.maximum(count_of, 0)
    if added:
        repairs["missing parts of n-grams added"] = added
    cutoffs = tuple(int(count_of[trie.level[k - 1] : trie.level[k]].min(initial=1)) for k in orders)
    return NGramCounts(words, trie, count_of, cutoffs, dict(repairs))


def write_table(counts: NGramCounts, path: PathLike) -> None:
    """Write counts as lines `w1 w2<TAB>count`, boundaries as `<s>` and `</s>`."""
    refuse_blanks(counts.words, "a table of n-grams")
    with write_text(path) as out:
        out.writelines(f"{' '.join(gram)}\t{count}\n" for gram, count in counts.items())
