"""How does each long command end when a signal strikes at a random moment?

    PYTHONPATH=tests python tests/faults/battery.py [--rounds 200] [--seed 0] [--forked] [COMMAND …]

For each command and each of SIGINT, SIGTERM and SIGKILL: start it, send the signal at a random moment of its
life, and look at what is left. With --forked commands are started in copies of a process that has imported and
compiled everything, so that signals strike work and not the start of Python. A round fails if the status is not
130 (SIGINT), 143 (SIGTERM) or that of a kill, or 0 where the command was done before; if the end takes more than
two seconds, not counting those in which its threads were ready and no processor was free (the system counts them
for each thread; the most that one of them waited is taken off, so that a busy machine does not look like a slow
command); if there is a traceback, or not one line that says `latentgram: interrupted`; if a process or a
temporary file is left; or if the output is there and is not that of an undisturbed run. `parse` is then taken up
by `--resume` and must write the same bytes.
"""

from __future__ import annotations

import argparse
import atexit
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import latentgram as lg

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LONG = 376
"""Words of a long sentence."""
LIMIT = 2.0
"""Seconds from a signal to the end."""
# Jobs that a shell starts in the background ignore interrupts, and the battery may be such a job.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from latentgram.__main__ import main
main()
"""
SAVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from latentgram.interrupt import obeying, status
with obeying():
    try:
        import latentgram as lg
        parser = lg.load(sys.argv[1])
        while True:
            lg.save(parser, sys.argv[2])
    except KeyboardInterrupt:
        print("latentgram: interrupted", file=sys.stderr)
        sys.exit(status())
"""


