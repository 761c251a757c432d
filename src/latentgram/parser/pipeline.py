"""From a treebank to a parser of raw text: a model, a tagger and a tokeniser in one file.

A dependency parser needs tags, so it is trained together with a tagger. The model is trained on the gold tags or,
with `jackknife` folds, on predicted tags like those it will get: from taggers that have not seen the sentence.
Gold tags are better if gold tags will be given, jackknifed ones if not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import cast

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tokenise import Tokeniser
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank, TreebankStream
from latentgram.errors import SettingError
from latentgram.kinds.kind import Context
from latentgram.kinds.protocols import Model
from latentgram.kinds.settings import Settings
from latentgram.learn.fit import fit
from latentgram.parallel import Engine
from latentgram.parser.parser import Parser
from latentgram.progress import Progress, Silent
from latentgram.tagger.learning import jackknifed
from latentgram.tagger.model import Tagger
from latentgram.tagger.settings import GradientTagger

Trees = Treebank[Tree] | Treebank[DependencyTree]


def fit_parser(
    model: type[Model],
    treebank: Trees | TreebankStream,
    *,
    by: Settings,
    tagger: Settings | None = None,
    jackknife: int = 0,
    dev_score: Callable[[Model], float] | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Parser:
    """A parser with a model learned by `by`, a tagger learned by `tagger` (None for none), and a tokeniser.

    >>> import latentgram as lg
    >>> trees = lg.demo_dependencies(100, seed=0)
    >>> parser = fit_parser(lg.SHAG, trees, by=lg.Counting(), tagger=lg.Gradient(passes=3))
    >>> parser.parse("the dog sleeps .").tree.xpos
    ('DT', 'NN', 'VBZ', '.')
    """
    if jackknife == 1 or jackknife < 0:
        raise SettingError(f"jackknifing needs at least 2 parts (0 for none), got {jackknife}")
    if jackknife > len(treebank):
        raise SettingError(
            f"there are {len(treebank)} sentences, which cannot be divided into {jackknife} parts for jackknifing"
        )
    if tagger is None or isinstance(treebank, TreebankStream):
        return Parser(fit(model, treebank, by=by, dev_score=dev_score, engine=engine, progress=progress))
    trees = treebank
    if jackknife:
        settings = tagger.settings(GradientTagger, "jackknifing")
        trees = jackknifed(
            cast(Treebank[DependencyTree], treebank), settings, Context(progress=progress or Silent()), jackknife
        )
    learned = fit(model, trees, by=by, dev_score=dev_score, engine=engine, progress=progress)
    return dataclasses.replace(
        Parser(learned),
        tagger=fit(Tagger, treebank, by=tagger, progress=progress),
        tokeniser=Tokeniser.of(treebank.sentences()),
    )
