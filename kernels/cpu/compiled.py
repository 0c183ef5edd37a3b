"""How kernels are compiled: kept in the cache, free of the interpreter's lock.

The wrappers that Numba makes by default take a good part of the time to compile, so each kernel
gets only those it needs.
"""

import hashlib
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit, types
from numba.core import event, serialize
from numba.core.caching import NullCache
from numba.core.compiler import Compiler, CompileResult

from .. import cache, compiling
from .linked import EntryCompiler, InnerCompiler, rebuild


class KernelCache(NullCache):
    """The compiled forms of one kernel in `kernels.cache`, a file for each signature.

    Numba's own cache looks at the file of a kernel only, not at the files of those that it calls.
    What cannot be read or written is compiled again.
    """

    def __init__(
        self, kernel: Callable[..., Any], rebuild: Callable[..., Any] = CompileResult._rebuild
    ) -> None:
        self._kernel = f"{kernel.__module__}.{kernel.__qualname__}"
        self._rebuild = rebuild

    @property
    def cache_path(self) -> str:
        """The folder, for Numba's statistics."""
        return str(cache.folders()[0]) if cache.folders() else ""

    def _file(self, signature: Any, codegen: Any) -> str:
        # The last is the processor, and what it can do.
        made_for = repr((self._kernel, signature, codegen.magic_tuple()))
        name = ".".join(self._kernel.split(".")[-2:])
        return f"{name}-{hashlib.sha256(made_for.encode()).hexdigest()[:16]}.kernel"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for a signature; None if it is not there."""
        target_context.refresh()
        for content in cache.load(self._file(sig, target_context.codegen())):
            try:
                return self._rebuild(target_context, *pickle.loads(content))
            except Exception:  # a file that is broken can raise anything
                continue
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep what was compiled for a signature."""
        cache.save(self._file(sig, cres.codegen), serialize.dumps(cres._reduce()))


class _Listener(event.Listener):
    def on_start(self, event: Any) -> None:
        compiling.begin()

    def on_end(self, event: Any) -> None:
        compiling.end()


event.register("numba:compile", _Listener())


def _compiled(
    kept: Callable[[Callable[..., Any]], KernelCache],
    compiler: type[Compiler],
    allocates: bool,
    **options: Any,
) -> Callable[[Callable[..., Any]], Any]:
    def decorate(kernel: Callable[..., Any]) -> Any:
        # It divides as NumPy does: checks for 0 would be code.
        options.update(nogil=True, no_cfunc_wrapper=True, error_model="numpy", _nrt=allocates)
        dispatcher = njit(pipeline_class=compiler, **options)(kernel)
        dispatcher._cache = kept(kernel)
        usual = dispatcher.get_call_template

        def call_template(args: Any, kws: Any) -> Any:
            """Take the number 0 as any int64: else Numba compiles a kernel for it apart."""
            return usual(tuple(map(types.unliteral, args)), kws)

        dispatcher.get_call_template = call_template
        return dispatcher

    return decorate


# Makes a kernel that is compiled when it is called from Python.
entry = partial(_compiled, KernelCache, EntryCompiler, allocates=True)
# One that other kernels call only: to call it from Python ends the process. Unless it `allocates`,
# it may not make an array, nor get one from a function that does, nor return one; then it counts no
# references to arrays, in which a tenth of MDAV's time went.
inner = partial(
    _compiled, partial(KernelCache, rebuild=rebuild), InnerCompiler, allocates=False,
    no_cpython_wrapper=True,
)  # fmt: skip
