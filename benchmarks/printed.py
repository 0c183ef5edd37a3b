"""The tables of the five papers as printed, cell by cell.

Cells are kept as text, because the printed digits say how closely a figure can be compared.
In a block the first line has the column names; names and cells are two or more spaces apart.

References
----------
1999    Mateo-Sanz and Domingo-Ferrer, "A method for data-oriented multivariate microaggregation"
2002    Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation for statistical
        disclosure control"
2005    Laszlo and Mukherjee, "Minimum spanning tree partitioning algorithm for microaggregation"
2006    Solanas and Martinez-Balleste, "V-MDAV: a multivariate microaggregation with variable
        group size"
MF-TSP  "Multivariate microaggregation with fixed group size based on the travelling salesman
        problem"
"""

import re
from typing import NamedTuple


class Table(NamedTuple):
    """A printed table."""

    name: str
    caption: str
    columns: list[str]
    rows: dict[str, list[str]]

    def cell(self, row: str, column: str) -> str:
        """The printed text of a cell."""
        return self.rows[row][self.columns.index(column)]


TABLES: dict[str, Table] = {}


def _table(name: str, caption: str, text: str) -> None:
    head, *lines = (re.split(r"\s{2,}", line.strip()) for line in text.strip().splitlines())
    rows = {row: cells for row, *cells in lines}
    if len(rows) != len(lines) or any(len(cells) != len(head) for cells in rows.values()):
        raise ValueError(f"{name}: rows of one table need different names and as many cells")
    TABLES[name] = Table(name, caption, head, rows)


_table("1999 Table 1", "Percentage information loss (Tarragona)", """
            k=3                  k=4                  k=5
  FS_FPC    23.87                30.62 or 25.99       33.29 or 30.74
  FS_SZ     28.92                32.15 or 32.08       35.20 or 32.56
  FS_PV     from 30.11 to 48.48  from 34.14 to 56.99  from 37.59 to 60.82
  FS_I      2.24                 5.04                 8.54
  MWA_FPC   16.21                21.58 or 20.94       23.91 or 23.86
  MWA_SZ    19.16                23.56 or 24.31       26.65 or 27.60
  MWA_PV    from 16.23 to 21.61  from 20.45 to 29.35  from 22.38 to 31.78
  MWA_MD    from 16.01 to 16.75  from 21.13 to 21.24  from 21.83 to 22.77
  MWA_I     2.37                 3.28                 4.46
""")

_table("1999 Table 2", "Standard deviations after protection (Tarragona, k=3)", """
       Orig.  FS_FPC  FS_SZ  FS_PV  FS_I  MWA_FPC  MWA_SZ  MWA_PV  MWA_MD  MWA_I
  V1   1.00   .87     .82    .84    .96   .91      .88     .91     .91     .96
  V2   1.00   .94     .89    .88    1.00  .93      .92     .92     .93     1.00
  V3   1.00   .82     .81    .79    1.00  .95      .90     .96     .94     1.00
  V4   1.00   .95     .95    .99    .99   .94      .93     .94     .94     .99
  V5   1.00   .78     .80    .78    .99   .91      .90     .90     .90     .99
  V6   1.00   .93     .86    .82    1.00  .92      .92     .92     .93     1.00
  V7   1.00   .88     .82    .86    .99   .94      .90     .94     .95     .99
  V8   1.00   .67     .49    .61    .99   .81      .78     .81     .82     .99
  V9   1.00   .84     .84    .79    1.00  .92      .91     .92     .94     1.00
  V10  1.00   .92     .88    .89    .99   .91      .90     .91     .93     .99
  V11  1.00   .94     .93    .88    .99   .95      .94     .95     .93     .99
  V12  1.00   .89     .91    .85    .98   .91      .90     .91     .89     .98
  V13  1.00   .87     .88    .83    .97   .90      .89     .90     .89     .97
""")

