"""microaggregate() and compare(): kinds of data, options, and what bad input is fractions."""

from dataclasses import replace

import numpy as np
import pytest

from microagg_gpu import METHODS, InputError, compare, measures, microaggregate
from microagg_gpu.datasets import clusters, toy

DATA = np.random.default_rng(0).normal(size=(30, 3))


def frame(library: str, columns: dict):
    return pytest.importorskip(library).DataFrame(columns)


def columns_of(data: np.ndarray) -> dict:
    return {name: data[:, j] for j, name in enumerate("abc")}


# --- kinds of data ---------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframe_in_dataframe_out(library):
    table = frame(
        library,
        {"id": [f"{i:03}" for i in range(30)], **columns_of(DATA), "n": list(range(30))},
    )
    result = microaggregate(table, 4, columns=["c", "a"])
    expected = microaggregate(DATA[:, [2, 0]], 4)
    assert type(result.protected) is type(table)
    assert list(result.protected.columns) == list(table.columns)
    assert np.array_equal(result.labels, expected.labels)
    assert np.array_equal(result.protected["c"].to_numpy(), expected.protected[:, 0])
    assert np.array_equal(result.protected["a"].to_numpy(), expected.protected[:, 1])
    for untouched in ("id", "b", "n"):
        assert result.protected[untouched].to_list() == table[untouched].to_list()
        assert result.protected[untouched].dtype == table[untouched].dtype
    assert np.array_equal(table["a"].to_numpy(), DATA[:, 0])


def test_pandas_index_and_single_precision_survive():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(columns_of(DATA.astype(np.float32)), index=np.arange(100, 130)[::-1])
    protected = microaggregate(table, 3).protected
    assert protected.index.equals(table.index)
    assert (protected.dtypes == np.float32).all()


def test_pandas_nullable_and_integer_columns():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": pd.array(range(10), dtype="Int64"), "b": range(10)})
    protected = microaggregate(table, 5).protected
    assert protected["a"].tolist() == [2.0] * 5 + [7.0] * 5


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_series_is_one_variable(library):
    series = frame(library, columns_of(DATA))["a"]
    result = microaggregate(series, 5, "optimal")
    assert type(result.protected) is type(series)
    expected = microaggregate(DATA[:, 0], 5, "optimal").protected
    assert np.array_equal(result.protected.to_numpy(), expected)


def test_pandas_columns_that_are_not_texts():
    pd = pytest.importorskip("pandas")
    expected = microaggregate(DATA[:, [2, 0]], 4).protected
    protected = microaggregate(pd.DataFrame(DATA), 4, columns=[2, 0]).protected
    assert list(protected.columns) == [0, 1, 2]
    assert np.array_equal(protected[[2, 0]].to_numpy(), expected)
    pairs = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")])
    protected = microaggregate(pd.DataFrame(DATA, columns=pairs), 4).protected
    assert protected.columns.equals(pairs)


def test_one_column_by_name_and_a_nameless_series():
    table = frame("pandas", columns_of(DATA))
    expected = microaggregate(DATA[:, 0], 4).protected
    assert np.array_equal(microaggregate(table, 4, columns="a").protected["a"], expected)
    assert np.array_equal(microaggregate(table["a"].rename(None), 4).protected, expected)


def test_tensor_with_gradient():
    torch = pytest.importorskip("torch")
    result = microaggregate(torch.tensor(DATA, requires_grad=True), 4)
    assert np.array_equal(result.protected.numpy(), microaggregate(DATA, 4).protected)


def test_list_of_lists():
    result = microaggregate(DATA.tolist(), 4)
    assert result.protected == microaggregate(DATA, 4).protected.tolist()


def test_columns_of_an_array():
    result = microaggregate(DATA, 4, columns=[0, -1])
    assert np.array_equal(result.protected[:, 1], DATA[:, 1])
    assert np.array_equal(result.labels, microaggregate(DATA[:, [0, 2]], 4).labels)


def test_the_data_are_not_changed():
    data = DATA.copy()
    data.flags.writeable = False
    microaggregate(data, 3)
    assert np.array_equal(data, DATA)


# --- the result ------------------------------------------------------------------------------


