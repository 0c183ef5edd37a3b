"""Naive reference of the published methods: plain Python, slow, nothing from the library.

Every function takes ``points``, the records already standardized (a list of rows or a NumPy
matrix; a plain list of numbers is one variable), and returns the groups in the order in which
they are formed, each a list of record numbers. `individual` returns such a list per variable.

Conventions: sums are correctly rounded (``math.fsum``), squared distances add the variables in
order, ties go to the lowest record number, or to the lexicographically lowest pair.
"""

import itertools
import math
from fractions import Fraction

import numpy as np


def as_rows(points):
    """Return the records as lists of Python floats."""
    matrix = np.asarray(points, dtype=float)
    return matrix.reshape(len(matrix), -1).tolist()


def standardize(rows):
    """Return the records with mean 0 and standard deviation 1 (divisor n) in each variable."""
    columns = []
    for column in zip(*as_rows(rows), strict=True):
        mean = math.fsum(column) / len(column)
        std = math.sqrt(math.fsum((x - mean) * (x - mean) for x in column) / len(column))
        constant = min(column) == max(column) or std == 0
        columns.append([0.0 if constant else (x - mean) / std for x in column])
    return [list(row) for row in zip(*columns, strict=True)]


def labels_of(groups):
    """Return one label per record: groups numbered in the order of their first record."""
    labels = [0] * sum(len(group) for group in groups)
    for number, group in enumerate(sorted(groups, key=min)):
        for record in group:
            labels[record] = number
    return labels


def squared_distance(a, b):
    """Return the squared Euclidean distance, variables added in order."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        difference = x - y
        total = total + difference * difference
    return total


def centroid_of(rows, group):
    """Return the mean of the group's records, each sum correctly rounded."""
    columns = zip(*(rows[i] for i in group), strict=True)
    return [math.fsum(column) / len(group) for column in columns]


def exact_sse(points, groups):
    """Return the within-groups sum of squares as an exact fraction."""
    rows = as_rows(points)
    total = Fraction(0)
    for group in groups:
        for column in zip(*(rows[i] for i in group), strict=True):
            total += _exact_spread([Fraction(x) for x in column])
    return total


def exact_sst(points):
    """Return the total sum of squares as an exact fraction."""
    return exact_sse(points, [range(len(points))])


def _exact_spread(values):
    return sum(x * x for x in values) - sum(values) ** 2 / len(values)


def nearest(rows, candidates, target):
    """Return the candidate closest to the target, the lowest number in a tie."""
    return min(candidates, key=lambda i: (squared_distance(rows[i], target), i))


def farthest(rows, candidates, target):
    """Return the candidate farthest from the target, the lowest number in a tie."""
    return min(candidates, key=lambda i: (-squared_distance(rows[i], target), i))


def farthest_pair(rows, candidates):
    """Return the most distant pair (a, b), a < b."""
    pairs = itertools.combinations(sorted(candidates), 2)
    return min(pairs, key=lambda p: (-squared_distance(rows[p[0]], rows[p[1]]), p))


def take(rows, remaining, seed, k, gather):
    """Remove the seed and k - 1 others from ``remaining`` (a set) and return them.

    The others are those nearest to the seed (``gather="seed"``), or one at a time the nearest
    to the centroid of the growing group (``gather="centroid"``, ``gather`` of 2005).
    """
    group = [seed]
    remaining.remove(seed)
    while len(group) < k:
        target = rows[seed] if gather == "seed" else centroid_of(rows, group)
        group.append(nearest(rows, remaining, target))
        remaining.remove(group[-1])
    return group


def join_closest(rows, groups, leftovers):
    """Add each leftover, in order, to the group with the closest centroid (updated each time)."""
    for record in sorted(leftovers):
        distances = [squared_distance(centroid_of(rows, group), rows[record]) for group in groups]
        groups[distances.index(min(distances))].append(record)
    return groups


def ranked(scores, descending=False):
    """Return the record numbers ranked by score, equal scores by number."""
    sign = -1 if descending else 1
    return sorted(range(len(scores)), key=lambda i: (sign * scores[i], i))


def sum_of_z_scores(points):
    """Return each record's sum, variables added in order."""
    scores = []
    for row in as_rows(points):
        total = 0.0
        for z in row:  # not sum(): it compensates rounding from Python 3.12 on
            total = total + z
        scores.append(total)
    return scores


def one_variable(points):
    """Return the values of a file with a single variable."""
    rows = as_rows(points)
    assert all(len(row) == 1 for row in rows)
    return [row[0] for row in rows]


