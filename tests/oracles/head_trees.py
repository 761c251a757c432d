"""The weight of one tree of a head-automata grammar, by its definition, and random grammars."""

import numpy as np

from latentgram.shag.kernels.inside_outside import LEFT, RIGHT, HeadWeights
from oracles.projective import ROOT, modifiers


def random_grammar(rng, n_words, n_states, n_classes):
    draw = rng.standard_normal
    return HeadWeights(
        start=draw((2, n_words, n_states)),
        stop=draw((2, n_words, n_states)),
        operators=draw((5, n_states, n_states)),
        step=rng.integers(0, 5, (n_words, n_words), np.int32),
        arc=draw((n_words, n_words, 1 + n_classes)),
        halt=draw((2, n_words, 1 + n_classes)),
        memory=rng.integers(0, n_classes, n_words),
        root=draw(n_words),
    )


def positive(grammar):
    """The same with the sizes of its weights."""
    return HeadWeights(*(abs(array) if array.dtype == float else array for array in grammar))


def weight(heads, start, stop, operators, step, arc, halt, memory, root):
    """The definition of a tree's weight, word for word."""
    total = root[heads.index(ROOT)]
    for head in range(len(heads)):
        for direction, sequence in zip((LEFT, RIGHT), modifiers(heads, head), strict=True):
            state, vector = 0, start[direction, head]
            for word in sequence:
                vector = arc[head, word, state] * operators[step[head, word]] @ vector
                state = 1 + memory[word]
            total *= halt[direction, head, state] * (stop[direction, head] @ vector)
    return total
