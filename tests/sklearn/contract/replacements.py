"""Which of scikit-learn's names are replaced, and by what."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from separable.sklearn.patching import HOMES

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
