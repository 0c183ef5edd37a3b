"""What has to be known of all records before they are divided: cells, and how to scale them."""

from typing import NamedTuple

import numpy as np

from ..data.scaling import Scaling, refuse_large, rounded, scaling_from_sums, unscaled
from ..errors import InputError, listed, option, too_few_records, values_missing
from ..pipeline.problem import check_weights
from ..settings import Settings
from .partitions import Description, Key, Layout


def published_cells(
    found: list[Description], k: int, small_strata: str, layout: Layout
) -> tuple[dict[Key, int], np.ndarray, int]:
    """A number for each cell that is published, its records, and how many others are left out."""
    missing = np.sum([part.missing for part in found], axis=0)
    if layout.missing == "error" and missing.any():
        where = ", ".join(
            f"{name} ({n})" for name, n in zip(layout.columns, missing, strict=True) if n
        )
        raise values_missing(int(missing.sum()), where)
    counts: dict[Key, int] = {}
    for part in found:
        for key, cell in part.cells.items():
            counts[key] = counts.get(key, 0) + cell.records
    total = sum(counts.values())
    if total < k:
        raise too_few_records(k, total)
    order = sorted(counts, key=lambda key: (tuple(map(str, key[0])), key[1]))
    small = [key for key in order if counts[key] < k]
    if small and small_strata == "error":
        names = [f"{_name(key, layout)} ({counts[key]})" for key in small]
        raise InputError(
            f"{len(small)} of {len(order)} strata or patterns of missing values have fewer than "
            f"k={k} records: {listed(names)}: choose a smaller k, or ",
            option("small_strata", "suppress"),
            ", which leaves out their records",
        )
    kept = [key for key in order if counts[key] >= k]
    if not kept:
        raise InputError(f"no stratum has k={k} records, so nothing is left: choose a smaller k")
    numbers = np.array([counts[key] for key in kept])
    return {key: i for i, key in enumerate(kept)}, numbers, total - int(numbers.sum())


def _name(key: Key, layout: Layout) -> str:
    values = zip(layout.by, key[0], strict=True)
    text = ", ".join(f"{name}={'(missing)' if v is None else v}" for name, v in values)
    absent = np.unpackbits(np.frombuffer(key[1], np.uint8))[: len(layout.columns)]
    without = [str(name) for name, gone in zip(layout.columns, absent, strict=False) if gone]
    return (text or "all records") + (f" without {', '.join(without)}" if without else "")


class Variables(NamedTuple):
    """What is known of each variable over all published records."""

    known: np.ndarray
    centre: np.ndarray
    low: np.ndarray
    high: np.ndarray


def variables(found: list[Description], codes: dict[Key, int]) -> Variables:
    """Counts, means and ranges, the same whatever the partitions are."""
    parts = [cell for part in found for key, cell in part.cells.items() if key in codes]
    known = np.sum([part.known for part in parts], axis=0)
    sums = [rounded(sum(column)) for column in zip(*(part.sums for part in parts), strict=True)]
    return Variables(
        known,
        np.array(sums) / np.maximum(known, 1),
        np.min([part.low for part in parts], axis=0),
        np.max([part.high for part in parts], axis=0),
    )


def input_decimals(found: list[Description], layout: Layout) -> dict[str, int]:
    """The decimals of the columns that are replaced, where they are few in all parts."""
    columns = zip(*(part.decimals for part in found), strict=True)
    most = {
        str(name): None if None in places else max(places)
        for name, places in zip(layout.replaced, columns, strict=True)
    }
    return {name: places for name, places in most.items() if places is not None}


def scaling_of(
    found: Variables, squares: np.ndarray, settings: Settings, names: list[str]
) -> tuple[Scaling, float]:
    """The scaling of one machine, and the total sum of squares of the scaled records."""
    constant = ~(found.high > found.low)
    scaling = unscaled(len(names))
    if settings.standardize:
        scaling = scaling_from_sums(found.centre, squares, found.known, constant, names)
    else:
        ends = np.array([found.low, found.high])
        refuse_large(np.where(np.isfinite(ends), ends, 0.0))  # infinite where all is missing
    scaling.factor[:] = np.sqrt(check_weights(settings.variable_weights, names))
    known = np.where(constant, 0.0, squares)
    return scaling, float((known * scaling.scale**2).sum())
