"""Microaggregation on several machines, or of files larger than memory, by Dask."""

try:
    from dask import dataframe as _dataframe  # noqa: F401

    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"several workers need Dask ({error}): pip install 'microagg-gpu[dask]'"
    ) from None

from .api import DistributedResult, microaggregate

__all__ = ["DistributedResult", "microaggregate"]
