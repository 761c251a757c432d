"""Commands are run as those of tests/cli are."""

from cli.conftest import run

__all__ = ["run"]
