"""The kernels that answer the questions of a round, as plain loops that count.

Each finds what the kernel of the same name in `kernels.cuda.round_kernels` does.
"""

import math

import numpy as np
from numba import njit

from microagg_gpu.kernels.cuda.boxes import NONE
from microagg_gpu.kernels.cuda.round_kernels import VANISHES

from .trees import INSERTED, LANES, LEAVES, RECORDS, _distance, _enter, _nearest_box


@njit(cache=True)
def _square(points, i, other, j):
    total = 0.0
    for v in range(points.shape[1]):
        difference = points[i, v] - other[j, v]
        total += difference * difference
    return total


@njit(cache=True)
def _two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True)
def add(total, row, j, x):
    total[row, 0, j], error = _two_sum(total[row, 0, j], x)
    total[row, 1, j], error = _two_sum(total[row, 1, j], error)
    total[row, 2, j] += error


@njit(cache=True)
def rounded(total, row, j):
    high, low = _two_sum(total[row, 0, j], total[row, 1, j])
    low, rest = _two_sum(low, total[row, 2, j])
    high, low = _two_sum(high, low)
    if (low < 0 and rest < 0) or (low > 0 and rest > 0):
        other = high + (low + low)
        if other - high == low + low:
            high = other
    return high


@njit(cache=True)
def _sum_up(columns, start, total, tally):
    total[:] = 0.0
    for j in range(columns.shape[0]):
        for i in range(columns.shape[1]):
            add(total, 0, j, columns[j, i])


@njit(cache=True)
def _share_sum(parts, total, tally):
    total[:] = 0.0
    for j in range(parts.shape[2]):
        for b in range(parts.shape[0]):
            for part in range(3):
                add(total, 0, j, parts[b, part, j])


@njit(cache=True)
def _aim(total, count, target, tally):
    for j in range(target.shape[1]):
        target[0, j] = rounded(total, 0, j) / count


@njit(cache=True)
def _find_keys(records, target, row, keys, tally):
    for r in range(len(keys)):
        keys[r] = _square(records.points, r, target, row) if records.label[r] < 0 else -1.0


@njit(cache=True)
def _fill_slots(records, target, key, single, tally):
    scale = 1.0 / math.sqrt(key[0]) if key[0] > VANISHES else 1.0
    for slot in range(len(single.record)):
        r = single.record[slot]
        there = r >= 0 and records.label[r] < 0
        for v in range(single.value.shape[0]):
            x = (records.points[r, v] - target[0, v]) * scale if there else np.nan
            single.value[v, slot] = np.float32(x)


@njit(cache=True)
def _find_maxima(single, queries, best, tally):
    size = single.value.shape[1] // best.shape[1]
    sums = np.empty(size, dtype=np.float32)
    for chunk in range(best.shape[1]):
        first = chunk * size
        for q in range(best.shape[0]):
            sums[:] = 0
            for v in range(single.value.shape[0]):
                x = queries.value[v, q]
                for i in range(size):
                    difference = single.value[v, first + i] - x
                    sums[i] += difference * difference
            most = np.float32(-1)
            for i in range(size):
                if sums[i] > most:
                    most = sums[i]
            best[q, chunk] = most


@njit(cache=True)
def _find_limits(d, wanted, best, limit, tally):
    for q in range(len(best)):
        low, high = np.float32(-1), best[q].max()
        if np.count_nonzero(best[q] >= 0) >= wanted:
            low = np.float32(0)
            for _ in range(24):
                middle = np.float32(0.5) * (low + high)
                if np.count_nonzero(best[q] >= middle) >= wanted:
                    low = middle
                else:
                    high = middle
        root = math.sqrt(low if low > 0 else 0.0) * (1.0 - (d + 8) * 2.0**-21) - 2.0**-20
        limit[q] = np.float32(root * root * (1.0 - 2.0**-20)) if root > 0.0 else np.float32(-1)


