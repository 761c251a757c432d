"""`latentgram nbest MODEL.lg [FILE…]`: the best trees of each sentence; `rerank`: by a reranker's score."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from latentgram.cli.options import Format, ParserFile, To, load_parser

Files = Annotated[list[Path] | None, typer.Argument(help="Files to parse; standard input if none.")]
Count = Annotated[int, typer.Option("--count", "-k", min=1, help="Trees a sentence, at most.")]


def nbest(model: ParserFile, files: Files = None, count: Count = 10, format: Format = None, to: To = None) -> None:
    """The best trees of each sentence, best first, one after the other.

    CoNLL-U trees carry the number of their sentence, their rank and log-probability in comments; JSON lines too.
    """

    _write(load_parser(model), files, count, format, to)


def rerank(model: ParserFile, files: Files = None, count: Count = 1, format: Format = None, to: To = None) -> None:
    """Parse with a reranker: the trees of its base parser that the new score likes best."""
    from latentgram.errors import ModelFileError
    from latentgram.kinds.registry import kind_of

    parser = load_parser(model)
    if kind_of(parser.model).command != "reranker":
        raise ModelFileError(f"{model} holds no reranker; 'latentgram train reranker' makes one")
    _write(parser, files, count, format, to)


def _write(parser: object, files: list[Path] | None, count: int, format: str | None, to: str | None) -> None:
    import dataclasses
    import json

    import latentgram
    from latentgram.cli.console import counted, ensure_input
    from latentgram.data.dependencies import DependencyTree
    from latentgram.parser.output import render

    assert isinstance(parser, latentgram.Parser)
    ensure_input(files)
    known = format or (None if files else "text")
    given = latentgram.Treebank.stream_unparsed(files or [Path("-")], known)
    for number, (_, item) in enumerate(counted(given, "sentences"), 1):
        for rank, parse in enumerate(parser.nbest(item.sentence, count), 1):
            if to == "json":
                line = {"sentence": number, "rank": rank, **parse.to_json()}
                typer.echo(json.dumps(line, ensure_ascii=False))
                continue
            if isinstance(parse.tree, DependencyTree):
                parse = parse.onto(item) if isinstance(item, DependencyTree) else parse
                notes = (f"# sentence = {number}", f"# rank = {rank}", f"# logprob = {parse.tree_logprob:.6f}")
                tree = cast(DependencyTree, parse.tree)
                parse = dataclasses.replace(parse, tree=tree.replace(comments=(*tree.comments, *notes)))
            typer.echo(render(parse, to), nl=False)
