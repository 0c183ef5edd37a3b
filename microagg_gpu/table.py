"""Any table in: a matrix of numbers and what each column is for; the same kind of table out."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_dask_array,
    is_jax_array,
    is_torch_array,
)

from .checks import as_floats, column_list, is_whole, shown
from .errors import DataWarning, InputError, values_are
from .kernels import engine_for

NUMBER, ORDINAL, NOMINAL = 0, 1, 2
Columns = Any  # the name or position of a column, or an iterable of them; None for none
Ordinal = Columns | Mapping[Any, Sequence[Any] | None]


@dataclass(frozen=True)
class Table:
    """The variables to protect, and the columns that say how.

    Attributes
    ----------
    values : array of shape (n, p)
        float64, in the array library and on the device of the data; NaN where missing. Ordinal
        and nominal variables hold the number of their category.
    names : list of str
        Names of the p variables.
    rebuild : callable
        ``rebuild(protected, kept, keep_integers, exact)``: from a protected NumPy matrix of the
        records at the positions ``kept`` to the same kind of object as the data; ``exact`` holds
        the protected integers of some variables, to the last digit.
    kinds : int array of shape (p,)
        NUMBER, ORDINAL or NOMINAL.
    categories : dict
        Of an ordinal or nominal variable's position: its categories in the order of their numbers.
    whole : bool array of shape (p,)
        Whether the data hold a variable as integers.
    exact : dict
        Of the position of a variable of integers above 2^53, which float64 cannot hold: the
        integers themselves, as an int64 or uint64 array of shape (n,); 0 where missing.
    least : dict
        Of the position of a variable of signed integers: the least that its type can hold.
    strata : int array of shape (n,), or None
        Number of each record's stratum.
    strata_names : list of str
        What to call each stratum.
    strata_columns : list of str
        The columns that divide the records into strata.
    sampling : float array of shape (n,), or None
        Sampling weight of each record.
    """

    values: Any
    names: list[str]
    rebuild: Callable[..., Any]
    kinds: np.ndarray
    whole: np.ndarray
    categories: dict[int, list[Any]] = field(default_factory=dict)
    strata: np.ndarray | None = None
    strata_names: list[str] = field(default_factory=list)
    sampling: np.ndarray | None = None
    strata_columns: list[str] = field(default_factory=list)
    exact: dict[int, np.ndarray] = field(default_factory=dict)
    least: dict[int, int] = field(default_factory=dict)

    @property
    def mixed(self) -> bool:
        """Whether a variable is ordinal or nominal."""
        return bool((self.kinds != NUMBER).any())


def read(
    data: Any,
    columns: Columns = None,
    by: Columns = None,
    sampling_weight: Any = None,
    ordinal: Ordinal = (),
    nominal: Columns = (),
) -> Table:
    """Read the variables of an array, a list of lists or a DataFrame.

    Parameters
    ----------
    data : array, list or DataFrame
        Two-dimensional with a row per record, or one-dimensional for one variable.
    columns : name, position, or several, optional
        The variables to protect; by default all but those of ``by`` and ``sampling_weight``.
        Names in a DataFrame, positions in an array.
    by, sampling_weight, ordinal, nominal
        As in `microaggregate`.
    """
    with np.errstate(invalid="ignore"):  # R's missing value is a signalling NaN
        if isinstance(data, (list, tuple)):
            table = _read_list(data, columns, by, sampling_weight, ordinal, nominal)
        elif is_array_api_obj(data):
            table = _read_array(data, columns, by, sampling_weight, ordinal, nominal)
        else:
            from .frames import read_frame  # by narwhals, and PyArrow for categories

            table = read_frame(data, columns, by, sampling_weight, ordinal, nominal)
    n, p = table.values.shape
    if n == 0 or p == 0:
        raise InputError(f"the data are empty: {n} records of {p} variables")
    table = replace(table, values=_with_one_nan(table.values))
    refuse_values(table, "infinite", "isinf", "correct them or leave out those records")
    _warn_of_missing_codes(table)
    if table.sampling is not None:
        _check_sampling(table.sampling, n)
    return table


def _with_one_nan(values: Any) -> Any:
    """Values in which all NaN are the same, quiet one: its bits could tell records apart."""
    xp = array_namespace(values)
    missing = xp.isnan(values)
    return xp.where(missing, xp.nan, values) if bool(xp.any(missing)) else values


def _read_list(data: Any, *roles: Any) -> Table:
    try:
        array = np.asarray(data)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        lengths = sorted({len(row) for row in data if isinstance(row, (list, tuple))})
        raise InputError(
            f"the rows of the list have different lengths ({', '.join(map(str, lengths[:5]))}) or "
            "hold other things than numbers: give each record the same variables"
        ) from None
    table = _read_array(array, *roles)
    return replace(table, rebuild=lambda *new: table.rebuild(*new).tolist())


def _read_array(
    data: Any,
    columns: Columns,
    by: Columns,
    sampling_weight: Any,
    ordinal: Ordinal,
    nominal: Columns,
) -> Table:
    if is_jax_array(data) or is_dask_array(data):
        raise InputError(
            f"arrays of type {type(data).__name__} cannot be changed in place: "
            "convert the data with numpy.asarray first"
        )
    if isinstance(data, np.ndarray) and data.dtype.kind not in "fiu":
        raise InputError(
            f"the array holds {data.dtype.name} values, not numbers: "
            "convert it, or give a DataFrame and choose its numeric columns"
        )
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    if isinstance(data, np.matrix):
        data = np.asarray(data)
    if is_torch_array(data):
        data = data.detach()
    xp = array_namespace(data)
    if data.ndim not in (1, 2):
        raise InputError(f"the array has {data.ndim} dimensions: give a row per record (2, or 1)")
    if not xp.isdtype(data.dtype, ("real floating", "integral")):
        raise InputError(f"the array holds {data.dtype} values, not real numbers: convert it")
    matrix = data if data.ndim == 2 else xp.reshape(data, (-1, 1))
    p = matrix.shape[1]
    to_numpy = engine_for(matrix).to_numpy

    integral, signed = (xp.isdtype(data.dtype, k) for k in ("integral", "signed integer"))

    def column(j: int) -> np.ndarray:
        return to_numpy(matrix[:, j]) if integral else to_numpy(matrix[:, j]).astype(np.float64)

    sampling = None
    if is_whole(sampling_weight) or isinstance(sampling_weight, str):
        sampling_weight = _position(sampling_weight, p)
        sampling = column(sampling_weight).astype(np.float64)
    elif sampling_weight is not None:
        sampling, sampling_weight = numbers_given(sampling_weight), None
    named = None if columns is None else _positions("columns", columns, p)
    strata_columns = _positions("by", by, p)
    ordinal, nominal = _positions("ordinal", ordinal, p), _positions("nominal", nominal, p)
    chosen, orders = choose(
        named, strata_columns, sampling_weight, ordinal, nominal, list(range(p))
    )
    where = xp.asarray(chosen, dtype=xp.int64, device=device(data))
    values = xp.astype(xp.take(matrix, where, axis=1), xp.float64, copy=False)
    categories = {}
    for j, order in orders.items():
        known, codes = _categories(column(chosen[j]), order, str(chosen[j]))
        values = xp.astype(values, xp.float64, copy=True)
        values[:, j] = xp.asarray(codes, device=device(data))
        categories[j] = known
    strata, strata_names = None, list[str]()
    if strata_columns:
        parts = [np.unique(column(j), return_inverse=True) for j in strata_columns]
        texts = [[str(v) if integral else f"{v:g}" for v in known] for known, _ in parts]
        strata, strata_names = combine(
            [codes.reshape(-1) for _, codes in parts], texts, [str(j) for j in strata_columns]
        )
    large = [j for j in range(p) if integral and too_large(column(j))]
    exact = {chosen.index(j): column(j) for j in large if j in chosen}

    def rebuild(
        protected: np.ndarray,
        kept: np.ndarray,
        keep_integers: bool,
        exact: Mapping[int, np.ndarray] | None = None,
    ) -> Any:
        kind = xp.float64 if integral and not keep_integers else data.dtype
        others = [j for j in large if j not in chosen or chosen.index(j) in categories]
        if others and not keep_integers:
            raise InputError(
                f"column {others[0]} holds integers above 2^53, which would lose digits in an "
                "array of float64: take keep_integers=True, or a DataFrame"
            )
        rows = xp.take(matrix, xp.asarray(kept, device=device(data)), axis=0)
        result = xp.astype(rows, kind, copy=True)
        for j, place in enumerate(chosen):
            integers = exact.get(j) if exact else None
            new = decoded(protected[:, j], categories.get(j)) if integers is None else integers
            result[:, place] = xp.astype(xp.asarray(new.copy(), device=device(data)), kind)
        return xp.reshape(result, (-1,) if data.ndim == 1 else tuple(result.shape))

    return Table(
        values,
        [str(c) for c in chosen],
        rebuild,
        kinds_of(len(chosen), orders, nominal=[chosen.index(c) for c in nominal]),
        np.full(len(chosen), integral),
        categories,
        strata,
        strata_names,
        sampling,
        [str(j) for j in strata_columns],
        exact,
        dict.fromkeys(range(len(chosen)), xp.iinfo(data.dtype).min) if signed else {},
    )


def too_large(integers: np.ndarray) -> bool:
    """Whether float64 cannot hold some of these integers."""
    limit = 2**53
    return len(integers) > 0 and (int(integers.max()) > limit or int(integers.min()) < -limit)


def first_with(codes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For each wanted code, NaN included, the first record that has it."""
    known, first = np.unique(codes, return_index=True)
    return first[np.searchsorted(known, wanted)]


