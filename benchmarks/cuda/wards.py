"""k-Ward in batches on the CPU, counted.

The engine's own Python (`kernels.cuda.ward_rounds`) and its decisions run on NumPy arrays, with a
twin of each kernel: a plain loop that finds the same and counts (`ward_twins`). So its rounds, its
launches and its searches are those of a device.

``python -m benchmarks.cuda.wards 100000 1000000`` prints what the report says of it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from time import thread_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from microagg_gpu.kernels import cpu
from microagg_gpu.kernels.cuda import distant, ward_events, ward_rounds
from microagg_gpu.methods.ward import kward

from . import ward_tables, ward_twins
from .budget import dry_engine
from .rounds import FastPace, launching, twins_in
from .searches import table
from .trees import BLOCKS, INSERTED, INSTRUCTIONS, LANES, LEAVES, RECORDS, STEPS, count_build
from .ward_twins import LONGEST, MADE_ONES, TALLY
from .work import ADD, CENTRE, RISE, Work

K = 4
MADE = 6, 90  # PTX instructions of a look at groups that a batch makes: a variable, and besides
UNITE = 125  # of a warp that adds up two groups or puts one into the tree
PAIR = 5, 15  # of a warp that looks at 32 pairs
TWINS = twins_in(ward_twins)


class Counts:
    """What a run did.

    Attributes
    ----------
    rounds, searches, trees : int
    taken : int
        Searches of events that were foreseen rightly, and of the first pairs.
    united : int
        Events and final mergers that warps have added up or put into the tree.
    tally : array
        Tallies of all searches.
    decided : float
        Seconds of the thread that decides.
    other : float
        Seconds of what else the host does.
    """

    def __init__(self) -> None:
        self.rounds = self.searches = self.trees = self.taken = self.united = 0
        self.tally = np.zeros(TALLY, dtype=np.int64)
        self.decided = self.other = self._away = 0.0
        self._calls: list[tuple[Any, ...]] = []

    @contextmanager
    def away(self) -> Iterator[None]:
        """What is done in it is not the method's own Python."""
        begun = thread_time()
        yield
        self._away += thread_time() - begun

    def noting(self, name: str) -> Callable[..., Any]:
        """A function of `ward_events`, the calls of which are noted."""
        usual = getattr(ward_events, name)

        def function(*arguments: Any) -> Any:
            kept = arguments if name == "make_pairs" else arguments[1:]
            copies = (x.copy() if isinstance(x, np.ndarray) else x for x in kept)
            # The batch is the work that the function itself wrote before.
            self._calls.append((name, *copies)[: 4 if name == "advance" else None])
            result = usual(*arguments)
            self.taken += len(arguments[1]) if name == "keep_all" else 0
            self.taken += result if name == "advance" else 0
            return result

        return function

    def decide_again(self) -> None:
        """Time the decisions alone: in the run, twins leave nothing of them in the cache."""
        pairs: Any = None
        work = np.zeros((0, ward_events.COLUMNS), dtype=np.int64)
        begun = thread_time()  # which itself may take a millisecond
        for name, *arguments in self._calls:
            if name == "make_pairs":
                pairs = ward_events.make_pairs(*arguments)
                work = np.zeros((arguments[2], ward_events.COLUMNS), dtype=np.int64)
            elif name == "keep_all":
                ward_events.keep_all(pairs, *arguments)
            else:
                ward_events.advance(pairs, *arguments, work)
        self.decided += thread_time() - begun
        self._calls.clear()

    def done(self, seconds: float) -> None:
        """Note how long the whole run took the thread."""
        self.other = seconds - self._away


@contextmanager
def counted(work: Work, counts: Counts | None = None) -> Iterator[Counts]:
    """Let the engine's batches run here, and add what they do to the work."""
    counts = counts or Counts()

    launch = launching(work, TWINS, TALLY, partial(_count, work, counts))

    def plant(self: Any) -> None:
        counts.trees += 1
        count_build(work, int(self.pairs.state[ward_events.LIVE]), self._d)
        work.expressions += 15
        work.waits += 2
        usual_plant(self)

    def away(usual: Callable[..., Any]) -> Callable[..., Any]:
        def function(*arguments: Any) -> Any:
            with counts.away():
                return usual(*arguments)

        return function

    usual_plant = ward_rounds._Rounds._plant
    with ExitStack() as stack:
        for module in (ward_rounds, distant):
            stack.enter_context(patch.object(module, "launch", launch))
        for name in ("make_pairs", "keep_all", "advance"):
            stack.enter_context(patch.object(ward_rounds, name, counts.noting(name)))
        stack.enter_context(patch.object(ward_rounds, "search_pace", FastPace))
        stack.enter_context(patch.object(ward_rounds._Rounds, "_plant", plant))
        for module, name in ((ward_rounds, "merge"), (distant, "most_distant_pair")):
            stack.enter_context(patch.object(module, name, away(getattr(module, name))))
        yield counts


