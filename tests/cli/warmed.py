"""Run after `warm-up` of one kind of model: prints the kernels that commands still have to compile."""

from __future__ import annotations

import sys
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from latentgram.cli.main import main
from latentgram.parser.trials import warm_up


def compiled() -> set[str]:
    """Every function of the package with each signature it is compiled for."""
    modules = [module for name, module in sys.modules.items() if name.startswith("latentgram.")]
    functions = {id(value): value for module in modules for value in vars(module).values()}
    kernels = [value for value in functions.values() if isinstance(value, Dispatcher)]
    return {
        f"{kernel.py_func.__module__}.{kernel.__name__} {each}" for kernel in kernels for each in kernel.signatures
    }


def run(*arguments: object) -> None:
    sys.argv = ["latentgram", *map(str, arguments)]
    try:
        main()
    except SystemExit as left:
        if left.code:
            raise


if __name__ == "__main__":
    kind, folder = sys.argv[1], Path(sys.argv[2])
    ending = "conllu" if kind == "arcs" else "mrg"
    list(warm_up([kind]))
    before = compiled()
    run("data", "demo", folder / f"trees.{ending}", "-n", 60)
    small = ["--passes", 1, "--bits", 14] if kind == "arcs" else ["--states", 8]
    run("train", kind, folder / f"trees.{ending}", "-o", folder / "model.lg", *small)
    (folder / "text.txt").write_text("The man sees the boat.\n")
    run("parse", folder / "model.lg", folder / "text.txt", "-o", folder / "out.txt", "--probabilities")
    run("eval", folder / "model.lg", folder / f"trees.{ending}")
    for line in sorted(compiled() - before):
        print("compiled:", line, file=sys.stderr)
