"""Functions of the library that take an engine, called here by its name; by default the points'."""

from functools import partial, wraps

import numpy as np

from microagg_gpu import METHODS
from microagg_gpu.data.scaling import standardize
from microagg_gpu.kernels import engine_for, generic
from microagg_gpu.kernels.arguments import Partition
from microagg_gpu.methods.annealing import refine
from microagg_gpu.methods.axes import scores
from microagg_gpu.methods.mixed import mixed_mdav
from microagg_gpu.methods.path import path_order


def by_name(function):
    """A function that takes the name of an engine instead of the engine."""

    @wraps(function)
    def call(points, *given, engine=None, **options):
        return function(points, *given, engine=engine_for(points, engine), **options)

    return call


def run(method, points, k, **options):
    """The labels of a method in `METHODS`."""
    takes = METHODS[method].takes
    given = {name: value for name, value in options.items() if name in takes.options}
    return by_name(METHODS[method].function)(points, k, **options | takes.check(method, given))


best, centroid, diameter, genetic, individual, kward, mdav, mst, optimal, path, tsp, vmdav = (
    partial(run, name)
    for name in (
        *("best", "centroid", "diameter", "genetic", "individual", "kward"),
        *("mdav", "mst", "optimal", "path", "tsp", "vmdav"),
    )
)
mixed_mdav = by_name(mixed_mdav)
path_order = by_name(path_order)
refine_points = by_name(refine)
scores = by_name(scores)
standardize = by_name(standardize)


def state_of(points, labels, k):
    """Groups as `best_moves` takes them."""
    groups = labels.max() + 1
    members = np.full((groups, 2 * k - 1), -1)
    for g in range(groups):
        inside = np.flatnonzero(labels == g)
        members[g, : len(inside)] = inside
    centroids = np.stack([points[labels == g].mean(axis=0) for g in range(groups)])
    return Partition(labels, members, centroids)


def assert_spanning_tree(edges, lengths, points):
    """The tree is the generic engine's, edge by edge and to the bit."""
    with np.errstate(over="ignore"):
        expected, expected_lengths = generic.minimum_spanning_tree(points)
    assert edges.dtype == expected.dtype
    assert lengths.dtype == expected_lengths.dtype
    assert edges.shape == expected.shape
    assert np.array_equal(edges, expected)
    assert np.array_equal(lengths, expected_lengths)