def _count(work: Work, counts: Counts, name: str, arguments: Any, tally: np.ndarray) -> None:
    """Add what a kernel does to the work."""
    if name == "sum_groups":
        n, d = arguments[0].shape
        work.kept += n * d * ADD
        work.values += n * d
        work.expressions += 2
    elif name == "unite":
        events, moves, batch = arguments[2], arguments[3], arguments[5]
        d = batch.target.shape[1]
        counts.united += events + moves
        work.instructions += (events + moves) * UNITE
        work.flops += events * d * (3 * ADD + CENTRE) + moves * d * CENTRE
        work.values += (events + moves) * d * 12
        work.copied += batch.work.nbytes
        work.expressions += 4  # the batch is copied, room made; Python
    elif name == "find_pairs":
        events, d = arguments[2], arguments[3].target.shape[1]
        counts.rounds += 1
        counts.searches += events
        counts.tally += tally
        work.copied += 16 * events
        work.waits += 1
        leaves, blocks, made = (int(tally[what]) for what in (LEAVES, BLOCKS, MADE_ONES))
        looked = (leaves + made) * LANES
        work.distances += looked
        work.flops += looked * (3 * d + RISE) + blocks * LANES * (4 * d + RISE)
        work.values += looked * d + 2 * blocks * LANES * d
        work.words += 3 * looked + 2 * blocks * LANES
        work.instructions += instructions(tally, d)
        work.chain += int(tally[LONGEST])
    elif name == "refresh":
        _, level, tree = arguments
        boxes = int(tree.start[level + 1] - tree.start[level]) * LANES
        work.values += boxes * LANES * tree.low.shape[1]
        work.instructions += boxes * tree.low.shape[1] * 80
    elif name == "find_farthest":
        columns, _, until = arguments[:3]
        (d, places), n = columns.shape, len(until)
        pairs = int(np.maximum(until[:places] - np.arange(places) - 1, 0).sum())
        work.distances += pairs
        work.flops += 3 * d * pairs
        work.values += d * pairs
        work.instructions += pairs // LANES * (PAIR[0] * d + PAIR[1]) + places * 80
        # Distances to the centre and those of three sweeps, each of some expressions; one sort.
        work.expressions += 40
        work.values += 4 * 8 * n * d
        work.words += 40 * n
        work.waits += 10


def instructions(tally: np.ndarray, d: int) -> int:
    """PTX instructions of warps that searched."""
    each = INSTRUCTIONS | {MADE_ONES: MADE}
    each = {what: each[what] for what in (LEAVES, BLOCKS, STEPS, INSERTED, RECORDS, MADE_ONES)}
    return sum(int(tally[what]) * (a * d + b) for what, (a, b) in each.items())


# Old and new ------------------------------------------------------------------------------------


class Compared(NamedTuple):
    """k-Ward of some records: by looks at all groups, and in batches."""

    old: Work
    new: Work
    counts: Counts
    cpu: float  # processor seconds of the CPU engine


def compared(n: int) -> Compared:
    """Count both ways; time the CPU engine, which must agree."""
    points, work, counts = table(n), Work(), Counts()
    engine: Any = dry_engine(work, counts)
    kward(points[:6000], K, engine=dry_engine(Work()))  # compiled
    begun = thread_time()
    found = kward(points, K, engine=engine)
    counts.done(thread_time() - begun)
    counts.decide_again()
    kward(points[:2000], K, engine=cpu)
    begun = thread_time()
    expected = kward(points, K, engine=cpu)
    seconds = thread_time() - begun
    if not np.array_equal(found, expected):
        raise AssertionError(f"kward of {n} records: batches formed other groups")
    return Compared(_by_looks(points), work, counts, seconds)


def _by_looks(points: np.ndarray) -> Work:
    """What looks at all groups ask of a device."""
    old = Work()
    with (
        patch.object(ward_rounds, "possible", lambda points, groups: False),
        patch.object(distant, "most_distant_pair", lambda points: None),
    ):
        kward(points, K, engine=dry_engine(old))
    return old


if __name__ == "__main__":
    done = {int(n): compared(int(n)) for n in sys.argv[1:]}
    print("\n".join(ward_tables.about_wards(done)))
