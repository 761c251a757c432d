"""`latentgram show`: trees of a file, or what is inside a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from latentgram.cli.tables import Form, TableForm, write_table

if TYPE_CHECKING:
    from latentgram.kinds.looks import Request
    from latentgram.kinds.protocols import Model


def show(
    file: Annotated[Path, typer.Argument(help="A treebank or a model file.")],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Number of the tree, from 1.")] = 1,
    svg: Annotated[Path | None, typer.Option(help="Draw into this SVG file instead of the terminal.")] = None,
    latex: Annotated[
        bool, typer.Option("--latex", help="Write the tree for LaTeX (forest or tikz-dependency).")
    ] = False,
    automaton: Annotated[
        str | None, typer.Option(help="Show the automaton of this head symbol of a head-automata grammar.")
    ] = None,
    direction: Annotated[Literal["left", "right"], typer.Option(help="Side of the modifiers.")] = "left",
    clusters: Annotated[int, typer.Option(min=1, help="Maximum number of states of the automaton shown.")] = 10,
    sequences: Annotated[
        Path | None,
        typer.Option(help="Treebank whose modifier sequences determine the states of the automaton."),
    ] = None,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Show singular values, or sizes of states, instead of states.")
    ] = False,
    word: Annotated[
        str | None, typer.Option(help="Show the nearest neighbours of this word, by word vectors.")
    ] = None,
    word_clusters: Annotated[
        int | None, typer.Option(min=1, help="Show this many word clusters with bit strings, by word vectors.")
    ] = None,
    symbol: Annotated[
        str | None, typer.Option(help="Show what the hidden states of this symbol of a grammar prefer.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of rules, words and contexts shown per state.")] = 5,
    to: TableForm = None,
) -> None:
    """Show a tree as an outline or an SVG picture, a summary of a model, or the hidden states of a grammar."""
    from latentgram.cli.options import check_output
    from latentgram.errors import SettingError
    from latentgram.kinds.looks import Request

    stored = file.suffix == ".lg"
    _refuse_unused(
        stored,
        {
            "--word": word is not None,
            "--word-clusters": word_clusters is not None,
            "--symbol": symbol is not None,
            "--automaton": automaton is not None,
            "--spectrum": spectrum,
            "--svg": svg is not None,
            "--latex": latex,
            "--number": number != 1,
            "--direction": direction != "left",
            "--sequences": sequences is not None,
            "--to": to is not None,
        },
    )
    if spectrum and sequences is not None:
        raise SettingError("--sequences has no meaning for --spectrum")
    check_output(svg, file)
    if not stored:
        _show_tree(file, number, svg, latex)
        return
    request = None
    if word is not None:
        request = Request("word", word, top=top)
    elif word_clusters is not None:
        request = Request("word clusters", "", clusters=word_clusters, top=top)
    elif symbol is not None:
        request = Request("symbol", symbol, spectrum=spectrum, top=top, svg=svg is not None)
    elif automaton is not None:
        request = Request(
            "automaton", automaton, direction, clusters, spectrum, svg=svg is not None, trees=sequences
        )
    if svg is not None and to is not None:
        raise SettingError("use either --svg or --to")
    _show_model(file, request, svg, to)


_USED: dict[str, tuple[str, ...]] = {
    "--word": ("--to",),
    "--word-clusters": ("--to",),
    "--symbol": ("--spectrum", "--svg", "--to"),
    "--automaton": ("--spectrum", "--svg", "--direction", "--sequences", "--to"),
}
"""What can be shown of a model, and what other options that has."""


def _refuse_unused(stored: bool, given: dict[str, bool]) -> None:
    """Raise if an option would have no effect."""
    from latentgram.errors import SettingError

    names = [name for name, wanted in given.items() if wanted]
    subject = next((name for name in names if name in _USED), None) if stored else None
    used = (
        ("--svg", "--latex", "--number") if not stored else () if subject is None else (subject, *_USED[subject])
    )
    unused = [name for name in names if name not in used]
    if not unused:
        return
    if stored and subject is None:
        *most, last = sorted(_USED)
        raise SettingError(f"{unused[0]}: choose what to show of the model with {', '.join(most)} or {last}")
    what = f"{subject}" if stored else "a treebank"
    raise SettingError(f"{unused[0]} has no meaning for {what}")


def _show_model(file: Path, request: Request | None, svg: Path | None, to: Form | None) -> None:
    """A summary of a model, or what is asked for of its inside."""
    import latentgram
    from latentgram.cli.console import say
    from latentgram.errors import DataError
    from latentgram.kinds.kind import find_kind
    from latentgram.kinds.looks import refuse

    stored = latentgram.load(file)
    if request is None:
        summary = getattr(stored, "summary", None)  # parts of models, such as rules of heads, have none
        if summary is None:
            raise DataError(f"a {type(stored).__name__} has no summary; see 'latentgram info'", path=file)
        typer.echo(summary())
        return
    model = stored.model if isinstance(stored, latentgram.Parser) else cast("Model", stored)
    kind = find_kind(model)
    if kind is None or not kind.inspect:
        refuse(model, request.subject)
    shown = kind.inspection()(model).show(request)
    if to is not None:
        write_table(shown.columns, shown.rows, to)
    elif svg is None:
        typer.echo(shown.content)
    else:
        _write(svg, shown.content)
    if shown.note:
        say(shown.note)


def _show_tree(file: Path, number: int, svg: Path | None, as_latex: bool) -> None:
    """One tree of a treebank, as an outline, for LaTeX, or as a drawing."""
    import latentgram
    from latentgram.data.formats import BRACKETS, CONLLU, format_of
    from latentgram.errors import DataError, SettingError
    from latentgram.view.latex import latex
    from latentgram.view.trees import draw, outline

    if format_of(file) not in (BRACKETS, CONLLU):
        raise DataError("only trees (brackets, CoNLL-U) and model files (.lg) can be shown", path=file)
    treebank = latentgram.Treebank.read(file)
    if number > len(treebank):
        raise SettingError(f"{file} has {len(treebank)} trees; there is no tree {number}")
    tree = treebank[number - 1]
    if svg is None:
        typer.echo(latex(tree) if as_latex else outline(tree))
    else:
        _write(svg, draw(tree))


def _write(path: Path, drawing: str) -> None:
    from latentgram.cli.console import say
    from latentgram.data.files import write_text

    with write_text(path) as out:
        out.write(drawing)
    say(f"wrote {path}")
