"""Names of arcs: by what is known of head and modifier, and words under the root as roots."""

from __future__ import annotations

import numpy as np

from latentgram.data.alphabet import Alphabet
from latentgram.shag.relations import Relations

DT, NN, VB, UNSEEN, ROOT = range(5)
LABELS = Alphabet(("det", "nsubj", "parataxis", "root"))


def counted() -> Relations:
    arcs = [(NN, DT, -1, "det")] * 30 + [(VB, NN, -1, "nsubj")] * 20 + [(ROOT, VB, 0, "root")] * 12
    head, modifier, distance, label = zip(*arcs, (VB, VB, 2, "parataxis"), strict=True)
    return Relations.of(
        LABELS,
        ROOT,
        head=np.array(head),
        modifier=np.array(modifier),
        signed_distance=np.array(distance),
        label=LABELS.encode(label),
    )


def test_a_word_under_the_root_is_a_root_whatever_its_tag() -> None:
    relations = counted()
    names, share = relations.predict(np.full(4, ROOT), np.array([VB, UNSEEN, DT, NN]), np.zeros(4, int))
    assert names == ["root"] * 4
    assert share[0] > share[1] > 0.5


def test_others_are_named_as_before() -> None:
    relations = counted()
    arcs = np.array([NN, VB, VB]), np.array([DT, NN, VB]), np.array([-1, -1, 2])
    old = Relations(relations.labels, relations.n_symbols, (*relations.levels[:2], relations.levels[3]))
    for one, other in zip(relations.predict(*arcs), old.predict(*arcs), strict=True):
        np.testing.assert_array_equal(one, other)
    assert relations.predict(*arcs)[0] == ["det", "nsubj", "parataxis"]
    assert old.predict(np.array([ROOT]), np.array([VB]), np.array([0]))[0] == ["root"]
