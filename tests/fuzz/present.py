"""Small model files of the present version, one of every recipe and of what is made of their models, to be forged.

Kinds and recipes come from the registry: one that is new needs nothing here. Each has a full and a compact file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import latentgram as lg
from fuzz.odd_data import uses
from latentgram.data.sentence import Sentence
from latentgram.kinds.kind import kind_of, kinds, named, recipe_of
from latentgram.sequences.compact import CompactNGram
from latentgram.ud.segmenter import Segmenter
from laws.cases import CASES, Case
from store.test_old_files import ANSWERS, RAW_TEXT, SENTENCES, TREES, answers, dependency_trees

SMOOTHINGS = ("kneser-ney", "absolute", "katz", "witten-bell")
NO_SPACE = "SpaceAfter=No"


def rich_trees(size: int = 40) -> lg.Treebank[Any]:
    """Dependency trees with features, tokens without blanks behind them, and tokens of two words."""
    trees = []
    for tree in lg.demo_dependencies(size, seed=5):
        feats = tuple("Number=Plur" if tag == "NNS" else "_" for tag in tree.xpos)
        misc = ("_",) * (len(tree) - 2) + (NO_SPACE, "_") if len(tree) > 1 else tree.misc
        fused = [i for i in range(len(tree) - 2) if tree.upos[i] == "ADP"][:1]
        rows = tuple(
            (i, "\t".join([f"{i + 1}-{i + 2}", tree.words[i] + tree.words[i + 1], *"_" * 8])) for i in fused
        )
        trees.append(tree.replace(feats=feats, misc=misc, extra_rows=rows))
    return lg.Treebank.of(trees)


def data_of(case: Case) -> Any:
    """What a recipe is learned from here."""
    kind, recipe = kind_of(case.model), recipe_of(case.model, case.learner)
    if (recipe.reads or kind.reads).name in ("dependencies", "trees or tagged"):
        return rich_trees()
    return case.data


def fit_case(case: Case) -> Any:
    """The model of a recipe."""
    return lg.fit(kind_of(case.model).model_class(), data_of(case), by=case.by)


def smoothed(smoothing: str) -> lg.BackoffNGram:
    """An automaton of n-grams."""
    counts = lg.NGramCounts.of(lg.Text.of(lg.demo_treebank(30, seed=5).sentences()), order=3)
    return lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing=smoothing))


def clusters() -> lg.WordClusters:
    """Clusters of word vectors."""
    text = lg.Text.of(lg.demo_treebank(60, seed=5).sentences())
    return lg.fit(lg.WordVectors, text, by=lg.Spectral(states=4)).clusters(8)


def whole_parser() -> lg.Parser:
    """A parser with a tagger, a tokeniser and curves."""
    trees = rich_trees()
    tagger = lg.fit(lg.Tagger, trees, by=lg.Gradient(passes=1))
    shag = lg.fit(lg.SHAG, trees, by=lg.Counting(symbols="upos"))
    parser = lg.Parser(shag, tagger=tagger, tokeniser=lg.Tokeniser.of(trees.sentences()))
    return lg.calibrate(parser, lg.demo_dependencies(30, seed=6))


VALUES: dict[str, Callable[[], Any]] = {
    **{str(case): partial(fit_case, case) for case in CASES},
    **{f"ngram-{smoothing}": partial(smoothed, smoothing) for smoothing in SMOOTHINGS},
    "compact-ngram": lambda: CompactNGram.of(smoothed("katz"), bits=6),
    "clusters": clusters,
    "parser": whole_parser,
}
"""Models of every recipe, and what is made of them."""


def write(folder: Path, only: str = "") -> None:
    """Files of all of them, or of those whose names fit a pattern, full and compact."""
    for name, make in VALUES.items():
        if re.search(only, name):
            value = make()
            for precision in ("full", "compact"):
                lg.save(value, folder / f"{name}-{precision}.lg", precision)


def ask(value: Any, folder: Path) -> None:
    """What can be asked of a loaded value: all that the registry says its kind can do."""
    name = type(value).__name__
    if name in ANSWERS:
        answers(value)
    sentences = [Sentence(tuple(text.split())) for text in SENTENCES]
    if isinstance(value, CompactNGram):
        answers(value.expanded())
    elif isinstance(value, lg.WordClusters):
        str(value), [value[word] for word in SENTENCES[0].split()]
    elif isinstance(value, Segmenter):
        list(value.sentences(RAW_TEXT + " de lawoman delthe"))
    elif isinstance(value, lg.Lemmatiser):
        value.lemmatise([tree.sentence for tree in dependency_trees()] + sentences)
    if name not in kinds():
        return
    kind = kind_of(value)
    refusal: lg.LatentgramError | None = None
    for step, use in uses(value, list(TREES), folder):
        if step == "load":
            continue
        try:
            use()
        except lg.LatentgramError as error:
            refusal = error
    if kind.segmenter:
        list(lg.Parser(value).parse_many(lg.Parser(value).sentences_of(RAW_TEXT)))
    if kind.mass:
        named(kind.mass)(value, 4)
    if kind.reader:
        named(kind.reader)(value).read(SENTENCES[0])
    if kind.inspect:
        named(kind.inspect)(value).symbols()
    if refusal is not None:
        raise refusal
