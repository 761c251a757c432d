"""The command line starts before anything heavy is loaded."""

import subprocess
import sys


def test_help_loads_no_numbers() -> None:
    program = "import sys, latentgram.cli.main; print(*{'numpy', 'numba', 'distributed'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "\n"


def test_subcommands_of_train_are_made_when_asked_for() -> None:
    program = (
        "import typer; from latentgram.cli import main, train; group = typer.main.get_command(main.app); "
        "print(train._commands.cache_info().currsize, 'lpcfg' in group.commands['train'].commands)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "0 True\n"
