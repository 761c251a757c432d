"""The program `latentgram`, also as `python -m latentgram`: from its first moment signals end it cleanly."""

import os
import signal
import sys


def _leave(number: int, _: object) -> None:
    """End at once: nothing is begun that would have to be brought to an end."""
    os.write(2, b"latentgram: interrupted\n")
    os._exit(128 + number)


# What follows takes a moment to load, in which Python itself would answer Ctrl-C by a traceback.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(_number) is _usual:
        signal.signal(_number, _leave)

from latentgram.interrupt import obeying  # noqa: E402


def main() -> None:
    """Run the command line."""
    _open_closed_streams()
    with obeying(to_the_end=True):
        from latentgram.cli.main import main as run

        run()


def _open_closed_streams() -> None:
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


if __name__ == "__main__":
    main()
