"""compare(): methods on the same data, and what each loses and risks."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import as_list, mapping
from ..data.columns import Table
from ..data.table import read
from ..engines import on_device
from ..errors import InputError, shown
from ..methods import METHODS
from ..methods.common import take_records
from ..progress import Progress, RunProgress, share
from ..settings import DEFAULT, Roles, Settings
from .grouping import check_method
from .problem import Problem, prepare
from .protection import protect
from .provenance import named
from .result import Result


class Comparison(list):
    """Rows: ``k``, ``method``, ``loss``, ``risk``, ``groups``, ``largest``, ``seconds``.

    Attributes
    ----------
    best : dict
        Of each k the method that lost least, and its options.
    stopped : str
        What Ctrl-C left out; empty if all was done.
    """

    def __init__(self) -> None:
        super().__init__()
        self.best: dict[int, tuple[str, dict[str, Any]]] = {}
        self.stopped = ""

    def __str__(self) -> str:
        lines = [
            f"{'k':>4}  {'method':<32}{'loss %':>9}{'risk %':>9}{'groups':>9}{'largest':>9}"
            f"{'seconds':>10}"
        ]
        for row in self:
            lines.append(
                f"{row['k']:>4}  {row['method']:<32}{row['loss']:>9.4f}{row['risk']:>9.3f}"
                f"{row['groups']:>9}{row['largest']:>9}{row['seconds']:>10.3f}"
            )
        return "\n".join(lines)


def compare_methods(
    problems: list[Problem],
    settings: list[Settings],
    runs: list[tuple[str, dict[str, Any]]],
    progress: Progress | None = None,
    watch: RunProgress | None = None,
    refine_best: int = 0,
) -> Comparison:
    """Run each method on each problem. Ctrl-C ends it with what is finished, if anything is.

    Parameters
    ----------
    problems, settings
        One of each for each k.
    runs : list of (method, options)
    progress, watch, refine_best
        As in `compare`.
    """
    rows = Comparison()
    refined = refine_best > 0 and not problems[0].table.mixed
    total = len(problems) * (len(runs) + refined)
    running = ""

    def part(fraction: float) -> None:
        done = (len(rows) + fraction) / total
        if progress is not None:
            progress(done)
        if watch is not None:
            watch(done, running)

    def add(name: str, result: Result) -> None:
        groups = np.concatenate([result.sizes] if result.labels.ndim == 1 else result.sizes)
        rows.append(
            {
                "k": result.k,
                "method": name,
                "loss": result.loss,
                "risk": 100 * result.linkage(lambda f: part(0.7 + 0.3 * f)).share,
                "groups": len(groups),
                "largest": int(groups.max()),
                "seconds": result.seconds,
            }
        )

    try:
        for problem, given in zip(problems, settings, strict=True):
            best: Result | None = None
            for method, options in runs:
                running = f"{named(method, options)}, k={problem.k}"
                part(0.0)
                own = replace(given, method=method, options=options)
                with on_device(problem.points):
                    chosen = problem.chosen_for(own, total)
                    result = protect(chosen, own, lambda f: part(0.7 * f))
                add(named(method, options), result)
                if best is None or result.loss < best.loss:
                    best, rows.best[problem.k] = result, (method, options)
            if refined and best is not None and best.labels.ndim == 1:
                running = f"refining {named(best.method, best.options)}, k={problem.k}"
                part(0.0)
                own = replace(given, refine=None, refine_steps=refine_best)
                with on_device(problem.points):
                    result = protect(
                        problem.chosen_for(own, total), own, watch=lambda f, _: part(0.7 * f),
                        groups=best.labels[problem.cells.kept],
                    )  # fmt: skip
                add(f"{named(best.method, best.options)}, refined", result)
    except KeyboardInterrupt:
        if not rows:
            raise
        rows.stopped = f"{running} and what comes after it, {total - len(rows)} of {total} runs"
    rows.sort(key=lambda row: (row["k"], row["loss"]))
    return rows


MAP_RECORDS = 100_000
"""Above it, the methods of a report's map would take minutes: they run on a sample."""
SAMPLE, BLOCK = 20_000, 1000
"""The size of the sample, and how many records of a stratum are drawn together at most."""
_NO_RULES: dict[str, Any] = {
    "dominance": None, "p_percent": None, "unrepaired": DEFAULT.unrepaired, "t": None,
}  # fmt: skip
"""The map compares methods; a repair of each run would take longer than the run."""
MAP_SIZES = 3, 5, 10
"""The k of a report's map, beside the one that was used."""


