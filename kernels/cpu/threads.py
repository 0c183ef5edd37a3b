"""Work on all cores: a kernel is called for parts of a range, by Python's threads.

Kernels run without the interpreter's lock. Numba's own parallel loops would take two to four
seconds each to compile, and their threads wait for each other without sleep: on a busy machine
that wastes most of the time they get.
"""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from numba import get_num_threads

_PARTS = 8  # for each thread, so that none waits long for the last


def on_all_cores(kernel: Callable[..., Any], number: int, *arguments: Any, run: int = 1) -> list:
    """Call `kernel(first, last, *arguments)` for parts that make up the range from 0 to `number`.

    Each part but the last is a multiple of `run`. What the calls return is listed in the order of
    the parts; how many parts there are depends on the number of threads.
    """
    threads = get_num_threads()
    runs = -(-number // run)
    size = run * max(1, -(-runs // (_PARTS * threads) if threads > 1 else runs))
    returned: list[Any] = [None] * -(-number // size)
    coming = iter(range(len(returned)))

    def work() -> None:
        for part in coming:
            last = min((part + 1) * size, number)
            returned[part] = kernel(part * size, last, *arguments)

    helpers = [_pool(threads).submit(work) for _ in range(min(threads, len(returned)) - 1)]
    try:
        work()
    finally:
        deque(coming, maxlen=0)  # parts are left if this was interrupted: nobody begins them
        for helper in helpers:
            helper.result()
    return returned


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that sleep while they wait."""
    return ThreadPoolExecutor(threads)


# A process that was forked has none of the threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
