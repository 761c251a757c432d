"""OpenFst's text form: a line per arc, `from<TAB>to<TAB>input<TAB>output<TAB>weight`, then the final states.

Weights are −log p. The table of symbols stands beside it (`.syms`), with `<eps>` as number 0 and `<phi>`, for arcs
that may be taken only if no other can, as number 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from latentgram.data.files import PathLike, write_text
from latentgram.data.text import refuse_blanks

Arc = tuple[int, int, str | tuple[str, str], float]
"""From, to, label (of a transducer input and output), weight."""
EPSILON, PHI = "<eps>", "<phi>"


def write_openfst(
    path: PathLike, symbols: Iterable[str], arcs: Iterable[Arc], final: Iterable[tuple[int, float]]
) -> None:
    """Write a machine: its arcs, those of the initial state first, and its final states with their weights.

    Its symbols go into a file beside it; both are there in the end, or neither is.
    """
    symbols = tuple(dict.fromkeys(symbols))
    refuse_blanks(symbols, "OpenFst text")
    with write_text(path) as out, write_text(f"{os.fspath(path)}.syms") as names:
        for start, end, label, weight in arcs:
            taken, given = (label, label) if isinstance(label, str) else label
            out.write(f"{start}\t{end}\t{taken}\t{given}\t{weight:.9g}\n")
        out.writelines(f"{state}\t{weight:.9g}\n" if weight else f"{state}\n" for state, weight in final)
        out.flush()  # a full disk is to be noticed before the symbols get their name
        names.writelines(f"{name}\t{number}\n" for number, name in enumerate((EPSILON, PHI, *symbols)))


def cost(probability: float) -> float:
    """−log p.

    >>> cost(1.0), cost(0.0)
    (0.0, inf)
    """
    return float(-np.log(probability)) + 0.0 if probability > 0 else float("inf")
