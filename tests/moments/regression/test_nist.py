"""NIST's reference problems of linear regression: digits of every coefficient.

The Wampler and NoInt sets are formulas or a few numbers, so they are here; the others are found
through SEPARABLE_DATA. What is certified is the exact solution of the data.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from separable import LeastSquares
from tests.data_files import data_file
from tests.reference.least_squares import exact_least_squares

pytestmark = [pytest.mark.native, pytest.mark.kernel]

#: What Wampler added to the polynomial in his third set.
NOISE = np.full(21, -2048.0)
NOISE[2::4] = 2048
NOISE[[0, 4, 8, 12, 16, 20]] = 759, 2523, 1838, 1838, 2523, 759


def wampler(number):
    x = np.arange(21.0)
    powers = np.stack([x**k for k in range(1, 6)], axis=1)
    weights = 0.1 ** np.arange(1, 6) if number == 2 else np.ones(5)
    y = 1 + powers @ weights
    if number > 2:
        y = y + NOISE * {3: 1, 4: 100, 5: 10_000}[number]
    return powers, y, True


def no_intercept(number):
    if number == 1:
        return np.arange(60.0, 71.0)[:, None], np.arange(130.0, 141.0), False
    return np.array([[4.0], [5.0], [6.0]]), np.array([3.0, 4.0, 4.0]), False


BUILT_IN = {f"wampler{k}": lambda k=k: wampler(k) for k in range(1, 6)} | {
    f"noint{k}": lambda k=k: no_intercept(k) for k in (1, 2)
}
FILES = ["norris", "pontius", "filip", "longley", *BUILT_IN]


def digits(found, true):
    """Correct digits, of the worst; where the truth is 0, of the number itself."""
    size = np.where(true == 0, 1.0, np.abs(true))
    return -np.log10(np.max(np.abs(found - true) / size, initial=1e-16))


def coefficients(learner):
    first = [learner.intercept_] if learner.fit_intercept else []
    return np.concatenate([first, learner.coef_])


def standard_errors(learner):
    return np.array([line.standard_error for line in learner.summary().coefficients])


def from_file(name):
    folder = data_file("nist-strd")
    certified = json.loads((folder / "certified.json").read_text())[name]
    table = np.genfromtxt(folder / f"{name}.csv", delimiter=",", names=True)
    columns = [c for c in table.dtype.names if c != "y"]
    X = np.stack([table[c] for c in columns], axis=1)
    if "degree" in certified["model"]:
        degree = int(certified["model"].split("degree ")[1].split()[0])
        X = np.stack([X[:, 0] ** k for k in range(1, degree + 1)], axis=1)
    true = np.array([float(v) for v in certified["coefficients"]])
    errors = np.array([float(v) for v in certified["standard_errors"]])
    return X, table["y"], certified["intercept"], true, errors


@pytest.mark.parametrize("name", BUILT_IN)
def test_sets_that_are_formulas(name):
    X, y, fit_intercept = BUILT_IN[name]()
    true, variances, squares = exact_least_squares(X, y, fit_intercept=fit_intercept)
    learner = LeastSquares(fit_intercept=fit_intercept).fit(X, y)
    assert digits(coefficients(learner), true) >= 11
    errors = np.sqrt(variances * squares / (len(y) - len(true)))
    # Wampler 1 and 2 leave nothing, or what is rounded off 0.1
    assert digits(standard_errors(learner), errors) >= (
        6 if name in ("wampler1", "wampler2") else 8
    )


@pytest.mark.parametrize("name", FILES)
def test_certified_values(name):
    X, y, fit_intercept, true, errors = from_file(name)
    learner = LeastSquares(fit_intercept=fit_intercept).fit(X, y)
    assert digits(coefficients(learner), true) >= (7 if name == "filip" else 11)
    found = standard_errors(learner)
    assert found[errors == 0].max(initial=0.0) < 1e-6
    assert digits(found[errors != 0], errors[errors != 0]) >= (7 if name == "filip" else 8)


def streamed(X, y, fit_intercept):
    learner = LeastSquares(fit_intercept=fit_intercept)
    for start in range(0, len(y), 5):
        learner.partial_fit(X[start : start + 5], y[start : start + 5])
    return learner


def test_longley_from_sums_alone():
    X, y, fit_intercept, true, _ = from_file("longley")
    assert digits(coefficients(streamed(X, y, fit_intercept)), true) >= 11


def test_filip_from_sums_alone_is_refused():
    X, y, fit_intercept, _, _ = from_file("filip")
    with pytest.raises(ValueError, match="hold no correct digits"):
        streamed(X, y, fit_intercept).predict(X)


@pytest.mark.parametrize("number", range(1, 6))
def test_wampler_from_sums_alone(number):
    X, y, _ = wampler(number)
    learner = streamed(X, y, True)
    true = exact_least_squares(X, y)[0]
    assert digits(coefficients(learner), true) >= 5
    assert learner.evidence_["digits"] < 10
