"""Everyday fits on generated tables of other shapes, by which no limit of the solvers was chosen.

Few rows, few columns, more columns than rows, wide and sparse tables, four classes, and columns in
unlike units.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmarks.everyday import run_tables

if TYPE_CHECKING:
    from benchmarks.report import Section
    from benchmarks.settings import Settings

__all__ = ["STRANGERS", "run_strangers"]

#: Rows and columns of dense tables, and the classes of each.
SHAPES = ((27, 3, 2), (267, 8, 4), (2_667, 5, 2), (6_667, 200, 2), (80, 500, 2))
#: Rows and columns of the sparse table, and the fraction of its numbers that are not 0.
SPARSE_SHAPE, DENSITY = (2_667, 300), 0.03


def _dense(rows: int, columns: int, classes: int | None, _: Settings) -> tuple[Any, Any]:
    rng = np.random.default_rng(rows + columns)
    X = rng.normal(size=(rows, columns)) * np.exp(rng.normal(size=columns))
    return X, _target(X, classes, rng)


def _sparse(classes: int | None, _: Settings) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = sp.random_array(SPARSE_SHAPE, density=DENSITY, rng=rng, format="csr")
    return X, _target(X, classes, rng)


def _target(X: Any, classes: int | None, rng: np.random.Generator) -> Any:
    """Return noisy linear targets, or the class with the largest of several noisy scores."""
    scores = X @ rng.normal(size=(X.shape[1], classes or 1))
    scores += 0.5 * scores.std(axis=0) * rng.normal(size=scores.shape)
    return scores[:, 0] + 3.0 if classes is None else scores.argmax(axis=1)


def _sets() -> dict[str, Any]:
    sets: dict[str, Any] = {}
    for rows, columns, classes in SHAPES:
        size = f"{rows} x {columns}"
        named = f"{size}, {classes} classes"
        sets[named] = ("classification", partial(_dense, rows, columns, classes))
        sets[f"{size}, numbers"] = ("regression", partial(_dense, rows, columns, None))
    size = "sparse {} x {}".format(*SPARSE_SHAPE)
    sets[f"{size}, 2 classes"] = ("classification", partial(_sparse, 2))
    sets[f"{size}, numbers"] = ("regression", partial(_sparse, None))
    return sets


#: A quarter of the rows is held out.
STRANGERS = _sets()


def run_strangers(settings: Settings) -> Section:
    """Fit every pair of the everyday tables on every generated table, at defaults."""
    return run_tables("everyday-strangers", STRANGERS, settings)