def choose(
    columns: list[Any] | None,
    by: list[Any],
    sampling_weight: Any,
    ordinal: Mapping[Any, Any] | list[Any],
    nominal: list[Any],
    existing: list[Any],
) -> tuple[list[Any], dict[int, Sequence[Any] | None]]:
    """The columns to protect, and of the ordinal and nominal ones: position and given order."""
    if columns is not None and not columns:
        raise InputError("no columns are chosen: name at least one")
    for given in (by, list(ordinal), nominal):
        _check_unique(given)
    chosen = list(columns) if columns is not None else [
        c for c in existing if c not in by and (sampling_weight is None or c != sampling_weight)
    ]  # fmt: skip
    _check_unique(chosen)
    both = [c for c in ordinal if c in nominal]
    if both:
        raise InputError(f"column {both[0]!r} is named ordinal and nominal: choose one")
    chosen += [c for c in [*ordinal, *nominal] if c not in chosen]
    for role, taken in (("in by=", by), ("the sampling weight", [sampling_weight])):
        twice = [c for c in chosen if c in taken and c is not None]
        if twice:
            raise InputError(f"column {twice[0]!r} is {role} and cannot be protected as well")
    orders: dict[int, Sequence[Any] | None] = {
        chosen.index(c): _order(c, ordinal[c]) if isinstance(ordinal, Mapping) else None
        for c in ordinal
    }
    orders |= {chosen.index(c): None for c in nominal}
    return chosen, orders


