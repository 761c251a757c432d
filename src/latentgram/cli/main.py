"""The command `latentgram`: puts the commands together and turns errors into one line and an exit status.

Exit status: 0, 1 for bad input (one line on standard error that names file and line), 2 for bad usage, 130 when
interrupted, 143 when asked to end (SIGTERM). The modules of commands import nothing heavy at the top, so that a
warm start stays short.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import Annotated, NoReturn

import typer

from latentgram import __version__
from latentgram.cli import data, ngram, reproduce, train
from latentgram.cli.bench import bench
from latentgram.cli.calibrate import calibrate
from latentgram.cli.demo import demo
from latentgram.cli.eval import evaluate
from latentgram.cli.info import info
from latentgram.cli.nbest import nbest, rerank
from latentgram.cli.parse import parse
from latentgram.cli.sample import sample
from latentgram.cli.score import score, suspects
from latentgram.cli.search import search
from latentgram.cli.serve import serve
from latentgram.cli.show import show
from latentgram.cli.tag import tag
from latentgram.cli.update import update
from latentgram.cli.warm_up import warm_up
from latentgram.errors import LatentgramError

app = typer.Typer(
    name="latentgram",
    help="Latent-variable grammars from treebanks, tagged text and n-gram counts, with exact probabilities.",
    epilog="A first look: 'latentgram demo'. Help on a command: 'latentgram COMMAND --help'.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
)
app.add_typer(train.app, name="train")
app.add_typer(data.app, name="data")
app.add_typer(ngram.app, name="ngram")
app.add_typer(reproduce.app, name="reproduce")
for _function in (
    parse,
    nbest,
    rerank,
    tag,
    update,
    evaluate,
    calibrate,
    score,
    sample,
    suspects,
    search,
    show,
    info,
    serve,
    bench,
):
    app.command("eval" if _function is evaluate else None, no_args_is_help=True)(_function)
app.command()(demo)
app.command()(warm_up)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"latentgram {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version
    _show_log()


def _show_log() -> None:
    """Messages of the package's logger are lines on standard error."""
    from latentgram.cli.console import say

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage())

    logger = logging.getLogger("latentgram")
    logger.setLevel(logging.INFO)
    logger.handlers = [Lines()]


def _fail(message: str, status: int = 1) -> NoReturn:
    print(f"latentgram: {message}", file=sys.stderr)
    sys.exit(status)


def main() -> None:
    """Run the command line."""
    asked_to_end = []

    def end(number: int, _: object) -> NoReturn:
        """Do on SIGTERM what is done on Ctrl-C: end the workers, take temporary files away, mark what is done."""
        asked_to_end.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        _run()
    except SystemExit as left:
        if asked_to_end and left.code == 130:
            sys.exit(143)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _run() -> None:
    try:
        app()
    except SystemExit as left:
        if left.code == 130:  # what typer makes of Ctrl-C, without a word
            _fail("interrupted", 130)
        raise
    except (Exception, KeyboardInterrupt) as error:
        if _interrupted(error):
            _fail("interrupted", 130)
        _report(error)
        raise


def _interrupted(error: BaseException | None) -> bool:
    """Whether an error is, or comes of, an interrupt: compiled code and imports make other errors of it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _report(error: BaseException) -> None:
    """End with the sentence of an error that has one."""
    if isinstance(error, LatentgramError):
        _fail(str(error))
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    if isinstance(error, MemoryError):
        _fail(f"out of memory: {str(error).strip() or 'too much was asked for'}")
    if isinstance(error, OSError):
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
