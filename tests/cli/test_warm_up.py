"""What `warm-up` compiles, and a wheel therefore ships, is all that the usual commands need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def test_commands_compile_nothing_more(tmp_path: Path) -> None:
    script = Path(__file__).with_name("warmed.py")
    done = subprocess.run([sys.executable, script, "lpcfg", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "compiled:" not in done.stderr


def test_a_kind_that_is_not_there(run: Callable) -> None:
    answer = run("warm-up", "oracle")
    assert answer.status == 1
    assert "there is no kind of model 'oracle'" in answer.err
