"""Base of classifiers that select C by cross-validation, with folds x Cs as lanes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.metrics import check_scoring

from separable.certified.estimators.base_classifier import CertifiedClassifier
from separable.certified.fold_lanes import FoldLanes
from separable.certified.solvers.policy import solver_of
from separable.data.rows import column_names
from separable.fitting.best_candidate import warn_of_edge
from separable.fitting.folds import FOLDS, GIVE_SPLITTER, default_folds, read_folds
from separable.fitting.predictions import answers_of, spread
from separable.fitting.scorers import SCORING, read_scoring, score_rows
from separable.fitting.separation_error import naming_columns
from separable.fitting.splits import CV, take
from separable.model.parameters import BOOL, Requirement, one_of
from separable.select.estimators.base_search import (
    Searched,
    are_paths_kept,
    evidence_of_search,
    is_grid,
    kept_paths,
    one_score,
    warn_of_short_fits,
)
from separable.select.estimators.search_table import SearchTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.estimators.base import CertifiedEstimator, FoldData, TrainingData
    from separable.certified.fold_lanes import Learned
    from separable.fitting.scorers import Scorer
    from separable.fitting.splits import Split
    from separable.typing import Floats


__all__ = ["C_GRID", "FINITE_C_GRID", "CSearch", "strengths_of"]

#: The relative gap of models of the search without ``tol``.
SEARCH_TOL = 1e-4


def _is_finite(value: Any) -> bool:
    return bool(np.isfinite(np.asarray(value, dtype=np.float64)).all())


C_GRID = Requirement("an int >= 1 or a sequence of floats > 0", is_grid)
FINITE_C_GRID = Requirement(
    "an int >= 1 or a sequence of finite floats > 0", lambda v: is_grid(v) and _is_finite(v)
)


def strengths_of(Cs: Any) -> Floats:
    """Return the strengths that ``Cs`` means: an int is so many from 1e-4 to 1e4."""
    if isinstance(Cs, Integral):
        return np.logspace(-4, 4, int(Cs))
    return np.array(Cs, dtype=np.float64)


@dataclass(frozen=True)
class Table(SearchTable):
    """Results of a search: F folds, S values of C, k columns of weights each.

    Of certificates there are (F, S, k), or (F, S, 1) of classes learned together, and paths are (F,
    S, k, d) or (F, S, k, d + 1); NaN for a class that a fold has not learned.

    Parameters
    ----------
    l1_ratio : float, default 0.0
        The share of l1 that all of this was found with.
    """

    l1_ratio: float = 0.0

    @property
    def penalty(self) -> Floats:
        """1 / C."""
        return 1.0 / self.strengths


class CSearch(Searched[Table], CertifiedClassifier):
    """Classifier that fits all folds and Cs as lanes, then all rows with the best C."""

    Cs: Any
    cv: Any
    scoring: Any
    select: str
    refit: bool
    warm_start = False

    _requirements: ClassVar[dict[str, Requirement]] = {
        "Cs": C_GRID,
        "cv": CV,
        "scoring": SCORING,
        "select": one_of("min", "1se"),
        "refit": BOOL,
        **{
            name: each
            for name, each in CertifiedClassifier._requirements.items()
            if name != "warm_start"
        },
    }

    # ------------------------------------------------------------------ what a learner says

    def _plain(self) -> CertifiedEstimator:
        """Return the estimator with one C and these parameters."""
        raise NotImplementedError

    def _default_score(self, learned: Learned, fold_data: FoldData, split: Split) -> float:
        """Return the score of a fold without ``scoring``; the larger the better."""
        raise NotImplementedError

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of rows by ``scoring``, as scikit-learn's; None: the accuracy.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        if self.scoring is None:
            return float(super().score(X, y, sample_weight))
        weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(check_scoring(self, scoring=self.scoring)(self, X, y, **weighed))

    # ------------------------------------------------------------------ searching

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select C by cross-validation, then fit all rows with the best.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class of each row.
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
        self._check_parameters()
        fold_data = self._fold_data(X, y, sample_weight)
        training = self._training_data(
            fold_data
        )  # what cannot be learned is told before the search
        labels = fold_data.labels
        cv = self.cv
        if cv is None:
            cv = self._folds(fold_data) if groups is None else FOLDS
        matrix, n = fold_data.rows.to_matrix(), len(labels)
        splits = read_folds(cv, self, matrix, labels, groups, n, remedy=GIVE_SPLITTER)
        with naming_columns(column_names(X)):
            table = self._search(fold_data, splits, X)
        self._remember_columns(X)
        self._warn_of_table(table, training)
        self._table, self._model = table, None
        if self.refit:
            solver_options, C = self._solver_options(), table.strength
            with naming_columns(column_names(X)):
                fitted = self._fit_lanes(
                    solver_of(self._problem(training), solver_options), training, C
                )
            self._keep(fitted, training, self._found(table))
        return self

    def _folds(self, fold_data: FoldData) -> Any:
        """Return the folds without ``cv``; refuse to hold out the only row of a class."""
        mask = slice(None) if fold_data.weight is None else fold_data.weight > 0
        counts = np.unique(fold_data.target[mask], return_counts=True)[1]
        if len(counts) == 2 and counts.min() < 2:
            raise ValueError(
                f"{type(self).__name__} holds rows out to choose C, but one of the two classes has "
                f"a single row. Use {type(self._plain()).__name__} with a C, or add rows."
            )
        return default_folds(fold_data.target, self._solver_options().seed, int(counts.min()))

    def _search(self, fold_data: FoldData, splits: list[Split], X: Any) -> Table:
        """Fit and score all folds and Cs."""
        strengths, classes = strengths_of(self.Cs), fold_data.classes
        assert classes is not None
        scorers = None if self.scoring is None else read_scoring(self.scoring, self._plain())
        solver_options = self._solver_options()
        gives_models = scorers is not None and scorers[0].metric is None
        if self.tol is None and not gives_models:
            solver_options = replace(solver_options, tol=SEARCH_TOL, certified=False)
        F, S = len(splits), len(strengths)
        k = 1 if len(classes) == 2 else len(classes)
        models = 1 if self._is_joint() else k
        d = fold_data.rows.n_features + bool(self.fit_intercept)
        table = Table(
            strengths,
            np.empty((F, S)),
            np.zeros((F, S), np.int64),
            np.full((F, S, models), None, np.object_),
            np.full((F, S, k, d), np.nan) if are_paths_kept(F * S * k * d) else None,
            self.select,
        )
        lanes = FoldLanes(
            self, fold_data, splits, strengths, solver_options, keep_weights=table.paths is not None
        )
        for learned in lanes.learn():
            fold, index = learned.fold, learned.place
            split = splits[fold]
            try:
                score = self._score(scorers, learned, fold_data, split, X)
            except Exception as error:
                error.add_note(f"This was fold {fold} of {F}, counted from 0.")
                raise
            table.scores[fold, index] = score
            _keep_models(table, learned, self.fit_intercept)
        return table

    def _score(
        self,
        scorers: list[Scorer] | None,
        learned: Learned,
        fold_data: FoldData,
        split: Split,
        X: Any,
    ) -> float:
        """Return the score of the held-out rows of a fold."""
        weight = None if fold_data.weight is None else fold_data.weight[split.test]
        if weight is not None and not weight.any():
            raise ValueError("All held-out rows of the fold have weight 0.")
        if scorers is None:
            return self._default_score(learned, fold_data, split)
        predictions = answers_of(self, learned.scores, learned.classes(fold_data))
        predictions = spread(predictions, fold_data.classes)
        plain, X_test = self._plain(), None
        if scorers[0].metric is None:  # it may ask for anything
            strength = float(strengths_of(self.Cs)[learned.place])
            plain = learned.give(plain.set_params(C=strength), fold_data, X)
            X_test = take(X, split.test)
        result = score_rows(
            scorers, plain, predictions, X_test, fold_data.labels[split.test], weight
        )
        return one_score(result)

    def _warn_of_table(self, table: Table, training: TrainingData) -> None:
        bad = np.flatnonzero(~np.isfinite(table.mean))
        if len(bad):
            raise ValueError(
                f"The score with C={table.strengths[bad[0]]:g} is {table.mean[bad[0]]}. A scorer "
                "may not be defined for so few rows: use larger folds."
            )
        index = table.edge_place
        if index is not None and table.strengths[index] < np.inf:  # inf is the largest of all
            warn_of_edge("C", float(table.strengths[index]), str(table.edge), stacklevel=3)
        warn_of_short_fits(self, table.known_certificates(), "smaller Cs", training)

    def _found(self, table: Table) -> dict[str, Any]:
        """Return the evidence that a model keeps of the search."""
        return {"C": table.strength, **evidence_of_search(table, self._scoring_name())}

    # ------------------------------------------------------------------ what was found

    def _weights_only(self) -> Any:
        if not self.refit and getattr(self, "_table", None) is not None and self._model is None:
            raise AttributeError(
                f"{type(self).__name__}(refit=False) only searches: there is no model. Use "
                f"refit=True, or fit with C={self.C_:g}."
            )
        return super()._weights_only()

    @property
    def C_(self) -> float:  # noqa: N802 - scikit-learn's word
        """The selected C."""
        return self._tabled().strength

    @property
    def Cs_(self) -> Floats:  # noqa: N802
        """The values of C that were tried, (S,)."""
        return self._tabled().strengths

    @property
    def scores_(self) -> Floats:
        """The score of each fold and C, (F, S); the larger the better."""
        return self._tabled().scores

    @property
    def cv_results_(self) -> dict[str, Floats]:
        """The score of each C, with its standard error."""
        table = self._tabled()
        return {
            "C": table.strengths,
            "mean_score": table.mean,
            "standard_error": table.standard_error,
            "fold_scores": table.scores.T,
        }

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """Passes over the rows, of each fold and C, (F, S): the most of any class."""
        return self._tabled().passes

    @property
    def certificates_path_(self) -> NDArray[np.object_]:
        """The certificate of each fold, C and model, (F, S, k); one of classes learned together."""
        table = self._tabled()
        if not table.known_certificates():
            raise AttributeError(
                f"The models of this search have no certificates: without tol, "
                f"{type(self).__name__} stops them at their estimated distance from the optimum. "
                "Give tol, such as tol=1e-4, to have each of them certified."
            )
        return table.certificates

    @property
    def coefs_paths_(self) -> Floats:
        """The weights of each fold, C and class, and its intercept, (F, S, k, d + 1)."""
        return kept_paths(self._tabled().paths, "C")


def _keep_models(table: Table, learned: Learned, fit_intercept: bool) -> None:
    """Write weights, certificates and passes of a fold and a C into the table."""
    fold, index, fitted = learned.fold, learned.place, learned.fitted
    k = table.certificates.shape[2]
    table.passes[fold, index] = fitted.passes.max()
    models = [0] if k == 1 else learned.columns
    if fitted.certificates:
        for model, certificate in zip(models, fitted.certificates, strict=True):
            table.certificates[fold, index, model] = certificate
    if table.paths is not None:
        rows = [0] if table.paths.shape[2] == 1 else learned.columns
        d = len(fitted.published.weights)
        table.paths[fold, index, rows, :d] = fitted.published.weights.T
        if fit_intercept:
            table.paths[fold, index, rows, d] = fitted.published.intercept