def _order(column: Any, given: Any) -> list[Any] | None:
    """The categories of an ordinal column, lowest first, as they were given."""
    if given is None:
        return None
    given = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise InputError(
            f"the order of the categories of column {column!r} is {shown(given)}: give a list, "
            "lowest first"
        )
    order = list(given)
    texts = [shown(category) for category in order]
    if len(set(texts)) < len(texts):
        raise InputError(f"a category of column {column!r} is twice in the order that was given")
    return order


def kinds_of(p: int, orders: Mapping[int, Any], nominal: Sequence[int]) -> np.ndarray:
    """What each of p variables is."""
    kinds = np.full(p, NUMBER)
    kinds[list(orders)] = ORDINAL
    kinds[list(nominal)] = NOMINAL
    return kinds


def combine(
    codes: list[np.ndarray], texts: list[list[str]], columns: list[str]
) -> tuple[np.ndarray, list[str]]:
    """One number for each combination of values, and its name: 'region=North, size=3'."""
    found, combined = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    names = [
        ", ".join(
            f"{column}={text[code]}" for column, text, code in zip(columns, texts, row, strict=True)
        )
        for row in found
    ]
    return combined.reshape(-1), names


def ranks(known: Sequence[Any], order: Sequence[Any], name: str) -> list[int]:
    """The rank of each known category in the order that was given."""
    unknown = [value for value in known if value not in order]
    if unknown:
        raise InputError(
            f"category {unknown[0]!r} of column {name!r} is not in the order that was given "
            f"({' < '.join(map(str, order))}): name all of them, lowest first"
        )
    return [list(order).index(value) for value in known]


