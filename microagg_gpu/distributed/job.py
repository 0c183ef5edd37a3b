"""The phases of records on their way through a Dask cluster, each a set of tasks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from dask import dataframe as dd
from dask import delayed
from distributed import Client, KilledWorker, as_completed, futures_of

from ..errors import InputError
from . import tasks
from .blocks import Forest, balance, plan
from .sources import Files, Frames, disk_is_full
from .tasks import Described, How, Key, Roles

Progress = Callable[[str, float], None]
_RETRIES = 2  # of a task that fails, as by a network
_SAMPLED = 4_000, 2_000_000  # records for each block, and at most


class Job:
    """The phases, each a set of tasks on the cluster."""

    def __init__(
        self, client: Client, source: Frames | Files, roles: Roles, progress: Progress | None
    ) -> None:
        self.client, self.source, self.roles = client, source, roles
        self.parts = source.parts(roles)
        self._tell = progress or (lambda phase, fraction: None)

    def gather(self, phase: str, work: list[Any]) -> list[Any]:
        """Results of delayed tasks, in their order."""
        futures = self.client.compute(work, retries=_RETRIES)
        self._wait(phase, futures)
        return self.client.gather(futures)

    def keep(self, phase: str, frame: Any) -> Any:
        """A collection that is computed, and held by the workers."""
        frame = self.client.persist(frame, retries=_RETRIES)
        self._wait(phase, futures_of(frame))
        return frame

    def _wait(self, phase: str, futures: list[Any]) -> None:
        self._tell(phase, 0.0)
        try:
            for i, future in enumerate(as_completed(futures)):
                if future.status != "finished":
                    future.result()
                self._tell(phase, (i + 1) / len(futures))
        except BaseException:
            self.client.cancel(futures)
            raise

    def describe(self) -> list[Described]:
        """Count, and take the moments of the variables."""
        work = [
            delayed(tasks.describe)(part, self.roles, where)
            for part, where in zip(self.parts, self.source.where, strict=True)
        ]
        found = self.gather("reading", work)
        for one in found:
            if isinstance(one, InputError):
                raise one
        return found

    def _records(self, codes: dict[Key, int]) -> list[Any]:
        return [
            delayed(tasks.records)(part, self.roles, where, number, codes)
            for number, (part, where) in enumerate(zip(self.parts, self.source.where, strict=True))
        ]

    def divide(self, how: How, codes: dict[Key, int], counts: np.ndarray, size: int) -> Forest:
        """Blocks of similar records: from a sample, then counted and balanced."""
        none = np.empty(0, dtype=np.int64), np.empty((0, len(how.scale.names)))
        if (counts <= size).all():
            return plan(*none, counts, size, 2 * how.k)
        total = int(counts.sum())
        step = max(1, total // min(-(-total // size) * _SAMPLED[0], _SAMPLED[1]))
        records = self._records(codes)
        some = self.gather("sampling", [delayed(tasks.sample)(r, how, step) for r in records])
        cells, points = (np.concatenate(part) for part in zip(*some, strict=True))
        forest = plan(cells, points, counts, size, 2 * how.k)
        found = self.gather("dividing", [delayed(tasks.count)(r, how, forest) for r in records])
        return balance(forest, sum(found), size, 2 * how.k)

    def protect(
        self, how: How, codes: dict[Key, int], forest: Forest, size: int
    ) -> tuple[dd.DataFrame, int, np.ndarray]:
        """Published records, how many of them were repaired, and the sizes of all groups."""
        roles = self.roles
        placed = dd.from_delayed(
            [delayed(tasks.place)(part, how, forest) for part in self._records(codes)],
            meta=tasks.empty(roles, "block"), verify_meta=False,
        )  # fmt: skip
        grouped = _moved(placed, "block", forest.blocks).map_partitions(
            tasks.group_block, how, forest, roles,
            meta=tasks.empty(roles, "block", "group", "border"), enforce_metadata=False,
        )  # fmt: skip
        meta = tasks.published_empty(roles)
        grouped = self.keep(f"{how.method} in {forest.blocks} blocks", grouped)
        repaired = 0
        every = not (how.steps and len(forest.child))
        new = grouped.map_partitions(
            tasks.publish_rest, how, roles, every, meta=meta, enforce_metadata=False
        )
        if not every:
            second, repaired = self._meetings(grouped, how, forest, size)
            if repaired:
                moved = grouped.map_partitions(
                    tasks.to_border, how, second, enforce_metadata=False,
                    meta=tasks.empty(roles, "block", "group", "meets"),
                )  # fmt: skip
                mended = _moved(moved, "meets", second.blocks).map_partitions(
                    tasks.repair, how, forest.blocks, roles, meta=meta, enforce_metadata=False
                )
                new = dd.concat([new, mended])
        new = self.keep("repairing borders" if repaired else "publishing", new)
        work = [delayed(tasks.group_sizes)(part) for part in new.to_delayed()]
        sizes = dict(self.gather("counting groups", work))
        groups = [len(sizes.get(block, ())) for block in range(max(sizes) + 1)]
        self.offsets = np.cumsum([0, *groups])  # what to add to a block's numbers of groups
        return new, repaired, np.concatenate(list(sizes.values()))

    def _meetings(
        self, grouped: dd.DataFrame, how: How, forest: Forest, size: int
    ) -> tuple[Forest, int]:
        """Blocks in which groups from both sides of a cut meet, and of how many records."""
        parts = grouped.to_delayed()
        work = [delayed(tasks.at_borders)(part, how, how.k) for part in parts]
        some = self.gather("looking at borders", work)
        counts = np.bincount(
            np.concatenate([near for near, _ in some]), minlength=len(forest.child)
        )
        centres = np.concatenate([centre for _, centre in some])
        sets, points = centres[:, 0].astype(np.int64), centres[:, 1:]
        return plan(sets, points, counts, size, 2 * how.k), int(counts.sum())

    def give_back(self, how: How, codes: dict[Key, int], new: dd.DataFrame) -> list[Any]:
        """Tasks for what is published of each partition, in its order."""
        back = self.keep("returning", _moved(new, "partition", len(self.parts)))
        return [
            delayed(tasks.returned)(part, one, self.roles, how, where, codes, self.offsets)
            for part, one, where in zip(
                self.parts, back.to_delayed(), self.source.where, strict=True
            )
        ]

    def seen(self, drop: Sequence[str]) -> Roles:
        """What everybody sees of the published records."""
        return self.roles._replace(by=[c for c in self.roles.by if c not in drop], weight=None)

    def count(self, frames: list[Any], seen: Roles) -> int:
        """The least number of records that are alike in what is published."""
        hashed = dd.from_delayed(
            [delayed(tasks.hashes)(frame, seen.used) for frame in frames],
            meta=tasks.hashes_empty(), verify_meta=False,
        )  # fmt: skip
        moved = hashed.shuffle(on="hash", npartitions=len(frames))
        work = [delayed(tasks.alike)(part) for part in moved.to_delayed()]
        return min(self.gather("counting k", work))


def _moved(frame: dd.DataFrame, column: str, parts: int) -> dd.DataFrame:
    """A partition for each number in a column, by Dask's own shuffle."""
    return frame.set_index(column, divisions=list(range(parts + 1)))


@contextmanager
def clear_cluster_errors() -> Iterator[None]:
    """One sentence for what went wrong on a cluster."""
    try:
        yield
    except InputError:
        raise
    except KilledWorker as error:
        raise InputError(
            f"the cluster failed: workers died {error.allowed_failures + 1} times over one task, "
            "most often for want of memory: give them more, or smaller blocks (block=); nothing "
            "was written"
        ) from None
    except Exception as error:
        seen: BaseException | None = error
        while seen is not None and not isinstance(seen, InputError):
            seen = seen.__cause__
        if seen is not None:
            raise seen from None
        if disk_is_full(error):
            raise InputError(
                "the disk of a worker, or the one to write to, is full: make room; nothing was "
                "written"
            ) from None
        if isinstance(error, (OSError, MemoryError)):
            raise InputError(f"a worker failed: {error!r}; nothing was written") from None
        raise
