"""The command `latentgram`: collects the commands and turns errors into one line and an exit status.

Exit status: 0, 1 for bad input (one line on standard error that names file and line), 2 for bad usage, 130 when
interrupted, 143 after SIGTERM. The modules of commands import nothing heavy at the top, so that a warm start is
fast.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from latentgram import __version__
from latentgram.cli import data, ngram, reproduce, train
from latentgram.cli.bench import bench
from latentgram.cli.calibrate import calibrate
from latentgram.cli.demo import demo
from latentgram.cli.eval import evaluate
from latentgram.cli.info import info
from latentgram.cli.nbest import nbest, rerank
from latentgram.cli.options import MARKUP
from latentgram.cli.parse import parse
from latentgram.cli.sample import sample
from latentgram.cli.score import score
from latentgram.cli.search import search
from latentgram.cli.serve import serve
from latentgram.cli.show import show
from latentgram.cli.suspects import suspects
from latentgram.cli.tag import tag
from latentgram.cli.update import update
from latentgram.cli.vectors import vectors
from latentgram.cli.warm_up import warm_up
from latentgram.errors import LatentgramError
from latentgram.interrupt import obeying, pause, status

TRACEBACK = "LATENTGRAM_TRACEBACK"
"""The environment variable that lets errors of the program itself be seen whole."""


_NO_OUTPUT = {errno.EBADF, errno.ENOSPC, errno.EFBIG, errno.EIO}
"""What happens to writing where no file is named: to standard output, which is closed or full."""
_ESCAPED = {ord(sign): ascii(sign)[1:-1] for sign in map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029))}
"""What would break a line of error, or draw on a terminal, as names of files may hold it."""


class _BadUsage(Exception):
    """What typer has to say of a command line, as one line."""


@contextmanager
def _usage_as_a_line() -> Iterator[None]:
    """Turn typer's errors, which it draws in boxes, into one line; help where nothing was asked stays as it is."""
    try:
        yield
    except Exception as error:
        describe = getattr(error, "format_message", None)  # their classes have had several names
        message = " ".join(describe().split()) if callable(describe) else ""
        if not message or type(error).__name__ == "NoArgsIsHelpError":
            raise
        at = getattr(getattr(error, "ctx", None), "command_path", "latentgram")
        raise _BadUsage(f"{message[:300]} (see '{at} --help')") from None


class _Commands(TyperGroup):
    """The commands, with one line for bad usage; typer's contexts are of a class that is its own affair."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the command line up to the name of the command."""
        with _usage_as_a_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Read the rest and run it."""
        with _usage_as_a_line():
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Commands,
    name="latentgram",
    help="Latent-variable grammars from treebanks, tagged text and n-gram counts, with exact probabilities.",
    epilog="A first look: 'latentgram demo'. Help on a command: 'latentgram COMMAND --help'.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=MARKUP,
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
    vectors,
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
    logger = logging.getLogger("latentgram")
    logger.setLevel(logging.INFO)
    logger.handlers = [_LogLines()]


class _LogLines(logging.Handler):
    """Messages of the package's logger as lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say one; what draws on a terminal is loaded for it, and not at every start."""
        from latentgram.cli.console import console, say

        if console.is_terminal or not getattr(record, "passing", False):  # what passes is for people who wait
            say(record.getMessage())


@obeying()
def main() -> None:
    """Run the command line."""
    try:
        try:
            with _warnings_as_lines():
                app()
        except SystemExit as left:
            if left.code == 130:  # what typer makes of Ctrl-C, without a word
                _fail("interrupted", left, status())
            if isinstance(left.__context__, OSError):  # and of an output that nobody reads
                raise left.__context__ from None
            pause()  # the page ends by a signal, and not by an error
            _flush_output()
            raise
    except (Exception, KeyboardInterrupt) as error:
        if _interrupted(error):
            _fail("interrupted", error, status())
        _report(error)


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Let each warning be one line like any other; some of numba's go on with a traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: print(
            f"latentgram: {str(message).partition(chr(10))[0]}", file=sys.stderr
        )
        yield


def _interrupted(error: BaseException) -> bool:
    """Whether an error is, or comes of, an interrupt: compiled code and imports make other errors of it."""
    return any(isinstance(each, KeyboardInterrupt) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it comes of."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _report(error: BaseException) -> NoReturn:
    """End with the sentence of an error; one that has none is a defect, whose traceback is shown on demand."""
    if isinstance(error, LatentgramError):
        _fail(str(error), error)
    if isinstance(error, _BadUsage):
        _fail(str(error), error, 2)
    if isinstance(error, BrokenPipeError):
        _give_up_output()
        sys.exit(0)  # who closed the pipe has what it wanted
    if isinstance(error, MemoryError):
        _fail(f"out of memory: {str(error).strip() or 'the request is too large'}", error)
    if isinstance(error, OverflowError):
        _fail(f"a number is too large here: {error}", error)
    if isinstance(error, UnicodeEncodeError):  # of a terminal, or of halves of characters in a forged model
        _give_up_output()
        _fail(f"-: {error.object[error.start]!a} cannot be written in the encoding {error.encoding}", error)
    if isinstance(error, OSError):
        _give_up_output()
        if error.errno in _NO_OUTPUT and not error.filename:
            _fail(f"-: the output cannot be written ({error.strerror})", error)
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error), error)
    if os.environ.get(TRACEBACK):
        raise error
    told = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    _fail(f"unexpected {told} (a defect of latentgram; please report it with what {TRACEBACK}=1 shows)", error)


def _fail(message: str, error: BaseException, code: int = 1) -> NoReturn:
    """End with one line: the message, and what was noted of the work that the error broke off."""
    notes = [note for each in _causes(error) for note in getattr(each, "__notes__", ()) if "\n" not in note]
    told = "; ".join([f"latentgram: {message}", *notes])
    print(told.translate(_ESCAPED), file=sys.stderr)
    sys.exit(code)


def _flush_output() -> None:
    """Write out what is left, so that a full disk is noticed while something can be said of it."""
    if not sys.stdout.closed:
        sys.stdout.flush()


def _give_up_output() -> None:
    """Send what is left nowhere: nobody reads it, or it cannot be written."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
