"""Which of scikit-learn's names are replaced, where they live, and by what."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The public module of each name that is replaced.
HOMES = {
    **dict.fromkeys(
        (
            "BayesianRidge",
            "ElasticNet",
            "ElasticNetCV",
            "Lasso",
            "LassoCV",
            "LinearRegression",
            "LogisticRegression",
            "LogisticRegressionCV",
            "Perceptron",
            "Ridge",
            "RidgeCV",
            "RidgeClassifier",
            "RidgeClassifierCV",
            "SGDClassifier",
            "SGDRegressor",
            "enet_path",
            "lasso_path",
        ),
        "sklearn.linear_model",
    ),
    **dict.fromkeys(("LinearSVC", "LinearSVR"), "sklearn.svm"),
    "LinearDiscriminantAnalysis": "sklearn.discriminant_analysis",
    **dict.fromkeys(
        ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"), "sklearn.naive_bayes"
    ),
    **dict.fromkeys(
        ("CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"),
        "sklearn.feature_extraction.text",
    ),
    "DictVectorizer": "sklearn.feature_extraction",
    **dict.fromkeys(("OneHotEncoder", "PolynomialFeatures"), "sklearn.preprocessing"),
}

#: Learners of `separable` under scikit-learn's names, to measure a change of the import alone.
LEARNERS = {
    "BayesianRidge": "BayesianRegression",
    "CountVectorizer": "TextEncoder",
    "DictVectorizer": "DictEncoder",
    "HashingVectorizer": "TextEncoder",
    "LinearDiscriminantAnalysis": "LDA",
    "LinearRegression": "LeastSquares",
    "LinearSVC": "LinearSVM",
    "PolynomialFeatures": "PolynomialEncoder",
    "RidgeClassifier": "LeastSquaresClassifier",
    "TfidfVectorizer": "TextEncoder",
}


def replacements(package: str) -> dict[str, Any]:
    """Return our class or function for each name of scikit-learn that the package replaces."""
    module = import_module(package)
    if package == "separable.sklearn":
        return {name: getattr(module, name) for name in HOMES if name in module.__all__}
    known = {name: LEARNERS.get(name, name) for name in HOMES}
    # A class that stands for several names is recorded under the first.
    return {name: getattr(module, ours) for name, ours in known.items() if hasattr(module, ours)}
