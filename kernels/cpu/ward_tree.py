"""Ward's method with the group sizes held down: nearest groups found lazily in a search tree.

Why the pair that is merged is the closest that may be. Pairs are ordered by (rise of SSE, lower
group, higher group). Every group keeps a pair: the first of all that it could make when it last
looked. Every group looks at the start or when it is made, so of two groups the younger has looked
since both were made, and the pair it keeps comes before theirs, or is it. So the first of all
kept pairs comes before every pair that may merge. If its other group is still as it was, it is
such a pair, and the one to merge; else only its owner has to look again. Nothing is said of how
distances change in a merger, so rounding cannot break it. A group that changes also grows: its
size tells whether it is as it was.

Single records are there from the start, so every lower group has looked since they were made
and keeps a pair at least as good as that of the two. A single record therefore leaves ties to
lower groups and keeps the lowest group above it. Else thousands of equal records would all keep
the lowest of them, and all look again whenever it grows.
"""

from typing import NamedTuple

import numpy as np

from ..protocol import Progress
from .compiled import entry, inner
from .disjoint_sets import resolve
from .kdtree import DEPTH, WIDTH, Tree, build, distance_to_box, distances_to_block
from .sums import two_sum

NONE = np.iinfo(np.int64).max  # no group: above all
BUDGET = 1e8  # values looked at between two returns to Python, for 0.1 to 0.2 s
STEP = 2e3  # what a search costs at least, in values looked at
SHRUNK = 0.6  # the tree is built anew when so few of its groups are left


class Groups(NamedTuple):
    """The groups, each named by its lowest record, and what each knows of its nearest."""

    high: np.ndarray  # (n, d) correctly rounded sums of the records
    low: np.ndarray  # (n, d) what rounding left of them
    centroid: np.ndarray  # (n, d)
    size: np.ndarray  # (n,) 0 if no longer a group
    into: np.ndarray  # (n,) group each was merged into
    near: np.ndarray  # (n,) nearest group when last looked for
    near_size: np.ndarray  # (n,) its size then
    rise: np.ndarray  # (n,) rise of SSE if merged with it
    winner: np.ndarray  # (2 * a power of 2,) knock-out tree of the pairs kept


class Nodes(NamedTuple):
    """What the nodes of the search tree keep besides their boxes."""

    least: np.ndarray  # (nodes,) least size of a group
    small: np.ndarray  # (nodes,) lowest group that has fewer than k records
    highest: np.ndarray  # (nodes,) highest group


@inner()
def rise_of_sse(n, m, squared):
    """Rise of SSE if groups of n and m records are merged (2002, Appendix II).

    n * m and n + m are exact and rounding is monotone, so the computed rise never falls as m or
    the distance grows: with the least size and the distance to the box of a node it is a bound.
    """
    return n * m / (n + m) * squared


@inner()
def add(high, low, i, v, x, error):
    """Add x + error to the sum of variable v of group i."""
    s, rest = two_sum(high[i, v], x)
    high[i, v], low[i, v] = two_sum(s, rest + (low[i, v] + error))


@entry()
def sum_up(points, labels, high, low, centroid, size):
    """Sums, centroids and sizes of the groups that records are in at first."""
    for r in range(len(labels)):
        g = labels[r]
        size[g] += 1.0
        for v in range(points.shape[1]):
            add(high, low, g, v, points[r, v], 0.0)
            centroid[g, v] = high[g, v] / size[g]


@inner()
def join(high, low, centroid, size, i, j):
    """Add group j to group i."""
    size[i] += size[j]
    size[j] = 0.0
    for v in range(high.shape[1]):
        add(high, low, i, v, high[j, v], low[j, v])
        centroid[i, v] = high[i, v] / size[i]


@inner()
def _refresh(groups, tree, nodes, leaf, k):
    """Bring nodes up to date from a leaf to the root, or to the first that stays as it was."""
    right, box, block, record, size = tree.right, tree.box, tree.block, tree.record, groups.size
    node = tree.node[leaf]
    least, lowest, small, highest = 1e18, NONE, NONE, -1  # of no group
    for p in range(WIDTH):
        g = record[leaf, p]
        if g >= 0:
            least, lowest, highest = min(least, size[g]), min(lowest, g), max(highest, g)
            if size[g] < k:
                small = min(small, g)
    while node >= 0:
        a, b = node + 1, right[node]
        if b:
            least = min(nodes.least[a], nodes.least[b])
            lowest = min(tree.lowest[a], tree.lowest[b])
            small = min(nodes.small[a], nodes.small[b])
            highest = max(nodes.highest[a], nodes.highest[b])
        same = least == nodes.least[node] and lowest == tree.lowest[node]
        same = same and small == nodes.small[node] and highest == nodes.highest[node]
        for v in range(box.shape[2]):
            lower, upper = np.inf, -np.inf
            if b:
                lower = min(box[a, 0, v], box[b, 0, v])
                upper = max(box[a, 1, v], box[b, 1, v])
            else:
                for p in range(WIDTH):
                    value = block[leaf, v, p]  # NaN in empty places: false
                    lower = value if value < lower else lower
                    upper = value if value > upper else upper
            same = same and lower == box[node, 0, v] and upper == box[node, 1, v]
            box[node, 0, v], box[node, 1, v] = lower, upper
        if same:
            return
        nodes.least[node], tree.lowest[node] = least, lowest
        nodes.small[node], nodes.highest[node] = small, highest
        node = tree.parent[node]


