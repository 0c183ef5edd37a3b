"""A short tour through all records from each of them, all tours grown side by side.

The MF-TSP paper leaves the heuristic to an R package. Here it is one of the two families that
the paper names in section II-B, insertion or nearest neighbour, followed by one sweep of 2-opt.
"""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import to_numpy

# Values in the arrays of one batch of tours: small enough for a processor's cache.
_BATCH = 2**17


def hamiltonian_paths(
    points: Any, tour: str = "insertion", window: int = 50, progress: Progress | None = None
) -> np.ndarray:
    """A path from each record, all grown side by side; see `Engine.hamiltonian_paths`."""
    xp = array_namespace(points)
    n = points.shape[0]
    lengths = _lengths(points)
    grow = _farthest_insertion if tour == "insertion" else _nearest_neighbour
    size = max(1, _BATCH // n)
    paths = np.empty((n, n), dtype=np.int64)
    for first in range(0, n, size):
        last = min(n, first + size)
        starts = xp.arange(first, last, dtype=xp.int64, device=device(points))
        closed = _reverse_stretches(lengths, grow(lengths, starts), window)
        paths[first:last, :] = to_numpy(closed)[:, :n]
        if progress is not None:
            progress(last / n)
    return paths


def _lengths(points: Any) -> Any:
    """Euclidean distances between all records; -1 from a record to itself.

    The roots are taken by NumPy, which rounds them correctly; PyTorch on a CPU may be off in
    the last digit, enough to decide a tie otherwise.
    """
    xp = array_namespace(points)
    n, d = points.shape
    columns = points.T
    total = xp.zeros((n, n), dtype=points.dtype, device=device(points))
    for j in range(d):
        difference = xp.reshape(columns[j, :], (n, 1)) - xp.reshape(columns[j, :], (1, n))
        total = total + difference * difference
    index = xp.arange(n, dtype=xp.int64, device=device(points))
    itself = xp.reshape(index, (n, 1)) == xp.reshape(index, (1, n))
    roots = xp.asarray(np.sqrt(to_numpy(total)), device=device(points))
    return xp.where(itself, -1.0, roots)


def _take_flat(x: Any, positions: Any) -> Any:
    """Values of a matrix at positions counted row by row."""
    xp = array_namespace(x)
    values = xp.take(xp.reshape(x, (-1,)), xp.reshape(positions, (-1,)))
    return xp.reshape(values, positions.shape)


def _farthest_insertion(lengths: Any, starts: Any) -> Any:
    """Closed tours, one per start, that always take in the record farthest from the tour.

    It goes where it lengthens the tour least, the first such place after the start. A record
    on the tour is at distance -1 from it, below all others.
    """
    xp = array_namespace(lengths)
    n, m = lengths.shape[0], starts.shape[0]
    on = device(lengths)
    start = xp.reshape(starts, (m, 1))
    # Column 0 of both is a margin, so that a view one column to the left is the tour moved on.
    tours = xp.asarray(xp.broadcast_to(start, (m, n + 2)), copy=True)
    edges = xp.zeros((m, n + 2), dtype=lengths.dtype, device=on)
    own_row = xp.reshape(xp.arange(m, dtype=xp.int64, device=on) * n, (m, 1))
    place = xp.reshape(xp.arange(n + 1, dtype=xp.int64, device=on), (1, n + 1))
    distance = xp.take(lengths, starts, axis=0)
    for t in range(1, n):  # the tours hold t records
        record = xp.argmax(distance, axis=1)
        row = xp.take(lengths, record, axis=0)
        distance = xp.minimum(distance, row)
        to = _take_flat(row, tours[:, 1 : t + 2] + own_row)
        longer = (to[:, :-1] + to[:, 1:]) - edges[:, 1 : t + 1]
        after = xp.argmin(longer, axis=1, keepdims=True)
        p = place[:, : t + 2]
        kept, moved = p <= after, p > after + 1
        edge = xp.where(moved[:, :-1], edges[:, : t + 1], to)
        edges[:, 1 : t + 2] = xp.where(kept[:, 1:], edges[:, 1 : t + 2], edge)
        tour = xp.where(moved, tours[:, : t + 2], xp.reshape(record, (m, 1)))
        tours[:, 1 : t + 3] = xp.where(kept, tours[:, 1 : t + 3], tour)
    return tours[:, 1:]


def _nearest_neighbour(lengths: Any, starts: Any) -> Any:
    """Closed tours, one per start, that always go on to the nearest record not yet visited."""
    xp = array_namespace(lengths)
    n, m = lengths.shape[0], starts.shape[0]
    index = xp.arange(n, dtype=xp.int64, device=device(lengths))[None, :]
    here = starts
    visited = index == xp.reshape(here, (m, 1))
    steps = [here]
    for _ in range(1, n):
        here = xp.argmin(xp.where(visited, xp.inf, xp.take(lengths, here, axis=0)), axis=1)
        visited = visited | (index == xp.reshape(here, (m, 1)))
        steps.append(here)
    return xp.stack([*steps, starts], axis=1)


def _reverse_stretches(lengths: Any, tours: Any, window: int) -> Any:
    """One sweep of 2-opt along closed tours, in place.

    At each place in turn the stretch that follows, of 1 to `window` records, is reversed where
    that shortens the tour most. A stretch of one gains exactly 0, so it is the choice where
    nothing is gained; of equal gains the shortest stretch is the choice.
    """
    xp = array_namespace(lengths)
    n = lengths.shape[0]

    def length(a: Any, b: Any) -> Any:
        return _take_flat(lengths, a * n + b)

    place = xp.arange(n, dtype=xp.int64, device=device(lengths))[None, :]
    for i in range(n - 2 if window > 1 else 0):
        stop = min(n, i + 1 + window)
        stretch, beyond = tours[:, i + 1 : stop], tours[:, i + 2 : stop + 1]
        a, b = tours[:, i : i + 1], tours[:, i + 1 : i + 2]
        gain = (length(a, b) + length(stretch, beyond)) - (length(a, stretch) + length(b, beyond))
        end = xp.argmax(gain, axis=1, keepdims=True)
        p = place[:, : stop - i - 1]
        tours[:, i + 1 : stop] = xp.take_along_axis(stretch, xp.where(p <= end, end - p, p), axis=1)
    return tours
