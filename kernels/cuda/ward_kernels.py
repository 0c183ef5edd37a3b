"""Kernels of Ward's method: nearest groups found lazily, many mergers in one launch.

The scheme, and why it merges the right pair, is that of `cpu.ward_tree`: every group keeps a
pair, the first that it could make when it last looked; the first of all kept pairs is merged if
its other group is still as it was, else its owner looks again. Nothing is said of how distances
change in a merger, so rounding cannot break it. A single record leaves ties to lower groups, so
that of thousands of equal records not all keep the same one, and look again whenever it grows.

Blocks look after groups as they do after records in `chunks.py`. A group is named by its place
in the order of lowest records.
"""

from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from numba import cuda

from .arithmetic import add, product, rounded, squared_distance
from .chunks import fill_gap
from .compiled import entry
from .pairwise_kernels import EACH, TILE, place_in_tile, remainder
from .team import NONE, SIDE, THREADS, less, make_shared, make_team

# What ``near`` holds, besides a group: the group that was near has changed; NONE: no pair at all.
CHANGED = -2


class GroupSlots(NamedTuple):
    """The groups that there are, dealt out to the blocks of a team, and the pair each keeps."""

    columns: Any  # (d, groups) centroid of the group in each slot
    size: Any  # (groups,) its records
    group: Any  # (groups,) the group in each slot
    slot_of: Any  # (groups,) the slot of each group
    distance: Any  # (groups,) rise of SSE if it is merged with its nearest group
    near: Any  # (groups,) that group
    start: Any  # (blocks,) first slot of each block
    held: Any  # (blocks,) how many groups each block holds


class GroupSums(NamedTuple):
    """Sums of the groups' records; the last column of a total counts them."""

    total: Any  # (groups, 3, d + 1)
    own: Any  # (blocks, 3, d + 1) of the group last dealt with
    target: Any  # (blocks, d) its centroid


@cuda.jit(device=True)
def rise_of_sse(n, m, squared):
    """Rise of SSE if groups of n and m records are merged (2002, Appendix II)."""
    return n * m / (n + m) * squared


@cuda.jit(device=True)
def rank(other, floor, groups):
    """A number that orders groups that are equally near to one: the lowest above a floor first.

    The floor is the group itself if it is a single record, else NONE.
    """
    return other if other > floor else other + groups


@cuda.jit(device=True)
def pair_key(group, near, groups):
    """A number that orders pairs by lower, then higher group, all above a group's own number."""
    if group < near:
        return (group + 1) * groups + near
    return (near + 1) * groups + group


@cuda.jit(device=True)
def offer(slot, slots, best, key, groups):
    """The pair kept in a slot if it comes before the best; a group that must look before both."""
    distance = slots.distance
    near = slots.near[slot]
    if near != NONE and (key == NONE or distance[slot] <= best):
        g = slots.group[slot]
        code = g if near == CHANGED else pair_key(g, near, groups)
        if less(distance[slot], code, best, key):
            return distance[slot], code
    return best, key


@cuda.jit(device=True)
def leave(j, first, held, slots):
    """Remove group j from the slots of its block; the last group moves to its place."""
    slot, last = fill_gap(j, first, held, slots.columns, slots.group, slots.slot_of)
    if cuda.threadIdx.x == 0:
        slots.size[slot] = slots.size[last]
        slots.distance[slot] = slots.distance[last]
        slots.near[slot] = slots.near[last]
    cuda.syncthreads()


