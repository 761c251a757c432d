"""Where compiled kernels are kept, so that the first parse does not wait for a compiler.

1. `_compiled/` of the package: what a wheel ships, made for any processor of its family (x86-64-v3 has AVX2 and
   FMA) by `make build`. It is valid for one Python, one numba and one content of the package; on any mismatch or
   fault it is passed over.
2. Numba's own cache: NUMBA_CACHE_DIR, `__pycache__` beside the source, or the user's cache folder: the first that
   can be written. The first two are also read where they cannot be, as others have filled them.
3. Where none of these can be written (a read-only installation without a home), a folder of the user's own under
   the system's temporary one.

Numba takes a function's code as valid as long as its own file is the same. Compiled code has that of the functions
it calls inside, and the values of imported constants: here it is valid as long as all files are the same that its
file imports, directly or not. What is shipped is looked up by a digest of the whole package.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import logging
import os
import platform
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core import caching
from numba.core.registry import cpu_target

from latentgram.errors import SettingError

PACKAGE = Path(__file__).parent
SHIPPED = PACKAGE / "_compiled"
SHIP = "LATENTGRAM_SHIP"
"""The environment variable that has compiled code written to `SHIPPED` as well."""
FAMILIES = {
    "x86_64": ("x86-64-v3", ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")),
    "aarch64": ("generic", ("neon",)),
}
"""Of each architecture the processor to compile for, and what one must have to run the result."""

Function = Callable[..., Any]
logger = logging.getLogger("latentgram")


@functools.cache
def package_digest() -> str:
    """A digest of all source files of the package."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


@functools.cache
def _imports(path: Path) -> frozenset[Path]:
    """The modules of the package that a module imports when it is loaded."""
    text = path.read_text("utf-8")
    modules = set()
    for source, names in re.findall(
        r"^from latentgram\.?([\w.]*) import (\([\w\s,]*|[\w ,]*)", text, re.MULTILINE
    ):
        folder = PACKAGE.joinpath(*source.split("."))
        modules |= {folder.with_suffix(".py"), *(folder / f"{name}.py" for name in re.findall(r"\w+", names))}
    return frozenset(module for module in modules if module.is_file())


@functools.cache
def sources_stamp(path: Path) -> tuple[tuple[str, float, int], ...]:
    """Name, time and size of a source file and of all that it imports, directly or not."""
    reached, waiting = {path}, [path]
    while waiting:
        new = _imports(waiting.pop()) - reached
        reached |= new
        waiting += new
    return tuple((each.name, (read := each.stat()).st_mtime, read.st_size) for each in sorted(reached))


def shipped_folder() -> Path:
    """Where the code for this Python, numba and system is, or would be."""
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    return SHIPPED / f"{python}-numba{numba.__version__}-{platform.machine()}-{sys.platform}"


@functools.cache
def runs_shipped_code() -> bool:
    """Whether there is compiled code of this very package, and this processor can run it."""
    digest = shipped_folder() / "digest"
    if not digest.is_file() or digest.read_text("ascii") != package_digest():
        return False
    _, needed = FAMILIES.get(platform.machine(), ("", ("unknown",)))
    features = binding.get_host_cpu_features()
    return all(features.get(feature, False) for feature in needed)


def shipping_environment() -> dict[str, str]:
    """The variables under which a process compiles for others."""
    name, features = FAMILIES[platform.machine()]
    listed = ",".join(f"+{feature}" for feature in features)
    return {SHIP: "1", "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": listed}


def finish_shipping() -> Path:
    """Say which package the compiled code belongs to; gives its folder."""
    folder = shipped_folder()
    if package_digest.__wrapped__() != package_digest():
        raise SettingError("the sources changed during compilation: the compiled code does not match them")
    (folder / "digest").write_text(package_digest(), "ascii")
    return folder


def private_folder() -> Path:
    """A folder under the system's temporary one that belongs to this user alone, made if it is not there."""
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"latentgram-kernels-{owner}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or (
        hasattr(os, "getuid") and (status.st_uid != owner or status.st_mode & 0o077)
    ):
        raise PermissionError(f"{folder} is not a private folder of this user: compiled code is not stored there")
    return folder


@functools.cache
def _announce_temporary() -> None:
    folder = private_folder()
    logger.warning(
        "compiled code is stored in %s, because no other place is writable (see NUMBA_CACHE_DIR)", folder
    )


class Compiling:
    """How long was spent compiling in this process, and who is told of it.

    A function that is compiled may need others that are not compiled yet: only the outermost counts.
    """

    expected = 15
    """Seconds that the work at hand is likely to need for it."""
    seconds = 0.0
    """Processor time spent so far."""
    _depth, _count, _since, _told = 0, 0, 0.0, 0.0

    def begin(self) -> None:
        """A function is going to be compiled."""
        now = time.process_time()
        if not self._count:
            logger.info("compiling once (about %d s) …", self.expected)
            self._told = now
        elif now - self._told >= TOLD_EVERY:
            logger.info("compiling: functions compiled so far: %d", self._count, extra={"passing": True})
            self._told = now
        if not self._depth:
            self._since = now
        self._depth += 1
        self._count += 1

    def end(self) -> None:
        """It is compiled."""
        self._depth -= 1
        if not self._depth:
            self.seconds += time.process_time() - self._since


compiling = Compiling()
TOLD_EVERY = 5.0
"""Seconds between two messages, on a terminal, that something is still being compiled."""