def decoded(codes: np.ndarray, known: list[Any] | None) -> np.ndarray:
    """Values of an array's variable: its categories, if it has any, instead of their numbers."""
    if known is None:
        return codes
    missing = np.isnan(codes)
    if not missing.any():
        return np.asarray(known)[codes.astype(np.int64)]
    values = np.array([*known, np.nan], dtype=np.float64)
    return values[np.where(np.isnan(codes), len(known), codes).astype(np.int64)]


def numbers_given(values: Any) -> np.ndarray:
    """Sampling weights that are not a column."""
    return as_floats(values, "the sampling weights are not numbers: give one for each")


def _categories(
    column: np.ndarray, order: Sequence[Any] | None, name: str
) -> tuple[list[Any], np.ndarray]:
    observed = ~np.isnan(column)
    known, codes = np.unique(column[observed], return_inverse=True)
    if order is not None:
        wrong = f"the order of the categories of column {name} of an array must be numbers"
        if as_floats(order, wrong).ndim != 1:
            raise InputError(wrong)
        codes = np.asarray(ranks(known.tolist(), order, name), dtype=np.int64)[codes]
    numbers = np.full(len(column), np.nan)
    numbers[observed] = codes.reshape(-1)
    return known.tolist() if order is None else list(order), numbers


def _positions(name: str, columns: Any, p: int) -> Any:
    """Columns of an array by their numbers; of a mapping those of its keys."""
    places = [_position(c, p) for c in column_list(name, columns, range(p))]
    if name == "ordinal" and isinstance(columns, Mapping):
        _check_unique(places)
        return dict(zip(places, columns.values(), strict=True))
    return places


def _position(column: Any, p: int) -> int:
    if not is_whole(column) or not -p <= int(column) < p:
        raise InputError(
            f"column {shown(column)} is not in the array: its {p} columns are numbered from 0"
        )
    return int(column) % p


def _check_unique(chosen: list[Any]) -> None:
    twice = [c for i, c in enumerate(chosen) if c in chosen[:i]]
    if twice:
        raise InputError(f"column {shown(twice[0])} is chosen twice: name each column once")


def _check_sampling(sampling: np.ndarray, n: int) -> None:
    if sampling.shape != (n,):
        shape = "" if sampling.ndim == 1 else f" of shape {sampling.shape}"
        raise InputError(
            f"{sampling.size} sampling weights{shape} for {n} records: give one for each"
        )
    bad = ~(np.isfinite(sampling) & (sampling > 0))
    if bad.any():
        raise InputError(
            f"{bad.sum()} sampling weights are missing, infinite, 0 or negative, the first that of "
            f"record {int(bad.argmax()) + 1}, counted from 1: give numbers above 0"
        )


