"""Full scans of the methods in Numba on one core: what `benchmarks.scaling` compares with.

Each looks at all records that remain at every step, keeps them close together in memory (row by
row, the last one in the place of one that leaves) and returns the same groups as the library.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from microagg_gpu.data.labels import labels_from_groups
from microagg_gpu.kernels import generic

FAR, NEAR = 1.0, -1.0


@njit(cache=True, nogil=True)
def _squared_distance(a, i, b, j):
    """Of row i of a matrix to row j of another: difference form, variables in order."""
    total = 0.0
    for v in range(a.shape[1]):
        difference = a[i, v] - b[j, v]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True, nogil=True)
def _add(total, rows, p, sign):
    """Add a row to sums carried as high + low, so that they are correctly rounded."""
    for v in range(rows.shape[1]):
        s, rest = _two_sum(total[0, v], sign * rows[p, v])
        total[0, v], total[1, v] = _two_sum(s, rest + total[1, v])


@njit(cache=True, nogil=True)
def _start(points):
    """The shrinking set: rows, their records, the sums of the rows."""
    total = np.zeros((2, points.shape[1]))
    for p in range(len(points)):
        _add(total, points, p, 1.0)
    return points.copy(), np.arange(len(points)), total


@njit(cache=True, nogil=True)
def _take(rows, index, total, m, p):
    """Remove the row at a place of the first m; return how many are left."""
    _add(total, rows, p, -1.0)
    m -= 1
    for v in range(rows.shape[1]):
        rows[p, v] = rows[m, v]
    index[p] = index[m]
    return m


@njit(cache=True, nogil=True)
def _extreme(rows, index, m, target, sign):
    """Place of the record farthest from (or nearest to) a point, of equals the lowest record."""
    best, place = -np.inf, 0
    for p in range(m):
        value = sign * _squared_distance(rows, p, target, 0)
        if value > best or (value == best and index[p] < index[place]):
            best, place = value, p
    return place


@njit(cache=True, nogil=True)
def _take_nearest(rows, index, total, m, place, k, group):
    """Remove a record and the k - 1 nearest to it; `group` takes their numbers."""
    target = rows[place : place + 1].copy()
    group[0] = index[place]
    m = _take(rows, index, total, m, place)
    near, places, found = np.full(k, np.inf), np.zeros(k, dtype=np.int64), 0
    for p in range(m):
        squared = _squared_distance(rows, p, target, 0)
        if squared > near[k - 2] or k == 1:
            continue
        at = min(found, k - 1)
        while at and (
            squared < near[at - 1] or (squared == near[at - 1] and index[p] < index[places[at - 1]])
        ):
            near[at], places[at] = near[at - 1], places[at - 1]
            at -= 1
        near[at], places[at] = squared, p
        found = min(found + 1, k - 1)
    for i in range(k - 1):
        group[1 + i] = index[places[i]]
    for p in np.sort(places[: k - 1])[::-1]:  # the last row moves: from the highest place on
        m = _take(rows, index, total, m, p)
    return m


@njit(cache=True, nogil=True)
def _take_gathered(rows, index, total, m, place, k, group):
    """Remove a record and, k - 1 times, the nearest to the growing group's centroid."""
    own, centre = np.zeros((2, rows.shape[1])), np.empty((1, rows.shape[1]))
    for size in range(1, k + 1):
        group[size - 1] = index[place]
        _add(own, rows, place, 1.0)
        m = _take(rows, index, total, m, place)
        if size < k:
            for v in range(rows.shape[1]):
                centre[0, v] = own[0, v] / size
            place = _extreme(rows, index, m, centre, NEAR)
    return m


