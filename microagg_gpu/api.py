"""microaggregate() and compare(): the whole way from a table to a protected table."""

import inspect
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from . import measures
from .backend import check_engine, device_name, engine_name, move, on_device
from .errors import InputError
from .kernels import engine_for
from .methods import METHODS
from .methods.common import check_options
from .partition import Partition
from .table import Table, read, standardize


@dataclass(frozen=True, repr=False)
class Result:
    """A protected table and what the protection cost.

    Attributes
    ----------
    labels : int64 array of shape (n,)
        Group of each record, 0, 1, ... in order of first record; (n, p) for individual ranking.
    protected : same kind as the data
        Each record replaced by the centroid of its group, in the original units and order.
    loss : float
        Information loss 100 * SSE / SST on the standardized (and weighted) variables.
    sse, sst : float
        Within-groups and total sum of squares.
    sizes : int64 array
        Number of records of each group; for individual ranking a list, one array per variable.
    k, method, options
        As asked for.
    device, engine : str
        Where it ran.
    seconds : float
        How long the method took.
    """

    labels: np.ndarray
    protected: Any
    loss: float
    sse: float
    sst: float
    sizes: Any
    k: int
    method: str
    options: dict[str, Any]
    device: str
    engine: str
    seconds: float
    names: list[str] = field(default_factory=list)
    _original: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    _protected: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def __repr__(self) -> str:
        return (
            f"Result(method={_describe(self.method, self.options)!r}, k={self.k}, "
            f"loss={self.loss:.4g}, records={len(self.labels)}, seconds={self.seconds:.3g})"
        )

    def report(self) -> dict[str, Any]:
        """Quality measures of the papers: sums of squares, deviations, correlations, groups."""
        return measures.report(self._original, self._protected, self.labels, self.k, self.names)


def _describe(method: str, options: dict[str, Any]) -> str:
    return " ".join([method, *(f"{name}={value}" for name, value in options.items())])


