"""Without a penalty: fits that have no finite solution are refused, with the columns named."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning

from separable import LogisticRegression, LogisticRegressionCV, TableClassifier
from separable.fitting.best_candidate import GridEdgeWarning
from separable.geometry import SeparationError
from separable.select import compare, cross_validate, path, search


def overlapping(n=120, d=3, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (0.8 * X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))).argmax(1)


def quasi(seed=0):
    """Rows that one column separates but for those where it is 0."""
    X, y = overlapping(seed=seed)
    return np.column_stack([X, np.where(np.arange(len(y)) % 3 == 0, y, 0)]), y


@pytest.fixture
def no_verdict(monkeypatch):
    def refuse(*given, **named):
        raise AssertionError("the verdict was asked for")

    monkeypatch.setattr("separable.geometry.separability", refuse)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_separable_classes(form, fit_intercept):
    X = np.array([[-2.0, 1.0], [-1.0, 0.5], [1.0, 0.3], [2.0, 0.7]])
    model = LogisticRegression(C=np.inf, fit_intercept=fit_intercept)
    with pytest.raises(SeparationError, match="separable, by 'x0' alone") as told:
        model.fit(form(X), ["no", "no", "yes", "yes"])
    assert isinstance(told.value, ValueError)
    assert "LogisticRegression with C=inf has no finite solution" in str(told.value)
    assert "LogisticRegression(C=1.0)" in str(told.value)
    assert told.value.columns == ("x0",)
    assert told.value.verdict.separable
    assert told.value.verdict.verify(form(X), ["no", "no", "yes", "yes"])
    assert not hasattr(model, "classes_")  # the learner stays as it was


def test_breast_cancer_is_separable():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(SeparationError, match="separable"):
        LogisticRegression(C=np.inf).fit(X, y)
    assert LogisticRegression(C=1.0).fit(X, y).certificate_.converged


@pytest.mark.parametrize("form", ["array", "frame", "sparse"])
def test_quasi_separable_classes_name_the_column(form):
    X, y = quasi()
    names = ["age", "bmi", "dose", "flag"]
    given = {"array": X, "frame": pd.DataFrame(X, columns=names), "sparse": sp.csr_array(X)}[form]
    with pytest.raises(SeparationError, match="quasi-separable") as told:
        LogisticRegression(C=np.inf).fit(given, y)
    name = "flag" if form == "frame" else "x3"
    assert told.value.columns == (name,)
    assert f"{name!r} separates them but for rows on the boundary" in str(told.value)
    assert told.value.verdict.kind == "quasi-separable"
    again = pickle.loads(pickle.dumps(told.value))
    assert (str(again), again.columns) == (str(told.value), told.value.columns)


def test_tables_name_encoded_columns():
    X, y = quasi()
    frame = pd.DataFrame(X, columns=["age", "bmi", "dose", "flag"])
    frame["flag"] = np.where(frame["flag"] > 0, "yes", "no")
    with pytest.raises(SeparationError) as told:
        TableClassifier(LogisticRegression(C=np.inf)).fit(frame, y)
    assert all("flag" in name for name in told.value.columns)


@pytest.mark.usefixtures("no_verdict")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_what_the_certificate_proves_needs_no_verdict(classes, multi_class):
    X, y = overlapping(n=300, classes=classes)
    X[:3] *= 40  # rows that are almost sure prove nothing, but are not needed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=np.inf, multi_class=multi_class).fit(X, y)
    assert model.certificate_.converged


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_three_classes(multi_class):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SeparationError) as told:  # setosa is separable from the others
        LogisticRegression(C=np.inf, multi_class=multi_class).fit(X, y)
    what = "of class 0 against the rest" if multi_class == "ovr" else "with C=inf has"
    assert what in str(told.value)


def test_pairs_that_overlap_may_be_quasi_separable_together():
    """Only the joint test decides: versicolor and virginica overlap, setosa is apart."""
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SeparationError, match="quasi-separable"):
        LogisticRegression(C=np.inf).fit(X, y)
    model = LogisticRegression(C=np.inf).fit(X[50:], y[50:])
    assert model.certificate_.converged


def test_weights_of_0_are_no_rows():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [3.0]])
    y = [0, 0, 1, 1, 0]
    assert LogisticRegression(C=np.inf).fit(X, y).certificate_.converged
    with pytest.raises(SeparationError):
        LogisticRegression(C=np.inf).fit(X, y, [1, 1, 1, 1, 0])


def test_searches_say_which_fold():
    with pytest.raises(SeparationError, match="LogisticRegression with C=inf, learned without"):
        LogisticRegressionCV(Cs=[1.0, np.inf]).fit(*quasi())
    with pytest.raises(SeparationError, match="without the rows of fold 0"):
        cross_validate(LogisticRegression(C=np.inf), *quasi())
    with pytest.raises(SeparationError, match="C=inf"):
        search(LogisticRegression(), {"C": [1.0, np.inf]}, *quasi())
    with pytest.raises(SeparationError, match="C=inf has no finite solution"):
        path(LogisticRegression(), *quasi(), [1.0, np.inf])
    board = compare(
        {"none": LogisticRegression(C=np.inf), "some": LogisticRegression(C=1.0)}, *quasi()
    )
    assert board.best.name == "some"
    (failed,) = [each for each in board.rows if each.failed]
    assert "quasi-separable" in failed.failed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEdgeWarning)
        found = LogisticRegressionCV(Cs=[1.0, np.inf]).fit(*overlapping(n=400))
    assert found.certificate_.converged


def test_undecided_keeps_the_warning(monkeypatch):
    X, y = quasi()
    verdict = type(
        "Undecided",
        (),
        {"kind": "undecided", "separable": None, "reason": "too close.", "proof": None},
    )
    monkeypatch.setattr("separable.geometry.separability", lambda *given, **named: verdict)
    with pytest.warns(ConvergenceWarning, match=r"an optimum is undecided: too close\."):
        LogisticRegression(C=np.inf).fit(X, y)


def test_an_optimum_that_was_not_reached():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="There is an optimum, for the classes overlap"):
        LogisticRegression(C=np.inf, max_iter=1).fit(X, y)
