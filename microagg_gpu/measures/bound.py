"""A lower bound on the sum of squares of any k-partition, with the proof."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..checks import callable_or_none, known_keywords, number, whole_number
from ..engines import Work, choose, set_compiled
from ..errors import InputError
from ..kernels.arguments import FEW, PrimalDual
from ..kernels.compiling import clock
from ..kernels.protocol import Engine, Progress
from .checks import as_labels, as_matrix
from .columns import MOST, Columns, solver
from .loss import safe_unit, sse, sst

EPS = float(np.finfo(np.float64).eps)  # twice the unit roundoff
_PASSES = 50  # between two evaluations of the bound
_LOOKS = 4  # evaluations at most, before new pairs, triangles and sets are added
_ROUNDS = 16
_GAIN = 1e-4  # share of the bound; a smaller gain counts as none
_LARGE = 5  # times k: larger sets gain little
_SHARE = 0.2  # of the time, for pairs: groups take the rest
_BROKEN = 0.02  # how far w must violate an inequality that is added (triangles: times 1/k)


@known_keywords
def lower_bound(
    points: ArrayLike,
    k: int,
    *,
    seconds: float | None = None,
    labels: ArrayLike | None = None,
    progress: Progress | None = None,
) -> float:
    """Return a lower bound on the SSE of any partition into groups of at least k.

    Parameters
    ----------
    points : array_like, n x p
        Records, standardized and weighted as for the loss; a 1-D array is one variable.
    k : int
        Minimum group size.
    seconds : float, optional
        The time to spend, for a bound that rises with it. Up to 20,000 records set partitioning
        then comes close to the optimum (see Notes); it needs the package highspy. Ctrl-C ends
        it earlier, with the best bound so far.
    labels : array_like, shape (n,), optional
        The group of each record in a good partition, for set partitioning to begin with. The
        search ends where the bound meets its SSE.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    float
        The bound allows for rounding: the true optimum is not below it.

    Notes
    -----
    The function returns the highest of three bounds, or with `seconds` of four. Groups have k to
    2k - 1 records, since larger ones can be split without loss (2002 Proposition 1). The SSE of a
    group of m records is the sum of d_ij / m over its pairs, where d_ij are squared distances.

    *Neighbours.* Let S(i) be the sum of the k - 1 least d_ij of record i; then the SSE is at
    least the sum of S(i) / 2k. For the SSE of a group is half the sum, over its records, of
    m - 1 of their d_ij divided by m; and the sum of the m - 1 least divided by m does not fall
    as m grows, since the next is at least the mean of those before.

    *Variables.* The SSE is a sum over variables, each at least that of its own optimal
    k-partition (Hansen and Mukherjee 2003). With one variable the bound is the optimum.

    *Pairs.* Let w_ij be 1/m for two records in one group of m, and for i = j, else 0 (Peng and
    Wei 2007). The SSE is the sum of w_ij d_ij over pairs, 0 <= w_ij <= 1/k, and these hold for::

        a record i        w_ii + sum of w_ij over the other j >= 1,    being m times 1/m;
        a triangle i, jl  w_ii - w_ij - w_il + w_jl >= 0,              since i in one group with
                          j and with l, which may be j, puts these into one group;
        a set S           sum of w_ij across its border - sum of w_ii in it >= -floor(|S| / k).

    The last holds since a group inside S has a sum of w_ii of 1, and there are at most
    ``floor(|S| / k)`` such groups. A group with a records in S and b > 0 outside has a sum of a/m,
    and ab/m across. A set of 5 records far from all others is one group of 5 for k = 3; only this
    inequality detects that.

    Write all of them as a_r w >= b_r, and take any u_r >= 0. Then::

        SSE >= sum of w_ij d_ij - sum of u_r (a_r w - b_r)
             = sum of u_r b_r + sum of w_ij c_ij,    c_ij = d_ij - sum of u_r a_r,ij,
            >= sum of u_r b_r + sum of min(0, c_ij) / k.

    This bound holds for all u (weak duality). The primal-dual method of Chambolle and Pock (2011)
    finds good u for some pairs and inequalities. Inequalities that w violates are added, and so
    are pairs with c_ij < 0. Such records i and j have d_ij < z_i + z_j, where z is the sum of the
    u of a record and of the sets that contain it; a search tree finds all of them.

    *Groups*, with `seconds`. A linear program chooses shares of whole groups such that those of
    each record add up to 1. `microagg_gpu.measures.columns` has the proof.
    """
    matrix = as_matrix(points)
    k = whole_number("k", k, 1)
    callable_or_none("progress", progress)
    n, d = matrix.shape
    if k > n:
        raise InputError(f"k is {k} for {n} records; no group can be that large.")
    groups = None if labels is None else _groups(labels, n, k)
    if seconds is not None:
        seconds = number("seconds", seconds, 0, above=True)
    work = bound_work([n], d)
    engine = choose(matrix, "cpu", work=work)[1]
    bound = bound_by(engine, matrix, k, seconds, groups, progress)
    set_compiled(engine, work)
    return bound


def bound_work(sizes: Sequence[int], d: int) -> Work:
    """The work for tables of some sizes; the generic engine needs about a millisecond a record.

    It has the CPU engine's bound, to the last bit, for few records only.
    """
    few = max(sizes) <= FEW
    seconds = sum(8e-4 * n + 1.2e-8 * n * n * d for n in sizes) if few else np.inf
    return Work("lower bound", seconds, max(sizes))


def bound_by(
    engine: Engine,
    matrix: np.ndarray,
    k: int,
    seconds: float | None,
    groups: np.ndarray | None,
    progress: Progress | None,
) -> float:
    """The bound of `lower_bound`, by an engine."""
    n, d = matrix.shape
    deadline, columns = np.inf, False
    if seconds is not None:
        deadline, columns = clock() + seconds, d > 1 and 1 < k <= n // 2 and n <= MOST
        if columns:
            solver()  # or the error that it is not there
    unit = safe_unit(matrix)
    matrix = matrix * unit
    best, roundings = 0.0, d + 8  # of a square, twice
    if k > 1 and n < 2 * k:  # one group
        best, roundings = sst(matrix), d + 8 + 4 * n
    elif k > 1:
        if d > 1:
            end = deadline - (1 - _SHARE) * seconds if seconds and columns else deadline
            best = Relaxation(matrix, k, engine).solve(None if columns else progress, end=end)
        if d == 1 or clock() < deadline:
            best = max(best, _variables(matrix, k, engine))
        if columns:
            best = Columns(matrix, k, groups, deadline).solve(best, progress)
    if progress is not None:
        progress(1.0)
    # Squares too small for a number were lost.
    return max(0.0, best * (1 - roundings * EPS) - n * d * 1e-300) / unit / unit


def _groups(labels: ArrayLike, n: int, k: int) -> np.ndarray:
    """Labels of n records in groups of at least k, numbered from 0."""
    array = as_labels(labels)
    if array.shape != (n,):
        raise InputError(f"labels have shape {array.shape}; give the group of each of {n} records.")
    _, numbered, sizes = np.unique(array, return_inverse=True, return_counts=True)
    if sizes.min() < k:
        raise InputError(f"A group has {sizes.min()} records; at least k={k} are needed.")
    return numbered


def _variables(matrix: np.ndarray, k: int, engine: Engine) -> float:
    """Sum over the variables of the SSE of their optimal partitions.

    In a group of m ranked values with range r, a mean that grows one value at a time is off by
    at most 8 m u x, where x is the greatest value and u = EPS / 2; so the SSE is off by at most
    32 m^2 u x r. The ranges of groups add up to at most the range of all values, and m < 2k. The
    error counts three times: for the partition found, for a better one that was missed, and for
    the SSE of the former.
    """
    total = 0.0
    for column in matrix.T:
        ranked = np.sort(column)
        sizes = engine.optimal_sizes(ranked[:, np.newaxis], k)[0]
        found = sse(ranked, np.repeat(np.arange(len(sizes)), sizes))
        off = 192 * k**2 * np.abs(ranked).max() * (ranked[-1] - ranked[0]) + 3 * len(ranked) * found
        total += max(0.0, found - EPS * float(off))
    return total


class Relaxation:
    """The pairs and the inequalities of `lower_bound`, and good multipliers u for them.

    The inequalities are ordered: records, then triangles, then sets. The steps are diagonal (Pock
    and Chambolle 2011). The unit of y_i is the squared distance of record i to its (k-1)-th
    neighbour, because outliers are far from all others.
    """

    def __init__(self, points: np.ndarray, k: int, engine: Engine) -> None:
        self.loops = engine.PairLoops(points)
        self.k, self.n = k, (n := len(points))
        squares, records = engine.neighbours(self.loops.points, min(2 * k, n - 1))
        self.nearest = float(squares[:, : k - 1].sum()) * (1 - n * k * EPS) / (2 * k)
        self.unit = np.maximum(squares[:, k - 2], 1e-9 * squares[:, k - 2].mean() + 1e-300)
        self.u = 0.5 * self.unit
        self.keys, self.w = np.arange(n) * (n + 1), np.full(n, 1 / k)  # the pairs i, i
        self.triangles = np.empty((0, 4), dtype=np.int32)
        self.families: list[np.ndarray] = []
        each = np.arange(n)[:, np.newaxis]
        self.add_pairs((np.minimum(each, records) * n + np.maximum(each, records)).reshape(-1))

    def solve(self, progress: Progress | None, rounds: int = _ROUNDS, end: float = np.inf) -> float:
        """The best bound of several rounds by a time; the first has no triangles and sets."""
        best, work = self.nearest, 0.0
        most = 3e9 + 2e4 * self.n  # entries to pass over: some minutes for a million records
        for done in range(rounds):
            if clock() > end:
                break
            rows = self.rows()
            reached = -np.inf
            for look in range(_LOOKS):
                value = self.improve(rows)
                work += _PASSES * len(rows[1])
                if progress is not None:
                    progress((done + (look + 1) / _LOOKS) / rounds)
                if value < reached * (1 + _GAIN / 4) or work > most or clock() > end:
                    break
                reached = max(reached, value)
            if clock() > end:
                break
            missing, costs = self.missing()
            value, off = self.value(rows, self.u)
            value += float(costs.sum()) * (1 + len(costs) * EPS) / self.k - off
            still = done > 1 and look < _LOOKS - 1 and value < best * (1 + _GAIN)
            best = max(best, value)
            if still or work > most:
                break
            self.add_pairs(missing)
            self.add_sets(0.05 if done % 2 else 0.5)
            self.add_triangles()
        return best

    def rows(self) -> tuple[np.ndarray, ...]:
        """The inequalities: where each starts, its pairs, their signs, and the right sides."""
        n, low, high, every = self.n, self.low, self.high, np.arange(len(self.keys), dtype=np.int32)
        two, stop = low < high, n + len(self.triangles)
        row = [low, high[two], np.repeat(np.arange(n, stop, dtype=np.int32), 4)]
        pair = [every, every[two], self.triangles.reshape(-1)]
        sign = [np.ones(len(low) + np.count_nonzero(two), dtype=np.int8)]
        sign.append(np.tile(np.array([1, -1, -1, 1], dtype=np.int8), stop - n))
        right: list[np.ndarray] = [np.ones(n), np.zeros(stop - n)]
        for family in self.families:
            a, b = family[low], family[high]
            for side, some in ((a, a != b), (b, a != b), (a, ~two)):
                some = np.flatnonzero(some & (side >= 0))
                row.append(np.int32(stop) + side[some])
                pair.append(every[some])
                sign.append(np.where(two[some], np.int8(1), np.int8(-1)))
            sizes = np.bincount(family[family >= 0])
            right.append(-(sizes // self.k))
            stop += len(sizes)
        rows = np.concatenate(row)
        order = np.argsort(rows, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=stop))])
        pairs, signs = np.concatenate(pair)[order], np.concatenate(sign)[order]
        return start, pairs, signs, np.concatenate(right)

    def steps(self, rows: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Step lengths of pairs and rows."""
        length = np.diff(rows[0])
        units = [self.unit, self.unit[self.low[self.triangles[:, 0]]]]
        for family in self.families:
            sizes = np.bincount(family[family >= 0])
            units.append(np.bincount(family[family >= 0], self.unit[family >= 0]) / sizes)
        unit = np.concatenate(units)
        of_pair = np.bincount(rows[1], np.repeat(unit, length), minlength=len(self.keys))
        theta = 1 / self.k  # what w is like, where u is like its unit
        return theta / of_pair, unit / length / theta

    def improve(self, rows: tuple[np.ndarray, ...]) -> float:
        """Run some passes of the primal-dual method and return the bound by these pairs alone."""
        steps, state = self.steps(rows), (self.w, self.u)
        sums = np.zeros(len(self.w)), np.zeros(len(self.u))
        problem = PrimalDual(rows, self.squares, steps, state, sums)
        at_once = min(_PASSES, 1 + 2**25 // len(rows[1]))
        for first in range(0, _PASSES, at_once):
            passes = min(at_once, _PASSES - first)
            self.loops.improve(problem, passes, self.k)
        mean = sums[0] / _PASSES, sums[1] / _PASSES
        now, averaged = self.value(rows, self.u)[0], self.value(rows, mean[1])[0]
        if averaged > now:  # go on from there
            self.w, self.u = mean
        return max(now, averaged)

    def value(self, rows: tuple[np.ndarray, ...], u: np.ndarray) -> tuple[float, float]:
        """The bound by the present pairs, and the most that rounding may have added to it."""
        start, pair, _, right = rows
        cost = self.loops.reduced_costs(rows, self.squares, u)
        value = float((u * right).sum() + np.minimum(cost, 0.0).sum() / self.k)
        size = float((u * (np.abs(right) + np.diff(start))).sum() + self.squares.sum())
        return value, EPS * (len(pair) + len(cost) + 16) * size

    def missing(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs with c_ij < 0 not yet included, and their c_ij with rounding allowed for."""
        values, z, start = [], self.u[: self.n].copy(), self.n + len(self.triangles)
        for family in self.families:
            values.append(np.append(self.u[start : start + int(family.max()) + 1], 0.0))
            z += values[-1][family]  # -1 is the last
            start += len(values[-1]) - 1
        cheap = self.loops.cheap_pairs(z)
        keys = np.setdiff1d(cheap, self.keys, assume_unique=True)
        low, high = np.divmod(keys, self.n)
        paid = z[low] + z[high]
        cost = self.loops.squares_of(low, high) - paid
        for family, value in zip(self.families, values, strict=True):
            inside = family[low] == family[high]
            cost[inside] += 2 * value[family[low[inside]]]  # not across the border
        cost -= 32 * EPS * paid
        return keys[cost < 0], cost[cost < 0]

    def add_pairs(self, keys: np.ndarray) -> None:
        """Add pairs i < j, as numbers i * n + j."""
        before, w = self.keys, self.w
        self.keys = np.union1d(before, keys)
        place = np.searchsorted(self.keys, before).astype(np.int32)
        self.w = np.zeros(len(self.keys))
        self.w[place] = w
        self.triangles = place[self.triangles]
        self.low, self.high = (x.astype(np.int32) for x in np.divmod(self.keys, self.n))
        self.squares = self.loops.squares_of(self.low, self.high)

    def add_sets(self, least: float) -> None:
        """Add sets connected by pairs with w above `least` / k, if w violates their inequality."""
        strong = self.w > least / self.k
        label = self.loops.components(self.low[strong], self.high[strong])
        sizes = np.bincount(label)
        a, b = label[self.low], label[self.high]
        sign = np.where(self.low == self.high, -1, a != b)
        total = np.bincount(a, self.w * sign) + np.bincount(b, self.w * (a != b))
        broken = (total < -(sizes // self.k) - _BROKEN) & (sizes < _LARGE * self.k)
        if broken.any():
            number = np.where(broken, np.cumsum(broken) - 1, -1)
            self.families.append(number[label].astype(np.int32))
            self.u = np.append(self.u, np.zeros(np.count_nonzero(broken)))

    def add_triangles(self) -> None:
        """Add the triangles whose inequality w violates most."""
        n, k = self.n, self.k
        strong = np.flatnonzero(self.w > _BROKEN / k)
        low, high = self.low[strong].astype(np.int64), self.high[strong].astype(np.int64)
        two, w = low < high, self.w[strong]
        record, other = np.append(low, high[two]), np.append(high, low[two])
        order = np.argsort(record * n + other)
        record, other, w = record[order], other[order], np.append(w, w[two])[order]
        start = np.searchsorted(record, np.arange(n + 1))
        own = self.w[self.low == self.high]
        worst = self.loops.worst_triangles(start, other, w, own, _BROKEN / k)
        p = np.flatnonzero(worst >= 0)
        i, (j, h) = record[p], np.sort([other[p], other[worst[p]]], axis=0)
        self.add_pairs(j * n + h)
        beside = [np.minimum(i, x) * n + np.maximum(i, x) for x in (i, j, h)]
        rows = np.searchsorted(self.keys, np.stack([*beside, j * n + h], axis=1)).astype(np.int32)
        # Triangles with u = 0 are removed; of two equal ones the earlier stays, with its u.
        t, rest = self.u[n : n + len(self.triangles)], self.u[n + len(self.triangles) :]
        rows = np.concatenate([self.triangles[t > 0], rows])
        t = np.concatenate([t[t > 0], np.zeros(len(p))])
        number = rows[:, 1].astype(np.int64) * len(self.keys) + rows[:, 2]
        _, kept = np.unique(number, return_index=True)
        self.triangles, self.u = rows[kept], np.concatenate([self.u[:n], t[kept], rest])
