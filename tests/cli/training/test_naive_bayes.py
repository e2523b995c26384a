"""`separable train` with naive Bayes: numbers as counts, or above their mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from separable import load
from separable.datasets import PENGUINS


def write_counts(sign: int = 1) -> str:
    rng = np.random.default_rng(0)
    rows = [(rng.poisson(3 if k else 1), rng.poisson(1 if k else 3), k) for k in [0, 1] * 40]
    lines = [f"{a},{b},{'spam' if k else 'ham'}" for a, b, k in rows]
    lines[6] = f"{sign * 5},2,spam"
    Path("mail.csv").write_text("\n".join(["free,meeting,y", *lines]) + "\n")
    return "mail.csv"


@pytest.mark.parametrize("learner", ["multinomial-nb", "complement-nb"])
def test_counts_are_taken_as_they_are(separable, learner):
    args = ["train", write_counts(), "--target", "y", "--model", learner]
    result = separable(*args, "--set", "alpha=1")
    assert result.code == 0
    assert "models counts, so numbers are not standardized" in result.err
    model = load("mail.safetensors")
    if learner == "multinomial-nb":
        table = np.genfromtxt("mail.csv", delimiter=",", skip_header=1, dtype=str)
        X, y = table[:, :2].astype(float), table[:, 2]
        peer = MultinomialNB().fit(X, y)
        log_prob = peer.feature_log_prob_
        np.testing.assert_allclose(model.weights[0], log_prob[1] - log_prob[0], rtol=1e-12)
    assert separable("predict", "mail.safetensors", "mail.csv").code == 0
    assert "free" in separable("explain", "mail.safetensors", "mail.csv", "--row", "1").out


def test_a_negative_number_is_named_with_ways_out(separable):
    data = write_counts(-1)
    result = separable("train", data, "--target", "y", "--model", "multinomial-nb")
    assert result.code == 1
    assert "mail.csv:8:1: column 'free': -5 is negative, and MultinomialNB" in result.err
    assert "--drop free" in result.err
    result = separable(
        "train", data, "--target", "y", "--model", "multinomial-nb", "--drop", "free"
    )
    assert result.code == 0


def test_bernoulli_sees_numbers_above_their_mean(separable):
    args = ["train", write_counts(-1), "--target", "y", "--model", "bernoulli-nb", "--json"]
    result = separable(*args, "--set", "alpha=1")
    assert result.code == 0
    (note,) = json.loads(result.out)["notes"]
    assert note.startswith("BernoulliNB only uses whether a number is above its training mean")
    table = np.genfromtxt("mail.csv", delimiter=",", skip_header=1, dtype=str)
    X, y = table[:, :2].astype(float), table[:, 2]
    peer = BernoulliNB().fit(X - X.mean(axis=0), y)
    model = load("mail.safetensors")
    assert model.threshold == 0.0
    rows = [dict(zip(("free", "meeting"), row, strict=True)) for row in X.tolist()]
    np.testing.assert_allclose(
        model.predict_proba(rows), peer.predict_proba(X - X.mean(axis=0)), rtol=1e-10
    )


def test_penguins_by_all_three(separable):
    for learner in ("bernoulli-nb", "multinomial-nb", "complement-nb"):
        result = separable("train", PENGUINS, "--target", "species", "--model", learner)
        assert result.code == 0, result.err
