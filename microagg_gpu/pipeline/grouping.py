"""Group the records of each stratum by a method."""

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from ..checks import is_whole
from ..data.columns import NOMINAL
from ..engines import on_device
from ..errors import InputError, option, shown, suggestion
from ..kernels import array_namespace
from ..methods import METHODS, Method
from ..methods.common import take_records
from ..methods.mixed import mixed_mdav
from ..progress import Progress, share
from ..settings import Settings
from .blocks import parts_of
from .problem import Problem

_PROJECTION, _MDAV = option("method", "projection"), option("method", "mdav")
_CLUSTERS = (option("method", "mst"), " or ", option("method", "kward"), ", which follow clusters")
SDCMICRO = {
    "pca": (_PROJECTION,),
    "onedims": (option("method", "individual"),),
    "mafast": (option("method", "individual"),),
    "single": (_PROJECTION, " with its options projection=pv and variable=NAME"),
}
"""Methods of sdcMicro that are here by another name."""
NEAREST = {
    "simple": (_MDAV, ", since records in the order of a file are not similar"),
    "rmd": (_MDAV, " with ", option("scale", "robust")),
    "pppca": (_PROJECTION, ", on a component that is not robust"),
    "mcdpca": (_PROJECTION, ", on a component that is not robust"),
    **dict.fromkeys(("influence", "clustpca", "clustpppca", "clustmcdpca"), _CLUSTERS),
}
"""Methods of sdcMicro that are not here, and what is nearest to them."""


def check_method(method: Any) -> str:
    """Return the name of a method that exists."""
    if not isinstance(method, str) or method not in METHODS:
        name = method.strip().lower() if isinstance(method, str) else ""
        if name in SDCMICRO:
            raise InputError(f"method {shown(method)} of sdcMicro is called ", *SDCMICRO[name])
        if name in NEAREST:
            raise InputError(
                f"method {shown(method)} of sdcMicro is not available: the nearest is ",
                *NEAREST[name],
            )
        near = suggestion(method, METHODS)
        raise InputError(
            f"method {shown(method)} is unknown: choose one of {', '.join(METHODS)}"
            f"{near and '.'}{near}"
        )
    return method


def group(
    problem: Problem, settings: Settings, progress: Progress | None
) -> tuple[np.ndarray, list[str]]:
    """Group the records of each cell by a method: labels, and what found them."""
    method, options = settings.method, dict(settings.options)
    check_method(method)
    if problem.units is not None:  # all records of a unit get into one group
        labels, found = group(problem.by_unit(), settings, progress)
        return labels[problem.units.of], found
    if settings.blocks is not None:
        return _each_block(problem, settings, progress)
    points, p = problem.points, len(problem.table.names)
    registered = METHODS[method]
    given = registered.takes.check(method, options)
    if registered.univariate and p > 1:
        raise InputError(
            f"method {method!r} takes one variable and the data have {p}: choose one with ",
            option("columns"),
            ", or use ",
            option("method", "projection"),
            " or ",
            option("method", "individual"),
            " with ",
            option("inner", method),
        )
    if problem.table.mixed and method != "mdav":
        raise InputError(
            f"method {method!r} takes numbers only: with ordinal or nominal columns use ",
            option("method", "mdav"),
            ", which is MDAV-generic then",
        )
    variable = registered.variable
    if variable is not None and given.get(variable) is not None:
        given[variable] = _variable(given[variable], problem.table.names)
    if registered.takes.seed:
        given["seed"] = settings.seed
    found_by: list[str] = []
    if registered.takes.found_by:
        given["found_by"] = found_by
    try:
        with on_device(points):
            labels = _each_cell(problem, registered, given, progress)
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        raise InputError(
            f"method {method!r} ran out of memory on {points.shape[0]} records of "
            f"{p} variables{detail}: protect fewer at a time or choose another method"
        ) from error
    return labels, found_by


def _each_block(
    problem: Problem, settings: Settings, progress: Progress | None
) -> tuple[np.ndarray, list[str]]:
    """Group each block of variables by itself: a label for each variable of a record."""
    if settings.method == "individual":
        raise InputError(
            "individual ranking groups each variable by itself: leave out ", option("blocks")
        )
    labels = np.empty(problem.points.shape, dtype=np.int64)
    found_by: list[str] = []
    for part in parts_of(problem, settings.blocks or (), progress):
        own, found = group(part.problem, replace(settings, blocks=None), part.progress)
        labels[:, part.places] = own[:, np.newaxis]
        found_by += found
    return labels, found_by


def _each_cell(
    problem: Problem,
    method: Method,
    given: dict[str, Any],
    progress: Progress | None,
) -> np.ndarray:
    cells, kinds, points = problem.cells, problem.table.kinds, problem.points
    m, p = points.shape
    weights = np.where(kinds == NOMINAL, problem.scale, 1.0) ** 2

    def labels_of(part: Any, observed: np.ndarray, progress: Progress | None) -> np.ndarray:
        if problem.table.mixed:
            return mixed_mdav(
                part, problem.k, kinds=kinds[observed], weights=weights[observed],
                engine=problem.engine, progress=progress,
            )  # fmt: skip
        inside = dict(given)
        ranks = method.variable
        if ranks is not None and inside.get(ranks) is not None and len(observed) < p:
            inside[ranks] = _place(inside[ranks], observed, problem.table.names)
        if method.time is not None:
            seconds = inside.get(method.time, method.takes.options[method.time].default)
            inside[method.time] = seconds * part.shape[0] / m
        return method.function(part, problem.k, engine=problem.engine, progress=progress, **inside)

    if len(cells.names) == 1 and len(cells.observed[0]) == p:
        return labels_of(points, cells.observed[0], progress)
    by_cell = np.argsort(cells.cell, kind="stable")
    labels = np.zeros((m, p), dtype=np.int64)
    together = True  # one label for whole records
    groups = np.zeros(p, dtype=np.int64)  # so far
    done = 0
    for rows, observed in zip(
        np.split(by_cell, np.cumsum(cells.sizes)[:-1]), cells.observed, strict=True
    ):
        found = np.zeros((len(rows), p), dtype=np.int64)  # nothing observed: all are equal
        if len(observed):
            part = take_records(points, rows)
            if len(observed) < p:
                xp = array_namespace(part)
                part = xp.take(part, xp.asarray(observed, device=device_of(part)), axis=1)
            new = labels_of(part, observed, share(progress, done, len(rows), m))
            together = together and new.ndim == 1
            if new.ndim == 1:
                found += new[:, np.newaxis]
            else:
                found[:, observed] = new
        labels[rows] = found + groups
        groups += found.max(axis=0) + 1
        done += len(rows)
    return labels[:, 0].copy() if together else labels


def _variable(given: Any, names: list[str]) -> int:
    """The position of a variable, given by its name or position."""
    if isinstance(given, str):
        if given not in names:
            near = suggestion(given, names)
            raise InputError(
                f"variable {shown(given)} is not one of {', '.join(names)}{near and '.'}{near}"
            )
        return names.index(given)
    if not is_whole(given) or not 0 <= int(given) < len(names):
        raise InputError(
            option("variable", given),
            f" names none of the {len(names)} variables: give a name, or a position from 0",
        )
    return int(given)


def _place(variable: int, observed: np.ndarray, names: list[str]) -> int:
    if variable not in observed:
        raise InputError(
            f"variable {names[variable]!r} ranks the records and is missing in some: use another, "
            "or ",
            option("missing", "drop"),
        )
    return int(np.searchsorted(observed, variable))
