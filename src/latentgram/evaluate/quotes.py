"""EVALB's mending of quotes: a quote that only one side took for punctuation is put back on the other.

`'` is a closing quote or a possessive, so one tagger deletes it and another keeps it, and the sentence would be
lost for a difference in length. Where lengths differ, quotes (tags in `rules.quotes`) before which equally many
words are kept on both sides, one of them deleted and the other not, are kept on both sides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import ABSENT
from latentgram.data.forest import Forest
from latentgram.evaluate.evalb_parameters import BracketingRules

_FORMS = frozenset("'\"/")


def mend_quotes(
    gold: Forest,
    output: Forest,
    gold_kept: NDArray[np.bool_],
    output_kept: NDArray[np.bool_],
    rules: BracketingRules,
) -> None:
    """Change what is kept, in place, in the sentences whose lengths differ."""
    for s in range(len(gold)):
        gold_part = slice(int(gold.start[s]), int(gold.start[s + 1]))
        output_part = slice(int(output.start[s]), int(output.start[s + 1]))
        lengths = int(gold_kept[gold_part].sum()), int(output_kept[output_part].sum())
        if lengths[0] == lengths[1] or 0 in lengths:
            continue
        quotes = _quotes(gold, gold_part, rules)
        for there in _quotes(output, output_part, rules):
            for here in quotes:
                left, right = gold_kept[gold_part.start : here], output_kept[output_part.start : there]
                if left.sum() == right.sum() and gold_kept[here] != output_kept[there]:
                    gold_kept[here] = output_kept[there] = True


def _quotes(forest: Forest, part: slice, rules: BracketingRules) -> list[int]:
    """The nodes that are quotes."""
    return [
        node
        for node in range(part.start, part.stop)
        if forest.word[node] != ABSENT
        and forest.words[forest.word[node]] in _FORMS
        and forest.labels[forest.label[node]] in rules.quotes
    ]
