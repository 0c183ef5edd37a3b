"""The order in which records are published: that of the data, or a random one."""

import numpy as np

from .partition import Partition


def shuffled(count: int, seed: int) -> np.ndarray:
    """A random order of so many records, the same for the same seed with any version of NumPy.

    Sorting by raw numbers of Philox, whose stream is fixed, unlike that of `permutation`. Numbers
    of 64 bits are hardly ever equal; if two are, the first record stays first.
    """
    generator = np.random.Philox(key=np.array([seed, _STREAM], dtype=np.uint64))
    return np.argsort(generator.random_raw(count), kind="stable")


_STREAM = 0x5F1E  # not the stream of a method with the same seed


def renumbered(part: Partition, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0, 1, ... in order of first published record, and sizes.

    Such numbers say nothing that the published order does not.

    Parameters
    ----------
    part : Partition
    order : int array of shape (m,)
        Which record is published at each place.

    Returns
    -------
    labels : int array of shape (m,)
        Of the records as the partition has them.
    sizes : int array
    """
    published = Partition(part.labels[order], part.k)
    labels = np.empty_like(published.labels)
    labels[order] = published.labels
    return labels, published.sizes
