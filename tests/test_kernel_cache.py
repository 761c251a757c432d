"""Compiled code: taken from what is shipped if that fits, made here if not, kept where one may write."""

import ast
import os
import stat
import subprocess
import sys

import numba
import numpy as np
import pytest

from latentgram import kernel_cache
from latentgram.compiling import njit


def twice(values):
    total = 0.0
    for value in values:
        total += 2 * value
    return total


@pytest.fixture
def shipping(tmp_path, monkeypatch):
    """A package whose compiled code is in a temporary folder, with an empty cache of numba's."""
    monkeypatch.setattr(kernel_cache, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    kernel_cache.runs_shipped_code.cache_clear()
    yield
    kernel_cache.runs_shipped_code.cache_clear()


@pytest.fixture
def shipped(shipping, monkeypatch):
    monkeypatch.setenv(kernel_cache.SHIP, "1")
    assert njit()(twice)(np.ones(3)) == 6
    monkeypatch.delenv(kernel_cache.SHIP)
    kernel_cache.finish_shipping()
    kernel_cache.runs_shipped_code.cache_clear()


def hits(function) -> int:
    return sum(function.stats.cache_hits.values())


def test_shipped_code_is_used_and_nothing_is_compiled(shipped, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "empty"))
    function = njit()(twice)
    assert function(np.ones(4)) == 8
    assert hits(function) == 1


def test_code_of_another_package_is_passed_over(shipped, monkeypatch, tmp_path):
    (kernel_cache.shipped_folder() / "digest").write_text("other", "ascii")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "empty"))
    function = njit()(twice)
    assert function(np.ones(4)) == 8
    assert hits(function) == 0


def test_a_processor_that_lacks_something_compiles_itself(shipped, monkeypatch):
    machine = kernel_cache.platform.machine()
    monkeypatch.setitem(kernel_cache.FAMILIES, machine, ("any", ("no-such-feature",)))
    assert not kernel_cache.runs_shipped_code()


def test_damaged_shipped_code_is_passed_over(shipped, monkeypatch, tmp_path):
    for file in kernel_cache.shipped_folder().glob("*.nbc"):
        file.write_bytes(b"damaged")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "empty"))
    assert njit()(twice)(np.ones(4)) == 8


def test_code_is_made_again_when_a_file_changes_that_its_own_imports(shipping, tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path)
    caller, called, constants = tmp_path / "caller.py", tmp_path / "deep" / "called.py", tmp_path / "constants.py"
    called.parent.mkdir()
    caller.write_text("from latentgram.deep import (\n    called,\n)\n")
    called.write_text("from latentgram.constants import SCALE\n")
    constants.write_text("SCALE = 1\n")
    before = kernel_cache.sources_stamp(caller)
    assert [name for name, _, _ in before] == ["caller.py", "constants.py", "called.py"]
    constants.write_text("SCALE = 10\n")
    kernel_cache.sources_stamp.cache_clear()  # as in a new process
    assert kernel_cache.sources_stamp(caller) != before


def test_all_that_a_module_imports_is_found():
    """One import after the other, and those of several lines: as Python itself reads them."""
    for path in kernel_cache.PACKAGE.rglob("*.py"):
        expected = set()
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("latentgram"):
                folder = kernel_cache.PACKAGE.joinpath(*node.module.split(".")[1:])
                expected |= {folder.with_suffix(".py"), *(folder / f"{name.name}.py" for name in node.names)}
        assert kernel_cache._imports(path) == {module for module in expected if module.is_file()}, path


def test_the_last_resort_is_private(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = kernel_cache.private_folder()
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    folder.chmod(0o755)
    with pytest.raises(PermissionError, match="private folder of this user"):
        kernel_cache.private_folder()


def test_a_planted_link_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder = tmp_path / f"latentgram-kernels-{os.getuid()}"
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError):
        kernel_cache.private_folder()


def test_a_read_only_package_without_a_home_keeps_code_in_the_private_folder(tmp_path, monkeypatch):
    nowhere = classmethod(lambda cls, function, file: None)
    monkeypatch.setattr(kernel_cache.caching.InTreeCacheLocator, "from_function", nowhere)
    monkeypatch.setattr(kernel_cache.caching.UserWideCacheLocator, "from_function", nowhere)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    assert njit()(twice)(np.ones(4)) == 8
    assert list(kernel_cache.private_folder().rglob("*.nbi"))


