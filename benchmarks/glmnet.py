"""glmnet, in R: a path timed by R itself, with the data handed over as files."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.objective_race import Entrant, Weights

__all__ = ["glmnet_path"]

SCRIPT = Path(__file__).with_name("glmnet.R")
#: Its own is 1e-7; loosest first.
LADDER = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)


def glmnet_path(family: str, X: Any, y: Any, lambdas: Any) -> list[Entrant]:
    """Return glmnet, or nothing, aloud, where it is not installed.

    Parameters
    ----------
    family : {"gaussian", "binomial"}
    X : ndarray or CSR matrix
    y : ndarray
        Numbers, or 0 and 1.
    lambdas : ndarray
        Its strengths, falling: the means of losses plus lambda |w|_1 is minimised.
    """
    if not _installed():
        print("glmnet is not installed (Rscript and r-cran-glmnet): left out.\n")
        return []

    def fit(tol: float | None) -> Weights:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _write(folder, X, y, lambdas)
            threshold = "default" if tol is None else repr(tol)
            subprocess.run(["Rscript", SCRIPT, folder, family, threshold], check=True)
            return _read(folder, X.shape[1])

    return [Entrant("glmnet", fit, LADDER, once=True)]


@cache
def _installed() -> bool:
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", "suppressPackageStartupMessages(library(glmnet))"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def _write(folder: Path, X: Any, y: Any, lambdas: Any) -> None:
    nonzeros = 0
    if sp.issparse(X):
        X = sp.csc_matrix(X, dtype=np.float64)
        X.sort_indices()
        nonzeros = X.nnz
        X.indices.astype(np.int32).tofile(folder / "i")
        X.indptr.astype(np.int32).tofile(folder / "p")
        X.data.tofile(folder / "x")
    else:
        np.asarray(X, dtype=np.float64).T.tofile(folder / "x")
    np.array([*X.shape, len(lambdas), nonzeros], dtype=np.int32).tofile(folder / "shape")
    np.asarray(y, dtype=np.float64).tofile(folder / "y")
    np.asarray(lambdas, dtype=np.float64).tofile(folder / "lambda")


def _read(folder: Path, d: int) -> Weights:
    seconds, intercept, w = (np.fromfile(folder / name) for name in ("seconds", "a0", "w"))
    return Weights(w.reshape(-1, d), intercept, (float(seconds[0]), float(seconds[1])))
