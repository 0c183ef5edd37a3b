"""What workers do: each function takes a part of the records, as a DataFrame of pandas.

On its way a record is known by the partition that it came from and its row there. Its stratum and
what is missing in it make its cell; a group never leaves a cell.
"""

import threading
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..data.columns import NUMBER, Table
from ..data.scaling import Scaling, exact_sums
from ..data.strata import divide
from ..data.table import read
from ..engines import choose
from ..errors import InputError, values_are
from ..kernels import engine_name
from ..pipeline.grouping import group
from ..pipeline.partition import prove
from ..pipeline.problem import Problem
from ..pipeline.publishing import publish
from ..pipeline.refinement import improve
from ..settings import Roles, Settings
from .blocks import Forest, borders

Key = tuple[tuple[str | None, ...], bytes]  # values of a stratum, and what is missing

# Kernels use all threads that a worker has: tasks in several threads take turns.
_TURN = threading.Lock()


class Layout(NamedTuple):
    """Which columns are used, and what for."""

    columns: list[Any]
    by: list[Any]
    weight: Any
    missing: str

    @property
    def used(self) -> list[Any]:
        """All columns that are read."""
        return [*self.columns, *self.by, *([] if self.weight is None else [self.weight])]

    @property
    def values(self) -> list[str]:
        """What the variables are called on their way."""
        return [f"v{j}" for j in range(len(self.columns))]


class BlockSettings(NamedTuple):
    """How blocks are protected, the same for all of them.

    Attributes
    ----------
    given : Settings
    steps : int
        Steps of refinement per record.
    names : list of str
    whole : bool array of shape (d,)
        Which variables are integers.
    scaling : Scaling
    sst : float
        Total sum of squares of the scaled records.
    """

    given: Settings
    steps: int
    names: list[str]
    whole: np.ndarray
    scaling: Scaling
    sst: float

    @property
    def k(self) -> int:
        """The least number of records in a group."""
        return self.given.k

    @property
    def refinement(self) -> Settings:
        """The settings of a refinement by steps."""
        return replace(self.given, refine=None, refine_steps=self.steps)

    def points(self, frame: pd.DataFrame) -> np.ndarray:
        """Records of a frame, scaled; 0, which is the mean, where a value is missing."""
        return np.nan_to_num(self.scaling.apply(_values(frame, len(self.names))))

    def problem(self, frame: pd.DataFrame) -> Problem:
        """The records of a frame, ready to be grouped within their cells."""
        d = len(self.names)
        values = _values(frame, d)
        found, strata = np.unique(frame["cell"], return_inverse=True)
        table = Table(
            values,
            self.names,
            lambda *_: None,
            np.full(d, NUMBER),
            self.whole,
            strata=strata.reshape(-1),
            strata_names=list(map(str, found)),
            sampling=frame["weight"].to_numpy() if "weight" in frame else None,
        )
        cells = divide(table, values, self.k, "pattern", "error")
        points, engine = choose(
            self.scaling.apply(values), self.given.device or "auto", self.given.engine
        )
        return Problem(
            table, self.k, cells, values, points, self.scaling, self.scaling.scale,
            engine_name(engine),
        )  # fmt: skip


class Moments(NamedTuple):
    """Of the records of a cell: how many, and for each variable what its mean needs."""

    records: int
    known: np.ndarray
    sums: list[int]  # exact, see `exact_sums`
    low: np.ndarray
    high: np.ndarray


class Description(NamedTuple):
    """What is to be known of a partition before records move."""

    rows: int
    dropped: int
    missing: np.ndarray
    whole: np.ndarray
    cells: dict[Key, Moments]


def _values(frame: pd.DataFrame, d: int) -> np.ndarray:
    return frame[[f"v{j}" for j in range(d)]].to_numpy(dtype=np.float64)


def _read(frame: pd.DataFrame, layout: Layout, where: str) -> Table | None:
    """The variables of a partition; None if it is empty."""
    if not len(frame):
        return None
    try:
        return read(
            frame[layout.used], Roles(columns=layout.columns, sampling_weight=layout.weight)
        )
    except InputError as error:
        raise InputError(f"{where}: ", *error.args) from None


