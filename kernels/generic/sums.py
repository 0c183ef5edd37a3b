"""Sums that do not depend on the order of their terms.

A centroid decides who is farthest or nearest, so its last bit can decide a partition. Sums are
therefore carried as an unevaluated pair high + low (Knuth's two-sum: about 106 bits), and what
is used of them is the high part, the correctly rounded sum. Adding and removing records in any
order, in parallel or one by one, gives the same number.
"""

from typing import Any

from array_api_compat import array_namespace


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s = fl(a + b) and the exact error (a + b) - s."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


class Total:
    """A running sum, element by element, of arrays of one shape."""

    def __init__(self, first: Any) -> None:
        self.value = first
        self._low = first * 0.0

    def add(self, x: Any) -> None:
        """Add an array."""
        s, error = two_sum(self.value, x)
        self.value, self._low = two_sum(s, error + self._low)

    def subtract(self, x: Any) -> None:
        """Take away an array that was added before."""
        self.add(-x)

    def merge(self, i: int, j: int) -> None:
        """Add column j to column i."""
        s, error = two_sum(self.value[:, i], self.value[:, j])
        error = error + (self._low[:, i] + self._low[:, j])
        self.value[:, i], self._low[:, i] = two_sum(s, error)

    def fold(self) -> "Total":
        """Sum over the last axis, by halves."""
        xp = array_namespace(self.value)
        while (m := self.value.shape[-1]) > 1:
            half = m // 2
            upper = Total(self.value[..., :half])
            upper._low = self._low[..., :half]
            upper.add(self.value[..., half : 2 * half])
            upper._low = upper._low + self._low[..., half : 2 * half]
            odd = slice(2 * half, m)
            self.value = xp.concat([upper.value, self.value[..., odd]], axis=-1)
            self._low = xp.concat([upper._low, self._low[..., odd]], axis=-1)
        self.value, self._low = two_sum(self.value[..., 0], self._low[..., 0])
        return self


def correctly_rounded_sum(columns: Any) -> Any:
    """Sum over the last axis, correctly rounded."""
    return Total(columns).fold().value
