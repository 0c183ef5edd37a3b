"""Scales of the variables: within strata, robust, logarithms; and losses with sampling weights."""

import re
from statistics import NormalDist, median

import numpy as np
import pandas as pd
import pytest

from helpers.command import refuse, run
from microagg_gpu import InputError, compare, microaggregate, refine
from microagg_gpu.data.scaling import NORMAL_MAD
from microagg_gpu.report import describe, page

pytestmark = pytest.mark.usefixtures("empty_directory")
RNG = np.random.default_rng(6)


def amounts(n=120):
    """Skewed amounts with zeros and losses, and a variable that is 0 for most."""
    data = np.stack(
        [RNG.lognormal(3, 2, n), RNG.normal(0, 1, n) * RNG.lognormal(2, 1, n), RNG.normal(5, 2, n)],
        axis=1,
    )
    data[::7, 0] = 0.0
    return data


DATA = amounts()
GENERIC, CPU = {"engine": "generic"}, {"engine": "cpu"}


def squares(points, new):
    """100 SSE / SST, written out."""
    sse = sum(
        (a - b) ** 2 for p, q in zip(points, new, strict=True) for a, b in zip(p, q, strict=True)
    )
    centre = points.mean(axis=0)
    return 100 * sse / sum(((p - centre) ** 2).sum() for p in points)


def robust(data):
    columns = []
    for column in data.T.tolist():
        middle = median(column)
        mad = median(abs(x - middle) for x in column)
        columns.append([(x - middle) / (mad / NormalDist().inv_cdf(0.75)) for x in column])
    return np.array(columns).T


def logarithms(data):
    unit = [median(abs(x) for x in column if x != 0) for column in data.T.tolist()]
    return np.sign(data) * np.log1p(np.abs(data) / unit)


@pytest.mark.parametrize("method", ["mdav", "mst"])
def test_robust_is_median_and_mad(method):
    result = microaggregate(DATA, 4, method, scale="robust", **GENERIC)
    points = robust(DATA)
    expected = microaggregate(points, 4, method, standardize=False, **GENERIC)
    assert result.labels.tolist() == expected.labels.tolist()
    assert result.loss == pytest.approx(expected.loss, rel=1e-12)
    means = pd.DataFrame(DATA).groupby(result.labels).transform("mean")
    assert np.allclose(result.protected, means)
    assert pytest.approx(NormalDist().inv_cdf(0.75), abs=1e-15) == NORMAL_MAD
    other = microaggregate(DATA, 4, method, **GENERIC)
    assert other.labels.tolist() != result.labels.tolist()


def test_outliers_do_not_change_the_robust_scale():
    """One enormous value changes the standard deviation of its variable, not the MAD."""
    far = DATA.copy()
    far[np.argmax(far[:, 2]), 2] = 1e6
    spread = [microaggregate(d, 4, scale="robust")._problem.scaling.spread for d in (DATA, far)]
    assert spread[0].tolist() == spread[1].tolist()


def test_a_mad_of_zero_falls_back_to_the_standard_deviation_and_says_so():
    data = pd.DataFrame({"x": DATA[:, 2], "rare": np.where(np.arange(120) % 5, 0.0, 3.0)})
    result = microaggregate(data, 4, scale="robust")
    spread = result._problem.scaling.spread
    assert spread[1] == pytest.approx(data["rare"].std(ddof=0), rel=1e-14)
    text = "by median and MAD; rare by the standard deviation, since the MAD is 0"
    assert result.provenance.rows()["Standardized"] == text
    assert result.report()["provenance"]["Standardized"] == text
    data.to_csv("in.csv", index=False)
    done = run("protect", "in.csv", "-k", 4, "--scale", "robust", "-o", "out.csv")
    assert "rare by the standard deviation" in " ".join(done.output.split())


