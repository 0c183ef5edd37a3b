"""Limits on how many groups have records of a set: cuts of the set partition program."""

from itertools import combinations

import numpy as np

_BROKEN = 0.03  # by how much a solution must break a limit that is added
_OFTEN = 4  # new limits that a record may be in
_SEEDS = 10  # sets to begin with, for one group
_FRACTION = 0.02  # least share of a group that counts


class Limits:
    """Sets S of records and sizes q: at most ``floor(|S| / q)`` groups have q or more of S.

    For disjoint groups that is plain; for shares of groups, as in a linear program, it is not: of
    4 records far from all others, each 3 may be a group with share 1/3, which makes 4/3 groups
    with q = 3 of them. With q = 2 and 3 records these are the subset-row inequalities of Jepsen,
    Petersen, Spoorendonk and Pisinger (2008).
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._sets: list[tuple[tuple[int, ...], int]] = []

    @property
    def sizes(self) -> np.ndarray:
        """The q of each limit."""
        return np.array([size for _, size in self._sets], dtype=np.int64)

    @property
    def most(self) -> np.ndarray:
        """How many groups may have q or more records of each set."""
        return np.array([len(members) // size for members, size in self._sets], dtype=np.float64)

    def of_records(self) -> tuple[np.ndarray, np.ndarray]:
        """The limits that each record is in: where its list starts, and all lists."""
        members = [np.asarray(members, dtype=np.int64) for members, _ in self._sets]
        record = np.concatenate([*members, np.empty(0, dtype=np.int64)])
        number = np.repeat(np.arange(len(members)), [len(some) for some in members])
        start = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=self._n))])
        return start, number[np.argsort(record, kind="stable")].astype(np.int64)

    def broken(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which groups count for which limits."""
        if not self._sets:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        start, number = self.of_records()
        group, place = np.nonzero(groups >= 0)
        record = groups[group, place]
        length = start[record + 1] - start[record]
        before = np.cumsum(length) - length
        entries = np.repeat(start[record] - before, length) + np.arange(length.sum())
        key = np.repeat(group, length) * len(self._sets) + number[entries]
        key, count = np.unique(key, return_counts=True)
        by = key % len(self._sets)
        counted = count >= self.sizes[by]
        return key[counted] // len(self._sets), by[counted]

    def renew(self, used: np.ndarray, groups: np.ndarray, shares: np.ndarray, k: int) -> int:
        """Keep those that are used, and add some that the shares of groups break: how many?

        A set grows from q records of a group, by the record that lets most others count, to
        2q - 1 and 3q - 1 records: with one more, there could be one more group.
        """
        kept = [limit for limit, stays in zip(self._sets, used, strict=True) if stays]
        some = shares > _FRACTION
        members = [frozenset(row[row >= 0].tolist()) for row in groups[some]]
        search = _Search(members, shares[some].tolist(), self._n)
        found: dict[tuple[tuple[int, ...], int], float] = {}
        for size in range(2, k + 1):
            for group, share in zip(members, search.shares, strict=True):
                if share < 1 - _FRACTION and len(group) >= size:
                    seeds = list(combinations(sorted(group), size))
                    for seed in seeds[:_SEEDS]:
                        search.grow(seed, size, found)
        for limit in kept:
            found.pop(limit, None)
        load, new = np.zeros(self._n, dtype=np.int64), []
        for limit in sorted(found, key=lambda limit: (-found[limit], limit)):
            if load[list(limit[0])].max() < _OFTEN:
                load[list(limit[0])] += 1
                new.append(limit)
        self._sets = kept + new
        return len(new)


class _Search:
    """Groups with their shares, and the groups of each record."""

    def __init__(self, members: list[frozenset[int]], shares: list[float], n: int) -> None:
        self.members, self.shares = members, shares
        self.groups: list[list[int]] = [[] for _ in range(n)]
        for number, group in enumerate(members):
            for record in group:
                self.groups[record].append(number)

    def grow(
        self, seed: tuple[int, ...], size: int, found: dict[tuple[tuple[int, ...], int], float]
    ) -> None:
        """Write down the sets with broken limits that grow from some records."""
        chosen = set(seed)
        counts: dict[int, int] = {}
        for record in seed:
            self._count(record, counts)
        for length in (2 * size - 1, 3 * size - 1):
            while len(chosen) < length:
                gains: dict[int, float] = {}
                for number, count in counts.items():
                    if count < size:
                        gain = self.shares[number] * (1.0 if count == size - 1 else 0.01 * count)
                        for record in self.members[number] - chosen:
                            gains[record] = gains.get(record, 0.0) + gain
                if not gains:
                    break
                best = min(gains, key=lambda record: (-gains[record], record))
                chosen.add(best)
                self._count(best, counts)
            total = sum(self.shares[number] for number, c in counts.items() if c >= size)
            excess = total - len(chosen) // size
            if excess > _BROKEN:
                found[tuple(sorted(chosen)), size] = excess

    def _count(self, record: int, counts: dict[int, int]) -> None:
        for number in self.groups[record]:
            counts[number] = counts.get(number, 0) + 1
