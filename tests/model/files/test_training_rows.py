"""A model recognizes the rows it was trained on."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from separable import LogisticRegression, Perceptron, TableClassifier, VotedPerceptron, load
from separable.data.rows import as_rows
from separable.model.files import training_rows
from separable.model.files.training_rows import SeenRows, TrainingRows

MASK = (1 << 64) - 1


def mix(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def expected_hash(row: np.ndarray) -> int:
    """The definition in row_hash.hpp, in Python's own integers."""
    total = 0
    for column, x in enumerate(row.tolist()):
        if x != 0:
            bits = int(np.float64(x).view(np.uint64))
            total += mix((bits + (column + 1) * 0x9E3779B97F4A7C15) & MASK)
    return mix(total & MASK)


@pytest.mark.native
def test_hashes_are_those_of_the_definition_in_every_format():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 7)) * rng.integers(0, 2, size=(50, 7))
    X[3] = 0.0
    X[4, 2] = -0.0
    expected = np.sort(np.array([expected_hash(row) for row in X], np.uint64))
    unsorted = sp.csr_array(X)
    unsorted.indices = unsorted.indices.copy()
    for i in range(50):
        part = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
        unsorted.indices[part] = unsorted.indices[part][::-1]
        unsorted.data[part] = unsorted.data[part][::-1]
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (X, np.asfortranarray(X), sp.csr_array(X), unsorted, wide):
        assert np.array_equal(TrainingRows.of(as_rows(form)).hashes, expected)
    single = X.astype(np.float32)
    kept = TrainingRows.of(as_rows(single))
    assert kept.find(as_rows(single.astype(np.float64))).seen == 50


def test_hashes_are_the_same_in_another_process():
    code = (
        "from separable.data.rows import as_rows\n"
        "from separable.model.files.training_rows import TrainingRows\n"
        "print(TrainingRows.of(as_rows([[1.5, -2.0], [0.0, 3.0]])).hashes.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = TrainingRows.of(as_rows([[1.5, -2.0], [0.0, 3.0]])).hashes.tolist()
    assert done.stdout.strip() == str(here)


def test_rows_of_weight_zero_were_not_learned_from():
    X = np.arange(12.0).reshape(4, 3)
    kept = TrainingRows.of(as_rows(X), np.array([1.0, 0.0, 2.0, 1.0]))
    assert (kept.n_rows, kept.find(as_rows(X)).seen) == (3, 3)
    assert kept.find(as_rows(X[1:2])).seen == 0


def test_many_rows_are_sampled_and_still_recognized(monkeypatch):
    monkeypatch.setattr(training_rows, "MAX_HASHES", 1000)
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(20_000, 2)), rng.normal(size=(20_000, 2))
    whole = TrainingRows.of(as_rows(X))
    assert len(whole.hashes) <= 1000
    assert whole.modulus in (16, 32, 64)
    parts = [TrainingRows.of(as_rows(part)) for part in np.split(X, 8)]
    joined = TrainingRows.joined(parts)
    assert joined.modulus == whole.modulus
    assert np.array_equal(joined.hashes, whole.hashes)
    assert joined.n_rows == 20_000
    found = joined.find(as_rows(X))
    assert found.checked == found.seen > 100
    assert found.is_new is False
    again = joined.find(as_rows(new))
    assert (again.seen, again.is_new) == (0, True)
    assert again.checked > 100


@pytest.mark.parametrize(
    ("found", "is_new", "says"),
    [
        (SeenRows(600, 600, 0, 0.0), True, ""),
        (SeenRows(600, 600, 600, 0.0), False, "All 600 rows are identical to rows of the train"),
        (SeenRows(600, 600, 7, 0.0), False, "7 of 600 rows are identical"),
        (SeenRows(600, 600, 600, 0.9), False, "All 600 rows are identical"),
        (SeenRows(600, 600, 590, 1.0), None, "have an identical twin"),
        (SeenRows(600, 600, 60, 0.1), None, "have an identical twin"),
        (SeenRows(600, 20, 20, 0.0), False, "All 20 rows that were checked, of 600,"),
        (SeenRows(600, 0, 0, 0.0), None, ""),
    ],
)
def test_what_is_said_of_rows(found, is_new, says):
    assert found.is_new is is_new
    assert says in found.text()
    assert bool(found.text()) == bool(says)


def test_a_file_keeps_them(tmp_path):
    rng = np.random.default_rng(2)
    table = {"a": rng.normal(size=40), "b": np.where(rng.random(40) < 0.5, "x", "y")}
    y = np.where(table["a"] > 0, "yes", "no")
    fitted = TableClassifier(learner=LogisticRegression()).fit(table, y)
    fitted.save(tmp_path / "m.safetensors")
    model = load(tmp_path / "m.safetensors")
    rows = model.encoder.encode(table)
    assert model.training_rows.find(rows).seen == 40
    assert model.training_rows.n_rows == 40
    moved = {**table, "a": table["a"] + 1e-9}
    assert model.training_rows.find(model.encoder.encode(moved)).seen == 0
    model.save(tmp_path / "again.safetensors")
    first, again = (tmp_path / name for name in ("m.safetensors", "again.safetensors"))
    assert first.read_bytes() == again.read_bytes()
    without = dataclasses.replace(model, training_rows=None)
    without.save(tmp_path / "without.safetensors")
    assert load(tmp_path / "without.safetensors").training_rows is None


@pytest.mark.parametrize(
    ("hashes", "counts", "what"),
    [
        (np.array([2, 1], np.uint64), np.array([2, 1]), "sorted multiples"),
        (np.array([3], np.uint64), np.array([2, 2]), "sorted multiples"),
        (np.array([4], np.uint64), np.array([2, 3]), "not possible"),
        (np.array([4], np.uint64), np.array([0, 1]), "not possible"),
        (np.array([4.0]), np.array([1, 1]), "whole numbers"),
        (np.array([4], np.uint64), np.array([1, 1, 1]), "two numbers"),
        (np.array([4], np.uint64), None, "whole numbers"),
    ],
)
def test_a_file_that_says_the_impossible_is_refused(hashes, counts, what):
    parts = {"training_row_hashes": hashes, "training_row_counts": counts}
    with pytest.raises(ValueError, match=what):
        TrainingRows.from_parts(parts)


def test_merged_models_have_seen_the_rows_of_both():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [5.0, 2.0]])
    y = [0, 1, 0, 1]
    models = [
        dataclasses.replace(
            Perceptron().fit(X[part], [0, 1]).model_,
            training_rows=TrainingRows.of(as_rows(X[part])),
        )
        for part in (slice(0, 2), slice(2, 4))
    ]
    merged = models[0].merge(models[1])
    assert merged.training_rows.find(as_rows(X)).seen == 4
    other = dataclasses.replace(models[1], training_rows=None)
    assert models[0].merge(other).training_rows is None
    votes = dataclasses.replace(
        VotedPerceptron().fit(X, y).model_, training_rows=TrainingRows.of(as_rows(X))
    )
    assert votes.training_rows.find(as_rows(X)).seen == 4
