"""Simulated clusters: SIM_1 ... SIM_29 of Laszlo and Mukherjee (2005), section 4.1."""

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np

from ..checks import is_whole, number, true_or_false, whole_number
from ..errors import InputError, shown

# name: (d, sigma, min_size, max_size); the number of clusters c is 200 everywhere.
_SIGMAS = (0.010, 0.025, 0.050, 0.075, 0.100, 0.150, 0.200, 0.300)
_PARAMETERS: dict[str, tuple[int, float, int, int]] = {
    **{f"SIM_{1 + i}": (10, sigma, 10, 100) for i, sigma in enumerate(_SIGMAS)},  # Table 1
    **{f"SIM_{8 + i}": (10, 0.1, 100 * i, 100 * i) for i in range(1, 7)},  # Table 2
    **{f"SIM_{15 + i}": (d, 0.1, 50, 50) for i, d in enumerate((20, 40, 60, 80, 100, 200))},
    **{f"SIM_{13 + y}": (10, 0.01, y, y) for y in range(8, 17)},  # Table 4
}
_CLUSTERS = 200

Seed = int | Sequence[int]


@overload
def clusters(
    c: int, d: int, sigma: float, min_size: int, max_size: int,
    seed: Seed = ..., labels: Literal[False] = ...,
) -> np.ndarray: ...  # fmt: skip
@overload
def clusters(
    c: int, d: int, sigma: float, min_size: int, max_size: int,
    seed: Seed = ..., *, labels: Literal[True],
) -> tuple[np.ndarray, np.ndarray]: ...  # fmt: skip
def clusters(
    c: int,
    d: int,
    sigma: float,
    min_size: int,
    max_size: int,
    seed: Seed = 0,
    labels: bool = False,
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Draw records around random cluster centres (2005, section 4.1).

    The `c` centres are uniform over the hypercube [-1, 1]^d; the size of each cluster is a
    uniform integer from `min_size` to `max_size`, both included; each coordinate of a record is
    Gaussian around its centre with standard deviation `sigma`.

    Parameters
    ----------
    c : int
        Number of clusters.
    d : int
        Number of variables.
    sigma : float
        Standard deviation within a cluster, 0 or more.
    min_size, max_size : int
        Limits of the cluster sizes, 1 <= min_size <= max_size.
    seed : int or sequence of int
        Seed of the random generator; the same seed gives the same records.
    labels : bool
        Whether to return the cluster of each record too.

    Returns
    -------
    data : numpy.ndarray
        float64 matrix n x d, cluster after cluster.
    labels : numpy.ndarray
        int64, the true cluster 0..c-1 of each record; only if `labels` is true.
    """
    most = 2**31 - 1
    c, d = whole_number("c", c, 1, most), whole_number("d", d, 1, most)
    min_size = whole_number("min_size", min_size, 1, most)
    max_size = whole_number("max_size", max_size, 1, most)
    if min_size > max_size:
        raise InputError(
            f"min_size is {min_size} and max_size {max_size}; min_size must not exceed max_size."
        )
    sigma = number("sigma", sigma, 0, 1e150)
    labels = true_or_false("labels", labels)
    rng = np.random.default_rng(_checked_seed(seed))
    try:
        centres = rng.uniform(-1, 1, size=(c, d))
        sizes = rng.integers(min_size, max_size, size=c, endpoint=True)
        truth = np.repeat(np.arange(c, dtype=np.int64), sizes)
        data = centres[truth] + sigma * rng.standard_normal((truth.size, d))
    except (MemoryError, ValueError):  # NumPy raises ValueError for sizes above its limit
        raise InputError(
            f"{c} clusters of up to {max_size} records with {d} variables do not fit in memory"
        ) from None
    return (data, truth) if labels else data


@overload
def simulated(name: str, seed: int = ..., labels: Literal[False] = ...) -> np.ndarray: ...
@overload
def simulated(
    name: str, seed: int = ..., *, labels: Literal[True]
) -> tuple[np.ndarray, np.ndarray]: ...
def simulated(
    name: str, seed: int = 0, labels: bool = False
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Draw one of the simulated data sets SIM_1 ... SIM_29 (2005, Tables 1 to 4).

    =================  =====================  ================  ==================
    data sets          d                      sigma             records by cluster
    =================  =====================  ================  ==================
    SIM_1 ... SIM_8    10                     0.010 ... 0.300   10 to 100
    SIM_9 ... SIM_14   10                     0.1               100, 200, ..., 600
    SIM_15 ... SIM_20  20, 40, ..., 100, 200  0.1               50
    SIM_21 ... SIM_29  10                     0.01              8, 9, ..., 16
    =================  =====================  ================  ==================

    All have 200 clusters.

    Parameters
    ----------
    name : str
        "SIM_1" ... "SIM_29".
    seed : int
        Seed of the random generator; each name has its own stream of random numbers.
    labels : bool
        Whether to return the true cluster of each record too (for row UB of Table 7).

    Returns
    -------
    data : numpy.ndarray
        float64 matrix n x d, cluster after cluster.
    labels : numpy.ndarray
        int64, only if `labels` is true.

    Notes
    -----
    The cluster sizes of SIM_1 ... SIM_8 are random, so n differs from the n that Table 1 prints
    (10,513 to 11,343; the expected n is 11,000, with a standard deviation of 371). The text says
    that SIM_9 ... SIM_14 start at 10,000 records. Table 2 and 200 clusters of 100 records give
    20,000, and this function follows the table.
    """
    if not isinstance(name, str) or name not in _PARAMETERS:
        raise InputError(
            f"There is no simulated data set {shown(name)}; choose one of SIM_1, SIM_2, ..., "
            "SIM_29."
        )
    seed = whole_number("seed", seed, 0)
    labels = true_or_false("labels", labels)
    d, sigma, min_size, max_size = _PARAMETERS[name]
    own_stream = (int(name.removeprefix("SIM_")), seed)
    data, truth = clusters(_CLUSTERS, d, sigma, min_size, max_size, seed=own_stream, labels=True)
    return (data, truth) if labels else data


def _checked_seed(seed: Seed) -> Seed:
    """Return a valid seed: one or several whole numbers of 0 or more."""
    if is_whole(seed) or not isinstance(seed, Sequence) or isinstance(seed, (str, bytes)):
        return whole_number("seed", seed, 0)
    return [whole_number("seed", part, 0) for part in seed]
