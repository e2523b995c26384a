"""BayesianRegression against its joint Gaussian, numeric maximisation and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.linear_model import BayesianRidge

import separable
from separable import BayesianRegression, Ridge
from separable.model.parameters import ParameterError
from separable.moments.regression.bayesian_regression import EvidenceWarning
from tests.moments.leaving_out import short_cut
from tests.reference import bayesian_regression as reference
from tests.versions import NEWER_SKLEARN

pytestmark = pytest.mark.native

SHAPES = [(40, 4), (8, 12)]


def problem(n=40, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, d) + rng.normal(size=d)
    return X, X @ rng.normal(size=d) + 0.7 * rng.normal(size=n) + 2


def peer(X, y):
    learner = BayesianRidge(
        fit_intercept=False, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0,
        tol=1e-13, max_iter=100_000, compute_score=True,
    )  # fmt: skip
    return learner.fit(X, y)


# ------------------------------------------------------------------ posterior


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 2.0])
def test_posterior_and_predictions_equal_the_joint_gaussian(shape, sparse, alpha):
    X, y = problem(*shape)
    mean, covariance = reference.posterior(X, y, alpha, 3.0)
    form = csr_array if sparse else np.asarray
    learner = BayesianRegression(alpha, 3.0).fit(form(X), y)
    np.testing.assert_allclose(learner.coef_, mean[:-1], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(learner.intercept_, mean[-1:], rtol=1e-7)
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(learner.covariance_, covariance[:-1, :-1], atol=1e-7 * scale)
    new = problem(7, shape[1], seed=1)[0]
    Z = np.column_stack([new, np.ones(7)])
    predicted, std = learner.predict(form(new), return_std=True)
    np.testing.assert_allclose(predicted, Z @ mean, rtol=1e-6)
    expected = np.sqrt(1 / 3.0 + np.einsum("ij,jk,ik->i", Z, covariance, Z))
    np.testing.assert_allclose(std, expected, rtol=1e-6)
    np.testing.assert_array_equal(learner.predict(form(new)), predicted)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_mean_is_ridge_regression(shape):
    X, y = problem(*shape)
    learner, expected = BayesianRegression(6.0, 3.0).fit(X, y), Ridge(2.0).fit(X, y)
    np.testing.assert_array_equal(learner.coef_, expected.coef_)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
def test_draws_have_the_posterior_as_their_law(shape, intercept):
    X, y = problem(*shape)
    learner = BayesianRegression(0.5, 2.0, intercept).fit(X, y)
    weights, intercepts = learner.sample_posterior(100_000)
    assert weights.shape == (100_000, shape[1])
    covariance = learner.covariance_
    deviation = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(weights.mean(axis=0), learner.coef_, atol=0.02 * deviation.max())
    found = np.cov(weights.T) / deviation / deviation[:, None]
    np.testing.assert_allclose(found, covariance / deviation / deviation[:, None], atol=0.03)
    new = problem(3, shape[1], seed=2)[0]
    _, std = learner.predict(new, return_std=True)
    spread = (weights @ new.T + intercepts[:, None]).std(axis=0)
    np.testing.assert_allclose(np.sqrt(spread**2 + 0.5), std, rtol=0.02)
    np.testing.assert_array_equal(weights, learner.sample_posterior(100_000)[0])
    other = learner.sample_posterior(3, random_state=1)[0]
    assert not np.array_equal(other, weights[:3])
    with pytest.raises(ParameterError, match="n must be an int >= 1"):
        learner.sample_posterior(0)


def test_a_constant_column_keeps_its_prior():
    X, y = problem(30, 2)
    learner = BayesianRegression(4.0, 1.0).fit(np.column_stack([X, np.ones(30)]), y)
    assert learner.coef_[2] == 0
    np.testing.assert_allclose(learner.covariance_[2], [0, 0, 0.25], atol=1e-15)
    with_one = np.append(X[0], 3.0)  # two away from the constant: two prior deviations more
    std = learner.predict([with_one], return_std=True)[1]
    plain = BayesianRegression(4.0, 1.0).fit(X, y).predict(X[:1], return_std=True)[1]
    np.testing.assert_allclose(std**2, plain**2 + 4 * 0.25, rtol=1e-12)
    assert np.isfinite(learner.sample_posterior(2)[0]).all()


# ------------------------------------------------------------------ evidence


@given(
    seed=st.integers(0, 1000),
    alpha=st.floats(-3, 3).map(lambda e: 10**e),
    beta=st.floats(-3, 3).map(lambda e: 10**e),
    intercept=st.booleans(),
    shape=st.sampled_from([(15, 3), (6, 9)]),
)
def test_log_evidence_equals_the_density_of_the_targets(seed, alpha, beta, intercept, shape):
    X, y = problem(*shape, seed)
    learner = BayesianRegression(alpha, beta, intercept).fit(X, y)
    expected = reference.log_evidence(X, y, alpha, beta, intercept)
    assert learner.log_evidence_ == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert learner.evidence_["log_evidence"] == learner.log_evidence_


@pytest.mark.parametrize("shape", [(40, 4), (12, 20)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("given", [(None, None), (2.0, None), (None, 1.5)])
def test_precisions_maximise_the_evidence(shape, intercept, given):
    X, y = problem(*shape, seed=3)
    learner = BayesianRegression(*given, fit_intercept=intercept).fit(X, y)

    def height(logs):
        free = iter(np.exp(logs))
        precisions = [next(free) if one is None else one for one in given]
        return -reference.log_evidence(X, y, *precisions, intercept)

    start = np.zeros(given.count(None))
    best = minimize(height, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12})
    assert learner.log_evidence_ == pytest.approx(-best.fun, rel=1e-9)
    found = [learner.weight_precision_, learner.noise_precision_]
    free = [value for value, one in zip(found, given, strict=True) if one is None]
    np.testing.assert_allclose(free, np.exp(best.x), rtol=1e-4)
    kept = [value for value, one in zip(found, given, strict=True) if one is not None]
    assert kept == [one for one in given if one is not None]
    both = ("weight_precision", "noise_precision")
    names = [n for n, g in zip(both, given, strict=True) if g is None]
    assert learner.evidence_["set_by_evidence"] == names


@NEWER_SKLEARN
@pytest.mark.parametrize("shape", [(40, 4), (12, 20)])
def test_equals_scikit_learn_without_hyper_priors(shape):
    X, y = problem(*shape, seed=3)
    learner, other = BayesianRegression(fit_intercept=False).fit(X, y), peer(X, y)
    assert learner.lambda_ == learner.weight_precision_ == pytest.approx(other.lambda_, rel=1e-8)
    assert learner.alpha_ == learner.noise_precision_ == pytest.approx(other.alpha_, rel=1e-8)
    np.testing.assert_allclose(learner.sigma_, other.sigma_, rtol=1e-6, atol=1e-12)
    assert learner.log_evidence_ == pytest.approx(other.scores_[-1], rel=1e-10)
    np.testing.assert_allclose(learner.coef_, other.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(learner.covariance_, other.sigma_, rtol=1e-6, atol=1e-9)
    for ours, theirs in zip(
        learner.predict(X, return_std=True), other.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7)


def test_at_the_maximum_the_known_equations_hold():
    X, y = problem(60, 5)
    learner = BayesianRegression().fit(X, y)
    gamma, evidence = learner.evidence_["effective_weights"], learner.evidence_
    assert learner.lambda_ * (learner.coef_ @ learner.coef_) == pytest.approx(gamma, rel=1e-10)
    left = evidence["residual_squares"] * learner.noise_precision_
    assert left == pytest.approx(60 - 1 - gamma, rel=1e-10)
    assert 0 < gamma < 5


def test_data_that_say_nothing_or_everything_are_told():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    away = X - X.mean(axis=0)
    y = rng.normal(size=50)
    y -= away @ np.linalg.lstsq(away, y, rcond=None)[0]  # not even by chance
    with pytest.warns(
        EvidenceWarning, match="weight_precision grows without bound because the col"
    ):
        learner = BayesianRegression().fit(X, y)
    assert np.abs(learner.coef_).max() < 1e-12
    assert learner.evidence_["at_edge"] == "weight_precision"
    with pytest.warns(EvidenceWarning, match=r"weight_precision grows without bound"):
        BayesianRegression().fit(X, np.full(50, 3.0))
    with pytest.warns(
        EvidenceWarning, match="noise_precision grows without bound because no noise"
    ):
        exact = BayesianRegression().fit(X, X @ [1.0, 2.0, 3.0])
    np.testing.assert_allclose(exact.coef_, [1, 2, 3], rtol=1e-9)
    assert exact.noise_precision_ > 1e10


# ------------------------------------------------------------------ the rest


def test_streams_merges_weights_and_files(tmp_path):
    X, y = problem(60)
    weight = np.arange(60) % 3 * 1.0
    whole = BayesianRegression().fit(X, y, weight)
    repeated = np.repeat(np.arange(60), weight.astype(int))
    again = BayesianRegression().fit(X[repeated], y[repeated])
    stream = BayesianRegression().partial_fit(X[:20], y[:20], weight[:20])
    stream.partial_fit(X[20:], y[20:], weight[20:])
    halves = [BayesianRegression().fit(X[k::2], y[k::2], weight[k::2]) for k in (0, 1)]
    whole.model_.save(tmp_path / "bayes.st", include_state=True)
    resumed = BayesianRegression.from_model(separable.load(tmp_path / "bayes.st"))
    expected = whole.predict(X, return_std=True)
    for other in (again, stream, halves[0].merge(halves[1]), resumed):
        assert other.alpha_ == pytest.approx(whole.alpha_, rel=1e-9)
        assert other.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-10)
        np.testing.assert_allclose(other.predict(X, return_std=True), expected, rtol=1e-9)


def test_leave_one_out_has_a_short_cut_only_with_given_precisions():
    X, y = problem(20)
    assert short_cut(BayesianRegression(), X, y) is None
    assert short_cut(BayesianRegression(1.0), X, y) is None
    assert short_cut(BayesianRegression(1.0, 2.0), X, y).shape == (20, 1)


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e100, 1e150, 1e200])
def test_extreme_values_work_or_are_refused(size):
    X, y = problem()
    X[:, 0] *= size
    learner = BayesianRegression()
    if size > 1e120:
        with pytest.raises(ValueError, match=r"overflow float64.*Scale X and y"):
            learner.fit(X, y)
        return
    learner.fit(X, y)
    assert np.isfinite(learner.predict(X, return_std=True)).all()
    if size < 1:
        expected = BayesianRegression().fit(np.column_stack([X[:, 1:], np.zeros(40)]), y)
        np.testing.assert_allclose(learner.predict(X), expected.predict(X[:, [1, 2, 3, 0]]))


def test_bad_input_is_named():
    X, y = problem()
    with pytest.raises(ValueError, match=r"y has 2 columns\. Fit one for each"):
        BayesianRegression().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"from one row \(n_samples = 1\). Give noise_precision"):
        BayesianRegression().fit(X[:1, :1], y[:1])
    BayesianRegression(1.0, 1.0).fit(X[:1, :1], y[:1])
    for name in ("weight_precision", "noise_precision"):
        with pytest.raises(ParameterError, match=f"'{name}' parameter of BayesianRegression must"):
            BayesianRegression(**{name: 0.0}).fit(X, y)
    with pytest.raises(ValueError, match="overflow float64"):
        BayesianRegression().fit(X, y * 1e200)
    with pytest.raises(ValueError, match="vanish in float64"):
        BayesianRegression().fit(X, y * 1e-150)
    for pair in ((1e-300, 1e300), (1e300, 1e-300)):
        with pytest.raises(ValueError, match="too far apart for float64: weight_precision=1e"):
            BayesianRegression(*pair).fit(X, y)


@pytest.mark.parametrize("beta", [1e-60, 1e60])
def test_given_noise_far_from_that_of_the_rows(beta):
    X, y = problem()
    learner = BayesianRegression(None, beta)
    if beta < 1:
        with pytest.warns(EvidenceWarning, match="weight_precision grows without bound"):
            learner.fit(X, y)
        return
    learner.fit(X, y)
    assert learner.lambda_ * (learner.coef_ @ learner.coef_) == pytest.approx(4, rel=1e-9)


def test_constant_columns_tell_nothing():
    y = np.random.default_rng(0).normal(size=30)
    with pytest.warns(
        EvidenceWarning, match="weight_precision grows without bound because the col"
    ):
        model = BayesianRegression().fit(np.ones((30, 2)), y)
    np.testing.assert_allclose(1 / model.noise_precision_, y.var(ddof=1), rtol=1e-10)


@pytest.mark.parametrize("size", [1e-160, 1e-200, 1e-300])
def test_squares_of_columns_or_numbers_that_vanish_are_named(size):
    X, y = problem()
    with pytest.raises(ValueError, match=r"Squares of X .* vanish in float64. Scale X"):
        BayesianRegression().fit(X * size, y)
    for rows, numbers in ((X, y), problem(20, 50)):
        with pytest.raises(ValueError, match=r"Squares of y .* vanish in float64. Scale y"):
            BayesianRegression().fit(rows, numbers * size)


@pytest.mark.parametrize("learned", [np.asarray, csr_array])
@pytest.mark.parametrize("asked", [np.asarray, csr_array])
def test_deviations_far_from_0_with_fewer_rows(learned, asked):
    X, y = problem(20, 50)
    far = X + 1e8
    expected = BayesianRegression(1.0, 2.0).fit(far - 1e8, y).predict(far - 1e8, return_std=True)[1]
    model = BayesianRegression(1.0, 2.0).fit(learned(far), y)
    np.testing.assert_allclose(model.predict(asked(far), return_std=True)[1], expected, rtol=1e-6)
