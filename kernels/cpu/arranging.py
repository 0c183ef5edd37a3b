"""The order of records in a search tree (boxes.py): those that are near follow each other."""

import numpy as np

from .compiled import entry
from .kdtree import WIDTH, below_mean, choose_keys, enclose, select
from .threads import on_all_cores

LEVELS = 8  # more than 32**8 records have
_MANY = 10_000  # records that more than one core arranges


@entry()
def _arrange(begin, end, parts, points, order, keys, least):
    """Sort the records of some parts so that each aligned run of 32, 1024, ... lies together.

    A run is divided at the mean of its widest variable, moved to the next multiple of the size
    that its parts will be packed in. Returned are the parts that are too small to be divided
    once more, of more than 32 records.

    Parameters
    ----------
    parts : int64 array of shape (parts, 2)
        Their first places in the order, and those after their last.
    least : int
        Parts of no more records are left as they are.
    """
    box = np.empty((1, 2, points.shape[1]))
    waiting = np.empty((64 * LEVELS, 2), dtype=np.int64)
    left, count = np.empty((len(order) // least + 1, 2), dtype=np.int64), 0
    for part in range(begin, end):
        waiting[0, 0], waiting[0, 1] = parts[part, 0], parts[part, 1]
        height = 1
        while height:
            height -= 1
            start, stop = waiting[height, 0], waiting[height, 1]
            size = stop - start
            if size <= WIDTH:
                continue
            if size <= least:
                if count == len(left):
                    left = np.append(left, np.empty_like(left)).reshape(-1, 2)
                left[count, 0], left[count, 1] = start, stop
                count += 1
                continue
            unit = WIDTH
            while unit * WIDTH < size:
                unit *= WIDTH
            enclose(points, order, start, stop, box, 0)
            choose_keys(points, order, start, stop, box, 0, keys)
            units = (below_mean(keys, start, stop) + unit // 2) // unit
            middle = start + min(max(units, 1), (size - 1) // unit) * unit
            select(keys, order, start, stop, middle)
            waiting[height, 0], waiting[height, 1] = start, middle
            waiting[height + 1, 0], waiting[height + 1, 1] = middle, stop
            height += 2
    return left[:count]


def in_order(points: np.ndarray, records: np.ndarray) -> np.ndarray:
    """Records in this order, found on all cores if there are many."""
    order, keys = np.array(records), np.empty(len(records))
    parts = np.array([[0, len(order)]])
    if len(order) > _MANY:
        parts = _arrange(0, 1, parts, points, order, keys, len(order) // 16)
    on_all_cores(_arrange, len(parts), parts, points, order, keys, WIDTH)
    return order
