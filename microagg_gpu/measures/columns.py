"""A lower bound on the loss from groups as a whole: set partitioning by column generation."""

from collections.abc import Callable
from contextlib import suppress
from types import ModuleType

import numpy as np

from ..engines import choose
from ..errors import InputError
from ..kernels.bounding import HasPricing
from ..kernels.compiling import clock
from ..kernels.protocol import Progress
from .limits import Limits

EPS = float(np.finfo(np.float64).eps)  # twice the unit roundoff
MOST = 20_000  # records: each is compared with all others again and again
_CLOSE = 1e-9  # share of the bound: a smaller gap counts as none
_NEAR = 1e-4  # of the program without further limits: near enough to add some
_BACK = 0.3  # weight of the best prices so far in those that are tried (Wentges 1997)
_WIDTH = 0.5  # how far prices may move in one round, of themselves
_STEPS = 10**7, 4 * 10**8  # of one search: at first and at most, which takes about a second
_WAIT = 12  # rounds with the same limits, at most
_KEPT = 4  # columns for each record
_SMALL = 300  # records up to which the simplex method is as quick as the interior point method


def solver() -> ModuleType:
    """HiGHS, or an error that names the extra."""
    try:
        import highspy
    except ImportError:
        raise InputError(
            "seconds for the lower bound need highspy: pip install 'microagg-gpu[bound]'"
        ) from None
    return highspy


