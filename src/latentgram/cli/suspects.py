"""`latentgram suspects`: trees that may contain annotation errors."""

from __future__ import annotations

from pathlib import Path

import typer

from latentgram.cli.options import (
    Workers,
    argument,
    check_output,
    command,
    faults_of,
    load_parser,
    option,
    options,
    read_trees,
)
from latentgram.cli.tables import TableForm

FIGURES = ("per_word", "part", "probability", "text", "mean", "impossible", "place")
"""Columns of the table after the number of the sentence, as a `Suspect` calls them."""


@options
class Suspicion(Workers):
    """What is asked of `latentgram suspects`."""

    model: Path = argument("Model file of a parser.")
    treebank: Path = argument("Trees that may contain annotation errors.")
    count: int = option(20, "Number of trees to show.", "-n", "--number", min=1)
    folds: int = option(
        0,
        "Divide the trees into this many parts, and score each with a model learned from the others.",
        min=0,
    )
    report: Path | None = option(
        None, "Write an HTML page with the table and the trees, with the doubtful parts in colour."
    )
    to: TableForm = None


@command
def suspects(asked: Suspicion) -> None:
    """List the trees of a treebank that the model finds least probable given their words, worst first.

    A line has the number of the tree, log p(tree | sentence) per word, the most doubtful part with its
    probability, and the sentence. In a tree that the model cannot derive, this is the part that makes it
    impossible, and the posteriors of the other parts replace p(tree | sentence).

    A model rarely doubts trees that it was learned from: use a model learned from other trees, or `--folds 10`,
    which learns ten models with the same learner, each from nine tenths of the trees, to score the other tenth.
    """
    from latentgram.cli.console import progress, say
    from latentgram.cli.tables import write_table
    from latentgram.data.files import write_text
    from latentgram.parser.suspects import find_suspects, suspects_report

    check_output(asked.report, asked.model, asked.treebank)
    parser = load_parser(asked.model)
    trees = list(read_trees(asked.treebank, parser))
    with faults_of(asked.treebank), asked.engine() as engine, progress() as shown:
        doubtful = find_suspects(parser, trees, asked.count, folds=asked.folds, engine=engine, progress=shown)
    if asked.to is not None:
        rows = ((each.number, *(getattr(each, name) for name in FIGURES)) for each in doubtful)
        write_table(("sentence", *FIGURES), rows, asked.to)
    else:
        for each in doubtful:
            part = f"{each.part} ({each.probability:.4g})"
            typer.echo(f"{each.number}\t{each.per_word:.4f}\t{part}\t{each.text}")
    if asked.report is not None:
        with write_text(asked.report) as out:
            out.write(suspects_report(doubtful, trees, f"Doubtful trees of {asked.treebank.name}"))
        say(f"wrote {asked.report}")
