"""What workers do: each function takes a part of the records, as a DataFrame of pandas.

On its way a record is known by the partition that it came from and its row there. Its stratum and
what is missing in it make its cell; a group never leaves a cell.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..data.columns import NUMBER, Table
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
from .blocks import Forest, borders

Key = tuple[tuple[str | None, ...], bytes]  # values of a stratum, and what is missing

# Kernels use all threads that a worker has: tasks in several threads take turns.
_TURN = threading.Lock()


class Roles(NamedTuple):
    """Which columns are what."""

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


class Scale(NamedTuple):
    """How variables are scaled.

    Attributes
    ----------
    names : list of str
    whole : bool array of shape (d,)
        Which of them are integers.
    mean, factor : float arrays of shape (d,)
        A point is a record less the mean, times the factor.
    sst : float
        Total sum of squares of the points.
    """

    names: list[str]
    whole: np.ndarray
    mean: np.ndarray
    factor: np.ndarray
    sst: float


class How(NamedTuple):
    """How blocks are protected."""

    k: int
    method: str
    options: dict[str, Any]
    engine: str | None
    device: str
    seed: int
    aggregate: str
    keep_integers: bool
    steps: int  # of refinement, for each record
    scale: Scale

    def points(self, frame: pd.DataFrame) -> np.ndarray:
        """Records of a frame, scaled; 0, which is the mean, where a value is missing."""
        return np.nan_to_num(self._scaled(_values(frame, len(self.scale.names))))

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        return (values - self.scale.mean) * self.scale.factor

    def problem(self, frame: pd.DataFrame) -> Problem:
        """The records of a frame, ready to be grouped within their cells."""
        names, d = self.scale.names, len(self.scale.names)
        values = _values(frame, d)
        found, strata = np.unique(frame["cell"], return_inverse=True)
        table = Table(
            values,
            names,
            lambda *_: None,
            np.full(d, NUMBER),
            self.scale.whole,
            strata=strata.reshape(-1),
            strata_names=list(map(str, found)),
            sampling=frame["weight"].to_numpy() if "weight" in frame else None,
        )
        cells = divide(table, values, self.k, "pattern", "error")
        points, engine = choose(self._scaled(values), self.device, self.engine)
        return Problem(table, self.k, cells, values, points, self.scale.factor, engine_name(engine))


class Moments(NamedTuple):
    """Of the records of a cell: how many, and for each variable what its variance needs."""

    records: int
    known: np.ndarray
    mean: np.ndarray
    squares: np.ndarray  # about the mean
    low: np.ndarray
    high: np.ndarray


class Described(NamedTuple):
    """What is to be known of a partition before records move."""

    rows: int
    dropped: int
    missing: np.ndarray
    whole: np.ndarray
    cells: dict[Key, Moments]


def _values(frame: pd.DataFrame, d: int) -> np.ndarray:
    return frame[[f"v{j}" for j in range(d)]].to_numpy(dtype=np.float64)


def _read(frame: pd.DataFrame, roles: Roles, where: str) -> Table | None:
    """The variables of a partition; None if it is empty."""
    if not len(frame):
        return None
    try:
        return read(frame[roles.used], roles.columns, sampling_weight=roles.weight)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _cells(frame: pd.DataFrame, values: np.ndarray, roles: Roles) -> tuple[np.ndarray, list[Key]]:
    """The cell of each record, as a number in this partition, and what the cells are."""
    if not roles.by and roles.missing != "pattern":
        return np.zeros(len(values), dtype=np.int64), [((), b"")]
    strata = [pd.factorize(frame[name]) for name in roles.by]
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
    frame: pd.DataFrame, roles: Roles, where: str, keep_integers: bool
) -> Described | InputError:
    """Count the records of a partition and what is missing, and take the moments of its cells.

    What cannot be read is returned as an error: to repeat the task would not mend it.
    """
    d = len(roles.columns)
    try:
        table = _read(frame, roles, where)
        if keep_integers and table is not None:
            _check_integers(table, where)
    except InputError as error:
        return error
    if table is None:
        return Described(0, 0, np.zeros(d, dtype=np.int64), np.ones(d, dtype=bool), {})
    values = table.values
    missing = np.isnan(values)
    kept = ~missing.any(axis=1) if roles.missing == "drop" else np.ones(len(values), dtype=bool)
    cell, keys = _cells(frame[kept], values[kept], roles)
    order = np.argsort(cell, kind="stable")
    sizes = np.bincount(cell, minlength=len(keys))
    cells = {}
    for key, rows in zip(keys, np.split(order, np.cumsum(sizes)[:-1]), strict=True):
        if len(rows):
            cells[key] = _moments(values[kept][rows])
    return Described(len(values), int((~kept).sum()), missing.sum(axis=0), table.whole, cells)


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
    known = (~missing).sum(axis=0)
    total = np.where(missing, 0.0, values).sum(axis=0)
    mean = total / np.maximum(known, 1)
    with np.errstate(over="ignore"):
        squares = np.square(np.where(missing, 0.0, values - mean)).sum(axis=0)
    low, high = np.where(missing, np.inf, values), np.where(missing, -np.inf, values)
    return Moments(len(values), known, mean, squares, low.min(axis=0), high.max(axis=0))


def together(parts: list[Moments]) -> Moments:
    """Moments of several sets of records as one (Chan, Golub and LeVeque 1983)."""
    known = np.stack([part.known for part in parts])
    means = np.stack([part.mean for part in parts])
    total = known.sum(axis=0)
    mean = (known * means).sum(axis=0) / np.maximum(total, 1)
    squares = np.stack([part.squares for part in parts]) + known * np.square(means - mean)
    return Moments(
        sum(part.records for part in parts),
        total,
        mean,
        squares.sum(axis=0),
        np.min([part.low for part in parts], axis=0),
        np.max([part.high for part in parts], axis=0),
    )


def records(
    frame: pd.DataFrame, roles: Roles, where: str, number: int, codes: dict[Key, int]
) -> pd.DataFrame:
    """The records of a partition that are published, with where they come from and their cell."""
    table = _read(frame, roles, where)
    if table is None:
        return empty(roles)
    rows = np.arange(len(frame))
    if roles.missing == "drop":
        rows = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    cell, keys = _cells(frame.iloc[rows], table.values[rows], roles)
    code = np.array([codes.get(key, -1) for key in keys])[cell]
    rows, code = rows[code >= 0], code[code >= 0]
    columns = dict(zip(roles.values, table.values[rows].T, strict=True))
    if table.sampling is not None:
        columns["weight"] = table.sampling[rows]
    return pd.DataFrame({"partition": number, "row": rows, "cell": code, **columns}).astype(
        empty(roles).dtypes.to_dict()
    )


def empty(roles: Roles, *more: str) -> pd.DataFrame:
    """No records: which columns they have on their way, and of which type."""
    numbers = [*roles.values, *([] if roles.weight is None else ["weight"])]
    kinds = dict.fromkeys(["partition", "row", "cell", *more], np.int64)
    return pd.DataFrame({}).assign(
        **{
            name: np.empty(0, kind)
            for name, kind in (kinds | dict.fromkeys(numbers, float)).items()
        }
    )


def sample(frame: pd.DataFrame, how: How, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Every so many-th record: cell and point."""
    some = frame[frame["row"].to_numpy() % step == 0]
    return some["cell"].to_numpy(), how.points(some)


