"""A short tour through all records from each of them, a block to a tour.

The tours are those of the generic engine, which says where they come from.
"""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..protocol import Progress
from .launching import Pace, check_room, launch, read_number, real_type
from .pairwise import pairwise_distances
from .team import THREADS
from .tour_kernels import make_kernels

# Tours grown side by side: enough to fill any device.
TOURS = 1024
# Records that one launch passes by on all its tours, at most.
WORK = 2**29


def hamiltonian_paths(
    points: Any, tour: str = "insertion", window: int = 50, progress: Progress | None = None
) -> np.ndarray:
    """For each record a path through all from there; see `generic.hamiltonian_paths`."""
    n = points.shape[0]
    size = min(n, TOURS)
    check_room(points, points.dtype.itemsize * n * n + 32 * size * (n + 1))
    lengths = lengths_between(points)
    paths = np.empty((n, n), dtype=np.int64)
    for first in range(0, n, size):
        last = min(n, first + size)

        def part_progress(share: float, first: int = first, last: int = last) -> None:
            if progress is not None:
                progress((first + share * (last - first)) / n)

        closed = tours_from(lengths, first, last, tour, window, part_progress)
        paths[first:last, :] = to_numpy(closed[:, :n])
    return paths


def lengths_between(points: Any) -> Any:
    """Euclidean distances between all records; -1 from a record to itself."""
    lengths = pairwise_distances(points)
    launch(make_kernels(real_type(points)).take_roots, points.shape[0], lengths)
    return lengths


def tours_from(
    lengths: Any, first: int, last: int, tour: str, window: int, progress: Progress
) -> Any:
    """Closed tours from the records first to last - 1: an int64 array on the device."""
    xp = array_namespace(lengths)
    on = device(lengths)
    n, m = lengths.shape[0], last - first
    starts = xp.arange(first, last, dtype=xp.int64, device=on)
    tours = xp.empty((m, n + 1), dtype=xp.int64, device=on)
    tours[:, :2] = xp.reshape(starts, (m, 1))
    distances = xp.asarray(lengths[first:last, :], copy=True)
    kernels = make_kernels(real_type(lengths))
    # A kernel, what it takes, its first and last step, and the records passed by in a step.
    edges = xp.zeros((m, n + 1), dtype=lengths.dtype, device=on)
    parts: list[tuple[Any, ...]] = [
        (kernels.insert_farthest, (tours, edges, distances), 1, n, m * n)
    ]
    if tour != "insertion":
        parts = [(kernels.go_to_nearest, (tours, distances), 1, n, m * n)]
    if window > 1:
        visits = m * (min(window, n) + THREADS)  # the threads wait more than they read
        parts.append((kernels.reverse_stretches, (tours, window), 0, n - 2, visits))
    for done, (kernel, arguments, step, last_step, visits) in enumerate(parts):
        begin, pace = step, Pace(WORK)
        while step < last_step:
            until = min(last_step, step + max(1, pace.work // visits))
            with pace:
                launch(kernel, m, lengths, step, until, *arguments)
                read_number(tours[0, 0])
            step = until
            progress((done + (step - begin) / (last_step - begin)) / len(parts))
    return tours
