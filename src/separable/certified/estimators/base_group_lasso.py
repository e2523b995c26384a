"""Base class of the group lasso estimators, and the groups of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separable.certified.estimators.block_path import BlockLearner, BlockSolver
from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.training_data import TrainingData
from separable.certified.problem import Problem
from separable.certified.solvers.block_penalty.block_cd import BlockDescent
from separable.data.rows import column_names
from separable.estimator import check_is_fitted
from separable.features.base import Encoder
from separable.fitting.fold_fits import FoldData
from separable.model.parameters import ParameterError, Requirement
from separable.penalties.group import GroupPenalty
from separable.typing import Floats

#: Says that the numbers that one raw column became go together.
COLUMNS = "columns"

GROUPS = Requirement(
    "None, 'columns', the group of each column or a list of lists of columns",
    lambda v: (
        v is None or v == COLUMNS
        if isinstance(v, str) or v is None
        else isinstance(v, Sequence | np.ndarray)
    ),
)


@dataclass(frozen=True)
class Groups:
    """The groups of d columns.

    Parameters
    ----------
    group : ndarray of intp, shape (d,)
        The number of each column's group.
    names : list
        Of each group: its label, or the name or number of a column that is alone.
    """

    group: NDArray[np.intp]
    names: list[Any]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of columns of each group."""
        return np.bincount(self.group, minlength=len(self.names))


def groups_of(
    given: Any, n_columns: int, sources: Sequence[str] | None, column_names: Sequence[str] | None
) -> Groups:
    """Return the groups of columns.

    Parameters
    ----------
    given : None, "columns", array-like of n_columns labels, or list of lists of columns
        None: each column alone.
    n_columns : int
    sources : sequence of str or None
        The raw column of each column, if an encoder made them.
    column_names : sequence of str or None
        What columns are called.

    Examples
    --------
    >>> groups_of(["a", "b", "a"], 3, None, None)
    Groups(group=array([0, 1, 0]), names=['a', 'b'])
    >>> groups_of([[0, 2]], 3, None, None).names
    [(0, 2), 1]
    """
    if given is None:
        names = [*range(n_columns)] if column_names is None else list(column_names)
        return Groups(np.arange(n_columns), names)
    if isinstance(given, str):
        if sources is None:
            raise ValueError(
                "groups='columns' asks for the raw column of each number, which only an encoder "
                "knows. Use TableRegressor or TableClassifier, call group_by(encoder) before fit, "
                "or give groups=encoder.sources."
            )
        return _labelled(sources, n_columns)
    if len(given) and isinstance(given[0], list | tuple | np.ndarray):
        return _listed(given, n_columns, column_names)
    return _labelled(given, n_columns)


def _labelled(labels: Any, n_columns: int) -> Groups:
    """Return the groups of labels, in the order in which they first stand."""
    if len(labels) != n_columns:
        raise ValueError(
            f"groups has {len(labels)} labels for {n_columns} columns: give one for each column, "
            "or a list of lists of columns."
        )
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "biuSU":
        names, first, group = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return Groups(np.argsort(order)[group], names[order].tolist())
    numbers: dict[Any, int] = {}
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    group = np.array([numbers.setdefault(label, len(numbers)) for label in plain], np.intp)
    return Groups(group, list(numbers))


def _listed(lists: Any, n_columns: int, names: Sequence[str] | None) -> Groups:
    """Return the groups of lists; columns that are in none are alone."""
    group = np.full(n_columns, -1, np.intp)
    found: list[Any] = []
    for columns in lists:
        mine = np.asarray(columns)
        if mine.ndim != 1 or mine.size == 0 or mine.dtype.kind not in "iu":
            raise ParameterError(
                f"Each list of groups must hold the numbers of columns. Got {columns!r} instead."
            )
        if mine.min() < 0 or mine.max() >= n_columns:
            raise ValueError(
                f"groups names column {int(mine.max() if mine.min() >= 0 else mine.min())}, but "
                f"there are columns 0 to {n_columns - 1}."
            )
        if (group[mine] >= 0).any() or len(np.unique(mine)) < len(mine):
            twice = mine[group[mine] >= 0]
            column = int(twice[0]) if len(twice) else int(mine[0])
            raise ValueError(f"groups names column {column} twice: a column is in one group.")
        group[mine] = len(found)
        found.append(tuple(_called(mine, names)))
    alone = np.flatnonzero(group < 0)
    group[alone] = len(found) + np.arange(len(alone))
    return Groups(group, found + _called(alone, names))


def _called(columns: NDArray[Any], names: Sequence[str] | None) -> list[Any]:
    """Return the names of columns, or their numbers."""
    numbers: list[int] = columns.tolist()
    return numbers if names is None else [names[j] for j in numbers]


@dataclass(eq=False, repr=False)
class GroupLearner(BlockLearner):
    """A learner of the mean loss and alpha sum_g sqrt(p_g) |w_g|, for groups of p_g columns.

    Attributes
    ----------
    groups_ : Groups
        ``group``, the number of each column's group, and their ``names``.
    kept_groups_, dropped_groups_ : list
        The names of groups with weights in any model, and of those that left all of them.
    """

    alpha: float = 0.01
    _: KW_ONLY
    groups: Any = None
    max_iter: int = 100_000

    _requirements: ClassVar[dict[str, Requirement]] = {"groups": GROUPS}

    def group_by(self, encoder: Encoder) -> Self:
        """Say which encoder makes the columns, for ``groups="columns"``.

        ``TableRegressor`` and ``TableClassifier`` do so by themselves. Copies for folds and
        values of alpha, as ``search``, ``path`` and ``cross_validate`` make them, know it too.

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
        copy = super().__sklearn_clone__()
        if hasattr(self, "_sources"):
            copy._sources = self._sources
        return copy

    def _fit_data(self, data: FoldData, X: Any, evidence: Mapping[str, Any] | None = None) -> Self:
        self._names_given = column_names(X)
        return super()._fit_data(data, X, evidence)

    def _learn_path(self, training: TrainingData, alphas: Floats) -> list[Fitted]:
        self._found = self._read_groups(training.rows.n_features)
        return super()._learn_path(training, alphas)

    def _read_groups(self, n_columns: int) -> Groups:
        sources, names = getattr(self, "_sources", None), getattr(self, "_names_given", None)
        return groups_of(self.groups, n_columns, sources, names)

    def _group_penalty(self, problem: Problem) -> GroupPenalty:
        """Return the penalty; all columns have the same unit."""
        groups, unit = self._read_groups(problem.rows.n_features), self._penalty_units(problem)[0]
        return GroupPenalty(groups.group, float(unit) * np.sqrt(groups.sizes))

    def _alpha_of(self, problem: Problem, correlation: Floats) -> float:
        return 1.0 / self._group_penalty(problem).dual_scaling(correlation)

    def _block_solver(self, problem: Problem) -> BlockSolver:
        descent = BlockDescent(problem, self._group_penalty(problem), **self._how())
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
        if isinstance(self.groups, np.ndarray):
            parameters["groups"] = self.groups.tolist()
        elif not isinstance(self.groups, str | None):
            parameters["groups"] = [
                each.tolist() if isinstance(each, np.ndarray | np.generic) else each
                for each in self.groups
            ]
        return parameters
