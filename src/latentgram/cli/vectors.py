"""`latentgram vectors VECTORS.lg`: word vectors, or clusters made from them, as text for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from latentgram.latent_tree.word_vectors import WordVectors


def vectors(
    file: Annotated[Path, typer.Argument(help="File written by 'latentgram train vectors'.")],
    clusters: Annotated[
        int | None, typer.Option(min=1, help="Write word clusters with bit strings instead, at most this many.")
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; a dash is standard output.")] = "-",
) -> None:
    """Write word vectors as text: the numbers of words and dimensions, then one word per line with its vector.

    With --clusters, each line has the bit string of a word's cluster, the word and its frequency, separated by
    tabs, in the format of Brown clusters (Brown et al. 1992): words whose bit strings share a prefix are used
    similarly. 'latentgram train lpcfg --vectors FILE' reads such a file.
    """
    from latentgram import WordVectors, load
    from latentgram.cli.options import check_output
    from latentgram.data.files import write_text

    check_output(None if output == "-" else Path(output), file)
    space = load(file, WordVectors)
    lines = _numbers(space) if clusters is None else space.clusters(clusters).lines(space.count)
    with write_text(output) as out:
        out.writelines(f"{line}\n" for line in lines)


def _numbers(space: WordVectors) -> Iterator[str]:
    """The lines of vectors as text."""
    yield f"{len(space)} {space.vectors.shape[1]}"
    for word, vector in zip(space.words, space.vectors, strict=True):
        yield f"{word} {' '.join(f'{number:.6g}' for number in vector)}"
