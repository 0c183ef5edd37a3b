"""From a table to proven groups: scale, divide into cells, group each, prove, measure the loss."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from . import measures
from .aggregate import aggregate, aggregate_integers
from .checks import LARGEST, as_floats, is_whole, one_of, shown, true_or_false, whole_number
from .data.columns import NOMINAL, NUMBER, ORDINAL, Table
from .data.scaling import standardized
from .data.strata import Cells, divide, merge
from .engines import check_device, check_engine, engine_name, move, on_device
from .errors import InputError
from .kernels import engine_for
from .methods import METHODS
from .methods.common import check_options, take_records
from .methods.mixed import mixed_mdav
from .partition import Partition

Progress = Callable[[float], None]
Weights = Sequence[float] | np.ndarray | Mapping[Any, float]


@dataclass(frozen=True)
class Problem:
    """Records that are ready to be grouped.

    Attributes
    ----------
    table : Table
    k : int
    cells : Cells
        Which records are published, and which of them may be in a group together.
    values : NumPy array of shape (m, p)
        The records that are published, in the units of the data.
    points : array of shape (m, p)
        The same on the device: standardized and weighted.
    scale : array of shape (p,)
        What differences of each variable are multiplied by in distances and loss.
    """

    table: Table
    k: int
    cells: Cells
    values: np.ndarray
    points: Any
    scale: np.ndarray

    @property
    def sampling(self) -> np.ndarray | None:
        """Sampling weights of the records that are published."""
        given = self.table.sampling
        return None if given is None else given[self.cells.kept]

    @cached_property
    def filled(self) -> np.ndarray:
        """The points on the host, with the mean where a value is missing.

        What is missing is so in the whole group, and counts for nothing there.
        """
        points = engine_for(self.points).to_numpy(self.points).astype(np.float64, copy=False)
        absent = np.isnan(points)
        if not absent.any():
            return points
        count = np.maximum((~absent).sum(axis=0), 1)
        return np.where(absent, np.where(absent, 0.0, points).sum(axis=0) / count, points)


def prepare(
    table: Table,
    k: Any,
    *,
    standardize: bool = True,
    weights: Weights | None = None,
    missing: str = "error",
    small_strata: str = "error",
    device: str | None = "auto",
    engine: str | None = None,
    precision: str = "double",
) -> Problem:
    """Choose the records, bring them to the device, standardize and weight them."""
    check_engine(engine)
    device = check_device(device)
    one_of("precision", precision, ("double", "single"))
    standardize = true_or_false("standardize", standardize)
    k = check_k(k, table.values.shape[0])
    values = engine_for(table.values).to_numpy(table.values)
    cells = divide(table, values, k, missing, small_strata)
    every = len(cells.kept) == len(values)
    moved = move(table.values if every else take_records(table.values, cells.kept), device, engine)
    if precision == "single" and engine_name(moved, engine) == "cpu":
        raise InputError(
            "precision='single' is for the GPU and the CPU engine computes in double: leave it out"
        )
    with on_device(moved):
        points, scale = _scaled(moved, table, standardize, check_weights(weights, table.names))
        xp = array_namespace(points)
        if precision == "single":
            points = xp.astype(points, xp.float32)
    if small_strata == "merge":
        cells = merge(cells, engine_for(points).to_numpy(points), table.kinds, k)
    return Problem(table, k, cells, values if every else values[cells.kept], points, scale)


def check_k(k: Any, n: int) -> int:
    """Return k as an int if n records can be grouped by it."""
    if not is_whole(k):
        raise InputError(f"k={shown(k)} is not a whole number: give the least group size")
    number = int(k)
    if number < 1:
        raise InputError(f"k={shown(number)} is too small: a group has at least 1 record")
    if number > n:
        raise InputError(f"k={shown(number)} is more than the {n} records: give a k of {n} or less")
    return number


def check_weights(weights: Weights | None, names: list[str]) -> np.ndarray:
    """The weight of each variable, if they can be used."""
    if weights is None:
        return np.ones(len(names))
    if hasattr(weights, "to_dict") and list(getattr(weights, "index", [])) != [*range(len(names))]:
        weights = weights.to_dict()  # a Series of pandas with names of its own
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if str(name) not in names]
        if unknown:
            raise InputError(
                f"a weight is given for {shown(unknown[0])}, which is not protected: "
                f"choose among {', '.join(names)}"
            )
        known = {str(name): weight for name, weight in weights.items()}
        weights = [known.get(name, 1.0) for name in names]
    w = as_floats(weights, f"weights={shown(weights)} are not numbers: give one for each")
    if w.shape != (len(names),):
        raise InputError(f"{w.size} weights for {len(names)} variables: give one for each")
    if not (np.isfinite(w).all() and (w >= 0).all() and w.any()):
        raise InputError("a weight is negative, not finite, or all are 0: give numbers above 0")
    if w.max() > 1e100 or w[w > 0].min() < 1e-100:  # their squares must not overflow
        raise InputError("a weight is above 1e100 or below 1e-100: give numbers near 1")
    return w


def _scaled(
    values: Any, table: Table, standardize: bool, weights: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Points for the methods and what differences were multiplied by.

    Numbers are standardized; an ordinal variable's ranks are divided by the number of its
    categories (Domingo-Ferrer and Torra 2005), so that differences are below 1; of nominal ones
    only equality counts.
    """
    xp = array_namespace(values)
    p = len(table.names)
    numbers = np.flatnonzero(table.kinds == NUMBER)
    if standardize and len(numbers) == p:
        points, scale = standardized(values, table.names)
    elif standardize and len(numbers):
        where = xp.asarray(numbers, device=device_of(values))
        some, factors = standardized(
            xp.take(values, where, axis=1), [table.names[j] for j in numbers]
        )
        points, scale = xp.astype(values, xp.float64, copy=True), np.ones(p)
        scale[numbers] = factors
        for place, j in enumerate(numbers.tolist()):
            points[:, j] = some[:, place]
    else:
        points, scale = values, np.ones(p)
        finite = xp.where(xp.isnan(values), 0.0, values)
        if float(xp.max(xp.abs(finite))) > 1e150:
            raise InputError("the data hold values above 1e150, too large to square: rescale them")
    factors = np.sqrt(weights)
    for j, known in table.categories.items():
        factors[j] /= max(1, len(known)) if table.kinds[j] == ORDINAL else 1
    scale = scale * factors
    factors[table.kinds == NOMINAL] = 1.0  # their numbers are only compared
    if (factors == 1.0).all():
        return points, scale
    return points * xp.asarray(factors, device=device_of(points)), scale


