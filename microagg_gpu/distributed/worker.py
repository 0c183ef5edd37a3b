"""What workers do: each function takes a part of the records, as a DataFrame of pandas.

On its way a record is known by the partition that it came from and its row there. Its stratum and
what is missing in it make its cell; a group never leaves a cell.
"""

import os
import threading
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from distributed import Worker, get_worker

from ..data.columns import NUMBER, Table
from ..data.scaling import Scaling
from ..data.strata import divide
from ..engines import choose, gpu_available
from ..kernels import engine_name
from ..pipeline.grouping import group
from ..pipeline.partition import prove
from ..pipeline.problem import Problem
from ..pipeline.publishing import publish
from ..pipeline.refinement import improve
from ..settings import Roles, Settings
from .blocks import Forest, borders
from .partitions import Key, Layout, empty, records

# Kernels use all threads that a worker has: tasks in several threads take turns.
_TURN = threading.Lock()


class BlockSettings(NamedTuple):
    """How blocks are protected, the same for all of them.

    Attributes
    ----------
    given : Settings
    steps : int
        Steps of refinement per record.
    names : list of str
    weight : column of the sampling weights, if any
    whole : bool array of shape (d,)
        Which variables are integers.
    scaling : Scaling
    sst : float
        Total sum of squares of the scaled records.
    cards : dict
        Of a worker's name: its place among the workers that see the same GPUs.
    """

    given: Settings
    steps: int
    names: list[str]
    weight: Any
    whole: np.ndarray
    scaling: Scaling
    sst: float
    cards: dict[Any, int]

    @property
    def k(self) -> int:
        """The least number of records in a group."""
        return self.given.k

    @property
    def refinement(self) -> Settings:
        """The settings of a refinement by steps."""
        return replace(self.given, refine=None, refine_steps=self.steps)

    @property
    def device(self) -> str:
        """The device of this worker; of "cuda" a GPU of its own, while there are enough."""
        device = self.given.device or "auto"
        if device != "cuda" or not gpu_available():
            return device
        import cupy

        place = self.cards.get(get_worker().name, 0)
        return f"cuda:{place % cupy.cuda.runtime.getDeviceCount()}"

    def points(self, frame: pd.DataFrame) -> np.ndarray:
        """Records of a frame, scaled; 0, which is the mean, where a value is missing."""
        return np.nan_to_num(self.scaling.apply(_values(frame, len(self.names))))

    def problem(self, frame: pd.DataFrame, device: str | None = None) -> Problem:
        """The records of a frame, ready to be grouped within their cells on the worker's device."""
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
            roles=Roles(sampling_weight=self.weight),
        )
        cells = divide(table, self.k, "pattern", "error")
        points, engine = choose(
            self.scaling.apply(values), device or self.device, None if device else self.given.engine
        )
        name = engine_name(engine)
        return Problem(table, self.k, cells, points, self.scaling, self.scaling.scale, name)


def visible_cards(dask_worker: Worker) -> tuple[Any, str, str | None]:
    """The name of a worker, its machine, and the GPUs that it sees."""
    return dask_worker.name, dask_worker.ip, os.environ.get("CUDA_VISIBLE_DEVICES")


def _values(frame: pd.DataFrame, d: int) -> np.ndarray:
    return frame[[f"v{j}" for j in range(d)]].to_numpy(dtype=np.float64)


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
    problem = settings.problem(frame, "cpu")  # where means are taken
    return _published(frame, problem, frame["group"].to_numpy(), settings, block, layout)


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
    published = publish(problem, parts, settings.given)
    frame[layout.values] = published.values
    if published.weights is not None:
        frame["weight"] = published.weights
    return frame[list(published_empty(layout))]


def published_empty(layout: Layout) -> pd.DataFrame:
    """No published records, with their columns."""
    weight = layout.weight if layout.averaged else None
    return empty(layout._replace(weight=weight), "block", "group").drop(columns="cell")


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
    weights: np.ndarray | None
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
    weights = new["weight"].to_numpy() if layout.averaged else None
    sse = float(np.nansum(np.square(apart)))
    return PublishedPart(new["row"].to_numpy(), values, groups, weights, sse)


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
