"""Decorators that compile functions of the kernel, with a cache that is invalidated by changes in any of its files.

Numba optimises and emits each function together with all functions that it calls, so that inner functions are compiled many times.
Here only an `entry`, which Python calls, is optimised and emitted; the functions that it calls are translated to LLVM code once,
and linked into it. What a process compiles is what it and later processes load from the cache, bit for bit.
"""

import gc
import hashlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numba as nb
from numba.core import codegen
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from phloat.motion.kernel.machine.uncompiled import UNCOMPILED

_dynfunc: Any = import_module("numba._dynfunc")
llvm: Any = vars(codegen)["ll"]  # llvmlite.binding
PHLOAT = Path(__file__).parents[3]
SOURCES = [
    file
    for pattern in ("motion/kernel/**/*.py", "motion/continuous/*.py", "joints/scalar.py", "joints/row_functions.py")
    for file in sorted(PHLOAT.glob(pattern))
]


def _source_stamp() -> str:
    """A digest of the times and sizes of all compiled files."""
    stats = [file.stat() for file in SOURCES]
    return hashlib.sha256(repr([(s.st_mtime, s.st_size) for s in stats]).encode()).hexdigest()


_STAMP = _source_stamp()


class _InnerLibrary(JITCodeLibrary):
    """The LLVM code of a function that only compiled functions call: neither optimised nor emitted."""

    def finalize(self) -> None:
        self._finalized = True


class _EntryLibrary(JITCodeLibrary):
    """A function that Python calls, with all functions that it calls."""

    def finalize(self) -> None:
        self._own = {symbol.name for symbol in self._symbols()}
        super().finalize()

    def _symbols(self) -> list[Any]:
        symbols = *self._final_module.functions, *self._final_module.global_variables
        return [symbol for symbol in symbols if not symbol.is_declaration]

    def _optimize_final_module(self) -> None:
        for symbol in self._symbols():
            if symbol.name not in self._own:
                symbol.linkage = "internal"
        super()._optimize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        """The machine code, and instead of the LLVM code, into which nothing is linked, a list of its symbols."""
        self._ensure_finalized()
        names = [f.name for f in self.get_defined_functions() if f.linkage == llvm.Linkage.external]
        stub = "".join(f'define void @"{name}"() {{ unreachable }}\n' for name in names)
        return self.name, "object", (self._get_compiled_object(), llvm.parse_assembly(stub).as_bitcode())


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    """Translates a function that only compiled functions call to LLVM code, which is linked into its callers."""

    def run_pass(self, state: Any) -> bool:
        library = state.library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        function = lowered.fndesc.lookup_module(), state.func_id.func_name, "", 0, lowered.env, (library,)
        callee = _dynfunc.make_function(*function)  # of address 0
        libraries = list(dict.fromkeys([library, *library._linking_libraries]))
        state.targetctx.insert_user_function(callee, lowered.fndesc, libraries)
        state["cr"] = lowered._replace(cfunc=callee)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):
    """Compiles a function that Python calls."""

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class _Compiler(CompilerBase):
    """Numba's compiler with one of the passes above in place of its own."""

    lowering: type

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(self.lowering if one is NativeLowering else one, about) for one, about in manager.passes]
        return [manager]


class _InnerCompiler(_Compiler):
    lowering = _InnerLowering


class _EntryCompiler(_Compiler):
    lowering = _EntryLowering

    def compile_extra(self, func: Callable) -> Any:
        """Compiles without garbage collection, which takes an eighth of the time and finds nothing."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if collects:
                gc.enable()


def _load_cache(load: Callable[[], dict[Any, Any]]) -> dict[Any, Any]:
    """The cache index of a function; empty if it was written by a version with other classes."""
    try:
        return load()
    except (AttributeError, ImportError):
        return {}


def _load_entry(cache: Any, signature: Any, context: Any) -> Any:
    """Loads a function from the cache without Numba's registries, which take 0.1 s and only compilation needs."""
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context)


def compiled(**options: Any) -> Callable:
    """A decorator that compiles with these options.

    Numba's cache checks the file of a function, not the files of the functions that are compiled into it; the stamp covers all.
    """
    compile_function = nb.njit(**options)

    def decorator(function: Callable) -> Callable:
        dispatcher = compile_function(function)
        if not UNCOMPILED and options.get("cache"):
            cache = dispatcher._cache
            file = cache._cache_file
            file._source_stamp, file._load_index = _STAMP, partial(_load_cache, file._load_index)
            cache.load_overload = partial(_load_entry, cache)
        return dispatcher

    return decorator


# The functions allocate nothing, so reference counting is off (_nrt): it costs atomic operations at every call.
_options: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
    "nogil": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
# Without the wrapper for calls from Python: such a call ends the process.
_inner = {**_options, "no_cpython_wrapper": True, "pipeline_class": _InnerCompiler}
entry = compiled(**_options, cache=True, pipeline_class=_EntryCompiler)
inner = compiled(**_inner)
hot = compiled(**_inner, forceinline=True)
rare = compiled(**_inner, forceinline=False)  # LLVM may inline functions into `hot` callers; these stay separate
exact = compiled(**{**_inner, "fastmath": False})  # sums in the order written