@njit(cache=True)
def _look_again(single, queries, best, limit, count, found, tally):
    size = single.value.shape[1] // best.shape[1]
    for q in range(len(best)):
        for chunk in range(best.shape[1]):
            if best[q, chunk] >= limit[q]:
                tally[RECORDS] += 1
                for slot in range(chunk * size, (chunk + 1) * size):
                    total = np.float32(0)
                    for v in range(single.value.shape[0]):
                        difference = single.value[v, slot] - queries.value[v, q]
                        total += difference * difference
                    if total >= limit[q]:
                        if count[q] < found.shape[1]:
                            found[q, count[q]] = single.record[slot]
                        count[q] += 1


@njit(cache=True)
def _put_in_order(points, batch, count, found, away, far, tally):
    far[:] = -1
    for q in range(len(batch)):
        if count[q] <= found.shape[1]:
            some = np.sort(found[q, : count[q]])
            keys = np.array([-_square(points, r, points, batch[q]) for r in some])
            order = np.argsort(keys, kind="mergesort")
            for i in range(min(len(order), far.shape[1])):
                far[q, i] = some[order[i]]


@njit(cache=True)
def _claim_rows(first, entries, row, tally):
    for q in range(first, len(entries)):
        if entries[q] >= 0:
            row[entries[q]] = min(row[entries[q]], q)


@njit(cache=True)
def _nearest_others(tree, points, r, label, wanted, best, name, tally):
    """The nearest others of a record that remain, as `search_kernels.nearest_others`."""
    levels = len(tree.start) - 1
    bounds = np.empty((levels, LANES))
    best[:], name[:] = np.inf, NONE
    level, block = levels - 1, 0
    _enter(tree, points[r], level, block, bounds, tally)
    while True:
        level, block, box, _ = _nearest_box(
            tree, bounds, level, block, best[wanted - 1], name[wanted - 1], tally
        )
        if level == levels:
            break
        block = block * LANES + box
        if level > 0:
            level -= 1
            _enter(tree, points[r], level, block, bounds, tally)
            continue
        tally[LEAVES] += 1
        limit, somebody = best[wanted - 1], False
        for lane in range(LANES):
            other = tree.record[block, lane]
            if other < 0 or label[other] >= 0:
                continue
            somebody = True
            distance = _distance(tree, block, lane, points[r])
            if other == r or not distance <= limit:
                continue
            tally[INSERTED] += 1
            i = wanted
            while i > 0 and (
                distance < best[i - 1] or (distance == best[i - 1] and other < name[i - 1])
            ):
                i -= 1
                if i + 1 < wanted:
                    best[i + 1], name[i + 1] = best[i], name[i]
            if i < wanted:
                best[i], name[i] = distance, other
        if not somebody:
            tree.low[block // LANES, 0, box] = np.inf
        block //= LANES


@njit(cache=True)
def _find_near(first, last, tree, records, entries, rows, tally):
    m = rows.near.shape[1]
    best, name = np.empty(m), np.empty(m, dtype=np.int64)
    for q in range(first, last):
        r = entries[q]
        if r < 0 or records.label[r] >= 0 or rows.row[r] != q:
            continue
        tally[RECORDS] += 1
        _nearest_others(tree, records.points, r, records.label, m, best, name, tally)
        for i in range(m):
            rows.near[q, i] = name[i] if name[i] < NONE else -1


@njit(cache=True)
def _shrink(tree, label, level, tally):
    for at in range(tree.start[level], tree.start[level + 1]):
        tree.low[at], tree.high[at], tree.lowest[at] = np.inf, -np.inf, NONE
        for box in range(LANES):
            below = (at - tree.start[level]) * LANES + box
            if level == 0:
                if below >= len(tree.record):
                    continue
                for lane in range(LANES):
                    r = tree.record[below, lane]
                    if r >= 0 and label[r] < 0:
                        tree.lowest[at, box] = min(tree.lowest[at, box], r)
                        for v in range(tree.low.shape[1]):
                            x = tree.value[below, v, lane]
                            tree.low[at, v, box] = min(tree.low[at, v, box], x)
                            tree.high[at, v, box] = max(tree.high[at, v, box], x)
            elif tree.start[level - 1] + below < tree.start[level]:
                inside = tree.start[level - 1] + below
                tree.lowest[at, box] = tree.lowest[inside].min()
                for v in range(tree.low.shape[1]):
                    tree.low[at, v, box] = tree.low[inside, v].min()
                    tree.high[at, v, box] = tree.high[inside, v].max()
