"""Options shared by several commands and their meaning, and options as fields of a dataclass.

A command with many options takes one record (`@command` of a class with `@options`), whose fields, made by
`argument`, `option` and `flag`, are read by typer. `Workers` contains the options for parallel work.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast, dataclass_transform

import typer

from latentgram.data.files import STANDARD
from latentgram.errors import DataError, ModelFileError, SettingError

if TYPE_CHECKING:
    from latentgram.data.dependencies import DependencyTree
    from latentgram.data.tokenise import Cutter
    from latentgram.data.tree import Tree
    from latentgram.data.treebank import Treebank
    from latentgram.kinds.protocols import SentenceTagger
    from latentgram.parallel import Engine
    from latentgram.parser.parser import Parser

Value = TypeVar("Value")
Options = TypeVar("Options")
Place = Path | str | None

Inputs = Literal["text", "tagged", "conllu", "brackets"]
Outputs = Literal["brackets", "conllu", "json", "outline"]

MARKUP: Literal["markdown"] = "markdown"
"""How the texts of help are written: notes in square brackets are shown as they are."""
TELLS_FORMAT = "Input format; by default guessed from the file name."
GOLD_TAGS = "Use the tags of the input trees; by default the parser tags their words itself."
TOKENISED = "The text has one sentence per line, with tokens separated by spaces."
LIMIT_SECONDS = (
    "Time limit per sentence; a sentence that exceeds it gets a coarse constituency tree, which is marked."
)
SKIP_BAD = "Skip malformed sentences, and report how many there were."
EXACT = "Prune nothing, so that p(sentence) is exact and not a lower bound; slow for long sentences."
COUNTS_USE = "'latentgram ngram build' makes an automaton of it, 'latentgram train hmm' a tagger"

ParserFile = Annotated[Path, typer.Argument(help="Model file of a parser.")]
Format = Annotated[Inputs | None, typer.Option(help=TELLS_FORMAT)]
To = Annotated[Outputs | None, typer.Option(help="Output format; by default brackets or CoNLL-U.")]
Tokenised = Annotated[bool, typer.Option("--tokenised", help=TOKENISED)]
Exact = Annotated[bool, typer.Option("--exact", help=EXACT)]
NJobs = Annotated[int, typer.Option("--n-jobs", min=1, help="Number of workers.")]
ClusterAddress = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Work on the Dask cluster with this scheduler (tcp://…)."),
]


def argument(help: str, default: Value | EllipsisType = ..., metavar: str | None = None) -> Value:
    """A field that is an argument; without a default it must be there."""
    value = dataclasses.MISSING if default is ... else default
    return cast(Value, _field(value, typer.Argument(help=help, metavar=metavar)))


def option(default: Value, help: str, *names: str, min: int | None = None, max: int | None = None) -> Value:
    """A field that is an option."""
    return cast(Value, _field(default, typer.Option(*names, help=help, min=min, max=max)))


def flag(name: str, help: str) -> bool:
    """A field that is an option without a value."""
    return option(False, help, name)


def _field(default: object, info: object) -> object:
    return dataclasses.field(default=default, metadata={"typer": info})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(argument, option, flag))
def options(cls: type[Options]) -> type[Options]:
    """A class whose fields are what a command can be asked for."""
    return dataclass(frozen=True, kw_only=True)(cls)


@options
class Workers:
    """Where a command works."""

    n_jobs: NJobs = 1
    cluster: ClusterAddress = None

    @property
    def alone(self) -> bool:
        """Whether all work is done in this process."""
        return self.n_jobs == 1 and self.cluster is None

    def engine(self) -> AbstractContextManager[Engine]:
        """The engine of the two options."""
        return engine_of(self.n_jobs, self.cluster)


def command(function: Callable[[Options], None]) -> Callable[..., None]:
    """Let typer see the fields of the dataclass that a command takes, its own before inherited ones.

    >>> @options
    ... class Greeting(Workers):
    ...     name: str = argument("Whom to greet.")
    >>> @command
    ... def greet(asked: Greeting) -> None:
    ...     print("Hello", asked.name)
    >>> list(inspect.signature(greet).parameters)
    ['name', 'n_jobs', 'cluster']
    >>> greet(name="you", n_jobs=1, cluster=None)
    Hello you
    """
    (asked,) = (hint for name, hint in typing.get_type_hints(function).items() if name != "return")
    hints = typing.get_type_hints(asked, include_extras=True)

    def run(**values: object) -> None:
        function(asked(**values))

    parameters = []
    said_in = {name: depth for depth, cls in reversed([*enumerate(asked.__mro__)]) for name in _said(cls)}
    for field in sorted(dataclasses.fields(asked), key=lambda field: said_in[field.name]):
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        hint = hints[field.name]
        if field.metadata:
            hint = Annotated[hint, field.metadata["typer"]]
        parameters.append(
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        )
    functools.update_wrapper(run, function)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _said(cls: type) -> Iterable[str]:
    """The fields that a class says itself."""
    said: dict[str, object] = vars(cls).get("__annotations__", {})
    return said


@contextmanager
def engine_of(n_jobs: int, cluster: str | None) -> Iterator[Engine]:
    """The engine of the two options; the connection to a cluster ends with the context."""
    from latentgram.parallel import engine_for

    if cluster is None:
        yield engine_for(n_jobs)
        return
    if n_jobs != 1:
        raise SettingError("use either --n-jobs or --cluster: a cluster has its own number of workers")
    from latentgram.parallel import Cluster

    with Cluster(cluster) as engine:
        yield engine


def load_parser(path: Path, limit_seconds: float | None = None) -> Parser:
    """The parser in a file, with a limit if one is asked for; of another kind of model it is said what it is."""
    import latentgram

    try:
        parser: Parser = latentgram.load(path, latentgram.Parser)
    except ModelFileError as error:
        if use := _use_of(path):
            raise ModelFileError(f"{error}: {use}") from None
        raise
    return parser if limit_seconds is None else dataclasses.replace(parser, limit_seconds=limit_seconds)


def cutter_of(stored: Parser | SentenceTagger) -> Cutter | None:
    """How text is cut into words for a model; None where words are what is separated by spaces."""
    import latentgram
    from latentgram.kinds.kind import find_kind

    if isinstance(stored, latentgram.Parser):
        return stored.cutter
    kind = find_kind(stored)
    return None if kind is not None and kind.cut_at_blanks else latentgram.Tokeniser()


def read_trees(path: Path, parser: Parser, kind: str | None = None) -> Iterable[Tree | DependencyTree]:
    """The trees of a file; raw Penn trees are cleaned, unless the parser has learned from uncleaned ones."""
    from latentgram.cli.console import say
    from latentgram.data.cleaning import plain_label
    from latentgram.data.treebank import CONSTITUENCY, Treebank

    trees: Treebank[Tree] | Treebank[DependencyTree] = Treebank.read(path, kind)
    if trees.kind != CONSTITUENCY or any(plain_label(label) != label for label in parser.backend.labels):
        return trees
    cleaned, cleaning = trees.clean()
    if not cleaning.empties and not cleaning.marks:
        return trees
    say(f"trees cleaned: {cleaning}")
    return cleaned


def _use_of(path: Path) -> str:
    """What a file is good for that holds no parser; nothing if it holds one, or cannot be read."""
    from latentgram.kinds.kind import kinds
    from latentgram.store import read_header

    try:
        name = read_header(path).kind
    except ModelFileError:
        return ""
    kind = kinds().get(name)
    return COUNTS_USE if name == "NGramCounts" else kind.use if kind is not None else ""


def check_output(output: Path | None, *inputs: Place | Iterable[Place]) -> None:
    """Raise if an output is one of the inputs (`FILE` or `FILE:COLUMN`), or its folder does not exist.

    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "text.txt").write_text("a b")
    >>> check_output(here / "counts.tsv", [here / "text.txt"], None)
    >>> check_output(here / "text.txt", [here / "text.txt"])
    Traceback (most recent call last):
        ...
    latentgram.errors.DataError: ...text.txt: the output would overwrite this input: name another file
    """
    if output is None or os.fspath(output) == STANDARD:
        return
    if not output.parent.is_dir():
        raise DataError(f"the folder {output.parent} does not exist", path=output)
    if not output.is_file():
        return
    from latentgram.data.tag_dictionary import split_specification  # which loads what else is not needed yet

    for places in inputs:
        for place in [places] if isinstance(places, Path | str | None) else places:
            names = {str(place), split_specification(str(place))[0]}
            if any(os.path.isfile(name) and os.path.samefile(name, output) for name in names):
                raise DataError("the output would overwrite this input: name another file", path=output)


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Name a file in faults of data that do not say where they are.

    >>> with faults_of(Path("a.conllu")):
    ...     raise DataError("sentence 1 has no tags")
    Traceback (most recent call last):
        ...
    latentgram.errors.DataError: a.conllu: sentence 1 has no tags
    """
    try:
        yield
    except DataError as error:
        if error.path is not None:
            raise
        raise DataError(error.message, path=path, line=error.line, column=error.column) from None