def test_logarithms_group_and_means_of_the_data_are_published():
    result = microaggregate(DATA, 4, scale="log", **GENERIC)
    points = logarithms(DATA)
    expected = microaggregate(points, 4, **GENERIC)
    assert result.labels.tolist() == expected.labels.tolist()
    means = pd.DataFrame(DATA).groupby(result.labels).transform("mean").to_numpy()
    assert np.allclose(result.protected, means)
    # The loss compares the logarithms of records and of what is published for them.
    unit = [median(abs(x) for x in column if x != 0) for column in DATA.T.tolist()]
    published = np.sign(means) * np.log1p(np.abs(means) / unit)
    spread = points.std(axis=0)
    assert result.loss == pytest.approx(squares(points / spread, published / spread), rel=1e-10)
    content = result.report()
    assert content["loss"] == result.loss
    assert 100 * content["sse"] / content["sst"] == pytest.approx(result.loss, rel=1e-10)
    assert content["risk"]["linkage"] == pytest.approx(100 * result.linkage().share)
    assert content["by_variable"][0]["before"]["mean"] == pytest.approx(DATA[:, 0].mean())


def test_logarithms_have_no_unit_and_mirror_negative_values():
    one = microaggregate(DATA, 4, scale="log")
    assert one.labels.tolist() == microaggregate(1024 * DATA, 4, scale="log").labels.tolist()
    assert one.labels.tolist() == microaggregate(-DATA, 4, scale="log").labels.tolist()
    zeros = microaggregate(np.column_stack([DATA[:, 2], np.zeros(120)]), 4, scale="log")
    assert zeros.labels.tolist() == microaggregate(DATA[:, 2], 4, scale="log").labels.tolist()


def test_within_strata_each_stratum_has_its_own_scale():
    """The same groups as of each stratum protected by itself, and the loss of all of them."""
    strata = RNG.integers(0, 3, 120)
    frame = pd.DataFrame(DATA * 10.0 ** strata[:, np.newaxis]).rename(columns=str)
    frame["region"] = strata
    result = microaggregate(frame, 4, by="region", scale="strata", **GENERIC)
    points = np.empty_like(DATA)
    for stratum in range(3):
        rows = np.flatnonzero(strata == stratum)
        alone = microaggregate(frame.iloc[rows, :3], 4, **GENERIC)
        inside = result.labels[rows]
        assert len({*zip(alone.labels, inside, strict=True)}) == len(alone.sizes) == len({*inside})
        part = frame.iloc[rows, :3].to_numpy()
        points[rows] = (part - part.mean(axis=0)) / part.std(axis=0)
    means = pd.DataFrame(points).groupby(result.labels).transform("mean").to_numpy()
    assert result.loss == pytest.approx(squares(points, means), rel=1e-10)
    content = result.report(by_stratum=True)
    assert 100 * content["sse"] / content["sst"] == pytest.approx(result.loss, rel=1e-10)
    assert len(content["by_stratum"]) == 3
    other = microaggregate(frame, 4, by="region", **GENERIC)
    assert other.labels.tolist() != result.labels.tolist()


@pytest.mark.parametrize("scale", ["strata", "robust", "log"])
def test_engines_and_libraries_agree(scale):
    data = np.vstack([DATA, DATA[::3], np.round(DATA)])  # with ties
    data = np.column_stack([data, np.arange(len(data)) % 4])
    given = {"k": 5, "by": 3, "scale": scale, "columns": [0, 1, 2]}
    expected = microaggregate(data, **given, **GENERIC)
    assert microaggregate(data, **given, **CPU).labels.tolist() == expected.labels.tolist()
    for name in ("torch", "array_api_strict"):
        library = pytest.importorskip(name)
        other = microaggregate(library.asarray(data), **given)
        assert other.labels.tolist() == expected.labels.tolist(), name
        assert other.loss == expected.loss


