"""microaggregate() on a Dask cluster: from DataFrames or files in parts to the same, protected."""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dask import dataframe as dd
from dask import delayed

from distributed import Client, default_client

from ..checks import (
    LARGEST,
    callable_or_none,
    column_list,
    file_path,
    one_of,
    shown,
    true_or_false,
    whole_number,
)
from ..data.columns import Columns
from ..data.strata import MISSING
from ..engines import check_device
from ..errors import InputError
from ..kernels import ENGINES
from ..methods import METHODS
from ..pipeline.comparison import named
from ..pipeline.grouping import check_method
from ..pipeline.problem import Weights, check_k, check_seed, check_weights
from ..pipeline.publishing import AGGREGATES
from .failures import clear_cluster_errors, tried_twice
from .moments import published_cells, scale_of
from .phases import Job, Progress
from .sources import Files, Frames, Paths, whole_folder
from .worker import How, Returned, Roles


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
    alike : int
        The least number of records that are alike in what was written: at least k.
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
    alike: int
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
            f"DistributedResult({named(self.method, self.options)}, k={self.k}: {self.records} "
            f"records in {self.groups} groups of {self.smallest} to {self.largest}, loss "
            f"{self.loss:.4f} %, {self.blocks} blocks)"
        )


def microaggregate(
    data: dd.DataFrame | Paths,
    k: int = 3,
    method: str = "mdav",
    columns: Columns = None,
    standardize: bool = True,
    weights: Weights | None = None,
    device: str | None = "auto",
    engine: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    client: Client | None = None,
    output: str | Path | None = None,
    force: bool = False,
    block: int = 100_000,
    repair: int = 10,
    by: Columns = None,
    sampling_weight: Any = None,
    missing: str = "error",
    small_strata: str = "error",
    aggregate: str = "mean",
    keep_integers: bool = False,
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
    k, method, columns, standardize, weights, device, engine, seed, by, sampling_weight, missing, \
    aggregate, keep_integers, **options
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
    for name, text, known in (
        ("small_strata", small_strata, ("error", "suppress")),
        ("aggregate", aggregate, AGGREGATES),
        ("missing", missing, MISSING),
        ("engine", engine, (None, *ENGINES)),
    ):
        one_of(name, text, known)
    callable_or_none("progress", progress)
    device = check_device(device)
    standardize, keep_integers, force = (
        true_or_false(name, given)
        for name, given in (
            ("standardize", standardize), ("keep_integers", keep_integers), ("force", force),
        )
    )  # fmt: skip
    k, seed, block, repair, options = _check(k, method, options, block, repair, seed)
    source = _source(data, output, drop, group_column)
    drop = column_list("drop", drop, source.names)
    roles = _roles(source.names, columns, by, sampling_weight, missing, drop)
    check_weights(weights, [str(name) for name in roles.columns])
    cluster = _found(client)
    with ExitStack() as stack:
        folder = None
        if isinstance(source, Files):
            folder = stack.enter_context(whole_folder(Path(output or "."), source.paths, force))

        def attempt() -> DistributedResult:
            job = Job(cluster, source, roles, progress)
            found = job.describe(keep_integers)
            codes, counts, suppressed = published_cells(found, k, small_strata, roles)
            names = [str(name) for name in roles.columns]
            scale = scale_of(found, codes, standardize, weights, names)
            how = How(
                k, method, options, engine, device, seed, aggregate, keep_integers, repair,
                scale,
            )  # fmt: skip
            forest = job.divide(how, codes, counts, block)
            new, repaired, sizes = job.protect(how, codes, forest, block)
            if sizes.sum() != counts.sum() or sizes.min() < k:
                raise RuntimeError("internal error: records are lost or a group is too small")
            parts = job.give_back(how, codes, new)
            protected: Any
            if folder is None:
                protected, labels, sse, alike = _to_frames(job, source, parts, how)
            else:
                work = source.written(parts, roles, how, folder, drop, group_column, keep_metadata)
                sse, alike = _to_files(job, source, work, folder, drop)
                protected, labels = [Path(output or ".") / p.name for p in source.paths], None
            if alike < k:
                raise RuntimeError(
                    f"internal error: only {alike} records are alike, fewer than k={k}"
                )
            return DistributedResult(
                protected, labels, 100 * sse / scale.sst if scale.sst > 0 else 0.0, sse, scale.sst,
                int(sizes.sum()), len(sizes), int(sizes.min()), int(sizes.max()), alike,
                forest.blocks, repaired, k, method, names, sum(one.dropped for one in found),
                suppressed, time.perf_counter() - begun, options,
            )  # fmt: skip

        stack.enter_context(clear_cluster_errors(cluster))
        return tried_twice(cluster, attempt)


def _to_frames(
    job: Job, source: Frames, parts: list[Any], how: How
) -> tuple[dd.DataFrame, dd.Series, float, int]:
    """The protected DataFrame and its labels; the SSE, and how many records are alike."""
    sse = sum(job.gather("measuring", [delayed(_sse)(part) for part in parts]))
    categories = source.published_categories(parts)
    categories = job.gather("looking at categories", categories) if categories else []
    protected = source.protected(parts, job.roles, how, categories)
    alike = job.count(list(protected.to_delayed()), job.seen(()))
    return protected, source.labels(parts), sse, alike


def _to_files(
    job: Job, source: Files, work: list[Any], folder: Path, drop: Sequence[str]
) -> tuple[float, int]:
    """Write the files: the SSE, and how many records are alike in them."""
    sse = sum(job.gather("writing", work))
    seen = job.seen(drop)
    written = Files([folder / path.name for path in source.paths]).parts(seen)
    return sse, job.count(written, seen)


def _sse(part: Returned) -> float:
    return part.sse


def _source(data: Any, output: Any, drop: Columns, group_column: Any) -> Any:
    """What the records are in: a Dask DataFrame, or files."""
    if group_column is not None and not (isinstance(group_column, str) and group_column.strip()):
        raise InputError(f"group_column={shown(group_column)} must be a name")
    if isinstance(data, dd.DataFrame):
        if output is not None or column_list("drop", drop, list(data.columns)) or group_column:
            raise InputError("output=, drop= and group_column= are for files: leave them out")
        return Frames(data)
    if output is None:
        raise InputError("files are protected to files: name a directory with output=")
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
                "there is no Dask client: make one, as client = distributed.Client(n_workers=4, "
                "threads_per_worker=1), and give it as client="
            ) from None
    if client.status in ("closing", "closed"):
        raise InputError("the Dask client is closed: make another, and give it as client=")
    return client


class _Numbers(NamedTuple):
    """Arguments that are numbers, and the options of the method."""

    k: int
    seed: int
    block: int
    repair: int
    options: dict[str, Any]


def _check(
    k: Any, method: Any, options: dict[str, Any], block: Any, repair: Any, seed: Any
) -> _Numbers:
    if check_method(method) == "individual":
        raise InputError("individual ranking has no groups of whole records: take another method")
    k = check_k(k, 2**62)
    return _Numbers(
        k,
        check_seed(seed),
        whole_number("block", block, 2 * k, LARGEST),
        whole_number("repair", repair, 0, LARGEST),
        METHODS[method].takes.check(method, options),
    )


def _roles(
    names: list[Any], columns: Columns, by: Columns, weight: Any, missing: str, drop: list[Any]
) -> Roles:
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
            raise InputError(
                f"column {shown(name)} is not in the data, which have: {', '.join(map(str, names))}"
            )
    for part in (chosen, strata):
        for i, name in enumerate(part):
            if name in part[:i] or (part is chosen and name in other):
                raise InputError(f"column {name!r} has two roles, or is named twice: name it once")
    return Roles(chosen, strata, weights[0] if weights else None, missing)
