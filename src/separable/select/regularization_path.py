"""Regularization path: the models of many values of C or alpha, trained on all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from separable.certified.estimators.base_block_penalty import BlockLearner
from separable.certified.estimators.base_elastic_net import PenalisedSquares
from separable.certified.fold_lanes import FoldLanes, all_rows, has_lanes
from separable.data.rows import column_names
from separable.fitting.separation_error import naming_columns
from separable.model.words import lined_up
from separable.moments.regression.ridge import Ridge
from separable.select.cross_validation import read_problem
from separable.select.estimators.alpha_folds import AlphaFolds
from separable.select.estimators.c_search import strengths_of
from separable.select.estimators.search_table import falling_alphas
from separable.select.fit_warnings import Notices
from separable.select.fits import refit
from separable.select.results import shown_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.duality.certificate import Certificate
    from separable.certified.estimators.base import CertifiedEstimator
    from separable.certified.fold_lanes import Learned
    from separable.select.fits import Problem
    from separable.typing import Floats


__all__ = ["Path", "path"]

#: Strengths without a list of them; of the lasso, and the smallest over the largest.
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
                [{name: getattr(one, name) for name in names} for one in some]
                for some in self.certificates
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
            for k, some in enumerate(self.certificates):
                whole = sum(some[1:], some[0])
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
    >>> found = path(LogisticRegression(standardize=True), X, y, Cs=[0.01, 1, 100])
    >>> found.coefs.shape, found.certificates[2][0].converged
    ((3, 1, 30), True)
    """
    problem, _ = read_problem(estimator, X, y, sample_weight, None)
    name = type(estimator).__name__
    if not has_lanes(estimator) and not isinstance(estimator, Ridge | BlockLearner):
        raise TypeError(
            f"{name} has no path here: LogisticRegression, LinearSVM and LinearSVR (without "
            "probability=True) have one over C, Lasso, ElasticNet, GroupLasso, LpRegression and "
            "Ridge over alpha. Use search for other learners."
        )
    strength = estimator._regularization_name if has_lanes(estimator) else "alpha"
    other, given = (alphas, Cs) if strength == "C" else (Cs, alphas)
    if other is not None:
        wrong, right = ("alphas", "Cs") if strength == "C" else ("Cs", "alphas")
        raise ValueError(f"{name} has no {wrong}: give {right}.")
    if isinstance(estimator, PenalisedSquares):
        return _path_of_squares(clone(estimator), problem, given)
    if isinstance(estimator, BlockLearner):
        return _path_of_blocks(clone(estimator), problem, given)
    try:
        strengths = strengths_of(STEPS if given is None else given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{strength}s must be numbers. Got {given!r}: {error}.") from None
    if strengths.ndim != 1 or not len(strengths):
        raise ValueError(f"No strengths were given: {given!r}. Give at least one.")
    if strength == "C":
        return _path_of_lanes(clone(estimator), problem, strengths)
    notices = Notices("fit")
    made = []
    for k, each in enumerate(strengths):
        one = clone(estimator).set_params(**{strength: float(each)})
        with notices.of_fold(k):
            made.append(refit(replace(problem, estimator=one), np.arange(problem.n_rows)))
    notices.tell(len(strengths))
    return Path(
        name,
        strength,
        strengths,
        np.stack([each.model_.weights for each in made]),
        np.stack([each.model_.intercept for each in made]),
        None,
        None,
        made[0].model_.classes,
    )


def _path_of_lanes(learner: CertifiedEstimator, problem: Problem, strengths: Floats) -> Path:
    """Train all values of C as lanes."""
    for extreme in (strengths.max(), strengths.min()):
        learner.set_params(C=float(extreme))._check_parameters()
    fold_data = learner._fold_data(problem.X, problem.y, problem.weight)
    lanes = FoldLanes(
        learner, fold_data, [all_rows(problem.n_rows)], strengths, learner._solver_options()
    )
    result: dict[int, Learned] = {}
    notices = Notices("fit")
    with naming_columns(column_names(problem.X)):
        for one in lanes.learn():
            result[one.place] = one
            with notices.of_fold(one.place):
                learner.C, learner._passes = float(strengths[one.place]), one.fitted.passes
                names = column_names(problem.X)
                learner._warn_of_gap(one.fitted.certificates, one.fitted.reason(names))
    notices.tell(len(strengths))
    learned = [result[index] for index in range(len(strengths))]
    return Path(
        type(learner).__name__,
        "C",
        strengths,
        _stacked([one.fitted.published.weights for one in learned]),
        np.stack([one.fitted.published.intercept for one in learned]),
        [one.fitted.certificates for one in learned],
        np.array([int(one.fitted.passes.max()) for one in learned]),
        learned[0].classes(fold_data),
    )


def _stacked(parts: list[Floats]) -> Floats:
    """Return weights, shape (d, k) each, as one array (S, k, d): without a copy if they are one."""
    table = parts[0].base
    if table is not None and table.shape == (len(parts), len(parts[0])):
        same = (np.may_share_memory(*pair) for pair in zip(parts, table, strict=True))
        if all(part.base is table for part in parts) and all(same):
            return table[:, None, :]
    return np.stack([part.T for part in parts])


def _path_of_squares(learner: PenalisedSquares, problem: Problem, given: Any) -> Path:
    """Compute the path of the lasso or the elastic net, from sums or from the rows."""
    learner._check_parameters()
    fold_data = learner._fold_data(problem.X, problem.y, problem.weight)
    folds = AlphaFolds(learner, fold_data, [all_rows(problem.n_rows)])
    count = ALPHA_STEPS if given is None else given
    if isinstance(count, Integral):
        alphas = folds.alphas(int(count), ALPHA_EPS, learner._penalty())
    else:
        alphas = np.array(count, dtype=np.float64)
    _check_alphas(alphas, given)
    (result,) = folds.learn(learner, alphas)
    models = result.models
    notices = Notices("fit")
    for index, one in enumerate(models.certificates):
        with notices.of_fold(index):
            learner._passes = models.steps[index : index + 1]
            learner._warn_of_gap([one])
    notices.tell(len(alphas))
    return Path(
        type(learner).__name__,
        "alpha",
        alphas,
        models.weights[:, None, :],
        models.intercept[:, None],
        [[one] for one in models.certificates],
        models.steps,
        None,
    )


def _check_alphas(alphas: Floats, given: Any) -> None:
    if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alphas must be an int >= 1 or finite floats > 0. Got {given!r}.")


def _path_of_blocks(learner: BlockLearner, problem: Problem, given: Any) -> Path:
    """Compute the path from the rows, from the largest alpha down, with warm starts."""
    learner._check_parameters()
    training = learner._training_data(learner._fold_data(problem.X, problem.y, problem.weight))
    count = ALPHA_STEPS if given is None else given
    if isinstance(count, Integral):
        alphas = falling_alphas(learner._largest_alpha(training), ALPHA_EPS, max(0, int(count)))
    else:
        alphas = np.array(count, dtype=np.float64)
    _check_alphas(alphas, given)
    models = learner._learn_path(training, alphas)
    notices = Notices("fit")
    for index, one in enumerate(models):
        with notices.of_fold(index):
            learner._passes = one.passes
            learner._warn_of_gap(one.certificates, one.reason(column_names(problem.X)))
    notices.tell(len(alphas))
    return Path(
        type(learner).__name__,
        "alpha",
        alphas,
        np.stack([one.published.weights.T for one in models]),
        np.stack([one.published.intercept for one in models]),
        [one.certificates for one in models],
        np.array([int(one.passes.max()) for one in models]),
        training.classes,
    )