def test_result_holds_what_it_cost():
    result = microaggregate(DATA, 4, "mst", split="diameter")
    centroids = np.array([DATA[result.labels == g].mean(axis=0) for g in range(len(result.sizes))])
    assert np.allclose(result.protected, centroids[result.labels])
    z = (DATA - DATA.mean(axis=0)) / DATA.std(axis=0)
    within = sum(
        ((z[result.labels == g] - z[result.labels == g].mean(axis=0)) ** 2).sum()
        for g in range(len(result.sizes))
    )
    assert result.sse == pytest.approx(within)
    assert result.sst == pytest.approx(DATA.size)
    assert result.loss == pytest.approx(100 * within / DATA.size)
    assert result.sizes.tolist() == np.bincount(result.labels).tolist()
    assert (result.k, result.method, result.device) == (4, "mst", "cpu")
    assert result.seconds > 0
    assert "mst split=diameter" in repr(result)


def test_report_holds_the_papers_measures():
    result = microaggregate(DATA, 4)
    report = result.report()
    assert report["loss"] == pytest.approx(result.loss)
    assert report["sst"] == pytest.approx(report["sse"] + report["ssa"])


def test_protected_groups_of_equal_values_keep_them():
    data = np.full((7, 2), 0.1)
    assert np.array_equal(microaggregate(data, 3).protected, data)


def test_individual_ranking_has_labels_per_variable():
    result = microaggregate(DATA, 4, "individual")
    assert result.labels.shape == DATA.shape
    for j in range(3):
        alone = microaggregate(DATA[:, j], 4, "fixed")
        assert np.array_equal(result.labels[:, j], alone.labels)
        assert np.allclose(result.protected[:, j], alone.protected)


def test_weights_are_those_of_scaled_variables():
    weights = [4.0, 1.0, 0.0]
    z = (DATA - DATA.mean(axis=0)) / DATA.std(axis=0)
    weighted = microaggregate(DATA, 4, variable_weights=weights)
    scaled = microaggregate(z * np.sqrt(weights), 4, standardize=False)
    assert np.array_equal(weighted.labels, scaled.labels)
    assert weighted.loss == pytest.approx(scaled.loss)
    assert not np.array_equal(weighted.labels, microaggregate(DATA, 4).labels)


def test_without_standardizing_units_matter():
    data = DATA * [1.0, 1.0, 1000.0]
    raw = microaggregate(data, 4, standardize=False)
    third = microaggregate(DATA, 4, variable_weights=[1e-12, 1e-12, 1.0])
    assert np.array_equal(raw.labels, third.labels)
    assert raw.loss == pytest.approx(measures.information_loss(data, raw.labels))


