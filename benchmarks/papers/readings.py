"""Where a paper's text leaves a choice: what was taken, and how it was chosen."""

from ..common import table

WARNING = (
    "These were chosen by the printed figures they are compared with, so a match that rests on "
    "one of them is weaker evidence than a match of a method whose text leaves no choice."
)

# What the text leaves open, the reading taken, the others that were tried.
READINGS = [
    (
        "V-MDAV (2006): distance, equality, leftovers",
        "squared distances; a record joins at `<=` where the text has `<`; leftovers join the "
        "group of the nearest assigned record",
        "Euclidean distances; `<`; closest centroid, fixed or moving. Of these only the reading "
        "taken gives all 24 losses",
    ),
    (
        "k-Ward (1999, 2002): ranking in the recursion",
        "all records ranked once",
        "ranked anew, and standardized anew, in each recursion",
    ),
    (
        "k-Ward: the maximum-distance criterion",
        "gathered to the growing centroid, the lower record first (or the higher)",
        "gathered to the extreme record; 25 random choices of the first extreme",
    ),
    (
        "F (2002): the group at the modal value",
        "the group that holds the first of the most frequent value",
        "at k=4 any of about 185 groups prints the same digits: the table does not decide",
    ),
    (
        "genetic (2002): mutation",
        "inversions, then the correction that crossover has",
        "the rule as printed, under which no string ever changes; paired inversions; each of "
        "these with the best string kept in the population. Seed 0; A comes within .04 and M "
        "within .15 of print, 29 of 52 cells within .005 (other seeds: within .07 of M mostly)",
    ),
    (
        "Delta W (2002 Tables 2 and 4)",
        "mean absolute relative change of the component's score coefficients",
        "about 180 formulas. It gives Table 4 and misses all four deterministic cells of Table 2",
    ),
    (
        "order of the rows of 1999 Tables 2 and 3",
        "V7 ... V11 are the file's columns 9, 11, 8, 7, 10",
        "the file's order, which gives 8 to 11 of 13 rows a column",
    ),
    (
        "standard deviation of the correlation discrepancies",
        "divisor n - 1 in 1999 Table 4 and 2002 Table 4, n in 2002 Table 2",
        "the other divisor",
    ),
    (
        "MF-TSP: Tables IV to VIII",
        "closed paths; counts as a lower triangle; two illegible paths restored by the best fit "
        "to Table V, which no set of paths gives exactly",
        "open paths; the whole matrix; of four equally near paths two would not give Table VI",
    ),
    (
        "MF-TSP: tours",
        "farthest insertion and one sweep of 2-opt, window 50",
        "about 20 settings on the same data (Census); k=3 falls between 5.70 and 6.31",
    ),
]


def as_markdown() -> list[str]:
    """The readings as a section of the report."""
    head = ("left open", "taken", "tried besides")
    return ["## Readings", "", WARNING, "", *table(head, READINGS)]
