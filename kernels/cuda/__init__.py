"""The CUDA engine: the operations of the generic engine in Numba CUDA, for arrays on a GPU.

Every operation returns what the generic one does, to the last bit. Long loops run on the device as
a whole. What is left to the host is the control of rounds, the cutting of trees whose edges wait
for each other, the recursion of k-Ward, and paths with their cuts. Sets of mixed variables are the
generic engine's, in CuPy. There is no `PointSet`: a launch for each step would cost too much.

Arrays are CuPy's, or NumPy's where CUDA is simulated.
"""

from ..cpu.pair_loops import PairLoops
from ..cpu.paths import nearest_path, shorten_tour
from ..cpu.segments import optimal_path_sizes
from ..generic import (
    MixedPointSet,
    hilbert_path,
    join_closest_groups,
    join_nearest_records,
)
from .annealing import anneal
from .cut import cut_edges
from .fixed_size import centroid_groups, diameter_groups, extreme_groups, mdav_groups, vmdav_groups
from .genetic import evolve
from .launching import at_its_arrays
from .moves import best_moves
from .mst import minimum_spanning_tree
from .regions import divide
from .search import nearest_records, neighbours
from .segments import optimal_sizes
from .sums import correctly_rounded_sum
from .tours import hamiltonian_paths
from .ward import merge_until_k

__all__ = [
    "MixedPointSet",
    "PairLoops",
    "anneal",
    "best_moves",
    "centroid_groups",
    "correctly_rounded_sum",
    "cut_edges",
    "diameter_groups",
    "divide",
    "evolve",
    "extreme_groups",
    "hamiltonian_paths",
    "hilbert_path",
    "join_closest_groups",
    "join_nearest_records",
    "mdav_groups",
    "merge_until_k",
    "minimum_spanning_tree",
    "nearest_path",
    "nearest_records",
    "neighbours",
    "optimal_path_sizes",
    "optimal_sizes",
    "shorten_tour",
    "vmdav_groups",
]

for _name in __all__:
    if not isinstance(globals()[_name], type):
        globals()[_name] = at_its_arrays(globals()[_name])
