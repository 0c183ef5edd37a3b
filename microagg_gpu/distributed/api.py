"""microaggregate() on a Dask cluster: from DataFrames or files in parts to the same, protected."""

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from dask import dataframe as dd
from dask import delayed

from distributed import Client, default_client

from ..checks import (
    callable_or_none,
    column_list,
    file_path,
    known_keywords,
    one_of,
    true_or_false,
    whole_number,
)
from ..data.scaling import rounded
from ..errors import InputError, option, shown, unknown_column
from ..files.verdict import NotAnonymous, Verdict
from ..methods import METHODS
from ..pipeline.grouping import check_method
from ..pipeline.problem import check_weights
from ..pipeline.provenance import named
from ..pipeline.publishing import no_weight_to_average
from ..progress import PhaseProgress
from ..settings import (
    CLUSTER,
    DEFAULT,
    ROLES,
    Aggregate,
    Columns,
    Decimals,
    EngineName,
    Missing,
    Settings,
    SmallStrata,
    Weights,
)
from .failures import clear_cluster_errors, tried_twice
from .moments import input_decimals, published_cells, scaling_of, variables
from .partitions import Layout
from .phases import Job
from .sources import Files, Frames, Paths, whole_folder
from .worker import BlockSettings, PublishedPart


@dataclass(frozen=True, repr=False)
class DistributedResult:
    """A protected table in parts, and what the protection cost.

    Attributes
    ----------
    protected : dask.dataframe.DataFrame or list of Path
        Of a DataFrame one with the same columns, index and partitions, to be computed; of files
        those that were written.
    labels : dask.dataframe.Series or None
        Of a DataFrame the group of each record, -1 if it is left out.
    loss : float
        Information loss, 100 SSE / SST.
    sse, sst : float
        Within-groups and total sum of squares of the scaled variables.
    records, groups, smallest, largest : int
        Records that are published, in how many groups, of how many records.
    verdict : Verdict
        Whether k holds, as counted in what was written: over all columns, and over those that
        were protected and of strata, for which it does.
    blocks : int
        Into how many blocks the records were divided.
    repaired : int
        Records in groups near a border of blocks, which were refined with their neighbours.
    k, method, options, names
        What was asked for.
    dropped, suppressed : int
        Records left out for missing values, or since their stratum has fewer than k.
    seconds : float
        How long it took, from reading to the last check.
    """

    protected: Any
    labels: Any
    loss: float
    sse: float
    sst: float
    records: int
    groups: int
    smallest: int
    largest: int
    verdict: Verdict
    blocks: int
    repaired: int
    k: int
    method: str
    names: list[str]
    dropped: int
    suppressed: int
    seconds: float
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"DistributedResult({self.verdict.word}, {named(self.method, self.options)}, "
            f"k={self.k}: {self.records} records in {self.groups} groups of {self.smallest} to "
            f"{self.largest}, loss {self.loss:.4f} %, {self.blocks} blocks)"
        )


