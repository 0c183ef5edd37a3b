"""Kernels of the methods that take groups from a shrinking set: the whole loop in one launch.

Each is the text of `generic.fixed_size` for a team of blocks (`team.py`) over the records they
look after (`chunks.py`). A launch goes on until it has looked at about ``budget`` records and
leaves ``held`` and ``status`` for the next one, so that the host hears of progress.
"""

from functools import lru_cache
from types import SimpleNamespace

from numba import cuda

from .arithmetic import add, product, squared_distance
from .chunks import add_record, aim_at_centroid, clear, farthest_here, least_here, nearest_here
from .fixed_steps import make_steps
from .sums import add_up, begin
from .team import NONE, THREADS, less, make_team

# What status holds for each block: groups formed, records left in the team.
GROUPS, LEFT = range(2)
# What a scan costs besides looking at records, as a number of records: meeting and reducing.
SCAN = 1 << 17


@lru_cache
def make_kernels(real, cooperative):
    """The kernels for points of type ``real``, a team being the grid or a block."""
    meet, team_least = make_team(cooperative)

    steps = make_steps(real, cooperative, meet, team_least)
    take, take_nearest = steps.take, steps.take_nearest
    belongs, closest_group = steps.belongs, steps.closest_group

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
    def join_leftovers(
        k, points, columns, record, slot_of, worth, near, label, start, held, bases, status,
        total, own, chosen, target, board, board_keys, lists, list_keys, group_total, group_size,
    ):  # fmt: skip
        """Make a group of the records left if they are enough; else each joins a group.

        In index order, the one whose centroid is closest, which moves as records join.
        """
        values = cuda.shared.array(THREADS, real)
        keys = cuda.shared.array(THREADS, "int64")
        b = cuda.blockIdx.x
        first, mine, base = start[b], held[b], bases[b]
        groups, left = status[b, GROUPS], status[b, LEFT]
        turn = 0
        if left >= k:
            for slot in range(first + cuda.threadIdx.x, first + mine, THREADS):
                label[record[slot]] = base + groups
            left = 0
        while left > 0:
            key = NONE
            for slot in range(first + cuda.threadIdx.x, first + mine, THREADS):
                if key == NONE or record[slot] < key:
                    key = record[slot]
            _, r = team_least(real(0), key, values, keys, board, board_keys, turn)
            turn = 1 - turn
            value, key = closest_group(base, groups, group_total, group_size, points, r)
            _, g = team_least(value, key, values, keys, board, board_keys, turn)
            turn = 1 - turn
            mine = take(r, g, first, mine, columns, record, slot_of, worth, label)
            if belongs(g):
                add_record(group_total, g, points, r)
                if cuda.threadIdx.x == 0:
                    group_size[g] += 1
            cuda.syncthreads()
            left -= 1

    def make_loops(take_group):
        """The two loops that form groups around extreme records, in a way that is given."""

        @cuda.jit
        def centroid(
            budget, k, points, columns, record, slot_of, worth, near, label, start, held,
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
                mine, turn = take_group(
                    r, k, base, groups, first, mine, columns, record, slot_of, worth, near,
                    label, points, total, own, chosen, target, values, keys, board, board_keys,
                    lists, list_keys, group_total, group_size, 1 - turn,
                )  # fmt: skip
                budget -= k * (left + SCAN)
                groups += 1
                left -= k
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                held[b] = mine
                status[b, GROUPS] = groups
                status[b, LEFT] = left

        @cuda.jit
        def diameter(
            budget, k, descending, most, partner, points, columns, record, slot_of,
            worth, near, label, start, held, bases, status, total, own, chosen, target, board,
            board_keys, lists, list_keys, group_total, group_size,
        ):  # fmt: skip
            """The worth of a record is how far it is from its partner, negative, or farther.

            When a partner leaves, the distance stays as a bound, so only the record that comes
            out first is looked at again. It forms ``most`` groups. No condition of the loop stays
            the same all the time: the compiler would make a copy of it for each such.
            """
            values = cuda.shared.array(THREADS, real)
            keys = cuda.shared.array(THREADS, "int64")
            b = cuda.blockIdx.x
            first, mine, base = start[b], held[b], bases[b]
            groups, left = status[b, GROUPS], status[b, LEFT]
            turn = 0
            seed = NONE  # of the first of two groups, while the second is to come
            other = NONE  # its partner, the seed of the second
            look = NONE  # a record to find the farthest from
            while seed != NONE or look != NONE or (budget > 0 and left >= 2 * k and groups < most):
                begins = seed == NONE
                value = real(0)
                r = other
                if begins or look != NONE:
                    if look == NONE:
                        value, r = least_here(worth, record, first, mine, real(0))
                    else:
                        value, r = farthest_here(columns, record, first, mine, points, look, look)
                    value, r = team_least(value, r, values, keys, board, board_keys, turn)
                    turn = 1 - turn
                    budget -= left + SCAN
                if begins and look != NONE:  # its partner had left
                    keeps = not cooperative or look % cuda.gridDim.x == b
                    if keeps and cuda.threadIdx.x == 0:
                        worth[slot_of[look]] = value
                        partner[look] = r
                    cuda.syncthreads()
                    look = NONE
                    continue
                look = NONE
                if begins:
                    other = partner[r]
                    if other == NONE or label[other] != NONE:
                        look = r
                        continue
                    meet()  # nobody may take a record whose label another still looks up
                    pair = r + other
                    r = other if descending else r
                    other = pair - r
                mine, turn = take_group(
                    r, k, base, groups, first, mine, columns, record, slot_of, worth, near,
                    label, points, total, own, chosen, target, values, keys, board,
                    board_keys, lists, list_keys, group_total, group_size, turn,
                )  # fmt: skip
                groups += 1
                left -= k
                budget -= k * (left + SCAN)
                seed = r if begins else NONE
                if begins:
                    for c in range(k):
                        if chosen[b, c] == other:
                            look = seed
                    cuda.syncthreads()
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                held[b] = mine
                status[b, GROUPS] = groups
                status[b, LEFT] = left

        return centroid, diameter

    centroid, diameter = make_loops(steps.group_by_centroid)
    centroid_by_seed, diameter_by_seed = make_loops(steps.group_by_seed)
    return SimpleNamespace(
        sum_up=sum_up,
        share_sum=share_sum,
        mdav=mdav,
        vmdav=vmdav,
        centroid=centroid,
        centroid_by_seed=centroid_by_seed,
        diameter=diameter,
        diameter_by_seed=diameter_by_seed,
        join_leftovers=join_leftovers,
    )
