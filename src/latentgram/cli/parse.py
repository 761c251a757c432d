"""`latentgram parse MODEL.lg [FILE…]`: sentences in, trees out, in the same order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from latentgram.cli.models import load_parser
from latentgram.cli.places import check_output
from latentgram.cli.workers import ClusterAddress, NJobs, engine_of

if TYPE_CHECKING:
    from latentgram.cli.console import Expected
    from latentgram.errors import DataError
    from latentgram.parser.answers import Question, Request
    from latentgram.parser.parser import Parser
    from latentgram.parser.resumable import Tally

Inputs = Literal["text", "tagged", "conllu", "brackets"]
Outputs = Literal["brackets", "conllu", "json", "outline"]
Decoders = Literal[
    "viterbi", "goodman", "max-rule", "recall", "f1", "unlabelled-recall", "unlabelled-f1", "mbr", "mbr-sum"
]

QUIET = 100
"""Progress of fewer sentences is not worth lines in a log."""


def parse(
    model: Annotated[Path, typer.Argument(help="Model file of a parser.")],
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files to parse, one sentence a line; standard input if none.")
    ] = None,
    format: Annotated[
        Inputs | None,
        typer.Option(help="What the input is; by default told by the name of a file, and text on standard input."),
    ] = None,
    to: Annotated[Outputs | None, typer.Option(help="Output format; by default brackets or CoNLL-U.")] = None,
    tokenised: Annotated[
        bool, typer.Option("--tokenised", help="Text is one sentence a line, tokens parted by blanks.")
    ] = False,
    own_tags: Annotated[bool, typer.Option("--own-tags", help="Ignore tags in the input.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the posterior of every node, arc and tag.")
    ] = False,
    nbest: Annotated[int | None, typer.Option(min=1, help="So many trees of each sentence, best first.")] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="So many trees drawn from the posterior.")] = None,
    diverse: Annotated[
        int | None, typer.Option(min=1, help="So many different trees among 100 draws, the commonest first.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    constraints: Annotated[
        Path | None, typer.Option(help="What is known of each sentence, as JSON lines (see `Constraints`).")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Square brackets in the text are known phrases: The [NP old man ] …")
    ] = False,
    decoder: Annotated[
        Decoders | None, typer.Option(help="What the best tree is; by default the model's.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave faulty sentences out, and count them.")
    ] = False,
    n_jobs: NJobs = 1,
    cluster: ClusterAddress = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write to this file, which is there when all is done, and not before."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an interrupted run with the same --output stopped.")
    ] = False,
) -> None:
    """Parse raw text, tagged text, CoNLL-U or the words of trees.

    What is CoNLL-U and comes out as CoNLL-U keeps its comments, lemmas, features, multiword rows and MISC.

    Text is cut into sentences and words, but for lines that end in a point standing alone: they are taken as
    sentences whose tokens are parted by blanks already (all lines are with --tokenised, --partial, --constraints).

    A sentence that the grammar cannot derive still gets a tree; how many did is said at the end. Lists and draws
    have an empty line after each sentence, and probabilities of whole trees in the JSON form.

    With --output, FILE.part grows and becomes FILE when all is done. If the run is interrupted, the same command
    with --resume goes on where it stopped, if model, settings and what was read so far are the same.
    """
    import dataclasses

    from latentgram.cli.console import ensure_input, say
    from latentgram.errors import SettingError
    from latentgram.parser.answers import Request
    from latentgram.parser.decoders import decoder_named

    request = Request(to, probabilities, nbest, samples, diverse, seed)
    if partial and (constraints is not None or format not in (None, "text")):
        raise SettingError("--partial reads its constraints from plain text")
    names = [os.fspath(file) for file in files or [Path("-")]]
    if resume and output is None:
        raise SettingError("--resume goes on with a file: name it by --output")
    if resume and "-" in names:
        raise SettingError("standard input cannot be read again from its beginning: --resume needs input files")
    check_output(output, model, names, constraints)
    ensure_input(len(files or []))
    parser = load_parser(model)
    if decoder is not None:
        parser = dataclasses.replace(parser, decoder=decoder_named(decoder))
    bad: list[DataError] | None = [] if skip_bad else None
    kind = format or (None if files else "text")
    reading = {"kind": kind, "partial": partial, "tokenised": tokenised, "own_tags": own_tags}
    expected = _expectation(parser, names, constraints, reading)
    retagged = _Retagged(parser)
    questions = expected.watch(retagged.watch(_questions(parser, names, constraints, reading, bad)), names)
    with engine_of(n_jobs, cluster) as engine:
        options: dict[str, Any] = {"skip_faults": skip_bad, "engine": engine}
        if output is None:
            runs = _printed(parser, questions, request, options)
        else:
            from latentgram.parser.resumable import write_answers

            identity = _identity(
                model, request, {**reading, "decoder": decoder, "constraints": constraints is not None}
            )
            runs = write_answers(parser, questions, output, identity, request, resume=resume, **options)
        tally = _watched(runs, expected, output)
    if not tally.sentences:
        say("0 sentences")
    if tally.fallbacks:
        say(f"sentences without a parse under the grammar, which got fallback trees: {tally.fallbacks}")
    if retagged.words:
        say(f"words with tags that the grammar does not know, which it tagged itself: {retagged.words}")
    if left_out := tally.faults + len(bad or ()):
        say(f"faulty sentences left out: {left_out}, the first: {bad[0] if bad else tally.first_fault}")


class _Retagged:
    """Counts the words whose tags a phrase-structure grammar does not know."""

    def __init__(self, parser: Parser) -> None:
        from latentgram.kinds.registry import kind_of

        self.known = frozenset() if kind_of(parser.model).needs_tags else parser.backend.tags
        self.words = 0

    def watch(self, questions: Iterator[Question]) -> Iterator[Question]:
        """The same questions, counted."""
        for question in questions:
            if self.known:
                self.words += sum(tag not in self.known for tag in question.sentence.tags or ())
            yield question


def _questions(
    parser: Parser,
    names: list[str],
    constraints: Path | None,
    reading: dict[str, Any],
    bad: list[DataError] | None,
) -> Iterator[Question]:
    """The sentences of the input, with what is known of them."""
    from latentgram.data.tokenise import Tokeniser
    from latentgram.parser.answers import read_partial, read_questions, with_constraints

    if reading["partial"]:
        return read_partial(names, bad=bad)
    cut = reading["tokenised"] or constraints is not None
    rules = None if cut else parser.tokeniser or Tokeniser()
    # Were a sentence left out here, the lines of the constraints would go with the wrong sentences.
    faults = None if constraints is not None else bad
    questions = read_questions(names, reading["kind"], own_tags=reading["own_tags"], bad=faults, tokeniser=rules)
    return questions if constraints is None else with_constraints(questions, constraints, bad=bad)


def _expectation(parser: Parser, names: list[str], constraints: Path | None, reading: dict[str, Any]) -> Expected:
    """How many sentences there are, for the bar: counted beforehand where the input is short."""
    from latentgram.cli.console import Expected, console
    from latentgram.data.files import BLOCK_BYTES
    from latentgram.errors import LatentgramError

    expected = Expected()
    sizes = [os.path.getsize(name) for name in names if os.path.isfile(name)]
    if console.is_terminal and len(sizes) == len(names) and sum(sizes) <= 2 * BLOCK_BYTES:
        with suppress(LatentgramError):  # which the work itself will meet and report in its place
            expected.total = sum(1 for _ in _questions(parser, names, constraints, reading, []))
    return expected


def _printed(
    parser: Parser, questions: Iterator[Question], request: Request, options: dict[str, Any]
) -> Iterator[Tally]:
    """Write answers to standard output."""
    from latentgram.parser.answers import answers
    from latentgram.parser.resumable import Tally

    tally = Tally()
    for batch in answers(parser, questions, request, **options):
        typer.echo(batch.text, nl=False)
        if batch.faults and not options["skip_faults"]:
            raise batch.faults[0]
        tally += batch
        yield tally


def _watched(runs: Iterator[Tally], expected: Expected, output: Path | None) -> Tally:
    """Run to the end while showing how far it is; if it is stopped, say how to go on."""
    from latentgram.cli.console import console, progress, say
    from latentgram.errors import DataError
    from latentgram.parser.resumable import Tally

    tally = Tally()
    try:
        with progress() as shown:
            for tally in runs:
                if console.is_terminal or tally.sentences >= QUIET:
                    shown.step("parsing", tally.sentences, expected.total)
            if console.is_terminal or tally.sentences >= QUIET:
                shown.step("parsing", tally.sentences, tally.sentences)
    except BaseException as error:
        if output is not None and tally.sentences:
            say(f"{output}.part has the first {tally.sentences} sentences: --resume goes on behind them")
            if isinstance(error, DataError):
                say("the fault may be mended before that, or passed over by --skip-bad")
        raise
    return tally


def _identity(model: Path, request: Request, reading: dict[str, Any]) -> dict[str, Any]:
    """What the output of a run depends on besides its input; how many workers there are is not among it."""
    import hashlib
    from dataclasses import asdict

    from latentgram import __version__

    with open(model, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"model": digest, "version of latentgram": __version__, **asdict(request), **reading}
