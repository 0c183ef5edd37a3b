"""What is asked of a device, counted."""

from dataclasses import dataclass, fields

# Flops: of a variable in a squared distance (subtract, multiply, add); of what makes a rise of SSE
# of it; of a number added to a correctly rounded sum, and of a sum made a centroid.
SQUARE, RISE, ADD, CENTRE = 3, 4, 13, 19


@dataclass
class Work:
    """What is asked of a device.

    Attributes
    ----------
    launches, arguments : int
        Kernels started, and arrays and numbers that were handed to them.
    grid_syncs : int
        Grid synchronisations.
    reductions, removals : int
        What a block does one after the other besides scans: finding the least of what its
        threads hold, and taking out a record.
    distances : int
        Squared distances computed.
    flops : int
        Floating point operations of the distances, and of what is made of them.
    kept : int
        Those of the sums and centroids that every block of a team keeps for itself.
    values, words : int
        Numbers of the points' type, and 8-byte indices, read from memory or written to it.
    tile_flops, tile_values : int
        How much of flops and values is for all pairs in tiles, a kernel of its own.
    instructions : int
        PTX instructions of warps that search a tree.
    longest : int
        Those of the warp of each launch that has most of them: they follow one another.
    expressions : int
        Array expressions, each a kernel of the array library.
    waits : int
        Numbers that the host reads, for which it waits.
    single_flops : int
        Instructions of lanes in single precision, in tiles, whatever the points' type.
    chain : int
        PTX instructions that one warp executes one after the other while all else waits.
    copied : int
        Bytes between the host and the device, other than records and labels.
    held : int
        Numbers of the points' type that are read again and again: at most those of all records.
    """

    launches: int = 0
    arguments: int = 0
    grid_syncs: int = 0
    reductions: int = 0
    removals: int = 0
    distances: int = 0
    flops: int = 0
    kept: int = 0
    values: int = 0
    words: int = 0
    tile_flops: int = 0
    tile_values: int = 0
    instructions: int = 0
    longest: int = 0
    expressions: int = 0
    waits: int = 0
    single_flops: int = 0
    chain: int = 0
    copied: int = 0
    held: int = 0

    def bytes(self, item: int) -> int:
        """Bytes moved, for numbers of so many bytes."""
        return self.values * item + 8 * self.words

    def launch(self, arguments: int, times: int = 1) -> None:
        """Start a kernel with so many arguments."""
        self.launches += times
        self.arguments += arguments * times

    def __add__(self, other: "Work") -> "Work":
        both = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Work(**both | {"held": max(self.held, other.held)})

    def times(self, factor: float) -> "Work":
        """So many times the work, on records that are as many."""
        more = {f.name: round(factor * getattr(self, f.name)) for f in fields(self)}
        return Work(**more | {"held": self.held})

    def scan(self, records: int, d: int, values: int = 0, words: int = 0, flops: int = 0) -> None:
        """Compare records with a point, each with so many values and words besides."""
        self.distances += records
        self.flops += records * (SQUARE * d - 1 + flops)
        self.values += records * (d + values)
        self.words += records * words

    def agree(self) -> None:
        """The blocks of a team find the least of what they hold."""
        self.grid_syncs += 1
        self.reductions += 2

    def take(self, records: int, d: int) -> None:
        """Take records out, from the sum of those left to that of their group."""
        self.removals += records
        self.kept += records * d * 2 * ADD
