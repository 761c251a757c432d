"""A tagger's probabilities for a sentence without tags, combined with the chart of a grammar.

A small treebank has few words, and the lexicon of a grammar knows only the form signature of an unknown word.
A tagger sees its letters and the words around it. With q the distribution over trees that has the grammar's
posteriors and chooses each edge independently, and t_i the tag of word i,

    q'(tree) ∝ q(tree) · ∏_i max( p_tagger(t_i | sentence), FLOOR ),

and the layer starts from the posteriors of q'. Every tag of the chart stays possible: a tagger makes mistakes,
which the tree may correct. Cost: the tagger, and a pass over the edges of the chart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latentgram.arrays import Floats32, Ints
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import tag_of
from latentgram.data.sentence import Sentence
from latentgram.lpcfg.crf.kernels.marginals import reweighed
from latentgram.lpcfg.kernels.chart import PackedChart
from latentgram.lpcfg.model import LPCFG
from latentgram.tagger.model import Tagger

FLOOR = 1e-3
"""The least probability of a tag, also of those that the tagger does not consider."""


@dataclass(frozen=True)
class TagEvidence:
    """A tagger beside a grammar of the same treebank."""

    tagger: Tagger
    grammar: LPCFG

    @cached_property
    def _tag(self) -> Ints:
        """[P] the number of the tag of each preterminal among the tagger's; `ABSENT` where it has none."""
        tags = Alphabet(self.tagger.tags)
        return tags.encode(tag_of(name) for name in self.grammar.preterminals).astype(np.int64)

    def reweighed(
        self, sentence: Sentence, chart: PackedChart, item: Floats32, edge: Floats32
    ) -> tuple[Floats32, Floats32]:
        """The posteriors of items and edges under q'; those of a sentence that has tags stay as they are."""
        if sentence.tags is not None:
            return item, edge
        begin = chart.cell_begin[: chart.length + 1]
        word = np.repeat(np.arange(chart.length), np.diff(begin))
        tag = self._tag[chart.item_symbol[: begin[-1]] - len(self.grammar.interminals)]
        share = np.where(tag == ABSENT, 0.0, self.tagger.posteriors(sentence)[word, tag])
        items, edges = reweighed(chart, item, edge, np.log(np.maximum(share, FLOOR)))
        return items, edges
