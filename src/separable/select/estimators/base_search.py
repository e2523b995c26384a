"""Base class of estimators that select C or alpha, and l1_ratio, by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import Certificate
from separable.certified.estimators.base import SOLVER_PARAMETERS, CertifiedEstimator
from separable.data.rows import column_names
from separable.estimator import (
    check_is_fitted,
    check_random_state,
    clone,
    convergence_warning,
    is_regressor,
)
from separable.fitting.base import LinearEstimator
from separable.fitting.best_candidate import refuse_undefined, warn_of_edge
from separable.fitting.fold_fits import FoldData, FoldPath, PathSolver
from separable.fitting.model_attributes import changed_model_error
from separable.fitting.predictions import predictions_from_scores, spread
from separable.fitting.scorers import SCORING, Scorer, read_scoring, score_rows
from separable.fitting.separation_error import naming_columns
from separable.fitting.splits import (
    CV,
    DEFAULT_FOLDS,
    GIVE_SPLITTER,
    Split,
    default_folds,
    read_folds,
    take,
)
from separable.model.linear_model import LinearModel
from separable.model.parameters import COUNT, UNIT_INTERVAL, Requirement, one_of
from separable.select.cross_validation import noting
from separable.select.estimators import search_table
from separable.select.estimators.search_table import SearchTable
from separable.typing import Floats

AnyValue = TypeVar("AnyValue", bound=np.generic)

#: The relative gap of models of the search without ``tol``, if they need no certificate.
SEARCH_TOL = 1e-4


def _is_ratios(value: Any) -> bool:
    if isinstance(value, list | tuple | np.ndarray):
        return len(value) > 0 and all(UNIT_INTERVAL.holds(each) for each in value)
    return UNIT_INTERVAL.holds(value)


L1_RATIOS = Requirement("a float from 0 to 1, or a sequence of such", _is_ratios)


def grid_requirement(*, finite: bool) -> Requirement:
    """Return the requirement of a grid: a number of values, or positive values."""
    words = "finite floats" if finite else "floats"
    return Requirement(
        f"an int >= 1 or a sequence of {words} > 0", partial(_is_grid, finite=finite)
    )


def _is_grid(value: Any, *, finite: bool) -> bool:
    if isinstance(value, Integral | np.bool_):
        return COUNT.holds(value)
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    is_list = numbers.ndim == 1 and len(numbers) > 0 and bool((numbers > 0).all())
    return is_list and (not finite or bool(np.isfinite(numbers).all()))


@dataclass(eq=False, repr=False, kw_only=True)
class RegularizationSearch(LinearEstimator):
    """An estimator that selects its regularization by cross-validation.

    It has a learner with one C or alpha, whose `PathSolver` fits all folds and values, and which is
    then fitted to all rows with the best value.

    Parameters
    ----------
    standardize : bool
        Penalize the weights of standardized columns; each fold is standardized by its training
        rows.
    scoring : str, callable or None
        A scorer of scikit-learn. None: the negative mean squared error.
    max_iter : int
        Maximum number of passes over the rows; with few columns, maximum number of steps, each of a
        few passes.
    n_jobs : int or None
        Number of threads that share the models; None: 1, -1: all. The result is bit-identical for
        any number.
    """

    cv: Any = None
    scoring: Any = None
    select: str = "min"
    fit_intercept: bool = True
    standardize: bool = False
    tol: float | None = None
    max_iter: int = 1000
    random_state: Any = 0
    n_jobs: int | None = None
    callback: Callable[[int, float], Any] | None = None

    refit = True

    _family = "certified"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "cv": CV,
        "scoring": SCORING,
        "select": one_of("min", "1se"),
        **SOLVER_PARAMETERS,
    }

    #: The class of the learner, and the l1_ratios to try, or the parameter that has them.
    _kind: ClassVar[Any]
    _ratios: ClassVar[str | float] = 0.0
    #: The parameter that is selected, and what to try instead if models do not converge.
    _regularization: ClassVar[str]
    _milder: ClassVar[str]
    #: The score without ``scoring``.
    _default_scoring: ClassVar[str]

    _table: SearchTable = field(init=False)
    _best: CertifiedEstimator | None = field(init=False)

    # ------------------------------------------------------------------ what a learner says

    def _learner(self, l1_ratio: float) -> Any:
        """Return the learner with the parameters of this one."""
        own = {**self.get_params(deep=False), "l1_ratio": l1_ratio}
        names = self._kind().get_params(deep=False)
        return self._kind(**{name: own[name] for name in names if name in own})

    def _l1_ratios(self) -> Floats:
        """Return every l1_ratio to try."""
        ratios: Any = self._ratios
        given = getattr(self, ratios) if isinstance(ratios, str) else ratios
        return np.atleast_1d(np.asarray(given, dtype=np.float64))

    def _grid(self, solver: PathSolver, ratios: Floats) -> Floats:
        """Return the values of C or alpha to try with each l1_ratio, (R, S)."""
        raise NotImplementedError

    def _default_scores(self, models: FoldPath, data: FoldData, split: Split) -> Any:
        """Return the scores of a classifier on a fold without ``scoring``; larger is better."""
        raise NotImplementedError

    def _warns_of_edge(self, value: float) -> bool:
        """Return whether a selected value at the edge of the grid is worth a warning."""
        raise NotImplementedError

    def _by_fold(self, values: NDArray[AnyValue]) -> NDArray[AnyValue]:
        """Return values by fold, l1_ratio and C or alpha in the shape of results."""
        raise NotImplementedError

    # ------------------------------------------------------------------ searching

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select the regularization by cross-validation, then fit all rows with the best.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class, or the number, of each row.
        sample_weight : array-like of shape (n,), optional
            Weight k is the row k times, in learning and in scores; 0 is no row. Folds are of the
            rows as given: rows that are repeated instead are shared out to other folds.
        groups : array-like of shape (n,), optional
            For ``cv``: a splitter that takes groups, or a number of folds, which then keeps the
            rows of a group together.

        Returns
        -------
        self
        """
        self.check_parameters()
        ratios = self._l1_ratios()
        learner = self._learner(float(ratios[0]))
        data = learner.fold_data(X, y, sample_weight)
        solver = learner.path_solver(data, self._splits(learner, data, groups))
        with naming_columns(column_names(X)):
            table = self._search(solver, data, ratios, X)
        self._remember_columns(X)
        self._check_table(table, solver)
        self._table, self._best, self._model = table, None, None
        if self.refit:
            row, column = table.chosen
            best = solver.beside(self._learner(table.ratio))
            evidence = self._evidence(table)
            fitted = self._best = best.refit(table.values[row, : column + 1], X, evidence)
            self._model = replace(
                fitted.model_,
                learner=type(self).__name__,
                parameters=self._plain_parameters(),
            )
        return self

    def _splits(self, learner: Any, data: FoldData, groups: Any) -> list[Split]:
        """Return the folds; without ``cv`` shuffled ones."""
        learner.check_data(data)
        cv, n = self.cv, data.rows.n_rows
        if cv is None:
            cv = DEFAULT_FOLDS if groups is not None else self._default_folds(learner, data)
        X, y = data.rows.to_matrix(), data.labels
        splits = read_folds(cv, self, X, y, groups, n, remedy=GIVE_SPLITTER, stacklevel=3)
        for fold, split in enumerate(splits):
            for rows, what in ((split.train, "trains on"), (split.test, "holds out")):
                if data.weight is not None and not data.weight[rows].any():
                    raise ValueError(
                        f"All rows that fold {fold} {what} have weight 0. Use fewer folds, or drop "
                        "rows of weight 0."
                    )
        return splits

    def _default_folds(self, learner: Any, data: FoldData) -> Any:
        """Return the folds without ``cv``; refuse too few rows to hold any out."""
        rarest, n = None, data.rows.n_rows
        what = f"there is n_samples = {n}" if n < 2 else ""
        if data.classes is not None:
            present = slice(None) if data.weight is None else data.weight > 0
            counts = np.unique(data.target[present], return_counts=True)[1]
            rarest = int(counts.min())
            if len(counts) == 2 and rarest < 2:
                what = "one of the two classes has a single row"
        if what:
            raise ValueError(
                f"{type(self).__name__} holds rows out to choose {self._regularization}, but "
                f"{what}. Use {type(learner).__name__} with {'a' if rarest else 'an'} "
                f"{self._regularization}, or add rows."
            )
        seed = int(check_random_state(self.random_state).randint(0, 2**31 - 1))
        return default_folds(data.target, seed, rarest)

    def _search(self, solver: PathSolver, data: FoldData, ratios: Floats, X: Any) -> SearchTable:
        """Fit and score all folds, l1_ratios and values."""
        scorers = None
        if self.scoring is not None:
            scorers = read_scoring(self.scoring, self._learner(float(ratios[0])))
        certified = is_regressor(self) or (scorers is not None and scorers[0].metric is None)
        k = 1 if data.classes is None or len(data.classes) == 2 else len(data.classes)
        table = SearchTable.empty(
            self._regularization,
            self.select,
            ratios,
            self._grid(solver, ratios),
            n_folds=len(solver.splits),
            n_models=1 if self._link() == "softmax" else k,
            path_shape=(k, data.rows.n_features + bool(self.fit_intercept)),
        )
        for row, ratio in enumerate(ratios.tolist()):
            learner = self._learner(ratio)
            for models in solver.beside(learner).solve(
                table.values[row],
                certified=certified,
                tol=None if certified else SEARCH_TOL,
                keep_weights=certified or table.paths is not None,
            ):
                table.keep(row, models)
                at, split = (models.fold, row, models.indices), solver.splits[models.fold]
                if data.classes is None:
                    table.errors[at] = models.squared_errors()
                with noting(models.fold, len(solver.splits)):
                    if scorers is not None:
                        values = table.values[row]
                        scores = self._scores(scorers, learner, values, models, data, split, X)
                    elif data.classes is None:
                        scores = -table.errors[at]
                    else:
                        scores = self._default_scores(models, data, split)
                    table.scores[at] = scores
        return table

    def _scores(
        self,
        scorers: list[Scorer],
        learner: Any,
        values: Floats,
        models: FoldPath,
        data: FoldData,
        split: Split,
        X: Any,
    ) -> Any:
        """Return the scores of the held-out rows of a fold by ``scoring``, (s,)."""
        weight = None if data.weight is None else data.weight[split.test]
        result, X_test = [], None
        for position, index in enumerate(models.indices):
            predictions = predictions_from_scores(learner, models.scores(position), models.classes)
            fitted = learner
            if scorers[0].metric is None:  # it may ask for anything
                fitted = clone(learner).set_params(**{self._regularization: float(values[index])})
                fitted, X_test = models.estimator(position, fitted, X), take(X, split.test)
            y, predictions = data.labels[split.test], spread(predictions, data.classes)
            scores = score_rows(scorers, fitted, predictions, X_test, y, weight)
            if len(scores) > 1:
                raise ValueError(f"The scorer gives several scores, {list(scores)}. One is needed.")
            result.append(next(iter(scores.values())))
        return result

    def _check_table(self, table: SearchTable, solver: PathSolver) -> None:
        """Refuse scores that are not finite; warn of the edge of the grid and of short fits."""
        is_regression = is_regressor(self)
        refuse_undefined(table.name, table.values, table.mean, is_regression=is_regression)
        if table.edge is not None and self._warns_of_edge(table.edge[0]):
            warn_of_edge(table.name, *table.edge, stacklevel=3)
        known = table.known_certificates()
        short = [one for one in known if not one.converged]
        if not short:
            return
        worst = max(short, key=lambda one: one.relative_gap)
        advice = solver.remedy(self._column_names) or (
            "More passes (max_iter), scaled columns (standardize=True) or "
            f"{self._milder} bring them closer."
        )
        warnings.warn(
            f"{type(self).__name__} stopped {len(short)} of {len(known)} models of its search "
            f"before they converged, the worst with a relative gap of {worst.relative_gap:.1e}; "
            f"{worst.tol:.1e} was requested. Their scores may be off. {advice}",
            convergence_warning(),
            stacklevel=3,
        )

    def _evidence(self, table: SearchTable) -> dict[str, Any]:
        """Return the evidence that a model keeps of the search."""
        scoring = self.scoring if isinstance(self.scoring, str) else "callable"
        return table.evidence(self._default_scoring if self.scoring is None else scoring)

    # ------------------------------------------------------------------ results

    def _searched(self) -> SearchTable:
        if getattr(self, "_table", None) is None:
            check_is_fitted(self)
        return self._table

    @property
    def best_score_(self) -> float:
        """Mean score of the selected C or alpha."""
        return self._searched().best_score

    def _paths(self) -> Floats:
        """Return the weights of all folds and values, or say why there are none."""
        paths = self._searched().paths
        if paths is None:
            raise AttributeError(
                f"coefs_paths_ has more than {search_table.MOST_PATHS} numbers and is not kept. "
                "separable.select.path gives the weights of all values from all rows."
            )
        return paths

    @property
    def scores_(self) -> Floats:
        """The score of each fold and value; the larger the better."""
        return self._by_fold(self._searched().scores)

    @property
    def n_iter_(self) -> Any:
        """Passes of each fold and value: the most of any class."""
        return self._by_fold(self._searched().n_iter)

    @property
    def certificate_(self) -> Certificate:
        """How far from the optimum the last fit is, at most; of all models together."""
        return self._fitted().certificate_

    @property
    def certificates_(self) -> list[Certificate]:
        """The certificate of each model of the last fit."""
        return self._fitted().certificates_

    @property
    def mean_(self) -> Floats:
        """The mean of each dense column, with ``standardize=True`` and an intercept."""
        return self._fitted().mean_

    @property
    def scale_(self) -> Floats:
        """The standard deviation of each column, with ``standardize=True``; 0: constant."""
        return self._fitted().scale_

    @property
    def model_(self) -> LinearModel:
        """The fitted model, for prediction, explanation and saving."""
        return self._weights_only()

    def _fitted(self) -> CertifiedEstimator:
        """Return the learner that was fitted to all rows."""
        self._weights_only()
        best: CertifiedEstimator | None = getattr(self, "_best", None)
        if best is None:
            raise changed_model_error("certificate_")
        return best

    def _take_model(self, model: LinearModel) -> None:
        self._best, self._model = None, model

    def _weights_only(self) -> LinearModel:
        if not self.refit and getattr(self, "_table", None) is not None:
            raise AttributeError(
                f"{type(self).__name__}(refit=False) only searches: there is no model. Use "
                f"refit=True, or fit with {self._regularization}={self._table.value:g}."
            )
        check_is_fitted(self)
        assert self._model is not None
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None
