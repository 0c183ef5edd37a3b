"""The scikit-learn transformer: scikit-learn's own checks, and what it promises beyond them."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.strategies import KINDS, make_table
from microagg_gpu import InputError, microaggregate
from microagg_gpu.sklearn import Microaggregator


@parametrize_with_checks(
    [
        Microaggregator(),
        Microaggregator(k=2, method="vmdav", options={"gamma": 0.5}),
        Microaggregator(k=5, method="kward", standardize=False),
        Microaggregator(method="mst"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def nearest_by_hand(fitted, records):
    """Index of the nearest fitted record on standardized variables, the first of several."""
    scale = np.where(fitted.std(axis=0) > 0, fitted.std(axis=0), np.inf)
    gaps = (records[:, np.newaxis, :] - fitted[np.newaxis, :, :]) / scale
    return np.argmin((gaps**2).sum(axis=2), axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_records_get_their_own_centroid(kind):
    data = make_table(kind, 61, 3, seed=5)
    expected = microaggregate(data, 4)
    model = Microaggregator(k=4).fit(data)
    assert np.array_equal(model.labels_, expected.labels)
    assert model.loss_ == expected.loss
    assert np.array_equal(model.transform(data.copy()), expected.protected)
    assert np.array_equal(Microaggregator(k=4).fit_transform(data), expected.protected)
    assert np.unique(model.transform(data), axis=0, return_counts=True)[1].min() >= 4
    assert np.array_equal(model.centroids_[model.labels_], expected.protected)


def test_duplicates_stay_k_anonymous():
    """Seven equal records are in two groups, with one centroid each, and keep to them."""
    data = np.vstack([np.zeros((7, 2)), [[1.0, 0.0], [0.0, 5.0], [9.0, 9.0], [9.0, 8.0]]])
    model = Microaggregator(k=3, standardize=False).fit(data)
    assert len(np.unique(model.labels_[:7])) > 1
    protected = model.transform(data)
    assert np.array_equal(protected, microaggregate(data, 3, standardize=False).protected)
    assert np.unique(protected, axis=0, return_counts=True)[1].min() >= 3


def test_new_records_get_the_group_of_the_nearest():
    rng = np.random.default_rng(1)
    data = rng.normal(size=(200, 3)) * [1.0, 100.0, 0.01]
    new = rng.normal(size=(50, 3)) * [1.0, 100.0, 0.01]
    model = Microaggregator(k=4).fit(data)
    expected = microaggregate(data, 4).protected[nearest_by_hand(data, new)]
    assert np.array_equal(model.transform(new), expected)
    some = data[[5, 17, 3]]
    assert np.array_equal(model.transform(some), microaggregate(data, 4).protected[[5, 17, 3]])


def test_new_records_are_scaled_and_weighted_as_the_fitted():
    """By hand: the second variable decides unless its weight is 0, the constant one never."""
    data = np.array([[0.0, 0, 7], [0, 1, 7], [10, 100, 7], [10, 101, 7]])
    new = np.array([[1.0, 99.0, -1e9]])
    plain = Microaggregator(k=2, standardize=False, variable_weights=[1, 1, 0])
    assert plain.fit(data).transform(new).tolist() == [[10.0, 100.5, 7.0]]
    first = Microaggregator(k=2, standardize=False, variable_weights=[1, 0, 0])
    assert first.fit(data).transform(new).tolist() == [[0.0, 0.5, 7.0]]
    scaled = Microaggregator(k=2)
    assert scaled.fit(data).transform(new).tolist() == [[10.0, 100.5, 7.0]]


def test_nearest_record_not_nearest_centroid():
    """Groups {0, 1, 10} and {12, 13, 14}: 10 is nearer to 13 than to its own centroid, 11/3.

    11 is as near to the fitted 10 as to 12, and the first of them counts.
    """
    data = np.array([[0.0], [1.0], [10.0], [12.0], [13.0], [14.0]])
    model = Microaggregator(k=3, standardize=False).fit(data)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    protected = model.transform([[10.0], [10.9], [11.0], [11.1]])
    assert protected[:, 0] == pytest.approx([11 / 3, 11 / 3, 11 / 3, 13.0])


def test_in_a_pipeline_and_a_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0]
    steps = make_pipeline(StandardScaler(), Microaggregator(), LinearRegression())
    search = GridSearchCV(steps, {"microaggregator__k": [1, 20]}, cv=3).fit(X, y)
    assert search.best_params_ == {"microaggregator__k": 1}  # nothing is lost with groups of 1
    assert np.isfinite(search.predict(X[:3])).all()


def test_clone_pickle_and_frames():
    frame = pd.DataFrame(make_table("random", 30, 2, seed=3), columns=["turnover", "staff"])
    model = Microaggregator(k=5, options={"gamma": 0.1}, method="vmdav")
    assert clone(model).get_params() == model.get_params()
    model.set_output(transform="pandas").fit(frame)
    assert model.get_feature_names_out().tolist() == ["turnover", "staff"]
    protected = model.transform(frame)
    pd.testing.assert_frame_equal(protected, microaggregate(frame, 5, "vmdav", gamma=0.1).protected)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.transform(frame[:7]), model.transform(frame[:7]))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"method": "individual"}, "groups each variable by itself"),
        ({"method": "nothing"}, "is unknown: choose one of"),
        ({"k": 2.5}, "not a whole number"),
        ({"k": 0}, "too small"),
        ({"options": {"gamma": 1.0}}, "has no option 'gamma'"),
        ({"options": {"columns": [0]}}, "method 'mdav' has no option 'columns'"),
        ({"variable_weights": [1.0]}, "give one for each"),
    ],
)
def test_bad_parameters_are_told_by_fit(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        Microaggregator(**parameters).fit(np.arange(20.0).reshape(10, 2))


def test_too_few_records_and_not_fitted():
    with pytest.raises(ValueError, match=r"2 sample\(s\).*minimum of 3"):
        Microaggregator(k=3).fit([[1.0], [2.0]])
    with pytest.raises(NotFittedError):
        Microaggregator().transform([[1.0]])


def test_without_scikit_learn_one_sentence():
    code = "import sys; sys.modules['sklearn'] = None; import microagg_gpu.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'microagg-gpu[sklearn]'" in done.stderr.splitlines()[-1]
