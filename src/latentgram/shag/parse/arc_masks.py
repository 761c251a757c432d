"""Constraints in the terms of arcs: which heads words may have.

That a span is a unit says that one of its words, nobody knows which, has its head outside, and the others inside.
That it is none says that two or more have: let i and j be the first two of them, then the words before j other
than i have their heads inside, and those after j are free. For each choice of the one word, or of the two, it is a
matter of allowed arcs, and the choices exclude each other; so the trees that obey are split into a few *cases*,
each with its own mask, and sums and maxima over trees are those over the cases: w for a unit of w words,
w (w − 1) / 2 for none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, NoParse

Floats = NDArray[np.float64]

MOST_CASES = 500


class ArcMask(NamedTuple):
    """Which arcs (head, modifier) and which root words are allowed."""

    arcs: NDArray[np.bool_]
    roots: NDArray[np.bool_]


class _Choice(NamedTuple):
    """Words of a span that have their heads outside of it, and words that have them inside."""

    unit: range
    outward: tuple[int, ...]
    inward: tuple[int, ...]


class Sum(NamedTuple):
    """The sum over all trees of a case: posteriors of arcs and roots, log |Z| and the sign of Z."""

    arcs: Floats
    roots: Floats
    log_total: float
    sign: float


def with_tags(known: Constraints, sentence: Sentence) -> Sentence:
    """A sentence with the required tags in place of its own; its tags must not be forbidden."""
    tags = list(sentence.tags or ("_",) * len(sentence))
    for word, tag in known.tags:
        if sentence.upos is None or sentence.upos[word] != tag:
            tags[word] = tag
    for word, tag in known.forbidden_tags:
        if tags[word] == tag:
            raise NoParse(f"the word {sentence.words[word]!r} is tagged {tag}, which is forbidden")
    if not known.tags:
        return sentence
    if sentence.xpos is None and sentence.upos is not None:
        return Sentence(sentence.words, None, tuple(tags))
    return Sentence(sentence.words, tuple(tags), sentence.upos)


def arc_masks(known: Constraints, length: int) -> list[ArcMask]:
    """The cases into which constraints split the trees of a sentence."""
    labelled = [span for span in (*known.spans, *known.forbidden_spans) if span[2] is not None]
    if labelled:
        raise DataError(f"nothing in a dependency tree has the label {labelled[0][2]}; leave it out for a unit")
    arcs, roots = ~np.eye(length, dtype=bool), np.ones(length, bool)
    for word, head in known.heads:
        arcs[np.arange(length) != head - 1, word - 1] = False
        roots[word - 1] = head == 0
        if head == 0:
            roots[np.arange(length) != word - 1] = False
    for word, head in known.forbidden_heads:
        if head == 0:
            roots[word - 1] = False
        else:
            arcs[head - 1, word - 1] = False
    choices = [_unit(range(first, end)) for first, end, _ in known.spans if end - first > 1]
    choices += [_no_unit(range(first, end)) for first, end, _ in known.forbidden_spans]
    if math.prod(map(len, choices)) > MOST_CASES:
        raise DataError(
            f"these units can be put together in more than {MOST_CASES} ways; ask for fewer or shorter ones"
        )
    masks = []
    for chosen in product(*choices):
        case = ArcMask(arcs.copy(), roots.copy())
        for choice in chosen:
            inside, outward, inward = (np.isin(np.arange(length), words) for words in choice)
            case.arcs[np.ix_(~inside, inward)] = False
            case.roots[inward] = False
            case.arcs[np.ix_(inside, outward)] = False
        if (case.arcs.any(0) | case.roots).all():
            masks.append(case)
    return masks


def _unit(unit: range) -> list[_Choice]:
    """The ways in which words are a unit: which of them has its head outside."""
    return [_Choice(unit, (top,), tuple(word for word in unit if word != top)) for top in unit]


def _no_unit(unit: range) -> list[_Choice]:
    """The ways in which words are no unit: which are the first two that have their heads outside."""
    return [
        _Choice(unit, (one, other), tuple(word for word in unit if word < other and word != one))
        for one, other in combinations(unit, 2)
    ]


def together(cases: Sequence[Sum]) -> tuple[Sum, Floats]:
    """The sum over the trees of all cases, and the share of each case in it."""
    if len(cases) == 1:
        return cases[0], np.ones(1)
    greatest = max(case.log_total for case in cases)
    if greatest == -math.inf:
        return cases[0], np.full(len(cases), 1.0 / len(cases))
    sizes = np.array([case.sign * math.exp(case.log_total - greatest) for case in cases])
    total = float(sizes.sum())
    shares = sizes / total
    arcs = sum(share * case.arcs for share, case in zip(shares, cases, strict=True))
    roots = sum(share * case.roots for share, case in zip(shares, cases, strict=True))
    log_total = greatest + math.log(abs(total)) if total else -math.inf
    return Sum(np.asarray(arcs), np.asarray(roots), log_total, float(np.sign(total))), shares
