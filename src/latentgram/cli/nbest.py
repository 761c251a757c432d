"""`latentgram nbest MODEL.lg [FILE…]`: the best trees of each sentence; `rerank`: by a reranker."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latentgram.cli.options import Exact, Format, ParserFile, To, Workers, command, load_parser, options

if TYPE_CHECKING:
    from latentgram.data.dependencies import DependencyTree
    from latentgram.data.sentence import Sentence
    from latentgram.data.tree import Tree
    from latentgram.kinds.result import Parse
    from latentgram.parser.parser import Parser

Files = Annotated[list[Path] | None, typer.Argument(help="Files to parse; standard input if none.")]
Count = Annotated[int, typer.Option("--count", "-k", min=1, help="Maximum number of trees per sentence.")]

TOGETHER = 16
"""Sentences that a worker is sent at a time."""


@options
class Listing(Workers):
    """What both commands are asked for."""

    model: ParserFile
    files: Files = None
    count: Count = 10
    format: Format = None
    to: To = None


@options
class Pruned(Listing):
    """The same, of a parser that may prune."""

    exact: Exact = False


@options
class Rescored(Listing):
    """The same, for the best tree only if nothing else is said."""

    count: Count = 1


@command
def nbest(asked: Pruned) -> None:
    """Write the best trees of each sentence, best first.

    CoNLL-U trees carry the number of their sentence, their rank and log-probability in comments; JSON lines too,
    with "pruned" where the chart was pruned, so that log p(sentence) is a lower bound (not with --exact).
    """
    parser = load_parser(asked.model)
    _write(parser.exact if asked.exact else parser, asked)


@command
def rerank(asked: Rescored) -> None:
    """Parse with a reranker: rescore the n-best trees of its base parser and write the best."""
    from latentgram.errors import ModelFileError

    parser = load_parser(asked.model)
    if parser.kind.command != "reranker":
        raise ModelFileError(f"{asked.model} is not a reranker; train one with 'latentgram train reranker'")
    _write(parser, asked)


@dataclass(frozen=True)
class _Lists:
    """The best trees of some numbered sentences as one text for each; a class, so that workers can be sent it."""

    parser: Parser
    count: int
    form: str | None

    def __call__(self, batch: Sequence[tuple[int, Tree | DependencyTree | Sentence]]) -> list[str]:
        return ["".join(self._texts(number, item)) for number, item in batch]

    def _texts(self, number: int, item: Tree | DependencyTree | Sentence) -> list[str]:
        from latentgram.data.dependencies import DependencyTree
        from latentgram.parser.answers import render

        ranked = enumerate(self.parser.nbest(item.sentence, self.count), 1)
        if self.form == "json":
            lines = ({"sentence": number, "rank": rank, **parse.to_json()} for rank, parse in ranked)
            return [json.dumps(line, ensure_ascii=False) + "\n" for line in lines]
        source = item if isinstance(item, DependencyTree) else None
        return [render(_noted(parse, source, number, rank), self.form) for rank, parse in ranked]


def _noted(parse: Parse, source: DependencyTree | None, number: int, rank: int) -> Parse:
    """A parse whose tree, of dependencies, has number, rank and log-probability in comments."""
    from latentgram.data.dependencies import DependencyTree

    if not isinstance(parse.tree, DependencyTree):
        return parse
    parse = parse if source is None else parse.onto(source)
    assert isinstance(parse.tree, DependencyTree)
    notes = (f"# sentence = {number}", f"# rank = {rank}", f"# logprob = {parse.tree_logprob:.6f}")
    tree = parse.tree.replace(comments=(*parse.tree.comments, *notes))
    return dataclasses.replace(parse, tree=tree)


def _write(parser: Parser, asked: Listing) -> None:
    import latentgram
    from latentgram.cli.console import counted, ensure_input
    from latentgram.parallel import shards

    ensure_input(asked.files)
    known = asked.format or (None if asked.files else "text")
    items = (item for _, item in latentgram.Treebank.stream_unparsed(asked.files or [Path("-")], known))
    lists, far = _Lists(parser, asked.count, asked.to), asked.n_jobs > 1 or asked.cluster
    with asked.engine() as engine:
        batches = engine.map(lists, shards(enumerate(items, 1), TOGETHER if far else 1))
        for text in counted((text for batch in batches for text in batch), "sentences"):
            typer.echo(text, nl=False)
