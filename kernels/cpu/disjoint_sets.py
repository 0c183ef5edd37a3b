"""Disjoint sets in an array: every member leads to a lower one of its set, the lowest to itself."""

import numpy as np

from .compiled import entry, inner


@inner()
def find(above, i):
    """The lowest member of a set, with shorter ways to it for the next time."""
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i


@inner()
def unite(above, i, j):
    """Unite the sets of two members; whether they were two sets."""
    a, b = find(above, i), find(above, j)
    above[max(a, b)] = min(a, b)
    return a != b


@inner(allocates=True)
def number_sets(above):
    """The number of each member's set, counted from 0 by lowest members, and how many there are."""
    number = np.empty(len(above), dtype=np.int64)
    count = 0
    for i in range(len(above)):
        if above[i] == i:
            number[i] = count
            count += 1
        else:
            number[i] = number[above[i]]
    return number, count


@entry()
def resolve(above):
    """Let every member lead to the lowest of its set."""
    for i in range(len(above)):
        above[i] = above[above[i]]
