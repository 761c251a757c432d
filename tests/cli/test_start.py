"""The command line starts before anything heavy is loaded."""

import subprocess
import sys


def test_help_loads_no_numbers() -> None:
    program = "import sys, latentgram.cli.main; print(*{'numpy', 'numba', 'distributed'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "\n"
