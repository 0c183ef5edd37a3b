"""Sums that do not depend on the order of their terms.

A centroid decides who is farthest or nearest, so its last bit can decide a partition. Sums are
therefore carried as an unevaluated pair high + low (Knuth's two-sum: about 106 bits), and what
is used of them is the high part, the correctly rounded sum. Adding and removing records in any
order, in parallel or one by one, gives the same number. Sums of single precision numbers are
carried in double precision and rounded to single at the end.
"""

from typing import Any

from ..arrays import array_namespace


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s = fl(a + b) and the exact error (a + b) - s."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


class Total:
    """A running sum, element by element, of arrays of one shape."""

    def __init__(self, first: Any) -> None:
        xp = array_namespace(first)
        self._type = first.dtype
        self._high = xp.astype(first, xp.float64, copy=False)
        self._low = self._high * 0.0

    @property
    def value(self) -> Any:
        """The correctly rounded sum, in the type of its terms."""
        xp = array_namespace(self._high)
        if self._type == xp.float64:
            return self._high
        near = xp.astype(xp.astype(self._high, self._type), xp.float64)
        # Half way between two numbers, what is left decides: the other one is as far again.
        rest = self._high - near
        other = self._high + rest
        half_way = xp.astype(xp.astype(other, self._type), xp.float64) == other
        beyond = half_way & (rest * self._low > 0.0)
        return xp.astype(xp.where(beyond, other, near), self._type)

    def add(self, x: Any) -> None:
        """Add an array."""
        xp = array_namespace(self._high)
        s, error = two_sum(self._high, xp.astype(x, xp.float64, copy=False))
        self._high, self._low = two_sum(s, error + self._low)

    def subtract(self, x: Any) -> None:
        """Take away an array that was added before."""
        self.add(-x)

    def merge(self, i: int, j: int) -> None:
        """Add column j to column i."""
        s, error = two_sum(self._high[:, i], self._high[:, j])
        error = error + (self._low[:, i] + self._low[:, j])
        self._high[:, i], self._low[:, i] = two_sum(s, error)

    def fold(self) -> "Total":
        """Sum over the last axis, by halves."""
        xp = array_namespace(self._high)
        while (m := self._high.shape[-1]) > 1:
            half = m // 2
            upper = Total(self._high[..., :half])
            upper._low = self._low[..., :half]
            upper.add(self._high[..., half : 2 * half])
            upper._low = upper._low + self._low[..., half : 2 * half]
            odd = slice(2 * half, m)
            self._high = xp.concat([upper._high, self._high[..., odd]], axis=-1)
            self._low = xp.concat([upper._low, self._low[..., odd]], axis=-1)
        self._high, self._low = two_sum(self._high[..., 0], self._low[..., 0])
        return self


def correctly_rounded_sum(columns: Any) -> Any:
    """Sum over the last axis, correctly rounded."""
    return Total(columns).fold().value
