"""`latentgram show`: trees of a file, or what is inside a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from latentgram.shag.model import SHAG


def show(
    file: Annotated[Path, typer.Argument(help="A treebank or a model file.")],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Which tree of a treebank, from 1.")] = 1,
    svg: Annotated[Path | None, typer.Option(help="Draw into this file in place of the terminal.")] = None,
    automaton: Annotated[
        str | None, typer.Option(help="Head symbol: show its automaton in a head-automata grammar.")
    ] = None,
    direction: Annotated[Literal["left", "right"], typer.Option(help="Which modifiers of the head.")] = "left",
    clusters: Annotated[int, typer.Option(min=1, help="States of the automaton that is shown, at most.")] = 10,
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Singular values, or sizes of states, in place of states.")
    ] = False,
    word: Annotated[
        str | None, typer.Option(help="Show the words used most like this one, by word vectors.")
    ] = None,
    symbol: Annotated[
        str | None, typer.Option(help="Show what the hidden states of this symbol of a latent grammar prefer.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Rules, words and contexts told of each state.")] = 5,
) -> None:
    """Show a tree as an outline or as an SVG picture, a summary of a model, or hidden states of a grammar."""
    import latentgram
    from latentgram.cli.places import check_output
    from latentgram.data.formats import BRACKETS, CONLLU, format_of
    from latentgram.errors import DataError, SettingError
    from latentgram.view.trees import draw, outline

    stored = file.suffix == ".lg"
    _refuse_unused(
        stored,
        {
            "--word": word is not None,
            "--symbol": symbol is not None,
            "--automaton": automaton is not None,
            "--spectrum": spectrum,
            "--svg": svg is not None,
            "--number": number != 1,
            "--direction": direction != "left",
        },
    )
    check_output(svg, file)
    if stored:
        model = latentgram.load(file)
        if word is not None:
            _show_neighbours(model, word, top)
        elif symbol is not None:
            _show_states(model, symbol, top, spectrum, svg)
        elif automaton is None:
            typer.echo(model.summary())
        else:
            _show_automaton(_grammar_in(model), automaton, direction, clusters, spectrum, svg)
        return
    if format_of(file) not in (BRACKETS, CONLLU):
        raise DataError("what can be shown are trees (brackets, CoNLL-U) and model files (.lg)", path=file)
    treebank = latentgram.Treebank.read(file)
    if number > len(treebank):
        raise SettingError(f"{file} has {len(treebank)} trees, there is no number {number}")
    tree = treebank[number - 1]
    if svg is None:
        typer.echo(outline(tree))
    else:
        _write(svg, draw(tree))


_USED = {"--word": (), "--symbol": ("--spectrum", "--svg"), "--automaton": ("--spectrum", "--svg", "--direction")}
"""What can be shown of a model, and what other options that has."""


def _refuse_unused(stored: bool, given: dict[str, bool]) -> None:
    """Raise if an option would have no effect."""
    from latentgram.errors import SettingError

    names = [name for name, wanted in given.items() if wanted]
    subject = next((name for name in names if name in _USED), None) if stored else None
    used = ("--svg", "--number") if not stored else () if subject is None else (subject, *_USED[subject])
    unused = [name for name in names if name not in used]
    if not unused:
        return
    if stored and subject is None:
        raise SettingError(f"{unused[0]}: name what to show of the model by --automaton, --symbol or --word")
    what = f"{subject}" if stored else "a treebank"
    raise SettingError(f"{unused[0]} has no meaning for {what}")


def _grammar_in(model: Any) -> SHAG:
    """The grammar with hidden states in a model, a parser or a product."""
    from latentgram.errors import SettingError
    from latentgram.shag.model import SHAG

    grammar = getattr(model, "model", model)
    for factor in getattr(grammar, "factors", (grammar,)):
        if isinstance(factor, SHAG):
            return factor
    raise SettingError(f"a {type(grammar).__name__} has no head automata to show")


def _show_neighbours(model: Any, word: str, count: int) -> None:
    """The nearest words with their cosines."""
    from latentgram.errors import SettingError
    from latentgram.latent_tree.word_vectors import WordVectors

    if not isinstance(model, WordVectors):
        raise SettingError(f"a {type(model).__name__} has no word vectors")
    for near, cosine in model.neighbours(word, count):
        typer.echo(f"{cosine:.3f}  {near}")


def _show_states(model: Any, symbol: str, top: int, spectrum: bool, svg: Path | None) -> None:
    """What the states of a symbol prefer and how they are alike; what the coordinates of a spectral one part."""
    from latentgram.errors import SettingError
    from latentgram.lpcfg.ensemble import Ensemble
    from latentgram.lpcfg.inspect.coordinates import coordinates
    from latentgram.lpcfg.inspect.hidden_states import hidden_states, hierarchy, state_strength, symbol_number
    from latentgram.lpcfg.inspect.typical_subtrees import TypicalSubtrees
    from latentgram.lpcfg.model import LPCFG
    from latentgram.view.plots import line_plot

    grammar = getattr(model, "model", model)
    if isinstance(grammar, Ensemble):
        grammar = grammar.grammars[0]
    if not isinstance(grammar, LPCFG):
        raise SettingError(f"a {type(grammar).__name__} has no symbols with hidden states to show")
    symbol_number(grammar, symbol)
    if svg is not None or spectrum or not grammar.nonnegative:
        values = grammar.spectra.get(symbol)
        sizes, what = (values, "singular value") if values else (state_strength(grammar)[symbol], "size")
        if svg is None:
            typer.echo("\n".join(f"{place}\t{value:.6g}" for place, value in enumerate(sizes, 1)))
            for each in coordinates(grammar, symbol, top) if not spectrum else ():
                one, other = ("; ".join(f"{e.name} ({e.probability:.1%})" for e in end) for end in each.ends)
                typer.echo(f"coordinate {each.number + 1}\n  at one end: {one}\n  at the other: {other}")
        else:
            points = [(float(place), float(value)) for place, value in enumerate(sizes, 1)]
            title = f"states of {symbol}, the strongest first"
            _write(svg, line_plot({symbol: points}, title=title, x_label="state", y_label=what))
        return
    subtrees = TypicalSubtrees(grammar).of(symbol)
    for state in hidden_states(grammar, symbol, top):
        typer.echo(str(state))
        typer.echo(f"  trees: {'; '.join(map(str, subtrees[state.number]))}")
    for line in _joins(hierarchy(grammar, symbol).tolist(), int(grammar.states[symbol_number(grammar, symbol)])):
        typer.echo(line)


def _joins(steps: list[list[float]], states: int) -> list[str]:
    """The steps of a hierarchy, a line each, the most alike first."""
    groups: dict[int, list[int]] = {state: [state] for state in range(states)}
    lines = []
    for number, (one, other, distance, _) in enumerate(steps):
        left, right = groups[int(one)], groups[int(other)]
        groups[states + number] = sorted(left + right)
        lines.append(f"at distance {distance:.3f}: states {_listed(left)} and {_listed(right)} become one")
    return lines


def _listed(states: list[int]) -> str:
    return "{" + " ".join(map(str, states)) + "}"


def _show_automaton(
    grammar: SHAG, head: str, direction: str, clusters: int, spectrum: bool, svg: Path | None
) -> None:
    from latentgram.cli.console import say
    from latentgram.errors import SettingError
    from latentgram.shag.model import LEFT, RIGHT
    from latentgram.view.automata import FAINT, draw_dfa
    from latentgram.view.plots import line_plot

    side = LEFT if direction == "left" else RIGHT
    title = f"{direction} modifiers of {head}"
    if not spectrum:
        dfa = grammar[head, side].to_dfa(clusters)
        if svg is None:
            typer.echo(str(dfa))
        else:
            _write(svg, draw_dfa(dfa, title))
            if faint := int((dfa.visits < FAINT).sum()):
                say(f"states left out, each visited in less than {FAINT:.1%} of the sequences: {faint}")
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
