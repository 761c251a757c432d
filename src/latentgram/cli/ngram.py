"""`latentgram ngram count|build|mix|query|export`: n-gram counts, back-off automata and language models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, cast

import typer

from latentgram.cli.ngram_query import query
from latentgram.cli.options import NJobs, Workers, argument, check_output, command, flag, option, options
from latentgram.data.files import whole_number
from latentgram.errors import SettingError
from latentgram.kinds.learners import Smoothing

if TYPE_CHECKING:
    from latentgram.kinds.protocols import Exportable
    from latentgram.sequences.ngram import BackoffNGram

app = typer.Typer(help="Count n-grams; build, mix, query and export language models.", no_args_is_help=True)
app.command(no_args_is_help=True)(query)
Output = Annotated[Path, typer.Option("-o", "--output", help="File to write to.")]


def _tell_repairs(repairs: dict[str, int]) -> None:
    from latentgram.cli.console import say

    for what, times in repairs.items():
        say(f"repaired: {what}: {times:,}")


def _refuse_idle_folder(memory: str | None, temporary: Path | None) -> None:
    if temporary is not None and memory is None:
        raise SettingError("--temporary is the folder for --memory: give --memory as well")


def _cutoffs(said: str) -> int | list[int]:
    parts = said.split(",")
    least = [number for part in parts if (number := whole_number(part.strip())) is not None]
    if len(least) != len(parts):
        raise SettingError(f"--cutoff is a number or numbers separated by commas, got {said[:80]!r}")
    return least if len(least) > 1 else least[0]


class _Limits(TypedDict):
    order: int
    cutoff: int | list[int]
    all_bigrams: bool


@options
class Counting(Workers):
    """What is asked of `latentgram ngram count`."""

    files: list[Path] = argument(
        "Files or folders, one sentence per line; trees; or tables of n-grams (words, a tab, a count)."
    )
    output: Output
    order: int = option(3, "Length of the longest n-grams.", min=1)
    cutoff: str = option("1", "Lowest count kept, for orders 3 and above; or one per order, such as 1,1,3.")
    all_bigrams: bool = option(True, "Keep all bigrams whatever the cut-off.")
    dictionary: str | None = option(
        None, "Count unambiguous words as their tag, by this tagged FILE[:COLUMN[:LEAST]]."
    )
    table: bool = flag("--table", "The input is a table, whatever its first line looks like.")
    memory: str | None = option(
        None, "Count text of any size with temporary files, using at most this much memory, such as 2G."
    )
    temporary: Path | None = option(None, "Folder for temporary files; by default that of the system.")

    @property
    def limits(self) -> _Limits:
        """Which n-grams are kept."""
        return {"order": self.order, "cutoff": _cutoffs(self.cutoff), "all_bigrams": self.all_bigrams}


@app.command(no_args_is_help=True)
@command
def count(asked: Counting) -> None:
    """Count the n-grams of text; the output is a table, or a compact file if its name ends in .lg."""
    import latentgram
    from latentgram.cli.console import progress, reading, say
    from latentgram.data.ngrams.external import write_counts
    from latentgram.data.ngrams.tables import is_table, read_table
    from latentgram.data.tag_dictionary import read_specified
    from latentgram.sequences.counting import count_ngrams

    check_output(asked.output, asked.files, asked.dictionary)
    _refuse_idle_folder(asked.memory, asked.temporary)
    compact = str(asked.output).endswith(".lg")
    if asked.table or is_table(asked.files):
        counts = read_table(asked.files)
    elif not asked.alone:
        if asked.dictionary is not None or asked.memory is not None:
            name = "--memory" if asked.dictionary is None else "--dictionary"
            raise SettingError(f"{name} needs the whole text in one process: leave out --n-jobs and --cluster")
        with reading(asked.files), asked.engine() as engine:
            counts = count_ngrams(asked.files, engine=engine, **asked.limits)
    elif asked.memory is not None and asked.dictionary is None and not compact:
        with progress() as shown:
            sizes = write_counts(
                asked.files,
                asked.output,
                memory=asked.memory,
                temporary=asked.temporary,
                progress=shown,
                **asked.limits,
            )
        say(f"{sum(sizes):,} n-grams kept ({', '.join(f'{size:,}' for size in sizes)} by order)")
        return
    else:
        known = None if asked.dictionary is None else read_specified(asked.dictionary)
        with reading(asked.files if asked.memory is None else ()) as shown:
            counts = latentgram.NGramCounts.read(
                asked.files,
                dictionary=known,
                memory=asked.memory,
                temporary=asked.temporary,
                progress=shown,
                **asked.limits,
            )
    latentgram.save(counts, asked.output) if compact else counts.write(asked.output)
    _tell_repairs(counts.repairs)
    say(counts.summary())


@options
class Building(Workers):
    """What is asked of `latentgram ngram build`."""

    files: list[Path] = argument("Text or tables of n-grams, files or folders; stored counts (.lg); an ARPA file.")
    output: Output
    reading: Literal["exclusive", "epsilon", "failure"] | None = option(
        None, "How weights are computed from counts; by default exclusive (ARPA files, smoothed models: failure)."
    )
    smoothing: Smoothing | None = option(None, "Estimate a smoothed language model with this method.")
    order: int | None = option(None, "For text: length of the longest n-grams, by default 3.", min=1)
    cutoff: str | None = option(
        None, "Smoothed models: lowest count kept, for orders 3 and above, or one per order, such as 1,1,2."
    )
    entropy: float | None = option(
        None, "Smoothed models: prune n-grams whose removal raises the perplexity by less than this fraction."
    )
    memory: str | None = option(
        None, "Text to ARPA: use temporary files and at most this much memory, such as 2G."
    )
    temporary: Path | None = option(None, "Folder for temporary files; by default that of the system.")
    compact: int | None = option(
        None,
        "Write a compact file, with probabilities rounded to this many bits, such as 10.",
        min=2,
        max=16,
    )
    strict: bool = flag("--strict", "Refuse an ARPA file whose probabilities do not sum to one.")

    @property
    def estimates_arpa(self) -> bool:
        """Whether a language model goes from text straight to an ARPA file."""
        from latentgram.data.files import plain_suffix

        counted = any(plain_suffix(file) in (".lg", ".arpa") for file in self.files)
        plain = self.compact is None and not self.strict and self.smoothing is not None
        return plain and not counted and plain_suffix(self.output) == ".arpa"


@app.command(no_args_is_help=True)
@command
def build(asked: Building) -> None:
    """Build a back-off automaton or, with --smoothing, a language model; a name in .arpa gives an ARPA file."""
    import latentgram
    from latentgram.cli.console import progress, reading, say
    from latentgram.learn.reading import read_automaton

    check_output(asked.output, asked.files)
    _refuse_idle_folder(asked.memory, asked.temporary)
    if asked.memory is not None and not asked.alone:
        raise SettingError("--memory needs the whole text in one process: leave out --n-jobs and --cluster")
    least = None if asked.cutoff is None else _cutoffs(asked.cutoff)
    learner = latentgram.Counting(
        reading=asked.reading,
        smoothing=asked.smoothing,
        cutoff=tuple(least) if isinstance(least, list) else least,
        entropy=asked.entropy,
    )
    if asked.estimates_arpa:
        with progress() as shown, asked.engine() as engine:
            written = latentgram.write_language_model(
                asked.files,
                asked.output,
                by=learner,
                order=asked.order or 3,
                memory=asked.memory,
                temporary=asked.temporary,
                progress=shown,
                engine=engine,
            )
        _tell_repairs(written.repairs)
        say(written.summary())
        return
    with reading(asked.files) as shown, asked.engine() as engine:
        model = read_automaton(
            asked.files,
            learner,
            asked.strict,
            asked.order,
            memory=asked.memory,
            temporary=asked.temporary,
            progress=shown,
            engine=engine,
        )
    _write(model, asked.output, asked.compact)
    _tell_repairs(model.repairs)
    say(model.summary())


def _write(model: BackoffNGram, output: Path, bits: int | None = None) -> None:
    """Write a model as its name says: an ARPA file, or one of ours, packed if so many bits are asked for."""
    import latentgram
    from latentgram.data.files import plain_suffix
    from latentgram.sequences.compact import CompactNGram

    if plain_suffix(output) == ".arpa":
        if bits is not None:
            raise SettingError("--compact is for files of latentgram (.lg), not for ARPA files")
        model.to_arpa(output)
    else:
        latentgram.save(model if bits is None else CompactNGram.of(model, bits), output)


@app.command(no_args_is_help=True)
def mix(
    models: Annotated[list[Path], typer.Argument(help="Two or more smoothed models (.lg) or ARPA files.")],
    output: Output,
    heldout: Annotated[
        Path | None, typer.Option(help="Held-out text, to choose the weights that make it most likely.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Interpolation weights, such as 0.3,0.7; they are divided by their sum.")
    ] = None,
    n_jobs: NJobs = 1,
) -> None:
    """Interpolate language models, with given weights or with weights found by EM on held-out text."""
    import latentgram
    from latentgram.cli.console import reading, say

    check_output(output, models, heldout)
    if (heldout is None) == (weights is None):
        raise SettingError("a mixture needs either --heldout or --weights")
    with reading([*models, *([heldout] if heldout else [])]) as shown:
        mixture = latentgram.mix(*_weighted(models, heldout, weights, n_jobs), n_jobs=n_jobs, progress=shown)
    _write(mixture, output)
    say(mixture.summary())


def _weighted(
    models: list[Path], heldout: Path | None, weights: str | None, n_jobs: int
) -> tuple[list[BackoffNGram], list[float]]:
    """Models with their weights, by held-out text or as they are written."""
    from latentgram.cli.console import say
    from latentgram.data.text import Text
    from latentgram.learn.reading import read_automaton
    from latentgram.sequences.mixing import mixing_weights

    parts = [read_automaton([model]) for model in models]
    if heldout is None:
        try:
            return parts, [float(part) for part in (weights or "").split(",")]
        except ValueError:
            raise SettingError(f"--weights are numbers separated by commas, got {weights!r}") from None
    shares = mixing_weights(parts, Text.read(heldout), n_jobs=n_jobs).tolist()
    say("weights " + ", ".join(f"{share:.4f} {model}" for share, model in zip(shares, models, strict=True)))
    return parts, shares


@app.command(no_args_is_help=True)
def export(
    model: Annotated[Path, typer.Argument(help="An automaton (.lg) or an ARPA file.")],
    output: Output,
    to: Annotated[
        Literal["arpa", "openfst"], typer.Option(help="Output format; ARPA requires the failure reading.")
    ] = "arpa",
) -> None:
    """Write an automaton for other programs; OpenFst text comes with a symbol table in a second file (.syms).

    An HMM can be written for OpenFst, too, as a transducer from words to tags, and so can an operator automaton
    without negative numbers.
    """
    from latentgram.kinds.kind import kinds
    from latentgram.kinds.protocols import Exportable
    from latentgram.learn.reading import read_automaton
    from latentgram.store import load, read_header

    check_output(output, model)
    stored = kinds().get(read_header(model).kind) if to == "openfst" and model.suffix == ".lg" else None
    if stored is not None and issubclass(stored.model_class(), Exportable):
        cast("Exportable", load(model)).to_openfst(output)
        return
    automaton = read_automaton([model])
    if to == "arpa":
        automaton.to_arpa(output)
    else:
        automaton.to_openfst(output)
