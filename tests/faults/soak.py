"""Does memory stay as it is when the page is used, or text parsed, for long?

    PYTHONPATH=tests python tests/faults/soak.py page [--minutes 60] [--clients 10] [--pause 0]
    PYTHONPATH=tests python tests/faults/soak.py parse [--sentences 1000000] [--minutes 60] [--words 7]

`page` starts `latentgram serve` and lets clients parse, ask for lists and posteriors and read pages, one request
after the other, each client with a pause of so many seconds on average; `parse` writes sentences, of at most so
many words, into `latentgram parse`, until there were so many or the time is over.
Every few seconds the memory of all processes of the command is measured (resident, without what they share). The
first third is for warming up; the mean of the last tenth must then be within 5 % of that of the tenth behind the
first third.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import latentgram as lg

MOST = 0.05
"""By how much memory may differ."""
NO_ANSWER = 599
EVERY = 2.0
"""Seconds between two measurements."""


def resident(process: int) -> int:
    """Bytes that a process and those it has started keep in memory for themselves."""
    total, pending = 0, [process]
    while pending:
        number = pending.pop()
        try:
            kept = Path(f"/proc/{number}/smaps_rollup").read_text()
            pending += map(int, Path(f"/proc/{number}/task/{number}/children").read_text().split())
        except (OSError, ProcessLookupError):
            continue
        total += sum(int(found) << 10 for found in re.findall(r"^Private_\w+:\s+(\d+)", kept, re.MULTILINE))
    return total


class Memory:
    """Measures what a process keeps, from time to time."""

    def __init__(self, process: int) -> None:
        self.sizes: list[int] = []
        self._process, self._over = process, threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._thread.start()

    def _measure(self) -> None:
        over = False
        while not over:
            over = self._over.wait(EVERY)
            if size := resident(self._process):
                self.sizes.append(size)

    def end(self) -> bool:
        """Print how it went; whether memory stayed as it was."""
        self._over.set()
        self._thread.join()
        tenth = max(len(self.sizes) // 10, 1)
        begin, last = self.sizes[len(self.sizes) // 3 :][:tenth], self.sizes[-tenth:]
        before, after = sum(begin) / len(begin), sum(last) / len(last)
        change = after / before - 1
        print(
            f"memory, MB: {before / 1e6:.1f} after a third of the time, {after / 1e6:.1f} in the end "
            f"({100 * change:+.1f} %), at most {max(self.sizes) / 1e6:.1f}"
        )
        return abs(change) <= MOST


def sentences(longest: int = 100) -> list[str]:
    """Sentences of the demo grammar, of at most so many words."""
    drawn = lg.demo_treebank(2000, 1).sentences()
    return [" ".join(sentence.words) for sentence in drawn if len(sentence.words) <= longest]


def page(folder: Path, minutes: float, clients: int, pause: float = 0.0) -> bool:
    """Use the page for some time."""
    process = subprocess.Popen(
        [sys.executable, "-m", "latentgram", "serve", str(folder / "parser.lg"), "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines = process.stdout
    address = next(found[0] for line in lines if (found := re.search(r"http://[^\s/]+:\d+", line)))
    drain = threading.Thread(target=lambda: [None for _ in lines], daemon=True)  # else it waits to be read
    drain.start()
    outcomes: Counter[int] = Counter()
    words = sentences()

    def request(path: str, asked: Mapping[str, object] | None, patience: float) -> int:
        data = None if asked is None else json.dumps(asked).encode()
        sent = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(sent, timeout=patience) as answer:
                answer.read()
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError:
            return NO_ANSWER

    def use(seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < end:
            time.sleep(draw.uniform(0, 2 * pause))
            path, asked = draw.choice(
                (
                    ("/api/parse", {"text": draw.choice(words)}),
                    ("/api/parse", {"text": draw.choice(words)}),
                    ("/api/parse", {"text": draw.choice(words), "count": 5}),
                    ("/api/parse", {"text": "\0" * draw.randrange(3)}),
                    ("/", None),
                )
            )
            outcomes[request(path, asked, 120)] += 1

    request("/api/parse", {"text": words[0]}, 600)  # for compiling
    end, memory = time.monotonic() + 60 * minutes, Memory(process.pid)
    users = [threading.Thread(target=use, args=(seed,), daemon=True) for seed in range(clients)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    flat = memory.end()
    process.terminate()
    status = process.wait(20)
    drain.join()
    lines.close()
    answers = ", ".join(f"{times:,} × {code}" for code, times in sorted(outcomes.items()))
    print(f"the page, {clients} clients for {minutes:g} minutes: {answers}; status {status} at the end")
    return flat and status == 143 and all(code < 500 for code in outcomes)


def parse(folder: Path, minutes: float, count: int, longest: int) -> bool:
    """Parse many sentences."""
    process = subprocess.Popen(
        [sys.executable, "-m", "latentgram", "parse", str(folder / "parser.lg"), "--tokenised"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    source, counted = process.stdout, Counter[str]()

    def read() -> None:
        for _ in source:
            counted["read"] += 1

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    started = time.monotonic()
    block = ("\n".join(sentences(longest)) + "\n").encode()
    for _ in range(2):  # the first is for compiling
        process.stdin.write(block)
        counted["sent"] += block.count(b"\n")
    while not counted["read"] and process.poll() is None:
        time.sleep(0.1)
    memory = Memory(process.pid)
    while counted["sent"] < count and time.monotonic() < started + 60 * minutes:
        process.stdin.write(block)
        counted["sent"] += block.count(b"\n")
    while counted["read"] < counted["sent"] - 3000 and process.poll() is None:
        time.sleep(0.1)
    flat = memory.end()
    process.stdin.close()
    reader.join()
    status = process.wait()
    seconds = time.monotonic() - started
    print(f"parse: {counted['sent']:,} sentences, {counted['read']:,} trees in {seconds:.0f} s, status {status}")
    return flat and status == 0 and counted["read"] == counted["sent"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("page", "parse"))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--pause", type=float, default=0.0, help="of a client between two requests, in seconds")
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=100, help="of the longest sentences that are parsed")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lg.save(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(300, 0), by=lg.Counting())), place / "parser.lg")
        use = (
            page(place, asked.minutes, asked.clients, asked.pause)
            if asked.what == "page"
            else parse(place, asked.minutes, asked.sentences, asked.words)
        )
    sys.exit(not use)


if __name__ == "__main__":
    main()
