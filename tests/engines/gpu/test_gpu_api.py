"""Whatever takes records takes them from a GPU, and what it returns is that of the CPU."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.scaling.measure import capability, gpu
from helpers.command import run
from helpers.gpu import at_most
from helpers.strategies import make_table
from microagg_gpu import InputError, compare, measures, microaggregate, refine

pytestmark = [pytest.mark.gpu, pytest.mark.xdist_group("api")]
N = at_most(300)
DATA = make_table("random", N, 3, seed=1)
PUBLISHED = np.round(DATA, 1)
LABELS = np.arange(N) // 5
MEASURES = {
    "correlation_discrepancies": (DATA, PUBLISHED),
    "correlations": (DATA,),
    "first_component": (DATA,),
    "il1s": (DATA, PUBLISHED),
    "information_loss": (DATA, LABELS),
    "interval_disclosure": (DATA, PUBLISHED),
    "lower_bound": (DATA, 3),
    "mean_weight_change": (DATA, PUBLISHED),
    "oversized": (LABELS, 2),
    "range_inference": (DATA, PUBLISHED, LABELS % 2),
    "record_linkage": (DATA, PUBLISHED, LABELS % 2),
    "ssa": (DATA, LABELS),
    "sse": (DATA, LABELS),
    "sst": (DATA,),
    "standard_deviations": (DATA, PUBLISHED),
    "sums_of_squares": (DATA, PUBLISHED, np.ones(3)),
    "weight_changes": (DATA, PUBLISHED),
}


@pytest.mark.parametrize("name", MEASURES)
def test_measures_take_arrays_of_a_gpu(cupy, name):
    measure, given = getattr(measures, name), MEASURES[name]
    found = measure(*(cupy.asarray(x) if isinstance(x, np.ndarray) else x for x in given))
    np.testing.assert_equal(found, measure(*given))


def test_a_matrix_that_a_measure_cannot_take_is_refused_for_what_it_is(cupy):
    with pytest.raises(InputError, match="1 missing or infinite values"):
        measures.sst(cupy.asarray([[1.0], [np.nan]]))
    with pytest.raises(InputError, match="labels have shape"):
        measures.sse(cupy.asarray(DATA), cupy.asarray(PUBLISHED))


def test_weights_and_labels_from_a_gpu(cupy):
    data, weights = cupy.asarray(DATA), np.arange(1.0, N + 1)
    given = {
        "sampling_weight": cupy.asarray(weights),
        "variable_weights": cupy.asarray([1.0, 2, 3]),
    }
    result = microaggregate(data, 5, **given)
    expected = microaggregate(DATA, 5, sampling_weight=weights, variable_weights=[1.0, 2, 3])
    assert np.array_equal(result.protected.get(), expected.protected)
    assert result.report()["groups"] == expected.report()["groups"]
    refined = refine(data, cupy.asarray(LABELS), 5, seconds=None, steps=5)
    assert np.array_equal(refined.labels, refine(DATA, LABELS, 5, seconds=None, steps=5).labels)
    assert isinstance(refined.protected, cupy.ndarray)


def test_compare_and_bound_and_report(cupy, tmp_path):
    data = cupy.asarray(DATA)
    found = compare(data, 5, ["mdav", "vmdav"], refine_best=1)
    expected = compare(DATA, 5, ["mdav", "vmdav"], refine_best=1)
    for row, other in zip(found, expected, strict=True):
        assert (row["method"], row["loss"], row["risk"]) == (
            other["method"],
            other["loss"],
            other["risk"],
        )
    result, expected = microaggregate(data, 5), microaggregate(DATA, 5)
    assert result.bound() == expected.bound()
    assert result.linkage() == expected.linkage()
    assert result.verdict == expected.verdict
    result.save_report(tmp_path / "report.html", alternatives=found)
    result.save_note(tmp_path / "note.html")
    assert "cuda:0" in (tmp_path / "report.html").read_text()


def test_the_estimator(cupy):
    sklearn = pytest.importorskip("microagg_gpu.sklearn")
    data = cupy.asarray(DATA)
    ours, expected = sklearn.Microaggregator(k=5), sklearn.Microaggregator(k=5)
    protected = ours.fit_transform(data)
    assert isinstance(protected, cupy.ndarray)
    assert np.array_equal(protected.get(), expected.fit_transform(DATA))
    assert np.array_equal(ours.labels_, expected.labels_)
    assert ours.n_features_in_ == 3
    other = make_table("random", 20, 3, seed=2)
    assert np.array_equal(ours.transform(cupy.asarray(other)).get(), expected.transform(other))
    assert np.array_equal(ours.transform(other).get(), expected.transform(other))
    assert np.array_equal(expected.transform(cupy.asarray(other)), expected.transform(other))
    on_card = sklearn.Microaggregator(k=5, device="cuda").fit_transform(DATA)
    assert np.array_equal(on_card, protected.get())
    with pytest.raises(InputError, match="matrix of finite numbers"):
        ours.fit(cupy.asarray([[1.0], [np.nan]]))
    with pytest.raises(ValueError, match="2 features"):
        ours.transform(cupy.asarray(other[:, :2]))


def test_the_command(tmp_path):
    frame = pd.DataFrame(DATA, columns=["a", "b", "c"]).assign(region=LABELS % 3, w=1.0 + LABELS)
    source = tmp_path / "records.csv"
    frame.to_csv(source, index=False)
    given = ["protect", str(source), "-k", "5", "--by", "region", "--weight", "w"]
    for device, shown in (("cuda", "on cuda:0"), ("cpu", "on cpu")):
        done = run(*given, "-o", str(tmp_path / f"{device}.csv"), "--device", device)
        assert done.exit_code == 0
        assert shown in done.output
    assert (tmp_path / "cuda.csv").read_bytes() == (tmp_path / "cpu.csv").read_bytes()


def test_what_a_benchmark_says_of_the_card():
    assert (capability("75"), capability("120")) == ("7.5", "12.0")
    major, minor = map(int, gpu()["compute capability"].split("."))
    assert major >= 5
    assert minor < 10
