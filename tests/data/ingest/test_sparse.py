"""SciPy matrices of every format: converted as SciPy does, refused where an index is outside."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from separable import LogisticRegression, Perceptron
from separable.data.rows import as_rows

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
KINDS = [f"{name}_{kind}" for name in FORMATS for kind in ("array", "matrix")]


def matrix(kind: str, n: int = 12, d: int = 8):
    return getattr(sp, kind)(sp.random(n, d, 0.4, random_state=0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
@pytest.mark.parametrize("kind", KINDS)
def test_every_format(kind, dtype):
    X = matrix(kind)
    X = X.astype(dtype) if kind[:3] != "lil" else getattr(sp, kind)(X.toarray().astype(dtype))
    rows = as_rows(X)
    assert rows.values.dtype == (dtype if dtype == np.float32 else np.float64)
    assert np.array_equal(rows.to_matrix().toarray(), X.toarray())


def test_duplicates_are_kept_as_scipy_keeps_them():
    X = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert as_rows(X).to_matrix().toarray().tolist() == [[0, 3], [4, 0]]


def damaged(kind: str, index: int):
    """A matrix with one index that is outside."""
    X = matrix(kind)
    if kind.startswith("coo"):
        X.row[5] = index
    elif kind.startswith("lil"):
        X.rows[3][0] = index
    elif kind.startswith("dok"):
        dict.__setitem__(X._dict, (index, 0), 1.0) if hasattr(X, "_dict") else None
    else:
        X.indices[5] = index
    return X


@pytest.mark.parametrize("index", [10**8, 2**31 - 1, -1, -(2**31), 12])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind[:3] != "dia"])
def test_an_index_that_is_outside(kind, index):
    X = damaged(kind, index)
    with pytest.raises(ValueError, match=rf"index {index} .*outside 0 \.\.\. "):
        as_rows(X)
    with pytest.raises(ValueError, match="outside"):
        Perceptron().fit(X, [0, 1] * 6)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "bsr_array"])
def test_an_indptr_that_does_not_fit(kind):
    for position, value in ((0, 5), (2, 10**6), (2, -7), (-1, 10**6)):
        X = matrix(kind)
        X.indptr[position] = value
        with pytest.raises(ValueError, match="indptr"):
            as_rows(X)
    X = matrix(kind)
    X.indptr = X.indptr[:-1]
    with pytest.raises(ValueError, match="indptr"):
        as_rows(X)
    X = matrix(kind)
    X.data = X.data[:3]
    with pytest.raises(ValueError, match="3 values"):
        as_rows(X)


def test_other_damage():
    X = matrix("coo_array")
    X.data = X.data[:-1]
    with pytest.raises(ValueError, match="values, "):
        as_rows(X)
    X = matrix("lil_array")
    X.rows[2].append(1)
    with pytest.raises(ValueError, match="numbers of indices and values differ"):
        as_rows(X)
    X = matrix("csr_array")
    X.indices = X.indices.astype(float)
    with pytest.raises(ValueError, match="indices of dtype float64"):
        as_rows(X)
    X = matrix("bsr_array")
    X.data = X.data[:, :, :0]
    with pytest.raises(ValueError, match="blocks"):
        as_rows(X)


def test_what_is_indexed_by_belongs_to_nobody_else():
    X = matrix("csr_array")
    rows = as_rows(X)
    assert not np.shares_memory(rows.indices, X.indices)
    assert not np.shares_memory(rows.indptr, X.indptr)
    assert np.shares_memory(rows.values, X.data)


MUTATION = """
import sys, threading, time, warnings
import numpy as np, scipy.sparse as sp
import separable
warnings.simplefilter("ignore")
sys.setswitchinterval(1e-5)
def fit(kind, learner):
    A = sp.random(6000, 50, 0.2, random_state=0, format=kind)
    y = (A @ np.ones(50) > 5).astype(int)
    for delay in (0.001, 0.003, 0.01, 0.03):
        X, labels = A.copy(), y.copy()
        def mutate():
            time.sleep(delay)
            X.indices[:] = 2**31 - 1
            X.indptr[1:] = 2**31 - 1
            labels[:] = 10**9
        thread = threading.Thread(target=mutate)
        thread.start()
        try:
            learner.fit(X, labels)
        except ValueError:
            pass  # it was changed before it was copied
        thread.join()
for kind in ("csr", "csc"):
    for name in ("SGDClassifier", "LogisticRegression"):
        fit(kind, getattr(separable, name)(max_iter=5))
        print(kind, name, flush=True)
"""


@pytest.fixture(scope="module")
def mutated() -> subprocess.CompletedProcess[str]:
    """One process for all fits: a crash ends it before their lines are printed."""
    return subprocess.run(
        [sys.executable, "-c", MUTATION], capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("learner", ["SGDClassifier", "LogisticRegression"])
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_a_matrix_that_another_thread_changes_during_a_fit(mutated, kind, learner):
    assert f"{kind} {learner}\n" in mutated.stdout, (mutated.returncode, mutated.stderr[-2000:])


def test_a_fit_that_nobody_disturbs_learns_the_same():
    X = sp.random(200, 10, 0.5, random_state=0, format="csr")
    y = (X.toarray().sum(axis=1) > 2.5).astype(int)
    dense = LogisticRegression().fit(X.toarray(), y)
    for kind in (kind for kind in FORMATS if kind != "dia"):
        result = LogisticRegression().fit(X.asformat(kind), y)
        assert np.allclose(result.coef_, dense.coef_, atol=1e-6)
