"""What an engine is: every operation once, with its types and its contract.

Three engines keep it (`kernels/__init__.py` names them for mypy). They return the same, to the last
bit: sums are correctly rounded, squared distances are in difference form with the variables added
in order, and ties go to the lowest record index. Operations that only some engines have are in
`optional.py`, the sets that methods take groups from in `point_set.py`, and the loops of the lower
bound in `bounding.py`.

``points`` is always an array of shape (n, d) of the library that the engine works in, and
``progress`` is called now and then with the fraction done.
"""

from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np

from .arguments import Evolution, Partition, Sweep
from .bounding import PairLoops as Loops
from .point_set import PointSet

EngineName = Literal["generic", "cpu", "cuda"]

Progress = Callable[[float], None]
"""Called with the fraction done, from 0 to 1."""


class Engine(Protocol):
    """The operations that every engine has."""

    @property
    def __name__(self) -> str: ...

    # Sums and searches

    def correctly_rounded_sum(self, columns: Any) -> Any:
        """Sum over the last axis, correctly rounded."""

    def nearest_records(
        self, points: Any, queries: Any, progress: Progress | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The point nearest to each query, and how many points are at exactly that distance.

        Parameters
        ----------
        points : array of shape (n, d)
            At least one.
        queries : array of shape (m, d)
            Of the same library, device and type as the points.

        Returns
        -------
        squares : float64 array of shape (m,)
            The least squared distance of each query.
        first : int64 array of shape (m,)
            The lowest index of a point at that distance.
        ties : int64 array of shape (m,)
            How many points are at that distance, 1 or more.
        """

    def neighbours(
        self, points: Any, m: int, progress: Progress | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The m records nearest to each record, itself left out.

        Parameters
        ----------
        points : array of shape (n, d)
            No squared distance may be too large for a number.
        m : int
            From 0 to n - 1.

        Returns
        -------
        squares : float64 array of shape (n, m)
            Squared distances, the least first.
        records : int64 array of shape (n, m)
            The records at these distances; of equally near ones the lowest index is first.
        """

    # Groups already formed

    def join_closest_groups(
        self, points: Any, groups: list[list[int]], leftovers: list[int]
    ) -> None:
        """Add each leftover record, in index order, to the group whose centroid is closest.

        Centroids move as records join (Laszlo and Mukherjee 2005, section 4.2: the last loop of the
        two fixed-size methods). Of equally close groups the first takes the record.
        """

    def join_nearest_records(
        self, points: Any, groups: list[list[int]], leftovers: list[int]
    ) -> None:
        """Add each leftover record to the group of the nearest record that is in one already.

        The last step of V-MDAV (Solanas and Martinez-Balleste 2006, section 2.3).
        """

    def MixedPointSet(self, points: Any, kinds: np.ndarray, weights: np.ndarray) -> PointSet:
        """A `PointSet` of records of numeric, ordinal and nominal variables.

        Its centroid is the average record: of the records that remain the mean of a numeric
        variable, the median of an ordinal one (of an even number the lower of the two in the
        middle, since it must be a category), and the mode of a nominal one (of several the lowest
        code). It has what MDAV asks for: `centroid`, `farthest_from`, `take_nearest`, `take_rest`.

        Parameters
        ----------
        points : array of shape (n, d)
            A nominal variable as the codes of its categories, 0, 1, ...
        kinds : int array of shape (d,)
            0 numeric, 1 ordinal: adds (a - b)**2 to the squared distance of two records; 2 nominal:
            adds 0 if the codes are equal, else its weight.
        weights : float array of shape (d,)
            Used for nominal variables only.
        """

    # Spanning trees and Ward's method

    def minimum_spanning_tree(
        self, points: Any, progress: Progress | None = None
    ) -> tuple[Any, Any]:
        """The Euclidean minimum spanning tree.

        Edges are ordered by squared length, then by their lower and higher end, which makes the
        tree unique whatever the algorithm that finds it. The tree may stay on a GPU, where
        `cut_edges` needs it.

        Returns
        -------
        edges : int64 array of shape (n - 1, 2)
            The lower end first, the edges in the order that makes the tree unique.
        lengths : float64 array of shape (n - 1,)
            Squared lengths.
        """

    def cut_edges(self, edges: Any, lengths: Any, n: int, k: int) -> np.ndarray:
        """Delete removable edges from the longest on, and label the trees that remain.

        Phases 2 and 3 of Laszlo and Mukherjee 2005 (sections 3.2 and 3.3): an edge goes if it
        leaves at least k nodes on both sides. Of equally long edges the one with the lowest
        records goes first.

        Parameters
        ----------
        edges, lengths
            What `minimum_spanning_tree` returns.
        n, k : int

        Returns
        -------
        labels : int64 array of shape (n,)
            Of each node, the lowest one of its tree.
        """

    def extreme_groups(
        self, points: Any, within: np.ndarray, k: int, descending: bool
    ) -> np.ndarray:
        """Form the two extreme groups of each problem by the maximum-distance criterion.

        Step 1 of Algorithm 1 of Domingo-Ferrer and Mateo-Sanz (2002): k records are gathered around
        each of the most distant two. The second group takes from what the first one leaves (1999,
        figure 2).

        Parameters
        ----------
        points : array of shape (n, d)
        within : int64 array of shape (n,)
            The problem each record belongs to. Each has at least 2k.
        k : int
        descending : bool
            Start from the higher record of the pair.

        Returns
        -------
        int64 array of shape (n,)
            The group each record is in, named by its lowest record; others are alone.
        """

    def merge_until_k(
        self,
        points: Any,
        labels: np.ndarray,
        within: np.ndarray,
        k: int,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Merge groups by Ward's method until each has at least k records.

        Step 2 of Algorithm 1 of Domingo-Ferrer and Mateo-Sanz (2002): merge the two groups whose
        union raises SSE least (Appendix II), never two that both have k records or more. Of equal
        pairs the one with the lowest records is merged.

        Parameters
        ----------
        points : array of shape (n, d)
        labels : int64 array of shape (n,)
            The group each record is in at first, named by its lowest record.
        within : int64 array of shape (n,)
            The problem each record belongs to: groups merge only within it. Each has at least k.
        k : int

        Returns
        -------
        int64 array of shape (n,)
            The group each record is in at last, named by its lowest record.
        """

    # Ranked values, strings of bits, paths and tours

    def optimal_sizes(self, values: Any, k: int) -> list[np.ndarray]:
        """Sizes of the optimal connected groups of each ranked variable, in rank order.

        The shortest path of Hansen and Mukherjee (2003): the best grouping of the first j values
        ends in a group of k, ..., 2k - 1 (2002 paper, Theorem 1 and Proposition 1). Of equally good
        last groups the smallest is taken. O(kn).

        Parameters
        ----------
        values : array of shape (n, v)
            A ranked variable in each column.
        k : int

        Returns
        -------
        list of v int64 arrays
        """

    def optimal_path_sizes(self, points: Any, k: int) -> tuple[np.ndarray, float]:
        """Sizes of the optimal connected groups of records on a path, and their SSE.

        The shortest path of `optimal_sizes` for records of several variables: multivariate
        Hansen-Mukherjee, MHM (Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz and Sebe 2006). O(knd).

        Parameters
        ----------
        points : array of shape (n, d)
            The records in the order of the path.
        k : int

        Returns
        -------
        sizes : int64 array
        sse : float
        """

    def evolve(
        self,
        prefix: Any,
        first: np.ndarray,
        k: int,
        evolution: Evolution,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """The best string that a genetic algorithm meets (2002, section 4.2).

        Parameters
        ----------
        prefix : array of shape (n + 1,) or (n + 1, d)
            Sums of the first 0, 1, ..., n ordered values, which are centred, of one variable or
            several. Its type is the one that fitness is computed in.
        first : int64 array
            Places of one string of the first generation; the others are drawn.
        k : int
        evolution : Evolution

        Returns
        -------
        int64 array
            Places where groups start, from 0, and then n at least once.
        """

    def hamiltonian_paths(
        self,
        points: Any,
        tour: str = "insertion",
        window: int = 50,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """For each record a path through all records that starts there (MF-TSP Algorithm 1, 2-5).

        Parameters
        ----------
        points : array of shape (n, d)
        tour : {"insertion", "nearest"}
            Farthest insertion in a closed tour, or a walk to the nearest record not yet visited.
        window : int
            A sweep of 2-opt reverses stretches of up to this many records; 0 or 1 reverses none.

        Returns
        -------
        int64 array of shape (n, n)
            Row i starts with record i.
        """

    def hilbert_path(self, points: Any) -> np.ndarray:
        """Records in the order of a Hilbert curve through the box of their principal components.

        All components have one unit, so that the curve turns first in those of much variance; it
        goes through the first 16. Of records in the same cell the lowest index is first.

        Returns
        -------
        int64 array of shape (n,)
        """

    def nearest_path(self, points: Any, progress: Progress | None = None) -> np.ndarray:
        """Nearest point next: from the record farthest from the centroid always to the nearest.

        The order NPN of the 2006 paper.

        Returns
        -------
        int64 array of shape (n,)
            The records in their order.
        """

    def shorten_tour(
        self, points: Any, path: np.ndarray, near: np.ndarray, progress: Progress | None = None
    ) -> np.ndarray:
        """Improve a closed tour by 2-opt and Or-opt until no move to a neighbour shortens it.

        The records wait in a queue, at first in the order of the tour. For the one whose turn it
        is, a, the move that shortens the tour most is made, and the ends of the edges changed queue
        up again. A move makes an edge from a to one of the records near to it, c, instead of a
        longer one from a to b, before or after it on the tour:

        2-opt    c leaves the record d on the same side, and an edge from b to d closes the tour;
        Or-opt   a goes between c and the record before or after it, with up to two records that
                 follow it on the side away from b.

        Of equally good moves the first tried is made: b after a and then before; in the order of
        `near`; 2-opt, then 1, 2 and 3 records put after c and then before it.

        Parameters
        ----------
        points : array of shape (n, d)
        path : int64 array of shape (n,)
            The tour to begin with; its last record is next to its first.
        near : int64 array of shape (n, m)
            Records near to each, nearest first.

        Returns
        -------
        int64 array of shape (n,)
        """

    # Refinement

    def divide(self, points: Any, labels: Any, regions: int, seed: np.uint64) -> tuple[Any, Any]:
        """Divide a partition into regions for `anneal`, others for each seed.

        Groups are in the order of their numbers and are halved again and again, until a part is one
        region: the one with regions l to h - 1 (at first 0 to `regions` - 1) and with the number p
        (at first 1) is sorted by where its centroids are along the line through two of them, which
        stream p of the generator draws. Its first half has the regions up to (l + h) // 2 and the
        number 2 p, the other one the rest and 2 p + 1. Region r begins with the group at place
        r * groups // regions of all.

        Parameters
        ----------
        points, labels
            As in `anneal`.
        regions : int
            From 1 to the number of groups.
        seed : uint64

        Returns
        -------
        groups, starts
            As in `Sweep`.
        """

    def anneal(self, points: Any, near: Any, labels: Any, k: int, sweep: Sweep) -> float:
        """Change a partition by random steps.

        The arrays are NumPy's, and CuPy's for the CUDA engine.

        Parameters
        ----------
        points : float64 array of shape (n, d)
        near : int64 array of shape (n, m)
            Neighbours of each record, nearest first, then -1. Only records that these connect
            ever meet.
        labels : int64 array of shape (n,)
            Groups of k to 3k records, numbered from 0 without gaps. Changed to the new groups, in
            some numbering below n.
        k : int
        sweep : Sweep

        Returns
        -------
        float
            The within-groups sum of squares.
        """

    def best_moves(
        self,
        points: Any,
        partition: Partition,
        near: Any,
        records: np.ndarray,
        k: int,
        least: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each of some records the change that lowers the within-groups sum of squares most.

        A record i in a group of s records can join another, of t records and centroid e, if s > k
        and t < 2k - 1; with c the centroid of its own the sum rises by
        |i - e|^2 t / (t + 1) - |i - c|^2 s / (s - 1). Or it changes places with a record z of that
        group: the sum rises by
        (|z - c|^2 - |z - e|^2) + (|i - e|^2 - |i - c|^2) - |i - z|^2 (1/s + 1/t).

        Parameters
        ----------
        points : array of shape (n, d)
        partition : Partition
            The members of a group are in ascending order.
        near : int64 array of shape (n, m)
            Neighbours of each record; -1 for none. The groups of these are tried. Of the same
            library and device as the points, where it stays from one round to the next.
        records : int64 array
            The records to look for.
        k : int
        least : float
            A fall that is not more than this counts for nothing: it may be an error of rounding.

        Returns
        -------
        rise : float64 array
            How much the sum of squares rises: below 0, or inf where nothing lowers it.
        group : int64 array
            The other group; -1 if there is nothing to do.
        other : int64 array
            The record to change places with; -1 if the record only joins the group.
        """

    # The lower bound

    def PairLoops(self, points: Any) -> Loops:
        """The loops of the lower bound over the pairs of some records."""