def _warn_of_missing_codes(table: Table) -> None:
    """Warn of integers that other programs take for a missing value: the least of a type.

    R's NA_integer_ is the least integer of 32 bits, in whatever type it arrives.
    """
    xp = array_namespace(table.values)
    known = xp.where(xp.isnan(table.values), xp.inf, table.values)
    lowest = engine_for(known).to_numpy(xp.min(known, axis=0))
    for j in np.flatnonzero(table.whole & (table.kinds == NUMBER)).tolist():
        low = int(table.exact[j].min()) if j in table.exact else lowest[j]
        if low in (-(2**31), table.least.get(j)):
            low = int(low)
            count = int(xp.sum(xp.astype(table.values[:, j] == low, xp.int64)))
            warnings.warn(
                f"column {table.names[j]} holds {low} in {count} record{'s' if count > 1 else ''}, "
                "a number that other programs write for a missing value (R for NA): if it stands "
                "for one, make it missing before you protect",
                DataWarning, stacklevel=4,
            )  # fmt: skip


def refuse_values(table: Table, what: str, test: str, remedy: str) -> None:
    """Refuse a table with values that are NaN or infinite, saying where and how many."""
    xp = array_namespace(table.values)
    if bool(xp.all(xp.isfinite(table.values))):
        return
    bad = xp.astype(getattr(xp, test)(table.values), xp.int64)
    found = engine_for(table.values).to_numpy(xp.sum(bad, axis=0))
    where = [f"{name} ({count})" for name, count in zip(table.names, found, strict=True) if count]
    if where:
        more = f" and {len(where) - 5} more" if len(where) > 5 else ""
        raise InputError(
            f"{values_are(int(found.sum()))} {what}, in column {', '.join(where[:5])}{more}: "
            f"{remedy}"
        )


def standardize(values: Any, names: Sequence[str]) -> Any:
    """Bring each variable to mean 0 and standard deviation 1; a constant one to 0.

    Missing values (NaN) stay and count for nothing. Sums are correctly rounded and roots taken on
    the host (not every library's are exact), so all array libraries give the same numbers.
    """
    return standardized(values, names)[0]


def standardized(values: Any, names: Sequence[str]) -> tuple[Any, np.ndarray]:
    """`standardize`, and what each variable's differences were multiplied by."""
    words = engine_for(values)
    total = words.correctly_rounded_sum
    xp = array_namespace(values)
    columns = values.T
    missing = xp.isnan(columns)
    some = bool(xp.any(missing))
    n: Any = values.shape[0]
    known = columns
    if some:
        n = xp.astype(xp.sum(xp.astype(~missing, xp.int64), axis=1), xp.float64)
        n = xp.where(n == 0, 1.0, n)  # a variable without values
        known = xp.where(missing, 0.0, columns)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = known - xp.reshape(total(known) / n, (-1, 1))
        if some:
            centred = xp.where(missing, 0.0, centred)
        spread = np.sqrt(words.to_numpy(total(centred * centred) / n))
    lowest, highest = columns, columns
    if some:
        lowest, highest = xp.where(missing, xp.inf, columns), xp.where(missing, -xp.inf, columns)
    constant = words.to_numpy(xp.max(highest, axis=1) <= xp.min(lowest, axis=1))
    usable = (np.isfinite(spread) & (spread > 0)) | constant
    if not usable.all():
        raise InputError(
            f"column {names[int(np.argmin(usable))]} has values too large or too close together "
            "to standardize: rescale it"
        )
    divisor = xp.asarray(np.where(constant, 1.0, spread)[:, np.newaxis], device=device(values))
    flat = xp.asarray(constant[:, np.newaxis], device=device(values))
    result = xp.where(flat, 0.0, centred) / divisor
    if some:
        result = xp.where(missing, xp.nan, result)
    return result.T, np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread))