_table("1999 Table 3, weights", "Weights on the first principal component, % explained (k=3)", """
       Orig.  FS_FPC  FS_SZ  FS_PV  FS_I  MWA_FPC  MWA_SZ  MWA_PV  MWA_MD  MWA_I
  V1   .81    .92     .92    .94    .82   .87      .9      .87     .87     .82
  V2   .85    .91     .96    .94    .86   .91      .92     .91     .9      .87
  V3   .61    .74     .84    .73    .61   .63      .67     .63     .63     .61
  V4   .94    .98     .98    .97    .93   .97      .97     .97     .97     .93
  V5   .64    .82     .81    .82    .66   .68      .69     .69     .69     .65
  V6   .82    .89     .94    .92    .84   .89      .89     .89     .88     .83
  V7   .82    .92     .93    .93    .81   .87      .91     .87     .87     .81
  V8   -.50   -.8     -.8    -.72   -.54  -.66     -.68    -.66    -.67    -.53
  V9   .74    .89     .91    .89    .76   .81      .81     .81     .78     .77
  V10  .87    .95     .97    .94    .89   .94      .95     .95     .93     .89
  V11  .92    .97     .96    .97    .91   .95      .95     .94     .95     .92
  V12  .87    .95     .95    .96    .86   .92      .93     .92     .92     .85
  V13  .85    .95     .94    .95    .84   .89      .9      .89     .9      .84
  %    63.4   81.2    84.3   81.4   64.3  72.6     74.7    72.6    72.1    64.3
""")

_table("1999 Table 3, changes", "Percentage change of those weights (in parentheses there)", """
       FS_FPC  FS_SZ  FS_PV  FS_I  MWA_FPC  MWA_SZ  MWA_PV  MWA_MD  MWA_I
  V1   12.9    13.5   15.8   1.0   7.2      10.4    7.5     7.4     1
  V2   7.5     13.2   10.6   1.2   7.5      8.6     7.4     6.2     2.2
  V3   21.8    38.2   19.8   0.1   2.9      10.1    2.5     2.3     0.1
  V4   4.8     4.3    4.0    -0.3  3.3      3.5     3.4     3.5     -0.2
  V5   27.3    25.9   27.6   1.9   6.1      7.3     6.6     6.7     0.4
  V6   8.2     15.3   11.9   2.0   8.2      8.9     8.3     6.9     1.6
  V7   12.7    13.6   13.9   -1    6.0      10.6    5.9     6.1     -0.8
  V8   60.2    60.9   44.5   8.5   33.1     37.1    32.4    34.5    6.4
  V9   20.4    23.6   20.9   2.7   9.2      9.2     9.1     5.9     3.6
  V10  9.9     11.5   8.4    2.1   8.7      8.9     9.4     6.8     2.1
  V11  5.3     4.5    5.3    -1    3        3.5     2.9     3.5     -0.1
  V12  9.2     9.1    10.1   -1.7  5.1      6.6     5.3     6       -2.5
  V13  11.8    10.8   12.6   -0.5  5.7      6.2     5.6     6       -0.3
""")

_table("1999 Table 4", "Discrepancies of correlations (Tarragona, k=3)", """
            Average  Std. dev.
  FS_FPC    0.2037   0.0884
  FS_SZ     0.2382   0.1031
  FS_PV     0.2033   0.0827
  FS_I      0.0251   0.0210
  MWA_FPC   0.1020   0.0582
  MWA_SZ    0.1269   0.0584
  MWA_PV    0.1028   0.0583
  MWA_MD    0.0969   0.0548
  MWA_I     0.0241   0.0205
""")

_table("2002 Table 1", "Percentage information loss, univariate methods (Tarragona)", """
       k=3 F  k=3 k-W  k=3 A  k=3 M  k=4 F  k=4 k-W  k=4 A  k=4 M
  V1   7.15   7.18     7.14   7.14   9.26   9.48     9.26   9.26
  V2   .64    .56      .56    .58    1.01   .95      .81    .81
  V3   .52    .78      .52    .51    1.14   1.15     1.14   1.14
  V4   1.49   1.49     1.49   1.49   2.78   3.21     2.77   2.78
  V5   1.69   2.02     1.69   1.69   2.11   2.11     2.11   2.11
  V6   .48    .59      .48    .48    .70    .79      .70    .70
  V7   1.97   1.92     1.93   1.92   3.39   3.39     3.39   3.39
  V8   .42    .34      .27    .27    .59    .56      .56    .56
  V9   1.29   1.29     1.29   1.29   2.80   2.90     2.79   2.79
  V10  1.75   1.91     1.75   1.75   2.66   2.67     2.66   2.66
  V11  2.58   2.97     2.54   2.56   3.20   3.18     3.20   3.20
  V12  4.15   4.75     4.14   4.15   5.61   5.60     5.60   5.61
  V13  5.01   4.96     4.98   5.01   6.68   6.68     6.65   6.68
""")

