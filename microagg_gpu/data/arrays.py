"""Arrays of any Array API library, and lists of lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_dask_array,
    is_jax_array,
    is_torch_array,
)

from ..checks import as_floats, column_list, is_whole
from ..errors import InputError, option, shown
from ..kernels import to_numpy
from ..settings import Roles
from .columns import (
    Exact,
    Table,
    check_unique,
    choose,
    combine,
    is_every,
    kinds_of,
    numbers_given,
    one_column,
    ranks,
    roles_of,
    sensitive_column,
    too_large,
    unit_numbers,
)

_ADVICE = {  # by the kind of NumPy's dtype
    "b": "make them 1 and 0 if a share may be published, or give a DataFrame and name them nominal",
    "M": "make numbers of the dates that may be averaged, such as the year or the age",
    "m": "make numbers of the times, such as hours",
}


def read_list(data: Any, roles: Roles) -> Table:
    try:
        array = np.asarray(data)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        lengths = sorted({len(row) for row in data if isinstance(row, (list, tuple))})
        raise InputError(
            f"the rows of the list have different lengths ({', '.join(map(str, lengths[:5]))}) or "
            "hold other things than numbers: give each record the same variables"
        ) from None
    table = read_array(array, roles)
    return replace(table, rebuild=lambda *new: table.rebuild(*new).tolist())


def read_array(data: Any, roles: Roles) -> Table:
    data = _readable(data)
    xp = array_namespace(data)
    matrix = data if data.ndim == 2 else xp.reshape(data, (-1, 1))
    p = matrix.shape[1]

    integral, signed = (xp.isdtype(data.dtype, k) for k in ("integral", "signed integer"))

    def column(j: int) -> np.ndarray:
        return to_numpy(matrix[:, j]) if integral else to_numpy(matrix[:, j]).astype(np.float64)

    sampling, sampling_weight = None, roles.sampling_weight
    if is_whole(sampling_weight) or isinstance(sampling_weight, str):
        sampling_weight = _position(sampling_weight, p)
        sampling = column(sampling_weight).astype(np.float64)
    elif sampling_weight is not None:
        sampling, sampling_weight = numbers_given(sampling_weight), None
    named = None if roles.columns is None else _positions("columns", roles.columns, p)
    strata_columns = _positions("by", roles.by, p)
    ordinal = _positions("ordinal", roles.ordinal, p)
    nominal = _positions("nominal", roles.nominal, p)
    secret = one_column("sensitive", _positions("sensitive", roles.sensitive, p))
    unit = _positions("unit", roles.unit, p)
    chosen, orders = choose(
        named, strata_columns, sampling_weight, ordinal, nominal, list(range(p)), secret, unit
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
    units = None
    if unit:
        units = unit_numbers([_unit(column(j)) for j in unit], list(map(str, unit)))
    on_gpu = is_cupy_array(matrix)  # there the largest is found without a copy
    large = [j for j in range(p) if integral and too_large(matrix[:, j] if on_gpu else column(j))]
    exact = {chosen.index(j): column(j) for j in large if j in chosen}
    return Table(
        values,
        [str(c) for c in chosen],
        _rebuilder(data, matrix, chosen, categories, large, sampling_weight),
        kinds_of(len(chosen), orders, nominal=[chosen.index(c) for c in nominal]),
        np.full(len(chosen), integral),
        categories,
        strata,
        strata_names,
        sampling,
        roles_of(
            chosen,
            strata_columns,
            sampling if sampling_weight is None else sampling_weight,
            ordinal,
            nominal,
            secret,
            unit,
        ),
        exact,
        dict.fromkeys(range(len(chosen)), xp.iinfo(data.dtype).min) if signed else {},
        None
        if not secret
        else sensitive_column(secret[0], column(secret[0]), True, strata_columns, sampling_weight),
        units,
    )


def _readable(data: Any) -> Any:
    """The array, if it holds real numbers and can be changed; else an error that says why not."""
    if is_jax_array(data) or is_dask_array(data):
        raise InputError(
            f"arrays of type {type(data).__name__} cannot be changed in place: "
            "convert the data with numpy.asarray first"
        )
    if isinstance(data, np.ndarray) and data.dtype.kind not in "fiu":
        raise InputError(
            f"the array holds {data.dtype.name} values, not numbers: "
            + _ADVICE.get(data.dtype.kind, "convert it, or give a DataFrame and choose its numeric "
                          "columns")
        )  # fmt: skip
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
    return data


def _rebuilder(
    data: Any,
    matrix: Any,
    chosen: list[int],
    categories: dict[int, list[Any]],
    large: list[int],
    sampling_weight: Any,
) -> Callable[..., Any]:
    """What `Table.rebuild` is for an array; `large` are columns of integers above 2^53."""
    xp = array_namespace(data)
    integral = xp.isdtype(data.dtype, "integral")

    def rebuild(
        protected: np.ndarray,
        kept: np.ndarray,
        keep_integers: bool,
        exact: Exact = None,
        weights: np.ndarray | None = None,
    ) -> Any:
        kind = xp.float64 if integral and not keep_integers else data.dtype
        others = [j for j in large if j not in chosen or chosen.index(j) in categories]
        if others and not keep_integers:
            raise InputError(
                f"column {others[0]} holds integers above 2^53, which would lose digits in an "
                "array of float64: use ",
                option("keep_integers", True),
                ", or a DataFrame",
            )
        every = is_every(kept, matrix.shape[0])
        where = None if every else xp.asarray(kept, device=device(data))
        rows = matrix if where is None else xp.take(matrix, where, axis=0)
        result = xp.astype(rows, kind, copy=True)
        numbers = xp.asarray(np.array(protected), device=device(data))  # one copy to a GPU
        for j, place in enumerate(chosen):
            new = numbers[:, j]
            if exact and j in exact:
                new = xp.asarray(exact[j].copy(), device=device(data))
            elif j in categories:
                new = xp.asarray(decoded(protected[:, j], categories[j]), device=device(data))
            result[:, place] = xp.astype(new, kind)
        if weights is not None:
            result[:, sampling_weight] = xp.astype(xp.asarray(weights, device=device(data)), kind)
        return xp.reshape(result, (-1,) if data.ndim == 1 else tuple(result.shape))

    return rebuild


def decoded(codes: np.ndarray, known: list[Any] | None) -> np.ndarray:
    """Values of an array's variable: its categories, if it has any, instead of their numbers."""
    if known is None:
        return codes
    missing = np.isnan(codes)
    if not missing.any():
        return np.asarray(known)[codes.astype(np.int64)]
    values = np.array([*known, np.nan], dtype=np.float64)
    return values[np.where(np.isnan(codes), len(known), codes).astype(np.int64)]


def _unit(column: np.ndarray) -> np.ndarray:
    codes = np.unique(column, return_inverse=True)[1].reshape(-1)
    return np.where(np.isnan(column), -1, codes)


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
        check_unique(places)
        return dict(zip(places, columns.values(), strict=True))
    return places


def _position(column: Any, p: int) -> int:
    if not is_whole(column) or not -p <= int(column) < p:
        raise InputError(
            f"column {shown(column)} is not in the array: its {p} columns are numbered from 0"
        )
    return int(column) % p