@known_keywords
def microaggregate(
    data: dd.DataFrame | Paths,
    k: int = DEFAULT.k,
    method: str = DEFAULT.method,
    columns: Columns = ROLES.columns,
    standardize: bool = DEFAULT.standardize,
    variable_weights: Weights | None = DEFAULT.variable_weights,
    device: str | None = DEFAULT.device,
    engine: EngineName | None = DEFAULT.engine,
    seed: int = DEFAULT.seed,
    progress: PhaseProgress | None = None,
    *,
    client: Client | None = None,
    output: str | Path | None = None,
    force: bool = False,
    block: int = CLUSTER.block,
    repair: int = CLUSTER.repair,
    by: Columns = ROLES.by,
    sampling_weight: Any = ROLES.sampling_weight,
    missing: Missing = DEFAULT.missing,
    small_strata: SmallStrata = DEFAULT.small_strata,
    aggregate: Aggregate = DEFAULT.aggregate,
    keep_integers: bool = DEFAULT.keep_integers,
    decimals: Decimals | Literal["input"] | None = DEFAULT.decimals,
    average_weight: bool = DEFAULT.average_weight,
    strict: bool = False,
    drop: Columns = (),
    group_column: str | None = None,
    keep_metadata: bool = False,
    **options: Any,
) -> DistributedResult:
    """Microaggregate records that are too many for one machine, on a Dask cluster.

    The records are divided into blocks of similar ones (`blocks`), each block is protected by
    itself, and groups near the border of two blocks are refined together with those of the other
    side. Every group has at least k records and each record is in one; both are checked where
    groups are made and counted again in what comes out.

    Parameters
    ----------
    data : Dask DataFrame, or Parquet files
        Files as a path, a pattern with ``*``, a directory, or several of these; each file is a
        partition, and must be where all workers can read it.
    k, method, columns, standardize, variable_weights, device, engine, seed, by, sampling_weight
        As in `microagg_gpu.microaggregate`.
    missing, aggregate, keep_integers, average_weight, **options
        As in `microagg_gpu.microaggregate`. With ``device="cuda"`` each worker uses its own GPU.
        Options such as ``seconds`` of method "best" are for each block.
    progress : callable, optional
        Called with the name of a phase and the fraction of it that is done.
    client : distributed.Client, optional
        The cluster; by default the client that was made last.
    output : path, optional
        The directory in which files are written, under their names; it appears when all is done.
    force : bool
        Replace such a directory, if it holds Parquet files only.
    block : int
        The most records in a block, about: what a worker can hold and the method is quick for.
    repair : int
        Steps of refinement for each record, first in its block and then, near a border, with the
        groups on the other side; 0 leaves the groups of the blocks as the method made them. With
        one block there is nothing to repair.
    small_strata : {"error", "suppress"}
        What to do with strata of fewer than k records: refuse them, or leave out their records.
    decimals : int, dict or "input", optional
        As in `microagg_gpu.microaggregate`; or those that the columns have in the data, and
        integers stay integers.
    strict : bool
        Raise `NotAnonymous` and write nothing if k does not hold over all columns.
    drop : sequence of str
        Columns that are left out of the files.
    group_column : str, optional
        A column to add to the files, with the number of each record's group.
    keep_metadata : bool
        Copy the metadata of the files too.

    Returns
    -------
    DistributedResult
        The same whatever the number of workers.

    Raises
    ------
    InputError
        A ValueError, if the data or the options cannot be used, or the cluster failed in a way
        that its own repetitions could not mend. Nothing is written then.
    """
    begun = time.perf_counter()
    one_of("small_strata", small_strata, ("error", "suppress"))
    as_input = False
    if isinstance(decimals, str):
        as_input, decimals = one_of("decimals", decimals, ("input",)) == "input", None
    given = Settings(
        k, method, options, standardize, variable_weights, device, engine, seed=seed,
        missing=missing, small_strata=small_strata, aggregate=aggregate,
        keep_integers=as_input or keep_integers, decimals=decimals,
        average_weight=average_weight,
    )  # fmt: skip
    if check_method(method) == "individual":
        raise InputError("individual ranking has no groups of whole records: take another method")
    given = replace(given, options=METHODS[method].takes.check(method, options))
    block = whole_number("block", block, 2 * given.k)
    repair = whole_number("repair", repair, 0)
    force, strict = true_or_false("force", force), true_or_false("strict", strict)
    callable_or_none("progress", progress)
    source = _source(data, output, drop, group_column)
    drop = column_list("drop", drop, source.names)
    layout = _layout(source.names, columns, by, sampling_weight, missing, drop)
    if average_weight:
        if layout.weight is None:
            raise no_weight_to_average()
        layout = layout._replace(averaged=True)
    names = [str(name) for name in layout.columns]
    check_weights(given.variable_weights, names)
    cluster = _found(client)
    with ExitStack() as stack:
        folder = None
        if isinstance(source, Files):
            folder = stack.enter_context(whole_folder(Path(output or "."), source.paths, force))

        def attempt() -> DistributedResult:
            job = Job(cluster, source, layout, progress)
            found = job.describe(given.keep_integers)
            codes, counts, suppressed = published_cells(found, given.k, small_strata, layout)
            known = variables(found, codes)
            squares = np.array([rounded(total) for total in job.squares(codes, known.centre)])
            scaling, sst = scaling_of(known, squares, given, names)
            whole = np.logical_and.reduce([part.whole for part in found])
            kept = replace(given, decimals=input_decimals(found, layout)) if as_input else given
            cards = job.cards() if given.device == "cuda" else {}
            settings = BlockSettings(kept, repair, names, layout.weight, whole, scaling, sst, cards)
            forest = job.divide(settings, codes, counts, block)
            new, repaired, sizes = job.protect(settings, codes, forest, block)
            if sizes.sum() != counts.sum() or sizes.min() < given.k:
                raise RuntimeError("internal error: records are lost or a group is too small")
            parts = job.give_back(settings, codes, new)
            protected: Any
            if folder is None:
                protected, labels, sse, verdict = _to_frames(job, source, parts, settings)
            else:
                work = source.written(
                    parts, layout, settings, folder, drop, group_column, keep_metadata
                )
                sse, verdict = _to_files(job, source, work, folder, given.k)
                protected, labels = [Path(output or ".") / p.name for p in source.paths], None
            if verdict.below_named:
                raise RuntimeError(
                    f"internal error: {verdict.below_named} records are in groups below k={given.k}"
                )
            if strict and verdict.word != "PASS":
                raise NotAnonymous(verdict)
            return DistributedResult(
                protected, labels, 100 * sse / sst if sst > 0 else 0.0, sse, sst,
                int(sizes.sum()), len(sizes), int(sizes.min()), int(sizes.max()), verdict,
                forest.blocks, repaired, given.k, method, names,
                sum(part.dropped for part in found), suppressed, time.perf_counter() - begun,
                dict(given.options),
            )  # fmt: skip

        stack.enter_context(clear_cluster_errors(cluster))
        return tried_twice(cluster, attempt)


