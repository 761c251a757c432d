"""A kernel is compiled in two forms: for calls from Python, and for calls from other kernels.

For calls from Python, numba makes machine code and a wrapper that takes every array out of its object. A kernel
that another one calls needs neither: its code is linked into that of its caller, optimised there, and runs there.
So it is stored as code for the linker alone, an *inner* kernel, which is compiled in less than half the time. All
of a kernel that Python calls is thus optimised together, as the functions of one file are in C, and the result
does not depend on what was compiled before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

from llvmlite import binding
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

from latentgram.kernel_cache import KernelCache, KernelCacheImpl

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of the variables begin that point to the constants of a function."""

Function = Callable[..., Any]


class InnerLibrary(JITCodeLibrary):
    """Code to be linked into that of callers; it is not optimised, and no machine code is made of it."""

    def _optimize_final_module(self) -> None:
        """Callers do this, with all that they are linked with."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _InnerPipeline(compiler.Compiler):
    """Numba's stages of compilation, without a wrapper and machine code at the end."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returned: Any, flags: Any, local: Any):
        flags.no_cpython_wrapper = flags.no_compile = True
        super().__init__(typing, target, InnerLibrary(target.codegen(), "inner"), args, returned, flags, local)


class _InnerCacheImpl(KernelCacheImpl):
    """How inner kernels are written to files and read again."""

    def reduce(self, compiled: Any) -> tuple[object, ...]:
        """What a file is to hold."""
        compiled.fndesc.typemap = compiled.fndesc.calltypes = None  # large, and not needed any more
        code = compiled.library._final_module.as_bitcode()
        environments = tuple(compiled._find_referenced_environments())
        return code, compiled.fndesc, compiled.environment, compiled.signature, compiled.reload_init, environments

    def rebuild(self, target: Any, stored: tuple[Any, ...]) -> object:
        """The kernel of a file."""
        code, description, environment, signature, reload_init, environments = stored
        for function in reload_init:
            function()
        library = InnerLibrary(target.codegen(), "inner")
        library._final_module = binding.parse_bitcode(code)
        library._finalize_final_module()
        told = dict.fromkeys(compiler.CompileResult._fields) | {
            "target_context": target,
            "typing_context": target.typing_context,
            "library": library,
            "environment": environment,
            "entry_point": object(),
            "fndesc": description,
            "signature": signature,
            "objectmode": False,
            "lifted": (),
            "reload_init": reload_init,
            "referenced_envs": environments,
        }
        return compiler.CompileResult(**told)


class _InnerCache(KernelCache):
    """The cache of one inner kernel."""

    _impl_class = _InnerCacheImpl
    _form = ("inner",)


class InnerDispatcher(CPUDispatcher):
    """The inner forms of a kernel, one for each signature."""

    def __init__(self, function: Function, local: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__(function, local, options, _InnerPipeline)
        with suppress(RuntimeError):  # raised where nothing can be written: then nothing is kept
            self._cache = _InnerCache(function)

    def stand_for_function(self) -> None:
        """Have kernels that call the function itself find this."""
        self.typingctx.insert_global(self.py_func, self._numba_type_)
        vars(self.py_func)["inner"] = self  # numba refers to it weakly

    def add_overload(self, compiled: Any) -> None:
        """Have callers find it: numba knows a function by what Python calls, for which something else stands."""
        if compiled.entry_point is None:
            compiled = compiled._replace(entry_point=object())
            self.targetctx.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
        self.overloads[tuple(compiled.signature.args)] = compiled


class KernelDispatcher(CPUDispatcher):
    """A kernel: Python calls what is compiled for Python, and other kernels are linked with its inner forms."""

    def __init__(self, py_func: Function, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals, targetoptions)
        with suppress(RuntimeError):
            self._cache = KernelCache(py_func)

    @cached_property
    def _inner(self) -> Any:
        return InnerDispatcher(self.py_func, self.locals, self.targetoptions)

    @property
    def is_compiling(self) -> Any:
        """Whether a form of it is being compiled: a kernel may call itself."""
        return bool(self._compiling_counter) or self._inner.is_compiling

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a call by another kernel means."""
        return self._inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What another kernel calls."""
        return self._inner.get_overload(sig)

    def add_overload(self, compiled: Any) -> None:
        """Have Python find it; all that is linked into it is told where its constants are."""
        super().add_overload(compiled)
        for variable in compiled.library._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT) and (environment := lookup_environment(variable.name)):
                compiled.library.codegen.set_env(variable.name, environment)
