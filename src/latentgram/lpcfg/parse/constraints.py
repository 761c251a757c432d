"""Constraints on the chart of a constituency parser: which symbols may be over which words."""

from __future__ import annotations

import numpy as np

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, NoParse
from latentgram.lpcfg.kernels.chart import CLOSED, OPEN, SpanMasks
from latentgram.lpcfg.parse.labels import LabelTable
from latentgram.lpcfg.projection import LeafTable, Leaves


def span_masks(known: Constraints, length: int, table: LabelTable, root: str | None) -> SpanMasks:
    """The sets of symbols that required and forbidden spans leave to each cell of two words and more.

    Binarisation took the label `root` off the whole sentence: to require it asks nothing, to forbid it all.
    """
    if known.heads or known.forbidden_heads:
        raise DataError("heads can be required only in dependency trees; this is a constituency grammar")
    of_cell = np.full(length * (length + 1) // 2, OPEN, np.int32)
    width = np.repeat(np.arange(1, length + 1), np.arange(length, 0, -1))
    first = np.concatenate([np.arange(length - wide + 1) for wide in range(1, length + 1)])
    end = first + width
    sets: dict[tuple[int, int], np.ndarray] = {}
    chains = table.chains[: table.interminals]
    for required, spans in ((True, known.spans), (False, known.forbidden_spans)):
        for begin, stop, label in spans:
            if required:
                crosses = (first < begin) & (begin < end) & (end < stop)
                crosses |= (begin < first) & (first < stop) & (stop < end)
                of_cell[crosses & (width > 1)] = CLOSED
            if label == root and stop - begin == length:
                if not required:
                    raise NoParse(f"every tree of this grammar has {root} over the whole sentence")
                continue
            has = np.array([bool(chain) if label is None else label in chain for chain in chains], np.bool_)
            allowed = sets.setdefault((begin, stop), np.ones(len(chains), bool))
            allowed &= has if required else ~has
    for number, (begin, stop) in enumerate(sets, 1):
        if stop - begin > 1:
            of_cell[(first == begin) & (end == stop) & (of_cell != CLOSED)] = number
    return SpanMasks(np.stack([np.ones(len(chains), bool), *sets.values()]), of_cell)


def choose_leaves(
    known: Constraints, sentence: Sentence, leaves: Leaves, tables: tuple[LeafTable, LabelTable]
) -> Leaves:
    """The leaves of a sentence whose tags, and whose chains over single words, obey."""
    lookup, table = tables
    required, words = dict(known.tags), range(len(sentence))
    asked = lookup.of(Sentence(sentence.words, tuple(required.get(word, "") for word in words)))
    parts = [(asked if word in required else leaves).between(word, word + 1) for word in words]
    single = [(spans, must) for spans, must in ((known.spans, True), (known.forbidden_spans, False))]
    for word in words:
        keep = np.ones(len(parts[word].symbol), bool)
        chains = [table.chains[symbol] for symbol in parts[word].symbol]
        if word in required:
            keep &= [chain[-1] == required[word] for chain in chains]
        for _, tag in (pair for pair in known.forbidden_tags if pair[0] == word):
            keep &= [chain[-1] != tag for chain in chains]
        for spans, must in single:
            for first, end, label in spans:
                if (first, end) == (word, word + 1):
                    # Every word has its tag, so a single word is a unit already, and can never be none.
                    keep &= [(label is None or label in chain) == must for chain in chains]
        _, symbol, entry, weight, code = parts[word]
        parts[word] = Leaves(np.array([0, keep.sum()], np.int32), symbol[keep], entry[keep], weight[keep], code)
    empty = [word for word in words if not len(parts[word].symbol)]
    if empty:
        raise NoParse(f"no symbol over {sentence.words[empty[0]]!r} satisfies the constraints")
    begin = np.concatenate(([0], np.cumsum([len(part.symbol) for part in parts]))).astype(np.int32)
    return Leaves(begin, *(np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True)))
