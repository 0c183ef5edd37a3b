"""The process that works: it reads requests as lines of JSON, and writes what comes of them.

It can be killed at any moment: it writes to the session's folder only. It ends by itself when the
server is gone. ``python -m microagg_gpu.app.worker`` is how the server starts it.
"""

import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TextIO

from ..errors import DataWarning, InputError, Option
from ..progress import Bar

OFTEN = 0.1  # seconds between two reports of progress


class Stopped(Exception):
    """The server does not want the answer any more."""


class SentPhases:
    """Phases of a request, sent to the server; a request that is stopped ends at the next."""

    def __init__(self, send: Callable[[dict[str, Any]], None], stopped: Callable[[], bool]) -> None:
        self._send, self._stopped = send, stopped

    @contextmanager
    def __call__(self, what: str) -> Iterator[Bar]:
        """Send that a phase begins and ends; yield what takes its progress."""
        last = 0.0

        def show(fraction: float, detail: float | str | None = None, /) -> None:
            nonlocal last
            self.check()
            now = time.monotonic()
            if now - last >= OFTEN:
                last = now
                loss = detail if isinstance(detail, float) else None
                self._send({"phase": what, "fraction": float(fraction), "loss": loss})

        self.check()
        self._send({"phase": what, "fraction": None, "loss": None})
        yield show
        self.check()
        self._send({"phase": what, "fraction": 1.0, "loss": None, "ended": True})

    def compiling(self, begins: bool) -> None:
        """Send that kernels are compiled, or that this has ended."""
        self._send({"compiling": begins})

    def say(self, sentence: str) -> None:
        """Show nothing: a refinement by steps is stopped only with the whole request."""

    def check(self) -> None:
        """Stop here if the server wants that."""
        if self._stopped():
            raise Stopped


def refused(error: InputError) -> dict[str, Any]:
    """An error as parts: texts, and options that would mend it."""
    parts = [
        {"option": part.name, "value": part.value if part.has_value else None}
        if isinstance(part, Option)
        else " ".join(part.splitlines())
        for part in error.args
    ]
    return {"error": [part for part in parts if part]}


class Worker:
    """Requests from one stream, answers to another."""

    def __init__(self, source: TextIO, target: TextIO) -> None:
        self._target, self._source = target, source
        self._waiting: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._stopped = -1  # the last request that is not wanted any more
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self._source:
            message = json.loads(line)
            if "stop" in message:
                self._stopped = message["stop"]
            else:
                self._waiting.put(message)
        os._exit(0)  # the server is gone

    def _send(self, message: dict[str, Any]) -> None:
        self._target.write(json.dumps(message, allow_nan=False) + "\n")
        self._target.flush()

    def run(self) -> None:
        """Answer requests, one after the other, for ever."""
        from ..kernels import compiling
        from .requests import answer

        while True:
            request = self._waiting.get()
            number = request["request"]
            phase = SentPhases(
                lambda parts, number=number: self._send({"request": number, **parts}),  # type: ignore[misc]
                lambda number=number: number <= self._stopped,  # type: ignore[misc]
            )
            with warnings.catch_warnings(record=True) as seen, compiling.watched(phase.compiling):
                warnings.simplefilter("always", DataWarning)
                try:
                    done = {"done": answer(request, phase)}
                except Stopped:
                    done = {"stopped": True}
                except InputError as error:
                    done = refused(error)
                except MemoryError:
                    done = {"error": ["There is not enough memory for this."]}
                except OSError as error:
                    done = {"error": [str(error)]}
            texts = [str(w.message) for w in seen if issubclass(w.category, DataWarning)]
            self._send({"request": number, "warnings": list(dict.fromkeys(texts)), **done})


def main() -> None:
    """Answer requests; what libraries print goes to the terminal, not into the answers."""
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    Worker(open(0, encoding="utf-8", closefd=False), answers).run()  # noqa: SIM115


if __name__ == "__main__":
    main()
