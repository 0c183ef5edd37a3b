"""Methods that take groups of about k records, one after the other, from a shrinking set.

Their loops are words of the engines, spelled out in kernels/generic/fixed_size.py.
"""

from typing import Any

import numpy as np

from ..checks import number, one_of
from ..kernels import engine_for
from ..kernels.protocol import Progress

_GATHER = ("centroid", "seed")


def mdav(
    points: Any, k: int, *, engine: str | None = None, progress: Progress | None = None
) -> np.ndarray:
    """MDAV, maximum distance to average vector (Domingo-Ferrer and Torra 2005)."""
    return engine_for(points, engine).mdav_groups(points, k, progress)


def vmdav(
    points: Any,
    k: int,
    *,
    gamma: float = 0.2,
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """V-MDAV, MDAV with groups of k to 2k - 1 records (2006, Algorithm 1).

    Parameters
    ----------
    gamma : float
        Gain factor: the unassigned record nearest to a group joins it if its distance to the
        group is at most gamma times its distance to the nearest other unassigned record. The
        paper takes 0.2 for scattered data and 1.1 for clustered data.
    """
    number("gamma", gamma, 0)
    return engine_for(points, engine).vmdav_groups(points, k, gamma, progress)


def diameter(
    points: Any,
    k: int,
    *,
    gather: str = "centroid",
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Diameter-based fixed-size microaggregation, D or UF (2002 Algorithm 2; 2005).

    Parameters
    ----------
    gather : {"centroid", "seed"}
        Group the records nearest to the growing group's centroid (2005, procedure gather; it
        gives the printed tables of both papers) or to the extreme record itself (2002, step 1).
    """
    one_of("gather", gather, _GATHER)
    return engine_for(points, engine).diameter_groups(points, k, gather, progress=progress)


def centroid(
    points: Any,
    k: int,
    *,
    gather: str = "centroid",
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Centroid-based fixed-size microaggregation, C (2005, section 4.2).

    Parameters
    ----------
    gather : {"centroid", "seed"}
        As in `diameter`.
    """
    one_of("gather", gather, _GATHER)
    return engine_for(points, engine).centroid_groups(points, k, gather, progress=progress)
