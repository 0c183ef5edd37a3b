"""What each CUDA kernel costs for each thing it looks at, by its text."""

from dataclasses import dataclass
from fractions import Fraction

D = 10  # variables of the figures


@dataclass(frozen=True)
class Cost:
    """Flops and memory for each thing that a kernel looks at, as multiples of d and of 1.

    Attributes
    ----------
    unit : str
        What is looked at.
    flops, numbers : pair
        Floating point operations, and numbers of the points' type read or written: for each
        variable, and besides.
    indices : int or Fraction
        8-byte indices read or written.
    """

    unit: str
    flops: tuple[Fraction | int, Fraction | int]
    numbers: tuple[Fraction | int, Fraction | int]
    indices: Fraction | int = 0

    def cells(self) -> list[str]:
        """A line of a table."""
        flops, numbers = (float(a * D + b) for a, b in (self.flops, self.numbers))
        bytes_of = [numbers * item + 8 * float(self.indices) for item in (8, 4)]
        return [
            *(self.unit, _formula(*self.flops), _formula(*self.numbers), str(self.indices)),
            *(f"{x:.3g}" for x in (flops, *bytes_of)),
        ]


def _formula(a: Fraction | int, b: Fraction | int) -> str:
    """a d + b in the usual notation."""
    if not a:
        return str(b)
    a = Fraction(a)
    first = f"{a.numerator if a.numerator != 1 else ''}d"
    first += f"/{a.denominator}" if a.denominator != 1 else ""
    return first if not b else f"{first} {'+' if b > 0 else '-'} {abs(b)}"


