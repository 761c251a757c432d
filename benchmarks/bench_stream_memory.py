"""Does the memory that parsing takes grow with the length of the file?

Set-up: `latentgram parse` of files of 10,000, 100,000 and 1,000,000 sentences of three to six words with a small
PCFG of the demo treebank, written to a file, by one and by two workers. Every tenth sentence has a word that no
other has, so that whatever remembers words is found out. Peak resident memory, of the process and of the largest
of its workers, is what the system (Linux) says when the work is done; order is checked by the words of the output.

Conclusion (results/stream_memory.csv): a file a hundred times as long takes 18 MB more with one worker (214 and
232 MB) and 9 MB more in each process with two; the tables of words seen, which have a fixed size and fill up, are
the probable reason. Holding the text alone would take 29 MB, its trees many times that. Order is kept.

    python benchmarks/bench_stream_memory.py [SENTENCES…]
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import latentgram as lg
from harness import explain, write_rows

RESULTS = Path(__file__).parent / "results" / "stream_memory.csv"
SIZES = (10_000, 100_000, 1_000_000)
PROGRAM = """
import os, sys
from pathlib import Path
from latentgram.cli.main import main
try:
    main()
finally:
    peaks = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == os.getsid(0):
                [peak] = [line for line in open(folder / "status") if line.startswith("VmHWM")]
                peaks[int(folder.name)] = int(peak.split()[1]) / 1024
        except (OSError, ValueError):
            pass  # a process that has ended meanwhile, or one of the system's own
    print(peaks.pop(os.getpid()), max(peaks.values(), default=0), file=sys.stderr)
"""


def write_sentences(path: Path, number: int) -> None:
    """Short sentences, all made of the words of the demo treebank but for every tenth."""
    draw = random.Random(number)
    words = sorted({word.lower() for tree in lg.demo_treebank(300, 0) for word in tree.words if word.isalpha()})
    with path.open("w") as file:
        for place in range(number):
            chosen = draw.choices(words, k=draw.randrange(2, 6))
            if place % 10 == 0:
                chosen[-1] = f"word{place}"
            file.write(" ".join(chosen) + " .\n")


def peak(command: list[str]) -> tuple[float, float]:
    """The peaks of a process and of the largest of its workers, in megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command],
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        start_new_session=True,
    )
    own, workers = map(float, done.stderr.split()[-2:])
    return own, workers


def main() -> None:
    """Measure and write the table."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, text, output = folder / "pcfg.lg", folder / "text.txt", folder / "out.mrg"
        lg.save(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(300, 0), by=lg.Counting())), model)
        for number in [int(size) for size in sys.argv[1:]] or SIZES:
            write_sentences(text, number)
            for workers in (1, 2):
                command = [
                    "parse",
                    str(model),
                    str(text),
                    "--tokenised",
                    "-o",
                    str(output),
                    "--n-jobs",
                    str(workers),
                ]
                own, theirs = peak(command)
                rows.append(
                    {
                        "sentences": number,
                        "workers": workers,
                        "MB of text": f"{text.stat().st_size / 1e6:.1f}",
                        "peak MB": f"{own:.0f}",
                        "peak MB of a worker": f"{theirs:.0f}" if workers > 1 else "",
                        "in order": "yes" if in_order(text, output) else "no",
                    }
                )
                output.unlink()
                print(rows[-1], flush=True)
    write_rows(RESULTS, rows)


def in_order(text: Path, output: Path) -> bool:
    """Whether every tree stands over the words of the sentence in its place."""
    with text.open() as sentences, output.open() as trees:
        for sentence, tree in zip(sentences, trees, strict=True):
            if sentence.split() != [part.rstrip(")") for part in tree.split() if part[0] != "("]:
                return False
    return True


if __name__ == "__main__":
    explain()
    main()
