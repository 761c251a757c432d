"""Types that are there: a consumer under strict mypy gets the real type of every public name."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import latentgram as lg

CONSUMER = Path(__file__).parent / "consumer" / "treebank_tools.py"
PYRIGHT = CONSUMER.parent / "node_modules" / ".bin" / "pyright"


def mypy(source: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    pytest.importorskip("mypy")
    return tmp_path_factory.mktemp("mypy")


def test_a_consumer_passes_strict_mypy(cache):
    checked = mypy(CONSUMER, cache)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.skipif(not PYRIGHT.exists(), reason="pyright is not installed (npm install --prefix tests/consumer)")
def test_a_consumer_passes_strict_pyright(tmp_path):
    settings = {"typeCheckingMode": "strict", "include": [str(CONSUMER)]}
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps(settings), "utf-8")
    command = [str(PYRIGHT), "--project", str(project), "--pythonpath", sys.executable]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_a_wrong_use_is_seen(cache, tmp_path):
    source = tmp_path / "wrong.py"
    source.write_text(
        "import latentgram as lg\n\nlg.Parser(3)\nlg.NoSuchName\nlg.load('a.lg').parse('a b')\n", "utf-8"
    )
    printed = mypy(source, cache).stdout
    assert "arg-type" in printed
    assert "NoSuchName" in printed
    assert '"parse"' in printed, "what a file holds is not known without its class"


def test_every_public_name_is_there():
    for name in lg.__all__:
        assert getattr(lg, name) is not None


def test_the_stub_exports_what_it_imports():
    stub = Path(lg.__file__).with_suffix(".pyi")
    imported = [
        name
        for node in ast.walk(ast.parse(stub.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    ]
    assert all(name.asname == name.name for name in imported), "a stub exports a name only as `X as X`"
    assert sorted([*(name.name for name in imported), "__version__"]) == sorted(lg.__all__)