_STRUCTURE = "k=3 dr  k=3 s  k=3 dW  k=3 %FPC  k=4 dr  k=4 s  k=4 dW  k=4 %FPC"
_table("2002 Table 2", "Impact of univariate methods on correlations and the FPC", _STRUCTURE + """
  F    .0251  .0208  1.7680  64.3  .0237  .0193  1.6013  63.9
  k-W  .0241  .0203  1.7164  64.3  .0254  .0206  1.6322  63.9
  A    .0277  .0213  1.9676  64.7  .0251  .0202  1.6456  64.0
  M    .0269  .0213  1.9481  64.5  .0249  .0203  1.6251  64.0
""")

_table("2002 Table 3", "Percentage information loss, multivariate methods (Tarragona)", """
              k=3             k=4
  PF(PV)      30.11 - 48.48   34.14 - 57.0
  PF(SZ)      28.92           32.15 or 32.08
  PF(FPC)     23.87 or 23.89  30.62 or 25.99
  Pk-W(PV)    31.17 - 53.93   35.28 - 58.23
  Pk-W(SZ)    30.13           32.56
  Pk-W(FPC)   25.35           31.71
  UF          15.60           19.27
  Uk-W(PV)    16.23 - 21.61   20.46 - 29.45
  Uk-W(SZ)    19.16           24.31
  Uk-W(FPC)   15.87           21.58
  Uk-W(MD)    16.01 - 16.75   21.13 - 21.24
""")

_table("2002 Table 4", "Impact of multivariate methods on correlations and the FPC", _STRUCTURE + """
  PF(PV)      .20  .08  11.7  81.4  .26  .12  15.7  85.8
  PF(SZ)      .24  .10  14.5  84.3  .28  .11  15.0  88.0
  PF(FPC)     .20  .09  13.1  81.3  .22  .10  13.4  82.9
  Pk-W(PV)    .21  .09  12.3  82.4  .27  .13  16.6  86.9
  Pk-W(SZ)    .26  .10  14.1  86.0  .19  .12  15.3  88.9
  Pk-W(FPC)   .22  .10  14.1  83.0  .30  .12  16.6  90.0
  UF          .10  .05  7.1   71.9  .12  .06  8.1   73.7
  Uk-W(PV)    .10  .06  8.0   72.6  .13  .07  9.5   75.1
  Uk-W(SZ)    .13  .06  9.1   74.7  .18  .07  10.6  79.2
  Uk-W(FPC)   .10  .06  8.0   72.6  .15  .07  9.9   76.7
  Uk-W(MD)    .10  .05  7.9   72.1  .14  .06  9.5   75.8
""")

_table("2005 Table 1", "Data sets to investigate the effect of natural clustering", """
         SIM_1  SIM_2  SIM_3  SIM_4  SIM_5  SIM_6  SIM_7  SIM_8
  sigma  0.010  0.025  0.050  0.075  0.100  0.150  0.200  0.300
  n      10943  11239  11343  10862  11038  10513  11185  11059
""")

_table("2005 Table 2", "Data sets to investigate scalability with size", """
     SIM_9  SIM_10  SIM_11  SIM_12  SIM_13  SIM_14
  n  20000  40000   60000   80000   100000  120000
""")

_table("2005 Table 3", "Data sets to investigate scalability with dimensionality", """
     SIM_15  SIM_16  SIM_17  SIM_18  SIM_19  SIM_20
  d  20      40      60      80      100     200
""")

_table("2005 Table 4", "Data sets to investigate sensitivity to points per cluster", """
     SIM_21  SIM_22  SIM_23  SIM_24  SIM_25  SIM_26  SIM_27  SIM_28  SIM_29
  y  8       9       10      11      12      13      14      15      16
""")

