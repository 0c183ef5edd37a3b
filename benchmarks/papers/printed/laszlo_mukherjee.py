"""Tables of 2005 as printed."""

from .table import Tables

TABLES = Tables()

TABLES.add(
    "2005 Table 1",
    "Data sets to investigate the effect of natural clustering",
    """
         SIM_1  SIM_2  SIM_3  SIM_4  SIM_5  SIM_6  SIM_7  SIM_8
  sigma  0.010  0.025  0.050  0.075  0.100  0.150  0.200  0.300
  n      10943  11239  11343  10862  11038  10513  11185  11059
""",
)

TABLES.add(
    "2005 Table 2",
    "Data sets to investigate scalability with size",
    """
     SIM_9  SIM_10  SIM_11  SIM_12  SIM_13  SIM_14
  n  20000  40000   60000   80000   100000  120000
""",
)

TABLES.add(
    "2005 Table 3",
    "Data sets to investigate scalability with dimensionality",
    """
     SIM_15  SIM_16  SIM_17  SIM_18  SIM_19  SIM_20
  d  20      40      60      80      100     200
""",
)

TABLES.add(
    "2005 Table 4",
    "Data sets to investigate sensitivity to points per cluster",
    """
     SIM_21  SIM_22  SIM_23  SIM_24  SIM_25  SIM_26  SIM_27  SIM_28  SIM_29
  y  8       9       10      11      12      13      14      15      16
""",
)

TABLES.add(
    "2005 Table 5",
    "Information loss under various methods",
    """
            Tarragona  Census  Creta  SIM_1
  k=3 D     15.60      5.42    5.42   0.387
  k=3 C     20.74      5.35    5.49   0.366
  k=3 M     17.14      6.51    6.51   0.013
  k=3 M-d   16.63      6.11    6.11   0.012
  k=3 M-c   16.69      6.12    6.16   0.012
  k=4 D     19.27      7.22    7.22   0.560
  k=4 C     27.80      7.17    7.35   0.552
  k=4 M     20.92      8.78    8.78   0.016
  k=4 M-d   19.66      8.24    8.25   0.015
  k=4 M-c   19.67      8.24    8.23   0.015
  k=5 D     22.67      8.81    8.82   0.749
  k=5 C     32.47      8.69    8.87   0.717
  k=5 M     24.57      10.70   10.70  0.018
  k=5 M-d   24.50      10.30   10.28  0.017
  k=5 M-c   24.52      10.33   10.31  0.017
  k=10 D    36.99      14.55   14.53  1.453
  k=10 C    44.90      14.34   14.51  1.430
  k=10 M    38.83      17.58   17.58  0.024
  k=10 M-d  38.58      17.17   17.12  0.023
  k=10 M-c  38.65      17.16   17.17  0.023
""",
)

TABLES.add(
    "2005 Table 6",
    "Oversized groups of MST partitioning: share and average size",
    """
              Tarragona  Census  Creta   SIM_1
  k=3 share   10.23%     9.42%   9.42%   13.31%
  k=3 size    6.27       6.46    6.46    6.66
  k=4 share   8.75%      6.22%   6.22%   15.12%
  k=4 size    8.57       8.38    8.38    9.19
  k=5 share   8.13%      10.19%  10.19%  15.24%
  k=5 size    11.10      12.00   12.00   11.42
  k=10 share  9.84%      6.02%   6.02%   15.40%
  k=10 size   21.50      20.60   20.60   23.13
""",
)

TABLES.add(
    "2005 Table 7",
    "Effect of clustering on information loss (k=4)",
    """
       SIM_1  SIM_2  SIM_3  SIM_4  SIM_5  SIM_6  SIM_7  SIM_8
  D    0.560  0.584  0.781  1.137  1.685  3.243  5.023  9.069
  C    0.552  0.568  0.762  1.146  1.678  3.265  5.065  9.054
  M    0.016  0.100  0.390  0.876  1.531  3.418  5.617  10.993
  M-d  0.015  0.093  0.359  0.807  1.418  3.154  5.182  10.077
  M-c  0.015  0.093  0.362  0.811  1.428  3.179  5.223  10.138
  UB   0.014  0.085  0.329  0.738  1.290  2.893  4.779  9.532
""",
)

TABLES.add(
    "2005 Table 8",
    "Effect of a fixed number of points per cluster (k=4)",
    """
         SIM_21  SIM_22   SIM_23   SIM_24   SIM_25  SIM_26   SIM_27   SIM_28   SIM_29
  D      0.022   4.195    3.506    3.556    0.020   3.067    2.679    2.575    0.018
  C      0.022   4.091    3.650    3.536    0.020   2.946    2.636    2.527    0.018
  M      0.024   0.022    0.022    0.022    0.022   0.021    0.021    0.020    0.020
  M-d    0.021   0.020    0.021    0.021    0.020   0.020    0.019    0.019    0.019
  M-c    0.021   0.020    0.021    0.021    0.020   0.020    0.019    0.019    0.019
  ratio  1.048   204.550  166.952  168.381  1.000   147.300  138.737  133.000  0.947
""",
)

TABLES.add(
    "2005 Table 9",
    "Running time with increasing data set size, in seconds (k=4)",
    """
                                SIM_9  SIM_10  SIM_11  SIM_12  SIM_13  SIM_14
  Total time                    668    3819    7505    14374   23785   33894
  Prim's method                 661    3793    7448    14271   23631   33665
  Descendant count              0.02   0.03    0.03    0.05    0.05    0.06
  Edge cutting                  7      25      56      102     153     227
  Cluster formation             0.06   0.03    0.13    0.20    0.22    0.16
""",
)

TABLES.add(
    "2005 Table 10",
    "Running time with increasing number of dimensions (k=4)",
    """
                  SIM_15  SIM_16  SIM_17  SIM_18  SIM_19  SIM_20
  Time (seconds)  123     129     130     165     157     207
""",
)

TABLES.add(
    "2005 Table 11",
    "Number of partitions of n records in groups of k to 2k-1",
    """
         k=3           k=4          k=5        k=10
  n=10   2226          336          126        1
  n=15   10461451      981981       137566     1
  n=20   182285304201  13519012221  790940436  92378
  n=50   1.425e43      4.529e41     3.429e39   4.245e29
  n=100  7.697e108     4.425e107    2.900e104  2.066e87
  n=200  1.163e263     8.639e263    3.621e259  1.094e230
""",
)
