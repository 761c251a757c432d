"""`Lemmatiser`: the lemma of each word, by an edit script chosen by its letters, tags and features.

    p(lemma | word, tags) = Σ p(script | word, tags) over the scripts that yield the lemma

The words of the training data and their lemmas are among the features, so that irregular forms are known and
regular ones are learned. Linear in the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.kinds.kind import Context
from latentgram.ud.averaging import Learning
from latentgram.ud.chooser import Chooser, Items, codes_of, learn_chooser
from latentgram.ud.scripts import applied, script_between
from latentgram.ud.settings import GradientLemmatiser

NONE = "_"
"""No lemma, in CoNLL-U."""


@dataclass(frozen=True, eq=False, repr=False)
class Lemmatiser(Summarised):
    """Lemmas of tagged words.

    >>> import latentgram as lg
    >>> words = [("cats", "cat"), ("dogs", "dog"), ("rats", "rat"), ("bats", "bat")]
    >>> trees = [lg.DependencyTree((w,), (0,), upos=("NOUN",), lemmas=(lemma,)) for w, lemma in words]
    >>> lemmatiser = lg.fit(lg.Lemmatiser, trees, by=lg.Gradient(passes=3))
    >>> lemmatiser.lemmas(lg.Sentence(("mats",), upos=("NOUN",)))
    (('mat',), array([1.]))
    """

    chooser: Chooser
    provenance: Provenance = field(default_factory=Provenance)

    def summary(self) -> str:
        """One line."""
        sizes = f"{len(self.chooser.scripts):,} edit scripts and {len(self.chooser.weights):,} weights"
        return f"lemmatiser with {sizes}"

    def lemmas(self, sentence: Sentence) -> tuple[tuple[str, ...], Floats]:
        """The most probable lemma of each word, and its probability."""
        return self.lemmatise([sentence])[0]

    def lemmatise(self, sentences: Sequence[Sentence]) -> list[tuple[tuple[str, ...], Floats]]:
        """The most probable lemmas of many sentences, and their probabilities."""
        best = [max(each.items(), key=lambda pair: pair[1]) for each in self._each(sentences)]
        pairs, begin = [], 0
        for sentence in sentences:
            part = best[begin : begin + len(sentence)]
            pairs.append((tuple(lemma for lemma, _ in part), np.array([min(p, 1.0) for _, p in part])))
            begin += len(sentence)
        return pairs

    def probabilities(self, sentence: Sentence) -> list[dict[str, float]]:
        """The possible lemmas of each word, with their probabilities."""
        return list(self._each([sentence]))

    def _each(self, sentences: Sequence[Sentence]) -> Iterable[dict[str, float]]:
        words = [word for sentence in sentences for word in sentence.words]
        for word, results in zip(words, self.chooser.results(words, items_of(sentences), applied), strict=True):
            yield {str(lemma): share for lemma, share in results.items()} or {word: 1.0}


def items_of(sentences: Sequence[Sentence]) -> Items:
    """Words with codes of their tags, of the word before and of the tags behind them."""
    words = [word for sentence in sentences for word in sentence.words]
    coarse = [tag for sentence in sentences for tag in _column(sentence, sentence.upos or sentence.xpos)]
    rest = zip(
        coarse,
        (tag for sentence in sentences for tag in _column(sentence, sentence.xpos)),
        (feats for sentence in sentences for feats in _column(sentence, sentence.feats)),
        strict=True,
    )
    tags = ["\t".join(parts) for parts in rest]
    before, after, place = [], [], 0
    for sentence in sentences:
        end = place + len(sentence)
        before += ["", *(word.lower() for word in words[place : end - 1])]
        after += [*tags[place + 1 : end], ""]
        place = end
    return Items.of(words, codes_of(tags), codes_of(coarse), (codes_of(before), codes_of(after)))


def _column(sentence: Sentence, column: tuple[str, ...] | None) -> tuple[str, ...]:
    return column or ("",) * len(sentence)


def learn_lemmatiser(
    trees: Treebank[DependencyTree], settings: GradientLemmatiser, context: Context
) -> Lemmatiser:
    """A lemmatiser from the words, tags and lemmas of trees; a word without a lemma teaches nothing."""
    held = trees.dependency_trees
    lemmas = [lemma for tree in held for lemma in tree.lemmas]
    if all(lemma == NONE for lemma in lemmas):
        raise DataError("the trees have no lemmas to learn from")
    made: dict[tuple[str, str], str] = {}
    scripts, taught = [], []
    for number, pair in enumerate(zip((word for tree in held for word in tree.words), lemmas, strict=True)):
        if NONE == pair[1] != pair[0]:
            continue
        if pair not in made:
            made[pair] = script_between(*pair)
        scripts.append(made[pair])
        taught.append(number)
    trace: list[dict[str, float]] = []

    def report(done: int, loss: float) -> None:
        context.progress.step("learning lemmas", done, settings.passes, loss=loss)
        trace.append({"pass": float(done), "loss": loss})

    how = Learning(settings.passes, settings.step, settings.bits, settings.seed)
    items = items_of([tree.sentence for tree in held]).select(np.array(taught))
    chooser = learn_chooser(items, scripts, how, report)
    return Lemmatiser(chooser, Provenance(trace=tuple(trace)))
