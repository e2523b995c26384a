"""The figures of glmnet, recorded once by ``tests/reference/glmnet/record.R``.

Both sides are judged by the objective in plain NumPy. Ours must not lie above glmnet's by more than
our gap; and as no weights lie below our dual, glmnet's own distance to the optimum is known too, so
that both must agree as closely as the two distances allow.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from separable import ElasticNet, Lasso, LogisticRegression
from tests.data_files import data_file
from tests.reference.optimality import loss_and_slope

pytestmark = pytest.mark.native

PATHS = json.loads((Path(__file__).parents[2] / "reference/glmnet/paths.json").read_text())["paths"]
#: How close to the optimum glmnet's coefficients are, over the objective (it stops by its steps).
REACHED = 1e-6


def path_id(path):
    columns = "standardised" if path["standardize"] else "raw"
    return f"{path['data']}-{path['family']}-{path['l1_ratio']}-{columns}"


@cache
def read(data):
    pandas = pytest.importorskip("pandas")
    if data == "prostate":
        table = pandas.read_csv(data_file("esl-prostate", "prostate.data"), sep="\t", index_col=0)
        return table.iloc[:, :8].to_numpy(dtype=float), table["lpsa"].to_numpy()
    if data == "leukemia":
        table = pandas.read_csv(data_file("leukemia", "leukemia.csv.gz"))
        X = table.drop(columns=["split", "sample", "class"]).to_numpy(dtype=float)
        return X, (table["class"] == "AML").to_numpy(dtype=float)
    table = np.loadtxt(data_file("spambase", "spambase.data.gz"), delimiter=",")
    return table[:, :-1], table[:, -1]


def problem(path):
    """Return rows, targets (numbers, or -1 and +1), and what the weights of columns count."""
    X, y = read(path["data"])
    y = (y - y.mean()) / y.std() if path["family"] == "gaussian" else 2 * y - 1
    return X, y, X.std(axis=0) if path["standardize"] else np.ones(X.shape[1])


def learner(path, n, strength):
    given = {"standardize": path["standardize"], "tol": 1e-10}
    if path["family"] == "binomial":
        return LogisticRegression(1 / (n * strength), l1_ratio=path["l1_ratio"], **given)
    if path["l1_ratio"] == 1:
        return Lasso(strength, **given)
    return ElasticNet(strength, l1_ratio=path["l1_ratio"], **given)


LOSSES = {"gaussian": "squared_error", "binomial": "log_loss"}


def slopes_of(path, y, scores):
    return loss_and_slope(LOSSES[path["family"]], y, scores)[1]


def objective(path, X, y, unit, strength, w, b):
    loss = LOSSES[path["family"]]
    u, ratio = w * unit, path["l1_ratio"]
    penalty = ratio * np.abs(u).sum() + (1 - ratio) / 2 * u @ u
    return loss_and_slope(loss, y, X @ w + b)[0].mean() + strength * penalty


@pytest.mark.parametrize("path", PATHS, ids=path_id)
def test_path(path):
    X, y, unit = problem(path)
    n, d = X.shape
    for model in path["models"]:
        strength = model["lambda"]
        found = learner(path, n, strength).fit(X, y)
        # the certificate of logistic regression is of C times the sum, not of the mean
        by = strength if path["family"] == "binomial" else 1.0
        gap, least = by * found.certificate_.gap, by * found.certificate_.dual
        w = np.zeros(d)
        w[model["columns"]] = model["weights"]
        theirs = objective(path, X, y, unit, strength, w, model["intercept"])
        w_ours, b_ours = np.ravel(found.coef_), float(np.ravel(found.intercept_)[0])
        ours = objective(path, X, y, unit, strength, w_ours, b_ours)

        rounding = 1e-12 * theirs
        assert ours == pytest.approx(by * found.certificate_.primal, rel=1e-10)
        assert ours <= theirs + gap + rounding
        assert least <= theirs + rounding
        excess = max(theirs - least, 0.0)
        assert excess <= REACHED * theirs

        # what a distance in the objective says about the two models, each from the optimum:
        # of residuals or probabilities, and with an l2 part of the weights
        apart = np.sqrt(2 * (gap + rounding)) + np.sqrt(2 * (excess + rounding))
        derivatives = [
            slopes_of(path, y, X @ w + model["intercept"]),
            slopes_of(path, y, X @ w_ours + b_ours),
        ]
        assert np.sqrt(np.mean((derivatives[0] - derivatives[1]) ** 2)) <= apart
        curved = strength * (1 - path["l1_ratio"])
        if curved > 0:
            assert np.linalg.norm((w - w_ours) * unit) <= apart / np.sqrt(curved)

        # and the coefficients themselves, to 1e-4 of the largest
        largest = np.abs(w * unit).max()
        np.testing.assert_allclose(w_ours * unit, w * unit, rtol=0, atol=1e-4 * largest)