def risk_map(
    data: Any, roles: Roles, settings: Settings, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """Rows of `compare` for the quick methods, k = 3, 5, 10 and the given one.

    Above 100,000 records a random sample is used, and the method of the settings runs on it too;
    each row then has the size of the sample as "records".

    Returns
    -------
    list of dict
        Without those k for which strata are too small.
    """
    table = read(data, roles)
    n, p = table.values.shape
    methods: list[Any] = ["mdav"]
    if not table.mixed:
        methods += ["vmdav", ("mst", {"split": "centroid"})]
        methods += ["optimal", "fixed"] if p == 1 else ["centroid", ("projection", {})]
    sampled = n > MAP_RECORDS
    runs = variants(methods, table)
    own = settings.method, dict(settings.options)
    add_own = sampled and own not in runs and METHODS[own[0]].compared_up_to >= SAMPLE
    if sampled:
        table = sample(table)
        settings = replace(settings, small_strata="suppress")
    rows: list[dict[str, Any]] = []
    sizes = sorted({*MAP_SIZES, settings.k} - {1})
    for i, size in enumerate(sizes):
        with suppress(InputError):
            given = replace(settings, k=size, refine=None, refine_steps=None, **_NO_RULES)
            problem = prepare(table, given)
            more = [own] if add_own and size == settings.k else []
            part = share(progress, i, 1, len(sizes))
            found = compare_methods([problem], [given], [*runs, *more], part)
            if found.stopped:  # a report is whole, or there is none
                raise KeyboardInterrupt
            rows += found
    return [{**row, "records": table.values.shape[0]} for row in rows] if sampled else rows


def sample_rows(table: Table) -> np.ndarray:
    """The positions of about 20,000 random records of a table.

    They are drawn in blocks of up to 1,000 records of one stratum, so that small strata come as a
    whole: records that were drawn one by one would be fewer than k in each of many strata.
    """
    rng = np.random.default_rng(0)
    n = table.values.shape[0]
    strata = np.zeros(n, dtype=np.int64) if table.strata is None else table.strata
    mixed = rng.permutation(n)
    order = mixed[np.argsort(strata[mixed], kind="stable")]
    first = np.flatnonzero(np.diff(strata[order], prepend=-1))
    within = np.arange(n) - np.repeat(first, np.diff(first, append=n))
    block = np.cumsum(within % BLOCK == 0) - 1
    drawn = rng.permutation(block[-1] + 1)[block]  # blocks in random order, records with theirs
    chosen = np.argsort(drawn, kind="stable")[:SAMPLE]
    return np.sort(order[chosen])


def sample(table: Table) -> Table:
    """About 20,000 random records of a table."""
    kept = sample_rows(table)
    return replace(
        table,
        values=take_records(table.values, kept),
        strata=None if table.strata is None else table.strata[kept],
        sampling=None if table.sampling is None else table.sampling[kept],
        units=None if table.units is None else table.units[kept],
        exact={j: integers[kept] for j, integers in table.exact.items()},
        sensitive=None,
        rebuild=lambda *_: None,  # nothing of it is published
    )


def variants(methods: str | Iterable[Any], table: Table) -> list[tuple[str, dict[str, Any]]]:
    """Methods and their options, from names or pairs, or all that fit a table."""
    n, p = table.values.shape
    univariate = p == 1
    everything = isinstance(methods, str) and methods == "all"
    if everything and table.mixed:
        chosen: list[Any] = ["mdav"]
    elif everything:
        chosen = [
            name
            for name, method in METHODS.items()
            if name not in ("individual", "projection" if univariate else "")
            and (univariate or not method.univariate)
            and n <= method.compared_up_to
        ]
        # Ctrl-C may end it early: what is slow comes last.
        chosen.sort(key=lambda name: (not METHODS[name].recommended, -METHODS[name].quick))
    else:
        chosen = [methods] if _is_pair(methods) else as_list(methods)
    if not chosen:
        raise InputError("nothing to compare: give one method, or more")
    runs: list[tuple[str, dict[str, Any]]] = []
    for given in chosen:
        if isinstance(given, str):
            check_method(given)
            usual = METHODS[given].variants
            if given == "kward" and univariate:
                usual = ({},)
            runs += [(given, options) for options in usual]
        elif _is_pair(given):
            runs.append((check_method(given[0]), mapping(f"options of {given[0]}", given[1])))
        else:
            raise InputError(
                f"method {shown(given)} is unknown: give a name, or a pair of a name and a "
                "dictionary of options"
            )
    return runs


def _is_pair(given: Any) -> bool:
    """Whether a method is given with its options."""
    pair = isinstance(given, (tuple, list)) and len(given) == 2
    return pair and isinstance(given[0], str) and isinstance(given[1], Mapping)
