"""Kernels of the methods that take groups from a shrinking set: the whole loop in one launch.

Each is the text of `generic.fixed_size` for a team of blocks (`team.py`) over the records they
look after (`chunks.py`). A launch goes on until it has looked at about ``budget`` records and
leaves ``held`` and ``status`` for the next one, so that the host hears of progress. All blocks of
a team keep the same books: what one decides from, the others have too.
"""

from functools import lru_cache
from types import SimpleNamespace

from numba import cuda

from .arithmetic import add, product, rounded, squared_distance
from .chunks import (
    add_record,
    aim_at_centroid,
    clear,
    farthest_here,
    least_here,
    nearest_here,
    subtract_record,
    take_out,
)
from .sums import add_up, begin
from .team import NONE, THREADS, block_least, less, make_team

# What status holds for each block: groups formed, records left in the team.
GROUPS, LEFT = range(2)
# What a scan costs besides looking at records, as a number of records: meeting and reducing.
SCAN = 1 << 17


@lru_cache
def make_kernels(real, cooperative):
    """The kernels for points of type ``real``, a team being the grid or a block."""
    meet, team_least = make_team(cooperative)

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
            for j in range(cuda.threadIdx.x, own.shape[2], THREADS):
                for part in range(own.shape[1]):
                    group_total[group, part, j] = own[b, part, j]
            if cuda.threadIdx.x == 0:
                group_size[group] = size

    @cuda.jit(device=True)
    def take_group(
        by_seed, r, k, base, groups, first, held, columns, record, slot_of, worth, near, label,
        points, total, own, chosen, target, values, keys, board, board_keys, lists, list_keys,
        group_total, group_size, turn,
    ):  # fmt: skip
        """Form a group around record r, by the seed or by the growing centroid."""
        if by_seed:
            held = take_nearest(
                r, k, base + groups, first, held, columns, record, slot_of, worth, near, label,
                points, total, own, chosen, values, keys, lists, list_keys, turn,
            )  # fmt: skip
            turn = 1 - turn
        else:
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

    @cuda.jit(device=True)
    def join_leftovers(
        base, groups, left, first, held, columns, record, slot_of, worth, label, points,
        values, keys, board, board_keys, group_total, group_size, turn,
    ):  # fmt: skip
        """Add each record left, in index order, to the group whose centroid is closest."""
        while left > 0:
            key = NONE
            for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
                if key == NONE or record[slot] < key:
                    key = record[slot]
            _, r = team_least(real(0), key, values, keys, board, board_keys, turn)
            turn = 1 - turn
            value, key = closest_group(base, groups, group_total, group_size, points, r)
            _, g = team_least(value, key, values, keys, board, board_keys, turn)
            turn = 1 - turn
            held = take(r, g, first, held, columns, record, slot_of, worth, label)
            if belongs(g):
                add_record(group_total, g, points, r)
                if cuda.threadIdx.x == 0:
                    group_size[g] += 1
            cuda.syncthreads()
            left -= 1
        return held

    @cuda.jit
    def sum_up(columns, start, total):
        """The sum of the records that each block looks after."""
        sums = cuda.shared.array((THREADS, 3, 1), real)
        t = cuda.threadIdx.x
        b = cuda.blockIdx.x
        for j in range(columns.shape[0]):
            begin(sums)
            for slot in range(start[b] + t, start[b + 1], THREADS):
                add(sums, t, 0, columns[j, slot])
            add_up(sums)
            if t < 3:
                total[b, t, j] = sums[0, t, 0]

    @cuda.jit
    def share_sum(parts, total):
        """Give every block of a team the sum of all."""
        b = cuda.blockIdx.x
        clear(total, b)
        for j in range(cuda.threadIdx.x, total.shape[2], THREADS):
            for other in range(parts.shape[0]):
                for part in range(3):
                    add(total, b, j, parts[other, part, j])

    @cuda.jit
    def mdav(
        budget, k, points, columns, record, slot_of, worth, near, label, start, held, bases,
        status, total, own, chosen, target, board, board_keys, lists, list_keys,
    ):  # fmt: skip
        values = cuda.shared.array(THREADS, real)
        keys = cuda.shared.array(THREADS, "int64")
        b = cuda.blockIdx.x
        first, mine, base = start[b], held[b], bases[b]
        groups, left = status[b, GROUPS], status[b, LEFT]
        turn = 0
        r = NONE
        while budget > 0 and left >= 2 * k:
            for half in range(2 if left >= 3 * k else 1):
                if half == 0:
                    aim_at_centroid(target, total, b, real(left))
                    value, key = farthest_here(columns, record, first, mine, target, b, NONE)
                else:
                    value, key = farthest_here(columns, record, first, mine, points, r, NONE)
                _, r = team_least(value, key, values, keys, board, board_keys, turn)
                mine = take_nearest(
                    r, k, base + groups, first, mine, columns, record, slot_of, worth, near, label,
                    points, total, own, chosen, values, keys, lists, list_keys, turn,
                )  # fmt: skip
                turn = 1 - turn
                budget -= 2 * (left + SCAN)
                groups += 1
                left -= k
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            held[b] = mine
            status[b, GROUPS] = groups
            status[b, LEFT] = left

    @cuda.jit(device=True)
    def nearer_to_group(r, first, held, columns, record, worth, points, anew):
        """Bring the distances to a group up to date with its member r; the nearest record."""
        best = real(0)
        key = NONE
        for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
            distance = squared_distance(columns, slot, points, r)
            if anew or distance < worth[slot]:
                worth[slot] = distance
            if less(worth[slot], record[slot], best, key):
                best = worth[slot]
                key = record[slot]
        return best, key

    @cuda.jit
    def vmdav(
        budget, k, gamma, points, columns, record, slot_of, worth, near, label, start, held,
        bases, status, total, own, chosen, target, board, board_keys, lists, list_keys,
    ):  # fmt: skip
        values = cuda.shared.array(THREADS, real)
        keys = cuda.shared.array(THREADS, "int64")
        b = cuda.blockIdx.x
        first, mine, base = start[b], held[b], bases[b]
        groups, left = status[b, GROUPS], status[b, LEFT]
        turn = 0
        if groups == 0:  # the centroid of all records, for good
            aim_at_centroid(target, total, b, real(left))
        while budget > 0 and left >= k:
            value, key = farthest_here(columns, record, first, mine, target, b, NONE)
            _, e = team_least(value, key, values, keys, board, board_keys, turn)
            mine = take_nearest(
                e, k, base + groups, first, mine, columns, record, slot_of, worth, near, label,
                points, total, own, chosen, values, keys, lists, list_keys, turn,
            )  # fmt: skip
            turn = 1 - turn
            budget -= 2 * (left + SCAN)
            left -= k
            if k > 1 and left > 0:
                for c in range(k):
                    value, key = nearer_to_group(
                        chosen[b, c], first, mine, columns, record, worth, points, c == 0
                    )
            size = k
            while size < 2 * k - 1 and left > 0:
                d_in, e = team_least(value, key, values, keys, board, board_keys, turn)
                turn = 1 - turn
                value, key = nearest_here(columns, record, first, mine, points, e, e)
                d_out, other = team_least(value, key, values, keys, board, board_keys, turn)
                turn = 1 - turn
                budget -= 2 * (left + SCAN)
                # With no other record left, its distance is infinite.
                if not (gamma > real(0) if other == NONE else d_in <= product(gamma, d_out)):
                    break
                mine = take(e, base + groups, first, mine, columns, record, slot_of, worth, label)
                size += 1
                left -= 1
                value, key = nearer_to_group(e, first, mine, columns, record, worth, points, False)
            groups += 1
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            held[b] = mine
            status[b, GROUPS] = groups
            status[b, LEFT] = left

    @cuda.jit
    def centroid(
        budget, k, by_seed, points, columns, record, slot_of, worth, near, label, start, held,
        bases, status, total, own, chosen, target, board, board_keys, lists, list_keys,
        group_total, group_size,
    ):  # fmt: skip
        values = cuda.shared.array(THREADS, real)
        keys = cuda.shared.array(THREADS, "int64")
        b = cuda.blockIdx.x
        first, mine, base = start[b], held[b], bases[b]
        groups, left = status[b, GROUPS], status[b, LEFT]
        turn = 0
        while budget > 0 and left >= k:
            aim_at_centroid(target, total, b, real(left))
            value, key = farthest_here(columns, record, first, mine, target, b, NONE)
            _, r = team_least(value, key, values, keys, board, board_keys, turn)
            turn = 1 - turn
            mine, turn = take_group(
                by_seed, r, k, base, groups, first, mine, columns, record, slot_of, worth, near,
                label, points, total, own, chosen, target, values, keys, board, board_keys, lists,
                list_keys, group_total, group_size, turn,
            )  # fmt: skip
            budget -= k * (left + SCAN)
            groups += 1
            left -= k
        if left < k:
            mine = join_leftovers(
                base, groups, left, first, mine, columns, record, slot_of, worth, label, points,
                values, keys, board, board_keys, group_total, group_size, turn,
            )  # fmt: skip
            left = 0
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            held[b] = mine
            status[b, GROUPS] = groups
            status[b, LEFT] = left

    @cuda.jit
    def diameter(
        budget, k, by_seed, descending, all_groups, partner, points, columns, record, slot_of,
        worth, near, label, start, held, bases, status, total, own, chosen, target, board,
        board_keys, lists, list_keys, group_total, group_size,
    ):  # fmt: skip
        """The worth of a record is how far it is from its partner, negative, or farther.

        When a partner leaves, the distance stays as a bound, so only the record that comes out
        first is looked at again. Without ``all_groups`` only the first two are formed.
        """
        values = cuda.shared.array(THREADS, real)
        keys = cuda.shared.array(THREADS, "int64")
        b = cuda.blockIdx.x
        first, mine, base = start[b], held[b], bases[b]
        groups, left = status[b, GROUPS], status[b, LEFT]
        turn = 0
        while budget > 0 and left >= 2 * k and (all_groups or groups == 0):
            value, key = least_here(worth, record, first, mine, real(0))
            _, r = team_least(value, key, values, keys, board, board_keys, turn)
            turn = 1 - turn
            other = partner[r]
            budget -= left + SCAN
            if other == NONE or label[other] != NONE:
                value, key = farthest_here(columns, record, first, mine, points, r, r)
                value, other = team_least(value, key, values, keys, board, board_keys, turn)
                turn = 1 - turn
                budget -= left + SCAN
                if (not cooperative or r % cuda.gridDim.x == b) and cuda.threadIdx.x == 0:
                    worth[slot_of[r]] = value
                    partner[r] = other
                cuda.syncthreads()
                continue
            if k == 1 or descending:
                meet()  # nobody may take a record whose label another still looks up
            if descending:
                r, other = other, r
            for half in range(2):
                mine, turn = take_group(
                    by_seed, r, k, base, groups, first, mine, columns, record, slot_of, worth,
                    near, label, points, total, own, chosen, target, values, keys, board,
                    board_keys, lists, list_keys, group_total, group_size, turn,
                )  # fmt: skip
                groups += 1
                left -= k
                budget -= k * (left + SCAN)
                if half == 1:
                    break
                seed = r
                r = other
                for c in range(k):
                    if chosen[b, c] == other:
                        r = NONE
                if r == NONE:
                    value, key = farthest_here(columns, record, first, mine, points, seed, NONE)
                    _, r = team_least(value, key, values, keys, board, board_keys, turn)
                    turn = 1 - turn
                else:
                    cuda.syncthreads()
        if all_groups and left < 2 * k:
            if left >= k:
                for slot in range(first + cuda.threadIdx.x, first + mine, THREADS):
                    label[record[slot]] = base + groups
                mine = 0
                groups += 1
            else:
                mine = join_leftovers(
                    base, groups, left, first, mine, columns, record, slot_of, worth, label,
                    points, values, keys, board, board_keys, group_total, group_size, turn,
                )  # fmt: skip
            left = 0
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            held[b] = mine
            status[b, GROUPS] = groups
            status[b, LEFT] = left

    return SimpleNamespace(
        sum_up=sum_up,
        share_sum=share_sum,
        mdav=mdav,
        vmdav=vmdav,
        centroid=centroid,
        diameter=diameter,
    )