def consecutive(order, k, large):
    """Cut ranked records into groups of k; group number ``large`` also has the surplus."""
    number = max(1, len(order) // k)
    sizes = [k] * number
    sizes[large] += len(order) - k * number
    start, groups = 0, []
    for size in sizes:
        groups.append(order[start : start + size])
        start += size
    return groups


def fixed(points, k, remainder="mode", descending=False):
    """Fixed-size univariate method (2002, section 4).

    ``remainder="mode"``: the group at the place of the first of the records with the most
    frequent value (the lowest such value) has the surplus. ``"last"``: the last group has it.
    """
    values = one_variable(points)
    order = ranked(values, descending)
    last = max(1, len(values) // k) - 1
    if remainder == "last":
        return consecutive(order, k, last)
    mode = min(values, key=lambda x: (-values.count(x), x))
    place = [values[i] for i in order].index(mode)
    return consecutive(order, k, min(place // k, last))


def optimal(points, k):
    """One optimal univariate k-partition: connected groups of k..2k-1 (2002, Theorem 1)."""
    values = one_variable(points)
    order = ranked(values)
    exact = [Fraction(values[i]) for i in order]
    best = {0: (Fraction(0), 0)}
    for end in range(k, len(order) + 1):
        choices = [
            (best[start][0] + _exact_spread(exact[start:end]), start)
            for start in range(max(0, end - 2 * k + 1), end - k + 1)
            if start in best
        ]
        if choices:
            best[end] = min(choices)
    groups, end = [], len(order)
    while end:
        start = best[end][1]
        groups.insert(0, order[start:end])
        end = start
    return groups


def optimal_sse(points, k):
    """Return the least SSE of a univariate k-partition as an exact fraction."""
    return exact_sse(points, optimal(points, k))


def mdav(points, k):
    """MDAV as published in 2005 by Domingo-Ferrer and Torra."""
    rows = as_rows(points)
    remaining, groups = set(range(len(rows))), []
    while len(remaining) >= 3 * k:
        r = farthest(rows, remaining, centroid_of(rows, remaining))
        groups.append(take(rows, remaining, r, k, "seed"))
        s = farthest(rows, remaining, rows[r])
        groups.append(take(rows, remaining, s, k, "seed"))
    if len(remaining) >= 2 * k:
        r = farthest(rows, remaining, centroid_of(rows, remaining))
        groups.append(take(rows, remaining, r, k, "seed"))
    groups.append(sorted(remaining))
    return groups


def vmdav(points, k, gamma):
    """V-MDAV (2006), in the reading that gives the digits of its Table 1.

    The centroid of all records is computed once. A group is extended by e_min when
    d_in <= gamma * d_out, with squared distances, where the text has "<"; no other record left
    means d_out is infinite, and gamma = 0 then adds nothing. Each leftover joins the group of
    the nearest record among those that the main loop has assigned.
    """
    rows = as_rows(points)
    remaining, groups = set(range(len(rows))), []
    centre = centroid_of(rows, remaining)
    while len(remaining) >= k:
        group = take(rows, remaining, farthest(rows, remaining, centre), k, "seed")
        while remaining and len(group) < 2 * k - 1:
            d_in, e_min = min(
                (squared_distance(rows[i], rows[j]), j) for i in group for j in remaining
            )
            others = (squared_distance(rows[e_min], rows[j]) for j in remaining - {e_min})
            d_out = min(others, default=math.inf)
            if not d_in <= gamma * d_out:
                break
            group.append(e_min)
            remaining.remove(e_min)
        groups.append(group)
    group_of = {record: group for group in groups for record in group}
    for record in sorted(remaining):
        group_of[nearest(rows, group_of, rows[record])].append(record)
    return groups


def extreme_groups(rows, remaining, k, gather, swap=False):
    """Remove from ``remaining`` the groups around its two most distant records (2002)."""
    a, b = farthest_pair(rows, remaining)
    if swap:
        a, b = b, a
    first = take(rows, remaining, a, k, gather)
    if b not in remaining:
        b = farthest(rows, remaining, rows[a])
    return first, take(rows, remaining, b, k, gather)


def diameter(points, k, gather="centroid", records=None):
    """Diameter-based fixed-size method: D (2005), UF (2002, Algorithm 2)."""
    rows = as_rows(points)
    remaining, groups = set(range(len(rows)) if records is None else records), []
    while len(remaining) >= 2 * k:
        groups.extend(extreme_groups(rows, remaining, k, gather))
    if len(remaining) >= k:
        return [*groups, sorted(remaining)]
    return join_closest(rows, groups, remaining)


def centroid(points, k, gather="centroid", records=None):
    """Centroid-based fixed-size method: C (2005)."""
    rows = as_rows(points)
    remaining, groups = set(range(len(rows)) if records is None else records), []
    while len(remaining) >= k:
        seed = farthest(rows, remaining, centroid_of(rows, remaining))
        groups.append(take(rows, remaining, seed, k, gather))
    return join_closest(rows, groups, remaining)


def component(edges, start):
    """Return the records joined to ``start`` by the edges."""
    found, frontier = {start}, [start]
    while frontier:
        here = frontier.pop()
        for i, j in edges:
            for u, v in ((i, j), (j, i)):
                if u == here and v not in found:
                    found.add(v)
                    frontier.append(v)
    return found


def spanning_tree(rows):
    """Return the edges (squared length, i, j) of the minimum spanning tree, by Kruskal."""
    pairs = itertools.combinations(range(len(rows)), 2)
    edges = sorted((squared_distance(rows[i], rows[j]), i, j) for i, j in pairs)
    tree_of = list(range(len(rows)))
    tree = []
    for length, i, j in edges:
        if tree_of[i] != tree_of[j]:
            tree.append((length, i, j))
            old, new = tree_of[j], tree_of[i]
            tree_of = [new if t == old else t for t in tree_of]
    return tree


def mst(points, k, split=None, gather="centroid"):
    """MST partitioning: M, or M-d and M-c where large groups are split (2005)."""
    rows = as_rows(points)
    tree = spanning_tree(rows)
    kept = {(i, j) for _, i, j in tree}
    for _, i, j in sorted(tree, key=lambda e: (-e[0], e[1], e[2])):
        without = kept - {(i, j)}
        if len(component(without, i)) >= k and len(component(without, j)) >= k:
            kept = without
    groups, seen = [], set()
    for record in range(len(rows)):
        if record not in seen:
            group = sorted(component(kept, record))
            seen.update(group)
            if split and len(group) >= 2 * k:
                method = {"diameter": diameter, "centroid": centroid}[split]
                groups.extend(method(rows, k, gather, group))
            else:
                groups.append(group)
    return groups


def ward_distance(rows, first, second):
    """Return the increase in SSE when two groups merge (2002, Appendix II)."""
    n, m = len(first), len(second)
    squared = squared_distance(centroid_of(rows, first), centroid_of(rows, second))
    return (n * m / (n + m)) * squared


def ward(rows, groups, k):
    """Step 2 of k-Ward: merge the closest pair, never two groups of k or more."""
    groups = {min(group): list(group) for group in groups}

    def distances(pairs):
        return {
            (i, j): ward_distance(rows, groups[i], groups[j])
            for i, j in pairs
            if len(groups[i]) < k or len(groups[j]) < k
        }

    distance = distances(itertools.combinations(sorted(groups), 2))
    while any(len(group) < k for group in groups.values()):
        i, j = min(distance, key=lambda pair: (distance[pair], pair))
        groups[i].extend(groups.pop(j))
        distance = {pair: gain for pair, gain in distance.items() if not {i, j} & {*pair}}
        distance |= distances((min(i, g), max(i, g)) for g in groups if g != i)
    return list(groups.values())


def kward(points, k, ranking="md", variable=0, descending=False, scores=None, gather="centroid"):
    """k-Ward (1999 and 2002, Algorithm 1); ``scores`` ranks the records for "fpc".

    With "md" the two extreme groups are gathered to their centroids around the most distant
    records, the lower number served first, or with ``descending`` the higher one. One
    ranking of all records serves every recursion: it is not recomputed.
    """
    rows = as_rows(points)
    if ranking == "pv":
        scores = [row[variable] for row in rows]
    elif ranking == "sz":
        scores = sum_of_z_scores(rows)
    final, pending = [], [list(range(len(rows)))]
    while pending:
        records = pending.pop()
        if len(records) < 2 * k:
            final.append(sorted(records))
            continue
        if ranking == "md":
            rest = set(records)
            first, last = extreme_groups(rows, rest, k, gather, descending)
        else:
            order = [i for i in ranked(scores, descending) if i in set(records)]
            first, last, rest = order[:k], order[-k:], order[k:-k]
        pending.extend(ward(rows, [first, last, *([i] for i in rest)], k))
    return final


def univariate(values, k, inner, descending=False, remainder="mode"):
    """Run a univariate method on one list of values."""
    if inner == "fixed":
        return fixed(values, k, remainder, descending)
    if inner == "kward":
        return kward(values, k, "pv", 0, descending)
    return optimal(values, k)


def projection(points, k, scores, inner="fixed", descending=False, remainder="last"):
    """PF(...) and Pk-W(...) (2002): a univariate method on the projected records."""
    assert len(points) == len(scores)
    return univariate(list(scores), k, inner, descending, remainder)


def individual(points, k, inner="fixed", remainder="mode"):
    """Individual ranking (1999): one k-partition for each variable."""
    columns = zip(*as_rows(points), strict=True)
    return [univariate(list(column), k, inner, False, remainder) for column in columns]
