"""Replacement of scikit-learn's classes by ours in code that imports scikit-learn."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HOMES", "Patch", "estimators_of", "patch", "unpatch"]

#: The public module of scikit-learn that has each name.
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

#: scikit-learn's classes and functions, while ours stand in their place.
_theirs: dict[str, Any] = {}


@dataclass(frozen=True)
class Patch:
    """What `patch` replaced.

    Parameters
    ----------
    replaced : tuple of str
        Names that are ours now, with their modules.
    kept : tuple of str
        Other estimators of the same modules, which stay scikit-learn's.
    imported_before : tuple of str
        Names that other modules had imported already: they are still scikit-learn's there.
    """

    replaced: tuple[str, ...]
    kept: tuple[str, ...]
    imported_before: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"separable: replaced {', '.join(self.replaced)}"]
        if self.kept:
            lines.append(f"scikit-learn's own: {', '.join(self.kept)}")
        if self.imported_before:
            lines.append(
                f"imported before, so not replaced: {', '.join(self.imported_before)}. Call "
                "separable.sklearn.patch() before the imports."
            )
        return "\n".join(lines)


def patch() -> Patch:
    """Put the classes of ``separable.sklearn`` in the place of scikit-learn's.

    Code that imports them from scikit-learn's public modules afterwards gets ours. scikit-learn's
    own modules keep theirs.

    Returns
    -------
    Patch
        What was replaced, and what was not.

    Examples
    --------
    >>> from separable.sklearn import patch, unpatch
    >>> done = patch()
    >>> from sklearn.linear_model import Ridge
    >>> Ridge.__module__, "sklearn.linear_model.Ridge" in done.replaced
    ('separable.sklearn.least_squares', True)
    >>> unpatch()
    """
    ours = import_module("separable.sklearn")
    for name, home in HOMES.items():
        module = import_module(home)
        _theirs.setdefault(name, getattr(module, name))
        setattr(module, name, getattr(ours, name))
    return Patch(
        tuple(f"{home}.{name}" for name, home in HOMES.items()),
        tuple(sorted(_kept())),
        tuple(sorted(_imported_before())),
    )


def unpatch() -> None:
    """Put scikit-learn's classes back."""
    for name, theirs in _theirs.items():
        setattr(import_module(HOMES[name]), name, theirs)
    _theirs.clear()


def _kept() -> Iterator[str]:
    for home in sorted(set(HOMES.values())):
        module = import_module(home)
        yield from (
            f"{home}.{name}"
            for name in module.__all__
            if name not in HOMES and hasattr(getattr(module, name), "fit")
        )


def _imported_before() -> Iterator[str]:
    known = {id(theirs): name for name, theirs in _theirs.items()}
    for module in list(sys.modules.values()):
        owner = getattr(module, "__name__", "")
        if owner.partition(".")[0] in ("sklearn", "separable"):
            continue
        for value in list(getattr(module, "__dict__", {}).values()):
            if id(value) in known:
                yield f"{owner}.{known[id(value)]}"


def estimators_of(source: str) -> tuple[list[str], list[str]]:
    """Return the estimators that a script names: ours after `patch`, and scikit-learn's own."""
    named = {
        str(getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "name", ""))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Name, ast.Attribute, ast.alias))
    }
    replaced = sorted(named & set(HOMES))
    loaded = [vars(module) for name, module in list(sys.modules.items()) if _is_public(name)]
    theirs = {
        name
        for name in named - set(HOMES)
        for names in loaded
        if isinstance(names.get(name), type) and hasattr(names[name], "fit")
    }
    return replaced, sorted(theirs)


def _is_public(module: str) -> bool:
    parts = module.split(".")
    return parts[0] == "sklearn" and not any(part.startswith("_") for part in parts)