@entry()
def _refresh_all(groups, tree, nodes, k):
    for leaf in range(len(tree.node)):
        _refresh(groups, tree, nodes, leaf, k)


@inner()
def _look(distances, names, size, i, k, floor, best, nearest):
    """Compare the groups of a leaf with the nearest group to group i so far."""
    n = size[i]
    for p in range(WIDTH):
        if 0.5 * distances[p] <= best:  # no weight is below 1/2; NaN in empty places: false
            g = names[p]
            m = size[g]
            rise = rise_of_sse(n, m, distances[p])
            if rise > best or g == i or (n >= k and m >= k):
                continue
            if rise < best or (g > floor and (g < nearest or nearest <= floor)):
                best, nearest = rise, g
    return best, nearest


@inner(allocates=True)
def _find_nearest(groups, tree, nodes, i, k, plain):
    """Find the group to merge group i with; return how many leaves were looked at.

    The one with the least rise; a large group looks among small ones. Of equals the lowest,
    but for a single record the lowest above it, if there is one: see the top of the file.
    If `plain`, look at all leaves in turn.
    """
    stack, bounds = np.empty(DEPTH, dtype=np.int64), np.empty(DEPTH)
    distances = np.empty(WIDTH)
    target, size, least, highest = groups.centroid[i], groups.size, nodes.least, nodes.highest
    right, box, block, record = tree.right, tree.box, tree.block, tree.record
    n = size[i]
    floor = i if n == 1.0 else -1
    lowest = tree.lowest if n < k else nodes.small
    best, nearest, looked = np.inf, NONE, 0
    stack[0], bounds[0], height = 0, 0.0, 1
    if plain:
        height, looked = 0, len(block)
        for leaf in range(looked):
            distances_to_block(target, block, leaf, distances)
            best, nearest = _look(distances, record[leaf], size, i, k, floor, best, nearest)
    while height:
        height -= 1
        node, bound = stack[height], bounds[height]
        while bound < best or (
            bound == best and highest[node] > floor and (lowest[node] < nearest or nearest <= floor)
        ):
            if not right[node]:
                leaf = tree.leaf[node]
                distances_to_block(target, block, leaf, distances)
                best, nearest = _look(distances, record[leaf], size, i, k, floor, best, nearest)
                looked += 1
                break
            a, b = node + 1, right[node]
            to_a = to_b = np.inf
            if lowest[a] < NONE:
                to_a = rise_of_sse(n, least[a], distance_to_box(target, box, a))
            if lowest[b] < NONE:
                to_b = rise_of_sse(n, least[b], distance_to_box(target, box, b))
            if to_b < to_a or (to_b == to_a and lowest[b] < lowest[a]):
                a, b, to_a, to_b = b, a, to_b, to_a
            if to_b <= best:
                stack[height], bounds[height] = b, to_b
                height += 1
            node, bound = a, to_a
    groups.rise[i], groups.near[i] = best, nearest
    groups.near_size[i] = size[nearest] if nearest < NONE else 0.0
    return looked


@entry()
def _find_first(groups, tree, nodes, first, last, k, plain):
    """Find the nearest group of every group of some leaves."""
    looked = 0
    for leaf in range(first, last):
        for p in range(WIDTH):
            g = tree.record[leaf, p]
            if g >= 0:
                looked += _find_nearest(groups, tree, nodes, g, k, plain)
    return looked


@inner()
def better(rise, near, a, b):
    """Of two groups, the one whose pair comes first: least rise, lower group, higher group."""
    if rise[a] != rise[b]:
        return a if rise[a] < rise[b] else b
    lower_a, lower_b = min(a, near[a]), min(b, near[b])
    if lower_a != lower_b:
        return a if lower_a < lower_b else b
    return a if max(a, near[a]) <= max(b, near[b]) else b


