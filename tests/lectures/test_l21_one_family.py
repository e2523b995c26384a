"""L21: one family. Perceptron, naive Bayes, SVM, logistic regression: all return w and b."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from separable import (
    LDA,
    AveragedPerceptron,
    BernoulliNB,
    ComplementNB,
    ElasticNet,
    Lasso,
    LeastSquares,
    LinearGaussianNB,
    LinearModel,
    LinearSVM,
    LinearSVR,
    LogisticRegression,
    MultinomialNB,
    Perceptron,
    Ridge,
    SGDClassifier,
    SGDRegressor,
    load,
)

pytestmark = pytest.mark.native

WORDS = ("free", "money", "meeting")
X = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 1.0, 1.0]])
Y = np.array(["spam", "spam", "ham", "ham"])

BAYES = [MultinomialNB, BernoulliNB, ComplementNB, LinearGaussianNB, partial(LDA, shrinkage=0.5)]
FAMILY = [
    *BAYES, Perceptron, AveragedPerceptron, SGDClassifier, LogisticRegression, LinearSVM,
    partial(LogisticRegression, l1_ratio=1.0), partial(LogisticRegression, l1_ratio=0.5),
]  # fmt: skip
NUMBERS = [LeastSquares, Ridge, Lasso, ElasticNet, LinearSVR, SGDRegressor]


@pytest.mark.parametrize("make", FAMILY)
def test_every_learner_ends_in_weights(make, tmp_path):
    fitted = make().fit(X, Y)
    model = fitted.model_
    assert isinstance(model, LinearModel)
    assert (model.weights.shape, model.intercept.shape) == ((1, 3), (1,))
    assert model.top_weights(1).groups
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(X).tolist() == fitted.predict(X).tolist()


@pytest.mark.parametrize("make", NUMBERS)
def test_so_does_every_learner_of_numbers(make, tmp_path):
    fitted = make().fit(X, X @ [1.0, 2.0, -1.0] + 0.5)
    model = fitted.model_
    assert isinstance(model, LinearModel)
    assert (model.weights.shape, model.intercept.shape) == ((1, 3), (1,))
    np.testing.assert_allclose(fitted.predict(X), X @ model.weights[0] + model.intercept[0])
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), fitted.predict(X))


def test_naive_bayes_by_hand():
    # spam has the words 3, 3, 0 of 6, ham 0, 1, 4 of 5; one is added to each; both classes are
    # as likely. p(free | spam) = 4/9, p(free | ham) = 1/8, and so on.
    model = MultinomialNB().fit(X, Y).model_
    spam, ham = np.array([4, 4, 1]) / 9, np.array([1, 2, 5]) / 8
    np.testing.assert_allclose(model.weights[0], np.log(spam / ham), rtol=1e-14)
    assert model.intercept[0] == 0
    odds = (4 / 9) / (1 / 8) * (4 / 9) / (2 / 8)  # "free money"
    assert model.predict_proba([[1, 1, 0]])[0, 1] == pytest.approx(odds / (1 + odds))


def test_a_prediction_is_explained_word_by_word():
    model = MultinomialNB().fit(X, Y).model_
    explanation = model.explain([[1, 0, 2]], feature_names=WORDS)
    terms = explanation.terms(0)
    contributions = {term.feature: term.contribution for term in terms.shown}
    assert contributions["free"] == pytest.approx(math.log(32 / 9))
    assert contributions["meeting"] == pytest.approx(2 * math.log(8 / 45))
    assert terms.score == pytest.approx(sum(contributions.values()) + terms.intercept)
    assert terms.predicted == "ham"


def test_bernoulli_explains_words_that_are_there():
    model = BernoulliNB().fit(X, Y).model_
    terms = model.explain([[7, 0, 0]], feature_names=WORDS).terms(0)
    assert [(term.feature, term.value) for term in terms.shown] == [("free", 1.0)]
    assert terms.score == pytest.approx(model.decision_function([[1, 0, 0]])[0])


def test_they_differ_in_what_they_ask_of_w_and_b():
    """Each is the best of all by its own measure, and the certified ones prove it."""
    sign = np.where(Y == "spam", 1, -1)

    def hinge(w, b):
        return w @ w / 2 + np.maximum(0, 1 - sign * (X @ w + b)).sum()

    def logistic(w, b):
        return w @ w / 2 + np.logaddexp(0, -sign * (X @ w + b)).sum()

    for make, objective in ((LinearSVM, hinge), (LogisticRegression, logistic)):
        best = make().fit(X, Y)
        least = best.certificate_.dual
        assert objective(best.coef_[0], best.intercept_[0]) == pytest.approx(least, rel=1e-6)
        for other in FAMILY:
            model = other().fit(X, Y).model_
            assert objective(model.weights[0], model.intercept[0]) >= least * (1 - 1e-9)
