"""The strongest contributions to each of many predictions, as a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import number_array, strings
from separable.model.words import feature_name, shown, signed

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.model.explanation import Explanation

__all__ = ["reason_texts", "reasons"]


def reasons(explanation: Explanation, n: int) -> pa.Array[Any]:
    """Return for each row its n largest contributions that are not 0, largest first.

    Parameters
    ----------
    explanation : Explanation
        With three or more classes the contributions are to the score of the predicted class.
    n : int

    Returns
    -------
    pyarrow.Array
        Lists of feature, value and contribution; the value is the raw one where an encoder changed
        it and knows it.
    """
    import pyarrow as pa

    row, feature, value, part = _strongest(explanation, n)
    names, raw = explanation.feature_names, getattr(explanation.model.encoder, "shown", None)
    features = feature.tolist()
    told = [feature_name(names, j) for j in features]
    values: list[Any] = [f"{each:.6g}" for each in value.tolist()]
    if raw is not None:
        pairs = zip(features, value.tolist(), values, strict=True)
        values = [raw(j, each) or text for j, each, text in pairs]
    terms = pa.StructArray.from_arrays(
        [strings(told), strings(values), number_array(part)],
        ["feature", "value", "contribution"],
    )
    ends = np.searchsorted(row, np.arange(len(explanation) + 1))
    return pa.ListArray.from_arrays(number_array(ends.astype(np.int32)), terms)


def reason_texts(column: Any) -> Any:
    """Return lists of reasons as text: ``age 39 +0.52; city=Rome -0.3``."""
    return strings("; ".join(map(_text, terms)) for terms in column.to_pylist())


def _text(term: dict[str, Any]) -> str:
    value = "" if term["value"] == "1" else f" {term['value']}"
    return f"{shown(term['feature'])}{value} {signed(term['contribution'])}"


def _strongest(
    explanation: Explanation, n: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return row, feature, value and contribution of the terms, row by row."""
    rows, parts = explanation.rows, explanation.contributions()
    if rows.indptr is None or rows.indices is None:
        row = np.repeat(np.arange(rows.n_rows), rows.n_features)
        feature = np.tile(np.arange(rows.n_features), rows.n_rows)
    else:
        row, feature = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices
    value, part = rows.values.reshape(-1), parts.values.reshape(-1)
    order = np.lexsort((-np.abs(part), row))
    order = order[part[order] != 0]
    counts = np.bincount(row[order], minlength=rows.n_rows)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = order[place < n]
    return row[order], feature[order], value[order].astype(np.float64), part[order]
