"""Steps of the methods that take groups from a shrinking set, for a team of blocks.

They keep the same books in every block: what one decides from, the others have too.
"""

from types import SimpleNamespace

from numba import cuda

from .arithmetic import product, rounded, squared_distance
from .chunks import add_record, aim_at_centroid, clear, nearest_here, subtract_record, take_out
from .team import NONE, THREADS, block_least, less


def make_steps(real, cooperative, meet, team_least):
    """The device functions for points of type ``real``, a team being the grid or a block."""

    @cuda.jit(device=True)
    def take(r, group, first, held, columns, record, slot_of, worth, label):
        """Put record r in a group; the block that looks after it removes it."""
        if not cooperative or r % cuda.gridDim.x == cuda.blockIdx.x:
            take_out(r, first, held, columns, record, slot_of, worth)
            held -= 1
            if cuda.threadIdx.x == 0:
                label[r] = group
        return held

    @cuda.jit(device=True)
    def belongs(group):
        """Whether this block looks after the total of a group."""
        return not cooperative or group // THREADS % cuda.gridDim.x == cuda.blockIdx.x

    @cuda.jit(device=True)
    def list_nearest(
        r, count, first, held, columns, record, slot_of, near, points,
        values, keys, lists, list_keys, turn,
    ):  # fmt: skip
        """Write this block's ``count`` records nearest to record r in a list, the nearest first.

        A record listed gets the distance -1. A thread looks at its slots again only when the
        record it offered was the nearest.
        """
        b = cuda.blockIdx.x
        best = real(0)
        key = NONE
        for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
            near[slot] = squared_distance(columns, slot, points, r)
            if less(near[slot], record[slot], best, key):
                best = near[slot]
                key = record[slot]
        for c in range(min(count, lists.shape[2])):
            least, nearest = block_least(best, key, values, keys)
            if cuda.threadIdx.x == 0:
                lists[turn, b, c] = least
                list_keys[turn, b, c] = nearest
            if nearest == NONE:
                break
            if nearest == key:
                near[slot_of[key]] = real(-1)
                key = NONE
                for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
                    if near[slot] >= real(0) and less(near[slot], record[slot], best, key):
                        best = near[slot]
                        key = record[slot]

    @cuda.jit(device=True)
    def head_of(lists, list_keys, turn, place):
        """The first record of this thread's list that is not taken yet."""
        b = cuda.threadIdx.x if cooperative else cuda.blockIdx.x
        mine = b < cuda.gridDim.x if cooperative else cuda.threadIdx.x == 0
        if mine and place < lists.shape[2]:
            return lists[turn, b, place], list_keys[turn, b, place]
        return real(0), NONE

    @cuda.jit(device=True)
    def take_nearest(
        r, k, group, first, held, columns, record, slot_of, worth, near, label, points,
        total, own, chosen, values, keys, lists, list_keys, turn,
    ):  # fmt: skip
        """Remove record r and the k - 1 nearest to it: ``chosen[b]``, their sum ``own[b]``."""
        b = cuda.blockIdx.x
        clear(own, b)
        held = take(r, group, first, held, columns, record, slot_of, worth, label)
        subtract_record(total, b, points, r)
        add_record(own, b, points, r)
        if cuda.threadIdx.x == 0:
            chosen[b, 0] = r
        list_nearest(
            r, k - 1, first, held, columns, record, slot_of, near, points,
            values, keys, lists, list_keys, turn,
        )  # fmt: skip
        meet()
        place = 0
        for c in range(1, k):
            value, key = head_of(lists, list_keys, turn, place)
            _, r = block_least(value, key, values, keys)
            if key == r:
                place += 1
            held = take(r, group, first, held, columns, record, slot_of, worth, label)
            subtract_record(total, b, points, r)
            add_record(own, b, points, r)
            if cuda.threadIdx.x == 0:
                chosen[b, c] = r
        cuda.syncthreads()
        return held

    @cuda.jit(device=True)
    def take_gathered(
        r, k, group, first, held, columns, record, slot_of, worth, label, points,
        total, own, chosen, target, values, keys, board, board_keys, turn,
    ):  # fmt: skip
        """Remove record r and, k - 1 times, the one nearest to the growing group's centroid."""
        b = cuda.blockIdx.x
        clear(own, b)
        for size in range(1, k + 1):
            if cuda.threadIdx.x == 0:
                chosen[b, size - 1] = r
            held = take(r, group, first, held, columns, record, slot_of, worth, label)
            subtract_record(total, b, points, r)
            add_record(own, b, points, r)
            if size < k:
                aim_at_centroid(target, own, b, real(size))
                value, key = nearest_here(columns, record, first, held, target, b, NONE)
                _, r = team_least(value, key, values, keys, board, board_keys, turn)
                turn = 1 - turn
        cuda.syncthreads()
        return held, turn

    @cuda.jit(device=True)
    def keep_total(group, size, own, group_total, group_size):
        """Keep the sum of a new group where leftovers will look for it."""
        b = cuda.blockIdx.x
        if belongs(group):
            for j in range(cuda.threadIdx.x, own.shape[2], cuda.blockDim.x):
                for part in range(own.shape[1]):
                    group_total[group, part, j] = own[b, part, j]
            if cuda.threadIdx.x == 0:
                group_size[group] = size

    @cuda.jit(device=True)
    def group_by_seed(
        r, k, base, groups, first, held, columns, record, slot_of, worth, near, label,
        points, total, own, chosen, target, values, keys, board, board_keys, lists, list_keys,
        group_total, group_size, turn,
    ):  # fmt: skip
        """Form a group of the records nearest to record r."""
        held = take_nearest(
            r, k, base + groups, first, held, columns, record, slot_of, worth, near, label,
            points, total, own, chosen, values, keys, lists, list_keys, turn,
        )  # fmt: skip
        keep_total(base + groups, k, own, group_total, group_size)
        return held, 1 - turn

    @cuda.jit(device=True)
    def group_by_centroid(
        r, k, base, groups, first, held, columns, record, slot_of, worth, near, label,
        points, total, own, chosen, target, values, keys, board, board_keys, lists, list_keys,
        group_total, group_size, turn,
    ):  # fmt: skip
        """Form a group around record r of those nearest to its growing centroid."""
        held, turn = take_gathered(
            r, k, base + groups, first, held, columns, record, slot_of, worth, label, points,
            total, own, chosen, target, values, keys, board, board_keys, turn,
        )  # fmt: skip
        keep_total(base + groups, k, own, group_total, group_size)
        return held, turn

    @cuda.jit(device=True)
    def closest_group(base, groups, group_total, group_size, points, r):
        """Of the groups that this thread looks after the one whose centroid is closest to r."""
        best = real(0)
        key = NONE
        step = THREADS * cuda.gridDim.x if cooperative else THREADS
        begin = cuda.grid(1) if cooperative else cuda.threadIdx.x
        for g in range(base + begin, base + groups, step):
            distance = real(0)
            for j in range(points.shape[1]):
                centre = rounded(group_total, g, j) / real(group_size[g])
                difference = centre - points[r, j]
                distance += product(difference, difference)
            if less(distance, g, best, key):
                best = distance
                key = g
        return best, key

    return SimpleNamespace(
        take=take,
        take_nearest=take_nearest,
        group_by_seed=group_by_seed,
        group_by_centroid=group_by_centroid,
        belongs=belongs,
        closest_group=closest_group,
    )