_SCAN = "record scanned"
# A record of a leaf that the filter looks at for one of 16 seekers: in single precision, besides
# what brings the seekers there, and read once for all of them.
_SEEN, _TOLD, _SHARE = "record of a leaf and seeker", Fraction(50, 16), Fraction(1, 32)
_TILE = Fraction(2, 64)  # numbers that a pair of a tile of 64 x 64 brings along, per variable
COSTS = {
    ("fixed_kernels", "sum_up"): Cost("record", (13, 0), (1, 0)),
    ("fixed_kernels", "share_sum"): Cost("block, for each other", (39, 0), (3, 0)),
    ("fixed_kernels", "mdav"): Cost(_SCAN, (3, -1), (1, Fraction(1, 2)), Fraction(1, 2)),
    ("fixed_kernels", "vmdav"): Cost(_SCAN, (3, -1), (1, 1), 1),
    ("fixed_kernels", "centroid"): Cost(_SCAN, (3, -1), (1, 0)),
    ("fixed_kernels", "centroid_by_seed"): Cost(
        _SCAN, (3, -1), (1, Fraction(1, 2)), Fraction(1, 2)
    ),
    ("fixed_kernels", "diameter"): Cost(_SCAN, (3, -1), (1, 1)),
    ("fixed_kernels", "diameter_by_seed"): Cost(_SCAN, (3, -1), (1, 1), Fraction(1, 2)),
    ("fixed_kernels", "join_leftovers"): Cost("group, each record left", (22, 0), (3, 0), 1),
    ("box_kernels", "span_runs"): Cost("record", (0, 0), (1, 0), 1),
    ("box_kernels", "sort_keys"): Cost("record", (3, 4), (0, 1), 2),
    ("single", "fill_single"): Cost("record", (5, 0), (Fraction(3, 2), 0)),
    ("search_kernels", "nearest_rows"): Cost(_SEEN, (_TOLD, 0), (_SHARE, 0)),
    ("search_kernels", "nearest_points"): Cost("record of a leaf", (3, 0), (1, 0), 1),
    ("mst_kernels", "search_together"): Cost(_SEEN, (_TOLD, 0), (_SHARE, 0)),
    ("mst_kernels", "begin_round"): Cost("record", (0, 0), (0, 1), 2),
    ("mst_kernels", "climb"): Cost("record", (0, 0), (0, 0), 3),
    ("mst_kernels", "find_components"): Cost("record", (0, 0), (0, 0), 5),
    ("mst_kernels", "find_common"): Cost("box", (0, 0), (0, 0), 3),
    ("mst_kernels", "advance"): Cost("record", (0, 0), (0, 2), 4),
    ("mst_kernels", "least_lengths"): Cost("record", (0, 0), (0, 2), 2),
    ("mst_kernels", "first_edges"): Cost("record", (0, 0), (0, 2), 4),
    ("mst_kernels", "unsettled"): Cost("record", (0, 0), (0, 2), 4),
    ("mst_kernels", "hook"): Cost("record", (0, 0), (0, 2), 5),
    ("cut_kernels", "decide"): Cost("end that a walk looks at", (0, 0), (0, 0), Fraction(9, 8)),
    ("cut_kernels", "unite"): Cost("edge", (0, 0), (0, 0), Fraction(41, 8)),
    ("round_kernels", "aim"): Cost("call", (19, 0), (4, 0)),
    ("round_kernels", "find_keys"): Cost("record", (3, 0), (1, 1), 1),
    ("round_kernels", "fill_slots"): Cost("record", (2, 0), (Fraction(3, 2), 0), 2),
    ("round_kernels", "find_maxima"): Cost("record and query", (3, 1), (Fraction(1, 8), 0)),
    ("round_kernels", "find_limits"): Cost("chunk and query", (0, 24), (0, 24)),
    ("round_kernels", "look_again"): Cost("record and query of a chunk", (3, 0), (1, 0), 1),
    ("round_kernels", "put_in_order"): Cost("record found", (3, 0), (1, 1), 1),
    ("round_kernels", "claim_rows"): Cost("entry", (0, 0), (0, 0), 2),
    ("round_kernels", "find_near"): Cost("record of a leaf", (3, 0), (1, 0), 2),
    ("round_kernels", "shrink"): Cost("record", (0, 0), (1, 0), 2),
    ("replay_kernels", "replay_mdav"): Cost("group of 5", (68, 0), (5, 0), 40),
    ("replay_kernels", "replay_vmdav"): Cost("group of 5", (15, 0), (10, 0), 160),
    ("moves", "find_best"): Cost("record and member of a group beside it", (9, 6), (5, 0), 1),
    ("annealing_kernels", "enter"): Cost("record", (4, 0), (4, 2), 34),
    ("annealing_kernels", "anneal_in_shared"): Cost("step", (42, 2), (0, 1), 1),
    ("annealing_kernels", "anneal_in_memory"): Cost("step", (42, 2), (11, 1), 10),
    ("annealing_kernels", "leave"): Cost("record", (4, 0), (3, 0), 1),
    ("regions", "find_centroids"): Cost("record", (1, 0), (1, 0), 1),
    ("regions", "look_along"): Cost("group, each level", (3, 0), (1, 1), 2),
    ("prim_kernels", "prim"): Cost(_SCAN, (3, -1), (1, 1)),
    ("ward_kernels", "sum_up"): Cost("record", (32, 0), (14, 2), 4),
    ("ward_kernels", "find_first"): Cost("pair of groups", (3, 4), (_TILE, 0)),
    ("ward_kernels", "merge"): Cost("group scanned", (3, 3), (1, 2), 1),
    ("ward_round_kernels", "sum_groups"): Cost("record", (13, 0), (1, 0), 1),
    ("ward_round_kernels", "find_centroids"): Cost("group", (19, 0), (4, 0), 2),
    ("ward_round_kernels", "unite"): Cost("event", (58, 0), (11, 0), 9),
    ("ward_round_kernels", "find_pairs"): Cost("group of a leaf", (3, 4), (1, 0), 3),
    ("ward_round_kernels", "refresh"): Cost("group", (0, 0), (1, 0), 2),
    ("distant", "find_farthest"): Cost("pair of records", (3, 0), (1, 0), Fraction(1, 8)),
    ("pairwise_kernels", "pairwise"): Cost("pair", (3, 0), (_TILE, 1)),
    ("pairwise_kernels", "list_best"): Cost("pair", (3, 1), (_TILE, 0)),
    ("pairwise_kernels", "merge_lists"): Cost("entry of a list", (0, 0), (0, 1), 1),
    ("segments", "grow"): Cost("start and length of a run", (0, 6), (0, Fraction(3, 2))),
    ("segments", "connect"): Cost("group tried", (0, 1), (0, 2)),
    ("sums", "sum_rows"): Cost("term", (0, 13), (0, 1)),
    ("genetic_kernels", "evolve"): Cost("group of a string, a generation", (0, 16), (0, 2), 3),
    ("tour_kernels", "take_roots"): Cost("pair", (0, 1), (0, 2)),
    ("tour_kernels", "insert_farthest"): Cost("record, each step", (0, 1), (0, 5), Fraction(3, 2)),
    ("tour_kernels", "go_to_nearest"): Cost("record, each step", (0, 0), (0, 2)),
    ("tour_kernels", "reverse_stretches"): Cost("stretch tried", (0, 3), (0, 3), 2),
}
