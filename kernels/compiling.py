"""The time that compiling takes: a clock that leaves it out, and functions that are called.

Kernels are compiled when they are first called. A budget of seconds is for work, so it is measured
by `clock`, which stands still in the meantime.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

_depth = 0  # kernels being compiled, each because of the one before
_since = 0.0
_spent = 0.0
_listeners: list[Callable[[bool], None]] = []


def begin() -> None:
    """Note that a kernel is being compiled, maybe for another one that is."""
    global _depth, _since
    _depth += 1
    if _depth == 1:
        _since = perf_counter()
        for listener in _listeners:
            listener(True)


def end() -> None:
    """Note that it is done."""
    global _depth, _spent
    _depth -= 1
    if _depth == 0:
        _spent += perf_counter() - _since
        for listener in _listeners:
            listener(False)


def clock() -> float:
    """Seconds, as by `time.perf_counter`, less those in which kernels were compiled."""
    return (_since if _depth else perf_counter()) - _spent


def spent() -> float:
    """The seconds in which this process has compiled kernels."""
    return _spent + (perf_counter() - _since if _depth else 0.0)


@contextmanager
def watched(listener: Callable[[bool], None]) -> Iterator[None]:
    """Call a function with True when compiling begins and with False when it ends."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