def _to_frames(
    job: Job, source: Frames, parts: list[Any], settings: BlockSettings
) -> tuple[dd.DataFrame, dd.Series, float, Verdict]:
    """The protected DataFrame and its labels; the SSE, and whether k holds."""
    sse = sum(job.gather("measuring", [delayed(_sse)(part) for part in parts]))
    categories = source.published_categories(parts)
    categories = job.gather("looking at categories", categories) if categories else []
    protected = source.protected(parts, job.layout, settings, categories)
    columns = list(protected.columns)
    verdict = job.verdict(list(protected.to_delayed()), columns, settings.k)
    return protected, source.labels(parts), sse, verdict


def _to_files(
    job: Job, source: Files, work: list[Any], folder: Path, k: int
) -> tuple[float, Verdict]:
    """Write the files: the SSE, and whether k holds in them."""
    sse = sum(job.gather("writing", work))
    written = Files([folder / path.name for path in source.paths])
    return sse, job.verdict(written.whole(), written.names, k)


def _sse(part: PublishedPart) -> float:
    return part.sse


def _source(data: Any, output: Any, drop: Columns, group_column: Any) -> Any:
    """What the records are in: a Dask DataFrame, or files."""
    if group_column is not None and not (isinstance(group_column, str) and group_column.strip()):
        raise InputError(f"group_column={shown(group_column)} must be a name")
    if isinstance(data, dd.DataFrame):
        if output is not None or column_list("drop", drop, list(data.columns)) or group_column:
            raise InputError(
                option("output"), ", ", option("drop"), " and ", option("group_column"),
                " are for files: leave them out",
            )  # fmt: skip
        return Frames(data)
    if output is None:
        raise InputError(
            "protected files are written to a directory: name it with ", option("output")
        )
    file_path("output", output)
    source = Files(_paths(data))
    if group_column is not None and group_column in source.names:
        raise InputError(f"column {group_column!r} is there already: give another name")
    return source


def _paths(data: Any) -> list[Path]:
    """The paths of files, given as one or several."""
    several = data if isinstance(data, (list, tuple, set, frozenset)) else [data]
    if not several or not all(isinstance(path, (str, os.PathLike)) for path in several):
        raise InputError(
            f"data of type {type(data).__name__} cannot be read on a cluster: give a Dask "
            "DataFrame, or paths of Parquet files"
        )
    return [file_path("data", path) for path in several]


def _found(client: Any) -> Client:
    if client is not None and not isinstance(client, Client):
        raise InputError(f"client={shown(client)} must be a distributed.Client, or left out")
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise InputError(
                "there is no Dask client: start one, such as client = "
                "distributed.Client(n_workers=4, threads_per_worker=1), and give it as client="
            ) from None
    if client.status in ("closing", "closed"):
        raise InputError("the Dask client is closed: start another, and give it as client=")
    return client


def _layout(
    names: list[Any], columns: Columns, by: Columns, weight: Any, missing: str, drop: list[Any]
) -> Layout:
    strata = column_list("by", by, names)
    weights = column_list("sampling_weight", weight, names)
    if len(weights) > 1:
        raise InputError("the sampling weights of records on a cluster are a column: name it")
    other = {*strata, *drop, *weights}
    if columns is None:
        chosen = [name for name in names if name not in other]
    else:
        chosen = column_list("columns", columns, names)
    if not chosen:
        raise InputError("no columns are chosen: name at least one")
    known = set(names)
    for name in [*chosen, *strata, *drop, *weights]:
        if name not in known:
            raise unknown_column(name, "the data", names)
    for part in (chosen, strata):
        for i, name in enumerate(part):
            if name in part[:i] or (part is chosen and name in other):
                raise InputError(f"column {name!r} has two roles, or is named twice: name it once")
    return Layout(chosen, strata, weights[0] if weights else None, missing)
