"""Kernels that grow and improve tours, a block to a tour; the text of `generic.tours`.

``lengths`` are the Euclidean distances between all records, -1 from a record to itself. A block's
own arrays are a row each of ``tours`` (the records in order, the start once more at the end),
``edges`` (the lengths between neighbours on the tour) and ``distances`` (of all records from the
tour, or -1 for those on it). They stay in global memory from launch to launch.

To take in a record with t of n on the tour, a block reads its row of lengths, once in order and
twice at the places of the tour, passes over the distances and the edges, and moves on average
half of the tour: some 3 n + 6 t numbers of 8 bytes, or 48 n**3 bytes for all n tours, all but the
lengths at the places from and to neighbouring addresses. It waits at 7 barriers, and 2 more for
every THREADS records that move. A place of the sweep costs 4 numbers for each record of the
window and 4 barriers.
"""

from functools import lru_cache
from math import sqrt
from types import SimpleNamespace

from numba import cuda

from .compiled import entry
from .team import NONE, THREADS, block_least, less, make_shared


@lru_cache
def make_kernels(real):
    """The kernels for lengths of type ``real``."""
    shared_arrays = make_shared(real)

    @entry(real)
    def take_roots(squares):
        """Turn squared distances of all pairs into lengths, a block to a row."""
        r = cuda.blockIdx.x
        for q in range(cuda.threadIdx.x, squares.shape[1], THREADS):
            squares[r, q] = real(-1) if q == r else sqrt(squares[r, q])

    @cuda.jit(device=True)
    def move_on(b, first, last, tours, edges):
        """Move what is at the places first to last - 1 of a tour one place on, from the end."""
        for end in range(last, first, -THREADS):
            p = end - cuda.threadIdx.x
            if p > first:
                record = tours[b, p - 1]
                edge = edges[b, p - 1]
            cuda.syncthreads()
            if p > first:
                tours[b, p] = record
                edges[b, p] = edge
            cuda.syncthreads()

    @entry(real)
    def insert_farthest(lengths, first, last, tours, edges, distances):
        """Take into tours of ``first`` records the farthest ones until they hold ``last``."""
        shared = shared_arrays()
        b = cuda.blockIdx.x
        thread = cuda.threadIdx.x
        n = lengths.shape[0]
        reach = real(0)
        farthest = NONE
        for q in range(thread, n, THREADS):
            if less(-distances[b, q], q, reach, farthest):
                reach = -distances[b, q]
                farthest = q
        for t in range(first, last):
            _, record = block_least(reach, farthest, shared)
            least = real(0)
            after = NONE
            for p in range(thread, t, THREADS):
                here = lengths[record, tours[b, p]]
                there = lengths[record, tours[b, p + 1]]
                longer = (here + there) - edges[b, p]
                if less(longer, p, least, after):
                    least = longer
                    after = p
            _, after = block_least(least, after, shared)
            farthest = NONE
            for q in range(thread, n, THREADS):
                distance = min(distances[b, q], lengths[record, q])
                distances[b, q] = distance
                if less(-distance, q, reach, farthest):
                    reach = -distance
                    farthest = q
            move_on(b, after + 1, t + 1, tours, edges)
            if thread == 0:
                tours[b, after + 1] = record
                edges[b, after] = lengths[record, tours[b, after]]
                edges[b, after + 1] = lengths[record, tours[b, after + 2]]
            cuda.syncthreads()

    @entry(real)
    def go_to_nearest(lengths, first, last, tours, distances):
        """Lead tours of ``first`` records on to the nearest ones until they hold ``last``."""
        shared = shared_arrays()
        b = cuda.blockIdx.x
        n = lengths.shape[0]
        record = tours[b, first - 1]
        for t in range(first, last):
            least = real(0)
            nearest = NONE
            for q in range(cuda.threadIdx.x, n, THREADS):
                if distances[b, q] >= real(0) and less(lengths[record, q], q, least, nearest):
                    least = lengths[record, q]
                    nearest = q
            _, record = block_least(least, nearest, shared)
            if record == nearest:
                distances[b, record] = real(-1)
                tours[b, t] = record
        if cuda.threadIdx.x == 0:
            tours[b, last] = tours[b, 0]

    @entry(real)
    def reverse_stretches(lengths, first, last, tours, window):
        """A sweep of 2-opt along the tours, at the places from ``first`` to ``last`` - 1."""
        shared = shared_arrays()
        b = cuda.blockIdx.x
        thread = cuda.threadIdx.x
        for i in range(first, last):
            start = i + 1
            from_a = tours[b, i]
            from_b = tours[b, start]
            edge = lengths[from_a, from_b]
            loss = real(0)
            end = NONE
            for p in range(start + thread, min(lengths.shape[0], start + window), THREADS):
                c = tours[b, p]
                beyond = tours[b, p + 1]
                gain = (edge + lengths[c, beyond]) - (lengths[from_a, c] + lengths[from_b, beyond])
                if less(-gain, p, loss, end):
                    loss = -gain
                    end = p
            _, end = block_least(loss, end, shared)
            for s in range(thread, (end - i) // 2, THREADS):
                moved = tours[b, start + s]
                tours[b, start + s] = tours[b, end - s]
                tours[b, end - s] = moved
            cuda.syncthreads()

    return SimpleNamespace(
        take_roots=take_roots,
        insert_farthest=insert_farthest,
        go_to_nearest=go_to_nearest,
        reverse_stretches=reverse_stretches,
    )
