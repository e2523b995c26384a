"""Every moment learner takes rows out again: what is left is a fit on the rows that stay."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import separable
from separable import (
    LDA,
    BernoulliNB,
    ComplementNB,
    LeastSquares,
    LinearGaussianNB,
    MultinomialNB,
    Ridge,
    RidgeCV,
)
from separable.moments.base import MomentEstimator
from separable.moments.base_classifier import MomentClassifier
from separable.moments.naive_bayes.base_counts import NaiveBayes
from separable.statistics.class_counts import ClassCounts

pytestmark = pytest.mark.native

N, D = 90, 4
OPTIONS = {"RidgeCV": {"alphas": [0.5, 0.50001]}}


def learners():
    """Return the public learners of the family, found among the subclasses."""
    open_, found = [MomentEstimator], []
    for name in separable.__all__:
        getattr(separable, name)  # imports are lazy
    while open_:
        made = open_.pop()
        open_ += made.__subclasses__()
        if made.__name__ in separable.__all__:
            found.append(made)
    return sorted(set(found), key=lambda made: made.__name__)


LEARNERS = learners()
NAMES = [made.__name__ for made in LEARNERS]


def test_all_learners_are_found():
    assert {"Ridge", "LeastSquares", "LDA", "MultinomialNB", "BayesianRegression"} <= set(NAMES)
    assert len(NAMES) >= 10


def rows_for(learner, seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) + rng.normal(size=D)
    if issubclass(learner, NaiveBayes):
        X = np.abs(X)
    if issubclass(learner, MomentClassifier):
        y = np.array(["a", "b", "c"])[np.arange(n) % 3]
        X += (np.arange(n) % 3)[:, None] * [0.5, 1.0, 0.0, 0.2]
    else:
        y = X @ rng.normal(size=D) + 0.3 * rng.normal(size=n) + 7
    return X, y


def made(learner):
    return learner(**OPTIONS.get(learner.__name__, {}))


def fitted(learner, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at the edge of a grid of two
        return made(learner).fit(X, y, weight)


def assert_equal_models(found, expected):
    scale = np.abs(expected.coef_).max()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-8 * scale)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-8, atol=1e-8)
    if hasattr(expected, "classes_"):
        np.testing.assert_array_equal(found.classes_, expected.classes_)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_a_fit_on_the_rows_that_stay(learner, form, weighted):
    X, y = rows_for(learner)
    weight = np.random.default_rng(1).random(N) + 0.1 if weighted else None
    stay, first, second = np.split(np.random.default_rng(2).permutation(N), [50, 75])

    def fit(rows):
        return fitted(learner, form(X[rows]), y[rows], None if weight is None else weight[rows])

    whole, parts = fit(np.arange(N)), [fit(first), fit(second)]
    if learner is RidgeCV and len({part.alpha_ for part in [whole, *parts, fit(stay)]}) > 1:
        with pytest.raises(ValueError, match="chose alpha"):
            whole.subtract(*parts)
        return
    before = whole.coef_.copy()
    assert_equal_models(whole.subtract(*parts), fit(stay))
    assert_equal_models(whole.subtract(parts[0]).subtract(parts[1]), fit(stay))
    assert_equal_models(fit(stay).merge(*parts).subtract(*parts), fit(stay))
    assert_equal_models(whole.subtract(), whole)
    np.testing.assert_array_equal(whole.coef_, before)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_a_model_from_a_file_and_rows_added_later(learner, tmp_path):
    X, y = rows_for(learner)
    whole, part = fitted(learner, X, y), fitted(learner, X[:20], y[:20])
    if learner is RidgeCV:
        whole, part = whole.to_ridge(), Ridge(whole.alpha_).fit(X[:20], y[:20])
    left = whole.subtract(part)
    path = tmp_path / "left.sep"
    left.model_.save(path, include_state=True)
    again = type(left).from_model(separable.load(path))
    assert_equal_models(again, left)
    again.partial_fit(X[:20], y[:20])
    assert_equal_models(again, whole)
    assert_equal_models(again.subtract(part), left)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_what_does_not_fit_is_refused(learner):
    X, y = rows_for(learner)
    whole, more = fitted(learner, X[:60], y[:60]), fitted(learner, X, y)
    with pytest.raises(ValueError, match=r"chose alpha|Estimator 2: .*not among those that were"):
        whole.subtract(more)
    with pytest.raises(ValueError, match="no row is left to learn from"):
        whole.subtract(whole)
    other = LDA if learner is not LDA else Ridge
    with pytest.raises(TypeError, match="Only the same learners have the same sums"):
        whole.subtract(fitted(other, *rows_for(other)))
    narrow = fitted(learner, X[:60, :3], y[:60])
    with pytest.raises(ValueError, match=r"chose alpha|differ in n_features: 4 and 3"):
        whole.subtract(narrow)
    if issubclass(learner, MomentClassifier):
        strange = fitted(learner, X[:20], np.where(y[:20] == "a", "z", y[:20]))
        with pytest.raises(ValueError, match=r"Estimator 2: .*not among those"):
            whole.subtract(strange)
        two = y != "c"
        assert whole.subtract(fitted(learner, X[:15], y[:15])).classes_.tolist() == ["a", "b", "c"]
        with_c = made(learner).partial_fit(X[~two], y[~two])
        assert_equal_models(fitted(learner, X, y).subtract(with_c), fitted(learner, X[two], y[two]))
        with pytest.raises(ValueError, match="two classes"):
            fitted(learner, X, y).subtract(made(learner).partial_fit(X[two], y[two]))


@pytest.mark.parametrize("learner", [LeastSquares, Ridge, LDA, LinearGaussianNB])
def test_a_column_that_lost_its_digits_is_named(learner):
    X, y = rows_for(learner)
    X[0, 2] = 1e9
    names = ["height", "width", "income", "age"]
    frames = pytest.importorskip("pandas")
    whole = fitted(learner, frames.DataFrame(X, columns=names), y)
    part = fitted(learner, frames.DataFrame(X[:30], columns=names), y[:30])
    message = (
        r"Estimator 2: .* 'income', of which \d\.\de-\d+ remains, has .* Sum the remaining rows"
    )
    with pytest.raises(ValueError, match=message):
        whole.subtract(part)


def test_weights_that_columns_close_to_dependent_do_not_hold_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 2] = X[:, 0] + 1e-4 * X[:, 2]
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    whole, part = LeastSquares().fit(X, y), LeastSquares().fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"determine the weights to about \d correct digits? only"):
        whole.subtract(part)
    shrunk = Ridge(1.0).fit(X, y).subtract(Ridge(1.0).fit(X[:100], y[:100]))
    assert_equal_models(shrunk, Ridge(1.0).fit(X[100:], y[100:]))


@pytest.mark.filterwarnings("ignore::separable.statistics.dominant_columns.DominantValueWarning")
@pytest.mark.parametrize("learner", [MultinomialNB, ComplementNB, BernoulliNB])
def test_naive_bayes_of_counts_and_of_words_that_vanish(learner):
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.3, size=(80, 30)).astype(float)
    y = np.arange(80) % 3
    for X in (counts, counts * rng.random((80, 30))):
        whole, part = learner().fit(X, y), learner().fit(X[10:], y[10:])
        left, expected = whole.subtract(part), learner().fit(X[:10], y[:10])
        np.testing.assert_allclose(
            left.feature_log_prob_, expected.feature_log_prob_, rtol=1e-10, atol=1e-12
        )
        if X is counts:
            np.testing.assert_array_equal(left.feature_count_, expected.feature_count_)
    large = counts.copy()
    large[40, 7] = 1e20
    if learner is not BernoulliNB:
        whole, part = learner().fit(large, y), learner().fit(large[20:], y[20:])
        with pytest.raises(ValueError, match=r"the sum of column 7 in class 1 has no correct"):
            whole.subtract(part)


@pytest.mark.filterwarnings("ignore::separable.statistics.dominant_columns.DominantValueWarning")
def test_a_large_number_does_not_hide_a_fraction():
    """2^52 + 0.3 is a whole number in float64; the values are not."""
    X = np.array([[2.0**52, 1.0], [0.3, 1.0], [1.0, 2.0]])
    whole = MultinomialNB().fit(X, [0, 0, 1])
    with pytest.raises(ValueError, match="the sum of column 0 in class 0"):
        whole.subtract(MultinomialNB().partial_fit(X[:1], [0]))
    X[1, 0] = 3.0
    left = MultinomialNB().fit(X, [0, 0, 1]).subtract(MultinomialNB().partial_fit(X[:1], [0]))
    np.testing.assert_array_equal(left.feature_count_, X[1:])


def test_counts_remember_whether_values_were_whole():
    from separable.fitting.targets import RowWeights
    from separable.statistics.weighted_rows import Data, checked_rows

    for value, whole in ((3.0, True), (0.5, False), (2.0**60, False)):
        X = np.array([[value, 2.0], [value, 1.0]])
        data = Data(checked_rows(X), np.array([0, 1]), RowWeights(), X)
        counts = ClassCounts().add_data(data)
        assert counts.is_whole is whole
        assert ClassCounts.from_state(counts.to_state()).is_whole is whole
        assert (counts + counts).is_whole is whole


def test_shrinkage_that_needs_rows_is_refused():
    X, y = rows_for(LDA)
    whole = LDA(shrinkage="auto").fit(X, y)
    with pytest.raises(ValueError, match="needs the rows a second time"):
        whole.subtract(LDA(shrinkage="auto").fit(X[:30], y[:30]))
    wide = Ridge().fit(X[:3], np.arange(3.0))
    with pytest.raises(ValueError, match="no sums to add to, merge or subtract"):
        wide.subtract(wide)
