"""Microaggregation: groups of at least k records, published as their centroids."""

from . import datasets, measures
from .api import compare, microaggregate, refine
from .errors import DataWarning, InputError
from .methods import METHODS
from .result import Comparison, Result

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "Comparison",
    "DataWarning",
    "InputError",
    "Result",
    "compare",
    "datasets",
    "measures",
    "microaggregate",
    "refine",
]