def microaggregate(
    data: Any,
    k: int = 3,
    method: str = "mdav",
    columns: Sequence[Any] | None = None,
    standardize: bool = True,
    weights: Sequence[float] | None = None,
    device: str = "auto",
    engine: str | None = None,
    precision: str = "double",
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Result:
    """Group records in groups of at least k and replace each by its group's centroid.

    Parameters
    ----------
    data : array, list of lists or DataFrame
        A row per record; one dimension is one variable. Arrays of any Array API library
        (NumPy, CuPy, PyTorch, ...), pandas and polars DataFrames.
    k : int
        The least number of records in a group.
    method : str
        A name in `METHODS`.
    columns : sequence, optional
        The variables to protect (names, or positions in an array); others are left untouched.
    standardize : bool
        Bring each variable to mean 0 and standard deviation 1 first; if False, distances and
        loss are in the units of the data.
    weights : sequence of float, optional
        Weight of each variable in all sums of squares (2002 paper, after expression 5).
    device : {"auto", "cpu", "cuda", "cuda:1", ...}
        Where to compute; "auto" is where the data are.
    engine : {None, "generic", "cpu", "cuda"}
        Force an engine whatever the array's type.
    precision : {"double", "single"}
        Of the distances that decide. "single" is for GPUs that are slow in double precision; its
        groups may differ a little. The CPU engine always computes in double.
    seed : int
        For methods that draw random numbers.
    progress : callable, optional
        Called with the fraction done, from 0 to 1.
    **options
        Options of the method.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        A ValueError, if the data or the options cannot be used.
    """
    with on_device(data):
        table = read(data, columns)
        k = check_k(k, table.values.shape[0])
        points = prepare(table, standardize, weights, device, engine, precision)
        return _run(table, points, k, method, options, engine, seed, progress)


def compare(
    data: Any,
    k: int | Iterable[int] = (3, 5),
    methods: str | Iterable[Any] = "all",
    *,
    columns: Sequence[Any] | None = None,
    standardize: bool = True,
    weights: Sequence[float] | None = None,
    device: str = "auto",
    engine: str | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> "Comparison":
    """Try methods on the same data, as the 2002 paper advises (section 6), best first.

    Parameters
    ----------
    k : int or several
    methods : "all" or several
        Each a method's name, which runs its usual variants, or a pair (name, options). "all" is
        every method that groups whole records; individual ranking, which does not, and above
        1,500 records "tsp", whose time grows with their cube, run only when named.
    columns, standardize, weights, device, engine, seed, progress
        As in `microaggregate`.

    Returns
    -------
    Comparison
        A list of rows (dictionaries), sorted by k and loss; printing it shows a table.
    """
    with on_device(data):
        table = read(data, columns)
        given = k if isinstance(k, Iterable) else [k]
        sizes = [check_k(one, table.values.shape[0]) for one in given]
        points = prepare(table, standardize, weights, device, engine)
    runs = _variants(methods, *points.shape)
    rows: list[dict[str, Any]] = []

    def part(fraction: float) -> None:
        if progress is not None:
            progress((len(rows) + fraction) / (len(sizes) * len(runs)))

    for one in sizes:
        for name, options in runs:
            with on_device(data):
                result = _run(table, points, one, name, options, engine, seed, part)
            groups = np.concatenate([result.sizes] if result.labels.ndim == 1 else result.sizes)
            rows.append(
                {
                    "k": one,
                    "method": _describe(name, options),
                    "loss": result.loss,
                    "groups": len(groups),
                    "largest": int(groups.max()),
                    "seconds": result.seconds,
                }
            )
            part(0.0)
    return Comparison(sorted(rows, key=lambda row: (row["k"], row["loss"])))


class Comparison(list):
    """Rows of a comparison: ``k``, ``method``, ``loss``, ``groups``, ``largest``, ``seconds``."""

    def __str__(self) -> str:
        lines = [f"{'k':>4}  {'method':<32}{'loss %':>9}{'groups':>9}{'largest':>9}{'seconds':>10}"]
        for row in self:
            lines.append(
                f"{row['k']:>4}  {row['method']:<32}{row['loss']:>9.4f}{row['groups']:>9}"
                f"{row['largest']:>9}{row['seconds']:>10.3f}"
            )
        return "\n".join(lines)


def _is_int(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _variants(methods: str | Iterable[Any], n: int, p: int) -> list[tuple[str, dict[str, Any]]]:
    univariate = p == 1
    if methods == "all":
        chosen: list[Any] = [
            name
            for name, method in METHODS.items()
            if name not in ("individual", "projection" if univariate else "")
            and (univariate or not method.univariate)
            and n <= method.compared_up_to
        ]
    else:
        chosen = [methods] if isinstance(methods, str) else list(methods)
    runs = []
    for one in chosen:
        if isinstance(one, str):
            _check_method(one)
            variants = METHODS[one].variants
            if one == "kward" and univariate:
                variants = ({},)
            runs += [(one, options) for options in variants]
        else:
            runs.append((one[0], dict(one[1])))
    return runs


def check_k(k: Any, n: int) -> int:
    """Return k as an int if n records can be grouped by it."""
    if not _is_int(k):
        raise InputError(f"k={k!r} is not a whole number: give the least group size")
    number = int(k)
    if number < 1:
        raise InputError(f"k={number} is too small: a group has at least 1 record")
    if number > n:
        raise InputError(f"k={number} is more than the {n} records: give a k of {n} or less")
    return number


def prepare(
    table: Table,
    scale: bool,
    weights: Sequence[float] | None,
    device: str,
    engine: str | None = None,
    precision: str = "double",
) -> Any:
    """The matrix that methods work on: on the device, standardized and weighted."""
    check_engine(engine)
    if precision not in ("double", "single"):
        raise InputError(f"precision={precision!r} is unknown: choose 'double' or 'single'")
    values = move(table.values, device, engine)
    if precision == "single" and engine_name(values, engine) == "cpu":
        raise InputError(
            "precision='single' is for the GPU and the CPU engine computes in double: leave it out"
        )
    with on_device(values):
        points = _scaled(values, table.names, scale, weights)
        xp = array_namespace(points)
        return points if precision == "double" else xp.astype(points, xp.float32)


def _scaled(values: Any, names: list[str], scale: bool, weights: Sequence[float] | None) -> Any:
    xp = array_namespace(values)
    if scale:
        points = standardize(values, names)
    elif float(xp.max(xp.abs(values))) > 1e150:
        raise InputError("the data hold values above 1e150, too large to square: rescale them")
    else:
        points = values
    if weights is None:
        return points
    try:
        w = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"weights={weights!r} are not numbers: give one for each") from None
    if w.shape != (points.shape[1],):
        raise InputError(f"{w.size} weights for {points.shape[1]} variables: give one for each")
    if not (np.isfinite(w).all() and (w >= 0).all() and w.any()):
        raise InputError("a weight is negative, not finite, or all are 0: give numbers above 0")
    return points * xp.asarray(np.sqrt(w), device=device_of(points))


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise InputError(f"method {method!r} is unknown: choose one of {', '.join(METHODS)}")


def _run(
    table: Table,
    points: Any,
    k: int,
    method: str,
    options: dict[str, Any],
    engine: str | None,
    seed: int,
    progress: Callable[[float], None] | None,
) -> Result:
    """Run one method on prepared points and verify what it returns."""
    _check_method(method)
    function = METHODS[method].function
    check_options(method, function, options)
    if METHODS[method].univariate and points.shape[1] > 1:
        raise InputError(
            f"method {method!r} takes one variable and the data have {points.shape[1]}: choose "
            f"one with columns=, or take method='projection' or 'individual' with inner={method!r}"
        )
    given = dict(options)
    if isinstance(given.get("variable"), str):
        given["variable"] = _variable(given["variable"], table.names)
    if "seed" in inspect.signature(function).parameters:
        given["seed"] = _check_seed(seed)
    start = time.perf_counter()
    try:
        with on_device(points):
            labels = function(points, k, engine=engine, progress=progress, **given)
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        raise InputError(
            f"method {method!r} ran out of memory on {points.shape[0]} records of "
            f"{points.shape[1]} variables{detail}: protect fewer at a time or choose another method"
        ) from error
    seconds = time.perf_counter() - start

    to_numpy = engine_for(points).to_numpy
    values, original = to_numpy(table.values), to_numpy(points).astype(np.float64, copy=False)
    parts = [Partition(column, k) for column in np.atleast_2d(labels.T)]
    sizes: Any
    if labels.ndim == 1:
        proven, sizes = parts[0].labels, parts[0].sizes
        protected, scaled = parts[0].protect(values), parts[0].protect(original)
    else:
        proven, sizes = np.stack([part.labels for part in parts], axis=1), [p.sizes for p in parts]
        columns = [slice(j, j + 1) for j in range(len(parts))]
        protected, scaled = (
            np.hstack([part.protect(x[:, c]) for part, c in zip(parts, columns, strict=True)])
            for x in (values, original)
        )
    return Result(
        labels=proven,
        protected=table.rebuild(protected),
        loss=measures.information_loss(original, proven),
        sse=measures.sse(original, proven),
        sst=measures.sst(original),
        sizes=sizes,
        k=k,
        method=method,
        options=dict(options),
        device=device_name(points),
        engine=engine_name(points, engine),
        seconds=seconds,
        names=table.names,
        _original=original,
        _protected=scaled,
    )


def _variable(name: str, names: list[str]) -> int:
    if name not in names:
        raise InputError(f"variable {name!r} is not one of {', '.join(names)}")
    return names.index(name)


def _check_seed(seed: Any) -> int:
    if not _is_int(seed) or seed < 0:
        raise InputError(f"seed={seed!r} is not a whole number of 0 or more")
    return int(seed)
