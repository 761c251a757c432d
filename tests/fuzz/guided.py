"""Readers, fed by a fuzzer that keeps what takes a new way through them.

    python -m pip install -r requirements/fuzz.txt
    PYTHONPATH=tests python tests/fuzz/guided.py [a.conllu …] [--seconds 60]

libFuzzer (through atheris) begins with the good files of test_readers.py and its odd words and changes them, with
all of the package that is not compiled watched for lines not seen before. Each reader has a process of its own and
so many seconds. What is read must be read, or refused in one sentence; an input that is not is kept and named.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src"
LONGEST, MEGABYTES, PATIENCE = 4096, 4096, 60
"""Bytes of an input, megabytes of memory, and seconds for one input."""


def compiled_modules() -> list[str]:
    """The modules with functions that numba compiles, which must stay as they are."""
    files = (SOURCES / "latentgram").rglob("*.py")
    names = [file for file in files if "njit" in file.read_text("utf-8")]
    return [".".join(file.relative_to(SOURCES).with_suffix("").parts) for file in names]


def fuzz(name: str, seconds: int, place: Path) -> None:
    """In a process of its own: try one reader; this does not return."""
    import atheris

    with atheris.instrument_imports(include=["latentgram"], exclude=compiled_modules()):
        from fuzz.test_readers import GOOD, TOKENS, tried

        tried(name, GOOD[name], place)  # what is imported when it is needed is watched, too
    seeds = place / "seeds"
    seeds.mkdir()
    (seeds / "good").write_bytes(GOOD[name])
    quoted = ("".join(f"\\x{byte:02x}" for byte in token.encode()) for token in TOKENS)
    (place / "words").write_text("".join(f'"{token}"\n' for token in quoted))
    options = {"max_total_time": seconds, "max_len": LONGEST, "rss_limit_mb": MEGABYTES, "timeout": PATIENCE}
    words = [f"-{option}={value}" for option, value in options.items()]
    kept = [f"-artifact_prefix={TESTS}/fuzz/{name}-", f"-dict={place / 'words'}"]
    atheris.Setup([sys.argv[0], *words, *kept, str(seeds)], lambda content: tried(name, content, place))
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:  # before anything of the package is imported
        with tempfile.TemporaryDirectory() as folder:
            fuzz(asked.work, asked.seconds, Path(folder))
    from fuzz.test_readers import GOOD

    failed = False
    for name in asked.readers or GOOD:
        command = [sys.executable, __file__, "--work", name, "--seconds", str(asked.seconds)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        runs, places = re.findall(r"Done (\d+) runs", done.stderr), re.findall(r"cov: (\d+)", done.stderr)
        print(f"{name}: {runs[-1] if runs else 'not all'} inputs, {places[-1] if places else 0} places reached")
        if done.returncode:
            failed = True
            print(done.stderr[-3000:])
    sys.exit(failed)


if __name__ == "__main__":
    main()
