"""Measures of protected data: loss, structure, groups and risk."""

from .bound import lower_bound
from .groups import Oversized, count_partitions, oversized
from .loss import information_loss, ssa, sse, sst
from .risk import (
    Intervals,
    Linkage,
    Ranges,
    interval_disclosure,
    range_inference,
    record_linkage,
)
from .structure import (
    Discrepancies,
    FirstComponent,
    correlation_discrepancies,
    first_component,
    mean_weight_change,
    standard_deviations,
    weight_changes,
)
from .utility import ByVariable, Sums, correlations, il1s, sums_of_squares

__all__ = [
    "ByVariable",
    "Discrepancies",
    "FirstComponent",
    "Intervals",
    "Linkage",
    "Oversized",
    "Ranges",
    "Sums",
    "correlation_discrepancies",
    "correlations",
    "count_partitions",
    "first_component",
    "il1s",
    "information_loss",
    "interval_disclosure",
    "lower_bound",
    "mean_weight_change",
    "oversized",
    "range_inference",
    "record_linkage",
    "ssa",
    "sse",
    "sst",
    "standard_deviations",
    "sums_of_squares",
    "weight_changes",
]
