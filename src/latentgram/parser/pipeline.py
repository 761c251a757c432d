"""From a treebank to a parser that takes raw text: a model, a tagger and a tokeniser in one file.

A dependency parser is made of tags, so it is trained together with a tagger. The model sees the gold tags, or,
with `jackknife` folds, tags of the kind it will get: those of taggers that have not seen the sentence. Gold tags
are better if gold tags will be given, jackknifed ones if not.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from latentgram.data.tokenise import Tokeniser
from latentgram.errors import SettingError
from latentgram.kinds.learners import Perceptron
from latentgram.kinds.recipes import Context, recipe_of
from latentgram.kinds.settings import Settings
from latentgram.learn.fit import fit
from latentgram.parser.parser import Parser
from latentgram.progress import Progress, Silent
from latentgram.tagger.model import Tagger


def fit_parser(
    model: type,
    treebank: Any,
    *,
    by: Settings,
    tagger: Perceptron | None = None,
    jackknife: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Parser:
    """A parser with a model learned by `by`, a tagger learned by `tagger` (None for none), and a tokeniser.

    >>> import latentgram as lg
    >>> trees = lg.demo_dependencies(100, seed=0)
    >>> parser = fit_parser(lg.SHAG, trees, by=lg.Counting(), tagger=lg.Perceptron(passes=2))
    >>> parser.parse("the dog sleeps .").tree.xpos
    ('DT', 'NN', 'VBZ', '.')
    """
    if jackknife == 1 or jackknife < 0:
        raise SettingError(f"jackknifing needs at least 2 parts (0 for none), got {jackknife}")
    if jackknife > len(treebank):
        raise SettingError(f"there are {len(treebank)} sentences: they cannot be jackknifed in {jackknife} parts")
    seen = treebank
    if jackknife and tagger is not None:
        from latentgram.tagger.learning import jackknifed

        settings = tagger.resolved(recipe_of("Tagger", "Perceptron").defaults, "jackknifing")
        seen = jackknifed(treebank, settings, Context(progress=progress or Silent()), jackknife)
    found: Any = fit(model, seen, by=by, progress=progress, **options)
    learned = None if tagger is None else fit(Tagger, treebank, by=tagger, progress=progress)
    return dataclasses.replace(
        Parser(found), tagger=learned, tokeniser=Tokeniser.of(treebank.sentences()) if tagger else None
    )
