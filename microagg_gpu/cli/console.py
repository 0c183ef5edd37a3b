"""What the command ``microagg`` shows on the terminal, and how it reads its options."""

import errno
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO, cast

import typer
from typer.core import TyperCommand

from .. import stopping
from ..errors import DataWarning, InputError, reason, suggestion
from .limits import is_want_of_memory
from .parsing import as_command


@contextmanager
def clear_warnings() -> Iterator[None]:
    """One line for each thing that looks wrong in the data, when the work is done."""
    found: dict[str, None] = {}

    def note(message: Warning | str, category: type[Warning], *rest: Any, **given: Any) -> None:
        if issubclass(category, DataWarning):
            found[str(message)] = None
        else:
            usual(message, category, *rest, **given)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        usual, warnings.showwarning = warnings.showwarning, note
        yield
    for message in found:
        typer.echo(f"microagg: warning: {message}", err=True)


@contextmanager
def clear_errors() -> Iterator[None]:
    """One sentence for what a user can mend, instead of a traceback."""
    try:
        with stopping.working(), clear_warnings():
            yield
    except (typer.Exit, SystemExit):
        raise
    except InputError as error:
        _fail(error.written(as_command))
    except BaseException as error:
        written = stopping.what_was_written()
        if isinstance(error, KeyboardInterrupt) or stopping.stopped:
            typer.echo(stopping.sentence(), err=True)
            raise typer.Exit(stopping.exit_code()) from None
        if is_want_of_memory(error):
            _fail(f"not enough memory for this file; {written}")
        if isinstance(error, OSError):
            _fail(f"{error}; {written}")
        raise


def _fail(sentence: str) -> NoReturn:
    typer.echo(f"microagg: {sentence}", err=True)
    raise typer.Exit(2) from None


class _Stream:
    """A standard stream that cannot fail in the middle of the work; what failed is kept."""

    def __init__(self, stream: TextIO | None) -> None:
        self.failure: OSError | None = None
        self._closed = stream is None
        self._stream = stream or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="replace")  # a name that the terminal cannot show

    def write(self, text: str) -> int:
        if self._closed and self.failure is None and text:
            self.failure = OSError(errno.EBADF, "")
        self._try(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, act: Callable[[], Any]) -> None:
        if self.failure is None:
            try:
                act()
            except OSError as error:
                self.failure = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def safe_streams() -> Iterator[None]:
    """Run a command whose output may go nowhere: to a full disk, or a reader that has left."""
    output, errors = _Stream(sys.stdout), _Stream(sys.stderr)
    sys.stdout, sys.stderr = cast(TextIO, output), cast(TextIO, errors)
    code: Any = None
    try:
        yield
    except SystemExit as end:
        code = end.code
    stopping.ignore()  # all is done; the process only has to end
    output.flush()
    # `microagg check | head -1` has read all it wants, and still asks for the exit code.
    if output.failure is not None and not isinstance(output.failure, BrokenPipeError):
        written = f"; {stopping.what_was_written()}" if stopping.written else ""
        print(
            f"microagg: the result cannot be printed: {reason(output.failure)}{written}",
            file=sys.stderr,
        )
        code = code if code not in (None, 0, 1) else 2
    errors.flush()
    sys.exit(code)


class Command(TyperCommand):
    """A command that refuses an option given twice, of which only the last would count.

    And an empty one, as from a variable of the shell that is not set.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        options = [given for given in order if given.param_type_name == "option"]
        with clear_errors():
            for given in options:
                once = not (getattr(given, "multiple", False) or getattr(given, "is_flag", False))
                if once and options.count(given) > 1:
                    count = options.count(given)
                    raise InputError(f"{given.opts[0]} is given {count} times: give one")
                if values.get(given.name) in ("", [""]):
                    raise InputError(f"{given.opts[0]} is empty: give a value, or leave it out")
        return super().parse_args(ctx, args)


def examples(pairs: Sequence[tuple[str, str]]) -> str:
    """Commands for the end of a help text, each below what it does."""
    return "\n\n".join(f"{what}\n\n    {command}" for what, command in pairs)


def _usage(error: Any) -> str:
    """What is wrong with the options or arguments."""
    context = getattr(error, "ctx", None)
    name = context.command_path if context is not None else "microagg"
    wrong = getattr(error, "option_name", None)
    if wrong is None or context is None:
        text = error.format_message().rstrip(".")
        wanted = _number_wanted(error)
        if wanted:
            text = f"{error.param.opts[0]} must be a {wanted}"
        return f"{text} See `{name} --help`" if text[-1:] == "?" else f"{text}: see `{name} --help`"
    known = [
        spelled
        for parameter in context.command.params
        if not getattr(parameter, "hidden", False)
        for spelled in parameter.opts
        if spelled.startswith("-")
    ]
    return f"there is no option {wrong}: see `{name} --help`.{suggestion(wrong, known)}"


def _number_wanted(error: Any) -> str:
    """The kind of number that an option needs, if it was given something else.

    Newer versions of Typer check values with Pydantic, older ones by the types of Click.
    """
    parameter = getattr(error, "param", None)
    if type(error).__name__ != "BadParameter" or parameter is None:
        return ""
    if hasattr(error.__cause__, "errors"):
        kind = error.__cause__.errors()[0]["type"]  # such as int_parsing
    else:
        kind = parameter.type.name
    if kind.startswith("int"):
        return "whole number"
    return "number" if kind.startswith("float") else ""


def run(app: typer.Typer) -> int:
    """Run the command: its exit code. A wrong option is one sentence, as every error."""
    try:
        code = app(prog_name="microagg", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ != "NoArgsIsHelpError":  # which has shown the help
            typer.echo(f"microagg: {_usage(error)}", err=True)
        return 2
    return code if isinstance(code, int) else 0
