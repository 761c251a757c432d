"""Constraints in the terms of arcs: which heads words may have.

That a span is a unit says that one of its words, nobody knows which, has its head outside, and the others inside.
For each choice of that word it is a matter of allowed arcs, and the choices exclude each other; so the trees that
obey are split into a few *cases*, each with its own mask, and sums and maxima over trees are those over the cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentgram.data.constraints import Constraints
from latentgram.data.sentence import Sentence
from latentgram.errors import NoParse, SettingError

Floats = NDArray[np.float64]

MOST_CASES = 500


class ArcMask(NamedTuple):
    """Which arcs (head, modifier) and which root words are allowed."""

    arcs: NDArray[np.bool_]
    roots: NDArray[np.bool_]


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
        raise SettingError(f"nothing in a dependency tree has the label {labelled[0][2]}; leave it out for a unit")
    if known.forbidden_spans:
        raise SettingError("that words are no unit cannot be asked of dependency trees")
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
    units = [range(first, end) for first, end, _ in known.spans if end - first > 1]
    if math.prod(len(unit) for unit in units) > MOST_CASES:
        raise SettingError(
            f"these units can be put together in more than {MOST_CASES} ways; ask for fewer of them"
        )
    masks = []
    for tops in product(*units):
        case = ArcMask(arcs.copy(), roots.copy())
        for unit, top in zip(units, tops, strict=True):
            inside = np.isin(np.arange(length), unit)
            others = inside & (np.arange(length) != top)
            case.arcs[np.ix_(~inside, others)] = False
            case.roots[others] = False
            case.arcs[inside, top] = False
        if (case.arcs.any(0) | case.roots).all():
            masks.append(case)
    return masks


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
