"""`latentgram calibrate MODEL.lg DEV -o CALIBRATED.lg`: calibrated probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentgram.cli.options import (
    ClusterAddress,
    NJobs,
    ParserFile,
    check_output,
    engine_of,
    faults_of,
    load_parser,
)


def calibrate(
    model: ParserFile,
    dev: Annotated[
        Path,
        typer.Argument(help="Trees that the model was not learned from or, with --folds, the training trees."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the calibrated parser.")],
    gold_tags: Annotated[
        bool,
        typer.Option(
            "--gold-tags", help="Use the tags of the trees; do so if the parser will be given tags later."
        ),
    ] = False,
    folds: Annotated[
        int,
        typer.Option(
            min=0,
            help="Divide the trees into this many parts, and parse each with a model learned from the others.",
        ),
    ] = 0,
    n_jobs: NJobs = 1,
    cluster: ClusterAddress = None,
) -> None:
    """Calibrate the probabilities of a parser on held-out trees, and store the result with it.

    The more trees the better. With `--folds 5` you can use the trees that the model was learned from: five models
    are learned, each from four fifths of them, to parse the remaining fifth.
    """
    import latentgram
    from latentgram.cli.console import progress, say
    from latentgram.store import read_header

    check_output(output, model, dev)
    parser = load_parser(model)
    trees = latentgram.Treebank.read(dev)
    with faults_of(dev), engine_of(n_jobs, cluster) as engine, progress() as shown:
        calibrated = latentgram.calibrate(
            parser, trees, gold_tags=gold_tags, folds=folds, engine=engine, progress=shown
        )
    latentgram.save(calibrated, output, read_header(model).precision)
    say(f"calibrated on {len(trees)} sentences; wrote {output}")
