"""Mistaken rows and voters as named arrays of a file, and back, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows
from separable.model.voters import Voters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["VOTED", "voted_model_parts", "voted_parts"]

#: The tensors of voters: name, dtype, and the field of ``Voters``.
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
#: All names that tensors of a voted model may have.
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
    """Return mistaken rows and voters, or refuse arrays that cannot be theirs."""
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
