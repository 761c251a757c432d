"""The standard streams as a shell may leave them: closed, full, or with nobody at the other end."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def open_closed_streams() -> None:
    """Put something in the place of standard streams that are closed, so that no file is opened in their stead.

    Reading the one and writing the other then fails as it should, where a command tries; messages go nowhere.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        # Opened the wrong way round, input and output refuse to be used.
        taken = os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_WRONLY)
        if taken != number:
            os.dup2(taken, number)
            os.close(taken)
        setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115


def flush_output() -> None:
    """Write out what is left, so that a full disk is noticed while something can be said of it."""
    if not sys.stdout.closed:
        sys.stdout.flush()


def give_up_output() -> None:
    """Send what is left nowhere: nobody reads it, or it cannot be written."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