def _cells(frame: pd.DataFrame, values: np.ndarray, layout: Layout) -> tuple[np.ndarray, list[Key]]:
    """The cell of each record, as a number in this partition, and what the cells are."""
    if not layout.by and layout.missing != "pattern":
        return np.zeros(len(values), dtype=np.int64), [((), b"")]
    strata = [pd.factorize(frame[name]) for name in layout.by]
    absent = np.packbits(np.isnan(values), axis=1).astype(np.int64)
    found, cell = np.unique(
        np.column_stack([*(codes for codes, _ in strata), absent]), axis=0, return_inverse=True
    )
    keys = [
        (
            tuple(
                None if code < 0 else str(known[code])
                for code, (_, known) in zip(row, strata, strict=False)
            ),
            row[len(strata) :].astype(np.uint8).tobytes(),
        )
        for row in found
    ]
    return cell.reshape(-1), keys


def describe(
    frame: pd.DataFrame, layout: Layout, where: str, keep_integers: bool
) -> Description | InputError:
    """Count the records of a partition and what is missing, and take the moments of its cells.

    What cannot be read is returned as an error: to repeat the task would not mend it.
    """
    d = len(layout.columns)
    try:
        table = _read(frame, layout, where)
        if keep_integers and table is not None:
            _check_integers(table, where)
    except InputError as error:
        return error
    if table is None:
        return Description(0, 0, np.zeros(d, dtype=np.int64), np.ones(d, dtype=bool), {})
    values = table.values
    missing = np.isnan(values)
    kept = ~missing.any(axis=1) if layout.missing == "drop" else np.ones(len(values), dtype=bool)
    cell, keys = _cells(frame[kept], values[kept], layout)
    order = np.argsort(cell, kind="stable")
    sizes = np.bincount(cell, minlength=len(keys))
    cells = {}
    for key, rows in zip(keys, np.split(order, np.cumsum(sizes)[:-1]), strict=True):
        if len(rows):
            cells[key] = _moments(values[kept][rows])
    return Description(len(values), int((~kept).sum()), missing.sum(axis=0), table.whole, cells)


def _check_integers(table: Table, where: str) -> None:
    """Refuse integers that float64, as which values travel, does not hold."""
    for j, integers in table.exact.items():
        large = int(((integers > 2**53) | (integers < -(2**53))).sum())
        raise InputError(
            f"{where}: {values_are(large, f'column {table.names[j]}')} above 2**53 in size, too "
            "large to be kept as integers on several workers: leave out keep_integers, or protect "
            "on one machine"
        )


def _moments(values: np.ndarray) -> Moments:
    missing = np.isnan(values)
    low, high = np.where(missing, np.inf, values), np.where(missing, -np.inf, values)
    return Moments(
        len(values),
        (~missing).sum(axis=0),
        exact_sums(values),
        low.min(axis=0),
        high.max(axis=0),
    )


