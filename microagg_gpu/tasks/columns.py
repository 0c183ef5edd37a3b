"""Who is who in a file: columns of numbers, categories, strata or weights, and what comes back."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..data.columns import is_every
from ..errors import InputError, shown, values_missing
from ..files.data_file import DataFile
from ..files.identifiers import is_no_variable, is_weight
from ..pipeline.result import Result
from ..settings import Roles


def find_roles(
    file: DataFile, given: Roles, dropped: Sequence[str], missing: str
) -> tuple[pa.Table, dict[str, Any]]:
    """Read the columns that have a role, in the types that `microaggregate` takes.

    Parameters
    ----------
    given : Roles
        Names of columns; `ordinal` is a dict from name to order, or None for that of numbers.
    dropped : sequence of str
        Columns that are left out.
    missing : str
        If "error", missing values are refused here, where their lines are known.

    Returns
    -------
    table : pa.Table
        The file; missing values of the columns to protect are null.
    roles : dict
        Arguments of `microaggregate`.
    """
    strata, categories = file.resolve(given.by or []), file.resolve(given.nominal)
    weight, ordinal, columns = given.sampling_weight, dict(given.ordinal), given.columns
    (sampling,) = file.resolve([weight]) if weight is not None else [None]
    units = file.resolve(given.unit or [])
    ordered = {file.resolve([name])[0]: order for name, order in ordinal.items()}
    secret = file.resolve([] if given.sensitive is None else [given.sensitive])
    for name in (name for name in secret if name in dropped):
        raise InputError(f"column {name!r} is sensitive and dropped: choose one")
    other = {*strata, *categories, *ordered, *dropped, *secret, *units, sampling}
    chosen = (
        [name for name in file.resolve(None) if name not in other]
        if columns is None
        else file.resolve(columns)
    )
    for name in (name for name in chosen if name in dropped):
        raise InputError(f"column {name!r} is to be protected and dropped: choose one")
    if columns is None:
        _refuse_identifying(file, chosen)
    nameless = [name for name in chosen if not name.strip()]
    if nameless and columns is None:
        raise InputError(
            f"a column of {file.path} has no name, as an index that was written: name the columns "
            "to protect with --columns"
        )
    numbers = [name for name in chosen if name not in ordered and name not in categories]
    numeric = file.numeric_columns() if None in ordered.values() or secret else []
    ranked = [name for name, order in ordered.items() if order is None and name in numeric]
    weights = [] if sampling is None else [sampling]
    counted = [name for name in secret if name in numeric]
    table = file.with_numbers(list(dict.fromkeys([*numbers, *ranked, *weights, *counted])))
    if file.text is not None:
        texts = [name for name in [*ordered, *categories, *secret] if name not in ranked]
        for name in (name for name in texts if name not in counted):
            cells = table[name]
            known = pc.if_else(pc.equal(pc.utf8_trim_whitespace(cells), ""), None, cells)
            table = table.set_column(table.column_names.index(name), name, known)
    if missing == "error":
        _refuse_missing(file, table, [*numbers, *ordered, *categories])
    return table, {
        "columns": [*numbers, *ordered, *categories],
        "by": strata or None,
        "sampling_weight": sampling,
        "ordinal": ordered,
        "nominal": categories,
        **({"sensitive": secret[0]} if secret else {}),
        "unit": units or None,
    }


def rounding(decimals: str, keep_integers: bool, found: dict[str, int]) -> dict[str, Any]:
    """Arguments of `microaggregate` that round as `--decimals` says.

    Parameters
    ----------
    found : dict
        The decimals that columns have in the input.
    """
    if decimals == "input":
        return {"decimals": found or None, "keep_integers": True}
    if decimals == "exact":
        return {"decimals": None, "keep_integers": keep_integers}
    if not decimals.isascii() or not decimals.isdigit():
        raise InputError(f"--decimals {shown(decimals)} is unknown: give input, exact or a number")
    places = int(decimals)
    return {"decimals": places, "keep_integers": keep_integers or places == 0}


def decimals_of(file: DataFile, table: pa.Table, roles: dict[str, Any]) -> dict[str, int]:
    """The decimals of the columns of numbers that are published, but of whole numbers."""
    categories = {*roles["ordinal"], *roles["nominal"], None}
    names = [*roles["columns"], roles["sampling_weight"]]
    return file.decimals(
        [
            name
            for name in names
            if name not in categories and not pa.types.is_integer(table[name].type)
        ]
    )


def _refuse_identifying(file: DataFile, names: Sequence[str]) -> None:
    """Refuse to protect identifiers and weights that nobody named: their means say nothing."""
    for name in names:
        if is_weight(name):
            what, use = "sampling weights", f"give it as --weight {name.strip()}"
        elif is_no_variable(name, file.table[name]):
            what, use = "an identifier", f"leave it out with --drop {name.strip()}"
        else:
            continue
        raise InputError(
            f"column {name.strip()!r} of {file.path} seems to hold {what}: {use}, or name the "
            "columns to protect with --columns"
        )


def _refuse_missing(file: DataFile, table: pa.Table, names: Sequence[str]) -> None:
    marks = {
        name: pc.is_null(table[name], nan_is_null=True).to_numpy(zero_copy_only=False)
        for name in names
        if table[name].null_count
    }
    if marks:
        count = sum(mark.sum() for mark in marks.values())
        raise values_missing(count, file.where(marks), file.path)


def published(
    file: DataFile,
    result: Result,
    dropped: list[str],
    group_column: str | None,
    strata: Sequence[str],
    keep_metadata: bool,
) -> DataFile:
    """The file with what is published, without the records and columns that are left out."""
    added = {} if group_column is None else {group_column: result.labels[result.order]}
    rows = None if is_every(result.order, file.table.num_rows) else result.order
    return file.replaced(
        result.protected, result.replaced, rows, drop=dropped, added=added, strata=strata,
        keep_metadata=keep_metadata,
    )  # fmt: skip
