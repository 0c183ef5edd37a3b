"""MDAV and V-MDAV by rounds and replay on the CPU, counted.

The engine's own Python (`kernels.cuda.rounds`) runs on NumPy arrays, with a twin of each kernel: a
plain loop that finds the same and counts (`round_twins`, `replay_twins`). So it is the scheme on
the CPU, and its rounds, its launches and what its lists could not answer are those of a device.

``python -m benchmarks.cuda.rounds 100000 1000000`` prints what the report says of them.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from time import thread_time
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from microagg_gpu.kernels import cpu
from microagg_gpu.kernels.cuda import rounds
from microagg_gpu.kernels.cuda.launching import flat

from . import method_tables, replay_twins, round_twins
from .budget import Loop
from .replay_twins import DECIDED, LOOKED_UP, MEMBERS, TAKEN, TALLY, WINDOWS
from .searches import table
from .trees import (
    BLOCKS,
    INSERTED,
    INSTRUCTIONS,
    LANES,
    LEAVES,
    RECORDS,
    STEPS,
    building,
    count_build,
)
from .work import CENTRE, Work

# PTX instructions of the warp that decides, in order: for each variable, and besides.
CHAIN = {
    **{DECIDED: (0, 120), WINDOWS: (14, 170), TAKEN: (0, 110)},
    **{LOOKED_UP: (0, 40), MEMBERS: (10, 70)},
}
SUBTRACT, DIVIDE = 30, 60  # those of the warp that keeps the sum, for a record and for a step

Twins = dict[str, Callable[..., None]]


def twins_in(*modules: ModuleType) -> Twins:
    """The twins of kernels, by the kernels' names."""
    return {
        name.lstrip("_"): twin
        for module in modules
        for name, twin in vars(module).items()
        if name.startswith("_") and hasattr(twin, "py_func")
    }


TWINS = twins_in(round_twins, replay_twins)


class Counts:
    """What a run of rounds did.

    Attributes
    ----------
    rounds : int
    replays, rows : array
        Tallies of all replays with their searches, and of the searches for rows.
    """

    def __init__(self) -> None:
        self.rounds = 0
        self.replays, self.rows = (np.zeros(TALLY, dtype=np.int64) for _ in range(2))


@contextmanager
def counted(work: Work, counts: Counts | None = None) -> Iterator[Counts]:
    """Let the engine's rounds run here, and add what they do to the work."""
    counts = counts or Counts()

    launch = launching(work, TWINS, TALLY, partial(_count, work, counts))
    with ExitStack() as stack:
        stack.enter_context(patch.object(rounds, "launch", launch))
        stack.enter_context(patch.object(rounds, "Pace", FastPace))
        stack.enter_context(patch.object(rounds, "read_number", int))
        stack.enter_context(patch.object(rounds, "build", _counting_build(work)))
        yield counts


def launching(
    work: Work, twins: Twins, entries: int, count: Callable[[str, Any, np.ndarray], None]
) -> Callable[..., None]:
    """A `launch` that runs the twin of a kernel, and counts what it notes in so many entries."""

    def launch(kernel: Any, blocks: int, *arguments: Any) -> None:
        name = kernel.py_func.__name__
        tally = np.zeros(entries, dtype=np.int64)
        twins[name](*arguments, tally)
        work.launch(sum(1 for _ in flat(arguments)))
        count(name, arguments, tally)

    return launch


class FastPace:
    """The pace of a device on which nothing takes long."""

    def __init__(self, most: int, first: int | None = None) -> None:
        self.work = most

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def _counting_build(work: Work) -> Callable[[Any], Any]:
    usual = rounds.build

    def build(points: Any) -> Any:
        count_build(work, *points.shape)
        with building():
            return usual(points)

    return build


