"""`latentgram train KIND FILE… --by LEARNER -o MODEL.lg`: one subcommand for each kind of model in the registry.

The flags are made from the settings of the kind's recipes, with their help texts and defaults, so a new kind or
learner needs no code here.
"""

from __future__ import annotations

import functools
import inspect
import time
import typing
import warnings
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from typer.core import TyperGroup

from latentgram.cli.options import MARKUP, ClusterAddress, NJobs, check_output, engine_of, faults_of
from latentgram.data.files import Precision
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import DEPENDENCIES, PHRASES, Kind, Recipe, kinds, learner_class, named
from latentgram.kinds.settings import AUTO, Field, Settings, defaults_of, fields_of

if TYPE_CHECKING:
    from latentgram.data.dependencies import DependencyTree
    from latentgram.data.tree import Tree
    from latentgram.data.treebank import Treebank
    from latentgram.kinds.protocols import Model
    from latentgram.parallel import Engine
    from latentgram.parser.parser import Parser

_READ_FROM_FILES = {"TagDictionary": str, "ClusterSpace": str, "Text": str}
"""Types of fields that stand for files on the command line."""

LEARNER = "How the model is learned."
PRECISION = (
    "Precision of the file: small (numbers rounded where it matters little), or every number to the last bit."
)

EXPECTED = 25
"""Seconds that compiling what a model is learned by is likely to take."""

HELP = """Learn a model from data and write it to a file.

For constituency trees, `committee` is the most accurate, `chart-crf` nearly as accurate at a third of the cost,
and `lpcfg` the quickest to train. For dependency trees use `arcs`; for raw text to CoNLL-U, `ud`; for tags alone,
`tagger`. The other kinds are models of the papers and their components.
"""


class _ByKind(TyperGroup):
    """The subcommands, made when one is asked for: other commands start sooner without them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """One for each kind that is trained by a command."""
        self.commands = _commands()
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The one for a kind; None if there is none, and others are suggested."""
        self.commands = _commands()
        return self.commands.get(cmd_name)


app = typer.Typer(cls=_ByKind, help=HELP, no_args_is_help=True)


def _learners_of(kind: Kind) -> dict[str, str]:
    """Command-line names of the learners of a kind and their classes, the first being the default."""
    return {learner.lower(): learner for learner in (*kind.recipes, *kind.renamed)}


def _flags_of(kind: Kind) -> dict[str, inspect.Parameter]:
    """One optional flag for each field that some learner of the kind knows.

    What the kind says of its own settings is closer than what the learner says for all kinds: their values and, if
    its recipes agree, their meaning.
    """
    said: dict[str, tuple[Field, object]] = {}
    own: dict[str, dict[str, Field]] = {}
    defaults: dict[str, dict[str, object]] = {}
    for learner, recipe in kind.recipes.items():
        general, settings = learner_class(kind.name, learner), recipe.settings_class()
        hints, known = typing.get_type_hints(general, localns=_READ_FROM_FILES), fields_of(settings)
        for name, field in fields_of(general).items():
            if name in known:
                said.setdefault(name, (field, hints[name]))
                own.setdefault(name, {})[learner] = known[name]
                defaults.setdefault(name, {})[learner.lower()] = defaults_of(settings)[name]
    return {
        name: _flag(name, *said[name], list(own[name].values()), _defaults(defaults[name], len(kind.recipes)))
        for name in said
    }


def _flag(name: str, said: Field, hint: object, own: Sequence[Field], note: str) -> inspect.Parameter:
    """The flag of a field, as a learner says it for all kinds and the recipes of one kind say it."""
    meanings = {field.help for field in own}
    meaning = meanings.pop() if len(meanings) == 1 else said.help
    option = typer.Option(help=f"{meaning[0].upper()}{meaning[1:]}. {note}".rstrip(), show_default=False)
    annotation: object = str | None
    if word := next((field.word for field in own if field.word), None):
        number = float if float in typing.get_args(hint) else int
        option.parser, option.metavar = _number_or(word, number), f"NUMBER|{word}"
    elif not said.reader:
        choices = dict.fromkeys(choice for field in own for choice in field.choices or ())
        annotation = _flag_type(hint, tuple(choices))
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[annotation, option]
    )


def _defaults(known: dict[str, object], learners: int) -> str:
    """The note on the defaults of a flag: which learners have it, and with which values.

    >>> _defaults({"em": 20, "spectral": 20}, learners=2)
    '[default: 20]'
    >>> _defaults({"em": 20, "spectral": 10, "clustering": 20}, learners=4)
    '[em, clustering: 20; spectral: 10]'
    >>> _defaults({"em": None}, learners=2)
    '[em]'
    """
    groups: dict[object, list[str]] = {}
    for learner, default in known.items():
        groups.setdefault(default, []).append(learner)
    if len(known) == learners and len(groups) == 1:
        default = next(iter(groups))
        return "" if default is None else f"[default: {default}]"
    notes = (", ".join(names) + ("" if default is None else f": {default}") for default, names in groups.items())
    return f"[{'; '.join(notes)}]"


