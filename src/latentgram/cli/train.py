"""`latentgram train KIND FILE… --by LEARNER -o MODEL.lg`: one subcommand a kind of model.

The flags are made from the fields of the learners that `RECIPES` knows for the kind, with their help texts and
defaults, so a new recipe needs no line here but its row in `KINDS`.
"""

from __future__ import annotations

import importlib
import inspect
import time
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from latentgram.cli.places import check_output, faults_of
from latentgram.cli.workers import ClusterAddress, NJobs, engine_of
from latentgram.errors import DataError, SettingError
from latentgram.kinds import learners
from latentgram.kinds.recipes import RECIPES
from latentgram.kinds.settings import Settings

if TYPE_CHECKING:
    from latentgram.parallel import Engine

app = typer.Typer(help="Learn a model from data and write it to a file.", no_args_is_help=True)


@dataclass(frozen=True)
class Kind:
    """What a subcommand trains, what it reads, and whether the result is stored as a parser."""

    model: str
    help: str
    reads: str
    parses: bool = True
    reader: str = "latentgram.cli.train:read_treebank"
    """What makes the data out of the files and the learner, as "module:function"."""
    scorer: str = "latentgram.cli.train:score_on_treebank"
    """What makes the score out of the file of held-out data."""
    tags: bool = False
    """Whether the model is made of tags, so that a tagger belongs to the parser."""
    streams: bool = False
    """Whether trees may stay on the disk."""


KINDS = {
    "reranker": Kind(
        "Reranker", "A dependency parser whose n best trees other models rate.", "CoNLL-U trees", tags=True
    ),
    "arcs": Kind("ArcFactored", "A dependency parser that scores arcs and siblings.", "CoNLL-U trees", tags=True),
    "lpcfg": Kind("LPCFG", "A (latent-variable) PCFG from a constituency treebank.", "bracketed trees"),
    "shag": Kind(
        "SHAG",
        "A split head-automata grammar from a dependency treebank.",
        "dependency trees",
        tags=True,
        streams=True,
    ),
    "lexical-shag": Kind(
        "LexicalSHAG", "A deterministic grammar over words and tags.", "dependency trees", tags=True
    ),
    "product-shag": Kind(
        "ProductSHAG",
        "Head automata times words times distances: the best dependency parser here.",
        "dependency trees",
        tags=True,
    ),
    "ensemble": Kind("Ensemble", "Several latent-variable PCFGs that parse together.", "bracketed trees"),
    "hmm": Kind(
        "HMM",
        "A hidden Markov model from text, tagged text or n-grams.",
        "text (em), tagged text as FILE[:COLUMN], trees, or n-gram counts, automata, ARPA (variational)",
        parses=False,
        reader="latentgram.cli.sequences:read_for_hmm",
        scorer="latentgram.cli.sequences:score_on_tagged",
    ),
    "automaton": Kind(
        "OperatorAutomaton",
        "An operator automaton, the spectral form of a hidden Markov model, from text.",
        "text (em, spectral, clustering), n-gram counts (spectral), or tagged text as FILE[:COLUMN] (counting)",
        parses=False,
        reader="latentgram.cli.sequences:read_for_automaton",
        scorer="latentgram.cli.sequences:logprob_on_text",
    ),
    "tagger": Kind(
        "Tagger",
        "A part-of-speech tagger.",
        "tagged text as FILE[:COLUMN], or trees",
        parses=False,
        reader="latentgram.cli.sequences:read_for_tagger",
    ),
    "vectors": Kind(
        "WordVectors",
        "Vectors of words from what stands beside them.",
        "text, tagged text, n-gram counts, or (for --view tree) dependency trees",
        parses=False,
        reader="latentgram.cli.sequences:read_for_vectors",
    ),
    "top-down": Kind(
        "TopDown",
        "A generative model of dependency trees, log-linear in their histories: rates trees, names no heads.",
        "dependency trees",
        parses=False,
    ),
    "latent-tree": Kind(
        "LatentTree",
        "Hidden states at the words of dependency trees: rates trees, names no heads.",
        "dependency trees",
        parses=False,
        scorer="latentgram.cli.train:logprob_on_treebank",
    ),
}


def _learners_of(model: str) -> dict[str, str]:
    """Command-line names of the learners of a model, and their classes, the first being the default."""
    return {learner.lower(): learner for name, learner in RECIPES if name == model}


