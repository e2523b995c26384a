"""``LogisticRegression(C=inf).summary()`` against statsmodels."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer

from separable import LogisticRegression
from separable.certified.inference import fisher_information

FIGURES = {  # ours: statsmodels'
    "log_likelihood": "llf",
    "null_log_likelihood": "llnull",
    "likelihood_ratio": "llr",
    "pseudo_r2": "prsquared",
    "aic": "aic",
    "bic": "bic",
    "df_model": "df_model",
    "df_residual": "df_resid",
}


def fit(X, y, sample_weight=None, **parameters):
    return LogisticRegression(C=np.inf, tol=1e-12, **parameters).fit(X, y, sample_weight)


def made(n=300, d=4, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [10.0**j for j in range(d)] + rng.normal(size=d)
    W = rng.normal(size=(d, classes)) / [[10.0**j] for j in range(d)]
    return X, (X @ W + rng.gumbel(size=(n, classes))).argmax(axis=1)


def same_lines(found, params, errors, p, interval, rel=1e-6):
    for ours, theirs in [
        ("value", params),
        ("standard_error", errors),
        ("p", p),
        ("low", np.asarray(interval)[:, 0]),
        ("high", np.asarray(interval)[:, 1]),
    ]:
        mine = [getattr(line, ours) for line in found]
        np.testing.assert_allclose(mine, np.asarray(theirs), rtol=rel, atol=1e-9, err_msg=ours)


@pytest.mark.parametrize("columns", [[0, 1], [4, 8, 9], [1, 4, 5, 8, 11, 14, 18]])
@pytest.mark.parametrize("kind", ["frame", "array", "float32", "sparse"])
def test_breast_cancer_as_statsmodels(columns, kind):
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = frame.iloc[:, columns]
    given = {
        "frame": X,
        "array": X.to_numpy(),
        "float32": X.to_numpy(np.float32),
        "sparse": sp.csr_array(X.to_numpy()),
    }[kind]
    exact = X.astype(np.float32).astype(np.float64) if kind == "float32" else X
    peer = sm.Logit(y, sm.add_constant(exact)).fit(disp=0, maxiter=100, tol=1e-13)
    found = fit(given, y).summary()
    same_lines(found.coefficients, peer.params, peer.bse, peer.pvalues, peer.conf_int())
    for mine, theirs in FIGURES.items():
        assert getattr(found, mine) == pytest.approx(getattr(peer, theirs), rel=1e-6), mine
    assert found.p == pytest.approx(peer.llr_pvalue, rel=1e-6, abs=1e-300)
    names = [line.name for line in found.coefficients]
    named = list(X.columns) if kind == "frame" else [f"x{j}" for j in range(len(columns))]
    assert names == ["intercept", *named]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["sample", "class", "balanced", "repeated"])
def test_weights_as_statsmodels_counts_them(fit_intercept, kind):
    X, y = made(seed=3)
    rng = np.random.default_rng(0)
    weight, parameters, total = rng.integers(0, 4, len(y)).astype(float), {}, None
    if kind == "class":
        parameters, total = {"class_weight": {0: 2.0, 1: 0.5}}, weight * np.where(y == 1, 0.5, 2.0)
    if kind == "balanced":
        parameters = {"class_weight": "balanced"}
        counts = np.bincount(y, weight)
        total = weight * (weight.sum() / (2 * counts))[y]
    total = weight if total is None else total
    wide = sm.add_constant(X) if fit_intercept else X
    used = total > 0
    model = sm.GLM(y[used], wide[used], family=sm.families.Binomial(), freq_weights=total[used])
    peer = model.fit(tol=1e-14, maxiter=200)
    if kind == "repeated":
        every = np.repeat(np.arange(len(y)), weight.astype(int))
        found = fit(X[every], y[every], fit_intercept=fit_intercept).summary()
    else:
        found = fit(X, y, weight, fit_intercept=fit_intercept, **parameters).summary()
    same_lines(found.coefficients, peer.params, peer.bse, peer.pvalues, peer.conf_int())
    assert found.n_rows == pytest.approx(total.sum())
    assert found.log_likelihood == pytest.approx(peer.llf, rel=1e-9)
    assert found.deviance == pytest.approx(peer.deviance, rel=1e-9)
    assert found.aic == pytest.approx(peer.aic, rel=1e-9)
    if not fit_intercept:  # the model without columns has equal probabilities
        assert found.null_log_likelihood == pytest.approx(total.sum() * math.log(0.5))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_classes_together_are_contrasts_with_the_first(fit_intercept, sparse):
    X, y = made(classes=4, n=500, seed=1)
    labels = np.array(["a", "b", "c", "d"])[y]
    peer = sm.MNLogit(y, sm.add_constant(X) if fit_intercept else X).fit(
        disp=0, maxiter=200, tol=1e-14
    )
    found = fit(sp.csr_array(X) if sparse else X, labels, fit_intercept=fit_intercept).summary()
    width = X.shape[1] + fit_intercept
    params, errors = np.asarray(peer.params), np.asarray(peer.bse)
    for k, name in enumerate("bcd"):
        lines = found.coefficients[k * width : (k + 1) * width]
        assert {(line.label, line.against) for line in lines} == {(name, "a")}
        z = params[:, k] / errors[:, k]
        p = 2 * sm.stats.stattools.stats.norm.sf(abs(z))
        low, high = params[:, k] - 1.959964 * errors[:, k], params[:, k] + 1.959964 * errors[:, k]
        same_lines(lines, params[:, k], errors[:, k], p, np.column_stack([low, high]), 2e-6)
    assert found.log_likelihood == pytest.approx(peer.llf, rel=1e-9)
    assert found.df_residual == peer.df_resid if fit_intercept else True
    if fit_intercept:
        assert found.df_model == peer.df_model
        assert found.aic == pytest.approx(peer.aic)
        assert found.pseudo_r2 == pytest.approx(peer.prsquared)
    assert "against 'a', the first" in found.to_text()


def test_one_against_the_rest_is_a_model_a_class():
    X, y = made(classes=3, n=400, seed=2)
    found = fit(X, y, multi_class="ovr").summary()
    for k in range(3):
        one = fit(X, y == k).summary()
        lines = [line for line in found.coefficients if line.label == k]
        assert {line.against for line in lines} == {None}
        for mine, theirs in zip(lines, one.coefficients, strict=True):
            assert mine.standard_error == pytest.approx(theirs.standard_error)
            assert mine.value == pytest.approx(theirs.value)
    assert "One model a class" in str(found)
    assert "2 against the rest" in str(found)


def test_levels_and_names():
    X, y = made(seed=4)
    learner = fit(X, y)
    wide, narrow = learner.summary(level=0.99), learner.summary(level=0.5)
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14)
    for found, alpha in [(wide, 0.01), (narrow, 0.5)]:
        lows = [line.low for line in found.coefficients]
        np.testing.assert_allclose(lows, peer.conf_int(alpha)[:, 0], rtol=1e-6)
    assert "[0.005" in str(wide)
    named = learner.summary(feature_names=["a", "b", "c", "d"])
    assert [line.name for line in named.coefficients] == ["intercept", "a", "b", "c", "d"]
    with pytest.raises(ValueError, match=r"'level' parameter of .* must be a float"):
        learner.summary(level=1.0)
    with pytest.raises(ValueError, match="feature_names"):
        learner.summary(feature_names=["a"])


def test_shown_as_text_html_and_numbers():
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = frame[["mean texture", "mean smoothness"]].rename(columns={"mean texture": "<b>"})
    found = fit(X, y).summary()
    text = found.to_text()
    assert text == str(found) == repr(found)
    for part in ["coef", "std err", "P>|z|", "<b>", "1 against 0", "Pseudo R-squ.:", "569"]:
        assert part in text
    assert len({len(line) for line in text.splitlines() if set(line) == {"="}}) == 1
    told = json.loads(json.dumps(found.to_dict()))
    assert told["coefficients"][0]["name"] == "intercept"
    assert told["classes"] == [0, 1]
    assert "&lt;b&gt;" in found.to_html()
    assert "<b>" not in found._repr_html_()


def test_p_values_too_small_for_a_number():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 1))
    y = 2.0 * X[:, 0] + rng.logistic(size=60_000) > 0
    line = fit(X, y).summary().coefficients[1]
    assert line.z > 80
    assert line.p == 0.0
    assert line.log10_p == pytest.approx(-(line.z**2) / 2 / math.log(10), rel=0.01)


def test_columns_that_rows_do_not_determine_have_no_standard_error():
    X, y = made(seed=5)
    plain = fit(X, y).summary()
    twice = np.column_stack([X[:, :2], X[:, 0] + 3 * X[:, 1] - 1, X[:, 2:], np.full(len(y), 0.1)])
    found = fit(twice, y).summary()
    lines = {line.name: line for line in found.coefficients}
    assert [name for name, line in lines.items() if math.isnan(line.standard_error)] == [
        *(["intercept"] if math.isnan(lines["intercept"].standard_error) else []),
        "x0",
        "x1",
        "x2",
        "x5",
    ]
    assert lines["x3"].standard_error == pytest.approx(plain.coefficients[3].standard_error)
    assert found.df_model == 4
    assert "do not determine" in str(found)
    assert found.aic == pytest.approx(plain.aic)


def test_a_dependent_column_whose_shift_follows_leaves_the_intercept():
    X, y = made(seed=6)
    plain = fit(X, y).summary()
    found = fit(np.column_stack([X, 2 * X[:, 0]]), y).summary()
    assert found.coefficients[0].standard_error == pytest.approx(
        plain.coefficients[0].standard_error, rel=1e-6
    )
    assert math.isnan(found.coefficients[1].standard_error)


def test_a_constant_sparse_column_stands_for_the_intercept():
    X, y = made(seed=6)
    found = fit(sp.csr_array(np.column_stack([X, np.ones(len(y))])), y).summary()
    unknown = [line.name for line in found.coefficients if math.isnan(line.standard_error)]
    assert unknown == ["intercept", "x4"]


def test_units_and_shifts_of_columns_change_units_alone():
    X, y = made(seed=7)
    units, far = np.array([1e6, 1e-6, 1.0, 1e3]), np.array([0.0, 0.0, -1e7, 1e5])
    plain, other = fit(X, y).summary(), fit((X + far) * units, y).summary()
    for j in range(4):
        mine, theirs = plain.coefficients[j + 1], other.coefficients[j + 1]
        assert theirs.standard_error * units[j] == pytest.approx(mine.standard_error, rel=1e-5)
    standard = fit(X, y, standardize=True).summary()
    for mine, theirs in zip(plain.coefficients, standard.coefficients, strict=True):
        assert theirs.standard_error == pytest.approx(mine.standard_error, rel=1e-8)


def test_blocks_make_no_difference(monkeypatch):
    X, y = made(classes=3, n=700, seed=8)
    whole = fit(X, y).summary()
    monkeypatch.setattr(fisher_information, "BLOCK", 1)
    monkeypatch.setattr("separable.linalg.design_matrix.BLOCK", 64)
    for rows in (X, sp.csr_array(X)):
        parts = fit(rows, y).summary()
        for mine, theirs in zip(whole.coefficients, parts.coefficients, strict=True):
            assert theirs.standard_error == pytest.approx(mine.standard_error, rel=1e-7)


def test_penalised_fits_have_none():
    X, y = made()
    learner = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"no summary of a penalised fit \(C=1\).*C=inf"):
        learner.summary()
    learner.set_params(C=np.inf)  # said, but not learned
    with pytest.raises(ValueError, match="penalised fit"):
        learner.summary()


def test_more_columns_than_rows_have_none():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(4, 20)), 2, axis=0)
    learner = LogisticRegression(np.inf).fit(X, [0, 1] * 4)
    with pytest.raises(ValueError, match="fewer rows than columns"):
        learner.summary()


def test_it_outlives_the_rows():
    X, y = made(seed=9)
    learner = fit(pd.DataFrame(X, columns=list("abcd")), y)
    again = pickle.loads(pickle.dumps(learner))
    assert again.summary().to_dict() == learner.summary().to_dict()
    kept = learner._inference
    assert sum(spread.weights.size for spread in kept.spreads) == X.shape[1]
