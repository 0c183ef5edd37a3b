"""What has to be known of all records before they are divided: cells, and how to scale them."""

import numpy as np

from ..errors import InputError, too_few_records, values_missing
from ..pipeline.problem import Weights, check_weights
from .worker import Described, Key, Roles, Scale, together


def published_cells(
    found: list[Described], k: int, small_strata: str, roles: Roles
) -> tuple[dict[Key, int], np.ndarray, int]:
    """A number for each cell that is published, its records, and how many others are left out."""
    missing = np.sum([one.missing for one in found], axis=0)
    if roles.missing == "error" and missing.any():
        where = ", ".join(
            f"{name} ({n})" for name, n in zip(roles.columns, missing, strict=True) if n
        )
        raise values_missing(int(missing.sum()), where)
    counts: dict[Key, int] = {}
    for one in found:
        for key, cell in one.cells.items():
            counts[key] = counts.get(key, 0) + cell.records
    total = sum(counts.values())
    if total < k:
        raise too_few_records(k, total)
    order = sorted(counts, key=lambda key: (tuple(map(str, key[0])), key[1]))
    small = [key for key in order if counts[key] < k]
    if small and small_strata == "error":
        listed = "; ".join(f"{_name(key, roles)} ({counts[key]})" for key in small[:10])
        more = f" and {len(small) - 10} more" if len(small) > 10 else ""
        raise InputError(
            f"{len(small)} of {len(order)} strata or patterns of missing values have fewer than "
            f"k={k} records: {listed}{more}: choose a smaller k, or small_strata='suppress', which "
            "leaves out their records"
        )
    kept = [key for key in order if counts[key] >= k]
    if not kept:
        raise InputError(f"no stratum has k={k} records, so nothing is left: choose a smaller k")
    numbers = np.array([counts[key] for key in kept])
    return {key: i for i, key in enumerate(kept)}, numbers, total - int(numbers.sum())


def _name(key: Key, roles: Roles) -> str:
    values = zip(roles.by, key[0], strict=True)
    text = ", ".join(f"{name}={'(missing)' if v is None else v}" for name, v in values)
    absent = np.unpackbits(np.frombuffer(key[1], np.uint8))[: len(roles.columns)]
    without = [str(name) for name, gone in zip(roles.columns, absent, strict=False) if gone]
    return (text or "all records") + (f" without {', '.join(without)}" if without else "")


def scale_of(
    found: list[Described],
    codes: dict[Key, int],
    standardize: bool,
    weights: Weights | None,
    names: list[str],
) -> Scale:
    """How records are scaled, the same all over the cluster; as `table.standardized` does it."""
    parts = [cell for one in found for key, cell in one.cells.items() if key in codes]
    every = together(parts)
    factor = np.sqrt(check_weights(weights, names))
    if standardize:
        constant = ~(every.high > every.low)
        with np.errstate(divide="ignore", over="ignore"):
            spread = np.sqrt(every.squares / np.maximum(every.known, 1))
            usable = constant | (np.isfinite(1 / spread) & np.isfinite(spread))
        if not usable.all():
            raise InputError(
                f"column {names[int(np.argmin(usable))]} has values too large or too close "
                "together to standardize: rescale it"
            )
        factor = np.where(constant, 0.0, factor / np.where(constant, 1.0, spread))
    elif max(np.abs(every.high).max(), np.abs(every.low).max()) > 1e150:
        raise InputError("the data hold values above 1e150, too large to square: rescale them")
    whole = np.logical_and.reduce([one.whole for one in found])
    return Scale(names, whole, every.mean, factor, float((every.squares * factor**2).sum()))
