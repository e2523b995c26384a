"""Base of estimators that select alpha by cross-validation."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from separable.certified.estimators.base_elastic_net import NET_REQUIREMENTS, PenalisedSquares
from separable.fitting.best_candidate import warn_of_edge
from separable.fitting.folds import FOLDS, GIVE_SPLITTER, default_folds, read_folds
from separable.fitting.predictions import answers_of
from separable.fitting.scorers import SCORING, read_scoring, score_rows
from separable.fitting.splits import CV, take
from separable.fitting.unused_options import Ineffective
from separable.model.parameters import RANDOM_STATE, SHARE, Requirement, one_of
from separable.select.estimators.alpha_folds import AlphaFolds
from separable.select.estimators.base_search import (
    Searched,
    are_paths_kept,
    evidence_of_search,
    is_grid,
    kept_paths,
    one_score,
    warn_of_short_fits,
)
from separable.select.estimators.search_table import AlphaTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.estimators.base import FoldData, TrainingData
    from separable.certified.gram.gram_lanes import FoldModels
    from separable.fitting.scorers import Scorer
    from separable.fitting.splits import Split
    from separable.typing import Floats


__all__ = ["AlphaSearch"]


def _is_alphas(value: Any) -> bool:
    return is_grid(value) and bool(np.isfinite(np.asarray(value, dtype=np.float64)).all())


ALPHAS = Requirement("an int >= 1 or a sequence of finite floats > 0", _is_alphas)


class AlphaSearch(Searched[AlphaTable], PenalisedSquares):
    """Regressor that fits all folds and alphas, then all rows with the best alpha."""

    alphas: Any
    eps: float
    cv: Any
    scoring: Any
    select: str
    warm_start = False

    _default_scoring = "neg_mean_squared_error"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "alphas": ALPHAS,
        "eps": SHARE,
        "cv": CV,
        "scoring": SCORING,
        "select": one_of("min", "1se"),
        "random_state": RANDOM_STATE,
        **{name: each for name, each in NET_REQUIREMENTS.items() if name != "warm_start"},
    }

    _ineffective: ClassVar[tuple[Ineffective, ...]] = (
        Ineffective(
            "eps",
            lambda learner: not isinstance(learner.alphas, Integral),
            "where alphas are given one by one",
            "Give a number of alphas, or leave eps at its default.",
        ),
    )

    # ------------------------------------------------------------------ what a learner says

    def _ratios(self) -> Floats:
        """Return every l1_ratio to try."""
        return np.ones(1)

    def _plain(self, alpha: float, ratio: float) -> PenalisedSquares:
        """Return the estimator with one alpha and these parameters."""
        raise NotImplementedError

    # ------------------------------------------------------------------ searching

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select alpha by cross-validation, then fit all rows with the best.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Weight k is the row k times, in learning and in scores; 0 is no row.
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
        folds = AlphaFolds(self, fold_data, self._splits(fold_data, groups))
        table = self._search(folds, fold_data, X)
        self._remember_columns(X)
        self._warn_of_table(table, training)
        self._table = table
        ratio, index = table.chosen
        plain = self._plain(table.strength, table.ratio)
        fitted = folds.last_fit(training, plain, table.strengths[ratio, : index + 1])
        self._keep(fitted, training, self._found(table))
        return self

    def _splits(self, fold_data: FoldData, groups: Any) -> list[Split]:
        n = fold_data.rows.n_rows
        cv = self.cv
        if cv is None and groups is not None:
            cv = FOLDS
        if cv is None:
            if n < 2:
                raise ValueError(
                    f"{type(self).__name__} holds rows out to choose alpha, but there is n_samples "
                    f"= {n}. Use {type(self._plain(1.0, 1.0)).__name__} with an alpha, or add rows."
                )
            seed = check_random_state(self.random_state).randint(0, 2**31 - 1)
            cv = default_folds(fold_data.target, seed)
        X, y = fold_data.rows.to_matrix(), fold_data.target
        return read_folds(cv, self, X, y, groups, n, remedy=GIVE_SPLITTER, stacklevel=3)

    def _grid(self, folds: AlphaFolds, ratios: Floats) -> Floats:
        """Return the alphas of each mixture, (R, S), from large to small."""
        if not isinstance(self.alphas, Integral):
            given = np.sort(np.array(self.alphas, dtype=np.float64))[::-1]
            return np.tile(given, (len(ratios), 1))
        if (ratios == 0).any():
            raise ValueError(
                "With l1_ratio=0 no alpha makes all weights 0, so that there is none to start "
                "from. Give a list of alphas, or use RidgeCV."
            )
        penalties = [self._plain(1.0, ratio)._penalty() for ratio in ratios.tolist()]
        return np.array([folds.alphas(int(self.alphas), self.eps, each) for each in penalties])

    def _search(self, folds: AlphaFolds, fold_data: FoldData, X: Any) -> AlphaTable:
        """Fit and score all folds, l1_ratios and alphas."""
        scorers = (
            None if self.scoring is None else read_scoring(self.scoring, self._plain(1.0, 1.0))
        )
        ratios = self._ratios()
        alphas = self._grid(folds, ratios)
        shape = (len(folds.splits), *alphas.shape)
        d = fold_data.rows.n_features + bool(self.fit_intercept)
        kept = are_paths_kept(math.prod(shape) * d)
        table = AlphaTable.empty(ratios, alphas, shape, d if kept else None, self.select)
        for r, ratio in enumerate(ratios.tolist()):
            for found in folds.learn(self._plain(1.0, ratio), alphas[r]):
                errors = folds.mean_squares(found)
                table.keep(r, found.fold, found.models, errors)
                for s in range(len(errors) if scorers is not None else 0):
                    try:
                        score = self._score(scorers, table, (r, s), found, fold_data, X)
                    except Exception as error:
                        error.add_note(f"This was fold {found.fold} of {shape[0]}, counted from 0.")
                        raise
                    table.scores[found.fold, r, s] = score
        return table

    def _score(
        self,
        scorers: list[Scorer] | None,
        table: AlphaTable,
        at: tuple[int, int],
        found: FoldModels,
        fold_data: FoldData,
        X: Any,
    ) -> float:
        """Return the score of the held-out rows of a fold."""
        assert scorers is not None
        learned, X_test = found.learned(at[1]), None
        plain = self._plain(float(table.strengths[at]), float(table.ratios[at[0]]))
        if scorers[0].metric is None:  # it may ask for anything
            learned.give(plain, fold_data, X)
            X_test = take(X, found.split.test)
        predictions = answers_of(self, learned.scores, None)
        y, weight = fold_data.target[found.split.test], None
        if fold_data.weight is not None:
            weight = fold_data.weight[found.split.test]
        scores = score_rows(scorers, plain, predictions, X_test, y, weight)
        return one_score(scores)

    def _warn_of_table(self, table: AlphaTable, training: TrainingData) -> None:
        bad = np.argwhere(~np.isfinite(table.mean))
        if len(bad):
            at = tuple(bad[0])
            raise ValueError(
                f"The score with alpha={table.strengths[at]:g} is {table.mean[at]}. Squared errors "
                "may overflow: scale y. A scorer may not be defined for so few rows: use larger "
                "folds."
            )
        if table.edge is not None and not isinstance(self.alphas, Integral):
            warn_of_edge("alpha", table.strength, table.edge, stacklevel=3)
        warn_of_short_fits(self, table.known_certificates(), "larger alphas", training)

    def _found(self, table: AlphaTable) -> dict[str, Any]:
        """Return the evidence that a model keeps of the search."""
        return {
            "alpha": table.strength,
            "l1_ratio": table.ratio,
            **evidence_of_search(table, self._scoring_name()),
        }

    # ------------------------------------------------------------------ what was found

    def _without_ratios(self, values: NDArray[Any], axis: int) -> Any:
        """Return values of all mixtures; without that axis where there is one mixture."""
        return values.take(0, axis=axis) if len(self._tabled().ratios) == 1 else values

    @property
    def alpha_(self) -> float:
        """The selected alpha."""
        return self._tabled().strength

    @property
    def alphas_(self) -> Floats:
        """The alphas that were tried, (S,), or (R, S) for several l1_ratio with grids of their own.

        Alphas that were given are the same for each.
        """
        strengths = self._tabled().strengths
        alphas: Floats = strengths if isinstance(self.alphas, Integral) else strengths[0]
        return alphas[0] if alphas.ndim == 2 and len(alphas) == 1 else alphas

    @property
    def scores_(self) -> Floats:
        """The score of each fold and alpha, (F, S) or (F, R, S); the larger the better."""
        scores: Floats = self._without_ratios(self._tabled().scores, 1)
        return scores

    @property
    def mse_path_(self) -> Floats:
        """The mean squared error of each alpha and fold, (S, F) or (R, S, F)."""
        errors: Floats = self._without_ratios(np.moveaxis(self._tabled().errors, 0, -1), 0)
        return errors

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """Passes over the columns, of each fold and alpha, (F, S) or (F, R, S)."""
        steps: NDArray[np.int64] = self._without_ratios(self._tabled().passes, 1)
        return steps

    @property
    def dual_coef_(self) -> Floats:
        """Not there: the certificate of a search comes from sums."""
        raise AttributeError(
            f"{type(self).__name__} has no dual_coef_. Fit "
            f"{type(self._plain(1.0, 1.0)).__name__} with the alpha that was chosen."
        )

    @property
    def cv_results_(self) -> dict[str, Floats]:
        """The score of each l1_ratio and alpha, one after the other, with its standard error."""
        table = self._tabled()
        return {
            "alpha": table.strengths.ravel(),
            "l1_ratio": np.repeat(table.ratios, table.strengths.shape[1]),
            "mean_score": table.mean.ravel(),
            "standard_error": table.standard_error.ravel(),
            "fold_scores": table.scores.reshape(len(table.scores), -1).T,
        }

    @property
    def certificates_path_(self) -> NDArray[np.object_]:
        """The certificate of each fold and alpha, (F, S) or (F, R, S)."""
        result: NDArray[np.object_] = self._without_ratios(self._tabled().certificates, 1)
        return result

    @property
    def coefs_paths_(self) -> Floats:
        """Weights of each fold and alpha, then the intercept, (F, S, d + 1) or (F, R, S, d + 1)."""
        paths = kept_paths(self._tabled().paths, "alphas")
        result: Floats = self._without_ratios(paths, 1)
        return result
