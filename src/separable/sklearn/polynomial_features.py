"""scikit-learn's ``PolynomialFeatures`` over ``PolynomialEncoder``."""

from __future__ import annotations

from math import comb
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separable.features.polynomial_encoder import PolynomialEncoder
from separable.sklearn.theirs import aligned, check_is_fitted, preprocessing, validate_data

if TYPE_CHECKING:
    from typing import Self

__all__ = ["PolynomialFeatures"]


class PolynomialFeatures(preprocessing.PolynomialFeatures):
    """Products of columns, with scikit-learn's parameters and attributes."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the columns."""
        del y
        self._validate_params()
        X = validate_data(self, X, accept_sparse=True)
        least, most = self._min_degree, self._max_degree = self._degrees()
        if most == 0 and not self.include_bias:
            raise ValueError(
                "Setting both min_degree and max_degree to zero and include_bias to False would "
                "result in an empty output array."
                if np.ndim(self.degree)
                else "Setting degree to zero and include_bias to False would result in an empty "
                "output array."
            )
        n = X.shape[1]
        ways = comb if self.interaction_only else _with_repetition
        count = sum(ways(n, degree) for degree in range(max(1, least), most + 1))
        self.n_output_features_ = count + bool(self.include_bias)
        if self.n_output_features_ > np.iinfo(np.intp).max:
            raise ValueError(
                "The output that would result from the current configuration would have "
                f"{self.n_output_features_} features which is too large to be indexed by "
                f"{np.intp().dtype.name}. Please change some or all of the following: - The number "
                f"of features in the input, currently n_features={n} - The range of degrees to "
                f"calculate, currently [{least}, {most}] - Whether to include only interaction "
                f"terms, currently {self.interaction_only} - Whether to include a bias term, "
                f"currently {self.include_bias}."
            )
        return self

    def _degrees(self) -> tuple[int, int]:
        pair = (0, self.degree) if np.ndim(self.degree) == 0 else tuple(self.degree)
        if len(pair) != 2:
            raise ValueError(
                "degree must be a non-negative int or tuple (min_degree, max_degree), got "
                f"{self.degree}."
            )
        if not all(isinstance(each, Integral) for each in pair) or not 0 <= pair[0] <= pair[1]:
            raise ValueError(
                "degree=(min_degree, max_degree) must be non-negative integers that fulfil "
                f"min_degree <= max_degree, got {self.degree}."
            )
        return pair

    def transform(self, X: Any) -> Any:
        """Return the products."""
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            order="F",
            dtype=[np.float64, np.float32],
            reset=False,
            accept_sparse=("csr", "csc"),
        )
        encoded = self._encode(X).astype(X.dtype)
        if sparse.issparse(X):
            form: Any = X
            return aligned(sparse.csr_array(encoded).asformat(form.format))
        return np.asarray(encoded, order=self.order)

    def _encode(self, X: Any) -> Any:
        n_products = self.n_output_features_ - bool(self.include_bias)
        if not n_products:
            return np.ones((X.shape[0], self.n_output_features_))
        options = {"interaction_only": self.interaction_only, "include_bias": self.include_bias}
        pair = self._min_degree, self._max_degree
        return _Encoder(pair, **options).fit(X).encode(X).to_matrix()


def _with_repetition(n: int, degree: int) -> int:
    return comb(n + degree - 1, degree)


class _Encoder(PolynomialEncoder):
    """Our encoder with as many columns as 64-bit indices allow."""

    _max_features = int(np.iinfo(np.intp).max)