def check_method(method: Any) -> str:
    """Return the name of a method that exists."""
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method {shown(method)} is unknown: choose one of {', '.join(METHODS)}")
    return method


def group(
    problem: Problem,
    method: str,
    options: dict[str, Any],
    engine: str | None,
    seed: int,
    progress: Progress | None,
) -> tuple[np.ndarray, list[str]]:
    """Group the records of each cell by a method: labels, and what it has to tell."""
    check_method(method)
    points, p = problem.points, len(problem.table.names)
    function = METHODS[method].function
    given = check_options(method, function, options)
    if METHODS[method].univariate and p > 1:
        raise InputError(
            f"method {method!r} takes one variable and the data have {p}: choose one with "
            f"columns=, or take method='projection' or 'individual' with inner={method!r}"
        )
    if problem.table.mixed and method != "mdav":
        raise InputError(
            f"method {method!r} takes numbers only: with ordinal or nominal columns take "
            "method='mdav', which is MDAV-generic then"
        )
    if given.get("variable") is not None:
        given["variable"] = _variable(given["variable"], problem.table.names)
    if "seed" in inspect.signature(function).parameters:
        given["seed"] = check_seed(seed)
    story: list[str] = []
    if "story" in inspect.signature(function).parameters:
        given["story"] = story
    try:
        with on_device(points):
            labels = _each_cell(problem, function, given, engine, progress)
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        raise InputError(
            f"method {method!r} ran out of memory on {points.shape[0]} records of "
            f"{p} variables{detail}: protect fewer at a time or choose another method"
        ) from error
    return labels, story


def _each_cell(
    problem: Problem,
    function: Callable[..., np.ndarray],
    given: dict[str, Any],
    engine: str | None,
    progress: Progress | None,
) -> np.ndarray:
    cells, kinds, points = problem.cells, problem.table.kinds, problem.points
    m, p = points.shape
    weights = np.where(kinds == NOMINAL, problem.scale, 1.0) ** 2

    def one(part: Any, observed: np.ndarray, tell: Progress | None) -> np.ndarray:
        if problem.table.mixed:
            return mixed_mdav(
                part, problem.k, kinds=kinds[observed], weights=weights[observed],
                engine=engine, progress=tell,
            )  # fmt: skip
        inside = dict(given)
        if inside.get("variable") is not None and len(observed) < p:
            inside["variable"] = _place(inside["variable"], observed, problem.table.names)
        if "seconds" in inspect.signature(function).parameters:  # each cell its share of the time
            default = inspect.signature(function).parameters["seconds"].default
            inside["seconds"] = inside.get("seconds", default) * part.shape[0] / m
        return function(part, problem.k, engine=engine, progress=tell, **inside)

    if len(cells.names) == 1 and len(cells.observed[0]) == p:
        return one(points, cells.observed[0], progress)
    by_cell = np.argsort(cells.cell, kind="stable")
    labels = np.zeros((m, p), dtype=np.int64)
    together = True  # one label for whole records
    groups = np.zeros(p, dtype=np.int64)  # so far
    done = 0
    for rows, observed in zip(
        np.split(by_cell, np.cumsum(cells.sizes)[:-1]), cells.observed, strict=True
    ):
        found = np.zeros((len(rows), p), dtype=np.int64)  # nothing observed: all are alike
        if len(observed):
            part = take_records(points, rows)
            if len(observed) < p:
                xp = array_namespace(part)
                part = xp.take(part, xp.asarray(observed, device=device_of(part)), axis=1)

            def tell(fraction: float, done: int = done, size: int = len(rows)) -> None:
                if progress is not None:
                    progress((done + fraction * size) / m)

            new = one(part, observed, tell)
            together = together and new.ndim == 1
            if new.ndim == 1:
                found += new[:, np.newaxis]
            else:
                found[:, observed] = new
        labels[rows] = found + groups
        groups += found.max(axis=0) + 1
        done += len(rows)
    return labels[:, 0].copy() if together else labels