@njit(cache=True, nogil=True)
def _mdav(points, k):
    rows, index, total = _start(points)
    m, made = len(points), 0
    groups = np.zeros((m // k + 1, k), dtype=np.int64)
    while m >= 2 * k:
        both = m >= 3 * k
        r = _extreme(rows, index, m, total[:1] / m, FAR)
        target = rows[r : r + 1].copy()
        m = _take_nearest(rows, index, total, m, r, k, groups[made])
        made += 1
        if not both:
            break
        s = _extreme(rows, index, m, target, FAR)
        m = _take_nearest(rows, index, total, m, s, k, groups[made])
        made += 1
    return groups[:made], index[:m]


def mdav(points: np.ndarray, k: int) -> np.ndarray:
    """MDAV; see `microagg_gpu.methods.fixed_size.mdav`."""
    groups, rest = _mdav(points, k)
    return labels_from_groups([*groups, rest], len(points))


@njit(cache=True, nogil=True)
def _nearest_to_members(points, rows, index, m, group, size):
    """Place of the record nearest to any of a group's records, and its squared distance."""
    best, place = np.inf, 0
    for p in range(m):
        for member in group[:size]:
            squared = _squared_distance(rows, p, points, member)
            if squared < best or (squared == best and index[p] < index[place]):
                best, place = squared, p
    return place, best


@njit(cache=True, nogil=True)
def _vmdav(points, k, gamma):
    rows, index, total = _start(points)
    m, made = len(points), 0
    groups = np.full((m // k, 2 * k), -1)
    centre = total[:1] / m
    while m >= k:
        e = _extreme(rows, index, m, centre, FAR)
        m = _take_nearest(rows, index, total, m, e, k, groups[made, :k])
        size = k
        while size < 2 * k - 1 and m:
            p, inside = _nearest_to_members(points, rows, index, m, groups[made], size)
            outside = np.inf
            for q in range(m):
                if q != p:
                    outside = min(outside, _squared_distance(rows, q, rows, p))
            if not inside <= gamma * outside:
                break
            groups[made, size] = index[p]
            m = _take(rows, index, total, m, p)
            size += 1
        made += 1
    return groups[:made], index[:m]


def vmdav(points: np.ndarray, k: int) -> np.ndarray:
    """V-MDAV with gamma 0.2; see `microagg_gpu.methods.fixed_size.vmdav`."""
    found, rest = _vmdav(points, k, 0.2)
    groups = [group[group >= 0].tolist() for group in found]
    generic.join_nearest_records(points, groups, rest.tolist())
    return labels_from_groups(groups, len(points))


@njit(cache=True, nogil=True)
def _centroid(points, k):
    rows, index, total = _start(points)
    m, made = len(points), 0
    groups = np.zeros((m // k, k), dtype=np.int64)
    while m >= k:
        place = _extreme(rows, index, m, total[:1] / m, FAR)
        m = _take_gathered(rows, index, total, m, place, k, groups[made])
        made += 1
    return groups, index[:m]


def centroid(points: np.ndarray, k: int) -> np.ndarray:
    """C, the centroid method; see `microagg_gpu.methods.fixed_size.centroid`."""
    return _join_rest(points, *_centroid(points, k))


def _join_rest(points: np.ndarray, found: np.ndarray, rest: np.ndarray) -> np.ndarray:
    groups = found.tolist()
    generic.join_closest_groups(points, groups, rest.tolist())
    return labels_from_groups(groups, len(points))


@njit(cache=True, nogil=True)
def _partners(points):
    """The farthest record from each, of equals the lowest, and the squared distance."""
    n = len(points)
    reach, partner = np.full(n, -1.0), np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            squared = _squared_distance(points, i, points, j)
            if squared > reach[i]:
                reach[i], partner[i] = squared, j
            if squared > reach[j]:
                reach[j], partner[j] = squared, i
    return reach, partner


@njit(cache=True, nogil=True)
def _place_of(rows, index, m, record, otherwise):
    """Place of a record; if it was taken, of the one farthest from another point."""
    for p in range(m):
        if index[p] == record:
            return p
    return _extreme(rows, index, m, otherwise, FAR)


@njit(cache=True, nogil=True)
def _diameter(points, k):
    """With the farthest partner of each record kept while it is there, then as a bound."""
    rows, index, total = _start(points)
    m, made = len(points), 0
    groups = np.zeros((m // k + 1, k), dtype=np.int64)
    reach, partner = _partners(points)
    there = np.ones(m, dtype=np.bool_)
    while m >= 2 * k:
        while True:
            place = 0
            for p in range(1, m):
                a, b = index[p], index[place]
                if reach[a] > reach[b] or (reach[a] == reach[b] and a < b):
                    place = p
            a = index[place]
            if there[partner[a]]:
                break
            b = _extreme(rows, index, m, points[a : a + 1], FAR)
            if b == place:  # all are equal to a, and the lowest: its partner is the next lowest
                b = 1 if place == 0 else 0
                for p in range(m):
                    b = p if p != place and index[p] < index[b] else b
            reach[a], partner[a] = _squared_distance(rows, b, points, a), index[b]
        other = partner[a]
        for one in (a, other):
            place = _place_of(rows, index, m, one, points[a : a + 1])
            m = _take_gathered(rows, index, total, m, place, k, groups[made])
            there[groups[made]] = False
            made += 1
    return groups[:made], index[:m]


def diameter(points: np.ndarray, k: int) -> np.ndarray:
    """D, the diameter method; see `microagg_gpu.methods.fixed_size.diameter`."""
    found, rest = _diameter(points, k)
    if len(rest) >= k:
        return labels_from_groups([*found, rest], len(points))
    return _join_rest(points, found, rest)


@njit(cache=True, nogil=True)
def _prim(points):
    """Prim's method, with the edge order (squared length, lower end, higher end)."""
    n = len(points)
    rows, index, m = points.copy(), np.arange(n), n
    length, other = np.full(n, np.inf), np.full(n, n)
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    place = 0
    for step in range(n - 1):
        vertex = index[place]
        m -= 1
        rows[place], index[place] = rows[m], index[m]
        length[place], other[place] = length[m], other[m]
        low, high, shortest = n, n, np.inf
        for p in range(m):
            squared = _squared_distance(rows, p, points, vertex)
            if squared < length[p] or (squared == length[p] and vertex < other[p]):
                length[p], other[p] = squared, vertex
            if length[p] <= shortest:
                i, j = min(index[p], other[p]), max(index[p], other[p])
                if length[p] < shortest or i < low or (i == low and j < high):
                    low, high, shortest, place = i, j, length[p], p
        edges[step, 0], edges[step, 1], lengths[step] = low, high, shortest
    return edges, lengths


def mst(points: np.ndarray, k: int) -> np.ndarray:
    """M: Prim's method, cut by the generic engine."""
    edges, lengths = _prim(points)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return generic.cut_edges(edges[order], lengths[order], len(points), k)


@njit(cache=True, nogil=True)
def _find_nearest(rows, index, sizes, m, i, k, rises, near, near_size):
    """Keep for the group at place i the group whose merger raises SSE least, small with any."""
    best, nearest = np.inf, len(rows)
    for p in range(m):
        if p != i and (sizes[p] < k or sizes[i] < k):
            rise = sizes[i] * sizes[p] / (sizes[i] + sizes[p])
            rise *= _squared_distance(rows, p, rows, i)
            if rise < best or (rise == best and index[p] < nearest):
                best, nearest, near_size[i] = rise, index[p], sizes[p]
    rises[i], near[i] = best, nearest


@njit(cache=True, nogil=True)
def _merge(points, first, second, k):
    """Ward's method until no group is below k; each record's group, named by its lowest.

    Each group keeps the nearest at the time it looked. The least of these is a pair to merge if
    the other group is still as it was; else its owner looks again.
    """
    n, d = points.shape
    into = np.arange(n)
    into[first], into[second] = first.min(), second.min()
    names = np.flatnonzero(into == np.arange(n))
    m = len(names)
    place = np.full(n, -1)
    place[names] = np.arange(m)
    total, sizes = np.zeros((m, 2, d)), np.zeros(m)
    for r in range(n):
        _add(total[place[into[r]]], points, r, 1.0)
        sizes[place[into[r]]] += 1.0
    rows = total[:, 0] / sizes.reshape(m, 1)
    rises, near, near_size = np.full(m, np.inf), np.full(m, n), np.zeros(m)
    for p in range(m):
        _find_nearest(rows, names, sizes, m, p, k, rises, near, near_size)
    while True:
        best, low, high, i = np.inf, n, n, -1
        for p in range(m):
            if rises[p] <= best and rises[p] < np.inf:
                a, b = min(names[p], near[p]), max(names[p], near[p])
                if rises[p] < best or a < low or (a == low and b < high):
                    best, low, high, i = rises[p], a, b, p
        if i < 0:
            break
        if place[near[i]] >= 0 and sizes[place[near[i]]] == near_size[i]:
            i, j = place[low], place[high]
            into[high], place[high] = low, -1
            sizes[i] += sizes[j]
            _add(total[i], total[j], 0, 1.0)
            _add(total[i], total[j], 1, 1.0)
            rows[i] = total[i, 0] / sizes[i]
            m -= 1
            if j != m:
                rows[j], total[j], sizes[j], names[j] = rows[m], total[m], sizes[m], names[m]
                rises[j], near[j], near_size[j] = rises[m], near[m], near_size[m]
                place[names[j]] = j
                i = j if i == m else i
        _find_nearest(rows, names, sizes, m, i, k, rises, near, near_size)
    for r in range(n):
        into[r] = into[into[r]]
    return into


@njit(cache=True, nogil=True)
def _solve(points, k):
    """One recursion of k-Ward: gather k records around each of the most distant two; merge."""
    reach, partner = _partners(points)
    a = np.argmax(reach)
    rows, index, total = _start(points)
    first, second = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    m = _take_gathered(rows, index, total, len(points), a, k, first)
    place = _place_of(rows, index, m, partner[a], points[a : a + 1])
    _take_gathered(rows, index, total, m, place, k, second)
    return _merge(points, first, second, k)


def kward(points: np.ndarray, k: int) -> np.ndarray:
    """k-Ward by the maximum-distance criterion; see `microagg_gpu.methods.ward.kward`."""
    labels = np.zeros(len(points), dtype=np.int64)
    waiting = [np.arange(len(points))] if len(points) >= 2 * k else []
    while waiting:
        problem = waiting.pop()
        groups = _solve(points[problem], k)
        labels[problem] = problem[groups]
        order = np.argsort(groups, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            if len(part) >= 2 * k:
                waiting.append(problem[part])
    return labels


FULL_SCANS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    scan.__name__: scan for scan in (mdav, vmdav, centroid, diameter, mst, kward)
}