def _flags_of(model: str) -> dict[str, inspect.Parameter]:
    """One optional flag for each field that some learner of the model knows."""
    flags: dict[str, inspect.Parameter] = {}
    for short, learner in _learners_of(model).items():
        settings = getattr(learners, learner)
        hints = typing.get_type_hints(settings)
        for name, default in RECIPES[model, learner].defaults.items():
            field = settings.__dataclass_fields__[name]
            note = f"[{short}: {default}]"
            if name in flags:
                option = typing.get_args(flags[name].annotation)[1]
                option.help = f"{option.help} {note}"
                continue
            option = typer.Option(help=f"{field.metadata['help']} {note}", show_default=False)
            kind: Any = str | None
            if word := field.metadata.get("word"):
                option.parser, option.metavar = _number_or(word), f"INTEGER|{word}"
            elif not field.metadata.get("reader"):
                kind = _flag_type(hints[name], field.metadata.get("choices"))
            flags[name] = inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
            )
    return flags


def _flag_type(hint: Any, choices: tuple[str, ...] | None) -> Any:
    """The type of a flag: the field's own, or a choice."""
    if choices is not None:
        return Literal[choices] | None
    return hint if isinstance(hint, types.UnionType) else hint | None


def _number_or(word: str) -> Callable[[str], int | str]:
    """Reads a number, or the one word that may stand in its place."""

    def read(value: str) -> int | str:
        try:
            return value if value == word else int(value)
        except ValueError:
            raise typer.BadParameter(f"{value!r} is neither a whole number nor {word!r}.") from None

    return read


def _path(value: str) -> Path:
    """A path that is not empty: an empty one would be the current folder."""
    if not value:
        raise typer.BadParameter("the path is empty.")
    return Path(value)


def _check_choice(chooses: bool | str, learner: Settings, name: str) -> None:
    """Raise if held-out data would be without effect."""
    if not chooses:
        raise SettingError(f"--dev has no meaning for --by {name}, which chooses nothing by held-out data")
    if isinstance(chooses, str) and not getattr(learner, chooses):
        raise SettingError(f"--dev has no meaning for --by {name} without --{chooses}")