@inner()
def _compete(groups, i):
    """Bring the knock-out tree up to date after a change of group i's pair."""
    winner, rise, near = groups.winner, groups.rise, groups.near
    at = (len(winner) // 2 + i) // 2
    while at:
        winner[at] = better(rise, near, winner[2 * at], winner[2 * at + 1])
        at //= 2


@entry()
def _compete_all(groups):
    winner = groups.winner
    half = len(winner) // 2
    for i in range(half):
        winner[half + i] = min(i, len(groups.size) - 1)
    for at in range(half - 1, 0, -1):
        winner[at] = better(groups.rise, groups.near, winner[2 * at], winner[2 * at + 1])


@inner()
def _merge(groups, tree, nodes, i, j, k):
    """Merge group j into group i, which takes the place of the larger of them in the tree."""
    kept, freed = tree.place[i], tree.place[j]
    if groups.size[j] > groups.size[i]:
        kept, freed = freed, kept
    join(groups.high, groups.low, groups.centroid, groups.size, i, j)
    groups.into[j] = i
    groups.rise[j] = np.inf
    tree.place[i], tree.place[j] = kept, -1
    tree.record[kept // WIDTH, kept % WIDTH] = i
    tree.record[freed // WIDTH, freed % WIDTH] = -1
    for v in range(groups.centroid.shape[1]):
        tree.block[kept // WIDTH, v, kept % WIDTH] = groups.centroid[i, v]
        tree.block[freed // WIDTH, v, freed % WIDTH] = np.nan
    _refresh(groups, tree, nodes, kept // WIDTH, k)
    _refresh(groups, tree, nodes, freed // WIDTH, k)
    _compete(groups, j)


@entry()
def _advance(groups, tree, nodes, k, plain, small, live, enough):
    """Merge closest pairs until none is small, few groups are left or the budget is spent."""
    work = 0.0
    while small and live > enough and work < BUDGET:
        i = groups.winner[1]
        j = groups.near[i]
        if groups.size[j] == groups.near_size[i]:
            i, j = min(i, j), max(i, j)
            small -= (groups.size[i] < k) + (groups.size[j] < k)
            _merge(groups, tree, nodes, i, j, k)
            small += groups.size[i] < k
            live -= 1
        looked = _find_nearest(groups, tree, nodes, i, k, plain)
        work += STEP + looked * groups.high.shape[1] * WIDTH
        _compete(groups, i)
    return small, live


def _plant(groups: Groups, k: int) -> tuple[Tree, Nodes]:
    """Build the search tree of the groups there are."""
    tree = build(groups.centroid, np.flatnonzero(groups.size))
    nodes = Nodes(*(np.zeros(len(tree.right), dtype=t) for t in (float, np.int64, np.int64)))
    _refresh_all(groups, tree, nodes, k)
    return tree, nodes


def merge_lazily(points: np.ndarray, labels: np.ndarray, k: int, progress: Progress | None) -> None:
    """Solve one problem; labels become those of the merged groups."""
    n, d = points.shape
    groups = Groups(
        high=np.zeros((n, d)),
        low=np.zeros((n, d)),
        centroid=np.zeros((n, d)),
        size=np.zeros(n),
        into=labels,
        near=np.full(n, NONE),
        near_size=np.zeros(n),
        rise=np.full(n, np.inf),
        winner=np.zeros(2 << (n - 1).bit_length(), dtype=np.int64),
    )
    sum_up(points, labels, groups.high, groups.low, groups.centroid, groups.size)
    live = np.count_nonzero(groups.size)
    all_small = small = live - np.count_nonzero(groups.size >= k)
    tree, nodes = _plant(groups, k)
    leaves = len(tree.node)
    first, step, looked, plain = 0, 2, 0, False
    while small and first < leaves:
        if progress is not None:
            progress(0.25 * first / leaves)
        last = min(first + step, leaves)
        now = _find_first(groups, tree, nodes, first, last, k, plain)
        looked += now
        plain = 2 * looked > live * last  # the tree spares less than half: look at all instead
        affordable = BUDGET / (STEP * WIDTH + now / (last - first) * d * WIDTH)
        first, step = last, max(2, int(min(2 * step, affordable)))
    _compete_all(groups)
    enough = int(live * SHRUNK)
    while small:
        if progress is not None:
            progress(1.0 - 0.75 * small / all_small)
        small, live = _advance(groups, tree, nodes, k, plain, small, live, enough)
        if live <= enough:
            tree, nodes = _plant(groups, k)
            enough = int(live * SHRUNK)
    resolve(labels)