def _flag_type(hint: object, choices: tuple[str, ...]) -> object:
    """The type of a flag: a choice if there are any, else a number, a truth value or text, or nothing."""
    if choices:
        return Literal[choices] | None
    numbers = [each for each in typing.get_args(hint) or (hint,) if isinstance(each, type)]
    return functools.reduce(lambda left, right: left | right, numbers, None)


def _number_or(word: str, number: type[int] | type[float]) -> Callable[[str], float | str]:
    """Reads a number, or the one word that may stand in its place."""

    def read(value: str) -> float | str:
        try:
            return value if value == word else number(value)
        except ValueError:
            wanted = "an integer" if number is int else "a number"
            raise typer.BadParameter(f"{value!r} is neither {wanted} nor {word!r}.") from None

    return read


def _path(value: str) -> Path:
    """A path that is not empty: an empty one would be the current folder."""
    if not value:
        raise typer.BadParameter("the path is empty.")
    return Path(value)


def _check_choice(recipe: Recipe, learner: Settings, name: str) -> None:
    """Raise if held-out data would be without effect."""
    if not recipe.chooses:
        raise SettingError(f"--dev has no meaning for --by {name}, which does not use held-out data")
    if isinstance(recipe.chooses, str) and not learner.said.get(recipe.chooses):
        raise SettingError(f"--dev has no meaning for --by {name} without --{recipe.chooses}")


@dataclass(frozen=True)
class Work:
    """What one call of the command is to do."""

    kind: Kind
    recipe: Recipe
    learner: Settings
    files: list[Path]
    output: Path
    dev: Path | None = None
    tagger: bool = False
    jackknife: int = 0
    skip_bad: bool = False
    keep_marks: bool = False
    stream: bool = False
    precision: Precision = "compact"


def _command(kind: Kind) -> Callable[..., None]:
    """The function behind one subcommand, with a signature made from the recipes."""
    known, flags = _learners_of(kind), _flags_of(kind)

    def run(files: list[Path], output: Path, by: str, n_jobs: int, cluster: str | None, **options: object) -> None:
        dev = cast(Path | None, options.get("dev"))
        check_output(output, files, dev, (value for value in options.values() if isinstance(value, str)))
        said = {name: options[name] for name in flags if options[name] is not None}
        learner = _learner(kind, known[by], by, said)
        recipe = kind.recipes[kind.renamed.get(known[by], known[by])]
        if dev is not None:
            _check_choice(recipe, learner, by)
        switches = {
            name: options[name]
            for name in ("tagger", "jackknife", "skip_bad", "keep_marks", "stream", "precision")
            if name in options
        }
        with engine_of(n_jobs, cluster) as engine:
            train(Work(kind, recipe, learner, files, output, dev, **switches), engine)  # type: ignore[arg-type]

    run.__signature__ = signature = _signature(kind, known, flags)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    return run


def _learner(kind: Kind, learner: str, by: str, said: dict[str, object]) -> Settings:
    """The learner with what the command line says."""
    if learner in kind.renamed:
        from latentgram.cli.console import say

        say(f"latentgram: --by {by} is now --by {kind.renamed[learner].lower()}; the former name is deprecated")
        learner = kind.renamed[learner]
    settings = learner_class(kind.name, learner)
    fields = fields_of(settings)
    for name in said:
        if name not in fields:
            raise SettingError(f"--{name.replace('_', '-')} has no meaning for --by {by}")
        if reader := fields[name].reader:
            said[name] = cast(Callable[[object], object], named(reader))(said[name])
    return settings(**said)


def _signature(kind: Kind, known: dict[str, str], flags: dict[str, inspect.Parameter]) -> inspect.Signature:
    """The options of a subcommand."""

    def parameter(name: str, annotation: object, default: object = inspect.Parameter.empty) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    read = dict.fromkeys((recipe.reads or kind.reads).files for recipe in kind.recipes.values())
    out = typer.Option("-o", "--output", help="File to write the model to.")
    parameters = [
        parameter(
            "files", Annotated[list[Path], typer.Argument(help=f"Files or folders with {'; '.join(read)}.")]
        ),
        parameter("output", Annotated[Path, out]),
        parameter("by", Annotated[Literal[tuple(known)], typer.Option(help=LEARNER)], next(iter(known), None)),
        parameter("precision", Annotated[Precision, typer.Option(help=PRECISION)], "compact"),
        parameter("n_jobs", NJobs, 1),
        parameter("cluster", ClusterAddress, None),
        *flags.values(),
    ]
    if any(recipe.chooses for recipe in kind.recipes.values()):
        held = typer.Option(help="Held-out data, to choose the best candidate.", parser=_path, metavar="PATH")
        parameters.append(parameter("dev", Annotated[Path | None, held], None))
    if kind.reads in (PHRASES, DEPENDENCIES):
        lenient = typer.Option("--skip-bad", help="Skip malformed trees, and report how many there were.")
        parameters.append(parameter("skip_bad", Annotated[bool, lenient], False))
    if kind.reads is PHRASES:
        raw = typer.Option("--keep-marks", help="Keep empty elements, function tags and indices for learning.")
        parameters.append(parameter("keep_marks", Annotated[bool, raw], False))
    if kind.needs_tags:
        tagger = typer.Option("--tagger/--no-tagger", help="Train a tagger too, for text without tags.")
        folds = typer.Option(
            min=0,
            help="Train on tags predicted by jackknifing with this many parts (0: gold tags).",
        )
        parameters.append(parameter("tagger", Annotated[bool, tagger], True))
        parameters.append(parameter("jackknife", Annotated[int, folds], 0))
    if kind.streams:
        reading = typer.Option(
            "--stream", help="Stream trees from disk, for treebanks larger than memory; no tagger is trained."
        )
        parameters.append(parameter("stream", Annotated[bool, reading], False))
    return inspect.Signature(parameters)


