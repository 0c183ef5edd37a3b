"""The time that compiling takes: a clock that leaves it out, and somebody who is told of it.

Kernels are compiled when they are first called. A budget of seconds is for work, so it is measured
by `clock`, which stands still in the meantime.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

_depth = 0  # kernels being compiled, each because of the one before
_since = 0.0
_spent = 0.0
_told: list[Callable[[bool], None]] = []


def begin() -> None:
    """Note that a kernel is being compiled, maybe for another one that is."""
    global _depth, _since
    _depth += 1
    if _depth == 1:
        _since = perf_counter()
        for tell in _told:
            tell(True)


def end() -> None:
    """Note that it is done."""
    global _depth, _spent
    _depth -= 1
    if _depth == 0:
        _spent += perf_counter() - _since
        for tell in _told:
            tell(False)


def clock() -> float:
    """Seconds, as by `time.perf_counter`, less those in which kernels were compiled."""
    return (_since if _depth else perf_counter()) - _spent


def spent() -> float:
    """The seconds in which this process has compiled kernels."""
    return _spent + (perf_counter() - _since if _depth else 0.0)


@contextmanager
def watched(tell: Callable[[bool], None]) -> Iterator[None]:
    """Call a function with True when compiling begins and with False when it ends."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)
