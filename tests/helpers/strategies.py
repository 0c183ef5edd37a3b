"""Hard cases for the methods: tables with ties, duplicates, no spread, clusters, few records."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

KINDS = ("random", "grid", "duplicated", "constant", "collinear", "clustered", "equal")


class Case(NamedTuple):
    """A table and a group size."""

    kind: str
    data: np.ndarray
    k: int


def make_table(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """A table of n records and d variables of some kind."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        return rng.normal(size=(n, d))
    if kind == "grid":
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    if kind == "duplicated":
        return rng.normal(size=(n, d))[rng.integers(0, max(1, n // 3), size=n)]
    if kind == "constant":
        data = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, size=d)
        data[:, rng.integers(0, d)] = 0.1
        return data
    if kind == "collinear":
        return np.outer(rng.integers(0, n, size=n), rng.integers(1, 4, size=d)).astype(float)
    if kind == "clustered":
        centres = rng.uniform(-1, 1, size=(max(1, n // 8), d))
        return centres[rng.integers(0, len(centres), size=n)] + rng.normal(0, 0.01, size=(n, d))
    return np.full((n, d), 0.3)


DEEP = ("random", "grid", "duplicated", "equal", "line", "wide", "tails")


def deep_table(kind: str, n: int, seed: int) -> np.ndarray:
    """A table of n records, fewer if wide, which make a tree of many levels."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        return rng.normal(size=(n, 5))
    if kind == "grid":
        return rng.integers(0, 5, size=(n, 4)).astype(float)
    if kind == "duplicated":
        return rng.normal(size=(9, 3))[rng.integers(0, 9, size=n)]
    if kind == "line":
        return np.outer(np.arange(float(n)), [1.0, 2.0, 3.0])
    if kind == "wide":
        return rng.uniform(size=(min(n, 3000), 120))
    if kind == "tails":
        return rng.lognormal(0, 3, size=(n, 4))
    return np.full((n, 2), 0.3)


def scattered(n: int, k: int, problems: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and problems for Ward: at least k records each, in random groups of 1 to k + 1."""
    rng = np.random.default_rng(seed)
    within = rng.permutation(np.arange(n) % max(1, min(problems, n // k))) * 7
    labels = np.arange(n)
    for problem in np.unique(within):
        records = rng.permutation(np.flatnonzero(within == problem))
        cuts = np.cumsum(rng.integers(1, k + 2, size=len(records)))
        for group in np.split(records, cuts[cuts < len(records)]):
            if rng.random() < 0.3:
                labels[group] = group.min()
    return labels, within


@st.composite
def cases(draw: st.DrawFn, d: int | None = None, most: int = 1200) -> Case:
    """Tables of at most `most` values: n up to 200, d up to 30, k from 1 to n."""
    kind = draw(st.sampled_from(KINDS))
    n = draw(st.integers(1, 12) | st.integers(1, 200))
    width = draw(st.integers(1, 4) | st.integers(1, 30)) if d is None else d
    n = max(1, min(n, most // width))
    k = draw(st.integers(1, min(n, 6)) | st.integers(1, n))
    return Case(kind, make_table(kind, n, width, draw(st.integers(0, 10**6))), k)
