"""`latentgram sample`: sentences sampled from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentgram.errors import ModelFileError, a_or_an


def sample(
    model: Annotated[Path, typer.Argument(help="Model file of an HMM, an n-gram model or an operator automaton.")],
    count: Annotated[int, typer.Option("-n", "--number", min=1, help="Number of sentences.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples.")] = 0,
) -> None:
    """Write sentences sampled from a model, one per line."""
    import latentgram
    from latentgram.cli.console import counted
    from latentgram.data.sentence import Sentence
    from latentgram.kinds.kind import find_kind
    from latentgram.kinds.protocols import Sampler

    source = latentgram.load(model)
    kind = find_kind(source)
    if kind is None or kind.scores != "sentences" or not isinstance(source, Sampler):
        raise ModelFileError(
            f"{model} is {a_or_an(type(source).__name__)}, from which sentences cannot be sampled"
        )
    for drawn in counted(source.sample(count, seed), "sampling", count):
        typer.echo(" ".join(drawn.words if isinstance(drawn, Sentence) else drawn))
