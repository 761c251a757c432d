"""`latentgram ngram count|build|query|export`: n-gram counts and back-off automata."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypedDict

import typer

from latentgram.cli.options import Workers, argument, check_output, command, flag, option, options
from latentgram.errors import SettingError

app = typer.Typer(help="Count n-grams, make back-off automata of them, and query these.", no_args_is_help=True)
Output = Annotated[Path, typer.Option("-o", "--output", help="File to write to.")]


def _tell_repairs(repairs: dict[str, int]) -> None:
    from latentgram.cli.console import say

    for what, times in repairs.items():
        say(f"mended: {what}: {times:,}")


class _Limits(TypedDict):
    order: int
    cutoff: int | list[int]
    all_bigrams: bool


@options
class Counting(Workers):
    """What is asked of `latentgram ngram count`."""

    files: list[Path] = argument(
        "Files or folders, one sentence a line; or tables of n-grams (words, a tab, a count)."
    )
    output: Output
    order: int = option(3, "Length of the longest n-grams.", min=1, max=5)
    cutoff: str = option("1", "Least count kept from order 3 on; or one for each order, as 1,1,3.")
    all_bigrams: bool = option(True, "Keep every bigram whatever the cut-off.")
    dictionary: str | None = option(None, "Count words of one tag as their tag: tagged FILE[:COLUMN[:LEAST]].")
    table: bool = flag("--table", "The input is a table, whatever its first line looks like.")
    memory: str | None = option(
        None, "Count text of any size by way of files, a piece of so much memory at a time, as 2G."
    )
    temporary: Path | None = option(None, "Folder for these files; else the system's.")

    @property
    def limits(self) -> _Limits:
        """Which n-grams are kept."""
        parts = self.cutoff.split(",")
        if not all(part.strip().isdigit() for part in parts):
            raise SettingError(f"--cutoff is a number or numbers parted by commas, got {self.cutoff!r}")
        least = int(self.cutoff) if len(parts) == 1 else [int(part) for part in parts]
        return {"order": self.order, "cutoff": least, "all_bigrams": self.all_bigrams}

    @property
    def alone(self) -> bool:
        """Whether this process counts by itself."""
        return self.n_jobs == 1 and self.cluster is None


@app.command(no_args_is_help=True)
@command
def count(asked: Counting) -> None:
    """Count the n-grams of text. The output is a table, or with the ending .lg a compact file."""
    import latentgram
    from latentgram.cli.console import progress, say
    from latentgram.data.ngrams.external import write_counts
    from latentgram.data.ngrams.tables import is_table, read_table
    from latentgram.data.tag_dictionary import read_specified
    from latentgram.sequences.counting import count_ngrams

    check_output(asked.output, asked.files, asked.dictionary)
    compact = str(asked.output).endswith(".lg")
    if asked.table or is_table(asked.files):
        counts = read_table(asked.files)
    elif not asked.alone:
        if asked.dictionary is not None or asked.memory is not None:
            name = "--memory" if asked.dictionary is None else "--dictionary"
            raise SettingError(f"{name} needs the whole text in one place: leave out --n-jobs and --cluster")
        with asked.engine() as engine:
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
        say(f"{sum(sizes):,} n-grams kept ({', '.join(f'{size:,}' for size in sizes)} of orders 1 on)")
        return
    else:
        known = None if asked.dictionary is None else read_specified(asked.dictionary)
        with progress() as shown:
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


@app.command(no_args_is_help=True)
def build(
    file: Annotated[Path, typer.Argument(help="Counts (.lg or table), an ARPA file, or text.")],
    output: Output,
    reading: Annotated[
        Literal["exclusive", "epsilon", "failure"] | None,
        typer.Option(help="How counts become weights; by default exclusive. ARPA files have the failure reading."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse an ARPA file whose probabilities do not sum to one.")
    ] = False,
) -> None:
    """Make a back-off automaton."""
    import latentgram
    from latentgram.cli.console import say
    from latentgram.learn.reading import read_automaton

    check_output(output, file)
    model = read_automaton([file], reading, strict)
    latentgram.save(model, output)
    _tell_repairs(model.repairs)
    say(model.summary())


@app.command(no_args_is_help=True)
def query(
    model: Annotated[Path, typer.Argument(help="An automaton (.lg) or an ARPA file.")],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Text, one sentence a line; else standard input.")
    ] = None,
) -> None:
    """Write log10 p and the number of unknown words of every sentence; the perplexity comes last, on stderr.

    Automata of bare counts give no probability to what they have not counted: how many sentences are impossible
    is said, and the perplexity of the others. To score new text take an ARPA file estimated with smoothing.
    """
    import numpy as np

    from latentgram.cli.console import ensure_input, say
    from latentgram.data.text import Text
    from latentgram.learn.reading import read_automaton

    ensure_input(files)
    automaton = read_automaton([model])
    text = Text.read(files or ["-"])
    if not len(text):
        say("0 sentences")
        return
    unknown = text.encoded_by(automaton.words) < 0
    counts = np.add.reduceat(unknown.astype(np.int64), text.start[:-1])
    logs = automaton.logprobs(text)
    for log, missing in zip(logs, counts, strict=True):
        typer.echo(f"{log / np.log(10):.5f}\t{missing}")
    known = np.exp(-automaton.word_logprobs(text)[1:][~unknown[1:]].mean())
    say(f"perplexity of known words {known:.2f}; {counts.sum():,} unknown of {text.size:,} words")
    possible = np.isfinite(logs)
    if not possible.all():
        tokens = np.diff(text.start)[possible].sum()
        rest = f"perplexity of the others {np.exp(-logs[possible].sum() / tokens):.2f}" if tokens else "no others"
        say(f"{(~possible).sum():,} of {len(text):,} sentences have probability 0; {rest}")


@app.command(no_args_is_help=True)
def export(
    model: Annotated[Path, typer.Argument(help="An automaton (.lg) or an ARPA file.")],
    output: Output,
    to: Annotated[Literal["arpa", "openfst"], typer.Option(help="ARPA needs the failure reading.")] = "arpa",
) -> None:
    """Write an automaton for other programs; OpenFst text comes with its table of symbols beside it (.syms)."""
    from latentgram.learn.reading import read_automaton

    check_output(output, model)
    automaton = read_automaton([model])
    if to == "arpa":
        automaton.to_arpa(output)
    else:
        automaton.to_openfst(output)
