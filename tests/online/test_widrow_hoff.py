"""WidrowHoff against its reference, least squares, its streams and its limit on eta0."""

from __future__ import annotations

import itertools
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import separable
from separable import WidrowHoff
from separable.learn import plain as reference
from tests.online.problems import DTYPES, FORMATS

pytestmark = [pytest.mark.native, pytest.mark.kernel]


def params(fitted):
    return np.append(fitted.coef_, fitted.intercept_)


def make_problem(seed, n=40, d=6, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 0.5 + noise * rng.normal(size=n)


@st.composite
def integer_problems(draw, max_rows=5):
    """Few rows of small integers: every step is exact in float64."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, 40))
    X = rng.integers(-2, 3, size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.1, 0.3])))
    return X.astype(float), rng.integers(-4, 5, n).astype(float)


@pytest.mark.parametrize("form", FORMATS)
@given(integer_problems(), st.booleans())
def test_equals_reference(form, problem, fit_intercept):
    X, y = problem
    w, b, errors, _ = reference.widrow_hoff(X, y, 2, 1 / 64, fit_intercept=fit_intercept)
    ours = WidrowHoff(
        eta0=1 / 64, shuffle=False, max_iter=2, tol=None, fit_intercept=fit_intercept
    ).fit(FORMATS[form](X), y)
    np.testing.assert_array_equal(ours.coef_, w)
    np.testing.assert_array_equal(ours.intercept_, [b if fit_intercept else 0])
    np.testing.assert_allclose(ours.evidence_["mean_squared_error"], errors, rtol=1e-14)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_formats_and_types_equal_reference(form, dtype, tolerance):
    X, y = make_problem(0, noise=1)
    X[np.abs(X) < 0.5] = 0
    X = X.astype(dtype)
    w, b, errors, _ = reference.widrow_hoff(X.astype(float), y, 5, 0.01)
    ours = WidrowHoff(eta0=0.01, shuffle=False, max_iter=5, tol=None).fit(FORMATS[form](X), y)
    np.testing.assert_allclose(params(ours), np.append(w, b), rtol=0, atol=tolerance)
    np.testing.assert_allclose(ours.evidence_["mean_squared_error"], errors, rtol=tolerance)
    assert ours.model_.state.tensors["w"].dtype == dtype
    np.testing.assert_allclose(
        ours.predict(FORMATS[form](X)), X @ ours.coef_ + ours.intercept_, rtol=1e-6, atol=1e-6
    )


# ------------------------------------------------------------------ what it converges to


def test_data_without_error_is_solved():
    for seed, shuffle in itertools.product(range(5), (False, True)):
        X, y = make_problem(seed)
        fitted = WidrowHoff(eta0=0.1, shuffle=shuffle, tol=0).fit(X, y)
        assert fitted.evidence_["converged"]
        assert np.abs(fitted.predict(X) - y).max() < 1e-10


def test_more_features_than_rows_give_the_smallest_solution():
    X, y = make_problem(0, n=8, d=30)
    fitted = WidrowHoff(eta0=0.03, tol=0).fit(X, y)
    Z = np.hstack([X, np.ones((8, 1))])
    np.testing.assert_allclose(params(fitted), np.linalg.lstsq(Z, y, rcond=None)[0], atol=1e-9)


def test_small_steps_approach_least_squares():
    X, y = make_problem(1, n=200, noise=1.0)
    least = np.linalg.lstsq(np.hstack([X, np.ones((200, 1))]), y, rcond=None)[0]
    distance = [
        np.linalg.norm(params(WidrowHoff(eta0=eta, tol=None, max_iter=4000).fit(X, y)) - least)
        for eta in (1e-2, 1e-3, 1e-4)
    ]
    assert distance[2] < distance[1] < distance[0]
    assert distance[2] < 5e-3


def test_tol_ends_a_fit_and_the_limit_warns():
    X, y = make_problem(2, noise=0.3)
    fitted = WidrowHoff().fit(X, y)
    errors = fitted.evidence_["mean_squared_error"]
    assert fitted.evidence_["converged"]
    assert fitted.n_iter_ == fitted.evidence_["epochs"] == len(errors) < 1000
    assert min(errors[-5:]) >= (1 - 1e-4) * min(errors[:-5])
    assert WidrowHoff(tol=None, max_iter=40).fit(X, y).n_iter_ == 40
    with pytest.warns(ConvergenceWarning, match=r"4 epochs \(max_iter=4\) while .* tol=0.0001"):
        assert not WidrowHoff(max_iter=4).fit(X, y).evidence_["converged"]
    with pytest.warns(ConvergenceWarning, match=r"3 epochs \(max_work=800\)"):
        WidrowHoff(max_work=800).fit(X, y)


# ------------------------------------------------------------------ the step that follows the rows


def widrow_hoff_auto(X, y, epochs, fit_intercept=True):
    """The rule with eta = 1 / (4 max |x|^2) over the rows met so far, one row at a time."""
    Z = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X
    w, longest = np.zeros(Z.shape[1]), 0.0
    for _ in range(epochs):
        for z, target in zip(Z, y, strict=True):
            longest = max(longest, z @ z)
            w = w - (w @ z - target) * z / (4 * longest) if longest else w
    return w


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_auto_equals_its_rule(form, fit_intercept):
    X, y = make_problem(3, noise=1)
    X[:5] = 0  # nothing to divide by yet
    X[30:] *= 100
    learner = WidrowHoff(shuffle=False, max_iter=3, tol=None, fit_intercept=fit_intercept)
    w = widrow_hoff_auto(X, y, 3, fit_intercept)
    actual = params(learner.fit(FORMATS[form](X), y))
    np.testing.assert_allclose(actual if fit_intercept else actual[:-1], w, rtol=1e-9, atol=1e-12)
    Z = X if not fit_intercept else np.hstack([X, np.ones((len(X), 1))])
    assert learner.evidence_["eta"] == pytest.approx(1 / (4 * np.square(Z).sum(axis=1).max()))
    assert learner.evidence_["eta"] == pytest.approx(learner.evidence_["largest_safe_eta"] / 8)


@pytest.mark.parametrize("cut", [1, 3, 7, 40])
def test_auto_has_the_same_bits_however_a_stream_is_cut(cut, tmp_path):
    X, y = make_problem(4, noise=1)
    X *= np.exp(np.random.default_rng(0).normal(size=(len(X), 1)) * 3)
    whole = WidrowHoff(shuffle=False, max_iter=1).fit(X, y)
    stream = WidrowHoff()
    for start in range(0, len(X), cut):
        stream.partial_fit(X[start : start + cut], y[start : start + cut])
        stream.model_.save(tmp_path / "m.safetensors", include_state=True)
        stream = WidrowHoff.from_model(separable.load(tmp_path / "m.safetensors"))
    np.testing.assert_array_equal(params(stream), params(whole))
    assert stream.eta0 == "auto"


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e3, 1e8, 1e150])
@pytest.mark.parametrize("weight", [None, 3.5])
def test_the_default_step_never_diverges(scale, weight):
    X, y = make_problem(5, noise=1)
    weights = None if weight is None else np.full(len(X), weight)
    learner = WidrowHoff(fit_intercept=False).fit(scale * X, y, sample_weight=weights)
    unscaled = WidrowHoff(fit_intercept=False).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(learner.predict(scale * X), unscaled.predict(X), rtol=1e-6)
    assert learner.score(scale * X, y) > 0.5


@pytest.mark.parametrize("load", [load_diabetes, load_breast_cancer, load_wine, load_iris])
def test_the_default_step_is_safe_for_ordinary_columns(load):
    X, y = load(return_X_y=True, **({"scaled": False} if load is load_diabetes else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert WidrowHoff().fit(X, y).score(X, y) > 0
    assert WidrowHoff().partial_fit(X, y).evidence_["rows_seen"] == len(X)


@pytest.mark.parametrize("size", [1e160, 1.7e308, 1e-170, 5e-324])
def test_rows_without_a_square_are_refused(size):
    with pytest.raises(ValueError, match=r"largest \|x\| is .* Scale the columns"):
        WidrowHoff(fit_intercept=False).fit([[size], [size]], [1.0, 2.0])


# ------------------------------------------------------------------ weights


@given(integer_problems(max_rows=3), st.data())
def test_weights_are_presentations(problem, data):
    X, y = problem
    count = st.integers(0, 10).map(lambda k: k / 4)
    weight = np.array(data.draw(st.lists(count, min_size=len(y), max_size=len(y))))
    weight[0] += 1
    w, b, errors, _ = reference.widrow_hoff(X, y, 2, 1 / 64, weights=weight)
    ours = WidrowHoff(eta0=1 / 64, shuffle=False, max_iter=2, tol=None)
    ours.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(params(ours), np.append(w, b), rtol=0, atol=1e-13)
    np.testing.assert_allclose(ours.evidence_["mean_squared_error"], errors, rtol=1e-12)


@pytest.mark.parametrize("eta", [1e-9, 0.01, 0.25, 0.33])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_many_presentations_in_closed_form(eta, fit_intercept):
    X = np.array([[1.0, 2.0], [0.0, 0.0], [0.5, -1.0]])  # one row is 0
    y, weight = np.array([1.0, -2.0, 3.0]), np.array([1000.25, 37.0, 1.75])
    w, b, errors, _ = reference.widrow_hoff(
        X, y, 1, eta, weights=weight, fit_intercept=fit_intercept
    )
    ours = WidrowHoff(eta0=eta, shuffle=False, max_iter=1, fit_intercept=fit_intercept)
    ours.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(params(ours), np.append(w, b * fit_intercept), rtol=1e-10)
    np.testing.assert_allclose(ours.evidence_["mean_squared_error"], errors, rtol=1e-10)


@pytest.mark.parametrize("eta", [0.34, 0.7, 1e3])
def test_overshooting_presentations_are_refused(eta):
    with pytest.raises(ValueError, match=r"too large.*overflowed"):
        WidrowHoff(eta0=eta, max_iter=1).fit([[1.0, 2.0]], [1.0], sample_weight=[1e6])


def test_enormous_weights():
    # so often that the row is met, however small the step is
    fitted = WidrowHoff(eta0=1e-12, max_iter=1).fit([[3.0]], [7.0], sample_weight=[2.0**53])
    assert fitted.predict([[3.0]]) == pytest.approx([7.0], rel=1e-12)
    # z k = 1e-17 2^53: 1 - z alone would round to 1
    z = 1e-17
    fitted = WidrowHoff(eta0=z, max_iter=1, fit_intercept=False)
    fitted.fit([[1.0]], [1.0], sample_weight=[2.0**53])
    assert fitted.coef_[0] == pytest.approx(-np.expm1(-z * 2.0**53), rel=1e-12)


def test_weight_zero_is_absent():
    X, y = make_problem(3, noise=1.0)
    weight = (np.arange(40) % 3 > 0).astype(float)
    keep = weight > 0
    X[0], y[0] = 1e6, 1e6  # absent, so it makes no step unsafe
    for shuffle in (False, True):
        a = WidrowHoff(shuffle=shuffle).fit(X, y, sample_weight=weight)
        b = WidrowHoff(shuffle=shuffle).fit(X[keep], y[keep])
        np.testing.assert_array_equal(params(a), params(b))
        assert a.evidence_ == b.evidence_
    with pytest.raises(ValueError, match="no row is left"):
        WidrowHoff().fit(X, y, sample_weight=np.zeros(40))


# ------------------------------------------------------------------ too large a step


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("factor", [1.5, 3.0, 100.0])
@pytest.mark.parametrize("max_iter", [3, 1000])
def test_too_large_eta_is_refused_with_one_that_works(dtype, factor, max_iter):
    X, y = make_problem(4)
    X /= np.linalg.norm(X, axis=1)[:, None]  # one size: above the limit every step overshoots
    X = (10 * X).astype(dtype)
    learner = WidrowHoff(eta0=factor * 2 / 101, max_iter=max_iter, tol=None)
    message = (
        r"'eta0' parameter of WidrowHoff is too large.*2 / max\(\|x\|\^2 \+ 1\) = .*Lower eta0"
    )
    with pytest.raises(ValueError, match=message) as caught:
        learner.fit(X, y)
    assert not hasattr(learner, "coef_")
    largest_safe = float(re.search(r"= (\S+), below", str(caught.value))[1])
    assert 0.99 * 2 / 101 <= largest_safe <= 2 / 101 * (1 + 1e-6)
    fitted = WidrowHoff(eta0=largest_safe, max_iter=max_iter, tol=None).fit(X, y)
    assert np.isfinite(params(fitted)).all()
    assert largest_safe <= fitted.evidence_["largest_safe_eta"]


def test_slow_growth_is_not_taken_for_convergence():
    # every step makes the error 1.02 times larger: after a few epochs there is no overflow yet
    X, y = np.ones((20, 1)), np.ones(20)
    learner = WidrowHoff(eta0=2.02, fit_intercept=False, max_iter=8)
    with pytest.raises(ValueError, match=r"grew from 1 to \d+.*\|x\|\^2\) = 2, below"):
        learner.fit(X, y)


def test_swings_are_not_taken_for_convergence():
    X, y = make_problem(0, n=8, d=30)
    for eta in (0.04, 0.05):
        evidence = WidrowHoff(eta0=eta, tol=0).fit(X, y).evidence_
        errors = evidence["mean_squared_error"]
        assert evidence["largest_safe_eta"] < eta
        assert errors[-1] <= min(2 * min(errors), np.square(y).mean())


def test_a_large_step_that_learns_is_let_be():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:3] *= 4  # a few long rows
    y = X @ [1.0, -2.0, 3.0, 0.5]
    fitted = WidrowHoff(eta0=0.1).fit(X, y)
    assert fitted.evidence_["largest_safe_eta"] < 0.1
    assert fitted.score(X, y) > 0.999


def test_safe_steps_never_fail():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 5)) * 10.0 ** rng.integers(-3, 4)
        y = rng.normal(size=30) * 10.0 ** rng.integers(-3, 4)
        safe = 2 / (np.square(X).sum(axis=1).max() + 1)
        fitted = WidrowHoff(eta0=0.999 * safe, tol=None, max_iter=200).fit(X, y)
        assert fitted.evidence_["largest_safe_eta"] == pytest.approx(safe, rel=1e-12)
        assert np.isfinite(params(fitted)).all()


def test_rows_of_zeros_allow_any_step():
    fitted = WidrowHoff(eta0=1e6, fit_intercept=False).fit(np.zeros((3, 2)), [0.0, 0.0, 0.0])
    assert fitted.evidence_["largest_safe_eta"] is None
    assert fitted.evidence_["converged"]
    assert not fitted.coef_.any()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1e200], [1.0]], [1.0, 2.0]),
        ([[1.0], [2.0]], [1e200, 1.0]),
        (np.array([[1e-30], [2.0]], dtype=np.float32), [1e100, 1.0]),
    ],
)
def test_overflow(X, y):
    learner = WidrowHoff(shuffle=False)
    with pytest.raises(ValueError, match=r"(overflowed to infinity.*largest \|y\||square).*Scale"):
        learner.fit(X, y)
    assert not hasattr(learner, "coef_")


# ------------------------------------------------------------------ streams


@st.composite
def streams(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 50))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0])))
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=6)))
    dtype = draw(st.sampled_from(DTYPES))
    form = draw(st.sampled_from(["dense", "csr32", "csr64"]))
    weight = draw(st.sampled_from([None, rng.integers(0, 25, n) / 8]))
    return FORMATS[form](X.astype(dtype)), rng.normal(size=n), [0, *cuts, n], weight


def learn(estimator, X, y, cuts, weight=None):
    for start, stop in itertools.pairwise(cuts):
        part = None if weight is None else weight[start:stop]
        estimator.partial_fit(X[start:stop], y[start:stop], sample_weight=part)
    return estimator


@given(streams(), st.booleans())
def test_chunks_rows_and_fit_agree(tmp_path_factory, stream, fit_intercept):
    X, y, cuts, weight = stream
    if weight is not None:
        weight[0] = 1

    def make():
        return WidrowHoff(shuffle=False, max_iter=1, fit_intercept=fit_intercept)

    path = tmp_path_factory.mktemp("stream") / "model.safetensors"
    whole = make().fit(X, y, sample_weight=weight)
    paused = make()
    for start, stop in itertools.pairwise(cuts):
        learn(paused, X, y, [start, stop], weight)
        paused.model_.save(path, include_state=True)
        paused = WidrowHoff.from_model(separable.load(path))
    for other in (
        learn(make(), X, y, cuts, weight),
        learn(make(), X, y, range(len(y) + 1), weight),
        paused,
    ):
        assert params(other).tobytes() == params(whole).tobytes()
        assert other.evidence_ == {k: whole.evidence_[k] for k in other.evidence_}


def test_fit_then_partial_fit_continues():
    X, y = make_problem(5)
    start = WidrowHoff(shuffle=False, max_iter=1).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(params(start), params(WidrowHoff().partial_fit(X, y)))
    assert start.evidence_["rows_seen"] == 40


def test_a_failed_chunk_leaves_the_stream_as_it_was():
    X, y = make_problem(6)
    stream, other = (WidrowHoff(eta0=0.01).partial_fit(X, y) for _ in range(2))
    long_rows = np.full((30, 6), 100.0)
    with pytest.raises(ValueError, match="too large"):
        stream.partial_fit(long_rows, np.ones(30))
    with pytest.raises(ValueError, match=r"too large.*overflowed"):
        stream.partial_fit(np.repeat(long_rows, 100, axis=0), np.ones(3000))
    with pytest.raises(ValueError, match=r"y contains NaN.*row 1"):
        stream.partial_fit(X[:2], [1.0, np.nan])
    np.testing.assert_array_equal(params(stream), params(other))
    assert stream.evidence_ == other.evidence_
    stream.partial_fit(X, y), other.partial_fit(X, y)
    np.testing.assert_array_equal(params(stream), params(other))
    stream.set_params(eta0=1e-5).partial_fit(long_rows, np.ones(30))  # the remedy
    first = WidrowHoff(eta0=0.01)
    with pytest.raises(ValueError, match="too large"):
        first.partial_fit(long_rows, np.ones(30))
    assert not hasattr(first, "coef_")


def test_starts():
    X, y = make_problem(7, noise=0.1)
    once = WidrowHoff(eta0=0.01, shuffle=False, max_iter=6, tol=None).fit(X, y)
    half = WidrowHoff(eta0=0.01, shuffle=False, max_iter=3, tol=None, warm_start=True).fit(X, y)
    given_start = WidrowHoff(eta0=0.01, shuffle=False, max_iter=3, tol=None).fit(
        X, y, coef_init=half.coef_, intercept_init=half.intercept_
    )
    np.testing.assert_array_equal(params(once), params(half.fit(X, y)))
    np.testing.assert_array_equal(params(once), params(given_start))
    with pytest.raises(ValueError, match=r"coef_init must be finite and of shape \(1, 6\)"):
        WidrowHoff().fit(X, y, coef_init=[1.0])
    far = WidrowHoff(eta0=0.2, max_iter=1).fit(X, y, coef_init=np.full(6, 100.0))
    assert far.evidence_["largest_safe_eta"] < 0.2  # the error of the start is no growth


def test_shuffle_is_seeded():
    X, y = make_problem(8, noise=1.0)
    a, b, c = (WidrowHoff(random_state=s, tol=None, max_iter=5).fit(X, y).coef_ for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


# ------------------------------------------------------------------ bad input, files


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.inf, 2.0], r"y contains NaN or infinity: row 1"),
        (["a", "b", "c"], r"WidrowHoff predicts numbers"),
        ([1.0, 2.0], r"X has 3 rows, y has 2"),
        (None, r"requires y to be passed"),
    ],
)
def test_bad_targets(y, message):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(WidrowHoff(), method)([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("eta0", 0, "'auto' or a finite float > 0"),
        ("eta0", "fast", "'auto' or a finite float > 0"),
        ("tol", -1e-3, "None or a finite float >= 0"),
        ("max_iter", 0, "an int >= 1"),
        ("max_work", 0, "a float > 0"),
        ("shuffle", "yes", "a bool"),
        ("random_state", -1, "None, an int >= 0"),
    ],
)
def test_parameters(name, value, words):
    message = rf"The '{name}' parameter of WidrowHoff must be {words}"
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(WidrowHoff(**{name: value}), method)([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_model_file_and_explanation(tmp_path, dtype):
    X, y = make_problem(9)
    fitted = WidrowHoff().fit(sp.csr_array(X.astype(dtype)), y)
    fitted.model_.save(tmp_path / "m.safetensors")
    model = separable.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))
    assert model.link == "identity"
    assert model.evidence == fitted.evidence_
    assert model.explain(X[:1]).terms().score == pytest.approx(fitted.predict(X[:1])[0], rel=1e-12)


def test_no_warning_on_a_single_pass():
    X, y = make_problem(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WidrowHoff(max_iter=1).fit(X, y)
