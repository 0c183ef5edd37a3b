"""Kernels of the methods that take groups from a shrinking set: the whole loop in one launch.

Each is the text of `generic.fixed_size` for a team of blocks (`team.py`) over the records they
look after (`chunks.py`). A launch goes on until it has looked at about ``budget`` records and
leaves ``slots.held`` and ``groups.status`` for the next one, so that the host hears of progress.
"""

from functools import lru_cache
from types import SimpleNamespace

from numba import cuda

from .arithmetic import add, product, squared_distance
from .chunks import add_record, aim_at_centroid, clear, farthest_here, least_here, nearest_here
from .compiled import entry
from .fixed_steps import make_steps
from .sums import add_up, begin
from .team import NONE, THREADS, less, make_shared, make_team

# What status holds for each block: groups formed, records left in the team.
GROUPS, LEFT = range(2)
# What a scan costs besides looking at records, as a number of records: meeting and reducing.
SCAN = 1 << 17


@lru_cache
def make_kernels(real, cooperative):
    """The kernels for points of type ``real``, a team being the grid or a block."""
    team = make_team(cooperative)
    team_sync, team_least = team.team_sync, team.team_least
    shared_arrays = make_shared(real)
    steps = make_steps(real, cooperative, team)
    take, take_nearest = steps.take, steps.take_nearest
    belongs, closest_group = steps.belongs, steps.closest_group

    @entry(real, cooperative)
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

    @entry(real, cooperative)
    def share_sum(parts, total):
        """Give every block of a team the sum of all."""
        b = cuda.blockIdx.x
        clear(total, b)
        for j in range(cuda.threadIdx.x, total.shape[2], THREADS):
            for other in range(parts.shape[0]):
                for part in range(3):
                    add(total, b, j, parts[other, part, j])

    @cuda.jit(device=True)
    def open_books(slots, groups):
        """This block's first slot, records held, first group, groups formed and records left."""
        b = cuda.blockIdx.x
        count, left = groups.status[b, GROUPS], groups.status[b, LEFT]
        return slots.start[b], slots.held[b], groups.base[b], count, left

    @cuda.jit(device=True)
    def close_books(held, count, left, slots, groups):
        """Leave what this block knows for the next launch."""
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            b = cuda.blockIdx.x
            slots.held[b] = held
            groups.status[b, GROUPS] = count
            groups.status[b, LEFT] = left

    @entry(real, cooperative)
    def mdav(budget, k, slots, sums, lists, groups, board):
        shared = shared_arrays()
        b = cuda.blockIdx.x
        first, mine, base, count, left = open_books(slots, groups)
        turn = 0
        r = NONE
        while budget > 0 and left >= 2 * k:
            for half in range(2 if left >= 3 * k else 1):
                if half == 0:
                    aim_at_centroid(sums.target, sums.total, b, real(left))
                    value, key = farthest_here(slots, first, mine, sums.target, b, NONE)
                else:
                    value, key = farthest_here(slots, first, mine, slots.points, r, NONE)
                _, r = team_least(value, key, shared, board, turn)
                mine = take_nearest(
                    r, k, base + count, first, mine, slots, sums, lists, groups.label, shared, turn
                )
                turn = 1 - turn
                budget -= 2 * (left + SCAN)
                count += 1
                left -= k
        close_books(mine, count, left, slots, groups)

    @cuda.jit(device=True)
    def nearer_to_group(r, first, held, slots, anew):
        """Bring the distances to a group up to date with its member r; the nearest record."""
        worth = slots.worth
        record = slots.record
        best = real(0)
        key = NONE
        for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
            distance = squared_distance(slots.columns, slot, slots.points, r)
            if anew or distance < worth[slot]:
                worth[slot] = distance
            if less(worth[slot], record[slot], best, key):
                best = worth[slot]
                key = record[slot]
        return best, key

    @entry(real, cooperative)
    def vmdav(budget, k, gamma, centroid, slots, sums, lists, groups, board):
        """The centroid is that of all records, for good."""
        shared = shared_arrays()
        b = cuda.blockIdx.x
        first, mine, base, count, left = open_books(slots, groups)
        turn = 0
        while budget > 0 and left >= k:
            value, key = farthest_here(slots, first, mine, centroid, 0, NONE)
            _, e = team_least(value, key, shared, board, turn)
            mine = take_nearest(
                e, k, base + count, first, mine, slots, sums, lists, groups.label, shared, turn
            )
            turn = 1 - turn
            budget -= 2 * (left + SCAN)
            left -= k
            if k > 1 and left > 0:
                for c in range(k):
                    value, key = nearer_to_group(sums.chosen[b, c], first, mine, slots, c == 0)
            size = k
            while size < 2 * k - 1 and left > 0:
                d_in, e = team_least(value, key, shared, board, turn)
                turn = 1 - turn
                value, key = nearest_here(slots, first, mine, slots.points, e, e)
                d_out, other = team_least(value, key, shared, board, turn)
                turn = 1 - turn
                budget -= 2 * (left + SCAN)
                # With no other record left, its distance is infinite.
                if not (gamma > real(0) if other == NONE else d_in <= product(gamma, d_out)):
                    break
                mine = take(e, base + count, first, mine, slots, groups.label)
                size += 1
                left -= 1
                value, key = nearer_to_group(e, first, mine, slots, False)
            count += 1
        close_books(mine, count, left, slots, groups)

    @entry(real, cooperative)
    def join_leftovers(k, slots, groups, board):
        """Make a group of the records left if they are enough; else each joins a group.

        In index order, the one whose centroid is closest, which moves as records join.
        """
        shared = shared_arrays()
        first, mine, base, count, left = open_books(slots, groups)
        turn = 0
        if left >= k:
            for slot in range(first + cuda.threadIdx.x, first + mine, THREADS):
                groups.label[slots.record[slot]] = base + count
            left = 0
        while left > 0:
            key = NONE
            for slot in range(first + cuda.threadIdx.x, first + mine, THREADS):
                if key == NONE or slots.record[slot] < key:
                    key = slots.record[slot]
            _, r = team_least(real(0), key, shared, board, turn)
            turn = 1 - turn
            value, key = closest_group(base, count, groups, slots.points, r)
            _, g = team_least(value, key, shared, board, turn)
            turn = 1 - turn
            mine = take(r, g, first, mine, slots, groups.label)
            if belongs(g):
                add_record(groups.total, g, slots.points, r)
                if cuda.threadIdx.x == 0:
                    groups.size[g] += 1
            cuda.syncthreads()
            left -= 1

    def make_loops(take_group):
        """The two loops that form groups around extreme records, in a way that is given."""

        @entry(real, cooperative, take_group.__name__)
        def centroid(budget, k, slots, sums, lists, groups, board):
            shared = shared_arrays()
            b = cuda.blockIdx.x
            first, mine, base, count, left = open_books(slots, groups)
            turn = 0
            while budget > 0 and left >= k:
                aim_at_centroid(sums.target, sums.total, b, real(left))
                value, key = farthest_here(slots, first, mine, sums.target, b, NONE)
                _, r = team_least(value, key, shared, board, turn)
                turn = 1 - turn
                mine, turn = take_group(
                    r, k, base + count, first, mine, slots, sums, lists, groups, shared, board, turn
                )
                budget -= k * (left + SCAN)
                count += 1
                left -= k
            close_books(mine, count, left, slots, groups)

        @entry(real, cooperative, take_group.__name__)
        def diameter(budget, k, descending, most, partner, slots, sums, lists, groups, board):
            """The worth of a record is how far it is from its partner, negative, or farther.

            When a partner leaves, the distance stays as a bound, so only the record that comes
            out first is looked at again. It forms ``most`` groups. No condition of the loop stays
            the same all the time: the compiler would make a copy of it for each such.
            """
            shared = shared_arrays()
            b = cuda.blockIdx.x
            first, mine, base, count, left = open_books(slots, groups)
            turn = 0
            seed = NONE  # of the first of two groups, while the second is to come
            other = NONE  # its partner, the seed of the second
            look = NONE  # a record to find the farthest from
            while seed != NONE or look != NONE or (budget > 0 and left >= 2 * k and count < most):
                begins = seed == NONE
                value = real(0)
                r = other
                if begins or look != NONE:
                    if look == NONE:
                        value, r = least_here(slots, first, mine, real(0))
                    else:
                        value, r = farthest_here(slots, first, mine, slots.points, look, look)
                    value, r = team_least(value, r, shared, board, turn)
                    turn = 1 - turn
                    budget -= left + SCAN
                if begins and look != NONE:  # its partner had left
                    keeps = not cooperative or look % cuda.gridDim.x == b
                    if keeps and cuda.threadIdx.x == 0:
                        slots.worth[slots.slot_of[look]] = value
                        partner[look] = r
                    cuda.syncthreads()
                    look = NONE
                    continue
                look = NONE
                if begins:
                    other = partner[r]
                    if other == NONE or groups.label[other] != NONE:
                        look = r
                        continue
                    team_sync()  # nobody may take a record whose label another still looks up
                    pair = r + other
                    r = other if descending else r
                    other = pair - r
                mine, turn = take_group(
                    r, k, base + count, first, mine, slots, sums, lists, groups, shared, board, turn
                )
                count += 1
                left -= k
                budget -= k * (left + SCAN)
                seed = r if begins else NONE
                if begins:
                    for c in range(k):
                        if sums.chosen[b, c] == other:
                            look = seed
                    cuda.syncthreads()
            close_books(mine, count, left, slots, groups)

        return centroid, diameter

    centroid, diameter = make_loops(steps.group_by_centroid)
    centroid_by_seed, diameter_by_seed = make_loops(steps.group_by_seed)
    return SimpleNamespace(
        sum_up=sum_up, share_sum=share_sum, mdav=mdav, vmdav=vmdav, join_leftovers=join_leftovers,
        centroid=centroid, centroid_by_seed=centroid_by_seed,
        diameter=diameter, diameter_by_seed=diameter_by_seed,
    )  # fmt: skip
