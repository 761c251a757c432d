"""The program `latentgram`, also as `python -m latentgram`: from its first moment signals end it cleanly."""

import os
import signal


def _leave(number: int, _: object) -> None:
    """End at once: nothing is begun that would have to be brought to an end."""
    os.write(2, b"latentgram: interrupted\n")
    os._exit(128 + number)


# What follows takes a moment to load, in which Python itself would answer Ctrl-C by a traceback.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(_number) is _usual:
        signal.signal(_number, _leave)

from latentgram.cli.streams import open_closed_streams  # noqa: E402
from latentgram.interrupt import obeying  # noqa: E402


def main() -> None:
    """Run the command line."""
    open_closed_streams()
    with obeying(to_the_end=True):
        from latentgram.cli.main import main as run

        run()


if __name__ == "__main__":
    main()
