"""`latentgram info MODEL.lg`: what a model file holds and where it came from."""

from __future__ import annotations

import json as codec
from pathlib import Path
from typing import Annotated

import typer

from latentgram.cli.tables import TableForm, write_table


def info(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    to: TableForm = None,
) -> None:
    """Show what a model file is: kind, size, learner and its settings, training data, arrays.

    With --to it is the table of its arrays.
    """
    from latentgram.store import read_header

    header = read_header(model)
    if to is not None:
        arrays = ((name, kind, "×".join(map(str, shape))) for name, (kind, shape) in header.arrays.items())
        write_table(("array", "type", "shape"), arrays, to)
        return
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
