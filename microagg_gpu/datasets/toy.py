"""The small examples whose numbers the papers print."""

import numpy as np

from ..errors import InputError, shown

_TOYS = {
    "vmdav": [
        (2.4, 3), (1.68, 4.9), (3.18, 5.54), (5.32, 3.6), (18.68, 11.49), (20.14, 9.56),
        (19.85, 12.33), (13.67, 18.9), (17.11, 21), (16.07, 19.23), (21.28, 18.9), (22, 21),
        (23, 18.5),
    ],
    "companies": [
        (790, 55), (710, 44), (730, 32), (810, 17), (950, 3), (510, 25), (400, 45), (330, 50),
        (510, 5), (760, 52), (50, 12),
    ],
}  # fmt: skip


def toy(name: str) -> np.ndarray:
    """Return a small data set that is printed in a paper.

    Parameters
    ----------
    name : {"vmdav", "companies"}
        "vmdav": 13 records of 2 variables (Solanas and Martinez-Balleste 2006, Example 1).
        "companies": surface in square metres and number of employees of 11 companies
        (MF-TSP paper, Table I).

    Returns
    -------
    numpy.ndarray
        float64 matrix, one row for each record.

    Notes
    -----
    Some examples are only drawn (1999 and 2002, Figures 1 and 2). Their coordinates are not
    printed, so they are not included.
    """
    if not isinstance(name, str) or name not in _TOYS:
        raise InputError(
            f"There is no toy data set {shown(name)}; choose one of {', '.join(_TOYS)}."
        )
    return np.array(_TOYS[name], dtype=np.float64)
