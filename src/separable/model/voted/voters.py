"""Weight vectors of voted perceptrons, stored as steps from one to the next.

Includes their serialization as named arrays, with validation.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows, check_indices
from separable.model.arrays import checked_numbers, read_only
from separable.model.predict.scores import linear_scores, row_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


__all__ = [
    "VOTED",
    "ModelVoters",
    "Voters",
    "check_steps",
    "checked_mistaken",
    "mean_weights",
    "shared_votes",
    "voted_model_parts",
    "voted_parts",
]

#: More columns than any matrix has.
MAX_FEATURES = 2**53

#: A score this close to 0, relative to its terms, has no meaningful contributions.
NEAR_ZERO = 1e-9


@dataclass(frozen=True, eq=False)
class ModelVoters:
    """Voters of one model: its base w_0, b_0 and the steps to w_1, w_2, ...

    ``rows``, ``steps`` and ``counts`` have one entry per step; ``base_count`` is the base's.
    """

    rows: NDArray[np.int64]
    steps: NDArray[np.float64]
    counts: NDArray[np.float64]
    base_count: float
    base_intercept: float
    base_weights: NDArray[np.float64] | None

    @property
    def all_counts(self) -> NDArray[np.float64]:
        """The counts c_0, c_1, ..."""
        return np.concatenate([[self.base_count], self.counts])


@dataclass(frozen=True, eq=False)
class Voters:
    """Voters of all models, concatenated.

    Model m has a base w_0, b_0 with count ``base_counts[m]``, and steps ``starts[m]`` to
    ``starts[m + 1]``: step i adds ``steps[i]`` times row ``rows[i]`` of the mistaken rows to the
    weights, ``steps[i]`` to the intercept if there is one, and the sum votes ``counts[i]`` times.

    Parameters
    ----------
    rows : array-like of int64, shape (steps,)
    steps, counts : array-like, shape (steps,)
    starts : array-like of int64, shape (models + 1,)
    base_counts, base_intercept : array-like, shape (models,)
    base_weights : array-like, shape (models, d), optional
        None: zeros.
    fit_intercept : bool, default True
        Whether steps change the intercept.
    """

    rows: NDArray[np.int64]
    steps: NDArray[np.float64]
    counts: NDArray[np.float64]
    starts: NDArray[np.int64]
    base_counts: NDArray[np.float64]
    base_intercept: NDArray[np.float64]
    base_weights: NDArray[np.float64] | None = None
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            name: _checked_integers(getattr(self, name), name) for name in ("rows", "starts")
        }
        for name in ("steps", "counts", "base_counts", "base_intercept"):
            checked[name] = checked_numbers(getattr(self, name), name, ndim=1)
        if self.base_weights is not None:
            checked["base_weights"] = checked_numbers(self.base_weights, "base_weights", ndim=2)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self._check_shapes()

    def __reduce__(self) -> tuple[Any, ...]:  # through the constructor: arrays stay read-only
        return Voters, tuple(getattr(self, each.name) for each in fields(self))

    def __len__(self) -> int:
        return len(self.base_counts)

    def __getitem__(self, model: int) -> ModelVoters:
        part = slice(int(self.starts[model]), int(self.starts[model + 1]))
        return ModelVoters(
            self.rows[part],
            self.steps[part],
            self.counts[part],
            float(self.base_counts[model]),
            float(self.base_intercept[model]),
            None if self.base_weights is None else self.base_weights[model],
        )

    def number(self) -> list[int]:
        """Return the number of voting weight vectors of each model."""
        return [int(np.count_nonzero(self[model].all_counts)) for model in range(len(self))]

    def _check_shapes(self) -> None:
        k, s = len(self.base_counts), len(self.rows)
        lengths = {
            "steps": (len(self.steps), s),
            "counts": (len(self.counts), s),
            "base_intercept": (len(self.base_intercept), k),
            "starts": (len(self.starts), k + 1),
        }
        if self.base_weights is not None:
            lengths["base_weights"] = (len(self.base_weights), k)
        for name, (length, wanted) in lengths.items():
            if length != wanted:
                raise ValueError(
                    f"{name} must have {wanted} entries for {k} models with {s} steps. "
                    f"Got {length}."
                )
        if k == 0:
            raise ValueError("base_counts must have one entry per model. Got none.")
        if self.starts[0] != 0 or self.starts[-1] != s or (np.diff(self.starts) < 0).any():
            raise ValueError(f"starts must rise from 0 to {s}, the number of steps.")
        if min(self.counts.min(initial=0), self.base_counts.min()) < 0:
            raise ValueError("counts and base_counts must be >= 0.")


def checked_mistaken(mistaken: Rows) -> Rows:
    """Return the mistaken rows read-only; raise if they are invalid."""
    arrays = [read_only(array) for array in mistaken.arrays()]
    rows = Rows(arrays[0], mistaken.n_features, *arrays[1:])
    if rows.values.dtype not in (np.float32, np.float64) or rows.n_features < 1:
        raise ValueError(
            "The mistaken rows must be float32 or float64 with at least one column. "
            f"Got {rows.values.dtype} with {rows.n_features}."
        )
    if rows.n_features > MAX_FEATURES:
        raise ValueError(f"The mistaken rows cannot have {rows.n_features} columns.")
    _check_csr(rows) if rows.is_sparse else _check_dense(rows)
    if not np.isfinite(rows.values).all():
        raise ValueError("The mistaken rows must be finite. The numbers are damaged: train again.")
    return rows


def check_steps(voters: Voters, rows: Rows) -> None:
    """Raise if steps refer to missing rows, or if the base has another width."""
    if len(voters.rows) and not 0 <= voters.rows.min() <= voters.rows.max() < rows.n_rows:
        raise ValueError(
            f"A step is along row {_outside(voters.rows, rows.n_rows)} of the {rows.n_rows} "
            "mistaken rows."
        )
    base = voters.base_weights
    if base is not None and base.shape[1] != rows.n_features:
        raise ValueError(
            f"base_weights must have {rows.n_features} columns, as the mistaken rows. "
            f"Got {base.shape[1]}."
        )


def _check_dense(rows: Rows) -> None:
    shape = rows.values.shape
    if len(shape) != 2 or shape[1] != rows.n_features:
        raise ValueError(
            f"The mistaken rows must have shape (rows, {rows.n_features}) or be in CSR format. "
            f"Got shape {shape}."
        )


def _check_csr(rows: Rows) -> None:
    assert rows.indices is not None
    assert rows.indptr is not None
    indices, indptr = rows.indices, rows.indptr
    if (
        indices.dtype not in (np.int32, np.int64)
        or indptr.dtype != indices.dtype
        or rows.values.ndim != 1
        or indices.shape != rows.values.shape
        or indptr.ndim != 1
        or len(indptr) == 0
    ):
        raise ValueError("The indices and indptr of the mistaken rows do not fit their values.")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ValueError(
            f"The indptr of the mistaken rows must rise from 0 to {len(indices)}, and does not."
        )
    check_indices(rows)


def _outside(rows: NDArray[np.int64], n_rows: int) -> int:
    return int(rows[(rows < 0) | (rows >= n_rows)][0])


def _checked_integers(value: Any, name: str) -> NDArray[np.int64]:
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ValueError(
            f"{name} must be whole numbers in one row. Got {array.dtype} of shape {array.shape}."
        )
    return read_only(array.astype(np.int64, copy=False))


#: Tensors of voters: name, dtype, and the field of ``Voters``.
VOTERS = {
    "voter_rows": (np.int64, "rows"),
    "voter_steps": (np.float64, "steps"),
    "voter_counts": (np.float64, "counts"),
    "voter_starts": (np.int64, "starts"),
    "base_counts": (np.float64, "base_counts"),
    "base_intercept": (np.float64, "base_intercept"),
    "base_weights": (np.float64, "base_weights"),
}
MISTAKEN = ("mistaken_values", "mistaken_indices", "mistaken_indptr")
#: All tensor names of a voted model.
VOTED = {*VOTERS, *MISTAKEN}


def voted_parts(mistaken: Rows, voters: Voters) -> dict[str, NDArray[Any]]:
    """Return the arrays by name."""
    parts = {name: getattr(voters, field) for name, (_, field) in VOTERS.items()}
    if voters.base_weights is None:
        del parts["base_weights"]
    return parts | dict(zip(MISTAKEN, mistaken.arrays(), strict=False))


def voted_model_parts(
    parts: Mapping[str, Any], n_features: int, fit_intercept: bool
) -> tuple[Rows, Voters]:
    """Return mistaken rows and voters; raise if the arrays are inconsistent."""
    fields: dict[str, Any] = {
        field: _array(parts, name, dtype)
        for name, (dtype, field) in VOTERS.items()
        if name in parts or name != "base_weights"
    }
    rows = [_array(parts, name) for name in MISTAKEN if name in parts]
    if len(rows) == 2 or MISTAKEN[0] not in parts:
        raise ValueError(
            "its mistaken rows lack one of their tensors: values, or indices and indptr."
        )
    return Rows(rows[0], n_features, *rows[1:]), Voters(**fields, fit_intercept=fit_intercept)


def _array(parts: Mapping[str, Any], name: str, dtype: Any = None) -> NDArray[Any]:
    if name not in parts:
        raise ValueError(f"it has no tensor {name!r}.")
    array = parts[name]
    if not isinstance(array, np.ndarray) or (dtype is not None and array.dtype != dtype):
        wanted = "numbers" if dtype is None else np.dtype(dtype).name
        raise ValueError(
            f"its tensor {name!r} must be {wanted}, not {getattr(array, 'dtype', 'text')}."
        )
    return array


def mean_weights(mistaken: Rows, voters: Voters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of weight vectors and intercepts, weighted by votes.

    Parameters
    ----------
    mistaken : Rows
    voters : Voters

    Returns
    -------
    weights : ndarray of float64, shape (k, d)
    intercept : ndarray of float64, shape (k,)
    """
    weights, intercept = np.empty((len(voters), mistaken.n_features)), np.empty(len(voters))
    for k in range(len(voters)):
        own = voters[k]
        counts = own.all_counts
        total = counts.sum()
        fractions = counts / total if total > 0 else np.eye(1, len(counts), len(counts) - 1)[0]
        weights[k], intercept[k] = _weighted_sum(mistaken, voters, own, fractions)
    return weights, intercept


