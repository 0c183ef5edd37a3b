"""Progress bars on the terminal."""

import sys
from collections.abc import Iterator
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
from ..kernels import compiling
from ..progress import Bar


class TerminalPhases:
    """The phases of a run, one after the other, each with a bar on the terminal."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._hidden: list[TaskID] = []
        self._compiling: TaskID | None = None

    @contextmanager
    def __call__(self, what: str) -> Iterator[Bar | None]:
        """Show a phase while it lasts; yield what moves its bar."""
        if self._bar is None:
            yield None
            stopping.check()
            return
        task = self._bar.add_task(what, total=None)

        def show(fraction: float, detail: float | str | None = None, /) -> None:
            text = what
            if isinstance(detail, str):
                text = f"{what}: {detail}"
            elif detail is not None:
                text = f"{what}, loss {detail:.4f} %"
            self._move(task, fraction, text)

        yield show
        stopping.check()
        self._move(task, 1.0)

    def compiling(self, begins: bool) -> None:
        """Show that kernels are compiled instead of what waits for them, whose bar stands still."""
        if self._bar is None:
            return
        if begins:
            self._hidden = [task.id for task in self._bar.tasks if task.visible]
            if self._compiling is None:
                self._compiling = self._bar.add_task("compiling, once", total=None)
        for task in self._hidden:
            self._bar.update(task, visible=not begins)
        if self._compiling is not None:
            self._bar.update(self._compiling, visible=begins)

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
def phases() -> Iterator[TerminalPhases]:
    """Bars on the terminal, which go when the work is done; none where there is no terminal."""
    console = Console(stderr=True, markup=False, emoji=False)
    if not (sys.stderr.isatty() and console.is_interactive):
        yield TerminalPhases(None)
        return
    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TextColumn("elapsed"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=console, transient=True,
    ) as bar:  # fmt: skip
        shown = TerminalPhases(bar)
        with compiling.watched(shown.compiling):
            yield shown
