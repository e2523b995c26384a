"""scikit-learn's estimator protocol without scikit-learn: the same answers, and no import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sklearn
import sklearn.base
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state as sklearn_random_state

from separable import LDA, GroupLasso, LogisticRegression, Ridge, TableClassifier, TextEncoder
from separable.datasets import PENGUINS
from separable.estimator import (
    check_is_fitted,
    check_random_state,
    clone,
    convergence_warning,
    is_classifier,
    is_pipeline,
    is_regressor,
)


def printed_by(program):
    command = [sys.executable, "-W", "ignore", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_learners_fit_without_importing_scikit_learn():
    names = ["LogisticRegression", "LinearSVM", "LDA", "Ridge", "Lasso", "Perceptron",
             "SGDClassifier", "LogisticRegressionCV", "RidgeCV", "LinearGaussianNB"]  # fmt: skip
    program = f"""
import sys
import numpy as np
import separable
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] + 0.1 * X[:, 1] > 0).astype(int)
for name in {names!r}:
    getattr(separable, name)().fit(X, y).predict(X)
print(sorted({{"sklearn", "pandas", "scipy.stats"}} & set(sys.modules)))
"""
    assert printed_by(program) == "[]"


def test_training_on_a_file_imports_no_scikit_learn(tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "separable.cli", "train", str(PENGUINS),
               "--target", "species", "-q", "-o", str(tmp_path / "model")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "separable.certified.problem" in imported
    assert not {"sklearn", "pandas", "scipy.stats"} & imported


def test_parameters_reach_into_nested_estimators():
    learner = TableClassifier(learner=LogisticRegression(C=2.0))
    assert learner.get_params()["learner__C"] == 2.0
    assert "learner__C" not in learner.get_params(deep=False)
    assert learner.set_params(learner__C=3.0).learner.C == 3.0
    with pytest.raises(ValueError, match="Invalid parameter 'gamma' for estimator Ridge"):
        Ridge().set_params(gamma=1)


@pytest.mark.parametrize("copy", [clone, sklearn.base.clone])
@pytest.mark.parametrize(
    "learner", [Ridge(3.0), GroupLasso(groups=[0, 0, 1]), TableClassifier(learner=LDA())]
)
def test_a_clone_has_the_parameters_and_shares_none(copy, learner):
    copied = copy(learner)
    assert type(copied) is type(learner)
    assert repr(copied) == repr(learner)
    for name, value in learner.get_params().items():
        assert not isinstance(value, list | LDA) or copied.get_params()[name] is not value


def test_a_clone_of_others_is_scikit_learns():
    pipeline = make_pipeline(StandardScaler(), Ridge())
    assert clone(pipeline).steps[1][1] is not pipeline.steps[1][1]
    with pytest.raises(TypeError, match="Cannot clone"):
        clone(3)
    assert clone([1, 2], safe=False) == [1, 2]


@pytest.mark.parametrize(
    "estimator",
    [Ridge(), LogisticRegression(), TextEncoder(), LinearRegression(), TableClassifier()],
)
def test_types_are_those_of_scikit_learn(estimator):
    assert is_classifier(estimator) == sklearn.base.is_classifier(estimator)
    assert is_regressor(estimator) == sklearn.base.is_regressor(estimator)
    assert not is_pipeline(estimator)
    assert is_pipeline(make_pipeline(estimator))


def test_warnings_and_errors_are_scikit_learns_once_it_is_imported():
    assert convergence_warning() is ConvergenceWarning
    with pytest.raises(NotFittedError, match="This Ridge is not fitted yet"):
        Ridge().predict(np.ones((2, 2)))
    with pytest.raises(NotFittedError):
        check_is_fitted(LinearRegression())


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        learner = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        assert learner.get_metadata_routing().fit.requests == {"sample_weight": True}
        assert clone(learner).get_metadata_routing().score.requests == {"sample_weight": False}
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), learner)
        X = np.arange(10.0)[:, None] ** [1, 2]
        y, weight = X[:, 1].copy(), np.array([1.0] * 5 + [0.0] * 5)
        fitted = pipeline.fit(X, y + 5 * (weight == 0), sample_weight=weight)
        assert not np.allclose(fitted.predict(X), pipeline.fit(X, y).predict(X), atol=1e-12)
    assert not hasattr(LogisticRegression(), "set_predict_request")


def test_notebooks_show_the_parameters():
    shown = LogisticRegression(C=0.5)._repr_mimebundle_()
    assert shown["text/plain"] == "LogisticRegression(C=0.5)"
    assert "LogisticRegression" in shown["text/html"]


@given(st.integers(0, 2**32 - 1))
def test_a_seed_is_scikit_learns(seed):
    expected = sklearn_random_state(seed).randint(0, 2**31 - 1)
    assert check_random_state(seed).randint(0, 2**31 - 1) == expected
    assert check_random_state(None) is sklearn_random_state(None)
    with pytest.raises(ValueError, match="cannot be used to seed"):
        check_random_state("a")