def test_missing_values_and_categories():
    frame = pd.DataFrame(DATA.copy(), columns=["a", "b", "c"])  # pandas 2 would write to DATA
    frame.loc[::4, "b"] = np.nan
    frame["size"] = RNG.choice(["s", "m"], 120)
    frame["region"] = np.arange(120) % 2
    for scale in ("strata", "robust", "log"):
        given = {"columns": ["a", "b", "c"], "by": "region", "missing": "pattern", "scale": scale}
        result = microaggregate(frame, 3, **given)
        assert result.protected["b"].isna().equals(frame["b"].isna())
        assert 0 < result.loss < 100
        mixed = microaggregate(frame, 3, **given, nominal="size")
        assert mixed.verdict.word == "PASS"


def test_what_cannot_be_combined():
    frame = pd.DataFrame(DATA, columns=["a", "b", "c"]).assign(region=np.arange(120) % 2)
    with pytest.raises(InputError, match="scale='strata' needs strata: name their columns with by"):
        microaggregate(DATA, 3, scale="strata")
    with pytest.raises(InputError, match="scale='strata' cannot be combined with small_strata="):
        microaggregate(frame, 3, by="region", scale="strata", small_strata="merge")
    with pytest.raises(InputError, match="standardize=False cannot be combined with scale='log'"):
        microaggregate(DATA, 3, scale="log", standardize=False)
    with pytest.raises(
        InputError, match=r"trim=0\.1 is for trimmed means: add aggregate='trimmed'"
    ):
        microaggregate(DATA, 3, trim=0.1)
    with pytest.raises(InputError, match=r"trim=0\.5 must be a finite number from 0 to 0\.49"):
        microaggregate(DATA, 3, trim=0.5, aggregate="trimmed")
    frame.to_parquet("in.parquet")
    refuse("--scale, --trim cannot be used with --workers", "protect", "in.parquet", "-k", 3,
           "--scale", "log", "--aggregate", "trimmed", "--trim", 0.1, "--workers", 2,
           "-o", "out")  # fmt: skip


def test_compare_and_refine_take_it():
    rows = compare(DATA, 4, ["mdav"], scale="log")
    assert rows[0]["loss"] == microaggregate(DATA, 4, scale="log").loss
    groups = microaggregate(DATA, 4, scale="robust").labels
    better = refine(DATA, groups, 4, steps=5, scale="robust")
    assert better.loss <= microaggregate(DATA, 4, scale="robust").loss


def test_the_estimator_takes_it():
    sklearn = pytest.importorskip("microagg_gpu.sklearn")
    for scale in ("robust", "log"):
        fitted = sklearn.Microaggregator(4, scale=scale).fit(DATA)
        result = microaggregate(DATA, 4, scale=scale)
        assert fitted.labels_.tolist() == result.labels.tolist()
        assert np.array_equal(fitted.transform(DATA), result.protected)
        assert np.array_equal(fitted.transform(DATA[:20]), result.protected[:20])
    with pytest.raises(InputError, match="scale='strata' needs strata"):
        sklearn.Microaggregator(4, scale="strata").fit(DATA)


def test_the_loss_with_sampling_weights():
    """By hand: small companies count 50 times, so their groups' means are far from large ones."""
    x = np.array([1.0, 2.0, 100.0, 1.0, 2.0, 90.0])
    weight = np.array([50.0, 50.0, 1.0, 50.0, 50.0, 1.0])
    result = microaggregate(x, 6, sampling_weight=weight)
    mean = (weight * x).sum() / weight.sum()
    sse, sst = ((x - mean) ** 2).sum(), ((x - x.mean()) ** 2).sum()
    assert result.loss == pytest.approx(100 * sse / sst)
    assert result.loss > 106  # more than all of the variation
    assert result.weighted_loss == pytest.approx(100)  # one group: all of it
    content = result.report()
    assert content["weighted_loss"] == result.weighted_loss
    (said,) = [text for text in content["summary"] if "is lost" in text]
    assert said.startswith(
        "100.0\N{NO-BREAK SPACE}% of the variation is lost with sampling weights ("
    )
    assert "it can be above 100 %, since the means are weighted" in said
    assert "with sampling weights" in page(content)
    assert microaggregate(x, 6).weighted_loss is None
    assert microaggregate(x, 6).report()["weighted_loss"] is None


