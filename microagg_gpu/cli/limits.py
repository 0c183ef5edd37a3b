"""A limit of the memory of a process (``ulimit -v``), seen before anything large is imported."""

import os

_MEGABYTE = 2**20
# What the libraries take by themselves, with the settings below; measured, and rounded up.
_NEEDED = {"protect": 1200, "compare": 1200, "report": 1200, "warmup": 1200, "app": 1200}
_NEEDED_BY_OTHERS = 400
# Arrow's own allocator reserves 1 GiB at once, and each thread of a library a heap of its own.
_SPARING = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def memory_limit() -> int | None:
    """The most memory that the process may reserve, in bytes; None without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit in (resource.RLIM_INFINITY, -1) else limit


def prepare(arguments: list[str]) -> str | None:
    """Make libraries sparing where memory is limited.

    Returns
    -------
    str or None
        What is wrong if there is too little: native libraries end the process then, in ways that
        cannot be caught.
    """
    limit = memory_limit()
    if limit is None:
        return None
    if limit < (2048 + 512 * (os.cpu_count() or 1)) * _MEGABYTE:
        for name, value in _SPARING.items():
            os.environ.setdefault(name, value)
    needed = max([_NEEDED_BY_OTHERS, *(_NEEDED.get(word, 0) for word in arguments[:1])])
    if limit >= needed * _MEGABYTE:
        return None
    return (
        f"the memory of this process is limited to {limit // _MEGABYTE:,} MB (ulimit -v) and the "
        f"command needs {needed:,} MB or more: raise the limit"
    )


def is_want_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory, or a thread, could not be had."""
    if isinstance(error, MemoryError):
        return True
    signs = ("failed to map segment", "Cannot allocate memory", "start new thread", "libllvmlite")
    return isinstance(error, (ImportError, OSError, RuntimeError)) and any(
        sign in str(error) for sign in signs
    )
