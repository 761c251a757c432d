"""`latentgram score`: probabilities of given sentences and trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from latentgram.cli.options import Format, faults_of, load_parser
from latentgram.errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from latentgram.data.dependencies import DependencyTree
    from latentgram.data.sentence import Sentence
    from latentgram.data.tree import Tree
    from latentgram.kinds.protocols import Model


def score(
    model: Annotated[Path, typer.Argument(help="Model file of a parser, or of another model with probabilities.")],
    file: Annotated[Path, typer.Argument(help="Trees, or sentences; - is standard input.")],
    format: Format = None,
    surprisal: Annotated[
        bool, typer.Option("--surprisal", help="How much each word surprises, in bits, after those before it.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Prune nothing: p(sentence) itself, not a lower bound of it.")
    ] = False,
) -> None:
    """Print log p(sentence) and, of trees, log p(tree, sentence) and p(tree | sentence), one line a sentence.

    Parsers that score arcs, and rerankers, have no p(sentence): of trees they print - in its place, then
    log p(tree | sentence) and p(tree | sentence); sentences without trees they cannot rate.

    Grammars of phrases with hidden states look at part of the chart only, and what they print as p(sentence) is a
    lower bound of it; `--exact` has them look at all of it.

    With `--surprisal` print one line per word: sentence, word, and −log₂ p(word | words before it) under the
    grammar's one-state projection.
    """
    import latentgram
    from latentgram.data.formats import format_of
    from latentgram.kinds.registry import kind_of

    kind = format or format_of(file)
    if not surprisal and (rate := _logprob_of(model, kind in ("conllu", "brackets"))) is not None:
        with faults_of(file):
            for item in latentgram.Treebank.stream([file], kind):
                typer.echo(f"{rate(item):.6f}\t{' '.join(item.sentence.words)}")
        return
    parser = load_parser(model)
    if exact and kind_of(parser.model).prunes:
        parser = dataclasses.replace(parser, pruning=latentgram.Pruning.none())
    if surprisal:
        words = _surprisal_of(parser.model)
        for number, sentence in enumerate(latentgram.Treebank.stream_sentences([file], kind), 1):
            for word, bits in zip(sentence.words, words(sentence.without_tags()).tolist(), strict=True):
                typer.echo(f"{number}\t{word}\t{bits:.4f}")
        return
    if kind in ("text", "tagged"):
        for parse in parser.parse_many(latentgram.Treebank.stream_sentences([file], kind)):
            if parse.conditional:
                kind = type(parser.model).__name__
                raise SettingError(f"the model, one {kind}, has no p(sentence): it rates trees, give it some")
            typer.echo(f"{parse.logprob:.6f}\t{' '.join(parse.sentence.words)}")
        return
    for tree in latentgram.Treebank.read(file, kind):
        with faults_of(file):
            scored = parser.score(tree)
        whole = "-" if scored.conditional else f"{scored.logprob:.6f}"
        figures = f"{whole}\t{scored.tree_logprob:.6f}\t{scored.probability:.6g}"
        typer.echo(f"{figures}\t{' '.join(scored.sentence.words)}")


def _logprob_of(path: Path, trees: bool) -> Callable[[Tree | DependencyTree | Sentence], float] | None:
    """log p of a sentence, or of a tree, under a model that is not a parser; None if it is one or has none."""
    import latentgram
    from latentgram.kinds.registry import kinds
    from latentgram.store import read_header

    kind = kinds().get(read_header(path).kind)
    if kind is None or not kind.scores or (kind.scores == "trees" and not trees):
        return None
    model = latentgram.load(path)
    if kind.scores == "trees":
        return lambda tree: float(model.logprob(tree))
    return lambda item: float(model.logprob(item.sentence.words))


def _surprisal_of(model: Model) -> Callable[[Sentence], NDArray[np.float64]]:
    """What says how much each word of a sentence surprises."""
    from latentgram.errors import a_or_an
    from latentgram.kinds.kind import named
    from latentgram.kinds.registry import kind_of, kinds

    kind = kind_of(model)
    if not kind.surprisal:
        there = ", ".join(each.name for each in kinds().values() if each.surprisal)
        raise SettingError(f"surprisal comes from one of {there}, not from {a_or_an(kind.name)}")
    return cast("Callable[[Model], Callable[[Sentence], NDArray[np.float64]]]", named(kind.surprisal))(model)
