"""How kernels are compiled: kept in Numba's cache, free of the interpreter's lock.

The wrappers that Numba makes by default take a good part of the time to compile, so each kernel
gets only those it needs.
"""

from functools import partial

from numba import njit

# Called from Python.
entry = partial(njit, cache=True, nogil=True, no_cfunc_wrapper=True)
# Called by other kernels only: to call one from Python ends the process.
inner = partial(entry, no_cpython_wrapper=True)
