"""The command ``microagg``: files in, protected files out; no logic of its own."""

import csv
import inspect
import io
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from . import METHODS, InputError, Result, compare, microaggregate
from .backend import gpu_available, usable_engines
from .files import CsvFile, check_target, read_csv, verify, whole_file, write_csv
from .plots import check_plot, plot_groups
from .table import Table as Variables

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Protect records about people and companies by microaggregation.

    Records are put in groups of at least k that are alike, and each is published as the mean of
    its group: nobody stands out among fewer than k. What is lost is measured: 0 % is nothing,
    100 % is everything but the means.""",
    epilog="""Start with the method that loses least on your data, then protect:

    `microagg compare companies.csv -k 5 --columns turnover,staff`

    `microagg protect companies.csv -k 5 --columns turnover,staff -o protected.csv`""",
)  # fmt: skip

Source = Annotated[Path, typer.Argument(metavar="FILE.csv", help="CSV file with a header.")]
Columns = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Columns to protect.", show_default="all columns"),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="W,W,...", help="Weight of each column in distances and loss.", show_default="all 1"
    ),
]
AsTheyAre = Annotated[
    bool,
    typer.Option(
        "--no-standardize",
        help="Take the columns in their own units; else each is brought to standard deviation 1.",
    ),
]
Device = Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1, ...")]
Seed = Annotated[int, typer.Option(help="For methods that draw random numbers.")]


@app.command(
    epilog="""Examples:

    `microagg protect companies.csv -k 5 -o protected.csv`

    `microagg protect companies.csv -k 5 --columns turnover,staff -o protected.csv`
    protects two columns; the others, such as identifiers, are copied as they are.

    `microagg protect companies.csv -k 3 --method vmdav --option gamma=0.5 -o out.csv
    --plot groups.png` takes another method, with an option, and draws the groups."""
)
def protect(
    source: Source,
    k: Annotated[int, typer.Option("-k", help="The least number of records in a group.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The protected file to write.")],
    method: Annotated[str, typer.Option(help="See `microagg methods` for the names.")] = "mdav",
    columns: Columns = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the method; may be repeated."),
    ] = None,
    weights: Weights = None,
    no_standardize: AsTheyAre = False,
    device: Device = "auto",
    seed: Seed = 0,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw the groups. The picture shows the original records: do not publish it.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Replace each record by the mean of a group of at least k that are alike.

    The file keeps its header, its delimiter, the order of its records and every column that is
    not protected. It is written whole, after k was counted in it, or not at all.
    """
    with _clear_errors():
        options = _options(method, option or [])
        check_target(output, [source], force)
        if plot is not None:
            check_target(plot, [source, output], force)
            check_plot(plot, method)
        table, chosen, variables = _load(source, columns)
        with _progress(f"{method}, k={k}") as progress:
            result = microaggregate(
                variables, k, method, standardize=not no_standardize, weights=_floats(weights),
                device=device, seed=seed, progress=progress, **options,
            )  # fmt: skip
        with ExitStack() as files:
            temporary = files.enter_context(whole_file(output))
            write_csv(table.replaced(chosen, result.protected), temporary)
            least = verify(temporary, table, chosen, k, whole=result.labels.ndim == 1)
            if plot is not None:
                picture = files.enter_context(whole_file(plot))
                title = f"{method}, k = {k}: {len(result.sizes)} groups, loss {result.loss:.2f} %"
                plot_groups(
                    variables.values, result.labels, picture,
                    names=variables.names, title=title, standardized=not no_standardize,
                )  # fmt: skip
        _print_result(result, table, chosen, least, [output] + ([plot] if plot else []))


@app.command(
    "compare",
    epilog="""Examples:

    `microagg compare companies.csv -k 5`

    `microagg compare companies.csv -k 3,5,10 --methods mdav,vmdav,mst --columns a,b`""",
)
def compare_methods(
    source: Source,
    k: Annotated[str, typer.Option("-k", help="Least group sizes to try.")] = "3,5",
    methods: Annotated[str, typer.Option(metavar="A,B,...", help="Methods to try.")] = "all",
    columns: Columns = None,
    weights: Weights = None,
    no_standardize: AsTheyAre = False,
    device: Device = "auto",
    seed: Seed = 0,
) -> None:
    """Try methods on a file and print what each loses, best first. Nothing is written."""
    with _clear_errors():
        sizes = [_parse("k", int, one) for one in _split(k)]
        names = "all" if methods == "all" else _split(methods)
        _, _, variables = _load(source, columns)
        with _progress("comparing") as progress:
            rows = compare(
                variables, sizes, names, standardize=not no_standardize, weights=_floats(weights),
                device=device, seed=seed, progress=progress,
            )  # fmt: skip
        table = Table("k", "method", "loss %", "groups", "largest", "seconds", box=box.SIMPLE)
        for column in table.columns:
            column.justify = "left" if column.header == "method" else "right"
        before = None
        for row in rows:
            if before not in (None, row["k"]):
                table.add_section()
            table.add_row(
                str(row["k"]), row["method"], f"{row['loss']:.3f}", str(row["groups"]),
                str(row["largest"]), f"{row['seconds']:.2f}",
                style="bold green" if before != row["k"] else "",
            )  # fmt: skip
            before = row["k"]
        _stdout().print(table)


@app.command("methods")
def list_methods() -> None:
    """List the methods, where they were published, what they cost and their options."""
    table = Table("method", "published", "time", "group sizes", "d", box=box.SIMPLE_HEAD)
    table.add_column("options", no_wrap=True)
    table.padding = (0, 1, 0, 0)
    for name, method in METHODS.items():
        options = "\n".join(f"{option}={value}" for option, value in _defaults(name).items())
        variables = "1" if method.univariate else "any"
        table.add_row(name, method.paper, method.cost, method.sizes, variables, options)
    _stdout().print(table)
    _stdout().print("n records of d variables; options are given as --option NAME=VALUE")


