"""Groups that obey rules on contributors: checked in fractions, and by trying every change."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from microagg_gpu import InputError, measures, microaggregate, refine
from microagg_gpu.measures.contributors import Rule, amounts
from microagg_gpu.pipeline.exchange import Exchange
from reference.contributors import breaks


def skewed(n, p, seed, zeros=0.3):
    rng = np.random.default_rng(seed)
    values = rng.lognormal(3, 1.5, (n, p)).round(2)
    values[rng.random((n, p)) < zeros] = 0
    return values


def broken_groups(values, labels, rule, p_percent, weights=None):
    weights = np.ones(len(values)) if weights is None else weights
    return {
        g
        for g in set(labels[labels >= 0].tolist())
        if any(
            breaks(values[labels == g, j], weights[labels == g], rule, p_percent)
            for j in range(values.shape[1])
        )
    }


@pytest.mark.parametrize("method", ["mdav", "vmdav", "mst", "projection"])
@pytest.mark.parametrize(("rule", "p_percent"), [((1, 85), None), ((2, 90), 15), (None, 10)])
def test_what_is_repaired_obeys_and_what_is_not_is_listed(method, rule, p_percent):
    for seed, k in ((1, 3), (2, 5)):
        values = skewed(150, 3, seed)
        before = microaggregate(values, k, method)
        found = microaggregate(values, k, method, dominance=rule, p_percent=p_percent)
        assert found.sizes.min() >= k
        assert broken_groups(values, found.labels, rule, p_percent) == {*found.dominance.unrepaired}
        first = broken_groups(values, before.labels, rule, p_percent)
        assert found.dominance.before.broken == len(first) > 0
        assert found.dominance.after.broken < len(first)
        assert found.dominance.loss_before == pytest.approx(before.loss)
        assert found.verdict.word == "PASS"


def test_strata_weights_missing_values_and_refinement():
    values, rng = skewed(200, 2, 5), np.random.default_rng(0)
    values[rng.random((200, 2)) < 0.05] = np.nan
    frame = pd.DataFrame({"a": values[:, 0], "b": values[:, 1], "s": rng.integers(3, size=200)})
    frame["w"] = rng.choice([1.0, 1.5, 4.0], 200)
    found = microaggregate(
        frame, 4, by="s", sampling_weight="w", missing="pattern", small_strata="suppress",
        dominance=(1, 80), p_percent=10, refine_steps=20,
    )  # fmt: skip
    kept = found.labels >= 0
    for g in range(found.labels.max() + 1):
        own = frame[found.labels == g]
        assert len(own) >= 4
        assert own["s"].nunique() == 1
        assert all(own[c].isna().nunique() == 1 for c in "ab")
    left = broken_groups(values, found.labels, (1, 80), 10, frame["w"].to_numpy())
    assert left == {*found.dominance.unrepaired}
    assert found.dominance.before.broken > len(left)
    assert found.dominance.after.records == kept.sum()


def test_individual_ranking_is_repaired_by_variable():
    values = skewed(120, 2, 3)
    found = microaggregate(values, 4, "individual", dominance=(1, 70))
    assert found.dominance.before.broken > found.dominance.after.broken
    counts = [
        len(broken_groups(values[:, [j]], found.labels[:, j], (1, 70), None)) for j in range(2)
    ]
    assert found.dominance.after.broken == sum(counts)
    assert min(sizes.min() for sizes in found.sizes) >= 4


def changes(labels, k):
    """Every exchange, move and merger of the groups 0 and 1."""
    zero, one = (np.flatnonzero(labels == g) for g in (0, 1))
    for i, j in product(zero, one):
        new = labels.copy()
        new[[i, j]] = 1, 0
        yield new
    for i in range(len(labels)):
        new = labels.copy()
        new[i] = 1 - labels[i]
        if np.bincount(new, minlength=2).min() >= k:
            yield new
    yield np.zeros(len(labels), dtype=np.int64)


def test_the_cheapest_change_is_made():
    """Two groups, of which one breaks the rule: no change of one step is better."""
    rng, tried = np.random.default_rng(8), 0
    for _ in range(200):
        values = rng.lognormal(2, 1.2, (9, 2))
        labels = rng.permutation([0, 0, 0, 0, 1, 1, 1, 1, 1])
        if len(broken_groups(values, labels, (1, 65), None)) != 1:
            continue
        options = [new for new in changes(labels, 4)
                   if not broken_groups(values, new, (1, 65), None)]  # fmt: skip
        rule = Rule((1, 65.0), None)
        found = Exchange(values, amounts(values), labels, 4, rule, np.zeros(9, int)).repaired()
        if not options:
            assert broken_groups(values, found, (1, 65), None)
            continue
        best = min(measures.sse(values, new) for new in options)
        assert measures.sse(values, found) == pytest.approx(best)
        tried += 1
    assert tried > 30


def test_groups_that_cannot_be_repaired_are_left_out_on_request():
    """One company has 99 % of everything."""
    values = np.array([1e6, *np.arange(1.0, 30)])
    kept = microaggregate(values, 3, dominance=(1, 85))
    assert kept.dominance.unrepaired == [kept.labels[0]]
    assert str(kept.dominance).startswith("FAIL: 1 of the 10 groups, with 3 of the 30 records")
    left = microaggregate(values, 3, dominance=(1, 85), unrepaired="suppress")
    assert (left.labels == -1).sum() == left.dominance.suppressed == 3
    assert left.labels[0] == -1
    assert len(left.protected) == 27
    assert left.dominance.after.broken == 0
    assert left.provenance.left_out == "3 records of groups that break the rule"
    assert left.bound().loss <= left.loss
    with pytest.raises(InputError, match="nothing is left"):
        microaggregate([5.0, 0, 0], 3, dominance=(1, 85), unrepaired="suppress")


def test_given_groups_are_repaired():
    values = skewed(60, 2, 4)
    found = refine(values, np.arange(60) // 4, 4, steps=0, dominance=(1, 90))
    assert broken_groups(values, found.labels, (1, 90), None) == {*found.dominance.unrepaired}
    assert "dominance=(1, 90.0)" in found.provenance.python()


def test_without_a_rule_there_is_none():
    assert microaggregate(skewed(30, 2, 1), 3).dominance is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dominance": (0, 85)}, "dominance=\\(0, 85\\) is not"),
        ({"p_percent": 200}, "p_percent=200 must be .* above 0 and at most 100"),
        ({"unrepaired": "suppress"}, "unrepaired='suppress' is for groups that break a rule"),
        ({"unrepaired": "drop"}, "unrepaired='drop' is unknown"),
        ({"dominance": (1, 85), "nominal": [1]}, "numbers only"),
        (
            {"dominance": (1, 85), "unrepaired": "suppress", "method": "individual"},
            "individual ranking has no groups of whole records to suppress",
        ),
    ],
)
def test_what_cannot_be_done(given, message):
    with pytest.raises(InputError, match=message):
        microaggregate(skewed(30, 2, 1), 3, **given)
