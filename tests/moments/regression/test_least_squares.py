from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import separable
from separable import LeastSquares
from separable.moments.regression.rank_warning import RankWarning
from tests.reference.least_squares import exact_least_squares

pytestmark = pytest.mark.native


def problem(n=60, d=4, seed=0, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.normal(size=d)
    shape = (d,) if targets is None else (d, targets)
    y = X @ rng.normal(size=shape) + rng.normal(size=(n, *shape[1:])) + 3
    return X, y


@given(seed=st.integers(0, 10_000), intercept=st.booleans(), weighted=st.booleans())
def test_equals_exact_rational_arithmetic(seed, intercept, weighted):
    rng = np.random.default_rng(seed)
    X, y = problem(int(rng.integers(6, 15)), int(rng.integers(1, 4)), seed)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    true, variances, squares = exact_least_squares(X, y, weight, intercept)
    learner = LeastSquares(fit_intercept=intercept).fit(X, y, weight)
    found = np.concatenate([np.ravel(learner.intercept_)[:intercept], learner.coef_])
    np.testing.assert_allclose(found, true, rtol=1e-10)
    np.testing.assert_allclose(learner.evidence_["residual_squares"], squares, rtol=1e-10)
    n = len(y) if weight is None else weight.sum()
    errors = [line.standard_error for line in learner.summary().coefficients]
    with np.errstate(invalid="ignore"):
        expected = np.sqrt(variances * squares / (n - len(true)))
    np.testing.assert_allclose(errors, expected, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("targets", [None, 3])
def test_equals_scikit_learn(dtype, sparse, targets):
    X, y = problem(targets=targets)
    X = X.astype(dtype)
    learner = LeastSquares().fit(csr_array(X) if sparse else X, y)
    peer = LinearRegression().fit(X.astype(np.float64), y)
    np.testing.assert_allclose(learner.coef_, peer.coef_, rtol=1e-10)
    np.testing.assert_allclose(np.squeeze(learner.intercept_), peer.intercept_, rtol=1e-9)
    np.testing.assert_allclose(learner.predict(X), peer.predict(X.astype(np.float64)), rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_scale_and_shift_of_a_column_change_no_prediction(factor, shift):
    X, y = problem(200)
    other = X.copy()
    other[:, 1] = X[:, 1] * factor + shift * factor
    expected = LeastSquares().fit(X, y).predict(X)
    np.testing.assert_allclose(LeastSquares().fit(other, y).predict(other), expected, rtol=1e-8)


def test_columns_shifted_by_1e9_keep_the_fit():
    X, y = problem(500)
    expected = LeastSquares().fit(X, y).predict(X)
    moved = X + 1e9
    np.testing.assert_allclose(LeastSquares().fit(moved, y).predict(moved), expected, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_dependent_columns_are_named_and_get_the_smallest_weights(sparse, stream):
    pandas = pytest.importorskip("pandas")
    X, y = problem(40, 3)
    X = np.column_stack([X, X[:, 0] + 2 * X[:, 1], np.full(40, 7.0)])
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "sum", "seven"])
    rows = csr_array(X) if sparse else frame
    said = (
        "column 4 is constant; column 3" if sparse else "'seven' is constant; '(sum|b)' is a linear"
    )
    learner = LeastSquares()
    with pytest.warns(RankWarning, match=said):
        weights = (learner.partial_fit if stream else learner.fit)(rows, y).coef_
    np.testing.assert_allclose(weights, expected, rtol=1e-6, atol=1e-8)
    assert learner.rank_ == 3
    assert learner.condition_number_ == np.inf
    assert learner.evidence_["condition_number"] is None


@pytest.mark.parametrize("sparse", [False, True])
def test_more_columns_than_rows(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 50)) * (rng.random((12, 50)) < 0.4)
    y = rng.normal(size=12)
    with pytest.warns(RankWarning, match="50 columns and 12 rows"):
        learner = LeastSquares().fit(csr_array(X) if sparse else X, y)
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(learner.coef_, expected, rtol=1e-9)
    np.testing.assert_allclose(learner.predict(X), y, rtol=1e-9)
    with pytest.raises(ValueError, match="has no sums to add to"):
        learner.partial_fit(X, y)
    with pytest.raises(ValueError, match="no summary"):
        learner.summary()


def test_streams_and_merges_equal_one_fit():
    X, y = problem(5000)
    whole = LeastSquares().fit(X, y)
    stream = LeastSquares()
    for start in range(0, 5000, 700):
        stream.partial_fit(X[start : start + 700], y[start : start + 700])
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-11)
    merged = LeastSquares().fit(X[:1000], y[:1000]).merge(LeastSquares().fit(X[1000:], y[1000:]))
    np.testing.assert_allclose(merged.coef_, whole.coef_, rtol=1e-11)
    with pytest.raises(ValueError, match="differs in fit_intercept"):
        whole.merge(LeastSquares(fit_intercept=False).fit(X, y))


def test_files_keep_the_sums(tmp_path):
    X, y = problem(300)
    first = LeastSquares().fit(X[:200], y[:200])
    first.model_.save(tmp_path / "model.safetensors", include_state=True)
    model = separable.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(model.predict(X), first.predict(X))
    later = LeastSquares.from_model(model).partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(later.coef_, LeastSquares().fit(X, y).coef_, rtol=1e-11)