def _count(work: Work, counts: Counts, name: str, arguments: Any, tally: np.ndarray) -> None:
    """Add what a kernel does to the work."""
    if name in ("replay_mdav", "replay_vmdav"):
        counts.replays += tally
        work.waits += 1
        d = arguments[2 if name == "replay_mdav" else 3].value.shape[1]
        k = arguments[1]
        work.chain += _chain(tally, d)
        if name == "replay_mdav":
            sums = int(tally[TAKEN]) * k * SUBTRACT + int(tally[DECIDED]) * DIVIDE
            work.chain += sums // 2  # the other half while the warp that decides is at work
    elif name == "find_near":
        counts.rows += tally
        work.waits += 1
        d = arguments[2].value.shape[1]
        _add_search(work, tally, d)
    elif name == "claim_rows":
        counts.rounds += arguments[0] == 0
        work.expressions += 10 if arguments[0] == 0 else 0
        work.words += 2 * len(arguments[2])
    elif name == "find_keys":
        n, d = arguments[0].points.shape
        work.distances += n
        work.flops += 3 * n * d
        work.values += n * (d + 1)
        work.words += n
        work.expressions += 2
    elif name == "fill_slots":
        d, n = arguments[3].value.shape
        work.values += n * d * 3 // 2
        work.words += 2 * n
        work.flops += 2 * n * d
    elif name == "find_maxima":
        (d, n), (asked, chunks) = arguments[0].value.shape, arguments[2].shape
        work.distances += n * asked
        work.single_flops += n * asked * (2 * d + 1)
        work.values += n * d // 2 + asked * chunks
        work.words += 32 * n  # eight passes of a sort of keys with indices, for the list
        work.expressions += 6
    elif name == "look_again":
        (d, n), (asked, chunks) = arguments[0].value.shape, arguments[2].shape
        looked = int(tally[RECORDS]) * (n // chunks)
        work.single_flops += looked * (4 * d + 10)
        work.instructions += asked * chunks * 12 // 32 * 4
    elif name == "shrink":
        tree, _, level = arguments
        boxes = int(tree.start[level + 1] - tree.start[level]) * LANES
        d = tree.value.shape[1]
        work.values += boxes * LANES * d
        work.instructions += boxes * d * 80


def _chain(tally: np.ndarray, d: int) -> int:
    """Instructions of the warp that decides, with its searches."""
    both = CHAIN | {what: INSTRUCTIONS[what] for what in (LEAVES, BLOCKS, STEPS, INSERTED)}
    return sum(int(tally[what]) * (each * d + besides) for what, (each, besides) in both.items())


def _add_search(work: Work, tally: np.ndarray, d: int) -> None:
    """Searches for rows: as `trees._add_searches`, and a label for each record of a leaf."""
    leaves, blocks = int(tally[LEAVES]), int(tally[BLOCKS])
    work.distances += leaves * LANES
    work.flops += (leaves * 3 + blocks * 4) * LANES * d
    work.values += (leaves + 2 * blocks) * LANES * d
    work.words += leaves * LANES * 2
    for what, (each, besides) in INSTRUCTIONS.items():
        work.instructions += int(tally[what]) * (each * d + besides)


# Old and new ------------------------------------------------------------------------------------


class Compared(NamedTuple):
    """MDAV and V-MDAV of some records: by loops over all that remain, and by rounds."""

    old: dict[str, Work]
    new: dict[str, Work]
    counts: dict[str, Counts]
    cpu: dict[str, float]  # seconds of the thread of the CPU engine that decides


METHODS = {"mdav": (), "vmdav": (0.2,)}
K = 5


def compared(n: int) -> Compared:
    """Count both ways of grouping as many records; time the CPU engine, which must agree."""
    result = Compared({}, {}, {}, {})
    points = table(n)
    for name, options in METHODS.items():
        counts, work = Counts(), Work()
        with counted(work, counts):
            outcome = getattr(rounds, name)(points, K, *options)
        groups_of = getattr(cpu, f"{name}_groups")
        groups_of(points[:2000], K, *options)  # compiled
        begun = thread_time()
        expected = groups_of(points, K, *options)
        result.cpu[name] = thread_time() - begun
        formed = outcome.labels >= 0
        if not outcome.done or not _same(outcome.labels[formed], expected[formed]):
            raise AssertionError(f"{name} of {n} records: rounds formed other groups")
        result.new[name], result.counts[name] = work, counts
        sizes = np.bincount(outcome.labels[formed])
        result.old[name] = _scans(points, name, sizes)
    return result


def _same(labels: np.ndarray, others: np.ndarray) -> bool:
    """Whether labels name the same groups."""
    pairs = len(np.unique(np.stack([labels, others]), axis=1)[0])
    return pairs == len(np.unique(labels)) == len(np.unique(others))


def _scans(points: np.ndarray, name: str, sizes: np.ndarray) -> Work:
    """What a loop over all that remain asks of a device for groups of some sizes."""
    work, (left, d) = Work(), points.shape
    loop = Loop(work, points, K)
    for size in map(int, sizes):
        work.kept += d * CENTRE
        loop.scan(left)
        loop.scan(left - 1, values=1, words=1)
        work.agree()
        work.grid_syncs += 1
        work.reductions += 2 * (K - 1)
        work.take(K, d)
        left -= K
        if name == "vmdav" and left:
            for _ in range(K):
                loop.scan(left, values=2, words=1)
            for turn in range(min(size - K + 1, K - 1)):
                work.agree()
                work.agree()
                loop.scan(left)
                if turn < size - K:
                    left -= 1
                    loop.scan(left, values=2, words=1)
                    work.removals += 1
    return work


if __name__ == "__main__":
    done = {int(n): compared(int(n)) for n in sys.argv[1:]}
    print("\n".join(method_tables.about_rounds(done)))
