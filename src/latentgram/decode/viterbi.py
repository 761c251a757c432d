"""Viterbi decoding: the most probable derivation.

    best = argmax_tree p(tree, sentence)

For a grammar with one state a symbol it is the most probable tree; with hidden states a tree has many derivations
and this is the tree of the most probable one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Viterbi:
    """The most probable derivation.

    >>> import latentgram as lg
    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())
    >>> best = lg.Parser(grammar, decoder=Viterbi()).parse("The dog sleeps .")
    >>> best.tree == lg.Parser(grammar).nbest("The dog sleeps .", 1)[0].tree
    True
    """
