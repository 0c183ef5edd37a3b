"""What some operations of the engines take, by name."""

from typing import Any, NamedTuple

import numpy as np

FEW = 5000  # records that the `PairLoops` of all engines leave in their order: they fit a cache


class Evolution(NamedTuple):
    """How a genetic algorithm searches (2002, section 4.2)."""

    population: int  # strings
    generations: int  # after the first, at most
    convergence: str  # "average" or "maximal": the fitness whose standstill ends the search
    pcross: float  # probability of crossover
    pmut: float  # probability of inverting a bit
    seed: int


class Sweep(NamedTuple):
    """Random steps within regions of a partition; every group is in one."""

    groups: Any  # int64, region by region
    starts: Any  # int64: region r has groups[starts[r]:starts[r + 1]]
    heat: Any  # float64 (n,) temperature of each record; with 0 nothing gets worse
    rate: float  # steps for each record
    seed: np.uint64


class Partition(NamedTuple):
    """Groups of fewer than 2k records."""

    labels: np.ndarray  # int64 (n,) group of each record
    members: np.ndarray  # int64 (groups, 2k - 1) records of each, then -1
    centroids: np.ndarray  # float64 (groups, d)


class PrimalDual(NamedTuple):
    """Primal-dual steps for the relaxation of a lower bound, and where they are."""

    rows: tuple[np.ndarray, ...]  # the inequalities
    squares: np.ndarray  # squared distances of the pairs
    steps: tuple[np.ndarray, np.ndarray]  # their lengths, of pairs and of rows
    state: tuple[np.ndarray, np.ndarray]  # w of pairs, u of rows; changed
    sums: tuple[np.ndarray, np.ndarray]  # as `state`: what it is after each pass is added
