"""The operations of the lower bound on the loss, with their types and contracts."""

from typing import Protocol, runtime_checkable

import numpy as np

from .arguments import PrimalDual


class PairLoops(Protocol):
    """Loops over pairs of records that may share a group, for a lower bound on the loss.

    `microagg_gpu.measures.bound` says what they compute and why. All of it is on the host. Pairs
    (i, j) have i <= j; `rows` are the inequalities (start, pair, sign, right): those of row r are
    the pairs from start[r] on with their signs, and right[r] is its right side.
    """

    @property
    def points(self) -> np.ndarray:
        """The records, in the order by which pairs name them."""

    def squares_of(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Squared distances of pairs."""

    def cheap_pairs(self, y: np.ndarray) -> np.ndarray:
        """All pairs i < j with a squared distance below y_i + y_j, as numbers i * n + j, in order.

        With some more where it is as good as equal, so that none is missed if y is rounded.
        """

    def improve(self, problem: PrimalDual, passes: int, k: int) -> None:
        """Primal-dual steps (Chambolle and Pock 2011) of the relaxation, with sums for averages."""

    def reduced_costs(
        self, rows: tuple[np.ndarray, ...], squares: np.ndarray, u: np.ndarray
    ) -> np.ndarray:
        """Costs c of pairs: their squares, less what the rows that they are in pay for."""

    def components(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Number the sets of records that pairs connect, in the order of their lowest records."""

    def worst_triangles(
        self, start: np.ndarray, other: np.ndarray, w: np.ndarray, own: np.ndarray, least: float
    ) -> np.ndarray:
        """For each record i and j beside it, the l with the greatest w_ij + w_il - w_jl - w_ii.

        Parameters
        ----------
        start, other, w : arrays
            The records beside each record in order, from place start[i] on, and their w. Most are
            beside themselves; l may be j.
        own : array of shape (n,)
            The w_ii.
        least : float
            What is not above this does not count.

        Returns
        -------
        int64 array
            The place of l at the place of j; -1 if there is none.
        """


@runtime_checkable
class HasPricing(Protocol):
    """An engine that searches for groups that pay more than they cost: cpu."""

    def price(
        self,
        points: np.ndarray,
        order: np.ndarray,
        begin: int,
        nearest: np.ndarray,
        prices: np.ndarray,
        limits: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        k: int,
        most: int,
        columns: np.ndarray,
    ) -> tuple[int, int, int]:
        """Lower prices until no group with one of some records as its first pays too much.

        Parameters
        ----------
        points : float64 array of shape (n, d)
        order : int64 array
            The order of the records; a group belongs to its first.
        begin : int
            Place in `order` to begin at.
        nearest : float64 array of shape (n, 2k)
            Sums of the least 0, 1, 2, ... squared distances of each record.
        prices : float64 array
            Changed: lowered for the records of groups that pay too much.
        limits : start, number, fine, size
            The limits that each record is in, and of each limit its fine and how many of its
            records a group must have to be fined.
        k : int
        most : int
            Steps to take for one record and size. If they do not suffice, the price of the record
            falls by what is left.
        columns : int64 array of shape (rows, 2k - 1)
            Gets the groups that paid too much, filled up with -1.

        Returns
        -------
        tuple of int
            The place to go on at, how many groups were found, and how many searches were given up.
        """
