"""`latentgram bench MODEL.lg FILE…`: the speed of a model on given sentences, and the memory it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentgram.cli.options import Format, cutter_of
from latentgram.cli.tables import TableForm, write_figures


def bench(
    model: Annotated[Path, typer.Argument(help="Model file of a parser, a tagger or an HMM.")],
    files: Annotated[list[Path], typer.Argument(help="Sentences: text, tagged text, CoNLL-U or trees.")],
    format: Format = None,
    own_tags: Annotated[bool, typer.Option("--own-tags", help="Ignore tags in the input.")] = False,
    repeats: Annotated[int, typer.Option(min=1, help="How many times all sentences are parsed or tagged.")] = 3,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Number of sentences timed together; by default at most 64.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    to: TableForm = None,
) -> None:
    """Measure the memory of a model and its speed on one core, after a warm-up, with a confidence interval."""
    import latentgram
    from latentgram.cli.console import progress
    from latentgram.errors import ModelFileError, a_or_an
    from latentgram.kinds.protocols import SentenceTagger
    from latentgram.parser.speed import measure_speed

    stored = latentgram.load(model)
    if not isinstance(stored, latentgram.Parser | SentenceTagger):
        raise ModelFileError(f"{model} contains {a_or_an(type(stored).__name__)}, not a parser or a tagger")
    sentences = latentgram.Treebank.stream_sentences(files, format, tokeniser=cutter_of(stored))
    if own_tags:
        sentences = (sentence.without_tags() for sentence in sentences)
    with progress() as shown:
        speed = measure_speed(stored, sentences, repeats=repeats, batch=batch, progress=shown)
    write_figures(speed.to_json(), to, json, lambda: str(speed))
