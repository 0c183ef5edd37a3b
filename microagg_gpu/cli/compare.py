"""``microagg compare``: what each method loses and risks on a file."""

import json
from typing import Any

import typer

from .. import InputError, compare, stopping
from ..files.atomic import Outputs
from ..files.data_file import read_file
from ..kernels.compiling import spent
from ..pipeline.provenance import FilesUsed, command_line
from ..plots import check_plot, plot_map
from ..settings import (
    COMPARED_SIZES,
    COMPARED_STEPS,
    DEFAULT,
    FORMAT,
    REFINE_SECONDS,
    Roles,
    Settings,
)
from ..tasks.columns import decimals_of, find_roles, rounding
from ..tasks.writing import check_targets, readable, write_text
from . import options
from . import study_options as study
from .console import clear_errors
from .output import show_comparison, show_next, stdout
from .parsing import least_size, parse, roles_of, split, variable_weights
from .progress import phases

SIZES = ",".join(map(str, COMPARED_SIZES))
DEFAULT_SIZE = 5  # the k of the next command, if it was tried
EXAMPLES = (
    (
        "Which method loses least?",
        "microagg compare companies.csv -k 5 --columns turnover,staff",
    ),
    (
        "Three methods and three k within strata, with a picture:",
        "microagg compare companies.csv -k 3,5,10 --methods mdav,vmdav,mst --columns "
        "turnover,staff --by region --plot map.png",
    ),
)


def compare_methods(
    source: options.Source,
    k: study.Sizes = SIZES,
    methods: study.Methods = "all",
    columns: options.Columns = None,
    by: options.By = None,
    unit: options.Unit = None,
    weight: options.Weight = None,
    drop: options.Drop = None,
    ordinal: options.Ordinal = None,
    nominal: options.Nominal = None,
    weights: options.VariableWeights = None,
    column_weights: options.ColumnWeights = None,
    missing: options.Missing = DEFAULT.missing,
    small_strata: options.SmallStrata = DEFAULT.small_strata,
    aggregate: options.Aggregate = DEFAULT.aggregate,
    published_decimals: options.PublishedDecimals = FORMAT.published_decimals,
    keep_integers: options.KeepIntegers = DEFAULT.keep_integers,
    trim: options.Trim = DEFAULT.trim,
    scale: options.Scale = DEFAULT.scale,
    no_standardize: options.NoStandardize = not DEFAULT.standardize,
    device: options.Device = DEFAULT.device or "auto",
    seed: options.Seed = DEFAULT.seed,
    refine: options.Refine = DEFAULT.refine,
    everything: study.Everything = False,
    plot: study.Map = None,
    json_file: study.TableJson = None,
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
    decimal: options.Decimal = FORMAT.decimal,
    force: options.Force = False,
) -> None:
    """Try methods on a file: what each loses, what risk it leaves and how long it takes.

    The risk is that of record linkage: the share of records that an intruder who has all the
    original data would identify. At the end the best groups of each k are refined briefly. Ctrl-C
    shows what is finished.
    """
    with clear_errors(), phases() as phase:
        sizes = [least_size(parse("k", int, size)) for size in split(k)]
        if not sizes or not split(methods):
            raise InputError("nothing to compare: give one k and one method, or more")
        targets = check_targets([source], [plot, json_file], force)
        if plot is not None:
            check_plot(plot)
        with phase(f"reading {source.name}"):
            file = read_file(source, delimiter=delimiter, encoding=encoding, decimal=decimal)
            dropped = file.resolve(split(drop))
            named = roles_of(columns, by, weight, ordinal, nominal, unit=unit)
            table, roles = find_roles(file, named, dropped, missing)
            rounded = rounding(published_decimals, keep_integers, decimals_of(file, table, roles))
        choices: dict[str, Any] = {
            "missing": missing, "small_strata": small_strata, "aggregate": aggregate,
            "scale": scale, "trim": trim,
        }  # fmt: skip
        with phase("comparing") as progress:
            rows = compare(
                table, sizes, "all" if methods == "all" else split(methods),
                standardize=not no_standardize,
                variable_weights=variable_weights(weights, column_weights), device=device,
                seed=seed, watch=progress, refine=refine,
                refine_best=COMPARED_STEPS if methods == "all" and refine is None else 0,
                **choices, **roles, **rounded,
            )  # fmt: skip
        with Outputs(force) as files:
            if plot is not None:
                plot_map(rows, files.add(plot), title=readable(source.name))
            if json_file is not None:
                write_text(files, json.dumps(list(rows), indent=2), json_file)
        phase.close()
        show_comparison(rows, everything)
        if spent() >= 0.1:
            stdout().print(f"compiling took {spent():.1f} s more, once")
        if rows.stopped:
            stdout().print(f"stopped; not done: {rows.stopped}. What follows is of those done.")
        chosen = DEFAULT_SIZE if DEFAULT_SIZE in rows.best else min(rows.best)
        method, found = rows.best[chosen]
        given = Settings(
            chosen, method, found, not no_standardize, variable_weights(weights, None), device,
            seed=seed, average_weight=weight is not None,
            refine=None if roles["ordinal"] or roles["nominal"] else REFINE_SECONDS, **choices,
        )  # fmt: skip
        used = FilesUsed(
            readable(str(source)), f"protected{''.join(source.suffixes)}", "report.html",
            drop=dropped, delimiter=delimiter, encoding=encoding, decimal=decimal,
            decimals=published_decimals, all_columns=columns is None,
        )  # fmt: skip
        show_next(rows, chosen, command_line(given, Roles(**roles), used))
        if targets:
            stdout().print(f"written: {', '.join(map(str, targets))}")
        if rows.stopped:
            raise typer.Exit(stopping.exit_code())
