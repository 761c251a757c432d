"""How does each writing command end when there is no more room?

    PYTHONPATH=tests python tests/faults/full_disk.py [--room 0 100 3000] [COMMAND …]

Each command is run once as it should be, and then with room for so many bytes per file (`RLIMIT_FSIZE`: a write
beyond is refused as by a full disk or a quota, for which nobody needs to be root; with --mount, which needs root,
in a file system of so many KiB). It must end with status 1 in one line and leave neither output nor temporary
file; or, where that was room enough, with 0 and an output. An output that was there before stays as it was.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import latentgram as lg
from faults.battery import Command, workplace

ROOMS = (0, 100, 3000)
PLENTY = 1 << 30
"""Room for everything, and for what is compiled on the way."""
OLD = b"what was there before"
COMMANDS = {
    "train": "train lpcfg {data}/train.mrg -o {output}",
    "train tagger": "train tagger {data}/train.conllu -o {output}",
    "train ud": "train ud {data}/train.conllu --passes 1 -o {output}",
    "parse": "parse {data}/lpcfg.lg {data}/text.txt -o {output}",
    "parse --resume": "parse {data}/lpcfg.lg {data}/text.txt -o {output} --resume",
    "parse, two workers": "parse {data}/lpcfg.lg {data}/text.txt --n-jobs 2 -o {output}",
    "update": "update {data}/hmm.lg {data}/train.mrg -o {output}",
    "calibrate": "calibrate {data}/lpcfg.lg {data}/dev.mrg -o {output}",
    "show": "show {data}/train.mrg --svg {output}.svg",
    "vectors": "vectors {data}/vectors.lg -o {output}",
    "ngram count": "ngram count {data}/text.txt --order 3 -o {output}",
    "ngram count, by files": "ngram count {data}/text.txt --order 3 --memory 64M --temporary {work} -o {output}",
    "ngram build": "ngram build {data}/counts.lg -o {output}.lg",
    "ngram build, ARPA": "ngram build {data}/counts.lg --reading failure -o {output}.arpa",
    "ngram build, by files": (
        "ngram build {data}/text.txt --smoothing kneser-ney --memory 64M --temporary {work} -o {output}.arpa"
    ),
    "ngram build, small": "ngram build {data}/counts.lg --smoothing katz --compact 8 -o {output}.lg",
    "ngram mix": "ngram mix {data}/katz.lg {data}/katz.lg --weights 0.3,0.7 -o {output}.lg",
    "ngram export": "ngram export {data}/ngram.lg --to openfst -o {output}",
    "suspects, report": "suspects {data}/lpcfg.lg {data}/dev.mrg --report {output}.html",
    "eval, plot": "eval {data}/lpcfg.lg {data}/dev.mrg --plot {output}.svg",
    "data demo": "data demo {output} -n 200",
    # Those that write to standard output, which is a file here.
    "parse >": "parse {data}/lpcfg.lg {data}/text.txt",
    "nbest >": "nbest {data}/lpcfg.lg {data}/text.txt",
    "tag >": "tag {data}/tagger.lg {data}/text.txt",
    "search >": "search NP {data}/train.mrg",
    "suspects >": "suspects {data}/lpcfg.lg {data}/train.mrg",
    "sample >": "sample {data}/ngram.lg",
    "score >": "score {data}/lpcfg.lg {data}/text.txt",
    "info >": "info {data}/lpcfg.lg",
    "eval >": "eval {data}/lpcfg.lg {data}/dev.mrg",
    "ngram query >": "ngram query {data}/ngram.lg {data}/text.txt",
}


def prepare(place: Path) -> None:
    """Data and models."""
    trees, arcs = lg.demo_treebank(80, 0), lg.demo_dependencies(60, 0)
    trees.write(place / "train.mrg")
    lg.demo_treebank(40, 1).write(place / "dev.mrg")
    arcs.write(place / "train.conllu")
    text = lg.Text.of(trees.sentences())
    counts = lg.NGramCounts.of(text, order=3)
    lg.save(lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Counting())), place / "lpcfg.lg")
    lg.save(lg.fit(lg.HMM, trees.sentences(), by=lg.Counting()), place / "hmm.lg")
    lg.save(lg.fit(lg.Tagger, arcs, by=lg.Gradient(passes=1)), place / "tagger.lg")
    lg.save(lg.fit(lg.WordVectors, text, by=lg.Spectral(states=3, least=0.0)), place / "vectors.lg")
    lg.save(counts, place / "counts.lg")
    lg.save(lg.fit(lg.BackoffNGram, counts, by=lg.Counting()), place / "ngram.lg")
    lg.save(lg.fit(lg.BackoffNGram, counts, by=lg.Counting(smoothing="katz")), place / "katz.lg")
    words = [" ".join(sentence.words) for sentence in lg.demo_treebank(200, 1).sentences()]
    (place / "text.txt").write_text("\n".join(words) + "\n")


@contextlib.contextmanager
def little_room(room: int, mount: bool) -> Iterator[Path]:
    """A folder with room for little."""
    with workplace() as work:
        if mount:
            size = max(room, 1)
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(work)], check=True)
            try:
                yield work
            finally:
                subprocess.run(["umount", str(work)], check=True)
            return
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, usual[1]))
        try:
            yield work
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def faults(name: str, room: int, place: Path, *, there: bool = False, mount: bool = False) -> list[str]:
    """What is wrong with the end of a command with little room, where an output may be there already."""
    command, piped = Command(COMMANDS[name]), name.endswith(">")
    there = there and not mount and not piped
    with little_room(room, mount) as work:
        words = command.words(place, work)
        output = next((Path(word) for word in words if word.startswith(f"{work}/output")), work / "output")
        with contextlib.ExitStack() as stack:
            if there:
                with without_limit():
                    output.write_bytes(OLD)
            target = stack.enter_context(output.open("wb")) if piped else subprocess.DEVNULL
            done = subprocess.run(
                [sys.executable, "-m", "latentgram", *words],
                stdin=subprocess.DEVNULL,
                stdout=target,
                stderr=subprocess.PIPE,
                check=False,
            )
        left = {path.name for path in work.rglob("*") if path.is_file()} - {output.name}
        kept = output.read_bytes() if output.exists() else None
    if done.returncode == 0:
        whole = kept not in (None, OLD) and (room == PLENTY or not left)  # some write more than one file
        return [] if whole else [f"status 0, but {(kept or b'')[:100]!r} and {sorted(left)}"]
    if room == PLENTY:
        return [f"status {done.returncode}: {done.stderr[-400:]!r}"]
    wrong = []
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("latentgram: ")]
    if done.returncode != 1 or len(lines) != 1 or b"Traceback" in done.stderr or b"unexpected" in done.stderr:
        wrong.append(f"status {done.returncode}: {done.stderr[-400:]!r}")
    if not piped and kept != (OLD if there else None):
        wrong.append("leaves half an output")
    resumable = {f"{output.name}.part", f"{output.name}.progress"} if name.startswith("parse") else set()
    if left - resumable:
        wrong.append(f"leaves {sorted(left - resumable)}")
    return wrong


@contextlib.contextmanager
def without_limit() -> Iterator[None]:
    """Room for as much as there is."""
    room, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", choices=[[], *COMMANDS], default=[])
    parser.add_argument("--room", type=int, nargs="*", default=ROOMS, help="bytes per file, or KiB with --mount")
    parser.add_argument("--mount", action="store_true", help="make a small file system; for root")
    asked = parser.parse_args()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for name in asked.commands or COMMANDS:
            for number, room in enumerate((PLENTY, *asked.room)):
                little = asked.mount and room != PLENTY
                wrong = faults(name, room, Path(folder), there=number % 2 == 0 and number > 0, mount=little)
                count += len(wrong)
                print(f"{name}, room for {room}: {'; '.join(wrong) or 'fine'}", flush=True)
    print(
        f"{len(asked.commands or COMMANDS)} commands, room for {', '.join(map(str, asked.room))}: {count} faults"
    )
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
