"""Ordinal and nominal variables before and after."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, as_text, shown

SHOWN_CATEGORIES = 12


def checked_category(category: Any) -> dict[str, Any]:
    """What `describe` was given of a variable, if it has all parts."""
    keys = ("name", "kind", "before", "after")
    if not isinstance(category, Mapping) or set(category) != set(keys):
        raise InputError(f"categories hold {shown(category)}: give {', '.join(keys)} for each")
    return dict(category)


def compared(n: int, name: str, kind: str, before: ArrayLike, after: ArrayLike) -> dict[str, Any]:
    """The share of changed values, and the share of each category before and after."""
    name, kind = as_text(name), as_text(kind)
    try:
        old, new = np.asarray(before, dtype=str), np.asarray(after, dtype=str)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"category {name!r} does not have texts before and after.") from None
    if old.shape != (n,) or new.shape != (n,):
        raise InputError(f"category {name!r} does not have {n} values before and after.")
    names, codes = np.unique(np.concatenate([old, new]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(names)) for part in (codes[:n], codes[n:])]
    shares = [100 * count / n for count in counts]
    order = np.argsort(-counts[0], kind="stable")
    shown, rest = order[:SHOWN_CATEGORIES], order[SHOWN_CATEGORIES:]
    rows = [{"name": names[i], "before": shares[0][i], "after": shares[1][i]} for i in shown]
    if len(rest):
        sums = [share[rest].sum() for share in shares]
        rows.append({"name": f"{len(rest)} others", "before": sums[0], "after": sums[1]})
    return {
        "name": name,
        "kind": kind,
        "changed": 100 * np.mean(old != new),
        "categories": rows,
    }
