"""Measures of protected data: loss, structure, groups and risk."""

from .bound import lower_bound
from .contributors import Dominance, dominance
from .groups import Oversized, count_partitions, oversized
from .inference import (
    Inequality,
    coefficient_overlap,
    inequality,
    interval_overlap,
    pmse,
)
from .loss import information_loss, ssa, sse, sst
from .matching import assignment_linkage, joint_interval_disclosure
from .matrices import (
    Change,
    eigenvalue_change,
    inverse_correlation_change,
    matrix_changes,
    mean_distance,
)
from .records import RecordRisk, linkage_chances, record_risk
from .risk import (
    Intervals,
    Linkage,
    Ranges,
    interval_disclosure,
    range_inference,
    record_linkage,
)
from .sensitive import Closeness, closeness
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
    "Change",
    "Closeness",
    "Discrepancies",
    "Dominance",
    "FirstComponent",
    "Inequality",
    "Intervals",
    "Linkage",
    "Oversized",
    "Ranges",
    "RecordRisk",
    "Sums",
    "assignment_linkage",
    "closeness",
    "coefficient_overlap",
    "correlation_discrepancies",
    "correlations",
    "count_partitions",
    "dominance",
    "eigenvalue_change",
    "first_component",
    "il1s",
    "inequality",
    "information_loss",
    "interval_disclosure",
    "interval_overlap",
    "inverse_correlation_change",
    "joint_interval_disclosure",
    "linkage_chances",
    "lower_bound",
    "matrix_changes",
    "mean_distance",
    "mean_weight_change",
    "oversized",
    "pmse",
    "range_inference",
    "record_linkage",
    "record_risk",
    "ssa",
    "sse",
    "sst",
    "standard_deviations",
    "sums_of_squares",
    "weight_changes",
]