def test_seed_makes_the_genetic_method_reproducible():
    x = np.random.default_rng(3).exponential(size=200)
    runs = [microaggregate(x, 3, "genetic", seed=seed).labels for seed in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_variable_by_name():
    table = frame("pandas", columns_of(DATA))
    by_name = microaggregate(table, 4, "projection", projection="pv", variable="b")
    by_place = microaggregate(DATA, 4, "projection", projection="pv", variable=1)
    assert np.array_equal(by_name.labels, by_place.labels)


@pytest.mark.parametrize("method", METHODS)
def test_progress_goes_from_low_to_at_most_one(method):
    seen: list[float] = []
    data = DATA[:, :1] if METHODS[method].univariate else DATA
    microaggregate(data, 3, method, progress=seen.append, **METHODS[method].variants[0])
    assert seen == sorted(seen)
    assert all(0 <= fraction <= 1 for fraction in seen)


# --- the papers' toy examples ----------------------------------------------------------------


def test_mdav_mixes_clusters_where_vmdav_does_not():
    """2006, example 1: three clusters of 4, 3 and 6 records (figure 1)."""
    data = toy("vmdav")
    fixed = microaggregate(data, 3, "mdav")
    variable = microaggregate(data, 3, "vmdav", gamma=1.1)
    clusters = [{0, 1, 2, 3}, {4, 5, 6}, set(range(7, 13))]

    def pure(labels):
        groups = [set(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)]
        return all(any(group <= cluster for cluster in clusters) for group in groups)

    assert not pure(fixed.labels)
    assert pure(variable.labels)
    assert variable.loss < fixed.loss


# --- comparing -------------------------------------------------------------------------------


def test_compare_sorts_by_loss_and_prints():
    table = compare(DATA, k=(3, 5))
    assert {row["k"] for row in table} == {3, 5}
    for k in (3, 5):
        losses = [row["loss"] for row in table if row["k"] == k]
        assert losses == sorted(losses)
        assert len(losses) > 8
    methods = {row["method"].split()[0] for row in table}
    multivariate = {name for name, method in METHODS.items() if not method.univariate}
    assert methods == multivariate - {"individual", "best"}
    assert str(table).count("\n") == len(table)


def test_compare_one_variable_and_chosen_methods():
    table = compare(DATA[:, 0], k=3)
    assert {"fixed", "optimal", "genetic"} <= {row["method"].split()[0] for row in table}
    assert table[0]["loss"] == min(row["loss"] for row in table if row["k"] == 3)
    two = compare(DATA, 3, ["individual", ("vmdav", {"gamma": 1.1})])
    assert {row["method"] for row in two} == {"individual", "vmdav gamma=1.1"}


def test_mst_wins_where_clusters_are_clear():
    """2005, Table 7: on clear clusters the tree methods lose far less than fixed-size ones."""
    data = clusters(c=20, d=5, sigma=0.01, min_size=5, max_size=30, seed=1)
    table = compare(data, 4, ["diameter", "centroid", "mst"])
    loss = {row["method"]: row["loss"] for row in table}
    assert 5 * loss["mst split=diameter"] < min(loss["diameter"], loss["centroid"])


# --- bad input -------------------------------------------------------------------------------

NAN = DATA.copy()
NAN[3, 1] = np.nan
NAN[5, 1] = np.nan
INF = DATA.copy()
INF[2, 0] = -np.inf

BAD = {
    "k=0 is too small": ((DATA, 0), {}),
    "k=-2 is too small": ((DATA, -2), {}),
    "k=31 is more than the 30 records": ((DATA, 31), {}),
    "k=2.5 is not a whole number": ((DATA, 2.5), {}),
    "k=True is not a whole number": ((DATA, True), {}),
    "1 value is missing .NaN., in column 0": ((np.ma.masked_equal(DATA, DATA[4, 0]),), {}),
    "no columns are chosen": ((DATA,), {"columns": []}),
    "variable_weights='heavy' are not numbers": ((DATA,), {"variable_weights": "heavy"}),
    "gamma='x' must be a finite number of 0 or more": ((DATA, 3, "vmdav"), {"gamma": "x"}),
    "generations=2.5 must be a whole number": ((DATA[:, 0], 3, "genetic"), {"generations": 2.5}),
    "descending='no' is not true": ((DATA, 3, "kward"), {"descending": "no"}),
    "2 values are missing .NaN., in column 1 .2.": ((NAN,), {}),
    "1 value is infinite, in column 0": ((INF,), {}),
    "method 'mdva' is unknown: choose one of fixed": ((DATA, 3, "mdva"), {}),
    "has no option 'gama': it takes gamma": ((DATA, 3, "vmdav"), {"gama": 1}),
    "has no option 'gamma': it takes none": ((DATA, 3, "mdav"), {"gamma": 1}),
    "'optimal' takes one variable and the data have 3": ((DATA, 3, "optimal"), {}),
    "not numbers": ((np.array([["a", "b"]]),), {}),
    "holds object values": ((np.array([[1, None]], dtype=object),), {}),
    "holds complex128 values": ((DATA * 1j,), {}),
    "the data are empty: 0 records": ((np.empty((0, 3)),), {}),
    "the data are empty: 3 records of 0": ((np.empty((3, 0)), 1), {}),
    "different lengths": (([[1.0, 2.0], [3.0]],), {}),
    "has 3 dimensions": ((np.zeros((2, 2, 2)),), {}),
    "a dict cannot be read: give each column": (({"a": 1},), {}),
    "type set cannot be read": (({1.0, 2.0},), {}),
    "column 7 is not in the array": ((DATA,), {"columns": [7]}),
    "column 1 is chosen twice": ((DATA,), {"columns": [1, 1]}),
    "2 weights for 3 variables": ((DATA,), {"variable_weights": [1, 2]}),
    "weight is negative": ((DATA,), {"variable_weights": [1, 2, -1]}),
    "device='gpu' is unknown": ((DATA,), {"device": "gpu"}),
    "engine='fast' is unknown: choose one of 'generic', 'cpu', 'cuda'": (
        (DATA,),
        {"engine": "fast"},
    ),
    "precision='half' is unknown": ((DATA,), {"precision": "half"}),
    "precision='single' is for the GPU": ((DATA,), {"precision": "single"}),
    "gather='middle' is unknown": ((DATA, 3, "diameter"), {"gather": "middle"}),
    "split='half' is unknown": ((DATA, 3, "mst"), {"split": "half"}),
    "gamma=-1 must be a finite number of 0 or more": ((DATA, 3, "vmdav"), {"gamma": -1}),
    "ranking='best' is unknown": ((DATA, 3, "kward"), {"ranking": "best"}),
    "projection='best' is unknown": ((DATA, 3, "projection"), {"projection": "best"}),
    "inner='best' is unknown": ((DATA, 3, "individual"), {"inner": "best"}),
    "method 'kward' has no option 'pmut'": ((DATA, 3, "individual"), {"inner": "kward", "pmut": 1}),
    "variable=None names none of the 3": ((DATA, 3, "projection"), {"projection": "pv"}),
    "variable 'x' is not one of 0, 1, 2": ((DATA, 3, "kward"), {"ranking": "pv", "variable": "x"}),
    "convergence='fast' is unknown": ((DATA[:, 0], 3, "genetic"), {"convergence": "fast"}),
    "pmut=2.0 must be a finite number from 0 to 1": ((DATA[:, 0], 3, "genetic"), {"pmut": 2}),
    "population=1 must be a whole number from 2 to 100000": (
        (DATA[:, 0], 3, "genetic"),
        {"population": 1},
    ),
    "seed=-1 must be a whole number of 0 or more": ((DATA[:, 0], 3, "genetic"), {"seed": -1}),
    "remainder='first' is unknown": ((DATA[:, 0], 3, "fixed"), {"remainder": "first"}),
    "values above 1e150": ((DATA * 1e160,), {"standardize": False}),
    "column 0 has values too large": ((np.array([[1e300], [2e300], [-1e300]]), 1), {}),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_told_in_one_sentence(message):
    args, options = BAD[message]
    with pytest.raises(InputError, match=message) as error:
        microaggregate(*args, **options)
    assert isinstance(error.value, ValueError)
    assert "\n" not in str(error.value)


def test_too_little_memory_is_told(monkeypatch):
    def greedy(points, k, **_):
        raise MemoryError

    monkeypatch.setitem(METHODS, "mdav", replace(METHODS["mdav"], function=greedy))
    with pytest.raises(InputError, match="'mdav' ran out of memory on 30 records of 3 variables"):
        microaggregate(DATA, 3)
    with pytest.raises(InputError, match="'tsp' compares all pairs of 1000000 records"):
        microaggregate(np.zeros((10**6, 1)), 3, "tsp")


def test_no_gpu_is_told(monkeypatch):
    monkeypatch.setattr("microagg_gpu.engines.gpu_available", lambda: False)
    with pytest.raises(InputError, match="needs an NVIDIA GPU"):
        microaggregate(DATA, 3, device="cuda")
    with pytest.raises(InputError, match="engine='cuda' needs an NVIDIA GPU"):
        microaggregate(DATA, 3, engine="cuda")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_bad_dataframes(library):
    table = frame(library, {"name": ["x", "y", "z"], "a": [1.0, None, 3.0]})
    with pytest.raises(InputError, match="1 of 2 columns are not numbers: 'name'"):
        microaggregate(table, 2)
    with pytest.raises(InputError, match=r"1 value is missing \(NaN\), in column a"):
        microaggregate(table, 2, columns=["a"])
    with pytest.raises(InputError, match="column 'b' is not in the table, which has: name, a"):
        microaggregate(table, 2, columns=["b"])
    with pytest.raises(InputError, match="column 'a' is chosen twice"):
        microaggregate(table, 2, columns=["a", "a"])


def test_duplicate_column_names():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(InputError, match=r"column names appear twice \(a\)"):
        microaggregate(table, 2)


def test_compare_checks_its_input():
    with pytest.raises(InputError, match="method 'x' is unknown"):
        compare(DATA, 3, ["x"])
    with pytest.raises(InputError, match="k=99 is more than"):
        compare(DATA, [3, 99])
