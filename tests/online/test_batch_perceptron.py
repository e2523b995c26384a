"""BatchPerceptron against its reference, its theorem, its laws and its evidence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import separable
from separable import BatchPerceptron
from separable.learn import plain as reference
from tests.online.problems import DTYPES, FORMATS, integer_problems, separable_problem

pytestmark = [
    pytest.mark.native,
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([0, 1, 1, 0])


@st.composite
def dyadic_problems(draw, classes=2):
    """Small integers and a power of two of rows, so that means are exact too."""
    X, y = draw(integer_problems(classes=classes, max_rows=32))
    n = 1 << (len(y).bit_length() - 1)
    assume(len(set(y[:n].tolist())) == classes)
    return X[:n], y[:n]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
@given(dyadic_problems(), st.sampled_from([1.0, 0.5, 4.0]), st.booleans())
def test_binary_equals_reference(form, dtype, problem, eta, fit_intercept):
    X, y = problem
    w, b, mistakes, norm, _ = reference.batch_perceptron(
        X, 2 * y - 1, 6, eta=eta, fit_intercept=fit_intercept
    )
    ours = BatchPerceptron(max_iter=6, eta0=eta, fit_intercept=fit_intercept)
    ours.fit(FORMATS[form](X.astype(dtype)), y)
    np.testing.assert_array_equal(ours.coef_, [w])
    np.testing.assert_array_equal(ours.intercept_, [b if fit_intercept else 0])
    if ours.evidence_["stopped_by"] != "stalled":  # float32 makes sure in float64
        assert ours.evidence_["mistakes"] == mistakes
        assert ours.n_iter_ == len(mistakes)
    assert ours.evidence_["delta_norm"] == pytest.approx(norm, rel=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("classes", [3, 17, 33])
@pytest.mark.parametrize("eps", [None, 0.5])
def test_each_of_many_models_is_as_if_trained_alone(classes, form, dtype, eps):
    rng = np.random.default_rng(classes)
    X = rng.integers(-2, 3, size=(128, 37)).astype(float)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 128 - classes)])
    ours = BatchPerceptron(max_iter=40, eps=eps).fit(FORMATS[form](X.astype(dtype)), y)
    total = np.zeros(ours.n_iter_, dtype=int)
    for k in range(classes):
        w, b, mistakes, norm, _ = reference.batch_perceptron(
            X, np.where(y == k, 1, -1), 40, eps=eps or 0.0
        )
        np.testing.assert_array_equal(ours.coef_[k], w)
        assert ours.intercept_[k] == b
        assert ours.evidence_["delta_norm"][k] == pytest.approx(norm, rel=1e-12)
        assert ours.evidence_["converged_models"][k] == (mistakes[-1] == 0)
        by_eps = ours.evidence_["stopped_by_model"][k] == "eps"
        assert by_eps == (mistakes[-1] > 0 and norm < (eps or 0))
        total[: len(mistakes)] += mistakes
    assert ours.evidence_["mistakes"] == total.tolist()


@given(integer_problems())
def test_one_model_alone_has_the_bits_of_its_lane(problem):
    X, y = problem
    X = X * np.pi  # sums now round, and must round alike
    third = np.where(np.arange(len(y)) == 0, 2, y)
    assume(len(set(third.tolist())) == 3)
    lanes = BatchPerceptron(max_iter=30).fit(X, third)
    alone = BatchPerceptron(max_iter=30).fit(X, (third == 1).astype(int))
    np.testing.assert_array_equal(lanes.coef_[1], alone.coef_[0])
    assert lanes.evidence_["mistakes_per_model"][1] == alone.evidence_["mistakes_per_model"][0]


@given(st.integers(0, 2**31))
def test_order_of_rows_is_irrelevant(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 6)), np.arange(50) % 3
    order = rng.permutation(50)
    a = BatchPerceptron(max_iter=5).fit(X, y)
    b = BatchPerceptron(max_iter=5).fit(X[order], y[order])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-13)
    sparse = BatchPerceptron(max_iter=5).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(a.coef_, sparse.coef_, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@given(dyadic_problems(classes=3), st.integers(0, 2**31))
def test_whole_weights_are_repeated_rows(dtype, problem, seed):
    X, y = problem
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[[np.flatnonzero(y == c)[0] for c in range(3)]] += 1  # every class is present
    weight[np.flatnonzero(y == 0)[0]] += (1 << int(weight.sum()).bit_length()) - weight.sum()
    X = X.astype(dtype)
    weighted = BatchPerceptron(max_iter=4).fit(X, y, sample_weight=weight)
    repeated = BatchPerceptron(max_iter=4).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    np.testing.assert_array_equal(weighted.intercept_, repeated.intercept_)
    assert weighted.evidence_["delta_norm"] == repeated.evidence_["delta_norm"]


def test_weights_of_any_kind():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
    weight = rng.random(60) * (rng.random(60) < 0.7)
    fitted = BatchPerceptron(max_iter=7).fit(X, y, sample_weight=weight)
    w, b, mistakes, *_ = reference.batch_perceptron(X, 2 * y - 1, 7, weights=weight)
    np.testing.assert_allclose(fitted.coef_, [w], rtol=1e-12)
    np.testing.assert_allclose(fitted.intercept_, [b], rtol=1e-12)
    assert fitted.evidence_["mistakes"] == mistakes
    keep = weight > 0
    dropped = BatchPerceptron(max_iter=7).fit(X[keep], y[keep], sample_weight=weight[keep])
    np.testing.assert_array_equal(fitted.coef_, dropped.coef_)
    scaled = BatchPerceptron(max_iter=7).fit(X, y, sample_weight=weight * 2.0**40)
    np.testing.assert_array_equal(fitted.coef_, scaled.coef_)
    by_class = BatchPerceptron(max_iter=7, class_weight={0: 3.0}).fit(X, y)
    same = BatchPerceptron(max_iter=7).fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, same.coef_)


@given(dyadic_problems(), st.integers(-8, 8))
def test_eta_only_scales_from_a_zero_start(problem, power):
    X, y = problem
    one = BatchPerceptron(max_iter=4).fit(X, y)
    other = BatchPerceptron(max_iter=4, eta0=2.0**power).fit(X, y)
    np.testing.assert_array_equal(other.coef_, 2.0**power * one.coef_)
    assert other.evidence_["mistakes"] == one.evidence_["mistakes"]


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_mistakes_stay_within_the_bound_on_separable_sets(fit_intercept):
    for seed in range(300):
        X, y = separable_problem(seed)
        if not fit_intercept:
            X = np.hstack([X, np.ones((len(X), 1))])
        fitted = BatchPerceptron(max_iter=10**6, fit_intercept=fit_intercept).fit(X, y)
        evidence = fitted.evidence_
        assert evidence["converged"], seed
        assert (fitted.predict(X) == y).all(), seed
        # the theorem, recomputed from public arrays
        Z = np.hstack([np.full((len(X), 1), float(fit_intercept)), X])
        v = np.concatenate([fitted.intercept_, fitted.coef_[0]])
        gamma = ((2 * y - 1) * (Z @ v)).min() / np.linalg.norm(v)
        bound = len(X) * np.square(Z).sum(axis=1).max() / gamma**2
        assert evidence["bound"] == pytest.approx(bound, rel=1e-9)
        assert evidence["epochs"] - 1 <= sum(evidence["mistakes"]) <= bound, seed


def test_bound_needs_zero_start_and_unit_weights():
    X, y = separable_problem(3)
    assert BatchPerceptron().fit(X, y).evidence_["bound"] > 0
    weighted = BatchPerceptron().fit(X, y, sample_weight=np.full(len(y), 2.0)).evidence_
    assert weighted["bound"] is None
    assert weighted["margin"] > 0
    started = BatchPerceptron().fit(X, y, coef_init=np.ones((1, X.shape[1]))).evidence_
    assert started["bound"] is None


def test_eps_stops_with_mistakes_left_and_no_warning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X @ [1, 1, 1] + rng.normal(size=200) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = BatchPerceptron(eps=0.05).fit(X, y)
    assert fitted.evidence_["stopped_by"] == "eps"
    assert not fitted.evidence_["converged"]  # it means no mistakes, as in Perceptron
    assert fitted.evidence_["training_mistakes"] > 0
    assert 0 < fitted.evidence_["delta_norm"] < 0.05
    assert fitted.evidence_["margin"] is None
    w, _, mistakes, norm, _ = reference.batch_perceptron(X, 2 * y - 1, 10**4, eps=0.05)
    np.testing.assert_allclose(fitted.coef_, [w], rtol=1e-9)
    assert fitted.evidence_["mistakes"] == mistakes
    assert fitted.evidence_["delta_norm"] == pytest.approx(norm)


def test_unconverged_warns_with_what_is_left():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    with pytest.warns(
        ConvergenceWarning,
        match=r"BatchPerceptron stopped after 7 epochs \(max_iter=7\) with \d+ of 40 training rows "
        r"still on the wrong side: .* Use AveragedPerceptron, scale",
    ):
        fitted = BatchPerceptron(max_iter=7).fit(X, y)
    assert not fitted.evidence_["converged"]
    wrong = (2 * y - 1) * (X @ fitted.coef_[0] + fitted.intercept_[0]) <= 0
    assert fitted.evidence_["training_mistakes"] == wrong.sum()
    with pytest.warns(ConvergenceWarning, match=r"3 epochs \(max_work=250\).*one-vs-rest"):
        BatchPerceptron(max_work=250).fit(X, np.arange(40) % 3)


def test_a_step_of_zero_ends_the_fit():
    # all four rows are on the boundary of the zero start, and their pull cancels
    with pytest.warns(ConvergenceWarning, match=r"1 epochs \(a step no longer changes the weights"):
        fitted = BatchPerceptron().fit(*XOR)
    assert fitted.evidence_["stopped_by"] == "stalled"
    assert fitted.evidence_["delta_norm"] == 0
    assert fitted.evidence_["training_mistakes"] == 4


def test_float32_steps_lost_in_rounding_go_on_in_double():
    X = np.array([[0.5], [1.5], [2.0]], dtype=np.float32)
    fitted = BatchPerceptron(eta0=1e-3, max_work=np.inf, max_iter=10**6)
    fitted.fit(X, [0, 1, 1], coef_init=[[3e4]], intercept_init=[-1.4999e4])
    assert fitted.evidence_["converged"]
    assert fitted.score(X, [0, 1, 1]) == 1


def test_float32_agrees_with_float64():
    for seed in range(30):
        X, y = separable_problem(seed, n=80)
        X = X.astype(np.float32)
        single = BatchPerceptron(max_iter=10**6).fit(X, y)
        double = BatchPerceptron(max_iter=10**6).fit(X.astype(np.float64), y)
        assert single.evidence_["converged"]
        assert double.evidence_["converged"]
        exact = X.astype(np.float64) @ single.coef_[0] + single.intercept_[0]
        assert ((2 * y - 1) * exact > 0).all()


def test_warm_start_and_given_start():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(64, 3)), np.arange(64) % 2
    once = BatchPerceptron(max_iter=6).fit(X, y)
    twice = BatchPerceptron(max_iter=3, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(once.coef_, twice.coef_)
    first = BatchPerceptron(max_iter=3).fit(X, y)
    given_start = BatchPerceptron(max_iter=3).fit(
        X, y, coef_init=first.coef_, intercept_init=first.intercept_
    )
    np.testing.assert_array_equal(once.coef_, given_start.coef_)


def test_there_are_no_streams():
    learner = BatchPerceptron().fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(learner, "partial_fit")
    with pytest.raises(AttributeError, match=r"no partial_fit: .* all rows.*Use Perceptron"):
        learner.partial_fit([[0.0]], [0])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("eta0", 0, "a finite float > 0"),
        ("eps", 0, "None or a finite float > 0"),
        ("eps", np.inf, "None or a finite float > 0"),
        ("max_iter", 0, "an int >= 1"),
        ("max_work", -1, "a float > 0"),
        ("fit_intercept", "yes", "a bool"),
        ("warm_start", 1, "a bool"),
        ("class_weight", "even", "None, 'balanced' or a dict"),
    ],
)
def test_parameters(name, value, words):
    message = rf"The '{name}' parameter of BatchPerceptron must be {words}"
    with pytest.raises(ValueError, match=message):
        BatchPerceptron(**{name: value}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    "data",
    [
        np.array([[1e38, 1e38], [1e38, -1e38], [3, 4]], dtype=np.float32),
        np.array([[1e200, 1e200], [1e200, -1e200], [3, 4]]),
    ],
)
def test_overflow(data):
    for labels in ([1, 0, 1], [1, 0, 2]):
        learner = BatchPerceptron(eta0=100.0)
        with pytest.raises(ValueError, match=r"row \d overflowed.*[Ss]cale the columns"):
            learner.fit(data, labels)
        assert not hasattr(learner, "model_")
    with pytest.raises(ValueError, match=r"row \d overflowed"):  # in the last step
        BatchPerceptron(eta0=1e300, max_iter=1).fit([[1e30, 0.0], [0.0, 2e30]], [0, 1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_model_file_and_explanation(tmp_path, dtype):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)).astype(dtype), np.arange(50) % 3
    fitted = BatchPerceptron(max_iter=5, class_weight={1: 2.0}).fit(X, y)
    fitted.model_.save(tmp_path / "m.safetensors", include_state=True)
    model = separable.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(model.weights, fitted.coef_)
    assert model.evidence == fitted.evidence_
    assert model.explain(X[:1]).terms().score == pytest.approx(
        fitted.decision_function(X[:1]).max()
    )
    resumed = BatchPerceptron.from_model(model).set_params(warm_start=True).fit(X, y)
    np.testing.assert_array_equal(
        resumed.coef_, BatchPerceptron(max_iter=10, class_weight={1: 2.0}).fit(X, y).coef_
    )
