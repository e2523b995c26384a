"""SGD with adaptive steps: every step against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable import SGDClassifier, SGDRegressor
from separable.online.base_sgd import LOSSES
from tests.online.problems import FORMATS
from tests.reference.adaptive_sgd import adaptive_sgd

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # one set of options, all modes
    pytest.mark.filterwarnings("ignore:.* may have learned little"),  # random scales
]

REGRESSION = [name for name, traits in LOSSES.items() if not traits.classes_only]
#: Their implicit step ends on the kink. Whether a row that stands there, presented again at once,
#: is beyond it or not is for rounding to say, so their weights are at most 1.
KINKED = ("hinge", "perceptron", "epsilon_insensitive")
PENALTIES = {None: (0, 0), "l2": (0, 1), "l1": (1, 0), "elasticnet": (0.15, 0.85)}
ONCE = {"shuffle": False, "tol": None, "max_iter": 3}
N = 70


def columns_of_all_kinds(seed=0):
    """Return columns that are centred, are not, start, stop, jump, stand still or come late."""
    rng = np.random.default_rng(seed)
    late, rare = rng.normal(size=(2, N))
    late[:40] = 0  # joins the centred columns in a later epoch, when half of the rows have it
    rare[rng.random(N) < 0.9] = 0
    stops = rng.normal(size=N) + 2
    stops[6:] = 0  # is centred at first, and at row 32 no more
    jumps, sparse_jumps = rng.normal(size=(2, N))
    jumps[30:] *= 1e6
    sparse_jumps[30:] *= 1e-5
    sparse_jumps[35:] *= 1e9
    sparse_jumps[rng.random(N) < 0.7] = 0
    half = rng.normal(size=N) * (rng.random(N) < 0.45)
    return np.column_stack([
        rng.normal(size=N), rng.normal(size=N) + 30, np.full(N, 3.0), np.zeros(N), late, rare,
        stops, jumps, sparse_jumps, half, rng.random(N) < 0.3,
    ])  # fmt: skip


def labels(X, seed=1):
    rng = np.random.default_rng(seed)
    return (X[:, 0] + 0.3 * (X[:, 1] - 30) + rng.normal(size=len(X)) > 0).astype(int)


def quarters(loss, seed=2):
    """Return weights that sums hold exactly."""
    weight = np.random.default_rng(seed).integers(0, 5 if loss in KINKED else 12, N) / 4
    weight[0] = 1
    return weight


def assert_same(X, actual, expected, tolerance=1e-9):
    """Compare w and b, each weight by how much it can move a score."""
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    scale = np.abs(expected[0] * size).max() + abs(expected[1]) + 1
    np.testing.assert_allclose(actual[0] * size, expected[0] * size, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(actual[1], expected[1], rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_reference(loss, intercept, weighted, penalty):
    X = columns_of_all_kinds()
    y, weight = labels(X), quarters(loss) if weighted else None
    l1, l2 = PENALTIES[penalty]
    *expected, _, _, model = adaptive_sgd(
        X, 2.0 * y - 1, loss, l1=0.003 * l1, l2=0.003 * l2, weight=weight, epochs=3,
        intercept=intercept,
    )  # fmt: skip
    ours = SGDClassifier(loss, penalty=penalty, alpha=0.003, fit_intercept=intercept, **ONCE)
    ours.fit(X, y, sample_weight=weight)
    assert_same(X, (ours.coef_[0], ours.intercept_[0]), expected)
    assert np.any(ours.coef_ != 0)
    if intercept:  # what makes this test worth having
        assert model.joined > 5
        assert model.released > 0


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", REGRESSION)
def test_regression_equals_the_reference(loss, intercept, weighted, penalty):
    X = columns_of_all_kinds()
    y = 40 * X[:, 0] - 7 * X[:, 1] + 1000 + np.random.default_rng(3).normal(size=N)
    weight = quarters(loss) if weighted else None
    l1, l2 = PENALTIES[penalty]
    *expected, _, _, _ = adaptive_sgd(
        X, y, loss, l1=0.003 * l1, l2=0.003 * l2, weight=weight, epochs=3, intercept=intercept,
        epsilon=2.0, number=True,
    )  # fmt: skip
    ours = SGDRegressor(
        loss, penalty=penalty, alpha=0.003, fit_intercept=intercept, epsilon=2.0, average=False,
        **ONCE,
    ).fit(X, y, sample_weight=weight)  # fmt: skip
    assert_same(X, (ours.coef_, ours.intercept_), expected)


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_regression_ends_with_the_mean_of_all_epochs_but_the_first(intercept, early_stopping):
    X = columns_of_all_kinds()
    y = 40 * X[:, 0] - 7 * X[:, 1] + 1000 + np.random.default_rng(3).normal(size=N)
    same = {
        "fit_intercept": intercept,
        "max_iter": 4,
        "tol": None,
        "early_stopping": early_stopping,
    }
    ours = SGDRegressor(**same).fit(X, y)
    first = N - round(0.1 * N) if early_stopping else N
    other = SGDRegressor(average=first + 1, **same).fit(X, y)
    if early_stopping and ours.evidence_["best_epoch"] == 1:
        other = SGDRegressor(average=False, **same | {"max_iter": 1}).fit(X, y)
    assert_same(X, (ours.coef_, ours.intercept_), (other.coef_, other.intercept_))
    saved = SGDRegressor.from_model(ours.model_)
    assert np.array_equal(saved.partial_fit(X, y).coef_, ours.partial_fit(X, y).coef_)


@pytest.mark.parametrize("average", [True, 100])
@pytest.mark.parametrize("penalty", [None, "l2"])
@pytest.mark.parametrize("intercept", [True, False])
def test_mean_equals_the_reference(intercept, penalty, average):
    X = columns_of_all_kinds()
    y, weight = labels(X), quarters("log_loss")
    *_, w, b, _ = adaptive_sgd(
        X, 2.0 * y - 1, "log_loss", l2=0.02 * (penalty == "l2"), weight=weight, epochs=3,
        intercept=intercept, mean_from=int(average) - 1,
    )  # fmt: skip
    ours = SGDClassifier(
        "log_loss", penalty=penalty, alpha=0.02, average=average, fit_intercept=intercept, **ONCE
    ).fit(X, y, sample_weight=weight)
    assert_same(X, (ours.coef_[0], ours.intercept_[0]), (w, b))


def test_mean_of_a_regression_equals_the_reference():
    X = columns_of_all_kinds()
    y = 40 * X[:, 0] - 7 * X[:, 1] + 1000
    *_, w, b, _ = adaptive_sgd(X, y, "squared_error", epochs=3, number=True)
    ours = SGDRegressor(average=True, **ONCE).fit(X, y)
    assert_same(X, (ours.coef_, ours.intercept_), (w, b))


@pytest.mark.parametrize("eta0", [1e-3, 1.0, 1e3])
def test_steps_of_other_sizes_equal_the_reference(eta0):
    X = columns_of_all_kinds()
    y = labels(X)
    *expected, _, _, _ = adaptive_sgd(X, 2.0 * y - 1, "squared_hinge", eta=eta0, epochs=3)
    ours = SGDClassifier("squared_hinge", eta0=eta0, **ONCE).fit(X, y)
    assert_same(X, (ours.coef_[0], ours.intercept_[0]), expected)


def test_l1_makes_zeros_in_dense_columns_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)) + 1
    y = (X[:, :3] @ [2, -2, 1] > 1).astype(int)
    for loss in ("log_loss", "hinge"):
        ours = SGDClassifier(loss, penalty="l1", alpha=0.03).fit(X, y)
        assert np.flatnonzero(ours.coef_[0]).tolist()[:3] == [0, 1, 2]
        assert (ours.coef_ == 0).sum() >= 20


@st.composite
def random_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 20))
    X = rng.normal(size=(n, d)) + rng.choice([0, 0, 3, 1e3], d)
    X *= 10.0 ** rng.integers(-9, 9, d)
    X *= rng.random((n, d)) < rng.choice([0.02, 0.2, 0.5, 0.8, 1.0], d)
    for j in np.flatnonzero(rng.random(d) < 0.3):  # from some row on it is another column
        X[rng.integers(n) :, j] *= rng.choice([0, 1e-6, 1e3, 1e15])
    y = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    settings = {"l2": draw(st.sampled_from([0.0, 1e-4])), "intercept": draw(st.booleans())}
    return X, y, draw(st.sampled_from(["log_loss", "squared_hinge", "sigmoid_mse"])), settings


@given(random_problems(), st.sampled_from(["dense", "csr32", "csr64"]))
def test_random_columns_equal_the_reference(problem, form):
    X, y, loss, settings = problem
    *expected, _, _, _ = adaptive_sgd(X, 2.0 * y - 1, loss, epochs=2, **settings)
    ours = SGDClassifier(
        loss, penalty="l2" if settings["l2"] else None, alpha=settings["l2"],
        fit_intercept=settings["intercept"], shuffle=False, tol=None, max_iter=2,
    ).fit(FORMATS[form](X), y)  # fmt: skip
    assert_same(X, (ours.coef_[0], ours.intercept_[0]), expected, 1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_error"])
def test_a_shuffled_fit_equals_the_reference_in_one_of_all_orders(loss, intercept):
    # the third column has too few values to be centred; columns are measured in epoch 1 only
    X = np.array([[2.0, 1.0, 0.0], [-1.0, 1.5, 3.0], [0.5, -2.0, 0.0]])
    y = np.array([1.0, -1.0, 1.0])
    ours = SGDClassifier(loss, max_iter=3, tol=None, fit_intercept=intercept).fit(X, y)
    orders = list(itertools.permutations(range(3)))
    distances = [
        np.abs(np.append(ours.coef_[0] - w, ours.intercept_[0] - b)).max()
        for each in itertools.product(orders, repeat=3)
        for w, b, *_ in [adaptive_sgd(X, y, loss, orders=each, intercept=intercept)]
    ]
    assert min(distances) < 1e-9
    assert np.median(distances) > 1e-4  # the order matters, so the equality says something
