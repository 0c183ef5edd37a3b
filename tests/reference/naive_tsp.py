"""MF-TSP record by record in plain Python: the same definition as the library, none of its code.

Tours: farthest insertion from each record (or nearest neighbour), one sweep of 2-opt in a
window. Counts: pairs at most k - 1 places apart on the closed tour. Groups: the pair with the
highest count, extended by the highest count in the row of its higher record (records below it)
or in the column of its lower record (records above it).
"""

from math import fsum, inf, sqrt


def distance(a, b):
    """Squared Euclidean distance, the variables added in order."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def insertion_tour(length, start):
    """Farthest insertion; the closing step back to the start is left out of the list."""
    n = len(length)
    tour = [start]
    outside = {x: length[start][x] for x in range(n) if x != start}
    while outside:
        farthest = max(outside.values())
        x = min(y for y, away in outside.items() if away == farthest)
        del outside[x]
        least, place = inf, 0
        for p, a in enumerate(tour):
            b = tour[p + 1] if p + 1 < len(tour) else start
            longer = (length[x][a] + length[x][b]) - length[a][b]
            if longer < least:
                least, place = longer, p + 1
        tour.insert(place, x)
        near = length[x]
        outside = {y: min(away, near[y]) for y, away in outside.items()}
    return tour


def nearest_tour(length, start):
    """Go on to the nearest record not yet visited."""
    tour = [start]
    outside = [x for x in range(len(length)) if x != start]
    while outside:
        tour.append(min(outside, key=lambda x: (length[tour[-1]][x], x)))
        outside.remove(tour[-1])
    return tour


def two_opt_sweep(length, tour, window):
    """After each place reverse the stretch of at most `window` records that gains most."""
    n = len(tour)
    for i in range(n - 2):
        a, b = tour[i], tour[i + 1]
        most, end = 0.0, None
        for j in range(i + 2, min(n, i + 1 + window)):
            c, e = tour[j], tour[(j + 1) % n]
            gain = (length[a][b] + length[c][e]) - (length[a][c] + length[b][e])
            if gain > most:
                most, end = gain, j
        if end is not None:
            tour[i + 1 : end + 1] = reversed(tour[i + 1 : end + 1])
    return tour


def tours(points, tour="insertion", window=50):
    """One tour from each record."""
    length = [[sqrt(distance(a, b)) for b in points] for a in points]
    build = insertion_tour if tour == "insertion" else nearest_tour
    return [two_opt_sweep(length, build(length, s), window) for s in range(len(points))]


def path_counts(paths, k):
    """In how many paths, taken as closed, records i and j are fewer than k places apart."""
    n = len(paths[0])
    counts = [[0] * n for _ in range(n)]
    for path in paths:
        for p in range(n):
            for q in range(p):
                if min(p - q, n - (p - q)) < k:
                    counts[path[p]][path[q]] += 1
                    counts[path[q]][path[p]] += 1
    return counts


def groups_from_counts(counts, k):
    """Groups of k and the records left over."""
    left = list(range(len(counts)))
    groups = []
    while len(left) >= k:
        if k == 1:
            groups.append([left.pop(0)])
            continue
        pairs = [(i, j) for j in left for i in left if i > j]
        i, j = max(pairs, key=lambda pair: counts[pair[0]][pair[1]])  # the first of equals
        group = [i, j]
        while len(group) < k:
            row = [(counts[i][x], -x) for x in left if x < i and x not in group]
            column = [(counts[x][j], -x) for x in left if x > j and x not in group]
            best_in_row, best_in_column = max(row, default=(-1, 0)), max(column, default=(-1, 0))
            best = best_in_row if best_in_row[0] > best_in_column[0] else best_in_column
            group.append(-best[1])
        groups.append(group)
        left = [x for x in left if x not in group]
    return groups, left


def tsp(points, k, tour="insertion", window=50):
    """The groups of MF-TSP."""
    points = [[float(x) for x in record] for record in points]
    groups, left = groups_from_counts(path_counts(tours(points, tour, window), k), k)
    for record in left:
        centroids = [
            [fsum(c) / len(g) for c in zip(*(points[x] for x in g), strict=True)] for g in groups
        ]
        away = [distance(centroid, points[record]) for centroid in centroids]
        groups[away.index(min(away))].append(record)
    return groups
