"""``summary()`` against statsmodels."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from separable import LeastSquares
from separable.moments.regression.rank_warning import RankWarning

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
