"""Blocks of similar records: how a file that is too large for one machine is divided.

The 2002 paper (after Algorithm 1) advises to divide a large data set into connected subsets and to
microaggregate each by itself. Here a set of records is divided in two along the direction of its
largest spread, the first principal component, at a quantile, and so are the parts, until each is
small enough. Directions and quantiles come from a sample; then the records of each block are
counted.
"""

from typing import NamedTuple

import numpy as np


class Forest(NamedTuple):
    """Trees of cuts, one for each set of records.

    Attributes
    ----------
    start : int array of shape (sets,)
        Where each set begins: a cut, or ~block if it is not divided.
    direction : float array of shape (cuts, d)
        Unit vectors.
    threshold : float array of shape (cuts,)
        Records whose product with the direction is above it are the second part.
    child : int array of shape (cuts, 2)
        Where each part goes on: a cut, or ~block.
    shares : int array of shape (blocks,)
        Into how many blocks a part is dealt that is too large, since no cut divides equal records.
    """

    start: np.ndarray
    direction: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    shares: np.ndarray

    @property
    def blocks(self) -> int:
        """How many blocks there are; some may be empty."""
        return int(self.shares.sum())

    def block_of(self, sets: np.ndarray, points: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """The block of each record, by its set, its point, and a number to deal equal ones by."""
        at = self.start[sets]
        while len(rows := np.flatnonzero(at >= 0)):
            along = np.einsum("ij,ij->i", points[rows], self.direction[at[rows]])
            at[rows] = self.child[at[rows], (along > self.threshold[at[rows]]).astype(np.int64)]
        first = np.cumsum(self.shares) - self.shares
        return first[~at] + numbers % self.shares[~at]

    def cuts_around(self, block: int) -> list[int]:
        """The cuts that part a block from others."""
        part = int(np.searchsorted(np.cumsum(self.shares), block, side="right"))
        found, below = [], {~part}
        for cut in range(len(self.child) - 1, -1, -1):  # a cut comes before those of its parts
            if below & set(self.child[cut].tolist()):
                found.append(cut)
                below.add(cut)
        return found


def plan(sets: np.ndarray, points: np.ndarray, counts: np.ndarray, size: int, least: int) -> Forest:
    """Divide sets of records into blocks of about equal size; small sets share a block.

    Parameters
    ----------
    sets : int array of shape (m,)
        The set of each record of a sample.
    points : float array of shape (m, d)
    counts : int array
        How many records each set has.
    size : int
        The most records in a block, about.
    least : int
        The least number of records in a block of a set that is divided, about: 2k, so that it has
        groups to choose from.
    """
    directions: list[np.ndarray] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    blocks = 0

    def divide(rows: np.ndarray, parts: int) -> int:
        nonlocal blocks
        if parts > 1:
            direction = _largest_spread(points[rows])
            along = points[rows] @ direction
            threshold = float(np.quantile(along, (parts // 2) / parts, method="lower"))
            second = along > threshold
            if second.any():
                cut = len(children)
                directions.append(direction)
                thresholds.append(threshold)
                children.append([])
                for part, some in ((rows[~second], parts // 2), (rows[second], parts - parts // 2)):
                    children[cut].append(divide(part, some))
                return cut
        blocks += 1
        return ~(blocks - 1)

    start = np.empty(len(counts), dtype=np.int64)
    room = 0  # in the block that small sets share
    for number, count in enumerate(counts.tolist()):
        parts = min(-(-count // size), count // max(least, 1))
        rows = np.flatnonzero(sets == number) if parts > 1 else np.empty(0, dtype=np.int64)
        if len(rows) > 1:
            start[number] = divide(rows, parts)
            room = 0
            continue
        if count > room:
            blocks += 1
            room = max(size, count)
        start[number] = ~(blocks - 1)
        room -= count
    return Forest(
        start,
        np.array(directions).reshape(len(directions), points.shape[1]),
        np.array(thresholds),
        np.array(children, dtype=np.int64).reshape(-1, 2),
        np.ones(blocks, dtype=np.int64),
    )


def _largest_spread(points: np.ndarray) -> np.ndarray:
    """The first principal component."""
    centred = points - points.mean(axis=0)
    return np.linalg.eigh(centred.T @ centred)[1][:, -1]


def balance(forest: Forest, counts: np.ndarray, size: int, least: int) -> Forest:
    """A forest in which no block of a divided set is too small, and none much too large.

    Parameters
    ----------
    counts : int array of shape (blocks,)
        How many records each block has.
    """
    child = forest.child.copy()

    def total(at: int) -> int:
        if at < 0:
            return int(counts[~at])
        first, second = (total(int(to)) for to in child[at])
        if first < least:  # its records go where the others go
            child[at, 0] = child[at, 1]
        elif second < least:
            child[at, 1] = child[at, 0]
        return first + second

    for at in forest.start[forest.start >= 0].tolist():
        total(at)
    shares = np.where(counts > 2 * size, -(-counts // size), 1)
    return forest._replace(child=child, shares=shares)


def borders(
    forest: Forest, block: int, points: np.ndarray, labels: np.ndarray, centres: np.ndarray
) -> np.ndarray:
    """For each group of a block the cut that it is nearest to, or -1 if it is far from all.

    A group is near if one of its records is nearer to the cut than to the centroid, which
    `centres` has for each record: records on the other side may be better company.
    """
    own = np.sqrt(np.square(points - centres).sum(axis=1))
    nearest = np.ones(labels.max() + 1)
    found = np.full(len(nearest), -1)
    for cut in forest.cuts_around(block):
        apart = np.abs(points @ forest.direction[cut] - forest.threshold[cut])
        near = np.full(len(nearest), np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.fmin.at(near, labels, apart / own)
        better = near < nearest
        nearest[better], found[better] = near[better], cut
    return found
