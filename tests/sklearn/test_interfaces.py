"""Interfaces of scikit-learn: array API, output containers, tags and metadata routing."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separable
import separable.sklearn as faces

X, y = load_iris(return_X_y=True)
LEARNERS = [name for name in faces.__all__ if hasattr(getattr(faces, name), "predict")]
WEIGHT = np.where(np.arange(len(y)) % 3 == 0, 0.0, np.linspace(0.5, 2.0, len(y)))


class OtherArray:
    """An array of another library than NumPy."""

    shape, ndim, dtype = X.shape, 2, X.dtype

    def __array_namespace__(self, api_version: str | None = None) -> ModuleType:
        """Return the library."""
        del api_version
        return ModuleType("other_library")


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of defaults that will change
@pytest.mark.parametrize("name", [*LEARNERS, "PolynomialFeatures"])
def test_array_api_is_refused_with_a_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = sklearn.get_config() | {"array_api_dispatch": True}
    monkeypatch.setattr(sklearn, "get_config", lambda: settings)
    assert not getattr(faces, name)().__sklearn_tags__().array_api_support
    with pytest.raises(TypeError, match=rf"{name} computes with NumPy.*numpy\.asarray\(X\)"):
        getattr(faces, name)().fit(OtherArray(), y)


@pytest.mark.parametrize(
    ("encoder", "columns"),
    [
        (faces.PolynomialFeatures(2, include_bias=False), ["a", "b", "a^2", "a b", "b^2"]),
        (faces.OneHotEncoder(sparse_output=False), ["a_0.0", "a_1.0", "b_1.0", "b_2.0"]),
    ],
)
def test_set_output_gives_named_columns(encoder: Any, columns: list[str]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.0, 1.0], "b": [2.0, 1.0]}, index=["first", "second"])
    shown = clone(encoder).set_output(transform="pandas").fit_transform(frame)
    assert shown.columns.tolist() == columns
    assert shown.index.tolist() == ["first", "second"]
    np.testing.assert_array_equal(shown.to_numpy(), encoder.fit_transform(frame))


def test_set_output_of_discriminant_axes() -> None:
    pytest.importorskip("pandas")
    shown = faces.LinearDiscriminantAnalysis().set_output(transform="pandas").fit(X, y).transform(X)
    assert shown.columns.tolist() == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]


@pytest.mark.parametrize(
    ("learner", "theirs"),
    [
        (separable.LogisticRegression(), linear_model.LogisticRegression()),
        (separable.LinearSVM(), svm.LinearSVC()),
        (separable.SGDClassifier(), linear_model.SGDClassifier()),
        (separable.LinearSVR(), svm.LinearSVR()),
        (separable.Lasso(), linear_model.Lasso()),
        (separable.Ridge(), linear_model.Ridge()),
        (separable.LeastSquares(), linear_model.LinearRegression()),
        (faces.Ridge(), linear_model.Ridge()),
        (faces.LogisticRegression(), linear_model.LogisticRegression()),
    ],
    ids=lambda each: type(each).__module__ + type(each).__name__,
)
def test_tags_say_what_scikit_learns_say(learner: Any, theirs: Any) -> None:
    ours, expected = learner.__sklearn_tags__(), theirs.__sklearn_tags__()
    assert ours.estimator_type == expected.estimator_type
    assert ours.input_tags.sparse
    assert ours.target_tags.required
    for kind in ("classifier_tags", "regressor_tags"):
        assert (getattr(ours, kind) is None) == (getattr(expected, kind) is None)
    if expected.classifier_tags is not None:
        assert ours.classifier_tags.multi_class == expected.classifier_tags.multi_class


@pytest.mark.parametrize("package", [separable, faces], ids=["separable", "faces"])
def test_weights_reach_the_learner_of_a_search_over_a_pipeline(package: ModuleType) -> None:
    weighted = package.Ridge(2.0).fit(X, y, WEIGHT)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = package.Ridge().set_fit_request(sample_weight=True)
        learner.set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), learner)
        pipeline[0].set_fit_request(sample_weight=False)
        search = GridSearchCV(pipeline, {"ridge__alpha": [2.0]}, cv=3)
        search.fit(X, y, sample_weight=WEIGHT)
        scores = cross_validate(learner, X, y, cv=3, params={"sample_weight": WEIGHT})
    np.testing.assert_allclose(search.best_estimator_[-1].coef_, weighted.coef_, rtol=1e-9)
    assert not np.allclose(weighted.coef_, package.Ridge(2.0).fit(X, y).coef_, rtol=1e-3)
    assert scores["test_score"].shape == (3,)


@pytest.mark.parametrize("package", [separable, faces], ids=["separable", "faces"])
def test_weights_that_nobody_asked_for_are_refused(package: ModuleType) -> None:
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="sample_weight"),
    ):
        GridSearchCV(package.Ridge(), {"alpha": [1.0]}, cv=3).fit(X, y, sample_weight=WEIGHT)
