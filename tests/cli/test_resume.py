"""`latentgram parse --output --resume`: a run broken off anywhere and taken up again writes the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import latentgram as lg
from latentgram.data import partial_output
from latentgram.parser import answers as answering

SENTENCES = 400


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models and what to parse with them."""
    folder = tmp_path_factory.mktemp("resume")
    lg.save(lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(300, 0), by=lg.Counting())), folder / "lpcfg.lg")
    lg.save(lg.Parser(lg.fit(lg.SHAG, lg.demo_dependencies(300, 0), by=lg.Counting())), folder / "shag.lg")
    trees = lg.demo_treebank(SENTENCES, 1).sentences()
    (folder / "text.txt").write_text("".join(" ".join(sentence.words) + "\n" for sentence in trees))
    with gzip.open(folder / "packed.txt.gz", "wt") as file:
        file.write((folder / "text.txt").read_text())
    lg.demo_dependencies(SENTENCES, 1).write(folder / "new.conllu")
    return folder


@pytest.fixture
def broken_off(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the run stop, as by Ctrl-C, before the answer to the n-th batch is written."""

    def arrange(batches: int) -> None:
        original = answering.answers

        def stopping(*arguments: Any, **options: Any) -> Iterator[Any]:
            for number, batch in enumerate(original(*arguments, **options)):
                if number == batches:
                    raise KeyboardInterrupt
                yield batch

        monkeypatch.setattr("latentgram.parser.answers.answers", stopping)

    return arrange


@pytest.mark.parametrize(
    "arguments",
    [
        ("lpcfg.lg", "packed.txt.gz"),
        ("lpcfg.lg", "text.txt", "--to", "json", "--n-jobs", "2"),
        ("lpcfg.lg", "text.txt", "--to", "outline", "--nbest", "2"),
        ("shag.lg", "new.conllu", "--probabilities"),
    ],
    ids=["brackets, gzip", "json, two workers", "outline, lists", "conllu"],
)
def test_the_same_bytes(
    run: Callable, place: Path, tmp_path: Path, broken_off: Callable, arguments: tuple[str, ...], monkeypatch: Any
) -> None:
    model, text, *options = arguments
    command = ["parse", place / model, place / text, *options]
    whole = run(*command).out
    output = tmp_path / "out"
    with monkeypatch.context():
        broken_off(3)
        stopped = run(*command, "-o", output)
    assert stopped.status == 130
    assert "--resume continues after them" in stopped.err
    assert not output.exists()
    part = tmp_path / "out.part"
    written = part.read_bytes()
    assert whole.encode().startswith(written)
    assert len(written) > 100
    part.write_bytes(written + "(S (NP half ø".encode()[:-1])  # a record that was never finished
    assert run(*command, "-o", output).status == 1  # nobody's work is written over
    monkeypatch.undo()
    again = run(*command, "-o", output, "--resume")
    assert again.status == 0, again.err
    assert output.read_text() == whole
    assert os.listdir(tmp_path) == ["out"]


PROGRAM = """
from latentgram.data import partial_output
partial_output.MARK_SECONDS = 0.0
from latentgram.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_killed_at_random_points(run: Callable, place: Path, tmp_path: Path) -> None:
    command = ["parse", str(place / "lpcfg.lg"), str(place / "text.txt"), "--nbest", "3"]
    whole = run(*command).out
    output, part = tmp_path / "out", tmp_path / "out.part"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    draw = random.Random(7)
    kills, grown = 0, 0
    while not output.exists():
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *command, "-o", str(output), "--resume"],
            stderr=subprocess.PIPE,
            env=environment,
        )
        goal = min(len(whole.encode()) - 1, grown + draw.randrange(len(whole) // 4, len(whole) // 2))
        while process.poll() is None and kills < 3 and (not part.exists() or part.stat().st_size < goal):
            time.sleep(draw.uniform(0, 0.002))
        if kills < 3 and process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        _, complaint = process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGKILL), complaint
        grown = part.stat().st_size if part.exists() else grown
    assert kills >= 1
    assert output.read_text() == whole


def test_faults_are_counted_right_after_a_break(
    run: Callable, place: Path, tmp_path: Path, broken_off: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A faulty line of constraints, and ones that nothing obeys, before and after the break."""
    lines = ["{}"] * SENTENCES
    lines[3] = "{"
    lines[20] = '{"tags": {"99": "NN"}}'
    for number in (10, 350):
        lines[number] = '{"spans": [[0, 2, "NOSUCH"]]}'
    known = tmp_path / "known.jsonl"
    known.write_text("\n".join(lines) + "\n")
    command = ["parse", place / "lpcfg.lg", place / "text.txt", "--constraints", known]
    first = run(*command)
    assert first.status == 1
    assert first.err.strip().endswith(
        "known.jsonl:4:2: not JSON: Expecting property name enclosed in double quotes"
    )
    whole = run(*command, "--skip-bad")
    assert whole.status == 0
    assert "malformed sentences skipped: 4, the first: " in whole.err
    assert len(whole.out.splitlines()) == SENTENCES - 4
    with monkeypatch.context():
        broken_off(2)
        assert run(*command, "--skip-bad", "-o", tmp_path / "out").status == 130
    monkeypatch.undo()
    again = run(*command, "--skip-bad", "-o", tmp_path / "out", "--resume")
    assert "malformed sentences skipped: 4, the first: " in again.err
    assert (tmp_path / "out").read_text() == whole.out
    lines[3] = lines[20] = "{}"
    known.write_text("\n".join(lines) + "\n")
    alone, together = run(*command), run(*command, "--n-jobs", 2)
    for outcome in (alone, together):
        assert outcome.status == 1
        assert "known.jsonl:11: no tree of this grammar satisfies: spans (0, 2, NOSUCH)" in outcome.err
    assert alone.out == together.out
    assert len(alone.out.splitlines()) == 10


def test_work_of_others_is_refused(
    run: Callable, place: Path, tmp_path: Path, broken_off: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "out"
    text.write_text((place / "text.txt").read_text())
    command = ["parse", place / "lpcfg.lg", text, "-o", output, "--resume"]
    with monkeypatch.context():
        broken_off(3)
        run(*command)
    monkeypatch.undo()

    def refusal(*changed: Any) -> str:
        outcome = run(*(changed or command))
        assert outcome.status == 1
        assert len(outcome.err.strip().splitlines()) <= 2
        return str(outcome.err)

    assert "started with another probabilities" in refusal(*command, "--probabilities")
    assert "started with another model" in refusal("parse", place / "shag.lg", *command[2:])
    lines = text.read_text().splitlines(keepends=True)
    text.write_text("".join([*lines[:5], "A change .\n", *lines[5:]]))
    assert "the first 192 sentences of the input have changed since then" in refusal()
    text.write_text("".join(lines))
    part, mark = tmp_path / "out.part", tmp_path / "out.progress"
    kept = part.read_bytes(), mark.read_bytes()
    part.write_bytes(kept[0].replace(b"NP", b"PN", 1))
    assert "changed after the interrupted run" in refusal()
    part.write_bytes(kept[0][:-1])
    assert "changed after the interrupted run" in refusal()
    for content in (b"", b"[]", json.dumps({"bytes": 1}).encode()):
        mark.write_bytes(content)
        assert "out.progress: it does not match out.part" in refusal()
    part.write_bytes(kept[0])
    mark.write_bytes(kept[1])
    text.write_text("".join([*lines, "the teacher sleeps .\n"]))  # more at the end is fine
    assert run(*command).status == 0
    assert len(output.read_text().splitlines()) == SENTENCES + 1
    assert "there is nothing to resume" in refusal()


def test_what_cannot_be_resumed(run: Callable, place: Path, tmp_path: Path) -> None:
    model = place / "lpcfg.lg"
    for arguments, message in [
        ((place / "text.txt", "--resume"), "name it with --output"),
        (("-o", tmp_path / "out", "--resume"), "standard input cannot be read again"),
        ((place / "text.txt", "-o", tmp_path / "out.gz"), "cannot be compressed"),
        ((place / "text.txt", "-o", tmp_path), "must be a regular file"),
    ]:
        outcome = run("parse", model, *arguments)
        assert outcome.status == 1
        assert message in outcome.err


def test_marks_are_rare(tmp_path: Path) -> None:
    """Marking costs a flush to the disk: a thousand small texts make one or two."""
    marks = 0

    class Counted(partial_output.PartialOutput):
        def _mark(self) -> None:
            nonlocal marks
            marks += 1
            super()._mark()

    output = Counted(tmp_path / "out", {})
    output.begin()
    for number in range(1000):
        output.append("x\n", {"done": number})
    output.finish()
    assert marks <= 4


def test_two_runs_with_one_output(place: Path, tmp_path: Path) -> None:
    """The first writes its trees, the second says why it does not, and nothing is mixed."""
    output = tmp_path / "out"
    command = [sys.executable, "-m", "latentgram", "parse", str(place / "lpcfg.lg")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    text = (place / "text.txt").read_text()
    with subprocess.Popen(
        [*command, "-o", str(output)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as first:
        assert first.stdin is not None
        first.stdin.write(text)
        first.stdin.flush()
        while first.poll() is None and not (tmp_path / "out.part").exists():
            time.sleep(0.05)
        second = subprocess.run(
            [*command, str(place / "text.txt"), "-o", str(output), "--to", "json"],
            capture_output=True,
            env=environment,
            text=True,
            check=False,
        )
        first.communicate()
    assert second.returncode == 1
    assert second.stderr == (
        f"latentgram: {output}.part: another run is writing it: wait for that, or name another output\n"
    )
    assert first.returncode == 0
    lines = output.read_text().splitlines()
    assert len(lines) == SENTENCES
    assert all(line.startswith("(") for line in lines)
    assert os.listdir(tmp_path) == ["out"]


def test_links_are_not_written_through(run: Callable, place: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine\n")
    for planted in ("out.part", "out.progress"):
        (tmp_path / planted).symlink_to(precious)
        for more in ((), ("--resume",)):
            refused = run("parse", place / "lpcfg.lg", place / "text.txt", "-o", tmp_path / "out", *more)
            assert refused.status == 1
            assert "link" in refused.err or "does not match" in refused.err
            assert refused.err.count("\n") == 1
        (tmp_path / planted).unlink()
    assert precious.read_text() == "mine\n"


def test_what_is_no_file_is_neither_written_nor_waited_for(run: Callable, place: Path, tmp_path: Path) -> None:
    for planted in ("out.part", "out.progress"):
        os.mkfifo(tmp_path / planted)
        for more in ((), ("--resume",)):
            refused = run("parse", place / "lpcfg.lg", place / "text.txt", "-o", tmp_path / "out", *more)
            assert refused.status == 1
            assert f"{planted}: this is not a regular file" in refused.err
        (tmp_path / planted).unlink()


def test_a_kill_between_the_name_and_the_mark(
    run: Callable, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("parse", place / "lpcfg.lg", place / "text.txt", "-o", tmp_path / "out", "--resume")
    mark = tmp_path / "out.progress"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda self, missing_ok=False: None)
        assert run(*command).status == 0
    whole = (tmp_path / "out").read_bytes()
    assert mark.exists()
    refused = run(*command, "--probabilities")
    assert refused.status == 1
    assert refused.err.startswith(f"latentgram: {tmp_path}/out: it was started with another probabilities")
    assert (tmp_path / "out").read_bytes() == whole
    assert run(*command).status == 0
    assert (tmp_path / "out").read_bytes() == whole
    assert os.listdir(tmp_path) == ["out"]


def test_a_damaged_mark_is_one_sentence(
    run: Callable, place: Path, tmp_path: Path, broken_off: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("parse", place / "lpcfg.lg", place / "text.txt", "-o", tmp_path / "out", "--resume")
    with monkeypatch.context():
        broken_off(3)
        run(*command)
    monkeypatch.undo()
    mark = tmp_path / "out.progress"
    good = json.loads(mark.read_text())
    damaged: list[Any] = [
        {**good, "bytes": value} for value in (-1, "many", None, 10**30, 1.5, [])
    ] + [
        {**good, "state": value} for value in ([], {"sentences": -5}, {"x": 1}, {**good["state"], "faults": "0"},
        {**good["state"], "sentences": 10**30}, {"sentences": {}}, {})
    ] + [{**good, "identity": 7}, {**good, "digest": 7}, 5, None, []]  # fmt: skip
    contents = [json.dumps(each).encode() for each in damaged] + [b"\xff", b"[" * 100_000, b"{", b""]
    for content in contents:
        mark.write_bytes(content)
        refused = run(*command)
        assert refused.status == 1, content[:100]
        assert refused.err.startswith(f"latentgram: {tmp_path}/out")
        assert refused.err.count("\n") == 1
        assert "unexpected" not in refused.err
