"""`latentgram show`: trees of a file, or the contents of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import typer

from latentgram.cli.options import argument, check_output, command, flag, option, options
from latentgram.cli.tables import Form, TableForm, write_table

if TYPE_CHECKING:
    from latentgram.kinds.looks import Request
    from latentgram.kinds.protocols import Model


@options
class Showing:
    """What the command is asked for."""

    file: Path = argument("A treebank or a model file.")
    number: int = option(1, "Number of the tree, from 1.", "-n", "--number", min=1)
    svg: Path | None = option(None, "Draw into this SVG file instead of the terminal.")
    latex: bool = flag("--latex", "Write the tree for LaTeX (forest or tikz-dependency).")
    automaton: str | None = option(None, "Show the automaton of this head symbol of a head-automata grammar.")
    direction: Literal["left", "right"] = option("left", "Side of the modifiers.")
    clusters: int = option(10, "Maximum number of states of the automaton shown.", min=1)
    sequences: Path | None = option(
        None, "Treebank whose modifier sequences determine the states of the automaton."
    )
    spectrum: bool = flag("--spectrum", "Show singular values, or sizes of states, instead of states.")
    word: str | None = option(None, "Show the nearest neighbours of this word, by word vectors.")
    word_clusters: int | None = option(
        None, "Show this many word clusters with bit strings, by word vectors.", min=1
    )
    symbol: str | None = option(None, "Show what the hidden states of this symbol of a grammar prefer.")
    top: int = option(5, "Number of rules, words and contexts shown per state.", min=1)
    to: TableForm = None

    def check(self) -> None:
        """Raise if an option would have no effect."""
        from latentgram.errors import SettingError

        _refuse_unused(
            self.stored,
            {
                "--word": self.word is not None,
                "--word-clusters": self.word_clusters is not None,
                "--symbol": self.symbol is not None,
                "--automaton": self.automaton is not None,
                "--spectrum": self.spectrum,
                "--svg": self.svg is not None,
                "--latex": self.latex,
                "--number": self.number != 1,
                "--direction": self.direction != "left",
                "--sequences": self.sequences is not None,
                "--to": self.to is not None,
            },
        )
        if self.spectrum and self.sequences is not None:
            raise SettingError("--sequences has no meaning for --spectrum")
        check_output(self.svg, self.file)
        if self.svg is not None and self.to is not None and self.stored:
            raise SettingError("use either --svg or --to")

    @property
    def stored(self) -> bool:
        """Whether the file is a model."""
        return self.file.suffix == ".lg"

    @property
    def request(self) -> Request | None:
        """What is asked of the inside of a model."""
        from latentgram.kinds.looks import Request

        drawn = self.svg is not None
        if self.word is not None:
            return Request("word", self.word, top=self.top)
        if self.word_clusters is not None:
            return Request("word clusters", "", clusters=self.word_clusters, top=self.top)
        if self.symbol is not None:
            return Request("symbol", self.symbol, spectrum=self.spectrum, top=self.top, svg=drawn)
        if self.automaton is not None:
            asked = self.automaton, self.direction, self.clusters, self.spectrum
            return Request("automaton", *asked, svg=drawn, trees=self.sequences)
        return None


@command
def show(asked: Showing) -> None:
    """Show a tree as an outline or an SVG picture, a summary of a model, or the hidden states of a grammar."""
    asked.check()
    if asked.stored:
        _show_model(asked.file, asked.request, asked.svg, asked.to)
    else:
        _show_tree(asked.file, asked.number, asked.svg, asked.latex)


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
    from latentgram.errors import DataError, a_or_an
    from latentgram.kinds.kind import find_kind
    from latentgram.kinds.looks import refuse
    from latentgram.kinds.protocols import Summarising

    stored = latentgram.load(file)
    if request is None:
        if not isinstance(stored, Summarising):  # as parts of models, such as rules of heads
            raise DataError(f"{a_or_an(type(stored).__name__)} has no summary; see 'latentgram info'", path=file)
        typer.echo(stored.summary())
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
