"""`latentgram update`: an HMM updated with more sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from latentgram.cli.options import NJobs, check_output
from latentgram.errors import ModelFileError, a_or_an

if TYPE_CHECKING:
    from latentgram.kinds.protocols import Model


def update(
    model: Annotated[Path, typer.Argument(help="Model file of an HMM.")],
    files: Annotated[
        list[Path], typer.Argument(help="Text, one sentence per line, or tagged text as FILE[:COLUMN].")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write the model to.")],
    weight: Annotated[
        float | None,
        typer.Option(help="Weight of the old model, in sentences; by default as many as it has seen."),
    ] = None,
    n_jobs: NJobs = 1,
) -> None:
    """Update an HMM with more sentences, tagged (_ for an unknown tag) or not; the old ones are not needed."""
    import latentgram
    from latentgram.cli.console import reading, say
    from latentgram.data.tag_dictionary import split_specification
    from latentgram.kinds.kind import TEXT, find_kind, kinds, named
    from latentgram.learn.reading import read_text
    from latentgram.sequences.update import check_weight
    from latentgram.store import read_header

    check_output(output, files)
    before = latentgram.load(model)
    kind = find_kind(before)
    if kind is None or not kind.update or kind.reads != TEXT:
        able = " or ".join(each.name for each in kinds().values() if each.update and each.reads == TEXT)
        raise ModelFileError(f"{model} is {a_or_an(type(before).__name__)}; only {a_or_an(able)} can be updated")
    if weight is not None:
        check_weight(weight)
    with reading(split_specification(str(file))[0] for file in files) as shown:
        sentences = list(read_text(files, latentgram.EM(known_tags=True)))
        updated = cast("Callable[..., Model]", named(kind.update))
        after = updated(before, sentences, weight, n_jobs=n_jobs, progress=shown)
    latentgram.save(after, output, read_header(model).precision)
    say(after.summary())
