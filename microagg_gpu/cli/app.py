"""The command ``microagg``: files in, protected files and reports out; no logic of its own."""

import sys
from typing import Annotated

import typer

from .. import __version__, stopping
from . import browser, check, compare, info, protect, report, warmup
from .console import Command, examples, run, safe_streams

START = (
    (
        "Find the method that loses least on your data:",
        "microagg compare companies.csv -k 5 --columns turnover,staff --by region",
    ),
    (
        "Protect, and look at the report:",
        "microagg protect companies.csv -k 5 --columns turnover,staff --by region --drop id "
        "-o protected.csv --report report.html",
    ),
    (
        "Check what you publish:",
        "microagg check protected.csv -k 5",
    ),
)
app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Protect records about people and companies by microaggregation.

    Similar records are put in groups of at least k, and each is published as the mean of
    its group: nobody stands out among fewer than k. What is lost is measured: 0 % is nothing,
    100 % is everything but the means.""",
    epilog=examples(START),
)  # fmt: skip


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"microagg {__version__}")
        raise typer.Exit


@app.callback()
def _microagg(
    show: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


app.command(cls=Command, epilog=examples(protect.EXAMPLES))(protect.protect)
app.command("compare", cls=Command, epilog=examples(compare.EXAMPLES))(compare.compare_methods)
app.command(cls=Command, epilog=examples(check.EXAMPLES))(check.check)
app.command(cls=Command, epilog=examples(report.EXAMPLES))(report.report)
app.command("app", cls=Command, epilog=examples(browser.EXAMPLES))(browser.browse)
app.command()(warmup.warmup)
app.command("methods")(info.list_methods)
app.command()(info.info)


def main() -> None:
    """Run the command."""
    stopping.listen()
    with safe_streams():
        sys.exit(run(app))
