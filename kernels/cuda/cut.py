"""The cutting of a spanning tree on the device, in rounds.

Whether an edge is cut depends only on the few records on both sides of it and on the edges there
that are longer. So in a round every edge decides for itself from the states of the round before;
those that cannot wait. The longest one that waits can always decide, and mostly eight rounds are
enough for all: the waiting are a quarter after the first, a tenth after the second.

The host decides whether another round is needed. Where rows of edges wait for each other, as
between evenly spaced records on a line, it cuts from the longest edge on (`cpu.mst.cut_edges`).
"""

from typing import Any

import numpy as np

from ..arrays import array_namespace
from ..cpu import mst as on_host
from ..generic.arrays import to_numpy
from .cut_kernels import WAITING, decide, unite
from .launching import Pace, launch, read_number
from .mst import roots
from .team import THREADS

ROUNDS = 64  # then the host cuts
# The host is as fast for fewer records, and for larger groups: its time does not depend on k.
FEWEST = 20_000
LARGEST_K = 64
WORK = 2**28  # edges of a launch times k, at most


def cut_edges(edges: Any, lengths: Any, n: int, k: int) -> np.ndarray:
    """Delete removable edges from the longest on; see `Engine.cut_edges`."""
    labels = None
    if n >= FEWEST and k <= LARGEST_K:
        labels = cut_in_rounds(edges, lengths, n, k)
    if labels is None:
        labels = on_host.cut_edges(to_numpy(edges), to_numpy(lengths), n, k)
    return labels


def cut_in_rounds(edges: Any, lengths: Any, n: int, k: int) -> np.ndarray | None:
    """The labels of `cut_edges`; None if too many rounds would be needed."""
    xp = array_namespace(edges)
    # Edges come in their order, so of those of one length the lowest goes first.
    longest_first = xp.argsort(-lengths, stable=True)
    ends = xp.reshape(xp.take(edges, longest_first, axis=0), (-1,))
    beside = _rings(xp, ends)
    state = xp.full((n - 1,), WAITING, dtype=xp.int8)
    waiting = xp.arange(n - 1, dtype=xp.int64)
    pace = Pace(WORK)
    for _ in range(ROUNDS):
        after = xp.asarray(state, copy=True)
        first = 0
        while first < waiting.shape[0]:
            last = min(waiting.shape[0], first + max(THREADS, pace.work // k))
            blocks = -(-(last - first) // THREADS)
            with pace:
                launch(decide, blocks, waiting, first, last, beside, state, after, k)
                read_number(after[0])
            first = last
        state = after
        waiting = xp.nonzero(state == WAITING)[0]
        if waiting.shape[0] == 0:
            above = xp.arange(n, dtype=xp.int64)
            launch(unite, -(-(n - 1) // THREADS), ends, state, above)
            return to_numpy(roots(above))
    return None


def _rings(xp: Any, ends: Any) -> Any:
    """The next end at the same record for each, around in a ring."""
    by_record = xp.argsort(ends, stable=True)
    record = xp.take(ends, by_record)
    first_of_record = xp.searchsorted(record, record)
    following = xp.concatenate([by_record[1:], by_record[:1]])
    is_last = record != xp.concatenate([record[1:], record[:1]])
    beside = xp.empty_like(ends)
    beside[by_record] = xp.where(is_last, xp.take(by_record, first_of_record), following)
    return beside