def shared_votes(
    mistaken: Rows, voters: Voters, row: Rows, k: int, votes: float
) -> tuple[NDArray[np.float64], float]:
    """Return the weights v and the intercept b with v.x + b = votes of model k at one row x.

    Parameters
    ----------
    mistaken : Rows
    voters : Voters
    row : Rows
        The row x.
    k : int
    votes : float
        Votes of model k at x.

    Returns
    -------
    weights : ndarray of float64
        One per value of the row, (d,) if dense.
    intercept : float
    """
    own, x = voters[k], _as_vector(row)
    scores, scales = _voter_scores(mistaken, voters, own, x)
    shared = np.abs(scores) > NEAR_ZERO * scales
    with np.errstate(over="ignore"):
        ratios = np.where(shared, own.all_counts, 0.0) / np.where(shared, np.abs(scores), 1.0)
    if not np.isfinite(ratios.sum()):
        raise ValueError(
            "The weights behind this vote overflow float64: the scores of its voters are below "
            "1e-300. Scale the features, for example with separable.TableEncoder, and train again."
        )
    v, _ = _weighted_sum(mistaken, voters, own, ratios)
    weights = v if row.indices is None else v[row.indices]
    # Remainder: the contributions of intercepts and of voters too close to 0. As a difference it
    # keeps the sum exact if voters cancel.
    return weights, votes - float((weights * row.values.reshape(-1)).sum())


