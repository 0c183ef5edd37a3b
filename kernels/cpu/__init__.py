"""The CPU engine: the operations of the generic engine in Numba, by search trees and on all cores.

Every operation returns what the generic one does, to the last bit.
"""

from ..generic import (
    MixedPointSet,
    divide,
    hilbert_path,
    join_closest_groups,
    join_nearest_records,
)
from .annealing import anneal
from .few import groups_of_few
from .genetic import evolve
from .loops import centroid_groups, mdav_groups, vmdav_groups
from .mixed import mixed_mdav_groups
from .moves import best_moves
from .mst import cut_edges, minimum_spanning_tree
from .nearest import nearest_records
from .neighbours import neighbours
from .pair_loops import PairLoops
from .paths import nearest_path, shorten_tour
from .points import PointSet
from .pricing import price
from .segments import optimal_path_sizes, optimal_sizes
from .sums import correctly_rounded_sum
from .tours import hamiltonian_paths
from .ward import extreme_groups, merge_until_k

__all__ = [
    "MixedPointSet",
    "PairLoops",
    "PointSet",
    "anneal",
    "best_moves",
    "centroid_groups",
    "correctly_rounded_sum",
    "cut_edges",
    "divide",
    "evolve",
    "extreme_groups",
    "groups_of_few",
    "hamiltonian_paths",
    "hilbert_path",
    "join_closest_groups",
    "join_nearest_records",
    "mdav_groups",
    "merge_until_k",
    "minimum_spanning_tree",
    "mixed_mdav_groups",
    "nearest_path",
    "nearest_records",
    "neighbours",
    "optimal_path_sizes",
    "optimal_sizes",
    "price",
    "shorten_tour",
    "vmdav_groups",
]
