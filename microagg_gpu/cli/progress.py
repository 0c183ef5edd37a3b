"""Progress bars on the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .. import stopping

Tell = Callable[..., None]  # with the fraction done, and the loss so far or what is running


class Phases:
    """The phases of a run, one after the other, each with a bar on the terminal."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar

    @contextmanager
    def __call__(self, what: str) -> Iterator[Tell | None]:
        """Show a phase while it lasts; yield what moves its bar."""
        if self._bar is None:
            yield None
            stopping.check()
            return
        task = self._bar.add_task(what, total=None)

        def tell(fraction: float, more: float | str | None = None) -> None:
            text = what
            if isinstance(more, str):
                text = f"{what}: {more}"
            elif more is not None:
                text = f"{what}, loss {more:.4f} %"
            self._move(task, fraction, text)

        yield tell
        stopping.check()
        self._move(task, 1.0)

    def say(self, sentence: str) -> None:
        """Print a line above the bars; nothing where there is no terminal."""
        if self._bar is not None:
            self._bar.console.print(sentence)

    def close(self) -> None:
        """Take the bars off the terminal, before results are printed there."""
        if self._bar is not None:
            self._bar.stop()

    def _move(self, task: TaskID, fraction: float, text: str | None = None) -> None:
        if self._bar is not None:
            self._bar.update(task, total=1.0, completed=fraction, description=text)


@contextmanager
def phases() -> Iterator[Phases]:
    """Bars on the terminal, which go when the work is done; none where there is no terminal."""
    console = Console(stderr=True, markup=False, emoji=False)
    if not (sys.stderr.isatty() and console.is_interactive):
        yield Phases(None)
        return
    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TextColumn("elapsed"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=console, transient=True,
    ) as bar:  # fmt: skip
        yield Phases(bar)
