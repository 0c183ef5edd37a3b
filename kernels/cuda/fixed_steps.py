"""Steps of the methods that take groups from a shrinking set, for a team of blocks.

They keep the same books in every block: what one decides from, the others have too.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

from numba import cuda

from .arithmetic import product, rounded, squared_distance
from .chunks import add_record, aim_at_centroid, clear, nearest_here, subtract_record, take_out
from .team import NONE, THREADS, block_least, less


class Sums(NamedTuple):
    """What every block knows of the records that remain and of the group being formed."""

    total: Any  # (blocks, 3, d) sum of the records that remain
    own: Any  # (blocks, 3, d) sum of the group
    chosen: Any  # (blocks, k) records of the group
    target: Any  # (blocks, d) a centroid


class Lists(NamedTuple):
    """The records of each block that are nearest to a record, the nearest first."""

    near: Any  # (n,) distance of the record in each slot; -1 of those listed
    values: Any  # (2, blocks, width) distances
    keys: Any  # (2, blocks, width) records


class Groups(NamedTuple):
    """The groups formed; those of a problem are numbered from its base on."""

    label: Any  # (n,) the group of each record
    base: Any  # (blocks,)
    total: Any  # (groups, 3, d) sums, kept for records that are left over
    size: Any  # (groups,)
    status: Any  # (blocks, 2) groups formed by each team, records that it has left


def make_steps(real, cooperative, team):
    """The device functions for points of type ``real``, a team being the grid or a block."""
    team_sync, team_least = team.team_sync, team.team_least

    @cuda.jit(device=True)
    def take(r, group, first, held, slots, label):
        """Put record r in a group; the block that looks after it removes it."""
        if not cooperative or r % cuda.gridDim.x == cuda.blockIdx.x:
            take_out(r, first, held, slots)
            held -= 1
            if cuda.threadIdx.x == 0:
                label[r] = group
        return held

    @cuda.jit(device=True)
    def belongs(group):
        """Whether this block looks after the total of a group."""
        return not cooperative or group // THREADS % cuda.gridDim.x == cuda.blockIdx.x

    @cuda.jit(device=True)
    def list_nearest(r, count, first, held, slots, lists, shared, turn):
        """Write this block's ``count`` records nearest to record r in a list, the nearest first.

        A record listed gets the distance -1. A thread looks at its slots again only when the
        record it offered was the nearest.
        """
        b = cuda.blockIdx.x
        record = slots.record
        near = lists.near
        best = real(0)
        key = NONE
        for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
            near[slot] = squared_distance(slots.columns, slot, slots.points, r)
            if less(near[slot], record[slot], best, key):
                best = near[slot]
                key = record[slot]
        for c in range(min(count, lists.values.shape[2])):
            least, nearest = block_least(best, key, shared)
            if cuda.threadIdx.x == 0:
                lists.values[turn, b, c] = least
                lists.keys[turn, b, c] = nearest
            if nearest == NONE:
                break
            if nearest == key:
                near[slots.slot_of[key]] = real(-1)
                key = NONE
                for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
                    if near[slot] >= real(0) and less(near[slot], record[slot], best, key):
                        best = near[slot]
                        key = record[slot]

    @cuda.jit(device=True)
    def head_of(lists, turn, place):
        """The first record of this thread's list that is not taken yet."""
        b = cuda.threadIdx.x if cooperative else cuda.blockIdx.x
        mine = b < cuda.gridDim.x if cooperative else cuda.threadIdx.x == 0
        if mine and place < lists.values.shape[2]:
            return lists.values[turn, b, place], lists.keys[turn, b, place]
        return real(0), NONE

    @cuda.jit(device=True)
    def choose(r, group, place, first, held, slots, sums, label):
        """Take record r into a group and its sum, at a place of those chosen."""
        b = cuda.blockIdx.x
        held = take(r, group, first, held, slots, label)
        subtract_record(sums.total, b, slots.points, r)
        add_record(sums.own, b, slots.points, r)
        if cuda.threadIdx.x == 0:
            sums.chosen[b, place] = r
        return held

    @cuda.jit(device=True)
    def take_nearest(r, k, group, first, held, slots, sums, lists, label, shared, turn):
        """Remove record r and the k - 1 nearest to it: ``chosen[b]``, their sum ``own[b]``."""
        clear(sums.own, cuda.blockIdx.x)
        held = choose(r, group, 0, first, held, slots, sums, label)
        list_nearest(r, k - 1, first, held, slots, lists, shared, turn)
        team_sync()
        place = 0
        for c in range(1, k):
            value, key = head_of(lists, turn, place)
            _, r = block_least(value, key, shared)
            if key == r:
                place += 1
            held = choose(r, group, c, first, held, slots, sums, label)
        cuda.syncthreads()
        return held

    @cuda.jit(device=True)
    def take_gathered(r, k, group, first, held, slots, sums, label, shared, board, turn):
        """Remove record r and, k - 1 times, the one nearest to the growing group's centroid."""
        b = cuda.blockIdx.x
        clear(sums.own, b)
        for size in range(1, k + 1):
            held = choose(r, group, size - 1, first, held, slots, sums, label)
            if size < k:
                aim_at_centroid(sums.target, sums.own, b, real(size))
                value, key = nearest_here(slots, first, held, sums.target, b, NONE)
                _, r = team_least(value, key, shared, board, turn)
                turn = 1 - turn
        cuda.syncthreads()
        return held, turn

    @cuda.jit(device=True)
    def keep_total(group, size, own, groups):
        """Keep the sum of a new group where leftovers will look for it."""
        b = cuda.blockIdx.x
        if belongs(group):
            for j in range(cuda.threadIdx.x, own.shape[2], cuda.blockDim.x):
                for part in range(own.shape[1]):
                    groups.total[group, part, j] = own[b, part, j]
            if cuda.threadIdx.x == 0:
                groups.size[group] = size

    @cuda.jit(device=True)
    def group_by_seed(r, k, group, first, held, slots, sums, lists, groups, shared, board, turn):
        """Form a group of the records nearest to record r."""
        held = take_nearest(
            r, k, group, first, held, slots, sums, lists, groups.label, shared, turn
        )
        keep_total(group, k, sums.own, groups)
        return held, 1 - turn

    @cuda.jit(device=True)
    def group_by_centroid(
        r, k, group, first, held, slots, sums, lists, groups, shared, board, turn
    ):
        """Form a group around record r of those nearest to its growing centroid."""
        held, turn = take_gathered(
            r, k, group, first, held, slots, sums, groups.label, shared, board, turn
        )
        keep_total(group, k, sums.own, groups)
        return held, turn

    @cuda.jit(device=True)
    def closest_group(base, count, groups, points, r):
        """Of the groups that this thread looks after the one whose centroid is closest to r."""
        best = real(0)
        key = NONE
        step = THREADS * cuda.gridDim.x if cooperative else THREADS
        begin = cuda.grid(1) if cooperative else cuda.threadIdx.x
        for g in range(base + begin, base + count, step):
            distance = real(0)
            for j in range(points.shape[1]):
                centre = rounded(groups.total, g, j) / real(groups.size[g])
                difference = centre - points[r, j]
                distance += product(difference, difference)
            if less(distance, g, best, key):
                best = distance
                key = g
        return best, key

    return SimpleNamespace(
        take=take, take_nearest=take_nearest, belongs=belongs, closest_group=closest_group,
        group_by_seed=group_by_seed, group_by_centroid=group_by_centroid,
    )  # fmt: skip
