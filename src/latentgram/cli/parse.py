"""`latentgram parse MODEL.lg [FILE…]`: sentences in, trees out, in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Inputs = Literal["text", "tagged", "conllu", "brackets"]
Outputs = Literal["brackets", "conllu", "json", "outline"]


def parse(
    model: Annotated[Path, typer.Argument(help="Model file of a parser.")],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files to parse, one sentence a line; standard input if none.")
    ] = None,
    format: Annotated[
        Inputs | None,
        typer.Option(help="What the input is; by default told by the name of a file, and text on standard input."),
    ] = None,
    to: Annotated[Outputs | None, typer.Option(help="Output format; by default brackets or CoNLL-U.")] = None,
    own_tags: Annotated[bool, typer.Option("--own-tags", help="Ignore tags in the input.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the posterior of every node, arc and tag.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave faulty sentences out, and count them.")
    ] = False,
    n_jobs: Annotated[int, typer.Option("--n-jobs", min=1, help="Worker processes.")] = 1,
) -> None:
    """Parse raw text (tokens separated by blanks), tagged text, CoNLL-U or the words of trees.

    A sentence that the grammar cannot derive still gets a tree; how many did is said at the end.
    """
    import latentgram
    from latentgram.cli.console import counted, ensure_input, say
    from latentgram.errors import DataError
    from latentgram.parser.output import render

    ensure_input(len(files or []))
    parser = latentgram.load(model, latentgram.Parser)
    bad: list[DataError] | None = [] if skip_bad else None
    known = format or (None if files else "text")
    given = latentgram.Treebank.stream_sentences(files or [Path("-")], known, bad=bad)
    sentences = (sentence.without_tags() if own_tags else sentence for sentence in given)
    fallbacks = 0
    for result in counted(parser.parse_many(sentences, n_jobs=n_jobs), "parsing"):
        typer.echo(render(result, to, probabilities), nl=False)
        fallbacks += result.fallback
    if fallbacks:
        say(f"{fallbacks} sentences have no parse under the grammar; they got fallback trees")
    if bad:
        say(f"left out {len(bad)} faulty sentences, the first: {bad[0]}")
