"""The phases of records on their way through a Dask cluster, each a set of worker."""

from contextlib import suppress
from typing import Any

import dask
import numpy as np
import pandas as pd
from dask import dataframe as dd
from dask import delayed

from distributed import Client, as_completed, futures_of

from ..errors import InputError
from ..files.verdict import Verdict
from ..progress import PhaseProgress
from . import partitions, worker
from .blocks import Forest, balance, plan
from .partitions import Description, Key, Layout
from .sources import Files, Frames
from .worker import BlockSettings

_RETRIES = 2  # of a task that fails, as by a network
_SAMPLED = 4_000, 2_000_000  # records for each block, and at most


class Job:
    """The phases, each a set of tasks on the cluster."""

    def __init__(
        self, client: Client, source: Frames | Files, layout: Layout, progress: PhaseProgress | None
    ) -> None:
        self.client, self.source, self.layout = client, source, layout
        self.parts = source.parts(layout)
        self._progress = progress or (lambda phase, fraction: None)

    def gather(self, phase: str, work: list[Any]) -> list[Any]:
        """Results of delayed tasks, in their order."""
        futures = self.client.compute(work, retries=_RETRIES)
        self._wait(phase, futures)
        return self.client.gather(futures)

    def keep(self, phase: str, work: list[Any]) -> list[Any]:
        """Delayed tasks whose results are computed, and held by the workers."""
        held = self.client.persist(work, retries=_RETRIES)
        self._wait(phase, futures_of(held))
        return held

    def _wait(self, phase: str, futures: list[Any]) -> None:
        self._progress(phase, 0.0)
        try:
            for i, future in enumerate(as_completed(futures, loop=self.client.loop)):
                if future.status != "finished":
                    future.result()
                self._progress(phase, (i + 1) / len(futures))
        except BaseException:
            with suppress(Exception):  # the cluster may be gone
                self.client.cancel(futures)
            raise

    def cards(self) -> dict[Any, int]:
        """The place of each worker among those of its machine that see the same GPUs.

        A worker of dask-cuda sees an order of GPUs of its own, so it is the first of one.
        """
        seen: dict[Any, list[Any]] = {}
        found = self.client.run(worker.visible_cards)
        for name, *machine in sorted(found.values(), key=lambda row: str(row[0])):
            seen.setdefault(tuple(machine), []).append(name)
        return {name: place for names in seen.values() for place, name in enumerate(names)}

    def describe(self, keep_integers: bool) -> list[Description]:
        """Count, and take the moments of the variables."""
        work = [
            delayed(partitions.describe)(part, self.layout, where, keep_integers)
            for part, where in zip(self.parts, self.source.where, strict=True)
        ]
        found = self.gather("reading", work)
        for description in found:
            if isinstance(description, InputError):
                raise description
        return found

    def squares(self, codes: dict[Key, int], centre: np.ndarray) -> list[int]:
        """Exact sums of squared differences from the centre, over all published records."""
        work = [
            delayed(partitions.squares)(part, self.layout, where, codes, centre)
            for part, where in zip(self.parts, self.source.where, strict=True)
        ]
        return [sum(column) for column in zip(*self.gather("measuring spread", work), strict=True)]

    def _records(self, codes: dict[Key, int]) -> list[Any]:
        return [
            delayed(partitions.records)(part, self.layout, where, number, codes)
            for number, (part, where) in enumerate(zip(self.parts, self.source.where, strict=True))
        ]

    def divide(
        self, settings: BlockSettings, codes: dict[Key, int], counts: np.ndarray, size: int
    ) -> Forest:
        """Blocks of similar records: from a sample, then counted and balanced."""
        none = np.empty(0, dtype=np.int64), np.empty((0, len(settings.names)))
        if (counts <= size).all():
            return plan(*none, counts, size, 2 * settings.k)
        total = int(counts.sum())
        step = max(1, total // min(-(-total // size) * _SAMPLED[0], _SAMPLED[1]))
        records = self._records(codes)
        some = self.gather("sampling", [delayed(worker.sample)(r, settings, step) for r in records])
        cells, points = (np.concatenate(part) for part in zip(*some, strict=True))
        forest = plan(cells, points, counts, size, 2 * settings.k)
        found = self.gather(
            "dividing", [delayed(worker.count)(r, settings, forest) for r in records]
        )
        return balance(forest, sum(found), size, 2 * settings.k)

    def protect(
        self, settings: BlockSettings, codes: dict[Key, int], forest: Forest, size: int
    ) -> tuple[list[Any], int, np.ndarray]:
        """Published records, how many of them were repaired, and the sizes of all groups."""
        layout = self.layout
        placed = [delayed(worker.place)(part, settings, forest) for part in self._records(codes)]
        blocks = _moved(placed, partitions.empty(layout, "block"), "block", forest.blocks)
        grouped = self.keep(
            f"{settings.given.method} in {forest.blocks} blocks",
            [delayed(worker.group_block)(part, settings, forest, layout) for part in blocks],
        )
        repaired = 0
        every = not (settings.steps and len(forest.child))
        new = [delayed(worker.publish_rest)(part, settings, layout, every) for part in grouped]
        if not every:
            second, repaired = self._border_blocks(grouped, settings, forest, size)
            if repaired:
                near = [delayed(worker.to_border)(part, settings, second) for part in grouped]
                meta = partitions.empty(layout, "block", "group", "border_block")
                new += [
                    delayed(worker.repair)(part, settings, forest.blocks, layout)
                    for part in _moved(near, meta, "border_block", second.blocks)
                ]
        new = self.keep("repairing borders" if repaired else "publishing", new)
        sizes = dict(self.gather("counting groups", [delayed(worker.group_sizes)(p) for p in new]))
        groups = [len(sizes.get(block, ())) for block in range(max(sizes) + 1)]
        self.offsets = np.cumsum([0, *groups])  # what to add to a block's numbers of groups
        return new, repaired, np.concatenate(list(sizes.values()))

    def _border_blocks(
        self, grouped: list[Any], settings: BlockSettings, forest: Forest, size: int
    ) -> tuple[Forest, int]:
        """Blocks for groups from both sides of a cut together, and how many records they have."""
        work = [delayed(worker.at_borders)(part, settings, settings.k) for part in grouped]
        some = self.gather("looking at borders", work)
        counts = np.bincount(
            np.concatenate([near for near, _ in some]), minlength=len(forest.child)
        )
        centres = np.concatenate([centre for _, centre in some])
        sets, points = centres[:, 0].astype(np.int64), centres[:, 1:]
        return plan(sets, points, counts, size, 2 * settings.k), int(counts.sum())

    def give_back(
        self, settings: BlockSettings, codes: dict[Key, int], new: list[Any]
    ) -> list[Any]:
        """Tasks for what is published of each partition, in its order."""
        meta = worker.published_empty(self.layout)
        back = self.keep("returning", _moved(new, meta, "partition", len(self.parts)))
        return [
            delayed(worker.returned)(
                part, labels, self.layout, settings, where, codes, self.offsets
            )
            for part, labels, where in zip(self.parts, back, self.source.where, strict=True)
        ]

    def verdict(self, frames: list[Any], published: list[Any], k: int) -> Verdict:
        """Count k in what is published: in the columns protected and of strata, and in all."""
        used = {*self.layout.replaced, *self.layout.by}
        named = [column for column in published if column in used]
        least, below, records = self._count("counting k", frames, named, k)
        others = [column for column in published if column not in named]
        all_least, all_below = least, below
        if others:
            what = "counting all columns"
            all_least, all_below, _ = self._count(what, frames, published, k)
        return Verdict(
            k, records, all_least, all_below, list(map(str, named)), least, below,
            list(map(str, others)),
        )  # fmt: skip

    def _count(
        self, phase: str, frames: list[Any], columns: list[Any], k: int
    ) -> tuple[int, int, int]:
        """The smallest group of records that share their values, those below k, and all."""
        hashed = [delayed(worker.hashes)(frame, columns) for frame in frames]
        moved = _frame(hashed, worker.hashes_empty()).shuffle(
            on="hash", npartitions=len(frames), shuffle_method=_shuffle()
        )
        work = [delayed(worker.count_groups)(part, k) for part in moved.to_delayed()]
        least, below, records = zip(*self.gather(phase, work), strict=True)
        return min(least), sum(below), sum(records)


# Dask's expressions stay in these functions: what is submitted are plain tasks (to_delayed). An
# expression that a scheduler in this process reads while this thread drops its twin is a KeyError
# in Dask's cache of expressions, now and then.


def _frame(parts: list[Any], meta: pd.DataFrame) -> dd.DataFrame:
    return dd.from_delayed(parts, meta=meta, verify_meta=False)


def _moved(parts: list[Any], meta: pd.DataFrame, column: str, number: int) -> list[Any]:
    """A partition for each number in a column, by Dask's own shuffle."""
    frame = _frame(parts, meta).set_index(
        column, divisions=list(range(number + 1)), shuffle_method=_shuffle()
    )
    return list(frame.to_delayed())


def _shuffle() -> str:
    """From worker to worker: without a default client Dask would take a disk that all share."""
    return dask.config.get("dataframe.shuffle.method", None) or "p2p"
