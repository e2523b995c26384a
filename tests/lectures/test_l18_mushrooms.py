"""L18: discrete features are one-hot, not 1..4; the mushrooms end to end."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from separable import (
    LogisticRegression,
    OneHotEncoder,
    Perceptron,
    Ridge,
    TableClassifier,
    TableEncoder,
    load,
)

pytestmark = pytest.mark.native

SURFACES = ["fibrous", "grooves", "scaly", "smooth"]


def test_numbers_for_surfaces_claim_an_order_that_is_not_there():
    # fibrous and scaly are poisonous, grooves and smooth are not: 1, 3 against 2, 4
    surfaces = np.array(SURFACES * 5)[:, None]
    poisonous = np.isin(surfaces[:, 0], ["fibrous", "scaly"])
    numbers = np.array([[SURFACES.index(each) + 1.0] for each in surfaces[:, 0]])
    one_hot = OneHotEncoder().fit_transform(surfaces)
    assert Perceptron(max_iter=100).fit(one_hot, poisonous).score(one_hot, poisonous) == 1
    with pytest.warns(ConvergenceWarning, match="may not be linearly separable"):
        assert Perceptron(max_iter=100).fit(numbers, poisonous).score(numbers, poisonous) <= 0.75


def test_a_weight_for_each_surface_is_its_mean():
    surfaces = np.array(["smooth", "scaly", "smooth", "grooves"])[:, None]
    price = [3.0, 5.0, 1.0, 8.0]
    fitted = Ridge(alpha=1e-9, fit_intercept=False).fit(
        OneHotEncoder().fit_transform(surfaces), price
    )
    np.testing.assert_allclose(fitted.coef_.ravel(), [8, 5, 2], rtol=1e-6)


def mushrooms():
    """Return the mushrooms of the UCI repository, or some that are made up by a rule."""
    folder = os.environ.get("SEPARABLE_DATA")
    path = None if folder is None else Path(folder) / "mushroom" / "agaricus-lepiota.data.gz"
    if path is not None and path.exists():
        with gzip.open(path, "rt") as lines:
            rows = [line.strip().split(",") for line in lines if line.strip()]
        names = ["class", "cap-shape", "cap-surface", "cap-color", "bruises", "odor"]
        names += [f"attribute-{position}" for position in range(6, len(rows[0]))]
        return {
            name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
        }
    rng = np.random.default_rng(0)
    odor, surface = rng.choice(list("alnfp"), 800), rng.choice(SURFACES, 800)
    poisonous = np.isin(odor, ["f", "p"]) | ((odor == "n") & (surface == "grooves"))
    return {
        "class": np.where(poisonous, "p", "e").tolist(),
        "cap-surface": surface.tolist(),
        "odor": odor.tolist(),
        "bruises": rng.choice(["t", "f"], 800).tolist(),
    }


def test_the_mushrooms_end_to_end(tmp_path):
    table = mushrooms()
    model = TableClassifier(LogisticRegression(C=100.0)).fit(table, "class")
    assert model.score(table) == 1.0  # separable after one-hot
    assert {row.type for row in model.columns_} <= {"category", "dropped"}
    record = {name: values[0] for name, values in table.items() if name != "class"}
    assert model.predict_one(record) == table["class"][0]
    parts = model.explain([record]).by_column()
    assert parts["odor"].shape == (1,)
    top = {name for _, name in _strongest(model, 12)}
    assert any(name.startswith("odor=") for name in top)
    model.save(tmp_path / "mushroom.safetensors")
    assert load(tmp_path / "mushroom.safetensors").predict([record])[0] == table["class"][0]


def test_the_page_prints_what_it_shows(tmp_path, monkeypatch):
    """The code of the page in one session, each block with the output that is written below it."""
    folder = os.environ.get("SEPARABLE_DATA")
    if folder is None or not (Path(folder) / "mushroom").is_dir():
        pytest.skip("needs SEPARABLE_DATA/mushroom")
    packed = (Path(folder) / "mushroom" / "agaricus-lepiota.data.gz").read_bytes()
    (tmp_path / "agaricus-lepiota.data").write_bytes(gzip.decompress(packed))
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs/lectures/mushrooms.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == page.count("```python") == 6
    names: dict[str, object] = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue().split() == shown.split()


def _strongest(model, n):
    weights = model.model_.weights[0]
    return sorted(zip(-np.abs(weights), model.model_.feature_names, strict=True))[:n]


def test_a_plain_perceptron_separates_them():
    table = mushrooms()
    target = table.pop("class")
    matrix = TableEncoder().fit_transform(table)
    assert Perceptron(max_iter=1000).fit(matrix, target).score(matrix, target) == 1