_table("2005 Table 5", "Information loss under various methods", """
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
""")

_table("2005 Table 6", "Oversized groups of MST partitioning: share and average size", """
              Tarragona  Census  Creta   SIM_1
  k=3 share   10.23%     9.42%   9.42%   13.31%
  k=3 size    6.27       6.46    6.46    6.66
  k=4 share   8.75%      6.22%   6.22%   15.12%
  k=4 size    8.57       8.38    8.38    9.19
  k=5 share   8.13%      10.19%  10.19%  15.24%
  k=5 size    11.10      12.00   12.00   11.42
  k=10 share  9.84%      6.02%   6.02%   15.40%
  k=10 size   21.50      20.60   20.60   23.13
""")

_table("2005 Table 7", "Effect of clustering on information loss (k=4)", """
       SIM_1  SIM_2  SIM_3  SIM_4  SIM_5  SIM_6  SIM_7  SIM_8
  D    0.560  0.584  0.781  1.137  1.685  3.243  5.023  9.069
  C    0.552  0.568  0.762  1.146  1.678  3.265  5.065  9.054
  M    0.016  0.100  0.390  0.876  1.531  3.418  5.617  10.993
  M-d  0.015  0.093  0.359  0.807  1.418  3.154  5.182  10.077
  M-c  0.015  0.093  0.362  0.811  1.428  3.179  5.223  10.138
  UB   0.014  0.085  0.329  0.738  1.290  2.893  4.779  9.532
""")

_table("2005 Table 8", "Effect of a fixed number of points per cluster (k=4)", """
         SIM_21  SIM_22   SIM_23   SIM_24   SIM_25  SIM_26   SIM_27   SIM_28   SIM_29
  D      0.022   4.195    3.506    3.556    0.020   3.067    2.679    2.575    0.018
  C      0.022   4.091    3.650    3.536    0.020   2.946    2.636    2.527    0.018
  M      0.024   0.022    0.022    0.022    0.022   0.021    0.021    0.020    0.020
  M-d    0.021   0.020    0.021    0.021    0.020   0.020    0.019    0.019    0.019
  M-c    0.021   0.020    0.021    0.021    0.020   0.020    0.019    0.019    0.019
  ratio  1.048   204.550  166.952  168.381  1.000   147.300  138.737  133.000  0.947
""")

_table("2005 Table 9", "Running time with increasing data set size, in seconds (k=4)", """
                                SIM_9  SIM_10  SIM_11  SIM_12  SIM_13  SIM_14
  Total time                    668    3819    7505    14374   23785   33894
  Prim's method                 661    3793    7448    14271   23631   33665
  Descendant count              0.02   0.03    0.03    0.05    0.05    0.06
  Edge cutting                  7      25      56      102     153     227
  Cluster formation             0.06   0.03    0.13    0.20    0.22    0.16
""")

_table("2005 Table 10", "Running time with increasing number of dimensions (k=4)", """
                  SIM_15  SIM_16  SIM_17  SIM_18  SIM_19  SIM_20
  Time (seconds)  123     129     130     165     157     207
""")

_table("2005 Table 11", "Number of partitions of n records in groups of k to 2k-1", """
         k=3           k=4          k=5        k=10
  n=10   2226          336          126        1
  n=15   10461451      981981       137566     1
  n=20   182285304201  13519012221  790940436  92378
  n=50   1.425e43      4.529e41     3.429e39   4.245e29
  n=100  7.697e108     4.425e107    2.900e104  2.066e87
  n=200  1.163e263     8.639e263    3.621e259  1.094e230
""")

_table("2006 Table 1, type", "Left: scattered (S) or clustered (C) data", """
               k=3  k=4  k=5  k=10
  Census       S    S    S    S
  Tarragona    S    S    S    S
  EIA          S    S    C    C
  Synthetic 1  C    S    S    S
  Synthetic 2  C    S    S    S
  Synthetic 3  S    C    C    S
""")

_table("2006 Table 1, loss", "Right: information loss", """
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
""")
