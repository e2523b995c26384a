"""Curves of cross-validation and the choices marked on them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separable import (
    ElasticNetCV,
    LassoCV,
    LinearSVMCV,
    LogisticRegression,
    LogisticRegressionCV,
    PolynomialEncoder,
    Ridge,
    RidgeCV,
)
from separable.plot import CrossValidationDisplay
from separable.select import search, validation_curve

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def drawn_mean(display):
    return display.ax_.lines[0].get_ydata()


def test_the_choices_of_a_learner_are_those_it_makes():
    options = {"Cs": [0.001, 0.01, 0.1, 1, 10], "standardize": True}
    best = LogisticRegressionCV(**options).fit(*CANCER)
    careful = LogisticRegressionCV(select="1se", **options).fit(*CANCER)
    display = CrossValidationDisplay.from_estimator(best)
    (line,) = display.lines
    assert line.values[display.best] == best.C_
    assert line.values[display.one_se] == careful.C_
    assert display.metric == "log loss"
    assert np.allclose(drawn_mean(display), -best.cv_results_["mean_score"])
    assert "lower is better" in display.ax_.get_ylabel()


@pytest.mark.parametrize(
    ("learner", "metric"),
    [(LassoCV(), "mean squared error"), (RidgeCV(cv=5), "mean squared error")],
)
def test_learners_of_numbers(learner, metric):
    display = CrossValidationDisplay.from_estimator(learner.fit(*DIABETES))
    assert display.metric == metric
    assert display.lines[0].values[display.best] == learner.alpha_
    assert (drawn_mean(display) > 0).all()


def test_a_score_that_more_is_better_of():
    X, y = CANCER
    found = LinearSVMCV(Cs=[0.01, 0.1, 1], standardize=True, scoring="accuracy").fit(X, y)
    display = CrossValidationDisplay.from_estimator(found)
    assert display.metric == "accuracy"
    assert "higher is better" in display.ax_.get_ylabel()


def test_a_line_for_each_mixture():
    found = ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=10).fit(*DIABETES)
    display = CrossValidationDisplay.from_estimator(found)
    assert [line.label for line in display.lines] == ["l1_ratio = 0.5", "l1_ratio = 1"]
    assert display.lines[display.best_line].values[display.best] == found.alpha_


@pytest.mark.parametrize("own", [True, False])
def test_searches_of_ours_and_of_scikit_learn(own):
    X, y = CANCER
    grid = {"C": [0.01, 0.1, 1.0]}
    learner = LogisticRegression(standardize=True)
    if own:
        found = search(learner, grid, X, y, cv=3)
    else:
        found = GridSearchCV(learner, grid, cv=3).fit(X, y)
    display = CrossValidationDisplay.from_search(found)
    means = found.cv_results_["mean_test_score"]
    scores = np.array([found.cv_results_[f"split{k}_test_score"] for k in range(3)])
    (line,) = display.lines
    assert np.allclose(line.mean, means)
    assert np.allclose(line.standard_error, scores.std(axis=0, ddof=1) / np.sqrt(3))
    assert display.metric == "accuracy"
    assert display.learner == "LogisticRegression"
    assert line.values[display.best] == found.best_params_["C"]


def test_two_parameters():
    X, y = DIABETES
    grid = {"polynomialencoder__degree": [1, 2], "ridge__alpha": [1.0, 10.0, 100.0]}
    pipeline = make_pipeline(PolynomialEncoder(), StandardScaler(), Ridge())
    found = GridSearchCV(pipeline, grid, cv=3, scoring="neg_mean_squared_error").fit(X[:, :3], y)
    display = CrossValidationDisplay.from_search(found)
    assert display.name == "ridge__alpha"
    assert {line.label for line in display.lines} == {"degree = 1", "degree = 2"}
    best = display.lines[display.best_line]
    assert best.mean[display.best] == pytest.approx(found.best_score_)
    other = CrossValidationDisplay.from_search(found, name="polynomialencoder__degree")
    assert len(other.lines) == 3
    with pytest.raises(ValueError, match="has no numeric values of 'C'"):
        CrossValidationDisplay.from_search(found, name="C")


def test_a_search_without_numbers_is_refused():
    found = GridSearchCV(LogisticRegression(), {"standardize": [True, False]}, cv=2).fit(*CANCER)
    with pytest.raises(ValueError, match="varies no numeric parameter"):
        CrossValidationDisplay.from_search(found)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_a_validation_curve_with_the_rows_learned_from(scoring):
    found = validation_curve(
        LogisticRegression(standardize=True),
        *CANCER,
        name="C",
        values=[10.0, 0.1, 1.0, 0.01],
        cv=3,
        scoring=scoring,
        train_scores=True,
    )
    display = CrossValidationDisplay.from_curve(found)
    (line,) = display.lines
    assert line.values.tolist() == [0.01, 0.1, 1.0, 10.0]
    assert line.values[display.best] == found.best
    assert line.values[display.one_se] == found.one_se
    assert np.allclose(np.abs(drawn_mean(display)), np.abs(found.mean)[[3, 1, 2, 0]])
    assert (drawn_mean(display) > 0).all()
    texts = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert "training rows" in texts


def test_a_validation_curve_of_words_is_refused():
    found = validation_curve(
        LogisticRegression(), *CANCER, name="multi_class", values=["ovr", "multinomial"], cv=2
    )
    with pytest.raises(ValueError, match=r"values of multi_class are not numbers: \['ovr'"):
        CrossValidationDisplay.from_curve(found)


def test_a_learner_without_a_search_is_refused():
    with pytest.raises(TypeError, match="LogisticRegression has no cross-validated scores"):
        CrossValidationDisplay.from_estimator(LogisticRegression().fit(*CANCER))


def labels_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("search_of", [GridSearchCV, search], ids=["theirs", "ours"])
def test_of_several_scores_the_one_that_decided_is_drawn(search_of):
    X, y = CANCER
    learner, grid = LogisticRegression(standardize=True), {"C": [0.001, 0.1, 10.0]}
    given = {"scoring": ["accuracy", "neg_log_loss"], "refit": "neg_log_loss", "cv": 3}
    if search_of is GridSearchCV:
        found = GridSearchCV(learner, grid, **given).fit(X, y)
    else:
        found = search(learner, grid, X, y, **given)
    table = found.cv_results_
    display = CrossValidationDisplay.from_search(found)
    assert (display.metric, display.sign) == ("log loss", -1.0)
    np.testing.assert_allclose(drawn_mean(display), -table["mean_test_neg_log_loss"])
    display = CrossValidationDisplay.from_search(found, scoring="accuracy")
    np.testing.assert_allclose(drawn_mean(display), table["mean_test_accuracy"])
    with pytest.raises(ValueError, match=r"'r2' is not a score.*'accuracy', 'neg_log_loss'"):
        CrossValidationDisplay.from_search(found, scoring="r2")


def test_it_says_when_the_best_is_the_simplest_too():
    values = [0.001, 0.1]
    curve = validation_curve(LogisticRegression(standardize=True), *CANCER, name="C", values=values)
    assert curve.best == curve.one_se == 0.1
    labels = labels_of(CrossValidationDisplay.from_curve(curve))
    assert "best, also simplest\nwithin one standard error: C = 0.1" in labels


def test_parameters_that_a_candidate_leaves_alone_are_not_named():
    grids = [{"C": [0.1, 1.0]}, {"C": [0.1, 1.0], "class_weight": ["balanced"]}]
    found = search(LogisticRegression(standardize=True), grids, *CANCER, cv=2)
    display = CrossValidationDisplay.from_search(found)
    assert {each.label for each in display.lines} == {"nothing else set", "class_weight = balanced"}


def test_many_lines_are_counted_and_told_apart():
    weights = [{0: 1, 1: k} for k in range(1, 11)]
    grid = {"C": [0.1, 1.0], "class_weight": weights}
    found = search(LogisticRegression(standardize=True), grid, *CANCER, cv=2)
    labels = labels_of(CrossValidationDisplay.from_search(found))
    assert "3 other lines" in labels
    assert len(set(labels)) == len(labels)


def test_whole_numbers_have_no_halves_between_them():
    pipeline = make_pipeline(PolynomialEncoder(), Ridge(1.0))
    X, y = DIABETES
    curve = validation_curve(
        pipeline, X[:, :2], y, name="polynomialencoder__degree", values=[1, 2, 3], simpler="smaller"
    )
    ticks = CrossValidationDisplay.from_curve(curve).ax_.get_xticks()
    np.testing.assert_array_equal(ticks, np.rint(ticks))


@pytest.mark.parametrize("unfitted", [LassoCV(), GridSearchCV(Ridge(), {"alpha": [1.0]})])
def test_what_is_not_fitted_is_refused(unfitted):
    draw = CrossValidationDisplay.from_estimator
    if isinstance(unfitted, GridSearchCV):
        draw = CrossValidationDisplay.from_search
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        draw(unfitted)