def squares(
    frame: pd.DataFrame, layout: Layout, where: str, codes: dict[Key, int], centre: np.ndarray
) -> list[int]:
    """Exact sums of the squared differences from the centre, of the records that are published."""
    values = records(frame, layout, where, 0, codes)[layout.values].to_numpy(dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return exact_sums(np.square(values - centre))


def records(
    frame: pd.DataFrame, layout: Layout, where: str, number: int, codes: dict[Key, int]
) -> pd.DataFrame:
    """The records of a partition that are published, with where they come from and their cell."""
    table = _read(frame, layout, where)
    if table is None:
        return empty(layout)
    rows = np.arange(len(frame))
    if layout.missing == "drop":
        rows = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    cell, keys = _cells(frame.iloc[rows], table.values[rows], layout)
    code = np.array([codes.get(key, -1) for key in keys])[cell]
    rows, code = rows[code >= 0], code[code >= 0]
    columns = dict(zip(layout.values, table.values[rows].T, strict=True))
    if table.sampling is not None:
        columns["weight"] = table.sampling[rows]
    return pd.DataFrame({"partition": number, "row": rows, "cell": code, **columns}).astype(
        empty(layout).dtypes.to_dict()
    )


def empty(layout: Layout, *more: str) -> pd.DataFrame:
    """No records: which columns they have on their way, and of which type."""
    numbers = [*layout.values, *([] if layout.weight is None else ["weight"])]
    kinds = dict.fromkeys(["partition", "row", "cell", *more], np.int64)
    return pd.DataFrame({}).assign(
        **{
            name: np.empty(0, kind)
            for name, kind in (kinds | dict.fromkeys(numbers, float)).items()
        }
    )


def sample(
    frame: pd.DataFrame, settings: BlockSettings, step: int
) -> tuple[np.ndarray, np.ndarray]:
    """A systematic sample, each ``step``-th record: cell and point."""
    some = frame[frame["row"].to_numpy() % step == 0]
    return some["cell"].to_numpy(), settings.points(some)


def place(frame: pd.DataFrame, settings: BlockSettings, forest: Forest) -> pd.DataFrame:
    """Give each record its block."""
    block = forest.block_of(
        frame["cell"].to_numpy(), settings.points(frame), frame["row"].to_numpy()
    )
    return frame.assign(block=block)


def count(frame: pd.DataFrame, settings: BlockSettings, forest: Forest) -> np.ndarray:
    """How many records each block gets from a partition."""
    return np.bincount(place(frame, settings, forest)["block"], minlength=forest.blocks)


def group_block(
    frame: pd.DataFrame, settings: BlockSettings, forest: Forest, layout: Layout
) -> pd.DataFrame:
    """Group the records of a block; say which groups are near to the border of the block."""
    if not len(frame):
        return empty(layout, "block", "group", "border")
    block = int(frame.index[0])
    frame = frame.sort_values(["partition", "row"], ignore_index=True)
    problem = settings.problem(frame)
    with _TURN:
        labels, _ = group(problem, settings.given, None)
        if len(forest.child) and settings.steps:
            labels = improve(problem, labels, settings.refinement).labels
    (partition,) = prove(problem, labels)
    points = settings.points(frame)
    near = borders(forest, block, points, partition.labels, partition.protect(points))
    frame = frame.assign(block=block, group=partition.labels, border=near[partition.labels])
    return frame[list(empty(layout, "block", "group", "border"))]


def _groups(frame: pd.DataFrame) -> np.ndarray:
    """Groups as numbers from 0, whatever block they are from."""
    pairs = frame["block"].to_numpy() * 2**32 + frame["group"].to_numpy()
    return np.unique(pairs, return_inverse=True)[1].reshape(-1)


def at_borders(
    frame: pd.DataFrame, settings: BlockSettings, step: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of groups at borders: the cut that each record is near to, and a sample of centroids."""
    some = frame[frame["border"] >= 0]
    if not len(some):
        return np.empty(0, dtype=np.int64), np.empty((0, 1 + len(settings.names)))
    centres = some[["border"]].assign(**_centroids(some, settings)).groupby(_groups(some)).first()
    return some["border"].to_numpy(), centres.to_numpy()[::step]


def _centroids(frame: pd.DataFrame, settings: BlockSettings) -> dict[str, np.ndarray]:
    """The centroid of each record's group, scaled."""
    points = pd.DataFrame(settings.points(frame))
    means = points.groupby(_groups(frame)).transform("mean")
    return {f"c{j}": means[j].to_numpy() for j in means}


def to_border(frame: pd.DataFrame, settings: BlockSettings, forest: Forest) -> pd.DataFrame:
    """Groups at borders with the block that they share with those of the other side."""
    some = frame[frame["border"] >= 0]
    centres = (
        np.stack(list(_centroids(some, settings).values()), axis=1)
        if len(some)
        else np.empty((0, len(settings.names)))
    )
    border_block = forest.block_of(some["border"].to_numpy(), centres, some["group"].to_numpy())
    return some.drop(columns="border").assign(border_block=border_block)


def repair(
    frame: pd.DataFrame, settings: BlockSettings, first: int, layout: Layout
) -> pd.DataFrame:
    """Refine groups from both sides of a border together, and publish them."""
    if not len(frame):
        return published_empty(layout)
    block = first + int(frame.index[0])
    frame = frame.sort_values(["partition", "row"], ignore_index=True)
    problem = settings.problem(frame)
    with _TURN:
        better = improve(problem, _groups(frame), settings.refinement)
    return _published(frame, problem, better.labels, settings, block, layout)


def publish_rest(
    frame: pd.DataFrame, settings: BlockSettings, layout: Layout, every: bool
) -> pd.DataFrame:
    """Publish the groups of a block, or those that are at no border."""
    frame = frame if every else frame[frame["border"] < 0].reset_index(drop=True)
    if not len(frame):
        return published_empty(layout)
    block = int(frame["block"].iloc[0])
    return _published(
        frame, settings.problem(frame), frame["group"].to_numpy(), settings, block, layout
    )


def _published(
    frame: pd.DataFrame,
    problem: Problem,
    labels: np.ndarray,
    settings: BlockSettings,
    block: int,
    layout: Layout,
) -> pd.DataFrame:
    parts = prove(problem, labels)
    frame = frame.assign(block=block, group=parts[0].labels)
    frame[layout.values] = publish(problem, parts, settings.given).values
    return frame[list(published_empty(layout))]


def published_empty(layout: Layout) -> pd.DataFrame:
    """No published records, with their columns."""
    return empty(layout._replace(weight=None), "block", "group").drop(columns="cell")


def group_sizes(frame: pd.DataFrame) -> tuple[int, np.ndarray]:
    """The block that published records are from, and the size of each of its groups."""
    if not len(frame):
        return -1, np.empty(0, dtype=np.int64)
    return int(frame["block"].iloc[0]), np.bincount(frame["group"])


class PublishedPart(NamedTuple):
    """What is published of a partition, in the order of its records."""

    kept: np.ndarray  # rows
    values: np.ndarray
    groups: np.ndarray
    sse: float


def returned(
    frame: pd.DataFrame,
    new: pd.DataFrame,
    layout: Layout,
    settings: BlockSettings,
    where: str,
    codes: dict[Key, int],
    offsets: np.ndarray,
) -> PublishedPart:
    """Put published records in the order of their partition; each must be there once."""
    before = records(frame, layout, where, 0, codes)
    new = new.sort_values("row")
    if not np.array_equal(before["row"], new["row"]):
        raise RuntimeError(
            f"internal error: {where} has {len(before)} records to publish and {len(new)} came "
            "back; nothing is returned"
        )
    values = new[layout.values].to_numpy()
    apart = (before[layout.values].to_numpy() - values) * settings.scaling.scale
    groups = offsets[new["block"].to_numpy()] + new["group"].to_numpy()
    return PublishedPart(new["row"].to_numpy(), values, groups, float(np.nansum(np.square(apart))))


def hashes(frame: pd.DataFrame, columns: list[Any]) -> pd.DataFrame:
    """Count each combination of values in a partition, by a hash of 64 bits."""
    seen = frame[columns]
    try:
        codes = pd.util.hash_pandas_object(seen, index=False)
    except TypeError:  # nested values: by their text
        codes = pd.util.hash_pandas_object(seen.map(repr), index=False)
    found, counts = np.unique(codes.to_numpy(), return_counts=True)
    return pd.DataFrame({"hash": found, "count": counts})


def hashes_empty() -> pd.DataFrame:
    """No hashes, with their columns."""
    return pd.DataFrame({"hash": np.empty(0, np.uint64), "count": np.empty(0, np.int64)})


def count_groups(frame: pd.DataFrame, k: int) -> tuple[int, int, int]:
    """Of the groups whose hashes are here: the smallest, the records below k, and all records."""
    counts = frame.groupby("hash")["count"].sum()
    least = int(counts.min()) if len(counts) else 2**62
    return least, int(counts[counts < k].sum()), int(counts.sum())
