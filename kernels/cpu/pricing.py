"""Groups that cost less than their records pay: the search for columns of a set partition.

`microagg_gpu.measures.columns` says what prices and limits are, and what is made of the groups.

The search takes the records in a given order. With its first record a fixed, a group of m records
is P = {a, ...} and r = m - |P| more, R. With squared distances d its sum of squares is::

    1/m (sum of d in P + sum over R of d to P + sum of d in R),

and the last sum is at least half the sum, over j in R, of the r - 1 least d of j among the records
that are left. So a group costs at least what P does and the sum of r of the costs::

    g_j = (d of j to P)/m + (half of its r - 1 least d)/m - price of j + its share in fines,

and the r least of these are a bound for all R. A record stays only if the bound with it is
negative; then the least d are larger, and so on. The share in the fine of a limit that one more
record of it will break is the fine divided by r, or by the number of its records that are left.
"""

import numpy as np

from .compiled import entry, inner
from .outer import squared_distance


@entry()
def price(points, order, begin, nearest, prices, limits, k, most, columns):
    """See `bounding.HasPricing`; it comes back after many steps, and if `columns` is half full."""
    found, steps, left = 0, 0, 0
    counts = np.zeros(len(limits[2]), dtype=np.int64)
    room = len(columns) // 2
    for place in range(begin, len(order)):
        if steps > 20_000_000 or found > room:
            return place, found, left
        record, others = order[place], order[place + 1 :]
        squares = np.empty(len(others))
        for t in range(len(others)):
            squares[t] = squared_distance(points, others[t], points[record])
        steps += len(others) * points.shape[1]
        for m in range(k, min(2 * k, len(others) + 2)):
            some = _possible(others, squares, nearest, prices, record, m)
            if len(some) >= m - 1:
                result = _search(
                    points, record, others[some], squares[some], prices, limits, counts, m,
                    most, columns, found,
                )  # fmt: skip
                found = result[0]
                steps += result[1]
                left += result[2]
    return len(order), found, left


@inner(allocates=True)
def _possible(others, squares, nearest, prices, record, m):
    """Places of the records that a group of m with this first record may have."""
    r = m - 1
    costs = np.empty(len(others))
    for t in range(len(others)):
        j = others[t]
        costs[t] = (squares[t] + 0.5 * nearest[j, m - 2]) / m - prices[j]
    least = np.empty(r)
    total = _least_of(costs, len(costs), r, least) - prices[record]
    some = np.empty(len(others), dtype=np.int64)
    count = 0
    for t in range(len(others)):
        if total + max(0.0, costs[t] - least[r - 1]) < 0.0:
            some[count] = t
            count += 1
    return some[:count]


@inner()
def _least_of(values, count, r, least):
    """Sum of the r least of the first `count` values, in ascending order."""
    full = 0
    for x in range(count):
        value = values[x]
        if full < r:
            z = full
            full += 1
        elif value < least[r - 1]:
            z = r - 1
        else:
            continue
        while z > 0 and least[z - 1] > value:
            least[z] = least[z - 1]
            z -= 1
        least[z] = value
    total = 0.0
    for z in range(r):
        total += least[z]
    return total


@inner()
def _count(record, limits, counts, change):
    """Count a record in or out of its limits; the fines that this adds."""
    start, number, fine, size = limits
    extra = 0.0
    for e in range(start[record], start[record + 1]):
        limit = number[e]
        counts[limit] += change
        if change > 0 and counts[limit] == size[limit]:
            extra += fine[limit]
    return extra


@inner()
def _fine(record, limits, counts):
    """The fines of limits that one more record breaks."""
    start, number, fine, size = limits
    extra = 0.0
    for e in range(start[record], start[record + 1]):
        if counts[number[e]] == size[number[e]] - 1:
            extra += fine[number[e]]
    return extra


