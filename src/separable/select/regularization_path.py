"""Regularization path: the models of many values of C or alpha, trained on all rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import column_names
from separable.estimator import clone
from separable.fitting.fit_warnings import Notices
from separable.fitting.fold_fits import refit
from separable.fitting.separation_error import naming_columns
from separable.fitting.splits import Split
from separable.model.words import lined_up
from separable.moments.regression.ridge import Ridge
from separable.select.cross_validation import read_problem
from separable.select.estimators.c_search import values_of_C
from separable.select.estimators.search_table import falling_alphas
from separable.select.results import shown_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.duality.certificate import Certificate
    from separable.fitting.fold_fits import PathSolver, Problem
    from separable.typing import Floats


__all__ = ["Path", "path"]

#: Values without a list of them; of the lasso, and the smallest over the largest.
STEPS, ALPHA_STEPS, ALPHA_EPS = 20, 100, 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Weights along a regularization path: S values of C or alpha, k models each, d columns.

    Parameters
    ----------
    learner : str
    strength : {"C", "alpha"}
        The varied parameter.
    strengths : ndarray, shape (S,)
        The values, in the given order.
    coefs : ndarray, shape (S, k, d)
    intercepts : ndarray, shape (S, k)
    certificates : list of list of Certificate, or None
        By value and model; None for learners that are solved exactly.
    n_iter : ndarray, shape (S,), or None
        Passes over the rows, the most of any model.
    classes : ndarray or None
    """

    learner: str
    strength: str
    strengths: Floats
    coefs: Floats
    intercepts: Floats
    certificates: list[list[Certificate]] | None
    n_iter: NDArray[np.int64] | None
    classes: NDArray[Any] | None

    @property
    def nonzeros(self) -> NDArray[np.int64]:
        """Number of columns with a nonzero weight in any model, (S,)."""
        counts: NDArray[np.int64] = np.count_nonzero(self.coefs.any(axis=1), axis=1)
        return counts

    @property
    def norms(self) -> Floats:
        """Norm of the weights of all models together, (S,)."""
        norms: Floats = np.sqrt(np.einsum("skd,skd->s", self.coefs, self.coefs))
        return norms

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text."""
        names = ("primal", "dual", "gap", "relative_gap", "converged")
        certificates: list[Any] | None = None
        if self.certificates is not None:
            certificates = [
                [{name: getattr(one, name) for name in names} for one in fitted]
                for fitted in self.certificates
            ]
        return {
            "learner": self.learner,
            "strength": self.strength,
            "strengths": self.strengths.tolist(),
            "coefs": self.coefs.tolist(),
            "intercepts": self.intercepts.tolist(),
            "nonzeros": self.nonzeros.tolist(),
            "certificates": certificates,
            "n_iter": None if self.n_iter is None else self.n_iter.tolist(),
            "classes": None if self.classes is None else self.classes.tolist(),
        }

    def to_text(self) -> str:
        """Return a table of the path with the norms of the weights and their duality gaps."""
        table = [[self.strength, "|w|", "not 0"]]
        table += [
            [shown_number(a), f"{b:.4g}", str(c)]
            for a, b, c in zip(self.strengths, self.norms, self.nonzeros, strict=True)
        ]
        if self.certificates is not None and self.n_iter is not None:
            table[0] += ["objective", "relative gap", "passes"]
            for k, fitted in enumerate(self.certificates):
                whole = sum(fitted[1:], fitted[0])
                figures = [f"{whole.primal:.6g}", f"{whole.relative_gap:.1e}", str(self.n_iter[k])]
                table[1 + k] += figures
        s, k, d = self.coefs.shape
        models = f", {k} models each" if k > 1 else ""
        return (
            f"{self.learner}, {s} values of {self.strength}{models}, {d} columns\n{lined_up(table)}"
        )

    def __repr__(self) -> str:
        return self.to_text()


def path(
    estimator: Any,
    X: Any,
    y: Any,
    Cs: Any = None,
    *,
    alphas: Any = None,
    sample_weight: Any = None,
) -> Path:
    """Compute the regularization path of a learner: fits to all rows over C or alpha.

    Certified learners (``LogisticRegression``, ``LinearSVM``, ``LinearSVR``) fit all values of C
    side by side; ``Lasso``, ``ElasticNet``, ``GroupLasso`` and ``LpRegression`` fit the alphas with
    warm starts. Each fit has its certificate. ``Ridge`` is solved exactly for each alpha.

    Parameters
    ----------
    estimator : estimator
        Its own C or alpha is ignored. It is not modified.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,)
    Cs : int or sequence of float, optional
        An int is a number of values from 1e-4 to 1e4; 20 by default.
    alphas : int or sequence of float, optional
        The same for ``Ridge``. For the others an int is a number of values from the smallest
        alpha that makes all weights 0 down to a thousandth of it; 100 by default.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    Path

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> from separable.select import path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = path(LogisticRegression(standardize=True), X, y, Cs=[0.01, 1, 100])
    >>> result.coefs.shape, result.certificates[2][0].converged
    ((3, 1, 30), True)
    """
    problem, _ = read_problem(estimator, X, y, sample_weight, None)
    name, learner = type(estimator).__name__, clone(estimator)
    is_ridge, has_solver = isinstance(learner, Ridge), hasattr(learner, "path_solver")
    if not (is_ridge or has_solver) or getattr(learner, "probability", False):
        raise TypeError(
            f"{name} has no path here: LogisticRegression, LinearSVM and LinearSVR (without "
            "probability=True) have one over C, Lasso, ElasticNet, GroupLasso, LpRegression and "
            "Ridge over alpha. Use search for other learners."
        )
    parameter = str(learner.regularization)
    other, given = (alphas, Cs) if parameter == "C" else (Cs, alphas)
    if other is not None:
        wrong, right = ("alphas", "Cs") if parameter == "C" else ("Cs", "alphas")
        raise ValueError(f"{name} has no {wrong}: give {right}.")
    if is_ridge:
        return _path_of_refits(learner, problem, _values(parameter, given))
    data = learner.fold_data(problem.X, problem.y, problem.weight)
    every = Split(problem.n_rows, np.empty(0, np.intp), np.arange(problem.n_rows))
    solver: PathSolver = learner.path_solver(data, [every])
    with naming_columns(column_names(problem.X)):
        values = _values(parameter, given) if parameter == "C" else _alphas(solver, given)
        return _path_of(learner, problem, parameter, values, solver)


def _values(parameter: str, given: Any) -> Floats:
    """Return the values to fit, by default from 1e-4 to 1e4."""
    try:
        values = values_of_C(STEPS if given is None else given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{parameter}s must be numbers. Got {given!r}: {error}.") from None
    if values.ndim != 1 or not len(values):
        raise ValueError(f"No values of {parameter} were given: {given!r}. Give at least one.")
    return values


def _alphas(solver: PathSolver, given: Any) -> Floats:
    """Return the alphas to fit, by default from the smallest one of weights 0 down."""
    count = ALPHA_STEPS if given is None else given
    if isinstance(count, Integral):
        alphas = falling_alphas(solver.largest(), ALPHA_EPS, max(0, int(count)))
    else:
        alphas = np.array(count, dtype=np.float64)
    if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alphas must be an int >= 1 or finite floats > 0. Got {given!r}.")
    return alphas


def _path_of(
    learner: Any, problem: Problem, parameter: str, values: Floats, solver: PathSolver
) -> Path:
    """Solve all values; warn of those that did not converge."""
    notices, parts = Notices("fit"), []
    for part in solver.solve(values):
        for position, index in enumerate(part.indices):
            with notices.of_fold(index):
                part.warn(position, problem.X)
        parts.append(part)
    notices.tell(len(values))
    parts.sort(key=lambda part: part.indices[0])
    return Path(
        type(learner).__name__,
        parameter,
        values,
        _stacked([part.weights for part in parts]),
        np.concatenate([part.intercept for part in parts]),
        [each for part in parts for each in part.certificates],
        np.concatenate([part.n_iter for part in parts]),
        parts[0].classes,
    )


def _stacked(parts: list[Floats]) -> Floats:
    """Return weights, (s, k, d) each, as one array: without a copy if they are one."""
    if len(parts) == 1:
        return parts[0]
    table = parts[0].base
    if table is not None and table.shape == (len(parts), parts[0].shape[2]):
        same = (np.may_share_memory(*pair) for pair in zip(parts, table, strict=True))
        if all(part.base is table for part in parts) and all(same):
            return table[:, None, :]
    return np.concatenate(parts)


def _path_of_refits(learner: Any, problem: Problem, values: Floats) -> Path:
    """Fit a learner that is solved exactly to each alpha."""
    notices, made = Notices("fit"), []
    for k, value in enumerate(values):
        one = clone(learner).set_params(alpha=float(value))
        with notices.of_fold(k):
            made.append(refit(problem, np.arange(problem.n_rows), one).model_)
    notices.tell(len(values))
    return Path(
        type(learner).__name__,
        "alpha",
        values,
        np.stack([each.weights for each in made]),
        np.stack([each.intercept for each in made]),
        None,
        None,
        made[0].classes,
    )
