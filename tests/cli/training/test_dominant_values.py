"""``train`` on a file with a cell beside which nothing is left of its column."""

from __future__ import annotations

import numpy as np
import pytest


def write(path, n, cells):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    label = np.where(X @ [1.0, -2.0, 3.0] > 0, "yes", "no")
    for row, value in cells.items():
        X[row, 2] = value
    lines = [",".join([*map(repr, x.tolist()), y]) for x, y in zip(X, label, strict=True)]
    path.write_text("\n".join(["a,b,c,label", *lines]) + "\n")


@pytest.mark.parametrize("n", [60, 150])
@pytest.mark.parametrize("cells", [{7: 1e20}, {7: 1e20, 9: 1e20}, {7: 1e200}])
@pytest.mark.parametrize("how", [("--model", "logistic-regression"), ("--stream",)])
def test_the_cell_is_named_once(separable, tmp_path, n, cells, how):
    write(tmp_path / "data.csv", n, cells)
    done = separable("train", "data.csv", "--target", "label", *how, "-o", "m.sep", "-q")
    assert done.code == 0
    told = [line for line in done.err.splitlines() if "1e+20" in line]
    assert len(told) == 1
    assert "'c'" in told[0]
    assert ("in row 7" if how[0] == "--stream" else "in data row 8") in told[0]
    assert "nothing is learned from them" in " ".join(done.err.split())


def test_an_ordinary_file_is_not_warned_of(separable, tmp_path):
    write(tmp_path / "data.csv", 60, {})
    for how in (("--model", "logistic-regression"), ("--stream",)):
        done = separable("train", "data.csv", "--target", "label", *how, "-o", "m.sep", "-q")
        assert "learned from them" not in done.err
