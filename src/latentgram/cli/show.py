"""`latentgram show`: trees of a file, or what is inside a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def show(
    file: Annotated[Path, typer.Argument(help="A treebank or a model file.")],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Which tree of a treebank, from 1.")] = 1,
    svg: Annotated[Path | None, typer.Option(help="Draw into this file in place of the terminal.")] = None,
) -> None:
    """Show a tree as an outline or as an SVG picture, or a summary of a model."""
    import latentgram
    from latentgram.cli.console import say
    from latentgram.data.files import write_text
    from latentgram.errors import SettingError
    from latentgram.view.trees import draw, outline

    if file.suffix == ".lg":
        typer.echo(latentgram.load(file).summary())
        return
    treebank = latentgram.Treebank.read(file)
    if number > len(treebank):
        raise SettingError(f"{file} has {len(treebank)} trees, there is no number {number}")
    tree = treebank[number - 1]
    if svg is None:
        typer.echo(outline(tree))
        return
    with write_text(svg) as out:
        out.write(draw(tree))
    say(f"wrote {svg}")
