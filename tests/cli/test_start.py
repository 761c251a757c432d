"""The command line starts before anything heavy is loaded."""

import re
import subprocess
import sys


def test_help_loads_no_numbers() -> None:
    program = "import sys, latentgram.cli.main; print(*{'numpy', 'numba', 'distributed'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "\n"


def test_subcommands_of_train_are_made_when_asked_for() -> None:
    program = (
        "import typer; from latentgram.cli import main, train; group = typer.main.get_command(main.app); "
        "print(train._commands.cache_info().currsize, 'lpcfg' in group.commands['train'].list_commands(None))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "0 True\n"


def test_the_help_of_train_says_defaults_and_only_what_the_kind_takes(run) -> None:
    """Notes in square brackets are no markup of the terminal, and other kinds' values are not offered."""
    texts = (run("train", kind, "--help").out for kind in ("lpcfg", "shag", "latent-tree"))
    lpcfg, shag, tree = (" ".join(re.sub("│", " ", text).split()) for text in texts)
    assert "[clustering, spectral, em: 16]" in lpcfg
    assert "[default: left]" in lpcfg
    assert "forms" in tree
    assert "forms" not in shag
    assert "NUMBER|auto" in tree
    assert "NUMBER|auto" not in shag
    assert "vectors --clusters" in shag
    assert "vectors --clusters" not in tree