class Columns:
    """Groups as columns of a linear program, and prices of records that prove a bound.

    Any prices u_i prove one if no group G of k to 2k - 1 records costs less than it pays, so if
    ``SSE(G) >= sum of u_i in G``: each record of a partition is in one group, so its SSE is at
    least the sum of all u_i. The best prices are the dual solution of a linear program that has a
    column for each group and a row for each record (Aloise, Hansen and Rocha 2014). It starts
    with some groups; a search (`kernels.cpu.pricing`) finds others that pay too much at its
    prices; it is solved again with these; and so on.

    *A bound at any time.* Where the search finds a group that pays too much, it lowers the prices
    of its records until the group pays what it costs, and goes on with these. Prices only fall,
    so what was searched before stays true: at the end no group pays too much, and the sum is a
    bound. A search that takes too long lowers the price of its record by all that may be left.

    *Limits* (Jepsen et al. 2008; `Limits`) are added where the solution has parts of groups: of a
    set S of records, at most ``floor(|S| / q)`` groups have q or more. With a fine f >= 0 for
    each such group, a group costs its SSE and its fines, and the bound is::

        sum of u_i - sum over limits of f floor(|S| / q).

    *Rounding.* A search compares a sum of at most 4 k^2 + d + 2k terms of one sign with the
    prices of m records. While the true cost is below what is paid, all terms are at most what is
    paid: so it is off by at most ``EPS (4 k^2 + d + 64)`` times the sum of the positive u_i
    before they fell, twice. Each u_i counts with that much less of itself. The program itself
    needs no care: prices are only proposed by it.

    So that prices do not swing, a row is bought or sold for a price that is half as large again,
    or half as large, as the best so far; and the prices that are tried lie between these and the
    solution's.
    """

    def __init__(self, points: np.ndarray, k: int, labels: np.ndarray | None, end: float) -> None:
        self.highs, self.points, self.k, self.end = solver(), points, k, end
        self.n = len(points)
        engine = choose(points, "cpu")[1]
        assert isinstance(engine, HasPricing)
        self.engine = engine
        squares, records = engine.neighbours(points, 2 * k - 1)
        # Sums of the least 0, 1, 2, ... squares of each record.
        self.nearest = np.zeros((self.n, 2 * k))
        self.nearest[:, 1:] = np.cumsum(squares, axis=1)
        self.limits = Limits(self.n)
        near = np.column_stack([np.arange(self.n), records[:, : k - 1]])
        self.groups = self._table(list(near))
        start = self.nearest[:, k - 1] / (2 * k)
        self.upper = np.inf
        if labels is not None:
            order = np.argsort(labels, kind="stable")
            given = np.split(order, np.cumsum(np.bincount(labels))[:-1])
            self.upper = 0.0
            for group in given:
                off = ((points[group] - points[group].mean(axis=0)) ** 2).sum(axis=1)
                self.upper += float(off.sum())
                # Half of its pairs with the others: a first guess of what each should pay.
                start[group] = np.maximum(start[group], 0.485 * (off + off.mean()))
            self._add(self._table([group for group in given if len(group) < 2 * k]))
        self.least = 1e-2 * float(start.mean()) + 1e-300
        self.best, self.prices, self.fines = -np.inf, start, np.zeros(0)
        self.steps = _STEPS[0]

    def solve(self, least: float, progress: Progress | None) -> float:
        """The best bound by the end of the time, or `least`, if that is better."""
        begun = clock()

        def report_time() -> None:
            if progress is not None:
                progress(min(1.0, (clock() - begun) / max(self.end - begun, 1e-9)))

        with suppress(TimeoutError, KeyboardInterrupt):
            self._run(least, report_time)
        return max(least, self.best)

    def _run(self, least: float, report_time: Callable[[], None]) -> None:
        self._try(self.prices, self.fines, report_time)
        rounds, stuck, reached = 0, False, self.best
        while max(self.best, least) < self.upper * (1 - _CLOSE):
            groups, before = self.groups, self.best
            prices, fines, value, shares, bought = self._program()
            back = 0.0 if stuck else _BACK
            new, left = self._try(
                back * self.prices + (1 - back) * prices,
                back * self.fines + (1 - back) * fines, report_time,
            )  # fmt: skip
            rounds += 1
            rose = self.best > before + _CLOSE * abs(value)
            if rose:  # else what is forgotten could come back for ever
                self._forget(prices, fines)
            finished = stuck and not rose and new == 0
            close = self.best >= value - _NEAR * abs(value)
            if left and not rose and self.steps < _STEPS[1]:
                self.steps *= 4
            elif finished or (bought < 1 and (close or rounds > _WAIT)):
                rose_since = self.best > reached + _CLOSE * abs(value)
                if not self._limit(groups, shares, rose_since) and finished:
                    break
                rounds, reached = 0, self.best
            stuck = not rose

    def _try(
        self, prices: np.ndarray, fines: np.ndarray, report_time: Callable[[], None]
    ) -> tuple[int, int]:
        """Make a bound of some prices; count new groups and searches that were given up."""
        paid = np.maximum(prices, 0.0)
        prices, order = prices.copy(), np.argsort(-prices, kind="stable")
        start, number = self.limits.of_records()
        limits = start, number, fines, self.limits.sizes
        room = np.empty((4096, 2 * self.k - 1), dtype=np.int64)
        place, left, found = 0, 0, []
        while place < self.n:
            place, count, given_up = self.engine.price(
                self.points, order, place, self.nearest, prices, limits, self.k, self.steps, room
            )
            found.append(room[:count].copy())
            left += given_up
            report_time()
            if clock() > self.end:
                raise TimeoutError
        before = len(self.groups)
        self._add(np.concatenate(found))
        gamma = 2 * EPS * (4 * self.k**2 + self.points.shape[1] + 64)
        pays = fines * self.limits.most
        size = float(np.abs(prices).sum() + pays.sum())
        bound = float(prices.sum() - gamma * paid.sum() - pays.sum())
        bound -= 2 * EPS * (self.n + len(fines)) * size
        if bound > self.best:
            self.best, self.prices, self.fines = bound, prices, fines
        return len(self.groups) - before, left

    def _program(self) -> tuple[np.ndarray, np.ndarray, float, np.ndarray, float]:
        """Prices, fines, value, shares of groups and what was bought: the program solved."""
        n, groups, limits = self.n, self.groups, self.limits
        count, rows = len(groups), n + len(limits.sizes)
        column, place = np.nonzero(groups >= 0)
        fined, by = limits.broken(groups)
        every = np.arange(n)
        columns = np.concatenate([column, fined, count + every, count + n + every])
        where = np.concatenate([groups[column, place], n + by, every, every])
        values = np.concatenate([np.ones(len(column) + len(fined) + n), np.full(n, -1.0)])
        order = np.argsort(columns, kind="stable")
        scale = self.least * 100
        width = np.maximum(np.abs(self.prices), self.least * 10) * _WIDTH
        costs = [self._costs(groups), self.prices + width, width - self.prices]
        program = self.highs.HighsLp()
        program.num_col_, program.num_row_ = count + 2 * n, rows
        program.col_cost_ = np.concatenate(costs) / scale
        program.col_lower_ = np.zeros(count + 2 * n)
        program.col_upper_ = np.full(count + 2 * n, np.inf)
        program.row_lower_ = np.concatenate([np.ones(n), np.full(rows - n, -np.inf)])
        program.row_upper_ = np.concatenate([np.ones(n), limits.most])
        program.a_matrix_.format_ = self.highs.MatrixFormat.kColwise
        program.a_matrix_.start_ = np.concatenate(
            [[0], np.cumsum(np.bincount(columns, minlength=count + 2 * n))]
        ).astype(np.int32)
        program.a_matrix_.index_ = where[order].astype(np.int32)
        program.a_matrix_.value_ = values[order]
        highs = self.highs.Highs()
        highs.HandleKeyboardInterrupt = True
        for name, value in (
            ("output_flag", False), ("threads", 1), ("presolve", "off"), ("run_crossover", "off"),
            ("solver", "simplex" if n <= _SMALL else "ipm"),
            ("time_limit", max(0.01, self.end - clock())),
        ):  # fmt: skip
            highs.setOptionValue(name, value)
        highs.passModel(program)
        highs.run()
        if clock() > self.end:
            raise TimeoutError
        solution = highs.getSolution()
        dual = np.array(solution.row_dual) * scale
        shares = np.array(solution.col_value)
        if len(dual) != rows or not np.isfinite(dual).all():
            raise TimeoutError  # the program has no answer: what is proved stays
        total = highs.getInfo().objective_function_value * scale
        fines = np.maximum(0.0, -dual[n:])
        return dual[:n], fines, total, shares[:count], float(shares[count:].sum())

    def _limit(self, groups: np.ndarray, shares: np.ndarray, forget: bool) -> bool:
        """Add limits that the solution breaks; perhaps forget those that cost nothing."""
        used = (self.fines > 1e-6 * self.least) | (not forget)
        new = self.limits.renew(used, groups, shares, self.k)
        self.fines = np.append(self.fines[used], np.zeros(new))
        return new > 0

    def _forget(self, prices: np.ndarray, fines: np.ndarray) -> None:
        """Leave the columns that cost least at these prices, if there are many."""
        most = _KEPT * self.n
        if len(self.groups) <= 1.5 * most:
            return
        paid = np.append(prices, 0.0)[self.groups].sum(axis=1)
        fined, by = self.limits.broken(self.groups)
        extra = np.bincount(fined, fines[by], minlength=len(self.groups))
        excess = self._costs(self.groups) + extra - paid
        self.groups = self.groups[excess <= np.partition(excess, most)[most]]

    def _costs(self, groups: np.ndarray) -> np.ndarray:
        """Sums of squares of groups."""
        inside = (groups >= 0)[:, :, np.newaxis]
        some = np.where(inside, self.points[groups], 0.0)
        mean = some.sum(axis=1, keepdims=True) / inside.sum(axis=1, keepdims=True)
        return np.where(inside, (some - mean) ** 2, 0.0).sum(axis=(1, 2))

    def _table(self, groups: list[np.ndarray]) -> np.ndarray:
        """Groups as rows, filled up with -1."""
        table = np.full((len(groups), 2 * self.k - 1), -1, dtype=np.int64)
        for row, group in zip(table, groups, strict=True):
            row[: len(group)] = group
        return table

    def _add(self, groups: np.ndarray) -> None:
        """Add columns, each once."""
        ordered = -np.sort(-groups, axis=1)  # -1 at the end
        self.groups = np.unique(np.concatenate([-np.sort(-self.groups, axis=1), ordered]), axis=0)