def test_what_others_have_compiled_is_read_where_it_cannot_be_written(tmp_path, monkeypatch):
    """As in an image of a container: root warms up, another user parses."""
    image, mine = str(tmp_path / "image"), str(tmp_path / "mine")
    monkeypatch.setattr(numba.config, "CACHE_DIR", image)
    assert njit()(twice)(np.ones(3)) == 6
    check = kernel_cache.caching._CacheLocator.ensure_cache_path

    def writable(locator):
        if not locator.get_cache_path().startswith(mine):
            raise PermissionError
        check(locator)

    monkeypatch.setattr(kernel_cache.caching._CacheLocator, "ensure_cache_path", writable)
    (tmp_path / "mine").mkdir()
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: mine)
    function = njit()(twice)
    assert function(np.ones(4)) == 8
    assert hits(function) == 1
    assert function(np.ones(4, np.int64)) == 8  # for which nothing is compiled yet
    assert hits(function) == 1
    assert list((tmp_path / "mine").rglob("*.nbi"))


def test_a_folder_that_is_named_is_not_filled_from_others(tmp_path, monkeypatch):
    """Code with bounds checks has a folder of its own, and code beside the package is not taken for it."""
    beside = tmp_path / "beside"
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(kernel_cache.caching.InTreeCacheLocator, "get_cache_path", lambda locator: str(beside))
    assert njit()(twice)(np.ones(3)) == 6
    assert list(beside.glob("*.nbi"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "named"))
    function = njit()(twice)
    assert function(np.ones(4)) == 8
    assert hits(function) == 0


def test_compiling_is_said_once_and_timed(shipping, caplog, monkeypatch):
    monkeypatch.setattr(kernel_cache, "compiling", kernel_cache.Compiling())
    inner = njit()(twice)

    def outer(values):
        return inner(values) + 1.0

    with caplog.at_level("INFO", logger="latentgram"):
        assert njit()(outer)(np.ones(3)) == 7
    assert [record.getMessage() for record in caplog.records] == ["compiling once (about 15 s) …"]
    assert kernel_cache.compiling._depth == 0
    assert 0 < kernel_cache.compiling.seconds < 60


def test_what_passes_is_for_terminals(shipping, caplog, monkeypatch):
    monkeypatch.setattr(kernel_cache, "compiling", kernel_cache.Compiling())
    monkeypatch.setattr(kernel_cache, "TOLD_EVERY", 0.0)
    with caplog.at_level("INFO", logger="latentgram"):
        njit()(twice)(np.ones(3))
        njit()(twice)(np.ones(3, np.float32))
    assert [hasattr(record, "passing") for record in caplog.records] == [False, True]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_code_is_compiled_again_and_kept(shipping, tmp_path, ending):
    assert njit()(twice)(np.ones(4)) == 8
    (file,) = (tmp_path / "cache").rglob(f"*.{ending}")
    file.write_bytes(file.read_bytes()[:-9])
    again = njit()(twice)
    assert again(np.ones(4)) == 8
    assert hits(again) == 0
    third = njit()(twice)
    assert third(np.ones(4)) == 8
    assert hits(third) == 1


def test_a_full_disk_does_not_keep_compiled_code_from_running(shipping, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache.caching.IndexDataCacheFile, "save", full)
    assert njit()(twice)(np.ones(4)) == 8


def test_compiled_code_is_loaded_without_linear_algebra(tmp_path):
    program = (
        "import sys; from latentgram.kernel_cache import load_registries; load_registries(); "
        "import numba.np.arraymath as m, numba.np.linalg as l; "
        "print(m._HAVE_BLAS, 'scipy.linalg' in sys.modules, l.ensure_blas.__name__); import numba, numpy; "
        "print(numba.njit(lambda a: numpy.dot(a, a))(numpy.ones((2, 2)))[0, 0])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True False ensure_blas\n2.0\n"
