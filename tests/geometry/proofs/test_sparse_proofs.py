from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from separable import LogisticRegression
from separable.geometry import SeparationError, separability
from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.proofs import sparse_proofs
from separable.geometry.proofs.sparse_proofs import sparse_multipliers


@pytest.mark.parametrize("dimension", [1, 4])
def test_few_of_many_vectors_cancel_and_span_what_all_do(dimension, monkeypatch):
    monkeypatch.setattr(sparse_proofs, "MIN_SAMPLE", 30)
    half = np.random.default_rng(0).normal(size=(200, dimension))
    vectors = np.vstack([half, -half])
    chosen, a = sparse_multipliers(WrittenRows(vectors), np.ones(400))
    assert len(chosen) < 60
    assert (a > 0).all()
    np.testing.assert_allclose(a @ vectors[chosen], 0, atol=1e-7 * np.abs(vectors).sum())
    assert np.linalg.matrix_rank(vectors[chosen]) == dimension


def test_a_few_vectors_stay_as_they_are():
    a = np.array([0.5, 0.0, 0.5])
    chosen, kept = sparse_multipliers(WrittenRows(np.array([[1.0], [2.0], [-1.0]])), a)
    assert chosen.tolist() == [0, 2]
    assert kept.tolist() == [0.5, 0.5]


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    X[:, 3] = np.exp(9 + X[:, 3])  # of another size
    X[:, 5] = rng.random(n) < 0.05
    return X, rng


def test_a_class_that_one_column_tells_names_that_column():
    X, rng = table()
    y = np.where(X[:, 5] == 1, "rare", rng.choice(["a", "b"], len(X)))
    verdict = separability(X, y)
    assert verdict.kind == "quasi-separable"
    assert verdict.proof.columns == (5,)
    assert verdict.verify(X, y, exact=True)
    left = verdict.proof.boundary
    assert set(y[left[:, 0]]) == {"a", "b"}
    assert not (verdict.classes[left[:, 1]] == "rare").any()
    assert f"{len(left)} pairs of a row and another class on the boundary" in verdict.to_text()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_column_that_separates_alone_is_named(classes):
    X, rng = table()
    X[:, 2] = 4.0 * rng.permuted(np.arange(len(X)) % classes) + rng.uniform(-1, 1, len(X))
    y = np.rint(X[:, 2] / 4).astype(int)
    names = ["age", "bmi", "leak", "income", "dose", "flag"]
    with pytest.raises(SeparationError, match="separable, by 'leak' alone, so") as raised:
        LogisticRegression(C=np.inf).fit(pd.DataFrame(X, columns=names), y)
    assert raised.value.columns == ("leak",)
    assert raised.value.verdict.separable


def test_two_columns_that_separate_together_are_named():
    X, rng = table()
    y = rng.integers(0, 2, len(X))
    X[:, 4] = 3 * X[:, 4]
    X[:, 0] = X[:, 4] + np.where(y == 1, 0.2, -0.2)
    with pytest.raises(SeparationError, match="separable, by 'x0', 'x4' together"):
        LogisticRegression(C=np.inf).fit(X, y)


def test_where_all_columns_are_needed_all_are_meant():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    X += np.where(y == 1, 0.01, -0.01)[:, None]
    with pytest.raises(SeparationError, match="by all columns together") as raised:
        LogisticRegression(C=np.inf).fit(X, y)
    assert raised.value.columns == ()
