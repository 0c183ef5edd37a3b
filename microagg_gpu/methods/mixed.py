"""Microaggregation of records with ordinal and nominal variables beside numeric ones.

References
----------
2005  Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through
      microaggregation", Data Mining and Knowledge Discovery 11(2), 195-212
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels.optional import HasMixedLoop
from ..kernels.protocol import Engine, Progress
from .mdav import mdav_of


def mixed_mdav(
    points: Any,
    k: int,
    *,
    kinds: Sequence[int] | np.ndarray,
    weights: Sequence[float] | np.ndarray,
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """MDAV-generic (2005): MDAV with a mean, a median or a mode, as each variable allows.

    The average record has the mean of a numeric variable, the median of an ordinal one (of an
    even number of records the lower of the two in the middle, so that it is a category) and
    the mode of a nominal one (of several the lowest code). With numeric variables only, the
    groups are those of `mdav`.

    Parameters
    ----------
    points : array of shape (n, d)
        Numeric and ordinal variables scaled as their distances are to count; a nominal one as
        the codes of its categories, 0, 1, ...
    kinds : int sequence of length d
        0 numeric or 1 ordinal: (a - b)**2 of the squared distance between two records; 2
        nominal: 0 of it if the codes are equal, else the variable's weight.
    weights : float sequence of length d
        0 or more; used for nominal variables only.
    """
    if isinstance(engine, HasMixedLoop):
        return engine.mixed_mdav_groups(points, kinds, weights, k, progress)
    records = engine.MixedPointSet(points, np.asarray(kinds), np.asarray(weights))
    return mdav_of(records, k, progress)
