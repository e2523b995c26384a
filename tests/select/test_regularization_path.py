"""path against independent fits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from separable import LDA, LinearSVM, LinearSVR, LogisticRegression, Ridge
from separable.select import path
from tests.certified.engine_problems import use_solvers
from tests.select.estimators.searches import classes, text

pytestmark = pytest.mark.native

CS = [0.01, 1.0, 10.0]


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVM(), LinearSVR()])
@pytest.mark.parametrize(
    ("form", "k", "weighted"),
    [
        pytest.param(form, k, weighted, marks=() if (i + k + weighted) % 2 else pytest.mark.long)
        for i, form in enumerate((np.asarray, sp.csr_array))
        for k in (2, 3)
        for weighted in (False, True)
    ],
)
def test_as_independent_fits(learner, form, k, weighted):
    X, y = classes(k=k)
    X = form(X)
    weight = np.arange(90) % 3 * 1.0 if weighted else None
    found = path(learner, X, y, CS, sample_weight=weight)
    assert found.parameter == "C"
    for place, C in enumerate(CS):
        alone = type(learner)(C).fit(X, y, weight)
        for model, certificate in enumerate(found.certificates[place]):
            other = alone.certificates_[model]
            assert certificate.converged
            assert certificate.dual <= other.primal * (1 + 1e-9) + 1e-12
            far = np.linalg.norm(found.coefs[place, model] - np.atleast_2d(alone.coef_)[model])
            assert far <= certificate.distance + other.distance + 1e-6
    assert found.coefs.shape[:2] == found.intercepts.shape
    assert found.n_iter.shape == (3,)


def test_passes_over_many_columns(monkeypatch):
    use_solvers(monkeypatch, "dual_cd", "newton")
    X, y = text()
    found = path(LogisticRegression(), X, y)
    assert found.values.tolist() == np.logspace(-4, 4, 20).tolist()
    primal = [some[0].primal for some in found.certificates]
    assert all(some[0].converged for some in found.certificates)
    assert (np.diff(primal) > 0).all()  # the objective grows with C
    assert (np.diff(found.norms) > -1e-2).all()


def test_ridge():
    X, y = classes()
    found = path(Ridge(), X, y * 1.0, alphas=[0.1, 10.0])
    for place, alpha in enumerate([0.1, 10.0]):
        np.testing.assert_array_equal(found.coefs[place, 0], Ridge(alpha).fit(X, y * 1.0).coef_)
    assert found.certificates is None
    assert found.n_iter is None
    assert found.classes is None
    assert repr(found).splitlines()[1].split() == ["alpha", "|w|", "nonzero"]
    assert path(Ridge(), X, y * 1.0).values.shape == (20,)


def test_what_is_told():
    X, y = classes(k=3)
    found = path(LogisticRegression(), X, y, 4)
    plain = found.to_dict()
    assert plain["values"] == np.logspace(-4, 4, 4).tolist()
    assert plain["certificates"][0][0]["converged"] is True
    assert np.shape(plain["coefs"]) == (4, 3, 6)
    assert plain["classes"] == [0, 1, 2]
    lines = repr(found).splitlines()
    assert lines[0] == "LogisticRegression, 4 values of C, 3 models each, 6 columns"
    assert lines[1].split() == ["C", "|w|", "nonzero", "objective", "relative", "gap", "passes"]


def test_bad_input():
    X, y = classes()
    with pytest.raises(TypeError, match="LDA has no path here"):
        path(LDA(), X, y)
    with pytest.raises(TypeError, match="without probability=True"):
        path(LinearSVM(probability=True), X, y)
    with pytest.raises(ValueError, match="Ridge has no Cs: give alphas"):
        path(Ridge(), X, y * 1.0, [1.0])
    with pytest.raises(ValueError, match="LinearSVM has no alphas: give Cs"):
        path(LinearSVM(), X, y, alphas=[1.0])
    with pytest.raises(ValueError, match="No values of C were given"):
        path(LinearSVM(), X, y, [])
    with pytest.raises(ValueError, match="'C' parameter of LogisticRegression"):
        path(LogisticRegression(), X, y, [-1.0])
    with pytest.raises(ValueError, match="only one class"):
        path(LogisticRegression(), X, np.zeros(90))


def test_models_that_do_not_converge(monkeypatch):
    use_solvers(monkeypatch, "dual_cd", "newton")
    X, y = text()
    with pytest.warns(ConvergenceWarning, match=r"in \d of 3 fits, first in fit"):
        path(LogisticRegression(max_iter=1, tol=1e-12), X, y, CS)


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match=r"Cs must be numbers\. Got 'log'"):
        path(LogisticRegression(), *classes(), Cs="log")
