"""`separable train` with certified learners: the certificate is told and kept."""

from __future__ import annotations

import json

import numpy as np
import pytest

from separable import load
from separable.datasets import PENGUINS

TRAIN = ("train", PENGUINS, "--folds", "2")


@pytest.mark.parametrize("learner", ["logistic-regression", "linear-svm"])
def test_classes(separable, learner):
    result = separable(*TRAIN, "--target", "species", "--model", learner)
    assert result.code == 0
    together = learner == "logistic-regression"
    assert ("certificate: relative duality gap at most " in result.out) != together
    assert (" in each of 3 one-vs-rest models (requested 1e-06)" in result.out) != together
    model = load("penguins.safetensors")
    assert np.max(model.evidence["relative_gap"]) <= 1e-6
    lines = separable("predict", "penguins.safetensors", str(PENGUINS)).out.splitlines()
    assert lines[1].startswith("Adelie,")
    assert "probability_Gentoo" in lines[0]  # the SVM is calibrated
    told = separable("explain", "penguins.safetensors", str(PENGUINS), "--row", "1").out
    assert "bill_length_mm" in told


def test_numbers(separable):
    given = ("--target", "body_mass_g", "--model", "linear-svr")
    result = separable(*TRAIN, *given)
    assert result.code == 0
    assert "  certificate: relative duality gap " in result.out
    assert " (requested 1e-06)" in result.out
    told = json.loads(separable(*TRAIN, *given, "--json").out)
    assert told["evidence"]["converged"] is True
    assert told["evidence"]["dual"] <= told["evidence"]["primal"] * (1 + 1e-12)


def test_probabilities_of_a_calibrated_svm(separable):
    from dataclasses import replace

    from separable import LinearSVM
    from separable.data import read

    separable(*TRAIN, "--target", "species", "--model", "linear-svm", "--set", "C=1")
    model, table = load("penguins.safetensors"), read(PENGUINS).table
    rows = model.encoder.encode(table)
    learner = LinearSVM(probability=True).fit(rows, table["species"])
    replace(learner.model_, encoder=model.encoder, feature_names=None).save("calibrated")
    lines = separable("predict", "calibrated", str(PENGUINS), "--json").out.splitlines()
    first = json.loads(lines[0])
    shares = [first[f"probability_{name}"] for name in ("Adelie", "Chinstrap", "Gentoo")]
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx(learner.predict_proba(rows)[0].tolist())


@pytest.mark.parametrize(
    ("learner", "target"), [("group-lasso", "body_mass_g"), ("group-lasso-classifier", "species")]
)
def test_a_category_enters_or_leaves_whole(separable, learner, target):
    given = ["--target", target, "--model", learner, "--set"]
    for alpha in (1e-3, 0.05, 0.1):
        size = 800 * alpha if learner == "group-lasso" else alpha
        assert separable(*TRAIN, *given, f"alpha={size}").code == 0
        model = load("penguins.safetensors")
        assert model.parameters["groups"] == "columns"
        sources = np.array([*model.encoder.sources])
        for source in {*model.encoder.sources}:
            is_there = model.weights[:, sources == source] != 0
            assert (is_there.all(axis=1) | ~is_there.any(axis=1)).all()


def test_groups_can_be_set_otherwise(separable):
    given = ["--target", "body_mass_g", "--model", "group-lasso", "--set", "groups=none"]
    assert separable(*TRAIN, *given).code == 0
    assert load("penguins.safetensors").parameters["groups"] is None


def test_a_local_optimum_is_told_as_such(separable):
    given = ["--target", "body_mass_g", "--model", "lp-regression", "--set"]
    result = separable(*TRAIN, *given, "p=0")
    assert "certificate: a local optimum: no change of one weight" in result.out
    result = separable(*TRAIN, *given, "p=3/2")
    assert "certificate: relative duality gap " in result.out
    result = separable("path", *TRAIN[1:], *given, "p=1/2", "--json")
    assert {each["relative_gap"] for each in json.loads(result.out)["steps"]} == {None}
