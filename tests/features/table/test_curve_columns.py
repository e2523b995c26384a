"""Numbers of a table as curves, against NumPy's linear interpolation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from separable import TableEncoder

rng = np.random.default_rng(0)
AGES = rng.integers(18, 90, 500).astype(float)


def table(n: int = 500) -> dict[str, list]:
    income = np.where(rng.random(n) < 0.1, np.nan, rng.exponential(1e4, n))
    return {
        "age": AGES[:n].tolist(),
        "income": [None if np.isnan(each) else each for each in income.tolist()],
        "city": rng.choice(["Rome", "Oslo"], n).tolist(),
    }


def curve_values(encoder: TableEncoder, column: str, weights: np.ndarray, data) -> np.ndarray:
    chosen = [j for j, source in enumerate(encoder.sources) if source == column]
    return csr_array(encoder.transform(data)).toarray()[:, chosen] @ weights


@pytest.mark.parametrize("columns", [["age"], ["income"]])
def test_weights_are_values_at_the_knots(columns):
    (name,) = columns
    data = {name: table()[name]}
    encoder = TableEncoder(curves=True).fit(data)
    (column,) = encoder.column_encoders
    weights = rng.normal(size=column.width)
    raw = np.array([np.nan if each is None else each for each in data[name]])
    wanted = np.interp(raw, column.knots, weights[: len(column.knots)])
    wanted[np.isnan(raw)] = weights[-1] if column.missing else 0.0
    np.testing.assert_allclose(curve_values(encoder, name, weights, data), wanted, atol=1e-12)


def test_curves_are_constant_beyond_the_knots():
    encoder = TableEncoder(curves=True).fit({"age": AGES})
    ends = encoder.transform({"age": [-1e300, float(AGES.min()), float(AGES.max()), 1e300]})
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[2], ends[3])
    assert ends.sum(axis=1).tolist() == [1, 1, 1, 1]


def test_rows_at_the_knots_are_the_training_rows():
    encoder = TableEncoder(curves=True).fit({"age": AGES})
    (column,) = encoder.column_encoders
    np.testing.assert_allclose(column.rows, encoder.transform({"age": AGES}).sum(axis=0))


@pytest.mark.parametrize("values", [[1, 2, 3] * 50, [7.0] * 149 + [8.0]])
def test_few_values_make_no_curve(values):
    encoder = TableEncoder(curves=True).fit({"x": values})
    assert encoder.feature_names == ("x",)


def test_columns_without_values_are_dropped_as_before():
    data = {"x": AGES, "gone": [None] * 500, "same": [1.0] * 500}
    assert set(TableEncoder(curves=True).fit(data).dropped_) == {"gone", "same"}


def test_an_outlier_moves_no_other_knot():
    (plain,) = TableEncoder(curves=True).fit({"x": AGES}).column_encoders
    (odd,) = TableEncoder(curves=True).fit({"x": [*AGES, 1e9]}).column_encoders
    np.testing.assert_allclose(odd.knots[1:-1], plain.knots[1:-1], atol=1)
    assert np.isfinite(TableEncoder(curves=True).fit_transform({"x": [*AGES, 1e9]})).all()


def test_a_column_decides_for_itself():
    data = {"age": AGES, "x": AGES[::-1]}
    encoder = TableEncoder(number={"age": {"curve": True}}).fit(data)
    assert encoder.feature_names[-1] == "x"
    assert len(encoder.feature_names) > 10
    encoder = TableEncoder(curves=True, number={"age": {"curve": False}}).fit(data)
    assert encoder.feature_names[0] == "age"


def test_parts_make_the_same_curves_as_the_whole():
    data = table()
    whole = TableEncoder(curves=True).fit(data)
    parts = [{name: values[i::3] for name, values in data.items()} for i in range(3)]
    streamed = TableEncoder(curves=True)
    for part in parts:
        streamed.partial_fit(part)
    merged = TableEncoder(curves=True).fit(parts[0])
    for part in parts[1:]:
        merged = merged.merge(TableEncoder(curves=True).fit(part))
    for encoder in (streamed, merged):
        assert encoder.feature_names == whole.feature_names
        np.testing.assert_array_equal(encoder.encode(data).values, whole.encode(data).values)


def test_a_record_is_encoded_as_a_row():
    data = table()
    encoder = TableEncoder(curves=True).fit(data)
    rows = csr_array(encoder.transform(data)).toarray()
    for i in range(50):
        row = np.zeros(rows.shape[1])
        for index, value in encoder.encode_one({name: data[name][i] for name in data}):
            row[index] = value
        np.testing.assert_array_equal(row, rows[i])


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="'curve'"):
        TableEncoder(number={"age": {"curves": True}}).fit(table())


@pytest.mark.parametrize("harm", ["knots", "knot_rows", "knot_counts"])
def test_damaged_parts_are_refused(harm):
    tensors, values = TableEncoder(curves=True).fit(table()).to_parts()
    damaged = {
        "knots": lambda t: t[::-1].copy(),
        "knot_rows": lambda t: -t - 1,
        "knot_counts": lambda t: t + 1,
    }[harm](tensors[harm])
    with pytest.raises(ValueError, match="damaged"):
        TableEncoder.from_parts({**tensors, harm: damaged}, values)
