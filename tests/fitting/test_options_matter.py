"""Every option of every learner changes something, or a warning says that it does not.

An option is given two values on data where it must matter. What was learned (weights, predictions,
probabilities, epochs) has to differ.
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import separable
from separable.estimator import Estimator
from separable.features.base import Transformer

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)) * [1, 3, 1, 1] + [0, 0, 1, 0]
SCORE = X @ [1, -1, 0.5, 0] + 1.5 * rng.normal(size=80)
TWO, THREE = (SCORE > 0.8).astype(int), np.digitize(SCORE, [-1, 1.5])
COUNTS = np.abs(np.round(X))
BAYES = {"MultinomialNB", "BernoulliNB", "ComplementNB"}

LEARNERS = {
    name: cls
    for name in separable.__all__
    if inspect.isclass(cls := getattr(separable, name))
    and issubclass(cls, Estimator)
    and not issubclass(cls, Transformer)
    if hasattr(cls, "fit") and hasattr(cls, "predict") and not name.startswith("Table")
}

#: Two values of an option.
VALUES = {
    "C": (0.01, 10.0),
    "Cs": ([0.1], [10.0]),
    "alpha": (0.01, 0.5),
    "alphas": ([0.1], [10.0]),
    "average": (False, True),
    "binarize": (0.0, 1.0),
    "class_prior": (None, [0.2, 0.8]),
    "class_weight": (None, {0: 1, 1: 5}),
    "covariance": ("unbiased", "mle"),
    "cv": (3, 4),
    "early_stopping": (False, True),
    "epsilon": (0.05, 1.0),
    "eps": (1e-3, 0.5),
    "eta0": (0.01, 0.02),
    "fit_intercept": (True, False),
    "fit_prior": (True, False),
    "l1_ratio": (0.2, 0.8),
    "l1_ratios": ([0.0], [0.5]),
    "learning_rate": ("adaptive", "constant"),
    "loss": ("hinge", "squared_hinge"),
    "max_iter": (1, 50),
    "max_voters": (3, None),
    "max_work": (320.0, 1e10),
    "multi_class": ("ovr", "argmax"),
    "n_components": (1, 2),
    "n_iter_no_change": (1, 20),
    "noise_precision": (None, 3.0),
    "norm": (False, True),
    "p": (1, 2),
    "penalty": ("l1", "l2"),
    "pocket": (False, True),
    "positive": (False, True),
    "power_t": (0.1, 0.9),
    "priors": (None, [0.2, 0.8]),
    "probability": (False, True),
    "random_state": (0, 7),
    "select": ("min", "1se"),
    "shrinkage": (None, 0.5),
    "shuffle": (True, False),
    "standardize": (False, True),
    "ties": ("mistake", "negative"),
    "tol": (0.1, 1e-9),
    "validation_fraction": (0.1, 0.5),
}
VALUES_OF = {
    ("SGDRegressor", "loss"): ("squared_error", "huber"),
    ("LogisticRegression", "multi_class"): ("ovr", "multinomial"),
    ("LogisticRegressionCV", "multi_class"): ("ovr", "multinomial"),
}
#: What else has to be given for an option to matter.
NEEDED = {
    ("SGDClassifier", "epsilon"): {"loss": "huber"},
    ("SGDRegressor", "epsilon"): {"loss": "huber"},
    ("SGDClassifier", "power_t"): {"learning_rate": "invscaling"},
    ("SGDRegressor", "power_t"): {"learning_rate": "invscaling"},
    ("SGDClassifier", "validation_fraction"): {"early_stopping": True},
    ("SGDRegressor", "validation_fraction"): {"early_stopping": True},
    ("SGDClassifier", "l1_ratio"): {"penalty": "elasticnet"},
    ("SGDRegressor", "l1_ratio"): {"penalty": "elasticnet"},
    ("SGDClassifier", "penalty"): {"alpha": 0.1},
    ("SGDRegressor", "penalty"): {"alpha": 0.1},
    ("LinearSVM", "penalty"): {"loss": "squared_hinge"},
    ("LinearSVMCV", "penalty"): {"loss": "squared_hinge"},
    ("VotedPerceptron", "eta0"): {"coef_init": np.ones((1, 4))},
}
#: Searches over fewer values than by default, but for options that choose among the values.
SEARCHES = {"LinearSVMCV": {"Cs": 5, "cv": 3}, "LogisticRegressionCV": {"Cs": 5, "cv": 3}}
#: Options that may leave all numbers as they are, and why.
FREE = {
    "n_jobs": "any number of threads gives the same bits",
    "callback": "it is told of progress",
    "warm_start": "it speaks of a second fit",
    "groups": "columns, not a number",
    "refit": "False: there is no model",
    "scoring": "a name of a metric, tested with the searches",
}
SOLVER = "a bound or a seed of a solver, which ends far better on small data"
CERTIFIED = ["ElasticNet", "ElasticNetCV", "GroupLasso", "GroupLassoClassifier", "Lasso", "LassoCV"]
CERTIFIED += ["LinearSVM", "LinearSVMCV", "LinearSVR", "LogisticRegression", "LpRegression"]
CERTIFIED += ["LogisticRegressionCV"]
FREE_OF = {(name, each): SOLVER for name in CERTIFIED for each in ("tol", "max_iter")}
FREE_OF |= {(name, "random_state"): SOLVER for name in CERTIFIED if not name.endswith("CV")}
FREE_OF |= dict.fromkeys(
    [("ComplementNB", "fit_prior"), ("ComplementNB", "class_prior")],
    "only class_log_prior_ shows it, as documented",
)
CASES = [
    (name, option)
    for name, cls in LEARNERS.items()
    for option in inspect.signature(cls).parameters
    if option not in FREE and (name, option) not in FREE_OF
]


def target(name, options=()):
    if not is_classifier(LEARNERS[name]()):
        return SCORE
    return THREE if {"multi_class", "n_components"} & set(options) else TWO


def learned(name, options):
    """Fit and return all that a user can see of it as numbers."""
    rows = COUNTS if name in BAYES else X
    start = {"coef_init": options.pop("coef_init")} if "coef_init" in options else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = LEARNERS[name](**options).fit(rows, target(name, options), **start)
    seen = [getattr(fitted, "n_iter_", None)]
    for what in ("decision_function", "predict", "predict_proba", "transform"):
        try:
            seen.append(getattr(fitted, what)(rows))
        except (AttributeError, ValueError):
            seen.append(None)
    if name != "VotedPerceptron":
        seen += [fitted.coef_, fitted.intercept_]
    return seen


@pytest.mark.parametrize(("name", "option"), CASES)
def test_two_values_give_two_models(name, option):
    values = VALUES_OF.get((name, option)) or VALUES[option]  # a new option needs an entry
    needed = NEEDED.get((name, option), {})
    if option not in ("random_state", "select"):
        needed = SEARCHES.get(name, {}) | needed
    one, two = (learned(name, {**needed, option: value}) for value in values)
    same = all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert not same, f"{option}={values} of {name} changes nothing"


SILENT = [
    ("SGDClassifier", "alpha", {"alpha": 0.1, "penalty": None}),
    ("SGDRegressor", "alpha", {"alpha": 0.1, "penalty": None}),
    ("SGDClassifier", "l1_ratio", {"alpha": 0.1, "l1_ratio": 0.9}),
    ("SGDRegressor", "l1_ratio", {"l1_ratio": 0.9}),
    ("SGDClassifier", "epsilon", {"epsilon": 0.5}),
    ("SGDRegressor", "epsilon", {"epsilon": 0.5}),
    ("SGDClassifier", "power_t", {"power_t": 0.9}),
    ("SGDRegressor", "power_t", {"power_t": 0.9, "learning_rate": "constant", "max_iter": 2}),
    ("SGDClassifier", "validation_fraction", {"validation_fraction": 0.5}),
    ("SGDRegressor", "n_iter_no_change", {"n_iter_no_change": 2, "tol": None, "max_iter": 3}),
    ("SGDClassifier", "random_state", {"random_state": 3, "shuffle": False}),
    ("Perceptron", "random_state", {"random_state": 3, "shuffle": False, "max_iter": 5}),
    ("AveragedPerceptron", "random_state", {"random_state": 3, "shuffle": False}),
    ("VotedPerceptron", "random_state", {"random_state": 3, "shuffle": False}),
    ("WidrowHoff", "random_state", {"random_state": 3, "shuffle": False}),
    ("VotedPerceptron", "eta0", {"eta0": 3.0}),
    ("LassoCV", "eps", {"eps": 0.1, "alphas": [0.1, 0.2]}),
    ("ElasticNetCV", "eps", {"eps": 0.1, "alphas": [0.1, 0.2]}),
    ("MultinomialNB", "fit_prior", {"fit_prior": False, "class_prior": [0.2, 0.8]}),
    ("BernoulliNB", "fit_prior", {"fit_prior": False, "class_prior": [0.2, 0.8]}),
    ("ComplementNB", "fit_prior", {"fit_prior": False}),
    ("ComplementNB", "class_prior", {"class_prior": [0.2, 0.8]}),
]


@pytest.mark.parametrize(("name", "option", "options"), SILENT)
def test_an_option_without_effect_is_a_warning(name, option, options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        LEARNERS[name](**options).fit(COUNTS if name in BAYES else X, target(name))
    matches = [str(each.message) for each in said if "has no effect" in str(each.message)]
    assert len(matches) == 1
    assert matches[0].startswith(f"{option}={options[option]!r} of {name} has no effect")


@pytest.mark.parametrize(("name", "option", "options"), SILENT[:8])
def test_streams_warn_once(name, option, options):
    learner, y = LEARNERS[name](**options), target(name)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for part in range(3):
            learner.partial_fit(X[part::3], y[part::3])
    assert [f"{option}=" in str(each.message) for each in said] == [True]


@pytest.mark.parametrize("learner", [separable.SGDClassifier("log_loss"), separable.SGDRegressor()])
def test_a_search_over_alpha_searches(learner):
    y = TWO if is_classifier(learner) else SCORE
    grid = {"alpha": [1e-4, 1e-2, 1.0, 100.0]}
    scoring = "neg_log_loss" if is_classifier(learner) else "r2"
    searched = GridSearchCV(learner, grid, cv=3, scoring=scoring).fit(X, y)
    assert len(set(searched.cv_results_["mean_test_score"])) == 4


def test_alpha_alone_is_the_level_of_an_l2_penalty():
    def weights(**options):
        return separable.SGDClassifier("log_loss", **options).fit(X, TWO).coef_

    np.testing.assert_array_equal(weights(alpha=0.01), weights(penalty="l2", alpha=0.01))
    np.testing.assert_array_equal(weights(penalty="l1"), weights(penalty="l1", alpha=1e-4))
    np.testing.assert_array_equal(weights(), weights(penalty=None))
    assert (weights(penalty="l2") != weights()).any()
