"""Viterbi decoding: the most probable derivation.

    best = argmax_tree p(tree, sentence)

For a grammar with one state a symbol it is the most probable tree; with hidden states a tree has many derivations
and this is the tree of the most probable one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Viterbi:
    """The most probable derivation."""
