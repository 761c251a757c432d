"""How long is the first parse after installing, and does it work where nothing can be written?

Set-up: the wheel is installed into an empty environment, whose files are then made read-only (for root, who may
write anyway, by a read-only mount); there is no home folder. Small models of every kind of parser are learned
beforehand by this environment. For each of them, processor time of `latentgram parse` on one sentence; and of
`latentgram demo`. Without --wheel the package is installed from its sources, so that everything is compiled in
that run. Bars: 3 s for a parse and 8 s for the demo from the wheel; 20 s and 40 s from the sources.

Conclusion: results/cold_start.csv.

    python benchmarks/bench_cold_start.py [--wheel dist/latentgram-….whl] [--venv FOLDER]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import latentgram as lg
from harness import write_rows
from latentgram.data.treebank import Treebank
from latentgram.kinds.kind import kinds
from latentgram.parser.pipeline import fit_parser
from latentgram.parser.trials import small_data, small_learner

RESULTS = Path(__file__).parent / "results" / "cold_start.csv"
ROOT = Path(__file__).parents[1]
BARS = {"wheel": (3.0, 8.0), "sources": (20.0, 40.0)}
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
"""What a shell does in a space of its own before it becomes the command; its name is the folder."""


def install(folder: Path, wheel: str | None) -> Path:
    """An environment that nobody may write to; gives its command."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel or str(ROOT)]
        subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["chmod", "-R", "a-w", folder / "lib"], check=True)
    return folder / "bin" / "latentgram"


def seconds(command: list[Path | str], work: Path) -> float:
    """Processor time of a command without a home, its temporary folder being empty."""
    temporary = work / "temporary"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o777)
    temporary.chmod(0o777)
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(temporary)}
    if hasattr(os, "getuid") and os.getuid() == 0:
        command = ["unshare", "-m", "sh", "-c", READ_ONLY, Path(command[0]).parents[1], *command]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), env=environment, cwd=temporary, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command} failed: {done.stderr.decode()[-500:]}")
    if message := done.stderr.decode().strip().splitlines():
        print(f"  ({message[0]})", file=sys.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--wheel", help="the wheel; else the sources")
    asked.add_argument("--venv", type=Path, help="a folder for the environment, which stays")
    options = asked.parse_args()
    first, demo = BARS["wheel" if options.wheel else "sources"]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        work.chmod(0o755)
        command = install(options.venv or work / "venv", options.wheel)
        (work / "sentence.txt").write_text("The man sees the boat.\n")
        rows = []
        for kind in kinds().values():
            if not kind.parser:
                continue
            learner = next(iter(kind.recipes))
            data = small_data(kind, kind.recipes[learner])
            assert isinstance(data, Treebank)
            tagger = lg.Gradient(passes=1) if kind.needs_tags else None
            parser = fit_parser(kind.model_class(), data, by=small_learner(kind, learner), tagger=tagger)
            lg.save(parser, work / "model.lg")
            took = seconds([command, "parse", work / "model.lg", work / "sentence.txt"], work)
            rows.append({"what": f"parse, {kind.name} by {learner}", "processor s": f"{took:.1f}", "bar": first})
            print(rows[-1])
        took = seconds([command, "demo", "--output", work / "temporary" / "demo"], work)
        rows.append({"what": "demo", "processor s": f"{took:.1f}", "bar": demo})
        print(rows[-1])
        subprocess.run(["chmod", "-R", "u+w", command.parents[1] / "lib"], check=True)
    write_rows(RESULTS, rows)
    if any(float(str(row["processor s"])) > float(str(row["bar"])) for row in rows):
        sys.exit("one of them is above its bar")


if __name__ == "__main__":
    main()
