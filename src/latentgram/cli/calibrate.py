"""`latentgram calibrate MODEL.lg DEV -o CALIBRATED.lg`: probabilities that say how often they are right."""

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
    dev: Annotated[Path, typer.Argument(help="Trees that the model was not learned from.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the calibrated parser.")],
    gold_tags: Annotated[
        bool, typer.Option("--gold-tags", help="Give the model the tags of the trees, as it will be given later.")
    ] = False,
    n_jobs: NJobs = 1,
    cluster: ClusterAddress = None,
) -> None:
    """Fit how probabilities relate to right answers on dev trees, and keep it with the parser."""
    import latentgram
    from latentgram.cli.console import progress, say
    from latentgram.store import read_header

    check_output(output, model, dev)
    parser = load_parser(model)
    trees = latentgram.Treebank.read(dev)
    with faults_of(dev), engine_of(n_jobs, cluster) as engine, progress() as shown:
        calibrated = latentgram.calibrate(parser, trees, gold_tags=gold_tags, engine=engine, progress=shown)
    latentgram.save(calibrated, output, read_header(model).precision)
    say(f"calibrated on {len(trees)} sentences; wrote {output}")
