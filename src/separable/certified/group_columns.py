"""Which columns go together, in each of the ways in which that can be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.parameters import ParameterError, Requirement

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["COLUMNS", "GROUPS", "Groups", "groups_of"]

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