def place(frame: pd.DataFrame, how: How, forest: Forest) -> pd.DataFrame:
    """Give each record its block."""
    block = forest.block_of(frame["cell"].to_numpy(), how.points(frame), frame["row"].to_numpy())
    return frame.assign(block=block)


def count(frame: pd.DataFrame, how: How, forest: Forest) -> np.ndarray:
    """How many records each block gets from a partition."""
    return np.bincount(place(frame, how, forest)["block"], minlength=forest.blocks)


def group_block(frame: pd.DataFrame, how: How, forest: Forest, roles: Roles) -> pd.DataFrame:
    """Group the records of a block; say which groups are near to the border of the block."""
    if not len(frame):
        return empty(roles, "block", "group", "border")
    block = int(frame.index[0])
    frame = frame.sort_values(["partition", "row"], ignore_index=True)
    problem = how.problem(frame)
    with _TURN:
        labels, _ = group(problem, how.method, how.options, how.seed, None)
        if len(forest.child) and how.steps:
            labels = improve(problem, labels, None, how.steps, how.seed, None).labels
    (partition,) = prove(problem, labels)
    points = how.points(frame)
    near = borders(forest, block, points, partition.labels, partition.protect(points))
    frame = frame.assign(block=block, group=partition.labels, border=near[partition.labels])
    return frame[list(empty(roles, "block", "group", "border"))]


def _groups(frame: pd.DataFrame) -> np.ndarray:
    """Groups as numbers from 0, whatever block they are from."""
    pairs = frame["block"].to_numpy() * 2**32 + frame["group"].to_numpy()
    return np.unique(pairs, return_inverse=True)[1].reshape(-1)


