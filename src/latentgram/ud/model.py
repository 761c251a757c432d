"""`UDParser`: raw text to Universal Dependencies, in one model.

Text is divided into sentences, tokens and words (segmenter.py); these get tags and features, lemmas
(lemmatiser.py), and heads with relations (arcs). Each step takes the best answer of the previous one and reports
its own confidence:

    p(segmentation | text),  p(tags | words),  p(lemma | word, tags),  p(head | words, tags)

The arcs are learned with tags like those of parsing: from taggers that have not seen the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from latentgram.arcs.choosing import learn_chosen
from latentgram.arcs.model import ArcFactored
from latentgram.arcs.settings import MIRAArcs
from latentgram.arcs.update import update as update_arcs
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.kinds.kind import Context
from latentgram.tagger.learning import jackknifed, learn_tagger
from latentgram.tagger.model import Tagger
from latentgram.tagger.settings import GradientTagger
from latentgram.tagger.update import update as update_tagger
from latentgram.ud.lemmatiser import NONE, Lemmatiser, learn_lemmatiser
from latentgram.ud.segmenter import Segmenter, learn_segmenter
from latentgram.ud.settings import GradientLemmatiser, GradientSegmenter, GradientUD


@dataclass(frozen=True, eq=False, repr=False)
class UDParser(Summarised):
    """A segmenter, a tagger, a lemmatiser (None where the treebank has no lemmas) and a parser of arcs.

    >>> import latentgram as lg
    >>> model = lg.fit(lg.UDParser, lg.demo_dependencies(100, seed=0), by=lg.Gradient(passes=2, folds=2))
    >>> tree = lg.Parser(model).parse("The boxes open .").tree
    >>> tree.lemmas, tree.upos
    (('the', 'box', 'open', '.'), ('DET', 'NOUN', 'VERB', 'PUNCT'))
    """

    segmenter: Segmenter
    tagger: Tagger
    lemmatiser: Lemmatiser | None
    arcs: ArcFactored
    provenance: Provenance = field(default_factory=Provenance)

    def summary(self) -> str:
        """One line."""
        parts = (self.segmenter, self.tagger, self.lemmatiser, self.arcs)
        return "; ".join(part.summary() for part in parts if part is not None)


def segmenter_of(model: UDParser) -> Segmenter:
    """What cuts text."""
    return model.segmenter


def tagger_of(model: UDParser) -> Tagger:
    """What tags words."""
    return model.tagger


def learn_ud(trees: Treebank[DependencyTree], settings: GradientUD, context: Context) -> UDParser:
    """All parts from one treebank."""
    held = trees.dependency_trees
    if not any(tag != "_" for tree in held for tag in (*tree.upos, *tree.xpos)):
        raise DataError("the trees have no tags to learn from")
    passes, seed = settings.passes, settings.seed
    segmenter = learn_segmenter(trees, GradientSegmenter(passes=passes, seed=seed), context)
    tagging = GradientTagger(passes=passes, seed=seed)
    tagger = learn_tagger(trees, tagging, context)
    lemmatiser = None
    if any(lemma != NONE for tree in held for lemma in tree.lemmas):
        lemmatiser = learn_lemmatiser(trees, GradientLemmatiser(passes=passes, seed=seed), context)
    folds = min(settings.folds, len(trees))
    tagged = jackknifed(trees, tagging, context, folds) if folds > 1 else trees
    crossing = {"non_projective": settings.non_projective, "choose_crossing": settings.choose_crossing}
    arcs = learn_chosen(tagged, MIRAArcs(passes=passes, bits=settings.bits, seed=seed, **crossing), context)
    return UDParser(segmenter, tagger, lemmatiser, arcs, arcs.provenance)


def update(model: UDParser, trees: Sequence[DependencyTree]) -> UDParser:
    """The model after a few more trees: its tagger and its arcs learn from them."""
    tagger = update_tagger(model.tagger, [tree.sentence for tree in trees])
    return replace(model, tagger=tagger, arcs=update_arcs(model.arcs, trees))
