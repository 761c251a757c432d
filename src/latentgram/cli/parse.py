"""`latentgram parse MODEL.lg [FILE…]`: sentences in, trees out, in the same order."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from latentgram.cli.options import (
    EXACT,
    GOLD_TAGS,
    LIMIT_SECONDS,
    SKIP_BAD,
    TOKENISED,
    Inputs,
    Outputs,
    Workers,
    argument,
    check_output,
    command,
    flag,
    load_parser,
    option,
    options,
)
from latentgram.errors import MOST_LISTED, SettingError

if TYPE_CHECKING:
    from latentgram.data.files import Expected
    from latentgram.errors import DataError
    from latentgram.kinds.protocols import Decoder
    from latentgram.lpcfg.parse.pruning import Pruning
    from latentgram.parser.answers import Reading, Request, Tally
    from latentgram.parser.parser import Parser

Decoders = Literal[
    "viterbi",
    "goodman",
    "goodman-rules",
    "max-rule",
    "recall",
    "f1",
    "unlabelled-recall",
    "unlabelled-f1",
    "mbr",
    "mbr-sum",
]

Prunings = Literal["two-stage", "none"]

QUIET = 100
"""Progress of fewer sentences is not worth lines in a log."""


@options
class Parsing(Workers):
    """What is asked of `latentgram parse`."""

    model: Path = argument("Model file of a parser.")
    files: list[Path] | None = argument("Files to parse, one sentence per line; standard input if none.", None)
    format: Inputs | None = option(
        None, "Input format; by default guessed from the file name, and text on standard input."
    )
    to: Outputs | None = option(None, "Output format; by default brackets or CoNLL-U.")
    tokenised: bool = flag("--tokenised", TOKENISED)
    own_tags: bool = flag("--own-tags", "Ignore the tags of tagged text.")
    gold_tags: bool = flag("--gold-tags", GOLD_TAGS)
    probabilities: bool = flag("--probabilities", "Write the posterior of every node, arc and tag.")
    nbest: int | None = option(None, "Number of trees per sentence, best first.", min=1, max=MOST_LISTED)
    samples: int | None = option(None, "Number of trees sampled from the posterior.", min=1, max=MOST_LISTED)
    diverse: int | None = option(
        None, "Number of distinct trees among 100 samples, the most frequent first.", min=1, max=100
    )
    seed: int = option(0, "Seed of the samples.", min=0)
    constraints: Path | None = option(None, "Constraints on each sentence, as JSON lines (see above).")
    partial: bool = flag("--partial", "Square brackets in the text mark known phrases: The [NP old man ] …")
    decoder: Decoders | None = option(None, "Criterion for the best tree; the default depends on the model.")
    pruning: Prunings | None = option(
        None,
        "Pruning of constituency charts: in two stages (Cohen et al. 2013), or none.",
    )
    exact: bool = flag("--exact", EXACT)
    limit_seconds: float | None = option(None, LIMIT_SECONDS)
    skip_bad: bool = flag("--skip-bad", SKIP_BAD)
    output: Path | None = option(
        None, "Write to this file, which is created only when everything is done.", "--output", "-o"
    )
    resume: bool = flag("--resume", "Continue where an interrupted run with the same --output stopped.")

    @property
    def names(self) -> list[str]:
        """The input files."""
        return [os.fspath(file) for file in self.files or [Path("-")]]

    @property
    def kind(self) -> Inputs | None:
        """What the input is, where that is known."""
        return self.format or (None if self.files else "text")

    @property
    def reading(self) -> Reading:
        """How the input is read."""
        from latentgram.parser.answers import Reading

        tags = self.own_tags, self.gold_tags
        return Reading(self.kind, *tags, self.tokenised, self.partial, self.constraints)

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.partial and (self.constraints is not None or self.format not in (None, "text")):
            raise SettingError("--partial reads its constraints from plain text")
        if self.exact and self.pruning == "two-stage":
            raise SettingError("use either --exact, which prunes nothing, or --pruning two-stage")
        if self.resume and self.output is None:
            raise SettingError("--resume continues an output file: name it with --output")
        if self.resume and "-" in self.names:
            raise SettingError(
                "standard input cannot be read again from the beginning: --resume needs input files"
            )
        check_output(self.output, self.model, self.names, self.constraints)

    def identity(self, request: Request) -> dict[str, object]:
        """What the output depends on besides its input; how many workers there are is not among it."""
        import hashlib

        from latentgram import __version__

        with open(self.model, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        reading = {
            name: getattr(self, name)
            for name in (
                "kind",
                "partial",
                "tokenised",
                "own_tags",
                "gold_tags",
                "decoder",
                "pruning",
                "exact",
                "limit_seconds",
            )
        }
        more = {**dataclasses.asdict(request), **reading, "constraints": self.constraints is not None}
        return {"model": digest, "version of latentgram": __version__, **more}


@command
def parse(asked: Parsing) -> None:
    """Parse raw text, tagged text, CoNLL-U or the words of trees.

    CoNLL-U output keeps the comments, lemmas, features, multiword rows and MISC of CoNLL-U input.

    Text is split into sentences and words. A line that ends in a separate full stop is taken as one sentence that
    is already tokenised (and so is every line with --tokenised, --partial or --constraints).

    A sentence that the grammar cannot derive still gets a tree, and one that exceeds its --limit-seconds gets a
    coarse one; their numbers are reported at the end, and `--to json` marks each. With --nbest, --samples or
    --diverse an empty line follows the trees of each sentence, and `--to json` gives the probability of each.

    Grammars with hidden states prune the chart: log p(sentence) is a lower bound then, and posteriors are those
    among the trees that were left. `--to json` marks this by "pruned"; with --probabilities the number of such
    sentences is reported at the end. --exact prunes nothing.

    With --constraints, each line has those of one sentence: {"spans": [[0, 2, "NP"]], "tags": {"2": "VB"},
    "heads": {"1": 2}}, and forbidden_spans, forbidden_tags and forbidden_heads as lists. Spans and tags count
    words from 0, and a span excludes its end; heads count them from 1, with 0 as the root.

    With --output, results are written to FILE.part, which is renamed to FILE at the end. If the run is
    interrupted, the same command with --resume continues where it stopped, provided that the model, the settings
    and the input read so far have not changed.
    """
    from latentgram.cli.console import ensure_input, say

    asked.check()
    ensure_input(asked.files)
    parser = load_parser(asked.model, asked.limit_seconds)
    if asked.decoder is not None:
        parser = dataclasses.replace(parser, decoder=_decoder_named(asked.decoder))
        _ = parser.backend  # which refuses decoders of other trees before anything is written
    if asked.pruning is not None:
        parser = dataclasses.replace(parser, pruning=_pruning_named(asked.pruning))
    if asked.exact:
        parser = parser.exact
    bad: list[DataError] | None = [] if asked.skip_bad else None
    expected = _expectation(parser, asked)
    tally = _watched(_answered(parser, asked, expected, bad), expected, asked.output)
    if not tally.sentences:
        say("0 sentences")
    for remark in tally.remarks():
        say(remark)
    if left_out := tally.faults + len(bad or ()):
        say(f"malformed sentences skipped: {left_out}, the first: {bad[0] if bad else tally.first_fault}")


def _decoder_named(name: Decoders) -> Decoder:
    """The decoder of a name: the last two are for dependency trees, `viterbi` for both, the others for phrases."""
    import latentgram as lg

    decoders: dict[Decoders, Decoder] = {
        "viterbi": lg.Viterbi(),
        "goodman": lg.Goodman(),
        "goodman-rules": lg.Goodman(over="rules"),
        "max-rule": lg.MaxRule(),
        "recall": lg.Brackets("recall"),
        "f1": lg.Brackets("f1"),
        "unlabelled-recall": lg.Brackets("recall", labelled=False),
        "unlabelled-f1": lg.Brackets("f1", labelled=False),
        "mbr": lg.MBR(),
        "mbr-sum": lg.MBR("sum"),
    }
    return decoders[name]


def _pruning_named(name: Prunings) -> Pruning:
    """The pruning of a name."""
    import latentgram as lg

    return lg.Pruning.two_stage() if name == "two-stage" else lg.Pruning.none()


def _expectation(parser: Parser, asked: Parsing) -> Expected:
    """How many sentences there are, for the bar: counted beforehand where the input is short."""
    from latentgram.cli.console import console
    from latentgram.data.files import BLOCK_BYTES, Expected
    from latentgram.errors import LatentgramError

    expected = Expected()
    sizes = [os.path.getsize(name) for name in asked.names if os.path.isfile(name)]
    if console.is_terminal and len(sizes) == len(asked.names) and sum(sizes) <= 2 * BLOCK_BYTES:
        with suppress(LatentgramError):  # which the work itself will meet and report in its place
            expected.total = sum(1 for _ in asked.reading.questions(parser, asked.names, []))
    return expected


def _answered(parser: Parser, asked: Parsing, expected: Expected, bad: list[DataError] | None) -> Generator[Tally]:
    """Write answers to a file or to standard output, and tell how far it is."""
    from latentgram.parser.answers import Request, Tally, answers, write_answers

    reading = asked.reading
    with asked.engine() as engine:
        questions = expected.watch(reading.questions(parser, asked.names, bad), asked.names)
        request = Request(asked.to, asked.probabilities, asked.nbest, asked.samples, asked.diverse, asked.seed)
        if asked.output is not None:
            yield from write_answers(
                parser,
                questions,
                asked.output,
                asked.identity(request),
                request,
                resume=asked.resume,
                skip_faults=asked.skip_bad,
                engine=engine,
            )
            return
        tally = Tally()
        for batch in answers(parser, questions, request, skip_faults=asked.skip_bad, engine=engine):
            typer.echo(batch.text, nl=False)
            if batch.faults and not asked.skip_bad:
                raise batch.faults[0]
            tally += batch
            yield tally


def _watched(runs: Generator[Tally], expected: Expected, output: Path | None) -> Tally:
    """Run to the end while showing how far it is; if it is stopped, say how to go on."""
    from latentgram.cli.console import console, progress
    from latentgram.errors import DataError
    from latentgram.parser.answers import Tally

    tally = Tally()
    try:
        with progress() as shown, closing(runs):
            for tally in runs:
                if console.is_terminal or tally.sentences >= QUIET:
                    shown.step("parsing", tally.sentences, expected.total)
            if console.is_terminal or tally.sentences >= QUIET:
                shown.step("parsing", tally.sentences, tally.sentences)
    except BaseException as error:
        if output is not None and tally.sentences:
            done = f"{output}.part has the first {tally.sentences} sentences"
            error.add_note(f"{done}: --resume continues after them")
            if isinstance(error, DataError):
                error.add_note("correct the input first, or skip the sentence with --skip-bad")
        raise
    return tally
