"""Progress: what long work calls now and then, and what shows it to a user."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from .kernels.protocol import Progress

__all__ = ["Bar", "LossProgress", "PhaseProgress", "Phases", "Progress", "RunProgress", "share"]

LossProgress = Callable[[float, float], None]
"""Called with the fraction done, and the loss or sum of squares so far."""

RunProgress = Callable[[float, str], None]
"""Called with the fraction done, and the method and k that are running."""

PhaseProgress = Callable[[str, float], None]
"""Called with the name of a phase, and the fraction of it that is done."""


class Bar(Protocol):
    """What moves the bar of a phase: a `Progress`, a `LossProgress` and a `RunProgress` in one."""

    def __call__(self, fraction: float, detail: float | str | None = None, /) -> None:
        """Show the fraction done, and the loss so far or what is running."""


class Phases(Protocol):
    """The phases of a job, one after the other: on the terminal, or in the browser."""

    def __call__(self, what: str) -> AbstractContextManager[Bar | None]:
        """A phase, while it lasts; it yields what takes the progress, if anybody wants it."""

    def say(self, sentence: str) -> None:
        """Show a sentence beside the phases."""


def share(progress: Progress | None, done: float, size: float, total: float) -> Progress:
    """The progress of a part of some work: of `size` of its `total` steps, after `done` of them."""

    def part(fraction: float) -> None:
        if progress is not None:
            progress((done + fraction * size) / total)

    return part
