"""Microaggregation as a scikit-learn transformer (the extra ``sklearn``)."""

from typing import Any

import numpy as np
from array_api_compat import is_cupy_array

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "microagg_gpu.sklearn needs scikit-learn 1.7 or later: pip install 'microagg-gpu[sklearn]'"
    ) from error

from . import InputError, microaggregate
from .checks import is_whole, mapping, true_or_false
from .engines import choose, nearest_work, on_device
from .kernels import array_namespace, to_numpy
from .methods import check_names
from .methods.common import take_records
from .pipeline.grouping import check_method
from .pipeline.problem import check_weights
from .settings import DEFAULT, Scale, Weights


class Microaggregator(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each record by the centroid of its group of at least k records.

    The records given to `fit` are grouped. `transform` gives each of them the centroid of its
    own group, and any other record that of the group of the fitted record nearest to it. (Not
    the nearest centroid: groups reach into each other, so a fitted record can be nearer to the
    centroid of another group, and moving there it could leave fewer than k behind.)

    What `fit_transform` returns is k-anonymous. Records that were not fitted add nothing to
    that: they are given values that fitted records have in common, and do not count for the k.
    A fitted estimator holds the original records, so do not hand it on, pickled or not, with
    the protected data.

    Parameters
    ----------
    k : int
        The least number of records in a group.
    method : str
        A name in `microagg_gpu.METHODS`, other than "individual".
    standardize : bool
        Bring each variable to mean 0 and standard deviation 1 for the distances.
    scale : {"standard", "robust", "log"}
        As in `microagg_gpu.microaggregate`.
    variable_weights : sequence or dict, optional
        Weight of each variable in all sums of squares, in the order of the columns or by name.
    device : {"auto", "cpu", "cuda", "cuda:1", ...}
        Where to group.
    seed : int
        For methods that draw random numbers.
    options : dict, optional
        Options of the method, such as ``{"gamma": 0.5}`` of "vmdav".

    Attributes
    ----------
    labels_ : int64 array of shape (n,)
        Group of each fitted record, 0, 1, ... in order of first record.
    centroids_ : float64 array of shape (groups, p)
        In the units of the data; on the GPU if the fitted records are CuPy's.
    loss_ : float
        Information loss 100 * SSE / SST of the fitted records.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from microagg_gpu.sklearn import Microaggregator
    >>> Microaggregator(k=2).fit_transform([[1.0], [2.0], [8.0], [9.0]]).tolist()
    [[1.5], [1.5], [8.5], [8.5]]
    """

    def __init__(
        self,
        k: int = DEFAULT.k,
        method: str = DEFAULT.method,
        *,
        standardize: bool = DEFAULT.standardize,
        scale: Scale = DEFAULT.scale,
        variable_weights: Weights | None = DEFAULT.variable_weights,
        device: str | None = DEFAULT.device,
        seed: int = DEFAULT.seed,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.standardize = standardize
        self.scale = scale
        self.variable_weights = variable_weights
        self.device = device
        self.seed = seed
        self.options = options

    def fit(self, X: Any, y: Any = None) -> "Microaggregator":
        """Group records.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            The records; an array of CuPy stays on its GPU.
        y : object
            Ignored; scikit-learn's pipelines give it.

        Returns
        -------
        Microaggregator
            This estimator, fitted.
        """
        options = mapping("options", self.options)
        standardize = true_or_false("standardize", self.standardize)
        check_names(check_method(self.method), options)
        if self.method == "individual":
            raise InputError(
                "method='individual' groups each variable by itself, not whole records: "
                "choose another method, or call microaggregate"
            )
        least = int(self.k) if is_whole(self.k) and self.k < 2**31 else 1
        X = self._validated(X, ensure_min_samples=max(1, least))
        names = getattr(self, "feature_names_in_", range(X.shape[1]))
        weights = check_weights(self.variable_weights, [str(name) for name in names])
        result = microaggregate(
            X,
            self.k,
            self.method,
            standardize=standardize,
            scale=self.scale,
            variable_weights=weights,
            device=self.device,
            seed=self.seed,
            **options,
        )
        self.labels_ = result.labels
        first = np.unique(result.labels, return_index=True)[1]
        with on_device(X):
            self.centroids_ = take_records(result.protected, first)
        self.loss_ = result.loss
        self._scaling = result._problem.scaling
        self._points = self._scaling.apply(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Give each record the centroid of the group of the nearest fitted record.

        The records that were fitted, all of them and in their order, get the centroids of their
        own groups. Of fitted records at the same distance the first one counts.

        Parameters
        ----------
        X : array or DataFrame of shape (m, p)
            Records with the variables of those that were fitted.

        Returns
        -------
        float64 array of shape (m, p), or as `set_output` says
            Where the fitted records are: of CuPy if these are.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        fitted = self._points
        with on_device(fitted):
            if is_cupy_array(fitted):
                X = array_namespace(fitted).asarray(X)
            elif is_cupy_array(X):
                X = to_numpy(X)
            points = self._scaling.apply(X)
            if points.shape == fitted.shape and bool((points == fitted).all()):
                return take_records(self.centroids_, self.labels_)
            engine = choose(points, "auto", work=nearest_work(len(fitted), *points.shape))[1]
            nearest = engine.nearest_records(fitted, points)[1]
            return take_records(self.centroids_, self.labels_[nearest])

    def _validated(self, X: Any, **how: Any) -> Any:
        """Records as scikit-learn checks them; those of CuPy it cannot take, so they stay theirs.

        Of these `microaggregate` refuses what cannot be used when they are fitted.
        """
        if not is_cupy_array(X):
            return validate_data(self, X, dtype=np.float64, **how)
        validate_data(self, X, reset=how.get("reset", True), skip_check_array=True)
        with on_device(X):
            numbers = X.ndim == 2 and X.size > 0 and X.dtype.kind in "biuf"
            if not numbers or not bool(array_namespace(X).isfinite(X).all()):
                raise InputError("X must be a matrix of finite numbers, a record in each row")
            return X.astype(np.float64, copy=False)
