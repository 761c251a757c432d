"""`latentgram info MODEL.lg`: the contents of a model file and its provenance."""

from __future__ import annotations

import json as codec
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from latentgram.cli.tables import TableForm, write_table

if TYPE_CHECKING:
    from latentgram.arrays import Floats

LONGEST = 40
"""Words of the longest sentences that are summed over."""


def info(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    to: TableForm = None,
) -> None:
    """Describe a model file: kind, size, learner and settings, training data, arrays.

    It also says over what the model is a distribution (trees with their words, trees given the sentence, …), or
    that it is not one, like spectral models, and prints the sum over all sentences.

    With --to, print the table of its arrays.
    """
    from latentgram.store import read_header

    header = read_header(model)
    if to is not None:
        arrays = ((name, kind, "×".join(map(str, shape))) for name, (kind, shape) in header.arrays.items())
        write_table(("array", "type", "shape"), arrays, to)
        return
    if json:
        typer.echo(codec.dumps(header.to_json(), ensure_ascii=False, indent=2))
        return
    typer.echo(
        f"{header.kind}, {header.bytes / 1e6:.2f} MB, {header.precision} precision, format {header.format}, "
        f"latentgram {header.library}"
    )
    origin = header.provenance
    if origin is not None and origin.learner:
        settings = ", ".join(f"{name}={value}" for name, value in origin.fields.items())
        typer.echo(f"learned by {origin.learner}({settings}) in {origin.seconds:.1f} s")
        typer.echo(f"from {origin.data_size:,} sentences with digest {origin.data_digest[:16] or 'unknown'}")
    if probabilities := _probabilities(model, header.kind):
        typer.echo(probabilities)
    for name, (kind, shape) in header.arrays.items():
        typer.echo(f"  {name}  {kind}{list(shape)}")


def _probabilities(path: Path, name: str) -> str:
    """What the probabilities of a model are of; of one that is not a distribution what all sentences sum to, where
    that can be computed."""
    import latentgram
    from latentgram.errors import LatentgramError, SettingError
    from latentgram.kinds.kind import kinds, named
    from latentgram.kinds.protocols import Distribution

    kind = kinds().get(name)
    if name == "Parser" or (kind is not None and hasattr(kind.model_class(), "is_distribution")):
        try:
            stored = latentgram.load(path)
        except LatentgramError:
            return ""  # its header can be told, though it cannot be used
        model = stored.model if isinstance(stored, latentgram.Parser) else stored
        kind = kinds().get(type(model).__name__)
        if kind is not None and isinstance(model, Distribution) and not model.is_distribution:
            if kind.deviation:
                told = cast("Callable[[Distribution, int], str]", named(kind.deviation))(model, LONGEST)
                return f"not a distribution: {told}"
            if not kind.mass:
                return "not a distribution"
            try:
                mass = cast("Callable[[Distribution, int], Floats]", named(kind.mass))(model, LONGEST)
            except SettingError as reason:
                return f"not a distribution: {reason}"
            return f"not a distribution: all sentences of up to {LONGEST} words together have {mass.sum():.4g}"
    return f"a distribution over {kind.over}" if kind is not None and kind.over else ""