@functools.cache
def load_registries() -> None:
    """Load what compiled code needs of numba, or the first kernel does.

    On the way numba looks whether there is BLAS by importing scipy.linalg, which takes two thirds of the time. It
    is there, since the package requires scipy; code that calls BLAS imports it itself.
    """
    from numba.np import linalg

    linear: Any = linalg
    look = linear.ensure_blas
    linear.ensure_blas = lambda: None
    try:
        cpu_target.target_context.refresh()
    finally:
        linear.ensure_blas = look


class _TemporaryLocator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """The last resort: a private folder that goes with the machine."""

    def __init__(self, py_func: Function, py_file: str) -> None:
        self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno
        self._cache_path = os.fspath(private_folder() / self.get_suitable_cache_subpath(py_file))

    def get_cache_path(self) -> str:
        """The folder."""
        return self._cache_path

    @classmethod
    def from_function(cls, py_func: Function, py_file: str) -> object:
        """A locator, if the folder is there and private."""
        try:
            return super().from_function(py_func, py_file)
        except OSError:
            return None


class KernelCacheImpl(caching.CompileResultCacheImpl):
    """Where the files of a kernel are."""

    _locator_classes = [  # noqa: RUF012
        caching.UserProvidedCacheLocator,
        caching.InTreeCacheLocator,
        caching.UserWideCacheLocator,
        _TemporaryLocator,
    ]

    def reduce(self, compiled: Any) -> tuple[object, ...]:
        """What a file is to hold: machine code, and for the linker no more than the name that Python calls.

        Numba keeps all code for the linker as well, more than the machine code; but what other kernels are linked
        with is an inner form (kernel_dispatch.py).
        """
        (name, form, (machine_code, _)), *others = super().reduce(compiled)
        called = f'define void @"{compiled.fndesc.llvm_cpython_wrapper_name}"() {{ unreachable }}'
        return (name, form, (machine_code, binding.parse_assembly(called).as_bitcode())), *others


class KernelCache(caching.FunctionCache):
    """The cache of one function: shipped code first, then numba's."""

    _impl_class = KernelCacheImpl
    _form: tuple[str, ...] = ()
    """What a form of a kernel that is not for Python adds to the key of a signature."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self._stamp = sources_stamp(Path(function.__code__.co_filename))
        self._cache_file = caching.IndexDataCacheFile(self._cache_path, self._impl.filename_base, self._stamp)
        module = function.__module__.removeprefix("latentgram.")
        self._file_name = f"{module}.{function.__qualname__}".replace("<", "").replace(">", "")

    def _index_key(self, sig: object, codegen: Any) -> tuple[object, ...]:
        return (*super()._index_key(sig, codegen), *self._form)

    def _shipped_key(self, sig: object) -> tuple[str, ...]:
        return repr(sig), *self._form

    @functools.cached_property
    def _shipped(self) -> Any:
        return caching.IndexDataCacheFile(os.fspath(shipped_folder()), self._file_name, package_digest())

    @functools.cached_property
    def _read_only(self) -> list[Any]:
        """The caches that one may read but not write, as in an image of a container: numba passes over them."""
        file = self._impl.locator._py_file
        config: Any = numba.config
        locators: list[Any] = [caching.UserProvidedCacheLocator] if config.CACHE_DIR else []
        locators.append(caching.InTreeCacheLocator)
        paths = [locator(self._py_func, file).get_cache_path() for locator in locators]
        # Those before the one that is written: code in a later one may differ, as by bounds checks.
        passed_over = itertools.takewhile(lambda path: path != self._cache_path, paths)
        name = self._impl.filename_base
        return [
            caching.IndexDataCacheFile(path, name, self._stamp)
            for path in passed_over
            if os.path.isfile(os.path.join(path, f"{name}.nbi"))
        ]

    def _load_read_only(self, sig: object, target_context: Any) -> object:
        for cache in self._read_only:
            try:
                if (data := cache.load(self._index_key(sig, target_context.codegen()))) is not None:
                    return self._impl.rebuild(target_context, data)
            except Exception:  # it cannot be read, or is damaged
                continue
        return None

    def load_overload(self, sig: object, target_context: Any) -> object:
        """The compiled function of a signature, if there is one."""
        load_registries()
        if runs_shipped_code():
            try:
                if (data := self._shipped.load(self._shipped_key(sig))) is not None:
                    target_context.refresh()
                    return self._impl.rebuild(target_context, data)
            except Exception:  # whatever is wrong with shipped code, it can be compiled here
                pass
        try:
            compiled = super().load_overload(sig, target_context)
        except Exception:  # a damaged file of the cache: it is written again
            compiled = None
            with contextlib.suppress(OSError):
                self.flush()
        compiled = compiled or self._load_read_only(sig, target_context)
        if compiled is None:
            compiling.begin()
        return compiled

    def save_overload(self, sig: object, data: Any) -> None:
        """Keep a compiled function; also for others, where that is asked for."""
        compiling.end()
        if isinstance(self._impl.locator, _TemporaryLocator):
            _announce_temporary()
        if os.environ.get(SHIP) and self._impl.check_cachable(data):
            shipped_folder().mkdir(parents=True, exist_ok=True)
            self._shipped.save(self._shipped_key(sig), self._impl.reduce(data))
        with contextlib.suppress(OSError):  # a full disk: it is compiled, and will be again next time
            super().save_overload(sig, data)
