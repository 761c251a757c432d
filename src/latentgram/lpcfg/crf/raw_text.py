"""Raw text beside a small treebank: what a first layer makes of it teaches the grammar of the second.

A treebank of some hundred trees has few words, so a grammar knows the others by their form alone, and few of their
phrases. Text is cheap. So a first layer is learned from the treebank, and parses the text; the grammars of the
second, jackknifed or not, are learned from their own trees, which count `WEIGHT` times, and from these. The layer
itself is taught by the trees of the treebank only: in the others every choice of the first layer would look right.

Cost: learning twice, and one parse of each sentence of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.data.text import Text
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.crf.parse import ChartCRFBackend
from latentgram.parallel import shards

LONGEST = 100
"""Longer lines of a text are seldom sentences."""
WEIGHT = 3
"""How often a tree of the treebank counts, which is right, for every one of the text, which may be wrong."""
_BATCH = 50


@dataclass(frozen=True)
class _Annotator:
    """Parses batches; a class, so that workers can be sent it."""

    layer: ChartCRF

    @cached_property
    def _backend(self) -> ChartCRFBackend:
        return ChartCRFBackend(self.layer)

    def __call__(self, sentences: Sequence[Sentence]) -> list[Tree]:
        parses = self._backend.parse(sentences)
        return [parse.tree for parse in parses if isinstance(parse.tree, Tree) and not parse.fallback]


def annotated(text: Text, layer: ChartCRF, context: Context) -> Treebank[Tree]:
    """The trees that a layer finds in a text; sentences without a parse and very long ones are left out."""
    sentences = [sentence for sentence in text if len(sentence) <= LONGEST]
    trees: list[Tree] = []
    done = 0
    for some in context.engine.map(_Annotator(layer), shards(sentences, _BATCH)):
        trees += some
        done = min(done + _BATCH, len(sentences))
        context.progress.step("raw text", done, len(sentences))
    if not trees:
        raise DataError("no sentence of the raw text has a parse under the grammar of the treebank")
    return Treebank.of(trees)


def checked(text: object) -> Text | None:
    """What was given as raw text, if it is that."""
    if text is None:
        return None
    if not isinstance(text, Text):
        raise SettingError(f"text must be a Text, such as Text.read('raw.txt'), not {type(text).__name__}")
    if not len(text):
        raise DataError("the raw text has no sentences")
    return text


def together(treebank: Treebank[Tree], more: Treebank[Tree] | None) -> Treebank[Tree]:
    """What a grammar is learned from: the trees of a treebank and, if there are any, those of a text."""
    if more is None:
        return treebank
    return Treebank.of(Forest.concatenate([*[treebank.forest] * WEIGHT, more.forest]))