def prove(problem: Problem, labels: np.ndarray) -> list[Partition]:
    """The partition of the records, or one for each variable; each has groups of k in one cell."""
    return [Partition(column, problem.k, problem.cells.cell) for column in np.atleast_2d(labels.T)]


def publish(
    problem: Problem, parts: list[Partition], how: str, keep_integers: bool
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """What is published for each record, in the units of the data.

    Returns
    -------
    published : float array of shape (m, p)
    exact : dict of integer arrays of shape (m,)
        The same of variables in `Table.exact` if integers are kept, to the last digit.
    """
    kinds, values = problem.table.kinds, problem.values
    if len(parts) == 1:
        result = aggregate(parts[0], values, how, kinds, problem.sampling)
    else:
        result = np.hstack(
            [
                aggregate(part, values[:, [j]], how, kinds[[j]], problem.sampling)
                for j, part in enumerate(parts)
            ]
        )
    exact: dict[int, np.ndarray] = {}
    if not keep_integers:
        return result, exact
    for j in np.flatnonzero(problem.table.whole & (kinds == NUMBER)).tolist():
        known = ~np.isnan(values[:, j])
        if j in problem.table.exact:
            integers = problem.table.exact[j][problem.cells.kept]
        elif np.abs(values[known, j]).max(initial=0) > 2**53:  # such as Int128
            raise InputError(
                f"column {problem.table.names[j]} holds integers above 2^53 that cannot be kept to "
                "the last digit here: leave out keep_integers"
            )
        else:
            integers = np.where(known, values[:, j], 0).astype(np.int64)
        new = aggregate_integers(parts[j % len(parts)], integers, how, problem.sampling)
        result[known, j] = new[known]
        if j in problem.table.exact:
            exact[j] = new
    return result, exact


def loss_of(
    problem: Problem, labels: np.ndarray, published: np.ndarray, means: bool
) -> tuple[float, float, float]:
    """Information loss in percent, SSE and SST, on the scaled variables.

    Parameters
    ----------
    labels : int array of shape (m,) or (m, p)
    published : array of shape (m, p)
    means : bool
        Whether the published values are the plain means, so that SSE is that of the groups.
        Otherwise it is the sum of squared differences between records and what is published.
    """
    if means and not problem.table.mixed:
        points = problem.filled
        loss = measures.information_loss(points, labels)
        return loss, measures.sse(points, labels), measures.sst(points)
    absent = np.isnan(problem.values)
    sse = sst = 0.0
    for j, kind in enumerate(problem.table.kinds):
        known = ~absent[:, j]
        before, after = problem.values[known, j], published[known, j]
        if not len(before):
            continue
        alone = Partition(np.zeros(len(before), dtype=np.int64), 1)
        centre = aggregate(alone, before[:, np.newaxis], kinds=np.array([kind]))[:, 0]
        for_all, for_groups = before - centre, before - after
        if kind == NOMINAL:
            for_all, for_groups = for_all != 0, for_groups != 0
        sse += float(np.square(problem.scale[j] * for_groups).sum())
        sst += float(np.square(problem.scale[j] * for_all).sum())
    return 100 * sse / sst if sst > 0 else 0.0, sse, sst


def _variable(given: Any, names: list[str]) -> int:
    """The position of a variable, given by its name or position."""
    if isinstance(given, str):
        if given not in names:
            raise InputError(f"variable {shown(given)} is not one of {', '.join(names)}")
        return names.index(given)
    if not is_whole(given) or not 0 <= int(given) < len(names):
        raise InputError(
            f"variable={shown(given)} names none of the {len(names)} variables: give a name, or a "
            "position from 0"
        )
    return int(given)


def _place(variable: int, observed: np.ndarray, names: list[str]) -> int:
    if variable not in observed:
        raise InputError(
            f"variable {names[variable]!r} ranks the records and is missing in some: take another, "
            "or missing='drop'"
        )
    return int(np.searchsorted(observed, variable))


def check_seed(seed: Any) -> int:
    """Return a seed as an int, if it is one."""
    return whole_number("seed", seed, 0, LARGEST)
