"""Tables of 2006 and MF-TSP as printed."""

from .table import Tables

TABLES = Tables()

TABLES.add(
    "2006 Table 1, type",
    "Left: scattered (S) or clustered (C) data",
    """
               k=3  k=4  k=5  k=10
  Census       S    S    S    S
  Tarragona    S    S    S    S
  EIA          S    S    C    C
  Synthetic 1  C    S    S    S
  Synthetic 2  C    S    S    S
  Synthetic 3  S    C    C    S
""",
)

TABLES.add(
    "2006 Table 1, loss",
    "Right: information loss",
    """
                      k=3    k=4    k=5    k=10
  Census MDAV         5.66   7.51   9.01   14.07
  Census V-MDAV       5.69   7.52   8.98   14.07
  Tarragona MDAV      16.96  19.70  22.88  33.26
  Tarragona V-MDAV    16.96  19.70  22.88  33.26
  EIA MDAV            0.49   0.67   1.78   3.54
  EIA V-MDAV          0.53   0.75   1.30   2.82
  Synthetic 1 MDAV    7.64   8.84   12.20  30.21
  Synthetic 1 V-MDAV  0.94   5.64   11.83  30.03
  Synthetic 2 MDAV    9.54   13.35  17.34  39.28
  Synthetic 2 V-MDAV  1.63   8.21   16.49  38.91
  Synthetic 3 MDAV    5.95   7.66   9.03   22.36
  Synthetic 3 V-MDAV  2.17   1.85   5.21   21.41
""",
)

TABLES.add(
    "MF-TSP Table I",
    "Companies: surface and number of employees",
    """
         Surface  Employees
  Com1   790      55
  Com2   710      44
  Com3   730      32
  Com4   810      17
  Com5   950      3
  Com6   510      25
  Com7   400      45
  Com8   330      50
  Com9   510      5
  Com10  760      52
  Com11  50       12
""",
)

TABLES.add(
    "MF-TSP Table II",
    "Their optimal 3-partition, each company by its centroid",
    """
         Surface  Employees
  Com1   747.5    46
  Com2   747.5    46
  Com3   747.5    46
  Com4   756.67   8
  Com5   756.67   8
  Com6   322.5    33
  Com7   322.5    33
  Com8   322.5    33
  Com9   756.67   8
  Com10  747.5    46
  Com11  322.5    33
""",
)

TABLES.add(
    "MF-TSP Table III",
    "Hamiltonian paths, to explain the idea",
    """
         path
  Com1   1 2 3 4 5 6 7 8 9 10 11
  Com8   8 7 6 2 10 1 5 4 3 9 11
  Com10  10 2 6 7 8 11 9 3 4 5 1
""",
)

# Rows Com2 and Com4 are not legible in our copy. Of all paths that end as Com2 does (6, 9, 8, 10,
# 11, 7) and that start with 4, these come closest to the counts of Table V.
TABLES.add(
    "MF-TSP Table IV",
    "Hamiltonian paths of the running example",
    """
         path
  Com1   1 3 4 6 7 11 10 8 9 5 2
  Com2   2 1 3 5 4 6 9 8 10 11 7
  Com3   3 1 2 5 4 6 7 11 10 8 9
  Com4   4 3 1 5 2 9 8 10 11 7 6
  Com5   5 2 1 3 4 6 9 8 10 11 7
  Com6   6 5 2 1 3 4 7 11 10 8 9
  Com7   7 8 10 11 4 3 1 2 5 6 9
  Com8   8 10 11 7 9 5 2 1 3 4 6
  Com9   9 6 5 2 1 3 4 11 10 8 7
  Com10  10 11 8 7 9 6 4 3 1 2 5
  Com11  11 10 8 7 9 6 4 5 2 3 1
""",
)

TABLES.add(
    "MF-TSP Table V",
    "Paths of Table IV with two companies at most k - 1 apart (k=3)",
    """
         1   2   3   4  5   6  7   8   9   10  11
  Com1   -   11  11  8  11  0  1   0   1   1   1
  Com2   11  -   10  2  10  3  2   0   4   1   1
  Com3   11  10  -   9  3   5  1   1   1   0   3
  Com4   8   2   9   -  3   8  4   1   4   2   3
  Com5   11  10  3   3  -   6  2   1   6   1   2
  Com6   0   3   5   8  6   -  7   4   7   1   3
  Com7   1   2   1   4  2   7  -   6   5   10  9
  Com8   0   0   1   1  1   4  6   -   10  11  8
  Com9   1   4   1   4  6   7  5   10  -   6   3
  Com10  1   1   0   2  1   1  10  11  6   -   11
  Com11  1   1   3   3  2   3  9   8   3   11  -
""",
)

TABLES.add(
    "MF-TSP Table VI",
    "Groups from Table V (companies)",
    """
                    records
  Group 1           1 2 3
  Group 2           10 8 11
  Group 3           6 4 5
  Remaining Points  7 9
""",
)

TABLES.add(
    "MF-TSP Table VII",
    "The same with the last records",
    """
           records
  Group 1  1 2 3
  Group 2  10 8 11 7
  Group 3  6 4 5 9
""",
)

TABLES.add(
    "MF-TSP Table VIII",
    "Each company by the centroid of its group",
    """
         Surface  Employees
  Com1   743.33   43.66
  Com2   743.33   43.66
  Com3   743.33   43.66
  Com4   695      12.5
  Com5   695      12.5
  Com6   695      12.5
  Com7   385      39.75
  Com8   385      39.75
  Com9   695      12.5
  Com10  385      39.75
  Com11  385      39.75
""",
)

TABLES.add(
    "MF-TSP Table IX",
    "Information loss (Census; decimal commas in print)",
    """
          k=3   k=4   k=5   k=10
  MDAV    5.66  7.51  9.01  14.07
  V-MDAV  5.69  7.52  8.98  14.07
  MF-TSP  6.00  9.24  11.6  25.49
""",
)
