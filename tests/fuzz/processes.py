"""Trials that may end the process they run in: numbered, in a process of their own, which is started again.

The process writes the number of each trial and then its outcome, a line each. An outcome in capitals is harm.
"""

from __future__ import annotations

import argparse
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

TESTS = Path(__file__).parents[1]
AT_ONCE = 1000
"""Trials between two words on how far they are."""
LOOK = 2.0
"""Seconds between two looks at a silent process."""


def seconds_used(process: int) -> float:
    """Processor time of a process, 0 if it has ended; where the system does not tell, the time that has passed."""
    if not os.path.isdir("/proc/self"):
        return time.monotonic()
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tell_each(numbers: Iterable[int], outcome: Callable[[int], str]) -> None:
    """In the process: do trials, and tell what comes of each."""
    told = os.fdopen(os.dup(1), "w")  # trials may do what they like with standard output
    for number in numbers:
        print(number, file=told, flush=True)
        print(outcome(number), file=told, flush=True)


def harmful(outcome: str) -> bool:
    """Whether an outcome must not be."""
    return outcome.split(" (")[0].isupper()


def trial_arguments(description: str | None, rounds: int, only: str) -> argparse.ArgumentParser:
    """What every program of trials is asked; `only` says what that option chooses."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no more are tried")
    parser.add_argument("--only", default="", help=only)
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    return parser


def conclude(outcomes: Counter[str], what: str, started: float) -> NoReturn:
    """Print how often each outcome was seen, and end with 1 if one was harmful."""
    for word, times in outcomes.most_common():
        print(f"{times:7} {word}")
    print(f"{outcomes.total()} {what} in {time.monotonic() - started:.0f} s")
    sys.exit(any(map(harmful, outcomes)))


def outcomes_of(
    program: list[str], first: int, last: int, patience: float, seconds: float = float("inf")
) -> Counter[str]:
    """How often each outcome was seen in trials `first` to `last` of `python PROGRAM --work FIRST LAST`.

    A trial that ends its process, or gives no sign of life for `patience` seconds of the processor, is told with
    its number. After so many `seconds` no more trials are done.
    """
    outcomes: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while first < last and time.monotonic() < end:
        process = subprocess.Popen(
            [sys.executable, *program, "--work", str(first), str(last)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (TESTS.parent / "src", TESTS)))},
        )
        told: queue.SimpleQueue[str] = queue.SimpleQueue()

        def listen(process: subprocess.Popen[str] = process, told: queue.SimpleQueue[str] = told) -> None:
            assert process.stdout is not None
            with process.stdout:
                for word in process.stdout:
                    told.put(word.strip())
            told.put("")

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        under_way: int | None = None
        since = 0.0
        while True:
            try:
                word = told.get(timeout=LOOK)
                since = seconds_used(process.pid)
            except queue.Empty:
                if seconds_used(process.pid) - since < patience:
                    continue
                process.kill()
                word = "ENDLESS"
            if word.isdecimal():
                under_way = int(word)
            elif word in ("", "ENDLESS"):
                process.wait()
                listener.join()
                break
            else:
                told_word = f"{word} ({under_way})" if word.isupper() else word
                outcomes[told_word] += 1
                if harmful(told_word):
                    print(told_word, file=sys.stderr, flush=True)
                under_way, first = None, first + 1
                if first % AT_ONCE == 0:
                    harm = sum(map(harmful, outcomes))
                    told_so_far = f"{first} of {last}: {outcomes.total()} done, {harm} harmful"
                    print(told_so_far, file=sys.stderr, flush=True)
                if time.monotonic() >= end:
                    process.kill()
                    process.wait()
                    return outcomes
        if under_way is not None:
            outcomes[f"{'ENDLESS' if word else f'CRASH {process.returncode}'} ({under_way})"] += 1
            first = under_way + 1
        elif first < last:
            raise RuntimeError(f"the process ended by itself with {process.returncode} before {first}")
    return outcomes
