"""The operations that only some engines have, with their types and contracts.

A method asks `isinstance(engine, HasLoops)`. Where an engine has the loop of a method, it is run
instead of the text in `microagg_gpu.methods`; the labels are the same.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from .protocol import Progress


class GatheringLoop(Protocol):
    """A fixed-size method that gathers records around others, as one loop."""

    def __call__(
        self,
        points: Any,
        k: int,
        gather: str,
        within: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """The groups of the method; with `within` each problem is grouped by itself."""


@runtime_checkable
class HasLoops(Protocol):
    """An engine that runs whole loops of methods: cpu and cuda.

    The texts of the loops are in `microagg_gpu.methods`; the labels are the same. With `within`,
    int64 of shape (n,), each record belongs to a problem, and each problem is grouped by itself.
    """

    def mdav_groups(
        self,
        points: Any,
        k: int,
        within: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """The groups of `mdav`; those of a problem are numbered in the order they were formed.

        A problem of several has at least k records.
        """

    def vmdav_groups(
        self, points: Any, k: int, gamma: float, progress: Progress | None = None
    ) -> np.ndarray:
        """The groups of `vmdav`."""

    @property
    def centroid_groups(self) -> GatheringLoop:
        """The groups of `centroid`."""


@runtime_checkable
class HasDiameterLoop(Protocol):
    """An engine that runs the diameter-based method as one loop: cuda."""

    @property
    def diameter_groups(self) -> GatheringLoop:
        """The groups of `diameter`."""


@runtime_checkable
class HasLoopOfFew(Protocol):
    """An engine that groups many problems of few records together: cpu."""

    def groups_of_few(
        self, points: Any, within: np.ndarray, k: int, by_diameter: bool, gathered: bool
    ) -> np.ndarray:
        """Labels from 0 on in each problem of k to some hundred records, -1 in all others.

        The groups are those of `diameter` or `centroid`; gathered around their centroids or not.
        """


@runtime_checkable
class HasMixedLoop(Protocol):
    """An engine that runs MDAV on mixed variables as one loop: cpu."""

    def mixed_mdav_groups(
        self, points: Any, kinds: Any, weights: Any, k: int, progress: Progress | None = None
    ) -> np.ndarray:
        """The groups of MDAV over a `MixedPointSet`, numbered as they were formed."""
