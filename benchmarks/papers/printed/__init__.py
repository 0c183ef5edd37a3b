"""The tables of the five papers as printed, cell by cell.

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

from . import domingo_mateo, laszlo_mukherjee, later
from .table import Table

TABLES: dict[str, Table] = {
    **domingo_mateo.TABLES,
    **laszlo_mukherjee.TABLES,
    **later.TABLES,
}

__all__ = ["TABLES", "Table"]
