"""What every certified learner owes: formats, weights, starts, ends, bad input, laws, files."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from separable import LinearModel, LinearSVM, LinearSVR, LogisticRegression, load
from tests.interrupts import ctrl_c

pytestmark = pytest.mark.native

MAKERS = {
    "logistic": LogisticRegression,
    "hinge": LinearSVM,
    "squared hinge": lambda **given: LinearSVM(loss="squared_hinge", **given),
    "insensitive": lambda **given: LinearSVR(epsilon=0.1, **given),
}
EACH = pytest.mark.parametrize("name", MAKERS)


def data(name, n=80, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * rng.normal(size=n)
    if name == "insensitive":
        return X, score
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def many(name, n=1500, d=2000, classes=2):
    """Sparse rows of length 1, with too many columns for d x d equations."""
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=0.01, rng=rng, format="csr")
    X = sp.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    if name == "insensitive":
        return X, score
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def assert_same(a, b, size=1e-7):
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=size)
    np.testing.assert_allclose(a.intercept_, b.intercept_, rtol=0, atol=size)


# ---------------------------------------------------------------------- input


@EACH
@pytest.mark.parametrize(
    "form",
    [
        sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array,
        lambda X: X.tolist(), np.asfortranarray,
        lambda X: pd.DataFrame(X, columns=list("abcd")),
        lambda X: pl.DataFrame(X, schema=list("abcd")),
    ],
)  # fmt: skip
def test_any_form_gives_the_same(name, form):
    X, y = data(name)
    given = form(X)
    found = MAKERS[name]().fit(given, y)
    assert_same(found, MAKERS[name]().fit(X, y))
    if hasattr(given, "columns"):
        assert list(found.feature_names_in_) == list("abcd")
        assert found.model_.feature_names == tuple("abcd")
        np.testing.assert_array_equal(found.predict(given), found.predict(given))


@EACH
def test_float32_and_whole_numbers(name):
    X, y = data(name)
    whole = np.round(5 * X)
    one = MAKERS[name]().fit(whole, y)
    for dtype in ("float32", "int64", "int8"):
        assert_same(MAKERS[name]().fit(whole.astype(dtype), y), one)
    assert one.certificate_.relative_gap < 1e-12


@EACH
def test_entries_that_stand_twice_are_summed(name):
    X, y = data(name)
    n, d = X.shape
    columns = np.tile(np.repeat(np.arange(d), 2), n)
    twice = sp.csr_matrix((np.repeat(X.ravel() / 2, 2), columns, np.arange(n + 1) * 2 * d), X.shape)
    assert_same(MAKERS[name]().fit(twice, y), MAKERS[name]().fit(X, y))
    assert twice.nnz == 2 * n * d  # the caller's matrix is as it was


@EACH
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("standardize", [False, True])
def test_weight_k_is_the_row_k_times(name, form, standardize):
    X, y = data(name, 40, classes=3)
    weight = np.random.default_rng(1).integers(0, 4, 40)
    often = np.repeat(np.arange(40), weight)
    one = MAKERS[name](standardize=standardize).fit(form(X), y, weight)
    assert_same(one, MAKERS[name](standardize=standardize).fit(form(X[often]), y[often]))
    assert one.dual_coef_.shape[1] == 40
    assert (one.dual_coef_[:, weight == 0] == 0).all()


@pytest.mark.parametrize("name", ["logistic", "hinge", "squared hinge"])
def test_class_weights_are_multiplied_into_weights(name):
    X, y = data(name, classes=3)
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    given = MAKERS[name](class_weight={0: 2.0, 2: 0.5}).fit(X, y, weight)
    assert_same(given, MAKERS[name]().fit(X, y, weight * np.array([2.0, 1.0, 0.5])[y]))
    total = np.bincount(y, weight)
    balanced = MAKERS[name](class_weight="balanced").fit(X, y, weight)
    assert_same(balanced, MAKERS[name]().fit(X, y, weight * (total.sum() / (3 * total))[y]))


@EACH
def test_bad_input_is_refused(name):
    X, y = data(name)
    make = MAKERS[name]
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad[3, 2] = value
        for form in (np.asarray, sp.csr_array):
            with pytest.raises(ValueError, match=r"row 3, column 2"):
                make().fit(form(bad), y)
    with pytest.raises(ValueError, match=r"X has 80 rows, y has 79"):
        make().fit(X, y[1:])
    with pytest.raises(ValueError, match=r"sample_weight has 79 entries, X has 80 rows"):
        make().fit(X, y, np.ones(79))
    with pytest.raises(ValueError, match=r"Every sample weight is zero"):
        make().fit(X, y, np.zeros(80))
    with pytest.raises(ValueError, match=r"sample_weight must be finite and >= 0; row 5 has -1"):
        make().fit(X, y, np.where(np.arange(80) == 5, -1, 1))
    fitted = make().fit(X, y)
    with pytest.raises(ValueError, match=r"X has 3 features, but Linear|Logistic"):
        fitted.predict(X[:, :3])


@pytest.mark.parametrize("name", ["logistic", "hinge", "squared hinge"])
def test_one_class_is_refused(name):
    X, y = data(name)
    with pytest.raises(ValueError, match=r"needs at least two classes .* only one class: 1"):
        MAKERS[name]().fit(X, np.ones(80, int))
    with pytest.raises(ValueError, match=r"only one class"):
        MAKERS[name]().fit(X, y, (y == 1).astype(float))


@EACH
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C": 0}, "'C' parameter of .* must be a f.* Got 0 instead"),
        ({"tol": -1.0}, "'tol' parameter of .* must be None or a finite float >= 0"),
        ({"max_iter": 0}, "'max_iter' parameter of .* must be an int >= 1"),
        ({"standardize": "yes"}, "'standardize' parameter of .* must be a bool"),
        ({"warm_start": 1}, "'warm_start' parameter of .* must be a bool"),
        ({"n_jobs": 0}, "'n_jobs' parameter of .* must be None or an int that is not 0"),
        ({"callback": 3}, "'callback' parameter of .* must be None or a callable"),
    ],
)
def test_bad_parameters_are_refused(name, given, message):
    X, y = data(name)
    with pytest.raises(ValueError, match=message):
        MAKERS[name](**given).fit(X, y)


# ---------------------------------------------------------------------- numbers of any size


@EACH
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_zero_and_constant_columns(name, form):
    X, y = data(name)
    for standardize in (False, True):
        nothing = MAKERS[name](standardize=standardize).fit(form(0 * X), y)
        assert (nothing.coef_ == 0).all()
        assert nothing.certificate_.converged
        constant = X.copy()
        constant[:, 1] = 7.5
        found = MAKERS[name](standardize=standardize).fit(form(constant), y)
        other = MAKERS[name](standardize=standardize).fit(form(np.delete(X, 1, axis=1)), y)
        np.testing.assert_allclose(np.delete(found.coef_, 1, axis=-1), other.coef_, atol=1e-7)
        np.testing.assert_allclose(found.coef_.ravel()[1], 0, atol=1e-7)


@EACH
@pytest.mark.parametrize("size", [1e-100, 1e100, 1e150])
def test_numbers_of_any_size(name, size):
    X, y = data(name)
    plain = MAKERS[name](standardize=True).fit(X, y)
    found = MAKERS[name](standardize=True).fit(X * size, y)
    assert found.certificate_.converged
    np.testing.assert_allclose(found.coef_ * size, plain.coef_, rtol=1e-6, atol=1e-9)
    with warnings.catch_warnings():  # the fit ends, and says where
        warnings.simplefilter("ignore", ConvergenceWarning)
        raw = MAKERS[name]().fit(X * size, y)
    assert np.isfinite(raw.coef_).all()
    assert raw.certificate_.converged == (raw.certificate_.relative_gap <= 1e-6)


@EACH
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1e-200, 1e160, 1e300])
def test_standardised_fits_see_columns_of_any_size(name, form, size):
    X, y = data(name)
    found, plain = MAKERS[name](standardize=True), MAKERS[name](standardize=True)
    found.fit(form(X * size), y)
    plain.fit(form(X), y)
    assert found.certificate_.converged
    np.testing.assert_allclose(found.coef_ * size, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("name", ["logistic", "squared hinge"])
@pytest.mark.parametrize("size", [1e20, 1e30, 1e100])
def test_what_no_dual_point_proves_is_learned_all_the_same(name, size):
    X, y = data(name)
    plain = MAKERS[name](C=1e8).fit(X, y)  # at these sizes the penalty is nothing
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        found = MAKERS[name]().fit(X * size, y)
    assert found.certificate_.primal <= plain.certificate_.primal * (1 + 1e-6)
    np.testing.assert_array_equal(found.predict(X * size), plain.predict(X))


def test_passes_that_lead_away_leave_weights_that_are_no_worse_than_0():
    X, y = many("logistic", n=2100, d=2100)
    learner = LogisticRegression(C=1e-6)
    with pytest.warns(ConvergenceWarning, match="relative gap") as told:
        learner.fit(X * 1e15, y)
    assert {one.category for one in told} == {ConvergenceWarning}
    assert learner.certificate_.primal <= 1e-6 * np.log(2) * len(y)


@EACH
def test_columns_far_from_0_lose_nothing(name):
    X, y = data(name)
    plain, far = MAKERS[name]().fit(X, y), MAKERS[name]().fit(X + 1e9, y)
    np.testing.assert_allclose(far.coef_, plain.coef_, atol=1e-5)
    assert far.certificate_.converged
    assert far.score(X + 1e9, y) == pytest.approx(plain.score(X, y), abs=1e-5)


@EACH
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_standardised_fits_do_not_see_the_units_of_columns(name, form):
    X, y = data(name)
    units = np.array([1e6, 1e-6, 1.0, 1e3])
    far = np.array([1e6, -1e6, 0.0, 1e3]) if form is np.asarray else 0.0
    plain = MAKERS[name](standardize=True).fit(form(X), y)
    other = MAKERS[name](standardize=True).fit(form((X + far) * units), y)
    ask = "predict" if name == "insensitive" else "decision_function"
    mine, theirs = getattr(plain, ask)(form(X)), getattr(other, ask)(form((X + far) * units))
    length = np.linalg.norm((X - X.mean(axis=0)) / X.std(axis=0), axis=1)
    room = length * (plain.certificate_.distance + other.certificate_.distance)
    assert (np.abs(mine - theirs) <= room + 1e-6).all()


@EACH
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_what_standardising_means(name, form):
    X, y = data(name)
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    scaled = X * [1.0, 10.0, 0.1, 5.0] + (3 if form is np.asarray else 0)
    found = MAKERS[name](standardize=True).fit(form(scaled), y, weight)
    mean = np.average(scaled, axis=0, weights=weight)
    scale = np.sqrt(np.average((scaled - mean) ** 2, axis=0, weights=weight))
    by_hand = MAKERS[name]().fit((scaled - mean) / scale, y, weight)
    np.testing.assert_allclose(found.coef_ * scale, by_hand.coef_, atol=1e-7)
    np.testing.assert_allclose(found.scale_, scale, rtol=1e-12)
    if form is np.asarray:
        np.testing.assert_allclose(found.mean_, mean, rtol=1e-12)
    else:
        with pytest.raises(AttributeError, match=r"has no mean_: .* of dense columns"):
            _ = found.mean_
    with pytest.raises(AttributeError, match=r"has no scale_: .* standardize=True"):
        _ = by_hand.scale_


# ---------------------------------------------------------------------- starts and ends


@EACH
def test_a_warm_start_goes_on_where_the_last_fit_ended(name):
    X, y = many(name, classes=3)
    learner = MAKERS[name](warm_start=True).fit(X, y)
    first = np.max(learner.n_iter_)
    assert np.max(learner.fit(X, y).n_iter_) < first
    for C in (0.5, 3.0, 0.01):  # dual points stay feasible whichever way C moves
        assert learner.set_params(C=C).fit(X, y).certificate_.converged
        cold = MAKERS[name](C=C).fit(X, y)
        gap = sum(one.distance for one in (*learner.certificates_, *cold.certificates_))
        assert np.linalg.norm(learner.coef_ - cold.coef_) <= gap
    # other rows, classes and columns
    for other in ((X[:700], y[:700]), (X[:, :1500], y), (X, -y)):
        assert learner.fit(*other).certificate_.converged


@EACH
def test_seeds_matter_within_the_certificate(name):
    X, y = many(name)
    one, same, other = (MAKERS[name](random_state=s).fit(X, y) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.coef_, same.coef_)
    distance = one.certificate_.distance + other.certificate_.distance
    assert 0 < np.linalg.norm(one.coef_ - other.coef_) <= distance
    state = np.random.RandomState(3)
    assert MAKERS[name](random_state=state).fit(X, y).model_.parameters["random_state"] is None


@pytest.mark.parametrize("name", ["logistic", "hinge", "squared hinge"])
def test_threads_give_the_same_bits(name):
    X, y = many(name, n=1100, d=1200, classes=20)
    one, two = (MAKERS[name](n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


@EACH
@pytest.mark.parametrize("make", [data, many])
def test_an_early_end_is_told(name, make):
    X, y = make(name)
    told = re.compile(r"stopped after 1 passes with a relative gap of .*; 1.0e-0\d was asked for")
    seen = []

    def stop(number, gap):
        seen.append((number, gap))
        return True

    for given in ({"max_iter": 1}, {"callback": stop}):
        with pytest.warns(ConvergenceWarning, match=told.pattern):
            learner = MAKERS[name](**given).fit(X, y)
        assert not learner.certificate_.converged
        assert learner.evidence_["converged"] is False
        assert learner.certificate_.relative_gap > 1e-6
    assert seen == [(1, seen[0][1])]
    quiet = []
    MAKERS[name](callback=lambda number, gap: quiet.append(number)).fit(X, y)
    assert quiet == list(range(1, len(quiet) + 1))


@EACH
def test_what_fails_half_way_leaves_the_learner_as_it_was(name):
    X, y = data(name)

    def interrupt(number, gap):
        raise KeyboardInterrupt

    learner = MAKERS[name](standardize=True).fit(X, y)
    before = {key: value for key, value in vars(learner).items() if key != "_checked"}
    learner.callback = interrupt
    with pytest.raises(KeyboardInterrupt):
        learner.fit(pd.DataFrame(X[:, :3], columns=list("abc")), y)
    after = {key: value for key, value in vars(learner).items() if key != "_checked"}
    assert {**after, "callback": None} == before
    assert learner.predict(X).shape == (80,)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", [LogisticRegression, LinearSVM, LinearSVR])
def test_ctrl_c_ends_a_fit(learner):
    X, y = many("hinge", n=6000, d=6000)
    fits = []

    def fit_again_and_again():  # a fit that reaches the limit of float64 ends by itself
        while True:
            fits.append(learner(1e4, tol=0.0, max_iter=10**9))
            fits[-1].fit(X, y)

    with pytest.raises(KeyboardInterrupt), ctrl_c():
        fit_again_and_again()
    assert not hasattr(fits[-1], "coef_")


# ---------------------------------------------------------------------- the model


@EACH
def test_the_model_is_saved_with_its_certificate(name, tmp_path):
    X, y = data(name, classes=3)
    learner = MAKERS[name]().fit(X, y)
    learner.model_.save(tmp_path / "model")
    model = load(tmp_path / "model")
    assert isinstance(model, LinearModel)
    np.testing.assert_array_equal(model.predict(X), learner.predict(X))
    for key in ("primal", "dual", "gap", "relative_gap"):
        told = [getattr(one, key) for one in learner.certificates_]
        assert np.ravel(model.evidence[key]).tolist() == told
    assert (model.evidence["tol"], model.evidence["converged"]) == (1e-6, True)
    assert model.evidence["passes"] == np.ravel(learner._passes).tolist()
    assert (model.family, model.learner) == ("certified", type(learner).__name__)
    assert model.parameters["C"] == 1.0
    with pytest.raises(ValueError, match="no average of optima is the optimum of the union"):
        model.merge(model)


@EACH
def test_contributions_sum_to_the_score(name):
    X, y = data(name)
    explanation = MAKERS[name]().fit(X, y).model_.explain(X)
    contributions = explanation.contributions().to_matrix()
    totals = np.asarray(contributions.sum(axis=1)) + explanation.intercept
    np.testing.assert_allclose(totals, explanation.scores, rtol=1e-12, atol=1e-12)


@EACH
def test_copies(name):
    X, y = data(name)
    learner = MAKERS[name](C=3.0).fit(X, y)
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(again.predict(X), learner.predict(X))
    assert again.certificate_ == learner.certificate_
    assert clone(learner).get_params() == learner.get_params()
    assert not hasattr(clone(learner), "coef_")


@EACH
def test_the_certificate_of_several_models_is_their_sum(name):
    X, y = data(name, classes=3)
    learner = MAKERS[name]().fit(X, y)
    whole, parts = learner.certificate_, learner.certificates_
    assert len(parts) == (1 if name in ("insensitive", "logistic") else 3)
    assert whole.primal == pytest.approx(sum(one.primal for one in parts))
    assert whole.gap == pytest.approx(sum(one.gap for one in parts))


@EACH
def test_predictions_are_within_the_bound(name):
    X, y = data(name)
    with pytest.warns(ConvergenceWarning):
        rough = MAKERS[name](max_iter=3, fit_intercept=False).fit(X, y)
    fine = MAKERS[name](fit_intercept=False).fit(X, y)
    ask = "predict" if name == "insensitive" else "decision_function"
    away = np.abs(getattr(rough, ask)(X) - getattr(fine, ask)(X))
    distance = rough.certificate_.distance + fine.certificate_.distance
    assert (away <= np.linalg.norm(X, axis=1) * distance).all()