def test_the_weighted_loss_of_several_groups_and_variables():
    weight = RNG.integers(1, 30, 120).astype(float)
    result = microaggregate(DATA, 5, sampling_weight=weight)
    spread = DATA.std(axis=0)
    sse = (weight[:, None] * ((DATA - result.protected) / spread) ** 2).sum(axis=0)
    middle = np.average(DATA, axis=0, weights=weight)
    sst = (weight[:, None] * ((DATA - middle) / spread) ** 2).sum(axis=0)
    assert result.weighted_loss == pytest.approx(100 * sse.sum() / sst.sum())
    assert result.weighted_loss < 100
    rows = result.report()["by_variable"]
    assert [row["weighted_loss"] for row in rows] == pytest.approx((100 * sse / sst).tolist())
    pair = describe(
        DATA, result.protected, names=["a", "b", "c"], k=5, sampling_weight=weight
    )  # of two files
    assert pair["weighted_loss"] == pytest.approx(result.weighted_loss)


@pytest.mark.parametrize("trim", [0.0, 0.1, 0.2, 0.29, 0.49])
def test_trimmed_means_leave_out_a_share(trim):
    data = np.round(DATA[:, :1] * 8) / 8
    for k in (2, 5, 10, 100):
        result = microaggregate(data, k, aggregate="trimmed", trim=trim)
        for label in range(len(result.sizes)):
            values = np.sort(data[result.labels == label, 0])
            size = len(values)
            ends = max(1, size * round(100 * trim) // 100) if size > 2 else 0
            mean = values[ends : size - ends].mean()
            assert result.protected[result.labels == label, 0] == pytest.approx(mean, rel=1e-12)
    whole = microaggregate(np.arange(100), 100, aggregate="trimmed", trim=trim, keep_integers=True)
    assert whole.protected[0] in (49, 50)


@pytest.mark.parametrize(
    ("name", "said"),
    [("pca", "called {projection}"), ("onedims", "called {individual}"),
     ("single", "called {projection}"),
     ("RMD", "not available: the nearest is {mdav}"), ("clustpca", "nearest is {mst}"),
     ("simple", "nearest is {mdav}"), ("mcdpca", "nearest is {projection}")],
)  # fmt: skip
def test_names_of_sdcmicro(name, said):
    python, command = (re.sub("{(.*)}", new, said) for new in (r"method='\1'", r"--method \1"))
    with pytest.raises(InputError, match=f"method '{name}' of sdcMicro is .*{python}"):
        microaggregate(DATA, 3, name)
    pd.DataFrame(DATA).to_csv("in.csv", index=False)
    refuse(f"method '{name}' of sdcMicro is .*{command}", "protect", "in.csv", "-k", 3, "--method",
           name, "-o", "out.csv")  # fmt: skip


def test_strata_keep_their_scale_when_records_are_suppressed():
    """A group that cannot obey a rule leaves; the others are measured as before."""
    strata = np.repeat([0, 1, 2], 8)
    frame = pd.DataFrame({"x": RNG.lognormal(2, 1, 24) * 10.0**strata, "region": strata})
    frame.loc[20, "x"] = 1e7
    given = {"by": "region", "scale": "strata", "dominance": (1, 85), "unrepaired": "suppress"}
    result = microaggregate(frame, 8, **given)
    assert result.protected["region"].tolist() == [0] * 8 + [1] * 8
    part = frame["x"][:16].to_numpy().reshape(2, 8)
    points = (part - part.mean(axis=1, keepdims=True)) / part.std(axis=1, keepdims=True)
    assert result.loss == pytest.approx(100)
    assert result.sst == pytest.approx((points**2).sum())
    assert result.report()["loss"] == result.loss
