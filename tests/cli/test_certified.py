"""`separable train` with certified learners: the certificate is told and kept."""

from __future__ import annotations

import json

import numpy as np
import pytest

from separable import load
from separable.datasets import PENGUINS


@pytest.mark.parametrize("learner", ["logistic-regression", "linear-svm"])
def test_classes(separable, learner):
    result = separable("train", str(PENGUINS), "--target", "species", "--model", learner)
    assert result.code == 0
    together = learner == "logistic-regression"
    assert ("certificate: relative gap at most " in result.out) != together
    assert (" in each of 3 one-vs-rest models (asked 1e-06)" in result.out) != together
    model = load("penguins.safetensors")
    assert np.max(model.evidence["relative_gap"]) <= 1e-6
    lines = separable("predict", "penguins.safetensors", str(PENGUINS)).out.splitlines()
    assert lines[1].startswith("Adelie,")
    assert ("probability_Gentoo" in lines[0]) == together
    told = separable("explain", "penguins.safetensors", str(PENGUINS), "--row", "1").out
    assert "bill_length_mm" in told


def test_numbers(separable):
    given = ("--target", "body_mass_g", "--model", "linear-svr")
    result = separable("train", str(PENGUINS), *given)
    assert result.code == 0
    assert "  certificate: relative gap " in result.out
    assert " (asked 1e-06)" in result.out
    told = json.loads(separable("train", str(PENGUINS), *given, "--json").out)
    assert told["evidence"]["converged"] is True
    assert told["evidence"]["dual"] <= told["evidence"]["primal"] * (1 + 1e-12)


def test_probabilities_of_a_calibrated_svm(separable):
    from dataclasses import replace

    from separable import LinearSVM
    from separable.data import read

    separable("train", str(PENGUINS), "--target", "species", "--model", "linear-svm")
    model, table = load("penguins.safetensors"), read(PENGUINS).table
    rows = model.encoder.encode(table)
    learner = LinearSVM(probability=True).fit(rows, table["species"])
    replace(learner.model_, encoder=model.encoder, feature_names=None).save("calibrated")
    lines = separable("predict", "calibrated", str(PENGUINS), "--json").out.splitlines()
    first = json.loads(lines[0])
    shares = [first[f"probability_{name}"] for name in ("Adelie", "Chinstrap", "Gentoo")]
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx(learner.predict_proba(rows)[0].tolist())
