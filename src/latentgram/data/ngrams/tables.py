"""N-gram counts as tables of text: `w1 w2 w3<TAB>count`, as in Web 1T and Google Books.

Three kinds of line are distinguished by their tabs: one count; or year, count and number of books (Google Books of
2009 and 2012; the years of an n-gram are summed); or many fields `year,count,books` (Google Books of 2020).
Entries with a part of speech (`run_VERB`, `_NOUN_`) repeat others and are dropped. `<S>`, `<s>` and `_START_` are
boundaries at the beginning, `</S>`, `</s>` and `_END_` at the end. Folders are read as distributed: indexes and
totals, and the second copy of the vocabulary in Web 1T, are ignored.

A table without boundaries gets them by a local rule, as footnote 1 of Smith and Eisner (2012) allows: a sentence
ends after `.`, `!` or `?`. So cnt(… . #) = cnt(… .), cnt(# v …) = Σ_p cnt(p v …) over the three, and n-grams that
continue after one of them are dropped. Parts of n-grams that are missing in a table are added with the largest
count of the n-grams that contain them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from latentgram.data.alphabet import Alphabet
from latentgram.data.files import STANDARD, PathLike, expand, is_pipe, plain_suffix, read_lines, write_text
from latentgram.data.kernels.tables import raise_counts
from latentgram.data.ngrams.counts import UNKNOWN, NGramCounts
from latentgram.data.ngrams.table_rows import Counted, TableRows, merged_rows
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.tagged import TAGGED_SUFFIXES
from latentgram.data.text import BEGIN, BOUNDARY, END, refuse_blanks
from latentgram.errors import DataError

_TAGGED = re.compile(r"(^|.)_(NOUN|VERB|ADJ|ADV|PRON|DET|ADP|NUM|CONJ|PRT|X|\.)_?$")
_BEGINS = {"<S>", BEGIN, "_START_"}
_ENDS = {"</S>", END, "_END_"}
_FINAL = (".", "!", "?")
_LINE = re.compile(r"[^\S\t]*[^\s][^\t]*\t(\s*-?\d+\s*|\d+\t\d+\t\d+|\d+,\d+,\d+(\t\d+,\d+,\d+)*)$")
"""What a line of a table looks like; a negative count is a table with a fault, and no text."""
_NO_TABLE = re.compile(
    r"(vocab_cs|total|total_?counts.*|.*[-_.]total_?counts.*|.*\.idx)(\.gz|\.txt|\.csv)*", re.IGNORECASE
)
"""Files beside the tables of Web 1T and Google Books that hold no n-grams, or hold them twice."""
_LEFT_OUT = "files of totals and indexes left out"

Grams = dict[int, Counted]
"""The n-grams of each order."""


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
    line = (
        None if path == STANDARD or is_pipe(path) else next((line for _, line in read_lines(path) if line), None)
    )
    return line is not None and (plain_suffix(path) in TAGGED_SUFFIXES or bool(_LINE.match(line)))


def read_table(paths: PathLike | Iterable[PathLike]) -> NGramCounts:
    """Counts from tables in any order, of any orders up to 6."""
    repairs: Counter[str] = Counter()
    files, others = _tables(paths)
    if others:
        repairs[_LEFT_OUT] = others
    rows = TableRows()
    for path in files:
        rows.read(path)
    names, grams = _as_meant(rows, repairs)
    if not grams:
        raise DataError("the table has no n-grams", path=next(iter(files), None))
    marked = any((gram[:, [0, -1]] <= names[END]).any() for gram, _ in grams.values())
    if not marked:
        grams = _with_boundaries(grams, names, repairs, files[0])
    return _assemble(grams, names, repairs)


def _as_meant(rows: TableRows, repairs: Counter[str]) -> tuple[dict[str, int], Grams]:
    """Numbers of words whatever they are written as, the boundaries first; and the n-grams that count."""
    written = list(rows.words)
    meant = [BEGIN if w in _BEGINS else END if w in _ENDS else UNKNOWN if w == "<UNK>" else w for w in written]
    names = {name: number for number, name in enumerate(dict.fromkeys((BEGIN, END, *meant)))}
    number = np.array([names[name] for name in meant], np.int32)
    tagged = np.array(["_" in name and _TAGGED.search(name) is not None for name in meant], np.bool_)
    grams: Grams = {}
    for gram, sums in rows.distinct():
        parts = tagged[gram].any(1)
        gram = number[gram]
        inside = (gram[:, 1:] == names[BEGIN]).any(1) | (gram[:, :-1] == names[END]).any(1)
        for what, dropped in (
            ("entries with parts of speech dropped", parts),
            ("n-grams with a boundary inside left out", inside & ~parts),
        ):
            if dropped.any():
                repairs[what] += int(sums[dropped, 1].sum())
        kept = ~(parts | inside)
        if kept.any():
            grams[gram.shape[1]] = merged_rows([(gram[kept], sums[kept, 0])], len(names))
    return names, grams


def _with_boundaries(grams: Grams, names: dict[str, int], repairs: Counter[str], path: PathLike) -> Grams:
    """Boundaries after final punctuation, where the table has none."""
    final = np.array([names[mark] for mark in _FINAL if mark in names], np.int64)
    marked: defaultdict[int, list[Counted]] = defaultdict(list)
    ends = 0
    for size, (gram, count) in grams.items():
        across = np.isin(gram[:, 1:-1], final).any(1)
        if across.any():
            repairs["n-grams across a found boundary dropped"] += int(across.sum())
        gram, count = gram[~across].copy(), count[~across]
        begins = np.isin(gram[:, 0], final) & (size > 1)
        gram[begins, 0] = names[BEGIN]
        marked[size].append((gram, count))
        closes = np.isin(gram[:, -1], final) & ~begins
        ends += int(count[closes].sum()) if size == 1 else 0
        if size < max(grams):
            closed = np.column_stack([gram[closes], np.full(int(closes.sum()), names[END], np.int32)])
            marked[size + 1].append((closed, count[closes]))
    if not ends:
        raise DataError(
            "the table has neither boundary symbols nor the words . ! ? from which to derive them", path=path
        )
    repairs["boundaries found by final punctuation"] = ends
    marked[1].append((np.array([[names[END]]], np.int32), np.array([ends])))
    return {
        size: merged_rows(parts, len(names))
        for size, parts in marked.items()
        if any(len(gram) for gram, _ in parts)
    }


def _assemble(grams: Grams, names: dict[str, int], repairs: Counter[str]) -> NGramCounts:
    """Number the words, close the set under parts and give those counts."""
    used = np.unique(np.concatenate([gram.ravel() for gram, _ in grams.values()]))
    listed = list(names)
    words = Alphabet((END, *sorted(listed[number] for number in used.tolist() if number > names[END])))
    place = words.encode(listed)
    place[names[BEGIN]] = BOUNDARY
    single, count = grams.get(1, (np.zeros((0, 1), np.int32), np.zeros(0, np.int64)))
    begins, ends = (int(count[single[:, 0] == names[mark]].sum()) for mark in (BEGIN, END))
    inner = single[:, 0] > names[END]
    counts = [np.append(count[inner], max(begins, ends))]
    numbered = [np.append(place[single[inner]], [[BOUNDARY]], axis=0)]
    for size in range(2, max(grams) + 1):
        gram, count = grams.get(size, (np.zeros((0, size), np.int32), np.zeros(0, np.int64)))
        numbered.append(place[gram])
        counts.append(count)
    trie, rows = NGramTrie.of(numbered, len(words))
    count_of = np.full(len(trie), -1, np.int64)
    for row, count in zip(rows, counts, strict=True):
        count_of[row] = count
    added = int((count_of < 0).sum())
    if raised := int(raise_counts(trie.prefix, trie.suffix, trie.words, count_of)):
        repairs["counts raised to those of longer n-grams"] = raised
    count_of = np.maximum(count_of, 0)
    if added:
        repairs["missing parts of n-grams added"] = added
    cutoffs = tuple(int(count_of[trie.level[k] : trie.level[k + 1]].min(initial=1)) for k in range(trie.order))
    return NGramCounts(words, trie, count_of, cutoffs, dict(repairs))


def write_table(counts: NGramCounts, path: PathLike) -> None:
    """Write counts as lines `w1 w2<TAB>count`, boundaries as `<s>` and `</s>`."""
    refuse_blanks(counts.words, "a table of n-grams")
    with write_text(path) as out:
        out.writelines(f"{' '.join(gram)}\t{count}\n" for gram, count in counts.items())
