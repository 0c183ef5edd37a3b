"""t-closeness through microaggregation, against the algorithms of the paper in plain loops."""

from math import ceil

import numpy as np
import pandas as pd
import pytest

from microagg_gpu import InputError, measures, microaggregate
from microagg_gpu.pipeline.closeness import first_of


def census_like(n, seed, distinct=None):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    secret = (points[:, 0] + rng.normal(size=n)).argsort().argsort()
    return points, secret if distinct is None else secret * distinct // n


def naive_first(points, secret, k, t):
    """Soria-Comas et al. 2015, Algorithm 3."""
    n = len(points)
    k = max(k, ceil(n / (2 * (n - 1) * t + 1)))
    k += (n % k) // (n // k)
    ranked = sorted(range(n), key=lambda i: (secret[i], i))
    sizes = [n // k] * k
    for _ in range(n % k):
        middle = [(k - 1) // 2, k // 2]
        sizes[min(middle, key=lambda m: sizes[m])] += 1
    parts = []
    for size in sizes:
        parts.append(sorted(ranked[:size]))
        ranked = ranked[size:]

    def far(i, place):
        return sum((a - b) ** 2 for a, b in zip(points[i], place, strict=True))

    groups, seed = [], None
    while any(parts):
        left = sorted(i for part in parts for i in part)
        place = np.mean([points[i] for i in left], axis=0) if seed is None else points[seed]
        chosen = max(left, key=lambda i: (far(i, place), -i))
        seed = chosen if seed is None else None
        group, to_come = [], n // k - len(groups)
        for part in parts:
            for _ in range(2 if len(part) > to_come else 1):
                nearest = min(part, key=lambda i: (far(i, points[chosen]), i))
                group.append(nearest)
                part.remove(nearest)
        groups.append(group)
    return {frozenset(group) for group in groups}


def groups_of(labels):
    return {frozenset(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)}


@pytest.mark.parametrize(("n", "k", "t"), [(60, 3, 0.1), (61, 3, 0.05), (47, 5, 0.2), (50, 4, 0.3)])
def test_first_is_the_algorithm_of_the_paper(n, k, t):
    points, secret = census_like(n, n)
    assert groups_of(first_of(points, secret, k, t)) == naive_first(points, secret, k, t)


@pytest.mark.parametrize("t", [0.02, 0.05, 0.1, 0.2])
def test_first_is_within_the_bound_of_the_paper(t):
    """Without ties, and if k' divides n, at most (n - k') / (2 (n - 1) k')."""
    n = 240
    size = ceil(n / (2 * (n - 1) * t + 1))
    while n % size:
        size += 1
    points, secret = census_like(n, 7)
    labels = first_of(points, secret, size, 1.0)
    assert set(np.bincount(labels)) == {size}
    bound = (n - size) / (2 * (n - 1) * size)
    assert bound <= t
    assert measures.closeness(secret, labels).distance.max() <= bound + 1e-12


def naive_merge(points, secret, labels, t):
    """Algorithm 1: the group that is farthest joins the nearest."""
    groups = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]
    while True:
        number = np.empty(len(points), dtype=int)
        for g, own in enumerate(groups):
            number[own] = g
        distance = measures.closeness(secret, number).distance
        worst = int(distance.argmax())
        if distance[worst] <= t:
            return {frozenset(own) for own in groups}
        centres = [points[own].mean(axis=0) for own in groups]
        far = [
            np.inf if g == worst else float(((c - centres[worst]) ** 2).sum())
            for g, c in enumerate(centres)
        ]
        nearest = int(np.argmin(far))
        groups[worst] = groups[worst] + groups[nearest]
        del groups[nearest]


@pytest.mark.parametrize("t", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("method", ["mdav", "vmdav"])
def test_merging_is_the_algorithm_of_the_paper(t, method):
    points, secret = census_like(90, 3)
    data = np.column_stack([points, secret])
    scaled = (points - points.mean(axis=0)) / points.std(axis=0)
    start = microaggregate(points, 4, method).labels
    found = microaggregate(data, 4, method, sensitive=2, t=t, t_method="merge")
    assert groups_of(found.labels) == naive_merge(scaled, secret, start, t)
    assert found.closeness.distance <= t
    assert len(groups_of(found.labels)) > 1 or t == 0.1


@pytest.mark.parametrize("t_method", ["auto", "first", "merge"])
@pytest.mark.parametrize("distinct", [None, 2, 7])
def test_every_group_is_within_t(t_method, distinct):
    points, secret = census_like(203, 5, distinct)
    data = np.column_stack([points, secret])
    for t in (0.03, 0.12, 0.25):
        found = microaggregate(data, 5, sensitive=2, t=t, t_method=t_method)
        assert found.names == ["0", "1"]
        assert (found.protected[:, 2] == secret).all()
        worst = measures.closeness(secret, found.labels).distance.max()
        assert worst == found.closeness.distance <= t + 1e-12
        assert found.sizes.min() >= 5
        assert found.verdict.word == "PASS"
        assert "beside the sensitive 2" in str(found.verdict)


def test_the_better_of_both_is_kept():
    points, secret = census_like(150, 2)
    data = np.column_stack([points, secret])
    won = set()
    for t in (0.1, 0.2, 0.3, 0.4):
        loss = {
            how: microaggregate(data, 4, sensitive=2, t=t, t_method=how).loss
            for how in ("first", "merge")
        }
        found = microaggregate(data, 4, sensitive=2, t=t)
        assert found.loss == min(loss.values()) == loss[found.found_by]
        won.add(found.found_by)
    assert won == {"first", "merge"}
    refined = microaggregate(data, 4, "vmdav", sensitive=2, t=0.4, refine_steps=5)
    assert measures.closeness(secret, refined.labels).distance.max() <= 0.4
    assert (refined.refined is None) == (refined.found_by == "first")


def frame():
    points, secret = census_like(120, 9)
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {"a": points[:, 0], "b": points[:, 1], "s": rng.integers(2, size=120),
         "secret": secret, "text": np.array(["x", "y", "z"])[rng.integers(3, size=120)]}
    )  # fmt: skip


def test_strata_and_texts():
    data = frame()
    found = microaggregate(data, 4, columns=["a", "b"], by="s", sensitive="secret", t=0.2)
    assert all(data["s"][found.labels == g].nunique() == 1 for g in range(len(found.sizes)))
    assert measures.closeness(data["secret"], found.labels).distance.max() <= 0.2
    words = microaggregate(data, 4, columns=["a", "b"], sensitive="text", t=0.3, t_method="merge")
    assert measures.closeness(data["text"], words.labels).distance.max() <= 0.3
    assert not words.closeness.ordered
    data["secret"] = data["s"] * 1000 + data["secret"]
    with pytest.raises(InputError, match=r"secret of 's=.' is 0\.2.* t=.* strata"):
        microaggregate(data, 4, columns=["a", "b"], by="s", sensitive="secret", t=0.2)


def test_without_t_it_is_measured_only():
    data = frame()[["a", "b", "secret"]]
    plain = microaggregate(data[["a", "b"]], 4)
    found = microaggregate(data, 4, sensitive="secret")
    assert (found.labels == plain.labels).all()
    assert found.closeness.t is None
    assert (
        found.closeness.distance == measures.closeness(data["secret"], plain.labels).distance.max()
    )
    assert found.verdict.word == "PASS"
    assert plain.closeness is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"t": 0.2}, "name its column with sensitive="),
        ({"sensitive": "secret", "t": 0}, "t=0 must be"),
        (
            {"sensitive": "secret", "t": 0.2, "t_method": "first", "method": "vmdav"},
            "t_method='first' makes groups of its own: leave out method=",
        ),
        (
            {"sensitive": "secret", "t": 0.2, "t_method": "first", "refine_steps": 2},
            "leave out refine_steps=",
        ),
        ({"sensitive": "secret", "t": 0.2, "dominance": (1, 85)}, "choose one"),
        ({"sensitive": "secret", "t": 0.2, "nominal": "text"}, "numbers only"),
        ({"sensitive": "text", "t": 0.2, "t_method": "first"}, "t_method='merge'"),
        ({"sensitive": ["a", "b"]}, "must be one column"),
        ({"sensitive": "a"}, "'a' is named in sensitive= and cannot be protected"),
        ({"sensitive": "secret", "by": "secret"}, "'secret' is sensitive and named in by="),
        ({"sensitive": "nobody"}, "'nobody' is not in the table"),
        (
            {"sensitive": "secret", "t": 0.2, "t_method": "merge", "method": "individual"},
            "no groups of whole records",
        ),
    ],
)
def test_what_cannot_be_done(given, message):
    with pytest.raises(InputError, match=message):
        microaggregate(frame(), 4, columns=["a", "b"], **given)


def test_missing_values_of_the_attribute_are_refused():
    data = frame()
    data["secret"] = data["secret"].astype(float)
    data.loc[3, "secret"] = np.nan
    with pytest.raises(InputError, match=r"1 values of the sensitive column 'secret' .* record 4"):
        microaggregate(data, 4, columns=["a", "b"], sensitive="secret")
