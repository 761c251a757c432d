"""`latentgram search PATTERN FILE…`: the trees of a treebank that match a pattern."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def search(
    pattern: Annotated[str, typer.Argument(help="NP < PP for constituents, V -[obj]-> N for dependencies.")],
    files: Annotated[list[Path], typer.Argument(help="Treebanks, in brackets or CoNLL-U.")],
    count: Annotated[bool, typer.Option("--count", help="Only print how many trees match.")] = False,
) -> None:
    """Write the trees that match a pattern, unchanged.

    Patterns are a subset of tgrep2's language for constituents and of Grew's for dependencies; see the guide.
    """
    from latentgram.cli.console import counted
    from latentgram.data.conllu import to_conllu
    from latentgram.data.dependencies import DependencyTree
    from latentgram.data.patterns import pattern_finder
    from latentgram.data.tree import Tree
    from latentgram.data.treebank import CONSTITUENCY, Treebank
    from latentgram.errors import DataError

    bank = Treebank.read(files)
    if bank.kind not in ("constituency", "dependency"):
        raise DataError("patterns match trees, but these are sentences", path=files[0])
    find = pattern_finder(pattern, bank.kind == CONSTITUENCY)
    matching = 0
    for tree in counted(bank, "searching", len(bank)):
        if isinstance(tree, Tree | DependencyTree) and find(tree):
            matching += 1
            if not count:
                typer.echo(to_conllu(tree) if isinstance(tree, DependencyTree) else f"{tree}\n", nl=False)
    if count:
        typer.echo(f"{matching} of {len(bank)}")
