"""SGD with one step size: against the reference, scikit-learn and the optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, reject
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier as PeerClassifier
from sklearn.linear_model import SGDRegressor as PeerRegressor

import separable
from separable import SGDClassifier, SGDRegressor
from separable.learn.plain import LOSSES as VALUES
from separable.learn.plain import SLOPES, sgd
from separable.model.parameters import ParameterError
from separable.online.base_sgd import LOSSES
from tests.online.problems import FORMATS

pytestmark = [
    pytest.mark.native,
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # one set of options, all modes
]

REGRESSION = [name for name, traits in LOSSES.items() if not traits.classes_only]
SCHEDULES = {
    "constant": lambda t: 0.05,
    "invscaling": lambda t: 0.05 / t**0.5,
}
PENALTIES = {None: (0, 0), "l2": (0, 1), "l1": (1, 0), "elasticnet": (0.15, 0.85)}


def problem(seed=0, n=40, d=7, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return X, y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("schedule", ["constant", "invscaling"])
def test_equals_the_reference(loss, penalty, schedule):
    X, y = problem()
    weight = np.random.default_rng(1).integers(0, 12, len(y)) / 4
    weight[0] = 1
    l1, l2 = PENALTIES[penalty]
    expected = sgd(
        X, 2.0 * y - 1, loss, SCHEDULES[schedule], l1=0.02 * l1, l2=0.02 * l2, weight=weight,
        epochs=3,
    )  # fmt: skip
    ours = SGDClassifier(
        loss, penalty=penalty, alpha=0.02, learning_rate=schedule, eta0=0.05, shuffle=False,
        max_iter=3, tol=None,
    )  # fmt: skip
    ours.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_[0], expected[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_[0], expected[1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("penalty", [None, "l2"])
@pytest.mark.parametrize("alpha", [0.02, 30.0])  # 30: every step folds the scale into the weights
def test_mean_of_all_weights(penalty, alpha):
    X, y = problem()
    _, l2 = PENALTIES[penalty]
    expected = sgd(X, 2.0 * y - 1, "log_loss", SCHEDULES["constant"], l2=alpha * l2, epochs=2)
    ours = SGDClassifier(
        "log_loss", penalty=penalty, alpha=alpha, learning_rate="constant", eta0=0.05,
        shuffle=False, max_iter=2, tol=None, average=True,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(ours.coef_[0], expected[2], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, expected[3], rtol=1e-9, atol=1e-12)


def test_mean_from_a_later_step():
    X, y = problem()
    settings = {"learning_rate": "constant", "shuffle": False, "max_iter": 1, "tol": None}
    late = SGDClassifier("log_loss", average=30, **settings).fit(X, y)
    after = [SGDClassifier("log_loss", **settings).fit(X[:k], y[:k]).coef_ for k in range(30, 41)]
    np.testing.assert_allclose(late.coef_, np.mean(after, axis=0), rtol=1e-10)


def test_average_of_zero_is_none():
    X, y = problem()
    plain, zero = (SGDClassifier("log_loss", average=a).fit(X, y) for a in (False, 0))
    np.testing.assert_array_equal(plain.coef_, zero.coef_)
    SGDClassifier(penalty="l1", average=0).fit(X, y)


@pytest.mark.parametrize("loss", REGRESSION)
def test_regression_equals_the_reference(loss):
    X, _ = problem(d=5)
    y = X @ [1, -2, 0, 3, 0.5] + 4
    expected = sgd(X, y, loss, SCHEDULES["invscaling"], l2=0.01, epochs=4, epsilon=0.2)
    ours = SGDRegressor(
        loss, penalty="l2", alpha=0.01, learning_rate="invscaling", eta0=0.05, power_t=0.5,
        epsilon=0.2, shuffle=False, max_iter=4, tol=None,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(ours.coef_, expected[0], rtol=1e-10, atol=1e-12)
    assert ours.coef_.shape == (5,)
    assert isinstance(ours.intercept_, float)


@pytest.mark.parametrize("schedule", ["constant", "invscaling", "optimal"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss", "perceptron"])
def test_same_steps_as_scikit_learn(loss, schedule):
    X, y = problem(n=120, classes=3)
    settings = {
        "penalty": "l2", "alpha": 1e-3, "learning_rate": schedule,
        "shuffle": False, "max_iter": 3, "tol": None,
    }  # fmt: skip
    eta0 = {} if schedule == "optimal" else {"eta0": 0.02}
    ours, peer = (
        cls(loss, **settings, **eta0).fit(X, y) for cls in (SGDClassifier, PeerClassifier)
    )
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-11)


def test_same_steps_as_scikit_learn_in_regression():
    X, _ = problem(n=120)
    y = X[:, 0] - 2 * X[:, 1] + 1
    settings = {"penalty": "l2", "alpha": 1e-3, "shuffle": False, "max_iter": 3, "tol": None}
    for loss, schedule in itertools.product(REGRESSION, ("constant", "invscaling")):
        ours, peer = (
            cls(loss, learning_rate=schedule, eta0=0.02, **settings).fit(X, y)
            for cls in (SGDRegressor, PeerRegressor)
        )
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 3, 20])
def test_formats_and_types_agree(form, dtype, classes):
    X, y = problem(n=80, d=33, classes=classes)
    settings = {"learning_rate": "constant", "penalty": "elasticnet", "max_iter": 3, "tol": None}
    base = SGDClassifier("log_loss", **settings).fit(X, y)
    other = SGDClassifier("log_loss", **settings).fit(FORMATS[form](X.astype(dtype)), y)
    tolerance = 1e-9 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(other.coef_, base.coef_, rtol=0, atol=tolerance)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_one_model_alone_has_the_bits_of_its_lane(penalty):
    X, y = problem(n=60, d=20, classes=5)
    settings = {"learning_rate": "constant", "penalty": penalty, "max_iter": 3, "tol": None}
    lanes = SGDClassifier("log_loss", **settings).fit(X, y)
    for k in range(5):
        alone = SGDClassifier("log_loss", **settings).fit(X, (y == k).astype(int))
        np.testing.assert_array_equal(lanes.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(lanes.intercept_[k], alone.intercept_[0])


def optimum(X, y, loss, l2):
    """Return w, b that minimise the objective, by a general-purpose solver."""

    def objective(theta):
        s = X @ theta[:-1] + theta[-1]
        out = VALUES[loss](s, y, 0.1)
        slope = np.array([SLOPES[loss](*pair, 0.1) for pair in zip(s, y, strict=True)])
        gradient = np.append(X.T @ slope / len(y) + l2 * theta[:-1], slope.mean())
        return out.mean() + l2 / 2 * theta[:-1] @ theta[:-1], gradient

    optimum = scipy.optimize.minimize(objective, np.zeros(X.shape[1] + 1), jac=True, tol=1e-12)
    return optimum.x, optimum.fun, lambda theta: objective(theta)[0]


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "squared_error"])
@pytest.mark.parametrize("schedule", ["optimal", "adaptive"])
def test_close_to_the_optimum(loss, schedule):
    X, label = problem(n=300, d=4)
    label = (X @ [1, -1, 0.5, 0] + np.random.default_rng(5).normal(size=300) > 0).astype(int)
    _, best, objective = optimum(X, 2.0 * label - 1, loss, 0.01)
    ours = SGDClassifier(
        loss, penalty="l2", alpha=0.01, learning_rate=schedule, max_iter=300, tol=None, average=300
    ).fit(X, label)
    reached = objective(np.append(ours.coef_[0], ours.intercept_))
    assert best <= reached + 1e-12
    assert reached - best < 1e-3 * best


def test_l1_makes_zeros_that_stay():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = (X[:, :3] @ [2, -2, 1] > 0).astype(int)
    ours = SGDClassifier("log_loss", penalty="l1", alpha=0.03, learning_rate="invscaling", eta0=0.5)
    ours.fit(X, y)
    assert np.flatnonzero(ours.coef_[0]).tolist()[:3] == [0, 1, 2]
    assert (ours.coef_ == 0).sum() >= 20


def test_sigmoid_mse_says_that_it_is_not_convex():
    X, y = problem()
    assert SGDClassifier("sigmoid_mse").fit(X, y).evidence_["convex"] is False
    assert SGDClassifier("log_loss").fit(X, y).evidence_["convex"] is True


def test_mean_and_l1_are_refused_together_with_adaptive_steps():
    X, y = problem()
    text = r"'average'.*must be False with an l1 penalty.*Use .*'optimal' or 'invscaling'"
    for learner in (SGDClassifier, SGDRegressor):
        with pytest.raises(ParameterError, match=text):
            learner(penalty="l1", average=True).fit(X, y)
        for schedule in ("optimal", "invscaling"):  # the remedy works
            learner(penalty="l1", average=True, learning_rate=schedule).fit(X, y)


def test_mean_with_l1_is_that_of_the_weights():
    X, y = problem()
    options = {"penalty": "l1", "alpha": 1e-3, "learning_rate": "constant", "eta0": 0.01}
    one_by_one, weights = SGDClassifier(**options), []
    for row, label in zip(X, y, strict=True):
        one_by_one.partial_fit(row[None], [label], classes=np.unique(y))
        weights.append(one_by_one.coef_)
    averaged = SGDClassifier(**options, average=True, shuffle=False, max_iter=1, tol=None)
    averaged.fit(X, y)
    # What the penalty has not yet taken is outstanding in each of the weights.
    np.testing.assert_allclose(averaged.coef_, np.mean(weights, axis=0), atol=1e-4)
    assert not np.allclose(averaged.coef_, one_by_one.coef_, atol=1e-3)


def test_optimal_needs_alpha():
    X, y = problem()
    with pytest.raises(ParameterError, match=r"'alpha'.*must be > 0 with learning_rate='optimal'"):
        SGDClassifier(learning_rate="optimal", alpha=0.0).fit(X, y)


def test_optimal_has_its_own_steps():
    X, y = problem()
    with pytest.raises(ParameterError, match=r"'eta0'.*must be None with learning_rate='optimal'"):
        SGDClassifier(learning_rate="optimal", eta0=0.1).fit(X, y)


def test_heavy_weights_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match=r"sum to 4e\+10.*Divide"):
        SGDClassifier().fit(X, y, sample_weight=np.full(len(y), 1e9))


def test_a_warning_names_steps_that_are_too_long():
    X, y = problem(n=120)
    with pytest.warns(ConvergenceWarning, match=r"worse than the 0\.5.*steps are too long"):
        SGDRegressor(learning_rate="constant", eta0=1.0, max_iter=3).fit(X, 2.0 * y - 1)


def test_absent_rows_do_not_hide_steps_that_are_too_long():
    X, y = problem(n=120)
    y, weight = np.append(2.0 * y[1:] - 1, 1e6), np.append(np.ones(119), 0.0)
    with pytest.warns(ConvergenceWarning, match="steps are too long"):
        SGDRegressor(learning_rate="constant", eta0=1.0, max_iter=3).fit(X, y, sample_weight=weight)


# ---------------------------------------------------------------------- stopping


def test_stops_when_the_loss_no_longer_falls():
    X, y = problem(n=200)
    ours = SGDClassifier("log_loss").fit(X, y)
    assert ours.evidence_["converged"]
    assert ours.n_iter_ == ours.evidence_["epochs"] == len(ours.evidence_["losses"]) < 1000
    with pytest.warns(ConvergenceWarning, match="max_iter=2 epochs"):
        SGDClassifier("log_loss", max_iter=2).fit(X, y)


def test_early_stopping_ends_with_the_best_epoch():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 100))  # more noise than signal: it overfits soon
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    ours = SGDClassifier("log_loss", early_stopping=True, max_iter=60, n_iter_no_change=4).fit(X, y)
    losses, best = ours.evidence_["validation_losses"], ours.evidence_["best_epoch"]
    assert best == 1 + int(np.argmin(losses)) < len(losses)
    again = SGDClassifier("log_loss", early_stopping=True, max_iter=best, tol=None).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, again.coef_)


def test_early_stopping_needs_rows_for_both_parts():
    with pytest.raises(ValueError, match="leaves one part empty"):
        SGDClassifier(early_stopping=True).fit([[0.0], [1.0]], [0, 1])


# ---------------------------------------------------------------------- progressive validation


def test_progressive_validation_is_the_loss_before_learning():
    X, y = problem(n=37)
    ours = SGDClassifier("log_loss", learning_rate="constant", shuffle=False, max_iter=1, tol=None)
    losses = []
    for i in range(37):
        w, b = (np.zeros(7), 0.0) if i == 0 else (ours.coef_[0], ours.intercept_[0])
        losses.append(np.logaddexp(0, -(2 * y[i] - 1) * (X[i] @ w + b)))
        ours.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1] if i == 0 else None)
    progressive = ours.evidence_["progressive"]
    assert progressive["examples"] == [1, 2, 4, 8, 16, 32, 37]
    means = [np.mean(losses[:k]) for k in progressive["examples"]]
    np.testing.assert_allclose(progressive["mean_loss"], means, rtol=1e-12)


def test_progressive_validation_covers_new_rows_only():
    X, y = problem(n=32, classes=3)
    ours = SGDClassifier("log_loss", max_iter=5, tol=None).fit(X, y)
    assert ours.evidence_["progressive"]["examples"] == [1, 2, 4, 8, 16, 32]
    assert ours.evidence_["progressive"]["mean_loss"][0] == pytest.approx(np.log(2))


# ---------------------------------------------------------------------- streams


@st.composite
def streams(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, 30)), draw(st.integers(1, 40))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0])))
    y = rng.permutation(20)[rng.integers(0, draw(st.integers(1, 20)), n)]
    cuts = [0, *sorted(draw(st.sets(st.integers(1, n - 1), max_size=5))), n]
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    X = FORMATS[draw(st.sampled_from(["dense", "csr32"]))](X.astype(dtype))
    weight = draw(st.sampled_from([None, rng.integers(1, 12, n) / 4]))
    settings = {
        "loss": draw(st.sampled_from(list(LOSSES))),
        "learning_rate": draw(st.sampled_from(["adaptive", "constant", "invscaling", "optimal"])),
        "penalty": draw(st.sampled_from([None, "l2", "l1", "elasticnet"])),
        "average": draw(st.booleans()),
        "alpha": draw(st.sampled_from([1e-4, 0.1, 50.0])),
    }
    if settings["penalty"] in ("l1", "elasticnet"):
        settings["average"] = False
    return X, y, cuts, weight, settings


def learn(estimator, X, y, cuts, weight=None, classes=None):
    for start, stop in itertools.pairwise(cuts):
        part = None if weight is None else weight[start:stop]
        estimator.partial_fit(X[start:stop], y[start:stop], classes=classes, sample_weight=part)
        classes = None
    return estimator


def assert_same_bits(a, b):
    np.testing.assert_array_equal(a.classes_, b.classes_)
    assert a.coef_.tobytes() == b.coef_.tobytes()
    assert a.intercept_.tobytes() == b.intercept_.tobytes()
    assert a.evidence_["progressive"] == b.evidence_["progressive"]


@given(streams())
def test_chunks_rows_announced_files_and_fit_agree(tmp_path_factory, stream):
    X, y, cuts, weight, settings = stream
    try:
        whole = learn(SGDClassifier(**settings), X, y, [0, len(y)], weight)
    except ValueError as error:
        if "overflowed" not in str(error):
            raise
        reject()  # steps of "optimal" are too long for a squared error
    assert_same_bits(whole, learn(SGDClassifier(**settings), X, y, range(len(y) + 1), weight))
    path = tmp_path_factory.mktemp("sgd") / "model.safetensors"
    paused = SGDClassifier(**settings)
    for start, stop in itertools.pairwise(cuts):
        learn(paused, X, y, [start, stop], weight)
        paused.model_.save(path, include_state=True)
        paused = SGDClassifier.from_model(separable.load(path))
    assert_same_bits(whole, paused)
    if len(set(y.tolist())) > 1:
        announced = learn(SGDClassifier(**settings), X, y, cuts, weight, classes=np.unique(y))
        assert_same_bits(whole, announced)
        fitted = SGDClassifier(**settings, shuffle=False, max_iter=1, tol=None)
        assert_same_bits(whole, fitted.fit(X, y, sample_weight=weight))


@pytest.mark.parametrize("schedule", ["adaptive", "constant"])
@pytest.mark.parametrize("n_classes", range(7, 18))
def test_a_ghost_in_a_block_of_its_own_changes_no_bit(n_classes, schedule):
    rng = np.random.default_rng(n_classes)
    y = np.arange(40) % n_classes  # 8 classes fill a block of float64, 16 one of float32
    weight = rng.random(40) + 0.5  # so that sums of float32 losses are not exact either
    for dtype in (np.float32, np.float64):
        X = rng.normal(size=(40, 6)).astype(dtype)
        make = lambda: SGDClassifier("perceptron", learning_rate=schedule)  # noqa: E731
        announced = learn(make(), X, y, [0, 40], weight, classes=np.unique(y))
        assert_same_bits(learn(make(), X, y, [0, 40], weight), announced)


@pytest.mark.parametrize("schedule", ["adaptive", "constant"])
@pytest.mark.parametrize("loss", REGRESSION)
def test_regression_streams(tmp_path, loss, schedule):
    X, _ = problem(n=50)
    y = X @ np.arange(7) + 3
    make = lambda: SGDRegressor(loss, learning_rate=schedule, shuffle=False, max_iter=1, tol=None)  # noqa: E731
    whole, parts = make().fit(X, y), make()
    for start in range(0, 50, 7):
        parts.partial_fit(X[start : start + 7], y[start : start + 7])
        parts.model_.save(tmp_path / "m.safetensors", include_state=True)
        parts = SGDRegressor.from_model(separable.load(tmp_path / "m.safetensors"))
    assert whole.coef_.tobytes() == parts.coef_.tobytes()
    assert whole.evidence_["progressive"] == parts.evidence_["progressive"]


def test_a_failed_chunk_leaves_the_stream_as_it_was():
    X, y = problem()
    make = lambda: SGDClassifier("squared_hinge", learning_rate="constant", penalty="l1")  # noqa: E731
    stream, other = (learn(make(), X, y, [0, 40]) for _ in range(2))
    bad = X.copy()
    bad[20:] = 1e300
    with pytest.raises(ValueError, match="overflowed"):
        stream.partial_fit(bad, y)
    assert_same_bits(stream, other)
    assert_same_bits(stream.partial_fit(X, y), other.partial_fit(X, y))


def test_a_stream_whose_loss_overflows_can_be_saved(tmp_path):
    X, y = np.array([[1e4]], dtype=np.float32), [1]  # eta0 x^2 = 1e8: scores explode
    stream = SGDClassifier("squared_error", learning_rate="constant", eta0=1.0)
    for _ in range(4):
        stream.partial_fit(X, y, classes=[0, 1])
    assert np.isfinite(stream.coef_).all()
    assert stream.evidence_["progressive"]["mean_loss"][-1] == np.inf
    stream.model_.save(tmp_path / "m.safetensors", include_state=True)
    again = SGDClassifier.from_model(separable.load(tmp_path / "m.safetensors"))
    small = X / 1e8
    assert_same_bits(stream.partial_fit(small, y), again.partial_fit(small, y))


def test_what_is_kept_cannot_change_in_a_stream():
    X, y = problem()
    stream = learn(SGDClassifier(), X, y, [0, 40])
    with pytest.raises(ValueError, match="cannot change during a stream"):
        stream.set_params(average=True).partial_fit(X, y)


@pytest.mark.parametrize("schedule", ["adaptive", "constant"])
def test_a_penalty_may_change_its_strength_in_a_stream(schedule):
    rng = np.random.default_rng(0)
    X, y = problem(n=100)
    X *= rng.random(X.shape) < 0.3  # so rare that zeros are passed over
    stream = SGDClassifier("log_loss", penalty="l1", alpha=1e-9, learning_rate=schedule)
    stream.partial_fit(X, y)
    assert (stream.coef_ != 0).all()
    stream.set_params(alpha=5.0).partial_fit(np.zeros((500, 7)), rng.integers(0, 2, 500))
    assert (stream.coef_ == 0).all()  # rows that do not have the columns count too


def test_warm_start_does_not_ignore_a_new_penalty():
    X, y = problem(n=100)
    learner = SGDClassifier("log_loss", warm_start=True, max_iter=3, tol=None).fit(X, y)
    with pytest.raises(ValueError, match="average or the kind of penalty"):
        learner.set_params(penalty="l2", alpha=10.0).fit(X, y)


@pytest.mark.parametrize(("classes", "big"), [(2, 1e200), (20, 1e200)])
def test_a_step_that_overflows_leaves_the_stream_as_it_was(classes, big):
    X, y = problem(n=60, d=3, classes=classes)
    stream, other = (
        SGDClassifier("squared_hinge", learning_rate="constant").partial_fit(X, y) for _ in range(2)
    )
    row = [[big, big, 0.0]]
    wrong = [0 if stream.predict(row)[0] else 1]
    with pytest.raises(ValueError, match="overflowed"):
        stream.partial_fit(row, wrong)
    assert_same_bits(stream.partial_fit(X, y), other.partial_fit(X, y))


def test_values_that_grow_out_of_all_proportion():
    rows = np.array([[1e-30, 1], [2e-30, 2], [-1e-30, 1], [1e11, 3], [1e-30, 1]], np.float32)
    for X in (rows, rows.astype(np.float64) ** 9):
        stream = SGDClassifier("log_loss")
        for i in range(5):
            stream.partial_fit(X[i : i + 1], [i % 2])
            assert np.isfinite(stream.coef_).all()


def test_a_start_is_where_it_starts():
    X, y = problem(d=5)
    start, tiny = np.arange(1.0, 6.0), {"max_iter": 1, "tol": None, "eta0": 1e-12}
    for schedule in ("adaptive", "constant"):
        ours = SGDClassifier("log_loss", learning_rate=schedule, **tiny)
        ours.fit(100 * X + 1000, y, coef_init=[start], intercept_init=[0.5])
        np.testing.assert_allclose(ours.coef_[0], start, rtol=1e-6)
        np.testing.assert_allclose(ours.intercept_, [0.5], rtol=1e-6)
        numbers = SGDRegressor(learning_rate=schedule, **tiny)
        numbers.fit(X, X @ start + 3, coef_init=start, intercept_init=[0.0])
        np.testing.assert_allclose(numbers.coef_, start, rtol=1e-6)
        np.testing.assert_allclose(numbers.intercept_, [0.0], atol=1e-6)
        with pytest.raises(ValueError, match="use one of them"):
            ours.set_params(warm_start=True).fit(X, y, coef_init=[start])


def test_parameters_set_after_learning_change_nothing_learned():
    X, y = problem()
    stream = SGDClassifier("log_loss").partial_fit(X, y)
    stream.set_params(loss="hinge")
    assert stream.model_.link == "logistic"
    assert stream.model_.parameters["loss"] == "log_loss"
    voted = separable.VotedPerceptron().partial_fit(X, y)
    votes = separable.VotedPerceptron().partial_fit(X, y).decision_function(X)
    np.testing.assert_array_equal(voted.set_params(max_voters=1).decision_function(X), votes)


def test_the_intercept_cannot_come_or_go_in_a_stream():
    X, y = problem()
    stream = SGDClassifier("log_loss").partial_fit(X, y)
    with pytest.raises(ValueError, match=r"fit_intercept.*cannot change during a stream"):
        stream.set_params(fit_intercept=False).partial_fit(X, y)


# ---------------------------------------------------------------------- probabilities, models


def test_probabilities_only_where_the_loss_has_them():
    X, y = problem(classes=3)
    for loss in LOSSES:
        ours = SGDClassifier(loss).fit(X, y)
        assert hasattr(ours, "predict_proba") == (loss in ("log_loss", "sigmoid_mse"))
    probabilities = SGDClassifier("log_loss").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_model_explains_and_survives_a_file(tmp_path):
    X, y = problem(classes=3)
    ours = SGDClassifier("log_loss", penalty="l1", alpha=1e-3).fit(X, y)
    ours.model_.save(tmp_path / "m.safetensors")
    loaded = separable.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(X), ours.predict_proba(X))
    explanation = loaded.explain(X[:1])
    assert explanation.all_scores.shape == (1, 3)


@pytest.mark.parametrize(
    ("n_rows", "is_sparse", "epochs"),
    [(30, False, 40), (500, False, 10), (4000, False, 3), (400, True, 5), (4000, True, 1)],
)
def test_default_patience_depends_on_rows(n_rows: int, is_sparse: bool, epochs: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, 3)), rng.integers(0, 2, n_rows)
    rows = sp.csr_array(X) if is_sparse else X
    default = SGDClassifier("log_loss").fit(rows, y)
    named = SGDClassifier("log_loss", n_iter_no_change=epochs).fit(rows, y)
    assert default.n_iter_ == named.n_iter_ > epochs
    np.testing.assert_array_equal(default.coef_, named.coef_)


@pytest.mark.parametrize(("n_rows", "epochs"), [(30, 40), (500, 4), (4000, 1)])
def test_default_patience_of_regression(n_rows: int, epochs: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, 3)), rng.standard_normal(n_rows)
    default = SGDRegressor().fit(X, y)
    named = SGDRegressor(n_iter_no_change=epochs).fit(X, y)
    assert default.n_iter_ == named.n_iter_ > epochs
    np.testing.assert_array_equal(default.coef_, named.coef_)
