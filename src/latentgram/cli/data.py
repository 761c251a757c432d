"""`latentgram data`: known corpora and their licences, fetching them, and making the demo treebank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from latentgram.cli.console import progress, say
from latentgram.cli.tables import Form, TableForm, write_table

app = typer.Typer(help="List and download corpora, or generate the demo treebank.", no_args_is_help=True)


@app.command("list")
def list_corpora(to: TableForm = None) -> None:
    """List known corpora with their licences."""
    from latentgram.data.datasets import CORPORA, local_parts

    columns = ("name", "kind", "language", "licence", "place", "home")
    rows = [
        (each.name, each.kind, each.language, each.licence, "here" if local_parts(each) else "to fetch", each.home)
        for each in CORPORA.values()
    ]
    _write(columns, rows, to)


def _write(columns: Sequence[str], rows: Sequence[tuple[str, ...]], to: Form | None) -> None:
    """A table, or its rows for the eye."""
    if to is not None:
        write_table(columns, rows, to)
        return
    for row in rows:
        typer.echo("\t".join(row))


@app.command("get", no_args_is_help=True)
def get(
    name: Annotated[str, typer.Argument(help="A name listed by `latentgram data list`.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to store it; by default in your cache folder.")
    ] = None,
    to: TableForm = None,
) -> None:
    """Download a corpus if necessary, verify it, and print the location of its parts."""
    from latentgram.data.datasets import corpus_of, get_corpus

    say(f"{name}: {corpus_of(name).licence}")
    with progress() as shown:
        parts = get_corpus(name, cache=folder, progress=shown)
    _write(("part", "path"), [(part, str(path)) for part, path in parts.items()], to)


@app.command("demo", no_args_is_help=True)
def make_demo(
    output: Annotated[Path, typer.Argument(help="File to write: brackets, or CoNLL-U if it ends in .conllu.")],
    sentences: Annotated[int, typer.Option("--sentences", "-n", min=1, help="Number of sentences.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Seed; the same seed gives the same sentences.")] = 0,
) -> None:
    """Write a treebank sampled from the demo grammar."""
    from latentgram.data.demo import demo_dependencies, demo_treebank
    from latentgram.data.files import plain_suffix
    from latentgram.data.formats import CONLLU, SUFFIXES

    make = demo_dependencies if plain_suffix(output) in SUFFIXES[CONLLU] else demo_treebank
    bank = make(sentences, seed)
    bank.write(output)
    say(f"{output}: {bank.summary}")