@app.command()
def info() -> None:
    """Print versions, engines and devices."""
    table = Table(box=None, show_header=False)
    table.add_row("python", platform.python_version())
    libraries = ("numpy", "array-api-compat", "narwhals", "numba", "numba-cuda", "cupy", "torch")
    for name in ("microagg-gpu", *libraries):
        table.add_row(name, _version(name))
    table.add_row("engines", ", ".join(usable_engines()))
    table.add_row("processor cores", str(os.cpu_count()))
    table.add_row("GPU", _gpus() if gpu_available() else "none found")
    _stdout().print(table)


def _stdout() -> Console:
    # Names from a file are printed as they are, whatever brackets or colons they hold.
    return Console(markup=False, emoji=False, highlight=False)


def _version(name: str) -> str:
    # CuPy's packages are named after the version of CUDA.
    for package in ["cupy", "cupy-cuda12x", "cupy-cuda13x"] if name == "cupy" else [name]:
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "not installed"


def _gpus() -> str:
    from cupy.cuda import runtime

    found = [runtime.getDeviceProperties(i)["name"] for i in range(runtime.getDeviceCount())]
    return ", ".join(name.decode() for name in found)


@contextmanager
def _clear_errors() -> Iterator[None]:
    """One sentence for what a user can mend, instead of a traceback."""
    try:
        yield
    except InputError as error:
        typer.echo(f"microagg: {error}", err=True)
        raise typer.Exit(2) from None
    except MemoryError:
        typer.echo("microagg: not enough memory for this file; nothing was written", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("stopped; nothing was written", err=True)
        raise typer.Exit(130) from None


@contextmanager
def _progress(what: str) -> Iterator[Callable[[float], None] | None]:
    """Yield what moves a bar on the terminal; the bar appears after two seconds of work."""
    console = Console(stderr=True)
    if not (sys.stderr.isatty() and console.is_interactive):
        yield None
        return
    parts = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*parts, console=console, transient=True)
    task = bar.add_task(what, total=1.0)
    begin = time.monotonic()

    def update(fraction: float) -> None:
        bar.update(task, completed=fraction)
        if not bar.live.is_started and time.monotonic() - begin > 2:
            bar.start()

    try:
        yield update
    finally:
        bar.stop()


def _load(source: Path, columns: str | None) -> tuple[CsvFile, list[int], Variables]:
    table = read_csv(source)
    chosen = table.positions(None if columns is None else _split(columns))
    names = [table.header[j].strip() for j in chosen]
    return table, chosen, Variables(table.numbers(chosen), names, lambda protected: protected)


def _split(text: str) -> list[str]:
    """Split a list at its commas; a name that holds one is put in quotation marks."""
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]


def _floats(text: str | None) -> list[float] | None:
    return None if text is None else [_parse("weight", float, part) for part in _split(text)]


def _defaults(method: str) -> dict[str, Any]:
    hidden = ("points", "k", "engine", "progress", "seed")
    parameters = inspect.signature(METHODS[method].function).parameters.values()
    return {
        p.name: p.default for p in parameters if p.name not in hidden and p.kind != p.VAR_KEYWORD
    }


def _options(method: str, pairs: list[str]) -> dict[str, Any]:
    """Options of a method from NAME=VALUE, each of the type that its default has."""
    defaults = _defaults(method) if method in METHODS else {}
    options = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name and equals):
            raise InputError(f"option {pair!r} is not NAME=VALUE, as in gamma=0.2")
        if name in inspect.signature(microaggregate).parameters:
            raise InputError(f"{name!r} is no option of a method: give it as --{name}, if at all")
        default = defaults.get(name)
        options[name] = _guess(text) if default is None else _parse(name, type(default), text)
    return options


def _parse(name: str, kind: type, text: str) -> Any:
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
                text.casefold()
            ]
        return kind(text)
    except (KeyError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InputError(f"{name}={text!r} is not {wanted}") from None


def _guess(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.casefold(), text)


def _print_result(
    result: Result, table: CsvFile, chosen: list[int], least: int, written: list[Path]
) -> None:
    whole = result.labels.ndim == 1
    sizes = result.sizes if whole else np.concatenate(result.sizes)
    smallest, largest = int(sizes.min()), int(sizes.max())
    each = f"{smallest} to {largest}" if smallest < largest else str(smallest)
    kept = [name for j, name in enumerate(table.header) if j not in chosen]
    checked = f"in the file, each record is one of at least {least} that are alike"
    if not whole:
        checked = (
            f"in the file, each value appears at least {least} times; "
            "records as a whole are not k-anonymous"
        )
    lines = Table(box=None, show_header=False)
    lines.add_column(style="dim")
    lines.add_column()
    lines.add_row("method", " ".join([result.method, *map("=".join, _texts(result.options))]))
    lines.add_row("records", f"{len(result.labels)} of {len(chosen)} variables, k = {result.k}")
    lines.add_row("groups", f"{len(sizes)} of {each} records")
    lines.add_row("loss", f"{result.loss:.4f} %", style="bold")
    lines.add_row("time", f"{result.seconds:.2f} s on {result.device}")
    lines.add_row("checked", checked)
    if kept:
        lines.add_row("not protected", ", ".join(kept))
    lines.add_row("written", ", ".join(map(str, written)))
    _stdout().print(lines)


def _texts(options: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in options.items()]


def main() -> None:
    """Run the command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a name that the terminal cannot show
    app(prog_name="microagg")
