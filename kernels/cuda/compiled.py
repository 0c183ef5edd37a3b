"""How kernels that the host launches are compiled: once, and kept for later processes.

numba-cuda's own cache names a kernel by what its closure holds. That differs in every process, so
nothing would ever be found again.
"""

import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from numba import cuda

from .. import cache as kept
from .. import compiling
from .arithmetic import SIMULATED

# Packages that turn a kernel's source into machine code begin with one of these.
_COMPILERS = "numba-cuda", "nvidia-", "cuda-"


def entry(*made_for: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel when it is first launched, or load it from `kernels.cache`.

    Parameters
    ----------
    *made_for
        What the function that makes the kernel was given, if that makes different ones.
    """

    def decorate(kernel: Callable[..., Any]) -> Any:
        dispatcher = cuda.jit(kernel)
        if not SIMULATED:
            keep(dispatcher, made_for)
        return dispatcher

    return decorate


def keep(dispatcher: Any, made_for: tuple[Any, ...]) -> None:
    """Give a kernel a cache, and note when it is compiled."""
    from numba.cuda import serialize
    from numba.cuda.core.caching import NullCache
    from numba.cuda.dispatcher import _Kernel

    class KernelCache(NullCache):
        """The compiled forms of one kernel, a file for each signature and type of GPU."""

        compiling = False

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """What was compiled for a signature; None if it is not there."""
            for content in kept.load(_file(dispatcher.py_func, made_for, sig)):
                try:
                    return _Kernel._rebuild(**pickle.loads(content))
                except Exception:  # a file that is broken can raise anything
                    continue
            self.compiling = True
            compiling.begin()
            return None

        def save_overload(self, sig: Any, data: Any) -> None:
            """Keep what was compiled for a signature."""
            content = serialize.dumps(data._reduce_states())
            kept.save(_file(dispatcher.py_func, made_for, sig), content)

    usual = dispatcher.compile
    dispatcher._cache = own = KernelCache()

    def compiled(sig: Any) -> Any:
        """Compile, and say when it is over, whether it succeeded or not."""
        try:
            return usual(sig)
        finally:
            if own.compiling:
                own.compiling = False
                compiling.end()

    dispatcher.compile = compiled


def _file(kernel: Callable[..., Any], made_for: tuple[Any, ...], signature: Any) -> str:
    capability = cuda.get_current_device().compute_capability
    name = f"{kernel.__module__}.{kernel.__qualname__}"
    parts = repr((name, made_for, signature, tuple(capability), _sources()))
    digest = hashlib.sha256(parts.encode()).hexdigest()[:16]
    return f"cuda.{kernel.__module__.split('.')[-1]}.{kernel.__name__}-{digest}.kernel"


@cache
def _sources() -> str:
    """A hash of the sources of this package and of the versions of the compilers."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    installed = {f"{package.name} {package.version}" for package in distributions()}
    digest.update(repr(sorted(p for p in installed if p.startswith(_COMPILERS))).encode())
    return digest.hexdigest()