def at_borders(frame: pd.DataFrame, how: How, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Of groups at borders: the cut that each record is near to, and a sample of centroids."""
    some = frame[frame["border"] >= 0]
    if not len(some):
        return np.empty(0, dtype=np.int64), np.empty((0, 1 + len(how.scale.names)))
    centres = some[["border"]].assign(**_centroids(some, how)).groupby(_groups(some)).first()
    return some["border"].to_numpy(), centres.to_numpy()[::step]


def _centroids(frame: pd.DataFrame, how: How) -> dict[str, np.ndarray]:
    """The centroid of each record's group, scaled."""
    points = pd.DataFrame(how.points(frame))
    means = points.groupby(_groups(frame)).transform("mean")
    return {f"c{j}": means[j].to_numpy() for j in means}


def to_border(frame: pd.DataFrame, how: How, forest: Forest) -> pd.DataFrame:
    """Groups at borders with the block in which they meet those of the other side."""
    some = frame[frame["border"] >= 0]
    centres = (
        np.stack(list(_centroids(some, how).values()), axis=1)
        if len(some)
        else np.empty((0, len(how.scale.names)))
    )
    meets = forest.block_of(some["border"].to_numpy(), centres, some["group"].to_numpy())
    return some.drop(columns="border").assign(meets=meets)


def repair(frame: pd.DataFrame, how: How, first: int, roles: Roles) -> pd.DataFrame:
    """Refine groups from both sides of a border together, and publish them."""
    if not len(frame):
        return published_empty(roles)
    block = first + int(frame.index[0])
    frame = frame.sort_values(["partition", "row"], ignore_index=True)
    problem = how.problem(frame)
    with _TURN:
        better = improve(problem, _groups(frame), None, how.steps, how.seed, None)
    return _published(frame, problem, better.labels, how, block, roles)


def publish_rest(frame: pd.DataFrame, how: How, roles: Roles, every: bool) -> pd.DataFrame:
    """Publish the groups of a block, or those that are at no border."""
    frame = frame if every else frame[frame["border"] < 0].reset_index(drop=True)
    if not len(frame):
        return published_empty(roles)
    block = int(frame["block"].iloc[0])
    return _published(frame, how.problem(frame), frame["group"].to_numpy(), how, block, roles)


def _published(
    frame: pd.DataFrame, problem: Problem, labels: np.ndarray, how: How, block: int, roles: Roles
) -> pd.DataFrame:
    parts = prove(problem, labels)
    values, _ = publish(problem, parts, how.aggregate, how.keep_integers)
    frame = frame.assign(block=block, group=parts[0].labels)
    frame[roles.values] = values
    return frame[list(published_empty(roles))]


def published_empty(roles: Roles) -> pd.DataFrame:
    """No published records, with their columns."""
    return empty(roles._replace(weight=None), "block", "group").drop(columns="cell")


def group_sizes(frame: pd.DataFrame) -> tuple[int, np.ndarray]:
    """The block that published records are from, and the size of each of its groups."""
    if not len(frame):
        return -1, np.empty(0, dtype=np.int64)
    return int(frame["block"].iloc[0]), np.bincount(frame["group"])


class Returned(NamedTuple):
    """What is published of a partition, in the order of its records."""

    kept: np.ndarray  # rows
    values: np.ndarray
    groups: np.ndarray
    sse: float


def returned(
    frame: pd.DataFrame,
    new: pd.DataFrame,
    roles: Roles,
    how: How,
    where: str,
    codes: dict[Key, int],
    offsets: np.ndarray,
) -> Returned:
    """Put published records in the order of their partition; each must be there once."""
    before = records(frame, roles, where, 0, codes)
    new = new.sort_values("row")
    if not np.array_equal(before["row"], new["row"]):
        raise RuntimeError(
            f"internal error: {where} has {len(before)} records to publish and {len(new)} came "
            "back; nothing is returned"
        )
    values = new[roles.values].to_numpy()
    apart = (before[roles.values].to_numpy() - values) * how.scale.factor
    groups = offsets[new["block"].to_numpy()] + new["group"].to_numpy()
    return Returned(new["row"].to_numpy(), values, groups, float(np.nansum(np.square(apart))))


def hashes(frame: pd.DataFrame, columns: list[Any]) -> pd.DataFrame:
    """How often each combination of values stands in a partition, by a hash of 64 bits."""
    found, counts = np.unique(
        pd.util.hash_pandas_object(frame[columns], index=False).to_numpy(), return_counts=True
    )
    return pd.DataFrame({"hash": found, "count": counts})


def hashes_empty() -> pd.DataFrame:
    """No hashes, with their columns."""
    return pd.DataFrame({"hash": np.empty(0, np.uint64), "count": np.empty(0, np.int64)})


def alike(frame: pd.DataFrame) -> int:
    """The least number of records that are alike, of those whose hashes are here."""
    return int(frame.groupby("hash")["count"].sum().min()) if len(frame) else 2**62
