"""What protection costs: information loss, damage to structure, properties of the groups."""

from .groups import Oversized, count_partitions, oversized
from .loss import information_loss, ssa, sse, sst
from .report import report
from .structure import (
    Discrepancies,
    FirstComponent,
    correlation_discrepancies,
    first_component,
    mean_weight_change,
    standard_deviations,
    weight_changes,
)

__all__ = [
    "Discrepancies",
    "FirstComponent",
    "Oversized",
    "correlation_discrepancies",
    "count_partitions",
    "first_component",
    "information_loss",
    "mean_weight_change",
    "oversized",
    "report",
    "ssa",
    "sse",
    "sst",
    "standard_deviations",
    "weight_changes",
]
