"""microaggregate() and compare(): the whole way from a table to a protected table."""

import platform
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from .checks import as_list, callable_or_none, mapping, one_of, shown, true_or_false
from .data.columns import NUMBER, Columns, Ordinal
from .data.table import read
from .engines import device_name, on_device
from .errors import InputError
from .kernels.protocol import Progress, Watch
from .measures import information_loss
from .methods import METHODS
from .pipeline.comparison import Comparison, named
from .pipeline.grouping import check_method, group
from .pipeline.partition import prove
from .pipeline.problem import Problem, Weights, check_seed, prepare
from .pipeline.publishing import AGGREGATES, loss_of, publish
from .pipeline.refinement import check_budget, given_groups, improve
from .pipeline.result import Refinement, Result


def microaggregate(
    data: Any,
    k: int = 3,
    method: str = "mdav",
    columns: Columns = None,
    standardize: bool = True,
    weights: Weights | None = None,
    device: str | None = "auto",
    engine: str | None = None,
    precision: str = "double",
    seed: int = 0,
    progress: Progress | None = None,
    *,
    by: Columns = None,
    sampling_weight: Any = None,
    ordinal: Ordinal = (),
    nominal: Columns = (),
    missing: str = "error",
    small_strata: str = "error",
    aggregate: str = "mean",
    keep_integers: bool = False,
    refine: float | None = None,
    refine_steps: int | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Result:
    """Group records in groups of at least k and replace each by its group's centroid.

    Parameters
    ----------
    data : array, list of lists or DataFrame
        A row per record; one dimension is one variable. Arrays of any Array API library
        (NumPy, CuPy, PyTorch, ...), pandas and polars DataFrames, Arrow tables.
    k : int
        The least number of records in a group.
    method : str
        A name in `METHODS`.
    columns : name, position, or several, optional
        The variables to protect (names, or positions in an array); by default all but those of
        ``by`` and ``sampling_weight``. Others are left untouched.
    standardize : bool
        Bring each variable to mean 0 and standard deviation 1 first; if False, distances and
        loss are in the units of the data.
    weights : sequence or dict, optional
        Weight of each variable in all sums of squares (2002 paper, after expression 5), in the
        order of the columns or by name.
    device : {"auto", "cpu", "cuda", "cuda:1", ...}
        Where to compute; "auto", or None, is where the data are.
    engine : {None, "generic", "cpu", "cuda"}
        Force an engine whatever the array's type.
    precision : {"double", "single"}
        Of the distances that decide. "single" is for GPUs that are slow in double precision; its
        groups may differ a little. The CPU engine always computes in double.
    seed : int
        For methods that draw random numbers.
    progress : callable, optional
        Called with the fraction done, from 0 to 1.
    by : name, position, or several, optional
        Columns that divide the records into strata: each combination of their values is grouped
        by itself. Variables are standardized over all records.
    sampling_weight : column or array, optional
        Sampling weight of each record, above 0. Centroids become weighted means, so that weighted
        totals are kept; grouping and loss do not use it.
    ordinal : name, position, several, or dict, optional
        Columns of ordered categories: names, or a dict from name to categories, lowest first. By
        default numbers are in their order and ordered categorical types in theirs. Published is
        the median category. Columns named here need not be in ``columns``.
    nominal : name, position, or several, optional
        Columns of categories without order: records differ in them or do not. Published is the
        most frequent category. With ordinal or nominal columns the method is MDAV-generic
        (Domingo-Ferrer and Torra 2005).
    missing : {"error", "pattern", "drop"}
        What to do with missing values: refuse them; group only records in which the same
        variables are missing, and leave them missing; leave out records with any.
    small_strata : {"error", "merge", "suppress"}
        What to do with strata (and patterns of missing values) of fewer than k records: refuse
        them; put each together with the stratum whose centroid is nearest; leave out its records.
        After a merger records of one group may differ in the columns of ``by``.
    aggregate : {"mean", "median", "trimmed"}
        What is published for a group of numbers; "trimmed" is the mean without the lowest and
        the highest fifth, at least one value each in groups of three or more.
    keep_integers : bool
        Round what is published in columns of integers, and keep their type.
    refine : float, optional
        Lower the loss of the method's groups by annealing for so many seconds. Ctrl-C ends it
        earlier, with the best so far.
    refine_steps : int, optional
        Instead of seconds: steps for each record, some thousands. The same steps and seed give
        the same groups everywhere; 0 goes to the next local optimum.
    watch : callable, optional
        Called during refinement with the fraction done and the loss so far.
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
    check_method(method)
    keep_integers = _check_run(aggregate, keep_integers, seed, progress, watch)
    budget = _Budget(*check_budget(refine, refine_steps, ("refine", "refine_steps")), watch)
    with on_device(data):
        table = read(data, columns, by, sampling_weight, ordinal, nominal)
        problem = prepare(
            table, k, standardize=standardize, weights=weights, missing=missing,
            small_strata=small_strata, device=device, engine=engine, precision=precision,
        )  # fmt: skip
        made = {
            "Strata": ", ".join(table.strata_columns),
            "Sampling weight": sampling_weight if isinstance(sampling_weight, str) else "",
            "Missing values": "" if missing == "error" else missing,
            "Column weights": "" if weights is None else str(weights),
            "Published": aggregate + (", whole numbers kept" if keep_integers else ""),
            "Standardized": "yes" if standardize else "no",
        }
        return _run(
            problem, method, options, seed, progress, aggregate, keep_integers, made,
            budget,
        )  # fmt: skip


def refine(
    data: Any,
    labels: Any,
    k: int = 3,
    seconds: float | None = 30.0,
    steps: int | None = None,
    *,
    columns: Columns = None,
    standardize: bool = True,
    weights: Weights | None = None,
    device: str | None = "auto",
    engine: str | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    by: Columns = None,
    sampling_weight: Any = None,
    missing: str = "error",
    small_strata: str = "error",
    aggregate: str = "mean",
    keep_integers: bool = False,
) -> Result:
    """Lower the loss of groups that are already there, from this tool or another.

    Parameters
    ----------
    data : as in `microaggregate`
    labels : array_like of int, (n,)
        Group of each record; at least k records in each.
    k : int
    seconds, steps
        The budget, as ``refine`` and ``refine_steps`` of `microaggregate`.
    columns, standardize, weights, device, engine, seed, watch, by, sampling_weight, missing, \
    small_strata, aggregate, keep_integers
        As in `microaggregate`.

    Returns
    -------
    Result
        Its loss is at most that of the given groups.
    """
    keep_integers = _check_run(aggregate, keep_integers, seed, None, watch)
    budget = _Budget(*check_budget(seconds, steps, ("seconds", "steps")), watch)
    if budget.seconds is None and budget.steps is None:
        budget = budget._replace(seconds=0.0)
    with on_device(data):
        table = read(data, columns, by, sampling_weight)
        problem = prepare(
            table, k, standardize=standardize, weights=weights, missing=missing,
            small_strata=small_strata, device=device, engine=engine,
        )  # fmt: skip
        groups = given_groups(labels, problem)
        return _run(problem, "given", {}, seed, None, aggregate, keep_integers, {}, budget, groups)


class _Budget(NamedTuple):
    """How long to refine, and who is told."""

    seconds: float | None = None
    steps: int | None = None
    watch: Watch | None = None


def _check_run(aggregate: Any, keep_integers: Any, seed: Any, progress: Any, watch: Any) -> bool:
    """Refuse arguments that cannot be used, before any work; return `keep_integers`."""
    one_of("aggregate", aggregate, AGGREGATES)
    check_seed(seed)
    callable_or_none("progress", progress)
    callable_or_none("watch", watch)
    return true_or_false("keep_integers", keep_integers)


def compare(
    data: Any,
    k: int | Iterable[int] = (3, 5),
    methods: str | Iterable[Any] = "all",
    *,
    columns: Columns = None,
    standardize: bool = True,
    weights: Weights | None = None,
    device: str | None = "auto",
    engine: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    refine: float | None = None,
    by: Columns = None,
    sampling_weight: Any = None,
    ordinal: Ordinal = (),
    nominal: Columns = (),
    missing: str = "error",
    small_strata: str = "error",
    aggregate: str = "mean",
    keep_integers: bool = False,
) -> Comparison:
    """Try methods on the same data, as the 2002 paper advises (section 6), best first.

    Parameters
    ----------
    data : as in `microaggregate`
    k : int or several
    methods : "all" or several
        Each a method's name, which runs its usual variants, or a pair (name, options). "all" is
        every method that groups whole records; individual ranking, which does not, and above
        1,500 records "tsp", whose time grows with their cube, run only when named.
    columns, standardize, weights, device, engine, seed, progress, refine, by, sampling_weight, \
    ordinal, nominal, missing, small_strata, aggregate, keep_integers
        As in `microaggregate`.

    Returns
    -------
    Comparison
        A list of rows (dictionaries), sorted by k and loss; printing it shows a table. The risk
        is that of `Result.linkage`, in percent.
    """
    keep_integers = _check_run(aggregate, keep_integers, seed, progress, None)
    budget = _Budget(*check_budget(refine, None, ("refine", "")))
    given_sizes = as_list(k)
    if not given_sizes:
        raise InputError("nothing to compare: give one k, or more")
    with on_device(data):
        table = read(data, columns, by, sampling_weight, ordinal, nominal)
        problems = [
            prepare(
                table, one, standardize=standardize, weights=weights, device=device,
                engine=engine, missing=missing, small_strata=small_strata,
            )
            for one in given_sizes
        ]  # fmt: skip
    n, p = table.values.shape
    runs = _variants(methods, n, p, table.mixed)
    rows: list[dict[str, Any]] = []

    def part(fraction: float) -> None:
        if progress is not None:
            progress((len(rows) + fraction) / (len(problems) * len(runs)))

    for problem in problems:
        for name, options in runs:
            with on_device(data):
                result = _run(
                    problem, name, options, seed, lambda f: part(0.7 * f), aggregate,
                    keep_integers, {}, budget,
                )  # fmt: skip
            groups = np.concatenate([result.sizes] if result.labels.ndim == 1 else result.sizes)
            rows.append(
                {
                    "k": problem.k,
                    "method": named(name, options),
                    "loss": result.loss,
                    "risk": 100 * result.linkage(lambda f: part(0.7 + 0.3 * f)).share,
                    "groups": len(groups),
                    "largest": int(groups.max()),
                    "seconds": result.seconds,
                }
            )
            part(0.0)
    return Comparison(sorted(rows, key=lambda row: (row["k"], row["loss"])))


MAP_RECORDS = 100_000
"""Above it, the methods of a report's map would take minutes."""


def risk_map(
    data: Any, k: int, *, progress: Progress | None = None, **given: Any
) -> list[dict[str, Any]]:
    """Rows of `compare` for the quick methods and k = 3, 5, 10 and the given one.

    Parameters
    ----------
    data : as in `microaggregate`
    k : int
    progress : callable, optional
    **given
        As for `compare`.

    Returns
    -------
    list of dict
        None for more than 100,000 records; without those k for which strata are too small.
    """
    roles = ("columns", "by", "sampling_weight", "ordinal", "nominal")
    table = read(data, **{name: given[name] for name in roles if name in given})
    n, p = table.values.shape
    if n > MAP_RECORDS:
        return []
    methods: list[Any] = ["mdav"]
    if not table.mixed:
        methods += ["vmdav", ("mst", {"split": "centroid"})]
        methods += ["optimal", "fixed"] if p == 1 else ["centroid", ("projection", {})]
    rows: list[dict[str, Any]] = []
    sizes = sorted({3, 5, 10, k} - {1})
    for i, size in enumerate(sizes):

        def part(fraction: float, i: int = i) -> None:
            if progress is not None:
                progress((i + fraction) / len(sizes))

        with suppress(InputError):
            rows += compare(data, size, methods, progress=part, **given)
    return rows


def _variants(
    methods: str | Iterable[Any], n: int, p: int, mixed: bool
) -> list[tuple[str, dict[str, Any]]]:
    univariate = p == 1
    everything = isinstance(methods, str) and methods == "all"
    if everything and mixed:
        chosen: list[Any] = ["mdav"]
    elif everything:
        chosen = [
            name
            for name, method in METHODS.items()
            if name not in ("individual", "projection" if univariate else "")
            and (univariate or not method.univariate)
            and n <= method.compared_up_to
        ]
    else:
        chosen = [methods] if _is_pair(methods) else as_list(methods)
    if not chosen:
        raise InputError("nothing to compare: give one method, or more")
    runs = []
    for one in chosen:
        if isinstance(one, str):
            check_method(one)
            variants = METHODS[one].variants
            if one == "kward" and univariate:
                variants = ({},)
            runs += [(one, options) for options in variants]
        elif _is_pair(one):
            runs.append((check_method(one[0]), mapping(f"options of {one[0]}", one[1])))
        else:
            raise InputError(
                f"method {shown(one)} is unknown: give a name, or a pair of a name and a "
                "dictionary of options"
            )
    return runs


def _is_pair(given: Any) -> bool:
    """Whether a method is given with its options."""
    pair = isinstance(given, (tuple, list)) and len(given) == 2
    return pair and isinstance(given[0], str) and isinstance(given[1], Mapping)


def _run(
    problem: Problem,
    method: str,
    options: dict[str, Any],
    seed: int,
    progress: Progress | None,
    aggregate: str,
    keep_integers: bool,
    made: dict[str, str],
    budget: _Budget = _Budget(),  # noqa: B008
    groups: np.ndarray | None = None,
) -> Result:
    """Run one method on prepared records, prove what it returns and measure what it cost.

    With `groups` these are where refinement starts, and no method is run.
    """
    table, cells, points = problem.table, problem.cells, problem.points
    begun = time.perf_counter()
    found_by: list[str] = []
    if groups is None:
        found, found_by = group(problem, method, options, seed, progress)
    else:
        found = groups
    refined = None
    if budget.seconds is not None or budget.steps is not None:
        before = found
        better = improve(problem, found, budget.seconds, budget.steps, seed, budget.watch)
        found = better.labels
        refined = Refinement(
            information_loss(problem.filled, before), budget.seconds, budget.steps, better.stopped
        )
    seconds = time.perf_counter() - begun
    parts = prove(problem, found)
    proven = parts[0].labels if found.ndim == 1 else np.stack([p.labels for p in parts], axis=1)
    published, exact = publish(problem, parts, aggregate, keep_integers)
    rounded = keep_integers and bool((table.whole & (table.kinds == NUMBER)).any())
    means = aggregate == "mean" and problem.sampling is None and not rounded
    loss, sse, sst = loss_of(problem, proven, published, means)
    labels = np.full((table.values.shape[0], *proven.shape[1:]), -1, dtype=np.int64)
    labels[cells.kept] = proven
    where = f"{device_name(points)}, engine {problem.engine_name}"
    return Result(
        labels=labels,
        protected=table.rebuild(published, cells.kept, keep_integers, exact),
        loss=loss,
        sse=sse,
        sst=sst,
        sizes=parts[0].sizes if found.ndim == 1 else [part.sizes for part in parts],
        k=problem.k,
        method=method,
        options=dict(options),
        device=device_name(points),
        engine=problem.engine_name,
        seconds=seconds,
        names=table.names,
        dropped=cells.dropped,
        suppressed=cells.suppressed,
        merged=cells.merged,
        refined=refined,
        found_by="; ".join(dict.fromkeys(found_by)),
        _problem=problem,
        _published=published,
        _made={
            "Method": "given groups"
            if groups is not None
            else f"{named(method, options)} ({METHODS[method].paper})",
            "Found by": "; ".join(dict.fromkeys(found_by)),
            "Refined": "" if refined is None else str(refined),
            "Columns": ", ".join(table.names),
            **made,
            "Left out": _left_out(cells.dropped, cells.suppressed),
            "Merged": "; ".join(cells.merged)
            + (": alike without the columns of strata only" if cells.merged else ""),
            "Computed": f"{seconds:.2f} s on {where}",
            "With": f"microagg-gpu {_version()}, Python {platform.python_version()}, "
            f"NumPy {np.__version__}",
        },
    )


@cache
def _version() -> str:
    return version("microagg-gpu")  # which reads a file


def _left_out(dropped: int, suppressed: int) -> str:
    parts = [f"{dropped} records with missing values"] if dropped else []
    parts += [f"{suppressed} records of too small strata or patterns"] if suppressed else []
    return ", ".join(parts)