@lru_cache
def make_start_kernels(real):
    """The kernels that prepare groups of points of type ``real``."""

    @entry(real)
    def sum_up(points, member, begin, slots, total):
        """Totals, centroids and sizes of groups; ``member[begin[g]:begin[g + 1]]`` are in g.

        The last column of a total counts the records.
        """
        d = points.shape[1]
        for e in range(cuda.grid(1), slots.size.shape[0] * d, cuda.gridsize(1)):
            g = e // d
            v = e % d
            slot = slots.slot_of[g]
            count = real(begin[g + 1] - begin[g])
            for part in range(3):
                total[g, part, v] = real(0)
            for m in range(begin[g], begin[g + 1]):
                add(total, g, v, points[member[m], v])
            slots.columns[v, slot] = rounded(total, g, v) / count
            if v == 0:
                slots.size[slot] = count
                total[g, 0, d] = count
                total[g, 1, d] = real(0)
                total[g, 2, d] = real(0)

    @cuda.jit(device=True)
    def stage(columns, first, variable, tile):
        """Bring SIDE variables of TILE groups to shared memory."""
        x, y = place_in_tile()
        for i in range(EACH):
            slot = first + x + i * SIDE
            if variable + y < columns.shape[0] and slot < columns.shape[1]:
                tile[y, x + i * SIDE] = columns[variable + y, slot]
            else:
                tile[y, x + i * SIDE] = real(0)

    @entry(real)
    def find_first(first, k, slots):
        """The pair that each group keeps at first; a block compares TILE groups with all.

        Tiles and threads as in `pairwise_kernels`: arithmetic bounds it.
        """
        rows = cuda.shared.array((SIDE, TILE), real)
        others = cuda.shared.array((SIDE, TILE), real)
        values = cuda.shared.array(THREADS, real)
        keys = cuda.shared.array(THREADS, "int64")
        squared = cuda.local.array((EACH, EACH), real)
        best = cuda.local.array(EACH, real)
        key = cuda.local.array(EACH, "int64")
        x, y = place_in_tile()
        columns, size, group = slots.columns, slots.size, slots.group
        d, groups = columns.shape
        row = (first + cuda.blockIdx.x) * TILE
        enough = real(k)
        for i in range(EACH):
            key[i] = NONE
        for column in range(0, groups, TILE):
            for i in range(EACH):
                for j in range(EACH):
                    squared[i, j] = real(0)
            for variable in range(0, d, SIDE):
                cuda.syncthreads()
                stage(columns, row, variable, rows)
                stage(columns, column, variable, others)
                cuda.syncthreads()
                for v in range(min(SIDE, d - variable)):
                    line = remainder(v, SIDE)
                    for i in range(EACH):
                        for j in range(EACH):
                            difference = rows[line, y + i * SIDE] - others[line, x + j * SIDE]
                            squared[i, j] += product(difference, difference)
            for i in range(EACH):
                slot = row + y + i * SIDE
                for j in range(EACH):
                    other = column + x + j * SIDE
                    if slot < groups and other < groups and slot != other:
                        n = size[slot]
                        m = size[other]
                        rise = rise_of_sse(n, m, squared[i, j])
                        if (n < enough or m < enough) and (key[i] == NONE or rise <= best[i]):
                            floor = group[slot] if n == real(1) else NONE
                            code = rank(group[other], floor, groups)
                            if less(rise, code, best[i], key[i]):
                                best[i] = rise
                                key[i] = code
        for i in range(EACH):
            cuda.syncthreads()
            values[cuda.threadIdx.x] = best[i]
            keys[cuda.threadIdx.x] = key[i]
            cuda.syncthreads()
            slot = row + y + i * SIDE
            if x == 0 and slot < groups:
                for p in range(cuda.threadIdx.x + 1, cuda.threadIdx.x + SIDE):
                    if keys[p] != NONE and less(values[p], keys[p], best[i], key[i]):
                        best[i] = values[p]
                        key[i] = keys[p]
                slots.distance[slot] = best[i]
                slots.near[slot] = key[i] - groups if key[i] >= groups else key[i]

    return SimpleNamespace(sum_up=sum_up, find_first=find_first)


