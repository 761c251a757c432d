"""`latentgram reproduce PAPER --data DIR --output DIR`: the tables and figures of the papers, one command each.

A run leaves results.json, results.md and its plots in the output folder. Figures on test data are computed only
with `--test`, meant to be used once, at the end.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latentgram.cli.options import NJobs, command, flag, option, options
from latentgram.data.files import whole_number
from latentgram.errors import SettingError

if TYPE_CHECKING:
    from latentgram.data.word_clusters import WordClusters
    from latentgram.latent_tree.word_vectors import WordVectors
    from latentgram.progress import Progress
    from latentgram.reproduce.experiment import Results

app = typer.Typer(help="Reproduce the tables and figures of a paper.", no_args_is_help=True)
Data = Annotated[Path, typer.Option(help="Folder of the corpora.", envvar="LATENTGRAM_DATA")]
Output = Annotated[Path, typer.Option(help="Folder for results.json, results.md and the plots.")]
Vectors = Annotated[
    str | None,
    typer.Option(help="Word vectors from raw text ('latentgram train vectors'), or a file of word clusters."),
]
Test = Annotated[bool, typer.Option("--test", help="Score on the test part as well: once, at the end.")]


@app.command(no_args_is_help=True)
def smith2012(
    data: Data,
    output: Output,
    text: Annotated[
        Path | None,
        typer.Option(
            help="More text, one sentence per line; without it the larger corpora are sampled from a model."
        ),
    ] = None,
    sizes: Annotated[str, typer.Option(help="Corpus sizes as multiples of the Brown corpus.")] = "1,5,20",
    iterations: Annotated[int, typer.Option(min=1, help="Rounds of each learner.")] = 20,
    test: Test = False,
    n_jobs: NJobs = 1,
) -> None:
    """Smith and Eisner 2012: EM and n-gram EM compared: accuracy, likelihood, CPU time, seconds per round.

    With several workers, learners run side by side. Their CPU times are then a little longer than one after the
    other, because they share caches and memory.
    """
    from latentgram.reproduce.smith2012 import reproduce

    multiples = _numbers("--sizes", sizes)
    _run(output, lambda shown: reproduce(data, text, multiples, iterations, test, shown, n_jobs=n_jobs))


@app.command(no_args_is_help=True)
def luque2012(
    data: Data,
    output: Output,
    treebank: Annotated[str, typer.Option(help="Folder in DATA/dependency.")] = "wsj-sample",
    vectors: Vectors = None,
    test: Test = False,
    n_jobs: NJobs = 1,
) -> None:
    """Luque et al. 2012: head automata by counting, spectral learning and EM: accuracy by states, words, times.

    With --vectors there are rows for head automata whose symbols know clusters of words.
    """
    from latentgram.reproduce.luque2012 import reproduce

    folder, space = data / "dependency" / treebank, _vectors(vectors)
    _run(output, lambda shown: reproduce(folder, test, shown, vectors=space, n_jobs=n_jobs))


@app.command(no_args_is_help=True)
def cohen2012(
    output: Output,
    trees: Annotated[
        str, typer.Option(help="Numbers of trees to learn from, separated by commas.")
    ] = "1000,4000,16000,64000",
    states: Annotated[str, typer.Option(help="Numbers of hidden states, separated by commas.")] = "2,3,4",
    draws: Annotated[int, typer.Option(min=1, help="Random grammars for each setting.")] = 3,
    n_jobs: NJobs = 1,
) -> None:
    """Cohen et al. 2012: theorem 3 on known grammars: error as a function of trees, singular values and states."""
    from latentgram.reproduce.cohen2012 import reproduce

    sizes, counts = _numbers("--trees", trees), _numbers("--states", states)
    _run(output, lambda shown: reproduce(sizes, counts, draws, shown, n_jobs=n_jobs))


@app.command(no_args_is_help=True)
def cohen2013(
    data: Data,
    output: Output,
    treebank: Annotated[str, typer.Option(help="Folder in DATA/constituency.")] = "wsj-sample",
    states: Annotated[str, typer.Option(help="Numbers of hidden states, separated by commas.")] = "8,16,24,32",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of EM.")] = 50,
    every: Annotated[int, typer.Option(min=1, help="Rounds of EM between two scores.")] = 10,
    many: Annotated[
        int, typer.Option(min=1, help="Hidden states of the low-rank grammar (rules as sums of products).")
    ] = 32,
    vectors: Vectors = None,
    test: Test = False,
    n_jobs: NJobs = 1,
) -> None:
    """Cohen et al. 2013: L-PCFGs by spectral learning and EM: accuracy, times, and ablations.

    With --vectors there are rows for grammars that have clusters of words among their features.
    """
    from latentgram.reproduce.cohen2013 import reproduce

    sizes, space = _numbers("--states", states), _vectors(vectors)
    folder = data / "constituency" / treebank
    work = partial(reproduce, folder, sizes, rounds, every, test, many=many, vectors=space, n_jobs=n_jobs)
    _run(output, lambda shown: work(progress=shown))


@options
class Reranking:
    """What the reproduction of Dhillon et al. (2012) is asked for."""

    data: Data
    output: Output
    treebanks: str = option("wsj-sample,en_ewt", "Folders under DATA/dependency, separated by commas.")
    orders: str = option("1,2", "Orders of the base parser, separated by commas.")
    count: int = option(50, "Number of trees per n-best list.", min=2)
    folds: int = option(3, "Number of parts for jackknifing.", min=2)
    best: int = option(1, "Rival trees per step in the base parser's k-best MIRA.", min=1)
    tags: int = option(0, "Predicted tags, jackknifed in this many parts (the paper: 10); 0: gold tags.", min=0)
    vectors: str | None = option(None, "Word vectors from raw text: a file written by 'latentgram train vectors'.")
    printed: bool = flag(
        "--printed", "Only the rows of the paper, on sentences without punctuation, as in the paper."
    )
    test: Test = False
    n_jobs: NJobs = 1


@app.command(no_args_is_help=True)
@command
def dhillon2012(asked: Reranking) -> None:
    """Dhillon et al. 2012: n-best dependency trees reranked with log-probabilities of latent-variable models."""
    from latentgram.reproduce.dhillon2012 import Setup, reproduce

    wanted = _numbers("--orders", asked.orders, most=2)
    if asked.tags == 1:
        raise SettingError("--tags is a number of parts, at least 2, or 0 for gold tags; got 1")
    folders = [asked.data / "dependency" / name for name in asked.treebanks.split(",")]
    setup = Setup(asked.count, asked.folds, asked.best, asked.tags, _vectors(asked.vectors), asked.printed)
    _run(asked.output, lambda shown: reproduce(folders, wanted, setup, asked.test, shown, n_jobs=asked.n_jobs))


def _vectors(path: str | None) -> WordVectors | WordClusters | None:
    """The word vectors or clusters of a file, if one is given."""
    from latentgram.learn.reading import read_vectors

    return None if path is None else read_vectors(path)


def _run(output: Path, work: Callable[[Progress], Results]) -> None:
    """Run an experiment and write what it found."""
    from latentgram.cli.console import progress, say
    from latentgram.data.files import write_text

    with progress() as shown:
        figures, page, plots = work(shown)
    files = {"results.json": json.dumps(figures, indent=1) + "\n", "results.md": page, **plots}
    for name, content in files.items():
        with write_text(output / name) as out:
            out.write(content)
    typer.echo(page)
    say(f"wrote {', '.join(sorted(files))} to {output}")


def _numbers(option: str, text: str, most: int | None = None) -> list[int]:
    """The whole numbers of a list with commas.

    >>> _numbers("--sizes", "1, 20")
    [1, 20]
    """
    numbers = [whole_number(part.strip()) for part in text.split(",")]
    chosen = [number for number in numbers if number is not None and 1 <= number <= (most or number)]
    if len(chosen) == len(numbers):
        return chosen
    bounds = "of at least 1" if most is None else f"from 1 to {most}"
    raise SettingError(f"{option} takes integers {bounds}, separated by commas, such as 1,2; got {text[:80]!r}")
