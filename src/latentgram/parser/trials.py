"""Small trials: each recipe of the registry on a few generated trees, and each parser on a sentence.

`warm_up` runs the usual tasks of a kind of model once, so that all its kernels are compiled; the law tests use the
same data and settings.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cache
from pathlib import Path
from typing import cast

from latentgram.data.demo import demo_dependencies, demo_treebank
from latentgram.data.dependencies import DependencyTree
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.data.sentence import Sentence
from latentgram.data.text import Text
from latentgram.data.tree import Tree
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import SettingError
from latentgram.kinds.kind import Kind, Recipe, kinds, learner_class
from latentgram.kinds.learners import Gradient
from latentgram.kinds.protocols import Model, Scorer, SentenceTagger, Weighing
from latentgram.kinds.settings import Settings, defaults_of
from latentgram.learn.fit import fit
from latentgram.lpcfg.parse.cascade import LONG
from latentgram.parallel import engine_for
from latentgram.parser.parser import Parser
from latentgram.parser.pipeline import fit_parser
from latentgram.store import load, save

SIZE, SEED, FEW = 80, 5, 3
STATES = 6
"""Hidden states when all kernels are to be compiled."""
SUFFIX = {CONSTITUENCY: ".mrg", DEPENDENCY: ".conllu"}


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


def small_learner(kind: Kind, learner: str, **settings: object) -> Settings:
    """A learner that is soon done; with other settings, where it knows them.

    >>> from latentgram.kinds.kind import kind_of
    >>> small_learner(kind_of("LPCFG"), "Spectral")
    Spectral(states=2)
    """
    known = defaults_of(kind.recipes[learner].settings_class())
    said = {name: value for name, value in {**SMALL, **settings}.items() if name in known}
    return learner_class(kind.name, learner)(**said)


def warm_up(names: Iterable[str] = (), n_jobs: int = 1) -> Iterator[str]:
    """Learn, store and use every kind of model, or those named as in `latentgram train`; gives each name after it.

    Data go through files, as those of a user do, and so do models: reading and writing are compiled as well. A
    family is the work of one process, since its kinds share their kernels.
    """
    trained = {kind.command: kind for kind in kinds().values() if kind.command}
    chosen = list(names) or list(trained)
    families: dict[str, list[str]] = {}
    for name in chosen:
        if name not in trained:
            raise SettingError(f"there is no kind of model {name!r}; known: {', '.join(trained)}")
        families.setdefault(trained[name].family, []).append(name)
    yield from itertools.chain.from_iterable(engine_for(n_jobs).map(_try_family, families.values()))


def _try_family(names: Sequence[str]) -> Sequence[str]:
    """Every recipe of some kinds."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds().values():
            for learner, recipe in kind.recipes.items() if kind.command in names else ():
                _try_out(kind, learner, _through_file(small_data(kind, recipe), Path(folder)), Path(folder))
    return names


def _try_out(kind: Kind, learner: str, data: Sized, folder: Path) -> None:
    """Learn by one learner, with so many states that parsers go from coarse to fine; store, load and use it."""
    by, file = small_learner(kind, learner, states=STATES), folder / "model.lg"
    if not kind.parser or not isinstance(data, Treebank):
        save(fit(kind.model_class(), data, by=by), file, "compact")
        model = cast("Model", load(file))
        _rate(kind, model)
        _tag(kind, model)
        return
    tagger = None if kind.segmenter else Gradient(passes=1)  # what cuts text by itself tags it, too
    save(fit_parser(kind.model_class(), data, by=by, tagger=tagger), file, "compact")
    _use(load(file, Parser), data)


def _through_file(data: Sized, folder: Path) -> Sized:
    """The same trees, or the same, written and read again."""
    if not isinstance(data, Treebank) or data.kind not in SUFFIX:
        return data
    file = folder / f"data{SUFFIX[data.kind]}"
    data.write(file)
    trees: Sized = Treebank.read(file)
    return trees


def _rate(kind: Kind, model: Model) -> None:
    """The probability of something, where the model says one."""
    if kind.scores:
        tree = demo_dependencies(SIZE, seed=SEED)[0]
        cast("Scorer[object]", model).logprob(tree if kind.scores == "trees" else tree.sentence.words)


def _tag(kind: Kind, model: Model) -> None:
    """Tags of words, where the model gives them."""
    if kind.tagger:
        tagger, sentence = cast("SentenceTagger", model), demo_dependencies(SIZE, seed=SEED)[0].sentence
        list(tagger.tag_all([sentence]))
        tagger.nbest(sentence, FEW)
        tagger.sample_tags(sentence, FEW)


def _use(parser: Parser, trees: Treebank[Tree] | Treebank[DependencyTree]) -> None:
    """All that is usually asked of a parser."""
    few, kind = trees[:FEW], parser.kind
    for gold_tags in (True, False):
        parser.evaluate(few, gold_tags=gold_tags)
    sentence = parser.question(few[0], gold_tags=False)
    list(parser.sentences_of(" ".join(sentence.words)))
    parser.parse(sentence.words * (LONG // len(sentence.words) + 1))
    parser.score(few[0])
    parser.marginals(sentence)
    if isinstance(few[0], DependencyTree) and isinstance(parser.backend, Weighing):
        parser.backend.relation_posteriors(few[0].sentence, few[0].heads)
    whole = [parser.exact] if kind.prunes else []
    for each in (parser, *whole):
        each.nbest(sentence, FEW)
        each.sample(sentence, FEW)
    for exact in (False, True) if kind.reader else ():
        kind.reads_words()(parser.model, exact=exact).read(Sentence(sentence.words))
