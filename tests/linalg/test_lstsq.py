"""Least squares that LAPACK is never given NaN or infinity for."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from separable.certified.solvers.coordinate_descent import fitted_dual
from separable.certified.solvers.interior_point.piecewise_linear_interior import _least
from separable.data.checks.leakage import _solved
from separable.linalg.lstsq import lstsq

SOURCE = Path(__file__).parents[2] / "src" / "separable"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nothing_is_printed(bad, capfd):
    matrix = np.eye(4)
    matrix[1, 2] = bad
    for call in (
        lambda: lstsq(matrix, np.ones(4)),
        lambda: lstsq(np.eye(4), np.full(4, bad)),
        lambda: _least(matrix, np.ones(4)),
    ):
        with pytest.raises(LinAlgError), np.errstate(all="ignore"):
            call()
    z = np.ones(4)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(fitted_dual(matrix, z, z, z, is_centred=False), z)
    printed = capfd.readouterr()
    assert printed.err == printed.out == ""


def test_columns_whose_products_overflow_have_no_finding(capfd):
    X = np.random.default_rng(0).normal(size=(9, 3)) * 1e200
    np.testing.assert_array_equal(_solved(X, X[:, 0]), np.zeros(3))
    assert capfd.readouterr().err == ""


def test_solutions_are_those_of_numpy():
    rng = np.random.default_rng(1)
    for _ in range(20):
        matrix, right = rng.normal(size=(6, 3)) @ rng.normal(size=(3, 4)), rng.normal(size=6)
        expected = np.linalg.pinv(matrix, rcond=1e-10) @ right
        np.testing.assert_allclose(lstsq(matrix, right, cond=1e-10), expected, atol=1e-9)


def test_no_other_module_calls_lapacks_least_squares():
    """gelsd prints where it is given NaN: one function checks, and one module without SciPy."""
    calls = []
    for path in SOURCE.rglob("*.py"):
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if "lstsq" in source else ():
            direct = isinstance(node, ast.Attribute) and node.attr == "lstsq"
            imported = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy")
            if direct or (imported and any(name.name == "lstsq" for name in node.names)):
                calls.append(path.relative_to(SOURCE).as_posix())
    assert sorted(set(calls)) == ["data/checks/leakage.py", "linalg/lstsq.py"]