@dataclass(frozen=True)
class Command:
    """A command line whose {output} and {work} are filled in, and what it may leave when it is struck."""

    arguments: str
    program: str = PROGRAM
    resumable: bool = False
    endless: float = 0.0
    """Of a command that does not end by itself, the seconds within which it is struck."""

    def words(self, place: Path, work: Path) -> list[str]:
        """What stands on the command line."""
        return self.arguments.format(data=place, output=work / "output", work=work).split()

    def start(self, place: Path, work: Path, *, forked: bool = False) -> Running:
        """Run it in a group of processes of its own."""
        if forked:
            return Forked(self.program, self.words(place, work))
        return subprocess.Popen(
            [sys.executable, "-c", self.program, *self.words(place, work)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


class Forked:
    """A command in a copy of this process, as far as needed like a `subprocess.Popen`."""

    def __init__(self, program: str, words: list[str]) -> None:
        self.returncode: int | None = None
        self._told = tempfile.TemporaryFile()  # noqa: SIM115 (read when it has ended)
        self.pid = os.fork()
        if not self.pid:
            self._be(program, words)

    def _be(self, program: str, words: list[str]) -> NoReturn:
        status = 1
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for number, target in enumerate((nothing, nothing, self._told.fileno())):
                os.dup2(target, number)
            sys.argv = ["-c", *words]
            exec(program, {"__name__": "__main__"})
            status = 0
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else int(left.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(BaseException):
                atexit._run_exitfuncs()
            os._exit(status)

    def send_signal(self, number: int) -> None:
        """Strike it, if it is still there."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def wait(self, timeout: float | None = None) -> int:
        """Its status, once it has ended."""
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= end:
                raise subprocess.TimeoutExpired("a copy of this process", timeout or 0.0)
            else:
                time.sleep(0.01)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """What it told on standard error, once it has ended."""
        self.wait(timeout)
        self._told.seek(0)
        return b"", self._told.read()


Running = subprocess.Popen[bytes] | Forked


COMMANDS = {
    "train lpcfg": Command("train lpcfg {data}/train.mrg --by em --states 4 --iterations 20 -o {output}"),
    "train lpcfg, two workers": Command(
        "train lpcfg {data}/train.mrg --by em --states 4 --iterations 20 --n-jobs 2 -o {output}"
    ),
    "train shag": Command("train shag {data}/train.conllu --by em --states 4 --iterations 20 -o {output}"),
    "train tagger": Command("train tagger {data}/train.conllu -o {output}"),
    "train arcs": Command("train arcs {data}/train.conllu -o {output}"),
    "train chart-crf": Command("train chart-crf {data}/train.mrg --states 2 --passes 2 --bits 12 -o {output}"),
    "train committee": Command(
        "train committee {data}/train.mrg --layers 2 --states 2 --passes 2 --bits 12 -o {output}"
    ),
    "train ud": Command("train ud {data}/train.conllu -o {output}"),
    "train hmm": Command("train hmm {data}/text.txt --by em --states 8 --iterations 20 -o {output}"),
    "parse": Command("parse {data}/lpcfg.lg {data}/text.txt -o {output} --resume", resumable=True),
    "parse, two workers": Command(
        "parse {data}/lpcfg.lg {data}/text.txt --n-jobs 2 -o {output} --resume", resumable=True
    ),
    "parse dependencies": Command("parse {data}/shag.lg {data}/text.conllu -o {output} --resume", resumable=True),
    "parse a long sentence": Command(
        "parse {data}/latent.lg {data}/long.txt -o {output} --resume", resumable=True
    ),
    "parse a long sentence, arcs": Command(
        "parse {data}/arcs.lg {data}/long.conllu -o {output} --resume", resumable=True
    ),
    "ngram count": Command(
        "ngram count {data}/numbers.txt -o {output} --order 4 --memory 64M --temporary {work}/runs"
    ),
    "save": Command("{data}/lpcfg.lg {output}", program=SAVER, endless=2.0),
    "serve": Command("serve {data}/lpcfg.lg --no-browser --port 0 --treebank {work}/trees.mrg", endless=4.0),
}


def prepare(place: Path, sentences: int) -> None:
    """Data and models for all commands."""
    trees, arcs = lg.demo_treebank(300, 0), lg.demo_dependencies(300, 0)
    trees.write(place / "train.mrg")
    arcs.write(place / "train.conllu")
    lg.save(lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Counting())), place / "lpcfg.lg")
    lg.save(lg.Parser(lg.fit(lg.SHAG, arcs, by=lg.Counting())), place / "shag.lg")
    words = [" ".join(sentence.words) for sentence in lg.demo_treebank(sentences, 1).sentences()]
    (place / "text.txt").write_text("\n".join(words) + "\n")
    lg.demo_dependencies(sentences, 1).write(place / "text.conllu")
    lg.save(lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Clustering(states=4))), place / "latent.lg")
    lg.save(lg.Parser(lg.fit(lg.ArcFactored, arcs, by=lg.MIRA(passes=1, bits=14, folds=2))), place / "arcs.lg")
    long = " ".join(words).split()[:LONG]
    (place / "long.txt").write_text(" ".join(long) + "\n")
    heads = (0, *(1 for _ in long[1:]))
    tags = lg.demo_treebank(sentences, 1).sentences()
    upos = [tag for tree in lg.demo_dependencies(sentences, 1) for tag in tree.upos][:LONG]
    xpos = [tag for sentence in tags for tag in sentence.xpos or ()][:LONG]
    lg.Treebank.of([lg.DependencyTree(tuple(long), heads, upos=tuple(upos), xpos=tuple(xpos))]).write(
        place / "long.conllu"
    )
    draw = random.Random(0)
    rows = (" ".join(str(draw.randrange(20_000)) for _ in range(20)) for _ in range(20 * sentences))
    (place / "numbers.txt").write_text("\n".join(rows) + "\n")


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder of one's own."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def content(output: Path) -> str | None:
    """A digest of an output file, but for the time that a model took to learn, or None."""
    if not output.exists():
        return None
    if output.read_bytes()[8:9] == b"{":
        lg.load(output)
        return "a model"
    return hashlib.sha256(output.read_bytes()).hexdigest()


def outlived(group: int) -> bool:
    """Whether a process of a group is still there three seconds later; it is ended then."""
    for _ in range(60):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return True


def waited(process: int) -> float:
    """Seconds that the thread of a process that had to wait the longest was kept from a free processor so far."""
    longest = 0
    with suppress(OSError, ValueError, IndexError):
        for thread in os.listdir(f"/proc/{process}/task"):
            longest = max(longest, int(Path(f"/proc/{process}/task/{thread}/schedstat").read_text().split()[1]))
    return longest / 1e9


def seconds_to_end(process: Running, patience: float) -> float:
    """Wait for a process that was asked to end; the seconds it took, without those it waited for a processor."""
    started, before = time.monotonic(), waited(process.pid)
    after = before
    while True:
        after = max(after, waited(process.pid))
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            if time.monotonic() - started > patience:
                raise
        else:
            return max(time.monotonic() - started - (after - before), 0.0)


def strike(
    command: Command,
    number: signal.Signals,
    after: float,
    place: Path,
    wanted: str | None,
    *,
    forked: bool = False,
) -> list[str]:
    """What is wrong with the end of a command that is struck after so many seconds."""
    wrong = []
    with workplace() as work:
        process = command.start(place, work, forked=forked)
        with suppress(subprocess.TimeoutExpired):
            process.wait(after)
        elapsed = 0.0
        process.send_signal(number)
        try:
            elapsed = seconds_to_end(process, 60)
            _, told = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            _, told = process.communicate()
            wrong.append("does not end")
        if elapsed > LIMIT:
            wrong.append(f"ends after {elapsed:.1f} s")
        expected = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
        if process.returncode not in ({expected} if command.endless else {expected, 0}):
            wrong.append(f"status {process.returncode}: {told[-300:]!r}")
        complaints = re.findall(r"^latentgram: .*", told.decode(), re.MULTILINE)
        if b"Traceback" in told or (process.returncode in (130, 143) and len(complaints) != 1):
            wrong.append(f"says {told[-2000:]!r}")
        if outlived(process.pid):
            wrong.append("leaves a process")
        made = content(work / "output")
        if made is not None and wanted is not None and made != wanted:
            wrong.append("leaves another output")
        if process.returncode == 0 and made is None:
            wrong.append("leaves no output")
        kept = {"output", "runs", "trees.mrg", *(("output.part", "output.progress") if command.resumable else ())}
        left = {path.name for path in work.rglob("*")} - kept
        if number != signal.SIGKILL and left:
            wrong.append(f"leaves {sorted(left)}")
        if command.resumable and made is None:
            again = command.start(place, work, forked=forked)
            _, told = again.communicate(timeout=300)
            if again.returncode or content(work / "output") != wanted:
                wrong.append(f"cannot be resumed: {told[-300:]!r}")
    return wrong


def say_at_once(text: str) -> None:
    """Print a line that is seen while the work goes on."""
    print(text, flush=True)


def battery(
    names: list[str],
    rounds: int,
    seed: int,
    place: Path,
    *,
    forked: bool = False,
    signals: Sequence[signal.Signals] = SIGNALS,
    say: Callable[[str], None] = say_at_once,
) -> Counter[str]:
    """Strike commands; how often each fault was seen."""
    draw = random.Random(seed)
    faults: Counter[str] = Counter()
    for name in names:
        command = COMMANDS[name]
        with workplace() as work:
            started = time.monotonic()
            process = command.start(place, work, forked=forked)
            try:
                _, told = process.communicate(timeout=command.endless or 600)
                assert process.returncode == 0, told
            except subprocess.TimeoutExpired:
                process.terminate()
                process.communicate()
            life = time.monotonic() - started
            wanted = content(work / "output")
        for number in signals:
            found: Counter[str] = Counter()
            for _ in range(rounds):
                after = draw.uniform(0.02 if forked else 0.4, max(life, 0.5))
                for fault in strike(command, number, after, place, wanted, forked=forked):
                    found[fault] += 1
            say(f"{name}, {number.name}: {rounds} rounds, {sum(found.values())} faults")
            for fault, times in found.most_common():
                say(f"    {times} × {fault}")
            faults += found
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", choices=[[], *COMMANDS], default=[])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sentences", type=int, default=2000, help="of the text that is parsed")
    parser.add_argument("--forked", action="store_true", help="strike work and not the start of Python")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds from a signal to the end")
    parser.add_argument("--signals", nargs="*", default=[number.name for number in SIGNALS])
    asked = parser.parse_args()
    globals()["LIMIT"] = asked.limit
    signals = [signal.Signals[name] for name in asked.signals]
    with workplace() as place:
        prepare(place, asked.sentences)
        names = asked.commands or list(COMMANDS)
        faults = battery(names, asked.rounds, asked.seed, place, forked=asked.forked, signals=signals)
    print(f"{sum(faults.values())} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