@inner(allocates=True)
def _search(
    points, record, records, squares, prices, limits, counts, m, most, columns, found
):  # fmt: skip
    """Search the groups of m of a first record and some others; lower prices as in `price`."""
    c = len(records)
    between = np.empty((c, c))
    for x in range(c):
        between[x, x] = 0.0
        for y in range(x):
            between[x, y] = between[y, x] = squared_distance(points, records[x], points[records[y]])
    inside = np.zeros(len(counts), dtype=np.int64)
    # At a level there are level + 1 records, and those that may follow, by ascending cost.
    who = np.empty((m, c), dtype=np.int64)
    total = np.empty((m, c))  # squared distances to the records that are there
    cost = np.empty((m, c))
    count, at = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    pairs, fines = np.zeros(m), np.zeros(m)
    chosen = np.empty(m, dtype=np.int64)
    chosen[0] = record
    room, least = np.empty(c), np.empty(m)
    who[0] = np.arange(c)
    total[0] = squares
    count[0] = c
    fines[0] = _count(record, limits, counts, 1)
    steps, level, entered = c * c * points.shape[1], 0, True
    while level >= 0:
        r = m - 1 - level
        base = pairs[level] / m + fines[level]
        for z in range(level + 1):
            base -= prices[chosen[z]]
        if entered and r == 1:
            for x in range(count[level]):
                chosen[m - 1] = records[who[level, x]]
                sse = (pairs[level] + total[level, x]) / m
                if base + (sse - pairs[level] / m) < prices[chosen[m - 1]]:
                    last = _fine(chosen[m - 1], limits, counts)
                    found = _settle(chosen, sse + fines[level] + last, prices, columns, found)
            steps += 4 * count[level]
            count[level] = 0
        elif entered:
            at[level] = 0
            steps += _narrow(
                who[level], total[level], cost[level], count, level, base, between, records,
                prices, limits, counts, inside, m, room, least,
            )  # fmt: skip
        entered = False
        bound = base
        if at[level] + r <= count[level]:
            for z in range(r):
                bound += cost[level, at[level] + z]
        if at[level] + r > count[level] or bound >= 0.0:
            _count(chosen[level], limits, counts, -1)
            level -= 1
            continue
        if steps > most:  # the record pays for the worst that is left, at any level
            for upper in range(level):
                rest = m - 1 - upper
                if at[upper] + rest <= count[upper]:
                    other = pairs[upper] / m + fines[upper]
                    for z in range(upper + 1):
                        other -= prices[chosen[z]]
                    for z in range(rest):
                        other += cost[upper, at[upper] + z]
                    bound = min(bound, other)
            prices[record] += bound
            for z in range(level + 1):
                _count(chosen[z], limits, counts, -1)
            return found, steps, 1
        x = at[level]
        at[level] += 1
        i = who[level, x]
        chosen[level + 1] = records[i]
        pairs[level + 1] = pairs[level] + total[level, x]
        fines[level + 1] = fines[level] + _count(records[i], limits, counts, 1)
        count[level + 1] = count[level] - x - 1
        for y in range(count[level + 1]):
            j = who[level, x + 1 + y]
            who[level + 1, y] = j
            total[level + 1, y] = total[level, x + 1 + y] + between[i, j]
        level += 1
        entered = True
    return found, steps, 0


@inner()
def _narrow(
    who, total, cost, count, level, base, between, records, prices, limits, counts, inside, m,
    room, least,
):  # fmt: skip
    """Leave the records with which a group can pay too much, by ascending cost; count steps."""
    r, now, before, steps = m - 1 - level, count[level], count[level] + 1, 0
    start, number, fine, size = limits
    while r <= now < before:
        steps += now * now
        for x in range(now):
            for e in range(start[records[who[x]]], start[records[who[x]] + 1]):
                inside[number[e]] += 1
        for x in range(now):
            filled = 0
            for y in range(now):
                if y != x:
                    room[filled] = between[who[x], who[y]]
                    filled += 1
            j = records[who[x]]
            cost[x] = (total[x] + 0.5 * _least_of(room, filled, r - 1, least)) / m - prices[j]
            for e in range(start[j], start[j + 1]):
                if counts[number[e]] == size[number[e]] - 1:
                    cost[x] += fine[number[e]] / min(r, inside[number[e]])
        for x in range(now):
            for e in range(start[records[who[x]]], start[records[who[x]] + 1]):
                inside[number[e]] = 0
        bound = base + _least_of(cost, now, r, least)
        before, now = now, 0
        for x in range(before):
            if bound + max(0.0, cost[x] - least[r - 1]) < 0.0:  # insert it
                one, w, t = cost[x], who[x], total[x]
                z = now
                while z > 0 and cost[z - 1] > one:
                    cost[z], who[z], total[z] = cost[z - 1], who[z - 1], total[z - 1]
                    z -= 1
                cost[z], who[z], total[z] = one, w, t
                now += 1
    count[level] = now if now >= r else 0
    return steps


@inner()
def _settle(chosen, cost, prices, columns, found):
    """Lower the prices of a group that pays more than it costs, all by the same."""
    m = len(chosen)
    paid = 0.0
    for z in range(m):
        paid += prices[chosen[z]]
    if paid <= cost:
        return found
    if found < len(columns):
        for z in range(columns.shape[1]):
            columns[found, z] = chosen[z] if z < m else -1
        found += 1
    for z in range(m):
        prices[chosen[z]] -= (paid - cost) / m
    return found
