"""What the learners of groups share: groups that enter or leave whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.base import _clone_parametrized  # type: ignore[attr-defined]
from sklearn.utils.validation import check_is_fitted

from separable.certified.block_descent import BlockDescent
from separable.certified.block_learner import BlockLearner
from separable.certified.group_columns import GROUPS, Groups, groups_of
from separable.certified.group_penalty import GroupPenalty
from separable.data.rows import column_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.certified.block_learner import Engine
    from separable.certified.estimator import Fitted, Lesson
    from separable.certified.problem import Problem
    from separable.features.encoder import Encoder
    from separable.model.parameters import Requirement

    Floats = NDArray[np.float64]

__all__ = ["GroupLearner"]


class GroupLearner(BlockLearner):
    """A learner of the mean loss and alpha sum_g sqrt(p_g) |w_g|, for groups of p_g columns."""

    groups: Any
    max_iter: int

    _requirements: ClassVar[dict[str, Requirement]] = {
        **BlockLearner._requirements,
        "groups": GROUPS,
    }

    def group_by(self, encoder: Encoder) -> Self:
        """Say which encoder makes the columns, for ``groups="columns"``.

        ``TableRegressor`` and ``TableClassifier`` do so by themselves. Copies for folds and
        strengths, as ``search``, ``path`` and ``cross_validate`` make them, know it too.

        Parameters
        ----------
        encoder : encoder
            Fitted.

        Returns
        -------
        self
        """
        self._sources: Sequence[str] | None = encoder.sources
        return self

    def __sklearn_clone__(self) -> Self:
        """Return a learner that is not fitted, with the same parameters and the same encoder."""
        copy = _clone_parametrized(self)
        if hasattr(self, "_sources"):
            copy._sources = self._sources
        return cast("Self", copy)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
            The class, or the number, of each row.
        sample_weight : array-like of shape (n,), optional
            Weight k is the row k times; 0 is no row.

        Returns
        -------
        self
        """
        self._names_given = column_names(X)
        return super().fit(X, y, sample_weight)

    def _learn_path(self, lesson: Lesson, alphas: Floats) -> list[Fitted]:
        self._found = self._read_groups(lesson.rows.n_features)
        return super()._learn_path(lesson, alphas)

    def _read_groups(self, n_columns: int) -> Groups:
        sources, names = getattr(self, "_sources", None), getattr(self, "_names_given", None)
        return groups_of(self.groups, n_columns, sources, names)

    def _group_penalty(self, problem: Problem) -> GroupPenalty:
        """Return the penalty; all columns have the same unit."""
        groups, unit = self._read_groups(problem.rows.n_features), self._penalty_units(problem)[0]
        return GroupPenalty(groups.group, float(unit) * np.sqrt(groups.sizes))

    def _alpha_of(self, problem: Problem, pull: Floats) -> float:
        return 1.0 / self._group_penalty(problem).reach(pull)

    def _engine(self, problem: Problem) -> Engine:
        descent = BlockDescent(
            problem,
            self._group_penalty(problem),
            tol=self._tol,
            max_iter=int(self.max_iter),
            callback=self.callback,
        )
        return lambda lane, start: (*descent.solve(lane, start), "descent")

    # ------------------------------------------------------------------ groups

    @property
    def groups_(self) -> Groups:
        """The groups: ``group`` has the number of each column's, ``names`` what they are called."""
        check_is_fitted(self)
        return self._found

    @property
    def kept_groups_(self) -> list[Any]:
        """The names of the groups with weights."""
        return [name for name, kept in zip(self.groups_.names, self._is_kept, strict=True) if kept]

    @property
    def dropped_groups_(self) -> list[Any]:
        """The names of the groups that left: all their weights are 0."""
        names = zip(self.groups_.names, self._is_kept, strict=True)
        return [name for name, kept in names if not kept]

    @property
    def _is_kept(self) -> NDArray[np.bool_]:
        used = (self._weights_only().weights != 0).any(axis=0)
        return np.bincount(self._found.group, weights=used, minlength=len(self._found.names)) > 0

    def _plain_parameters(self) -> dict[str, Any]:
        parameters = super()._plain_parameters()
        if not isinstance(self.groups, str | None):
            parameters["groups"] = [
                each.tolist() if isinstance(each, np.ndarray | np.generic) else each
                for each in self.groups
            ]
        return parameters