@pytest.mark.parametrize("size", [1e300, 1e-300])
@pytest.mark.parametrize("sparse", [False, True])
def test_extreme_columns(size, sparse):
    X, y = problem(50, 2)
    X = X / np.abs(X).max(axis=0)
    expected = LeastSquares().fit(X, y).predict(X)
    X[:, 0] *= size
    learner = LeastSquares().fit(csr_array(X) if sparse else X, y)
    np.testing.assert_allclose(learner.predict(X), expected, rtol=1e-9)


def test_weight_0_is_no_row_and_weight_k_is_k_rows():
    X, y = problem(50)
    weight = np.random.default_rng(1).integers(0, 4, 50)
    expected = LeastSquares().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    found = LeastSquares().fit(X, y, weight)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-11)
    mine, theirs = found.summary().to_dict(), expected.summary().to_dict()
    assert mine["p"] == pytest.approx(theirs["p"], rel=1e-9)
    assert mine["coefficients"][2]["p"] == pytest.approx(theirs["coefficients"][2]["p"], rel=1e-9)


def test_refusals():
    X, y = problem(20)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN in row 7, column 2"):
        LeastSquares().fit(bad, y)
    with pytest.raises(ValueError, match="row 3 holds inf"):
        LeastSquares().fit(X, np.where(np.arange(20) == 3, np.inf, y))
    with pytest.raises(ValueError, match="The 'fit_intercept' parameter of LeastSquares"):
        LeastSquares(fit_intercept=2).fit(X, y)
    with pytest.raises(ValueError, match="Every sample weight is zero"):
        LeastSquares().fit(X, y, np.zeros(20))
    learner = LeastSquares().fit(X, y)
    before = learner.coef_
    with pytest.raises(ValueError, match="contains NaN in row 7"):
        learner.partial_fit(bad, y)
    np.testing.assert_array_equal(learner.coef_, before)
    assert learner.evidence_["rows_seen"] == 20


def test_d_squared_that_does_not_fit_is_told_before_it_is_allocated():
    n = 3_000_001
    wide = csr_array((np.ones(3), ([0, 1, 2], [0, 5, n - 1])), shape=(3, n))
    with pytest.raises(MemoryError, match=r"LeastSquares needs products .* use SGDRegressor"):
        LeastSquares().partial_fit(wide, np.arange(3.0))


def test_a_constant_target_and_no_column_that_varies():
    X, _ = problem(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        constant = LeastSquares().fit(X, np.full(20, 5.0))
    np.testing.assert_allclose(constant.predict(X), 5.0)
    with pytest.warns(RankWarning, match="is constant"):
        flat = LeastSquares().fit(np.full((20, 2), 3.0), np.arange(20.0))
    np.testing.assert_allclose(flat.predict(np.full((1, 2), 3.0)), 9.5)


ATTRIBUTES = {
    "r2": "rsquared",
    "r2_adjusted": "rsquared_adj",
    "f": "fvalue",
    "p": "f_pvalue",
    "log_likelihood": "llf",
    "aic": "aic",
    "bic": "bic",
    "condition_number": "condition_number",
    "df_model": "df_model",
    "df_residual": "df_resid",
    "n_rows": "nobs",
}


def longley():
    data = pytest.importorskip("statsmodels.datasets").longley.load_pandas()
    return data.exog, data.endog


def diabetes():
    return load_diabetes(as_frame=True, return_X_y=True)


@pytest.mark.parametrize("load", [longley, diabetes])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_statsmodels(load, fit_intercept):
    api = pytest.importorskip("statsmodels.api")
    X, y = load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = api.OLS(y, api.add_constant(X) if fit_intercept else X).fit()
        low, high = peer.conf_int().to_numpy().T
    summary = LeastSquares(fit_intercept=fit_intercept).fit(X, y).summary()
    for mine, theirs in ATTRIBUTES.items():
        assert getattr(summary, mine) == pytest.approx(getattr(peer, theirs), rel=1e-8), mine
    for mine, theirs in {
        "value": peer.params,
        "standard_error": peer.bse,
        "t": peer.tvalues,
        "p": peer.pvalues,
        "low": low,
        "high": high,
    }.items():
        found = [getattr(line, mine) for line in summary.coefficients]
        np.testing.assert_allclose(found, theirs, rtol=1e-8, err_msg=mine)


def test_text_dict_and_html():
    X, y = diabetes()
    summary = LeastSquares().fit(X.rename(columns={"bmi": "<b>mi"}), y).summary()
    text = str(summary)
    assert "R-squared:                      0.5177" in text
    assert "intercept" in text
    assert "<b>mi" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    told = summary.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["coefficients"][3]["name"] == "<b>mi"
    html = summary.to_html()
    assert "&lt;b&gt;mi" in html
    assert "<b>mi" not in html
    assert html == summary._repr_html_()


def test_what_the_rows_do_not_determine_has_no_standard_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X[:, 2] + rng.normal(size=50)
    twice = np.column_stack([X, X[:, 0]])
    with pytest.warns(RankWarning, match="linear combination of"):
        lines = LeastSquares().fit(twice, y).summary().coefficients
    assert np.isnan([lines[k].standard_error for k in (1, 4)]).all()
    expected = LeastSquares().fit(X, y).summary().coefficients
    for k in (0, 2, 3):
        assert lines[k].standard_error == pytest.approx(expected[k].standard_error, rel=1e-9)


def test_of_one_of_several_targets():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    both, second = LeastSquares().fit(X, Y), LeastSquares().fit(X, Y[:, 1])
    assert both.summary(target=1).r2 == pytest.approx(second.summary().r2)
    with pytest.raises(ValueError, match=r"target must be in 0 \.\.\. 1"):
        both.summary(target=2)
