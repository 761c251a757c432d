"""`latentgram show`: trees of a file, or what is inside a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from latentgram.models.shag import SHAG


def show(
    file: Annotated[Path, typer.Argument(help="A treebank or a model file.")],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Which tree of a treebank, from 1.")] = 1,
    svg: Annotated[Path | None, typer.Option(help="Draw into this file in place of the terminal.")] = None,
    automaton: Annotated[
        str | None, typer.Option(help="Head symbol: show its automaton in a head-automata grammar.")
    ] = None,
    direction: Annotated[Literal["left", "right"], typer.Option(help="Which modifiers of the head.")] = "left",
    clusters: Annotated[int, typer.Option(min=1, help="States of the automaton that is shown, at most.")] = 10,
    spectrum: Annotated[bool, typer.Option("--spectrum", help="Its singular values in place of states.")] = False,
) -> None:
    """Show a tree as an outline or as an SVG picture, a summary of a model, or an automaton of a grammar."""
    import latentgram
    from latentgram.errors import SettingError
    from latentgram.view.trees import draw, outline

    if file.suffix == ".lg":
        model = latentgram.load(file)
        if automaton is None:
            typer.echo(model.summary())
        else:
            _show_automaton(_grammar_in(model), automaton, direction, clusters, spectrum, svg)
        return
    treebank = latentgram.Treebank.read(file)
    if number > len(treebank):
        raise SettingError(f"{file} has {len(treebank)} trees, there is no number {number}")
    tree = treebank[number - 1]
    if svg is None:
        typer.echo(outline(tree))
    else:
        _write(svg, draw(tree))


def _grammar_in(model: Any) -> SHAG:
    """The grammar with hidden states in a model, a parser or a product."""
    from latentgram.errors import SettingError
    from latentgram.models.shag import SHAG

    grammar = getattr(model, "model", model)
    for factor in getattr(grammar, "factors", (grammar,)):
        if isinstance(factor, SHAG):
            return factor
    raise SettingError(f"a {type(grammar).__name__} has no head automata to show")


def _show_automaton(
    grammar: SHAG, head: str, direction: str, clusters: int, spectrum: bool, svg: Path | None
) -> None:
    from latentgram.errors import SettingError
    from latentgram.models.shag import LEFT, RIGHT
    from latentgram.view.automata import draw_dfa
    from latentgram.view.plots import line_plot

    side = LEFT if direction == "left" else RIGHT
    title = f"{direction} modifiers of {head}"
    if not spectrum:
        dfa = grammar[head, side].to_dfa(clusters)
        if svg is None:
            typer.echo(str(dfa))
        else:
            _write(svg, draw_dfa(dfa, title))
        return
    values = grammar.spectrum[side, grammar.symbols.find(head)]
    if not len(values):
        raise SettingError("only a grammar learned spectrally has singular values")
    if svg is None:
        typer.echo("\n".join(f"{place}\t{value:.6g}" for place, value in enumerate(values, 1)))
    else:
        points = [(float(place), float(value)) for place, value in enumerate(values, 1)]
        _write(svg, line_plot({head: points}, title=title, x_label="state", y_label="singular value"))


def _write(path: Path, drawing: str) -> None:
    from latentgram.cli.console import say
    from latentgram.data.files import write_text

    with write_text(path) as out:
        out.write(drawing)
    say(f"wrote {path}")
