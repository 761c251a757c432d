"""`latentgram info MODEL.lg`: what a model file holds and where it came from."""

from __future__ import annotations

import json as codec
from pathlib import Path
from typing import Annotated

import typer


def info(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what a model file is: kind, size, learner and its settings, training data, arrays."""
    from latentgram.store import read_header

    header = read_header(model)
    if json:
        typer.echo(codec.dumps(header.to_json(), ensure_ascii=False, indent=2))
        return
    typer.echo(
        f"{header.kind}, {header.bytes / 1e6:.2f} MB, {header.precision} precision, format {header.format}, "
        f"latentgram {header.library}"
    )
    origin = header.provenance
    if origin is not None and origin.learner:
        settings = ", ".join(f"{name}={value}" for name, value in origin.fields.items())
        typer.echo(f"learned by {origin.learner}({settings}) in {origin.seconds:.1f} s")
        typer.echo(f"from {origin.data_size:,} sentences with digest {origin.data_digest[:16] or 'unknown'}")
    for name, (kind, shape) in header.arrays.items():
        typer.echo(f"  {name}  {kind}{list(shape)}")
