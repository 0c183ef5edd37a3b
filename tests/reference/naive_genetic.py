"""Naive reference of genetic microaggregation (2002, section 4.2) on strings of bits.

It draws the same random numbers as the library: generation g from Philox with the seed as key
and g as counter; for each generation the spins of the wheel, the crossovers, their places, and
the inversions; for the first one the sizes of the groups of the random strings. A whole number
below m is the draw times m, exactly, rounded down.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from reference import naive


def correct(bits, k):
    """Keep 1s that are k or more after the last, set one where 2k - 1 zeros would follow it."""
    n = len(bits)
    result = [0] * n
    last = 0
    for i in range(1, n):
        if i - last < k:
            continue
        if bits[i] and i - last < 2 * k:
            result[i], last = 1, i
        elif i - last == 2 * k:  # the gap is too long: a 1 belongs k after the last
            last += k
            result[last] = 1
            if bits[i] and i - last >= k:
                result[i], last = 1, i
    if n - last == 2 * k:
        last += k
        result[last] = 1
    if n - last < k and last > 0:  # the last group is too short: it joins the one before
        result[last] = 0
        last = max((i for i in range(last) if result[i]), default=0)
        if n - last >= 2 * k:
            result[last + k] = 1
    result[0] = 1
    return result


def fitness(values, bits):
    """Between-groups sum of squares of centred values, from running totals."""
    running = [0.0]
    for value in values:
        running.append(running[-1] + value)
    starts = [i for i, bit in enumerate(bits) if bit] + [len(bits)]
    terms = []
    for a, b in itertools.pairwise(starts):
        total = running[b] - running[a]
        terms.append(total * total / (b - a))
    return math.fsum(terms)


def whole_below(draw, m):
    """The draw times m, rounded down."""
    return math.floor(Fraction(float(draw)) * m)


def first_generation(values, k, population, draws):
    """The fixed-size string with the large group at the mode, and random ones."""
    n = len(values)
    groups = sorted(naive.fixed(values, k), key=min)
    strings = [[int(any(i == min(group) for group in groups)) for i in range(n)]]
    for row in draws.random((population - 1, n // k + 1)):
        bits, place = [0] * n, 0
        for draw in row:
            place += k + whole_below(draw, k)
            if place < n:
                bits[place] = 1
        strings.append(correct(bits, k))
    return strings


def next_generation(strings, scores, k, pcross, pmut, draws):
    """Selection, crossover and mutation."""
    size, n = len(strings), len(strings[0])
    spins = draws.random(size) * np.cumsum(scores)[-1]
    children = []
    for spin in spins:
        passed = [i for i in range(size) if spin < np.cumsum(scores)[i]]
        children.append(list(strings[passed[0] if passed else size - 1]))
    crossed = draws.random(size // 2) < pcross
    sites = [whole_below(draw, n) for draw in draws.random(size // 2)]
    for pair in range(size // 2):
        if crossed[pair]:
            p1, p2, site = children[2 * pair], children[2 * pair + 1], sites[pair]
            children[2 * pair] = correct(p1[: site + 1] + p2[site + 1 :], k)
            children[2 * pair + 1] = correct(p2[: site + 1] + p1[site + 1 :], k)
    inverted = draws.random((size, n)) < pmut
    return [
        correct([bit ^ int(flip) for bit, flip in zip(child, flips, strict=True)], k)
        for child, flips in zip(children, inverted, strict=True)
    ]


def genetic(points, k, convergence, generations, population=10, pcross=0.6, pmut=0.05, seed=0):
    """Return the groups of the best string met."""
    column = [row[0] for row in naive.as_rows(points)]
    order = naive.ranked(column)
    ranked = np.array([column[i] for i in order])
    values = (ranked - ranked.mean()).tolist()

    def draws(generation):
        return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, generation]))

    strings = first_generation(ranked.tolist(), k, population, draws(0))
    scores = np.zeros(population)
    best, best_score, old = strings[0], -math.inf, None
    for generation in range(generations + 1):
        if generation:
            strings = next_generation(strings, scores, k, pcross, pmut, draws(generation))
        scores = np.array([fitness(values, bits) for bits in strings])
        if scores.max() > best_score:
            best, best_score = strings[int(scores.argmax())], scores.max()
        running = list(itertools.accumulate(scores.tolist()))  # in order, unlike sum or mean
        new = running[-1] / population if convergence == "average" else scores.max()
        if old is not None and old <= new <= old * (1 + 1e-6 / len(values)):
            break
        old = new
    groups: list[list[int]] = []
    for record, bit in zip(order, best, strict=True):
        if bit:
            groups.append([])
        groups[-1].append(record)
    return groups
