"""Squared distances of all pairs of rows: the matrix, or the nearest and farthest of each row."""

from typing import Any

from array_api_compat import device

from ..arrays import array_namespace
from .launching import Pace, check_room, launch, read_number, real_type
from .pairwise_kernels import SHARE, TILE, make_kernels
from .team import THREADS

# Variables of pairs that one launch looks at, at most.
WORK = 2**33
# Entries of the lists of one launch, of 16 bytes at the most.
ENTRIES = 2**24
# Blocks enough to fill any device several times, so that none waits long for the last.
BLOCKS = 4096


def pairwise_distances(a: Any, b: Any = None) -> Any:
    """Squared distances of all rows of a matrix to all rows of another, or of the same.

    Parameters
    ----------
    a : array of shape (m, d)
    b : array of shape (n, d), optional

    Returns
    -------
    array of shape (m, n), or (m, m) without b
    """
    xp = array_namespace(a)
    symmetric = b is None
    a = xp.ascontiguousarray(a)
    b = a if symmetric else xp.ascontiguousarray(b)
    (m, d), n = a.shape, b.shape[0]
    check_room(a, m * n * a.dtype.itemsize)
    squares = xp.empty((m, n), dtype=a.dtype, device=device(a))
    kernels = make_kernels(real_type(a))
    first, pace = 0, Pace(WORK)
    while first < m:
        rows = min(m - first, _whole_tiles(pace.work // (n * d)))
        with pace:
            launch(kernels.pairwise, _tiles(rows) * _tiles(n), a, b, symmetric, first, squares)
            read_number(squares[first, 0])
        first += rows
    return squares


def nearest_of_each(a: Any, b: Any = None, allowed: Any = None) -> tuple[Any, Any]:
    """The row of b nearest to each row of a, the first of equals.

    Parameters
    ----------
    a : array of shape (m, d)
    b : array of shape (n, d), optional
        By default the rows of `a`, each without itself.
    allowed : bool array of shape (n,), optional
        The rows of `b` that count.

    Returns
    -------
    squares, indices : arrays of shape (m,)
        The squared distances and the rows of `b`; -1 where no row counts.
    """
    squares, indices = _best_of_each(a, b, allowed, 1, 1)
    return squares[:, 0], indices[:, 0]


def farthest_of_each(a: Any, b: Any = None, allowed: Any = None) -> tuple[Any, Any]:
    """The row of b farthest from each row of a, the first of equals; see `nearest_of_each`."""
    squares, indices = _best_of_each(a, b, allowed, 1, -1)
    return squares[:, 0], indices[:, 0]


def k_nearest_of_each(a: Any, b: Any, k: int) -> tuple[Any, Any]:
    """The k rows of b nearest to each row of a, the nearest first, equals in their order.

    Returns
    -------
    squares, indices : arrays of shape (m, k)
    """
    return _best_of_each(a, b, None, k, 1)


def _best_of_each(a: Any, b: Any, allowed: Any, k: int, sign: int) -> tuple[Any, Any]:
    """The k rows of b of least sign * distance to each row of a, in launches of some rows."""
    xp = array_namespace(a)
    on = device(a)
    apart = b is None
    a = xp.ascontiguousarray(a)
    b = a if apart else xp.ascontiguousarray(b)
    (m, d), n = a.shape, b.shape[0]
    if allowed is None:
        allowed = xp.ones(n, dtype=xp.bool, device=on)
    step = min(m, _whole_tiles(min(WORK // (n * d), ENTRIES // (k * THREADS))))
    # A block to a tile of rows; if these are few, more blocks share the columns.
    splits = min(TILE, -(-BLOCKS // _tiles(step)), _tiles(n))
    width = min(k, -(-_tiles(n) // splits) * TILE // SHARE)
    shape = (step, splits * SHARE, width)
    check_room(a, 16 * (step * splits * SHARE * width + m * k))
    worths = xp.empty(shape, dtype=a.dtype, device=on)
    keys = xp.empty(shape, dtype=xp.int64, device=on)
    squares = xp.empty((m, k), dtype=a.dtype, device=on)
    indices = xp.empty((m, k), dtype=xp.int64, device=on)
    real = real_type(a)
    kernels = make_kernels(real)
    first, pace = 0, Pace(WORK)
    while first < m:
        rows = min(step, m - first, _whole_tiles(pace.work // (n * d)))
        lists = worths[:rows, :, :], keys[:rows, :, :]
        with pace:
            launch(
                kernels.list_best, _tiles(rows) * splits,
                a, b, allowed, apart, real(sign), first, splits, *lists,
            )  # fmt: skip
            launch(kernels.merge_lists, rows, real(sign), first, *lists, squares, indices)
            read_number(indices[first, 0])
        first += rows
    return squares, indices


def _tiles(rows: int) -> int:
    return -(-rows // TILE)


def _whole_tiles(rows: int) -> int:
    """So many rows in whole tiles, but one tile at least."""
    return max(1, rows // TILE) * TILE