def _command(kind: Kind) -> Callable[..., None]:
    """The function behind one subcommand, with a signature made from the recipes."""
    known = _learners_of(kind.model)
    flags = _flags_of(kind.model)

    def run(files: list[Path], **options: Any) -> None:
        texts = (value for value in options.values() if isinstance(value, str))
        check_output(options["output"], files, options.get("dev"), texts)
        fields = {name: options[name] for name in flags if options[name] is not None}
        settings = getattr(learners, known[options["by"]])
        for name in fields:
            if name not in settings.__dataclass_fields__:
                raise SettingError(f"--{name.replace('_', '-')} has no meaning for --by {options['by']}")
            if reader := settings.__dataclass_fields__[name].metadata.get("reader"):
                fields[name] = _named(reader)(fields[name])
        learner = settings(**fields)
        if options.get("dev") is not None:
            _check_choice(RECIPES[kind.model, known[options["by"]]].chooses, learner, options["by"])
        more = {name: options[name] for name in ("tagger", "jackknife", "skip_bad", "stream") if name in options}
        with engine_of(options["n_jobs"], options["cluster"]) as engine:
            train(kind, files, learner, options["output"], options.get("dev"), engine, **more)

    def parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    choices: Any = Literal[tuple(known)]
    out = typer.Option("-o", "--output", help="File to write the model to.")
    parameters = [
        parameter("files", Annotated[list[Path], typer.Argument(help=f"Files or folders with {kind.reads}.")]),
        parameter("output", Annotated[Path, out]),
        parameter("by", Annotated[choices, typer.Option(help="The learner.")], next(iter(known), None)),
        parameter("n_jobs", NJobs, 1),
        parameter("cluster", ClusterAddress, None),
        *flags.values(),
    ]
    if any(RECIPES[kind.model, learner].chooses for learner in known.values()):
        held = typer.Option(help="Held-out data to choose by.", parser=_path, metavar="PATH")
        parameters.append(parameter("dev", Annotated[Path | None, held], None))
    if kind.reader == Kind.reader:
        lenient = typer.Option("--skip-bad", help="Leave faulty trees out, and count them.")
        parameters.append(parameter("skip_bad", Annotated[bool, lenient], False))
    if kind.tags:
        tagger = typer.Option("--tagger/--no-tagger", help="Train a tagger too, for text without tags.")
        folds = typer.Option(min=0, help="Train on tags of taggers of this many parts of the data (0: gold tags).")
        parameters.append(parameter("tagger", Annotated[bool, tagger], True))
        parameters.append(parameter("jackknife", Annotated[int, folds], 0))
    if kind.streams:
        reading = typer.Option("--stream", help="Leave trees on the disk (larger than memory); no tagger is made.")
        parameters.append(parameter("stream", Annotated[bool, reading], False))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _named(name: str) -> Callable[..., Any]:
    """The function behind "module:function", imported when it is needed."""
    module, function = name.split(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def read_treebank(files: list[Path], learner: Settings) -> Any:
    """Trees, of the kind that the files have."""
    from latentgram.data.treebank import Treebank

    del learner
    return Treebank.read(files)


def score_on_treebank(file: Path, data: Any) -> Callable[[Any], float]:
    """Accuracy on held-out trees."""
    import latentgram

    score: Callable[[Any], float] = latentgram.accuracy_on(_held_out(file, data))
    return score


def _held_out(file: Path, data: Any) -> Any:
    """Trees of the kind of those to learn from."""
    import latentgram

    held = latentgram.Treebank.read(file)
    if not len(held):
        raise DataError("there are no held-out trees: the file is empty", path=file)
    if held.kind != data.kind:
        raise DataError(f"held-out trees must be {data.kind} trees, as those to learn from are", path=file)
    return held


def train(
    kind: Kind,
    files: list[Path],
    learner: Settings,
    output: Path,
    dev: Path | None,
    engine: Engine,
    tagger: bool = False,
    jackknife: int = 0,
    skip_bad: bool = False,
    stream: bool = False,
) -> None:
    """Read, learn, write, and say what was done."""
    import latentgram
    from latentgram.cli.console import progress, say

    started = time.perf_counter()
    if stream:
        if skip_bad or jackknife:
            raise SettingError("--skip-bad and --jackknife need all trees in memory: they do not go with --stream")
        data: Any = latentgram.TreebankStream(files)
        tagger = False
    elif skip_bad:
        data = latentgram.Treebank.read(files, skip_bad=True)
        if data.skipped:
            say(f"left out faulty trees: {len(data.skipped)}, the first: {data.skipped[0]}")
    else:
        data = _named(kind.reader)(files, learner)
    if not len(data):
        raise DataError("there are no trees, sentences or counts to learn from", path=files[0])
    unit = "n-grams" if "NGram" in type(data).__name__ else "sentences"
    say(f"read {len(data):,} {unit} in {time.perf_counter() - started:.1f} s")
    score = None if dev is None else _named(kind.scorer)(dev, data)
    options: dict[str, Any] = {"by": learner, "dev_score": score, "engine": engine}
    with faults_of(files[0]), progress() as shown:
        if kind.parses:
            from latentgram.parser.pipeline import fit_parser

            tags = latentgram.Perceptron() if tagger else None
            found = fit_parser(
                getattr(latentgram, kind.model), data, tagger=tags, jackknife=jackknife, progress=shown, **options
            )
            model = found.model
        else:
            found = model = latentgram.fit(getattr(latentgram, kind.model), data, progress=shown, **options)
    latentgram.save(found, output)
    if kind.parses and found.tagger is not None:
        say(f"{found.tagger.summary()}; learned in {found.tagger.provenance.seconds:.1f} s")
    if vars(learner).get("rare") == "auto":
        say(f"rare words are those seen at most so often: {model.provenance.fields['rare']}, as the data say")
    if lifted := sum(int(record.get("lifted", 0)) for record in model.provenance.trace):
        say(f"words whose heads were lifted to make trees projective: {lifted:,}")
    say(f"{model.summary()}; learned in {model.provenance.seconds:.1f} s")
    say(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB)")


def logprob_on_treebank(file: Path, data: Any) -> Callable[[Any], float]:
    """log p of held-out trees under a model that rates them."""
    trees = list(_held_out(file, data))
    return lambda model: float(model.logprobs(trees).sum())


for _name, _kind in KINDS.items():
    app.command(_name, help=_kind.help, no_args_is_help=True)(_command(_kind))