def _read(work: Work) -> Sized:
    """The data to learn from."""
    import latentgram
    from latentgram.cli.console import say

    if work.stream:
        if work.skip_bad or work.jackknife:
            raise SettingError("--skip-bad and --jackknife need all trees in memory: they exclude --stream")
        stream: Sized = latentgram.TreebankStream(work.files)
        return stream
    if work.skip_bad:
        trees: Treebank[Tree] | Treebank[DependencyTree] = latentgram.Treebank.read(work.files, skip_bad=True)
        if trees.skipped:
            say(f"malformed trees skipped: {len(trees.skipped)}, the first: {trees.skipped[0]}")
        return _cleaned(trees, work)
    read = named((work.recipe.reads or work.kind.reads).reader)
    return _cleaned(cast("Callable[[Sequence[Path], Settings], Sized]", read)(work.files, work.learner), work)


def _cleaned(data: Sized, work: Work) -> Sized:
    """Phrase-structure trees as parsers learn from them; other data as they are."""
    from latentgram.cli.console import say
    from latentgram.data.treebank import CONSTITUENCY, Treebank

    if work.keep_marks or not isinstance(data, Treebank) or data.kind != CONSTITUENCY:
        return data
    trees, cleaning = data.clean()
    if cleaning:
        say(f"trees cleaned (--keep-marks keeps everything): {cleaning}")
        return trees
    return data


def train(work: Work, engine: Engine) -> None:
    """Read, learn, write, and say what was done."""
    import latentgram
    from latentgram.cli.console import progress, say
    from latentgram.kernel_cache import compiling
    from latentgram.parser.judging import judge_on

    compiling.expected = EXPECTED
    started = time.perf_counter()
    data = _read(work)
    if not len(data):
        raise DataError("there are no trees, sentences or counts to learn from", path=work.files[0])
    unit = "n-grams" if "NGram" in type(data).__name__ else "sentences"
    say(f"read {len(data):,} {unit} in {time.perf_counter() - started:.1f} s")
    judge = None if work.dev is None else judge_on(work.kind, work.dev, work.learner, data)
    model: Model
    learned: Model | Parser
    with faults_of(work.files[0]), warnings.catch_warnings(), progress() as shown:
        if work.keep_marks:
            warnings.filterwarnings("ignore", message="the trees have empty elements")
        if work.kind.parser:
            from latentgram.parser.pipeline import fit_parser

            tags = latentgram.Gradient() if work.tagger and not work.stream else None
            learned = parser = fit_parser(
                work.kind.model_class(),
                data,  # type: ignore[arg-type]
                by=work.learner,
                tagger=tags,
                jackknife=work.jackknife,
                dev_score=judge,
                engine=engine,
                progress=shown,
            )
            model = parser.model
        else:
            learned = model = latentgram.fit(
                work.kind.model_class(), data, by=work.learner, dev_score=judge, engine=engine, progress=shown
            )
    if compiling.seconds >= 1:
        say(f"times include {compiling.seconds:.0f} s of compilation, which the next run does not need")
    latentgram.save(learned, work.output, work.precision)
    if work.kind.parser and parser.tagger is not None:
        say(f"{parser.tagger.summary()}; learned in {parser.tagger.provenance.seconds:.1f} s")
    if work.learner.said.get("rare") == AUTO:
        say(f"threshold of rare words, chosen from the data: {model.provenance.fields['rare']}")
    if lifted := sum(int(record.get("lifted", 0)) for record in model.provenance.trace):
        say(f"words with a lifted head, to make the trees projective: {lifted:,}")
    for record in model.provenance.trace:
        if "crossing" in record:
            las = f"projective trees {record['projective']:.2f}, crossing arcs {record['crossing']:.2f}"
            say(f"LAS on held-out trees, by which one of two parsers was chosen: {las}")
    say(f"{model.summary()}; learned in {model.provenance.seconds:.1f} s")
    say(f"wrote {work.output} ({work.output.stat().st_size / 1e6:.1f} MB)")


@functools.cache
def _commands() -> dict[str, Any]:
    """The subcommands of all kinds."""
    every = typer.Typer(rich_markup_mode=MARKUP)
    every.callback()(lambda: None)  # so that one command would be a group too
    for kind in kinds().values():
        if kind.command:
            every.command(kind.command, help=kind.help, no_args_is_help=True)(_command(kind))
    return cast(Any, typer.main.get_command(every)).commands  # type: ignore[no-any-return]
