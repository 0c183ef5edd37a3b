"""The set of records that methods take groups from: its operations and their contracts."""

from typing import Any, Protocol, TypeAlias, runtime_checkable


class PointSet(Protocol):
    """The records not yet in a group: a set that shrinks as groups are taken from it.

    Records are named by their index in the original matrix throughout.
    """

    def __len__(self) -> int: ...

    def __contains__(self, record: int) -> bool: ...

    def __getitem__(self, record: int) -> Any:
        """Coordinates of any record, taken or not."""

    def centroid(self) -> Any:
        """Centroid of the records that remain."""

    def farthest_from(self, target: Any) -> int:
        """The record farthest from a point."""

    def nearest_to_group(self, group: list[int]) -> tuple[int, float]:
        """The record nearest to any member of a group, and its squared distance."""

    def distance_to_nearest(self, record: int) -> float:
        """Squared distance from a record of the set to the nearest other; infinite if none."""

    def take(self, records: list[int]) -> list[int]:
        """Remove records from the set."""

    def take_rest(self) -> list[int]:
        """Remove all records that remain."""

    def take_nearest(self, record: int, k: int) -> list[int]:
        """Remove a record and the k - 1 nearest to it."""

    def take_gathered(self, record: int, k: int) -> list[int]:
        """Remove a record and, k - 1 times, the one nearest to the growing group's centroid.

        The procedure `gather` of Laszlo and Mukherjee (2005), section 4.2.
        """

    def most_distant_pair(self) -> tuple[int, int]:
        """The two records farthest apart, the lower index first."""


Records: TypeAlias = PointSet  # within a class that has an operation of the same name


@runtime_checkable
class HasPointSet(Protocol):
    """An engine that does the steps of a method one by one: generic and cpu."""

    def PointSet(self, points: Any) -> Records:
        """All records of a matrix, none taken yet."""
