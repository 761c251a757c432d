"""`latentgram ngram count|build|query|export`: n-gram counts and back-off automata."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from latentgram.cli.places import check_output
from latentgram.cli.workers import ClusterAddress, NJobs, engine_of

app = typer.Typer(help="Count n-grams, make back-off automata of them, and query these.", no_args_is_help=True)
Output = Annotated[Path, typer.Option("-o", "--output", help="File to write to.")]


def _tell_repairs(repairs: dict[str, int]) -> None:
    from latentgram.cli.console import say

    for what, times in repairs.items():
        say(f"mended: {what}: {times:,}")


@app.command(no_args_is_help=True)
def count(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files or folders, one sentence a line; or tables of n-grams (words, a tab, a count)."
        ),
    ],
    output: Output,
    order: Annotated[int, typer.Option(min=1, max=5, help="Length of the longest n-grams.")] = 3,
    cutoff: Annotated[
        str, typer.Option(help="Least count kept from order 3 on; or one for each order, as 1,1,3.")
    ] = "1",
    all_bigrams: Annotated[bool, typer.Option(help="Keep every bigram whatever the cut-off.")] = True,
    dictionary: Annotated[
        str | None, typer.Option(help="Count words of one tag as their tag: tagged FILE[:COLUMN[:LEAST]].")
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="The input is a table, whatever its first line looks like.")
    ] = False,
    n_jobs: NJobs = 1,
    cluster: ClusterAddress = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Count text of any size by way of files, a piece of so much memory at a time, as 2G."),
    ] = None,
    temporary: Annotated[Path | None, typer.Option(help="Folder for these files; else the system's.")] = None,
) -> None:
    """Count the n-grams of text. The output is a table, or with the ending .lg a compact file."""
    import latentgram
    from latentgram.cli.console import progress, say
    from latentgram.data.ngrams.external import write_counts
    from latentgram.data.ngrams.tables import is_table, read_table
    from latentgram.data.tag_dictionary import read_specified
    from latentgram.errors import SettingError
    from latentgram.sequences.ngram_counting import count_ngrams

    check_output(output, files, dictionary)
    if table or is_table(files):
        counts = read_table(files)
    else:
        parts = cutoff.split(",")
        if not all(part.strip().isdigit() for part in parts):
            raise SettingError(f"--cutoff is a number or numbers parted by commas, got {cutoff!r}")
        least = int(cutoff) if len(parts) == 1 else [int(part) for part in parts]
        options: dict[str, Any] = {"order": order, "cutoff": least, "all_bigrams": all_bigrams}
        alone = n_jobs == 1 and cluster is None
        if not alone and (dictionary is not None or memory is not None):
            name = "--memory" if dictionary is None else "--dictionary"
            raise SettingError(f"{name} needs the whole text in one place: leave out --n-jobs and --cluster")
        if not alone:
            with engine_of(n_jobs, cluster) as engine:
                counts = count_ngrams(files, engine=engine, **options)
        elif memory is not None and dictionary is None and not str(output).endswith(".lg"):
            with progress() as shown:
                sizes = write_counts(files, output, memory=memory, temporary=temporary, progress=shown, **options)
            say(f"{sum(sizes):,} n-grams kept ({', '.join(f'{size:,}' for size in sizes)} of orders 1 on)")
            return
        else:
            known = None if dictionary is None else read_specified(dictionary)
            with progress() as shown:
                counts = latentgram.NGramCounts.read(
                    files, dictionary=known, memory=memory, temporary=temporary, progress=shown, **options
                )
    if str(output).endswith(".lg"):
        latentgram.save(counts, output)
    else:
        counts.write(output)
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

    ensure_input(len(files or []))
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
