"""Signals that end the command: Ctrl-C, SIGTERM and SIGHUP. Nothing is imported that takes time."""

import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# SIGHUP comes when a terminal is closed; Windows has none.
SIGNALS: list[int] = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]

written: deque[str] = deque(maxlen=16)  # names of the files that are in their places
stopped = 0  # the number of the signal that came, if any
_working = False
_lost = False  # whether a KeyboardInterrupt came where nobody could take it
_ending = False  # whether a signal is to end the process before any work


def listen() -> None:
    """Take the signals, but for those that are ignored, as `nohup` does with SIGHUP."""
    for number in SIGNALS:
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
    sys.unraisablehook = _note_lost


def _note_lost(lost: Any) -> None:
    """Print nothing of what a signal does to a library that compiles.

    A KeyboardInterrupt in a callback would be printed, and so would the errors of objects that
    were only half made when it came.
    """
    global _lost
    _lost = _lost or isinstance(lost.exc_value, KeyboardInterrupt)
    if not stopped:
        sys.__unraisablehook__(lost)


def check() -> None:
    """Stop here if a KeyboardInterrupt was lost."""
    global _lost
    if _lost:
        _lost = False
        raise KeyboardInterrupt


def ignore() -> None:
    """Let the process end in its own way, now that all is done."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    # Python remembers a KeyboardInterrupt that came while it ran a text, and would end itself by
    # SIGINT for it; to run another text makes it forget.
    exec("")


def stop(number: int = signal.SIGINT, _: Any = None) -> None:
    """Handle a signal, and note it: where it falls into a compilation, another error comes of it.

    While a command works it is a KeyboardInterrupt, which the work may catch; else the process
    ends.
    """
    global stopped, _ending
    stopped = number
    if _working:
        raise KeyboardInterrupt
    if sys.stderr is not None and not _ending:
        print(sentence(), file=sys.stderr)
    _ending = True
    raise SystemExit(exit_code())


def sentence() -> str:
    """What a command says that was stopped."""
    return f"stopped; {what_was_written()}"


def what_was_written() -> str:
    """Say which files are in their places."""
    if not written:
        return "nothing was written"
    return f"{', '.join(written)} {'was' if len(written) == 1 else 'were'} written"


def exit_code() -> int:
    """The exit code by convention: 128 and the number of the signal."""
    return 128 + (stopped or signal.SIGINT)


@contextmanager
def working() -> Iterator[None]:
    """While this lasts, signals are KeyboardInterrupts."""
    global _working, _lost, _ending, stopped
    if _ending:  # a library that was being imported dropped the SystemExit
        _ending = False
        raise SystemExit(exit_code())
    written.clear()
    stopped = 0
    _lost = False
    _working = True
    try:
        yield
    finally:
        _working = False


@contextmanager
def deferred() -> Iterator[None]:
    """Let signals wait while files are put in their places."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread
        return
    arrived: list[int] = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: arrived.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number in arrived[:1]:
        handler = handlers[number]
        if callable(handler):
            handler(number, None)
