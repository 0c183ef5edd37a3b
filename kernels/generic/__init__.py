"""The generic engine: every operation by brute force in the Array API, on any array library.

It is the reference for the other engines, which must return the same partitions to the label.
What it promises, and they must keep: sums are correctly rounded (`sums.Total`), squared
distances are in difference form with the variables added in order, and ties go to the lowest
record index. Only annealing is in plain Python on the host, with an order of sums of its own.
"""

from .annealing import anneal
from .genetic import evolve
from .groups import join_closest_groups, join_nearest_records
from .mixed import MixedPointSet
from .moves import best_moves
from .nearest import nearest_records
from .neighbours import neighbours
from .pair_loops import PairLoops
from .paths import hilbert_path, nearest_path, shorten_tour
from .points import PointSet
from .regions import divide
from .segments import optimal_path_sizes, optimal_sizes
from .sums import correctly_rounded_sum
from .tours import hamiltonian_paths
from .tree import cut_edges, minimum_spanning_tree
from .ward import extreme_groups, merge_until_k

__all__ = [
    "MixedPointSet",
    "PairLoops",
    "PointSet",
    "anneal",
    "best_moves",
    "correctly_rounded_sum",
    "cut_edges",
    "divide",
    "evolve",
    "extreme_groups",
    "hamiltonian_paths",
    "hilbert_path",
    "join_closest_groups",
    "join_nearest_records",
    "merge_until_k",
    "minimum_spanning_tree",
    "nearest_path",
    "nearest_records",
    "neighbours",
    "optimal_path_sizes",
    "optimal_sizes",
    "shorten_tour",
]
