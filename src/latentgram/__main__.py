"""The program `latentgram`, also as `python -m latentgram`: from its first moment signals end it cleanly."""

from latentgram.cli.streams import open_closed_streams
from latentgram.interrupt import obeying


def main() -> None:
    """Run the command line."""
    open_closed_streams()
    with obeying(to_the_end=True):
        from latentgram.cli.main import main as run

        run()


if __name__ == "__main__":
    main()
