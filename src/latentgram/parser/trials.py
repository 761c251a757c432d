"""A little of everything: each recipe of the registry on a few generated trees, and each parser on a sentence.

`warm_up` goes through the usual work of a kind of model once, so that all kernels of it are compiled; the laws of
the tests use the same data and settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import cache

from latentgram.data.demo import demo_dependencies, demo_treebank
from latentgram.data.dependencies import DependencyTree
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.text import Text
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import SettingError
from latentgram.kinds.kind import Kind, Recipe
from latentgram.kinds.learners import Gradient
from latentgram.kinds.registry import kinds, learner_class
from latentgram.kinds.settings import Settings, defaults_of
from latentgram.learn.fit import fit
from latentgram.parser.parser import Parser
from latentgram.parser.pipeline import fit_parser

SIZE, SEED, FEW = 80, 5, 3


@cache
def _text() -> Text:
    return Text.of(demo_treebank(SIZE, seed=SEED).sentences())


DATA: Mapping[str, Callable[[], Sized]] = {
    "phrases": lambda: demo_treebank(SIZE, seed=SEED),
    "dependencies": lambda: demo_dependencies(SIZE, seed=SEED),
    "text": _text,
    "text or counts": _text,
    "contexts": _text,
    "tagged": lambda: demo_treebank(SIZE, seed=SEED).sentences(),
    "trees or tagged": lambda: demo_dependencies(SIZE, seed=SEED),
    "n-grams": lambda: NGramCounts.of(_text(), order=3),
    "counts": lambda: NGramCounts.of(_text(), order=3),
}
"""A little data of each form that a recipe may read."""
SMALL: Mapping[str, object] = {
    "states": 2,
    "iterations": 2,
    "passes": 1,
    "bits": 14,
    "count": 5,
    "raters": "templates,shag",
}
"""Settings that keep learning short, for the recipes that know them."""


def small_data(kind: Kind, recipe: Recipe) -> Sized:
    """Data for a recipe."""
    return DATA[(recipe.reads or kind.reads).name]()


def small_learner(kind: Kind, learner: str) -> Settings:
    """A learner that is soon done.

    >>> from latentgram.kinds.registry import kind_of
    >>> small_learner(kind_of("LPCFG"), "Spectral")
    Spectral(states=2)
    """
    known = defaults_of(kind.recipes[learner].settings_class())
    return learner_class(kind.name, learner)(**{name: value for name, value in SMALL.items() if name in known})


def warm_up(names: Iterable[str] = ()) -> Iterator[str]:
    """Learn and use every kind of model, or those named as in `latentgram train`; gives each name when done."""
    trained = {kind.command: kind for kind in kinds().values() if kind.command}
    chosen = list(names) or list(trained)
    for name in chosen:
        if name not in trained:
            raise SettingError(f"there is no kind of model {name!r}; there are {', '.join(trained)}")
    for name in chosen:
        kind = trained[name]
        for learner, recipe in kind.recipes.items():
            data, by = small_data(kind, recipe), small_learner(kind, learner)
            if kind.parser and isinstance(data, Treebank):
                _use(fit_parser(kind.model_class(), data, by=by, tagger=Gradient(passes=1)), data)
            else:
                fit(kind.model_class(), data, by=by)
        yield name


def _use(parser: Parser, trees: Treebank[Tree] | Treebank[DependencyTree]) -> None:
    """All that is usually asked of a parser."""
    few = trees[:FEW]
    for gold_tags in (True, False):
        parser.evaluate(few, gold_tags=gold_tags)
    sentence = parser.question(few[0], gold_tags=False)
    parser.score(few[0])
    parser.marginals(sentence)
    parser.nbest(sentence, FEW)
    parser.sample(sentence, FEW)