def _voter_scores(
    mistaken: Rows, voters: Voters, own: ModelVoters, x: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return s_0, s_1, ... at x, and for each the sum of its absolute terms."""
    bias = np.array([float(voters.fit_intercept)])
    products = linear_scores(mistaken, x[None], bias)[own.rows, 0]
    positive = replace(mistaken, values=np.abs(mistaken.values))
    sizes = linear_scores(positive, np.abs(x)[None], bias)[own.rows, 0]
    base, b = own.base_weights, own.base_intercept
    first = (b, abs(b)) if base is None else (b + base @ x, abs(b) + np.abs(base) @ np.abs(x))
    scores = np.cumsum(np.concatenate([[first[0]], own.steps * products]))
    return scores, np.cumsum(np.concatenate([[first[1]], np.abs(own.steps) * sizes]))


def _weighted_sum(
    mistaken: Rows, voters: Voters, own: ModelVoters, fractions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the sums of a_k w_k and of a_k b_k, with ``fractions`` as the a_k."""
    later = np.cumsum(fractions[::-1])[::-1]
    coefficients = np.zeros(mistaken.n_rows)
    np.add.at(coefficients, own.rows, own.steps * later[1:])
    w, b = _combine(mistaken, coefficients), later[0] * own.base_intercept
    if own.base_weights is not None:
        w += later[0] * own.base_weights
    return w, float(b + coefficients.sum() if voters.fit_intercept else b)


def _combine(rows: Rows, factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of factor times row, shape (d,)."""
    total = np.zeros(rows.n_features)
    for start, stop in row_blocks(rows):
        block, part = rows.slice(start, stop), factors[start:stop]
        if block.indptr is None or block.indices is None:
            total += part @ block.values.astype(np.float64, copy=False)
        else:
            values = block.values * np.repeat(part, np.diff(block.indptr))
            np.add.at(total, block.indices, values)
    return total


def _as_vector(row: Rows) -> NDArray[np.float64]:
    if row.indices is None:
        return row.values.reshape(-1).astype(np.float64)
    x = np.zeros(row.n_features)
    np.add.at(x, row.indices, row.values)
    return x
