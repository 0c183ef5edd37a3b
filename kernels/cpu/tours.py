"""A short tour through all records from each of them, many starts at the same time.

The tours are those of the generic engine, which says where they come from.
"""

from typing import Any

import numpy as np
from numba import get_num_threads

from ..generic.arrays import to_numpy
from ..protocol import Progress
from .compiled import entry, inner
from .threads import on_all_cores

# Pairs of records looked at in one call of the kernel: some tenths of a second.
_CHUNK = 2**26


def hamiltonian_paths(
    points: Any, tour: str = "insertion", window: int = 50, progress: Progress | None = None
) -> np.ndarray:
    """For each record a path through all from there; see `generic.hamiltonian_paths`."""
    matrix = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    n = len(matrix)
    lengths = np.empty((n, n))
    paths = np.empty((n, n), dtype=np.int64)
    on_all_cores(_lengths, n, matrix, lengths)
    chunk = max(_CHUNK // n**2, get_num_threads())
    for first in range(0, n, chunk):
        last = min(n, first + chunk)
        here = paths[first:last]
        on_all_cores(_paths, len(here), lengths, first, tour == "insertion", window, here)
        if progress is not None:
            progress(last / n)
    return paths


@entry()
def _lengths(first, last, points, lengths):
    """Euclidean distances between all records; -1 from a record to itself."""
    n, d = points.shape
    for i in range(first, last):
        for q in range(n):
            total = 0.0
            for j in range(d):
                difference = points[i, j] - points[q, j]
                total += difference * difference
            lengths[i, q] = np.sqrt(total)
        lengths[i, i] = -1.0


@entry()
def _paths(first, last, lengths, start, insertion, window, paths):
    """Paths from the records that follow `start`, one for each of some rows of `paths`."""
    for p in range(first, last):
        _path(lengths, start + p, insertion, window, paths[p])


@inner(allocates=True)
def _path(lengths, start, insertion, window, path):
    tour = np.full(len(path) + 1, start)
    if insertion:
        _farthest_insertion(lengths, tour)
    else:
        _nearest_neighbour(lengths, tour)
    if window > 1:
        _reverse_stretches(lengths, tour, window)
    for p in range(len(path)):
        path[p] = tour[p]


@inner(allocates=True)
def _farthest_insertion(lengths, tour):
    """Grow a closed tour from its start, always by the record farthest from the tour.

    It goes where it lengthens the tour least, the first such place after the start. A record
    on the tour is at distance -1 from it, below all others.
    """
    n = len(lengths)
    edges = np.zeros(n + 1)  # the lengths between neighbours on the tour
    distance = lengths[tour[0]].copy()
    record = int(np.argmax(distance))
    for t in range(1, n):  # the tour holds t records
        row = lengths[record]
        after = 0
        least = np.inf
        here = row[tour[0]]
        for p in range(t):
            there = row[tour[p + 1]]
            longer = (here + there) - edges[p]
            if longer < least:
                least = longer
                after = p
            here = there
        for p in range(t + 1, after + 1, -1):
            tour[p] = tour[p - 1]
            edges[p] = edges[p - 1]
        tour[after + 1] = record
        edges[after] = row[tour[after]]
        edges[after + 1] = row[tour[after + 2]]
        record = 0
        farthest = -np.inf
        for q in range(n):
            distance[q] = min(distance[q], row[q])
            if distance[q] > farthest:
                farthest = distance[q]
                record = q


@inner(allocates=True)
def _nearest_neighbour(lengths, tour):
    """Grow a closed tour from its start, always to the nearest record not yet visited."""
    n = len(lengths)
    left = np.arange(n)  # the records not yet visited, in index order
    nearest = tour[0]
    for t in range(1, n):
        for q in range(nearest, n - t):
            left[q] = left[q + 1]
        row = lengths[tour[t - 1]]
        nearest = 0
        least = row[left[0]]
        for q in range(1, n - t):
            if row[left[q]] < least:
                nearest = q
                least = row[left[q]]
        tour[t] = left[nearest]


@inner()
def _reverse_stretches(lengths, tour, window):
    """One sweep of 2-opt along a closed tour.

    At each place in turn the stretch that follows, of 1 to `window` records, is reversed where
    that shortens the tour most. A stretch of one gains nothing; of equal gains the shortest
    stretch is reversed.
    """
    n = len(lengths)
    for i in range(n - 2):
        from_a, from_b = lengths[tour[i]], lengths[tour[i + 1]]
        edge = from_a[tour[i + 1]]
        most = 0.0
        end = i + 1
        for p in range(i + 2, min(n, i + 1 + window)):
            c, beyond = tour[p], tour[p + 1]
            gain = (edge + lengths[c, beyond]) - (from_a[c] + from_b[beyond])
            if gain > most:
                most = gain
                end = p
        start = i + 1
        while start < end:
            tour[start], tour[end] = tour[end], tour[start]
            start += 1
            end -= 1