@lru_cache
def make_kernels(real, cooperative):
    """The kernel of the mergers for points of type ``real``, a team being the grid or a block."""
    team = make_team(cooperative)
    team_sync, show, read, team_least = team.team_sync, team.show, team.read, team.team_least
    shared_arrays = make_shared(real)

    @cuda.jit(device=True)
    def belongs(g):
        """Whether this block looks after a group."""
        return not cooperative or g % cuda.gridDim.x == cuda.blockIdx.x

    @cuda.jit(device=True)
    def settle(last, sums):
        """Write down the total of the group that was last dealt with, if it is this block's."""
        if last != NONE and belongs(last):
            for v in range(cuda.threadIdx.x, sums.total.shape[2], THREADS):
                for part in range(3):
                    sums.total[last, part, v] = sums.own[cuda.blockIdx.x, part, v]

    @cuda.jit(device=True)
    def add_up(i, j, last, sums):
        """Make ``own`` the total of groups i and j together, or of group i if j is i.

        Each block has in ``own`` the total of the group last dealt with. The block that looks
        after that group writes it to ``total`` only now, after a meeting; nobody reads it there
        in this step.
        """
        b = cuda.blockIdx.x
        total, own = sums.total, sums.own
        if i != last and j != last:
            settle(last, sums)
            for v in range(cuda.threadIdx.x, total.shape[2], THREADS):
                for part in range(3):
                    own[b, part, v] = total[i, part, v]
        if i != j:
            other = i if j == last else j
            for v in range(cuda.threadIdx.x, total.shape[2], THREADS):
                for part in range(3):
                    add(own, b, v, total[other, part, v])

    @entry(real, cooperative)
    def merge(steps, k, slots, sums, into, left, board):
        """Merge first pairs until no group has fewer than k records, in a limited number of steps.

        A step deals with one group, i: merged with j, or by itself if it must look again. All
        groups are compared with it, and in the same pass the first pair of the others is found,
        so that blocks meet once a step.
        """
        shared = shared_arrays()
        columns, size, group, near = slots.columns, slots.size, slots.group, slots.near
        total, own, target = sums.total, sums.own, sums.target
        t = cuda.threadIdx.x
        b = cuda.blockIdx.x
        enough = real(k)
        groups = size.shape[0]
        counts = total.shape[2] - 1
        first = slots.start[b]
        mine = slots.held[b]
        small = left[b]
        last = NONE
        last_count = enough
        value = enough
        key = NONE
        for slot in range(first + t, first + mine, THREADS):
            value, key = offer(slot, slots, value, key, groups)
        value, key = team_least(value, key, shared, board, 0)
        for step in range(1, steps + 1):
            if small == 0 or key == NONE:
                break
            i = key if key < groups else key // groups - 1
            j = key if key < groups else key % groups
            count = last_count if i == last else total[i, 0, counts]
            if i != j:
                other = last_count if j == last else total[j, 0, counts]
                small -= (1 if count < enough else 0) + (1 if other < enough else 0)
                count += other
                small += 1 if count < enough else 0
                if belongs(j):
                    leave(j, first, mine, slots)
                    mine -= 1
                    if t == 0:
                        into[j] = i
            add_up(i, j, last, sums)
            at = slots.slot_of[i] if belongs(i) else NONE
            for v in range(t, counts, THREADS):
                target[b, v] = rounded(own, b, v) / count
                if at != NONE:
                    columns[v, at] = target[b, v]
            if at != NONE and t == 0:
                size[at] = count
            cuda.syncthreads()

            floor = i if count == real(1) else NONE
            best = enough
            best_key = NONE
            key = NONE
            for slot in range(first + t, first + mine, THREADS):
                if slot == at:
                    continue
                other = size[slot]
                if count < enough or other < enough:
                    rise = rise_of_sse(count, other, squared_distance(columns, slot, target, b))
                    if best_key == NONE or rise <= best:
                        code = rank(group[slot], floor, groups)
                        if less(rise, code, best, best_key):
                            best = rise
                            best_key = code
                if i != j and (near[slot] == i or near[slot] == j):
                    near[slot] = CHANGED
                value, key = offer(slot, slots, value, key, groups)
            row = step % 2 * 2
            best, best_key = show(best, best_key, shared, board, row)
            value, key = show(value, key, shared, board, row + 1)
            team_sync()
            best, best_key = read(best, best_key, shared, board, row)
            value, key = read(value, key, shared, board, row + 1)
            if best_key >= groups:
                best_key -= groups
            if at != NONE and t == 0:
                slots.distance[at] = best
                near[at] = best_key
            if best_key != NONE:
                code = pair_key(i, best_key, groups)
                if less(best, code, value, key):
                    value = best
                    key = code
            last = i
            last_count = count
        settle(last, sums)
        if t == 0:
            slots.held[b] = mine
            left[b] = small

    return SimpleNamespace(merge=merge)
