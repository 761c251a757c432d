"""`latentgram warm-up`: compile all kernels now, not when they are first needed."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from latentgram.cli.options import NJobs
from latentgram.errors import SettingError

EXPECTED_ALL, EXPECTED_KIND = 300, 25
"""Seconds that compiling is likely to take, for all kinds of models and for one."""


def warm_up(
    kinds: Annotated[
        list[str] | None, typer.Argument(help="Kinds of models, named as in `latentgram train`; all if none.")
    ] = None,
    ship: Annotated[
        bool, typer.Option("--ship", help="Compile for any processor, into the package; used by `make build`.")
    ] = False,
    n_jobs: NJobs = 1,
) -> None:
    """Compile the kernels for learning and parsing ahead of time, for instance in a container image.

    Compiled code is stored next to the package, or in NUMBA_CACHE_DIR. If neither the package nor the home
    directory is writable, it is stored in a private folder under the system's temporary directory.
    """
    from latentgram.cli.console import say
    from latentgram.kernel_cache import compiling
    from latentgram.parser import trials

    if ship:
        _ship()
        return
    compiling.expected = EXPECTED_KIND * len(kinds) if kinds else EXPECTED_ALL
    started = time.monotonic()
    for name in trials.warm_up(kinds or (), n_jobs):
        say(f"{name}: ready after {time.monotonic() - started:.0f} s")


def _ship() -> None:
    """Do the same in a process of its own, which compiles for the common processor of a family."""
    import os
    import subprocess
    import sys
    import tempfile

    from latentgram.cli.console import say
    from latentgram.kernel_cache import finish_shipping, package_digest, shipping_environment

    package_digest()  # remembered, and compared at the end
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **shipping_environment(), "NUMBA_CACHE_DIR": cache}
        done = subprocess.run([sys.executable, "-m", "latentgram", "warm-up"], env=environment, check=False)
    if done.returncode:
        raise SettingError("nothing was added to the package: compiling the kernels failed")
    say(f"compiled code is in {finish_shipping()}")
