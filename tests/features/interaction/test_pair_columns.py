"""Interactions of a TableEncoder, against products of its features in dense NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from separable import Ridge, TableEncoder, TableRegressor
from separable.data.table import TableError

rng = np.random.default_rng(0)
N = 400
X = {
    "age": rng.uniform(18, 90, N),
    "income": np.where(rng.random(N) < 0.1, np.nan, rng.lognormal(size=N)),
    "sex": rng.choice(["f", "m"], N),
    "city": rng.choice([f"city {k:02d}" for k in range(40)], N),
    "open": rng.random(N) < 0.5,
}
PAIRS = [("age", "sex"), ("income", "age"), ("sex", "open"), ("city", "age"), ("city", "sex")]


def fitted(pairs=PAIRS, **options) -> TableEncoder:
    return TableEncoder(curves=True, interactions=pairs, **options).fit(X)


def dense(encoder: TableEncoder, data) -> np.ndarray:
    made = encoder.transform(data)
    return made.toarray() if hasattr(made, "toarray") else np.asarray(made)


def record(row: int) -> dict:
    return {name: values[row].item() for name, values in X.items()}


def tents(knots: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(x, knots, e) for e in np.eye(len(knots))])


def test_a_pair_is_the_product_of_tents_and_levels():
    encoder = fitted([("age", "sex")])
    (pair,) = encoder.pair_encoders
    levels = np.column_stack([X["sex"] == "f", X["sex"] == "m"])
    expected = tents(pair.first.knots, X["age"])[:, :, None] * levels[:, None, :]
    made = dense(encoder, X)[:, -pair.width :]
    np.testing.assert_allclose(made, expected.reshape(N, -1), atol=1e-12)
    np.testing.assert_allclose(made.sum(axis=1), 1.0)


def test_two_numbers_make_a_bilinear_surface():
    data = {"x": rng.uniform(-1, 1, N), "z": rng.uniform(-1, 1, N)}
    encoder = TableEncoder(curves=True, interactions=[("x", "z")]).fit(data)
    (pair,) = encoder.pair_encoders
    a, b = tents(pair.first.knots, data["x"]), tents(pair.second.knots, data["z"])
    expected = (a[:, :, None] * b[:, None, :]).reshape(N, -1)
    np.testing.assert_allclose(dense(encoder, data)[:, -pair.width :], expected, atol=1e-12)
    far = {"x": [-5.0, 9e9], "z": [7.0, -1e300]}  # constant beyond the outer knots
    corner = {"x": [-1.0, 1.0], "z": [1.0, -1.0]}
    np.testing.assert_allclose(dense(encoder, far), dense(encoder, corner), atol=0.02)
    assert dense(encoder, far).max() <= 1.0


def test_names_read():
    names = fitted([("age", "sex")]).feature_names
    assert names[-1].startswith("age[>")
    assert names[-1].endswith("] x sex=m")
    assert len(set(names)) == len(names)
    assert fitted([("age", "sex")]).sources[-1] == "age x sex"


def test_one_record_is_encoded_as_in_a_table():
    encoder = fitted()
    whole = dense(encoder, X)
    for row in range(0, N, 37):
        made = np.zeros(whole.shape[1])
        for index, value in encoder.encode_one(record(row)):
            made[index] += value
        np.testing.assert_allclose(made, whole[row], atol=1e-15)


def test_missing_values_and_unknown_levels():
    encoder = fitted([("income", "sex"), ("city", "sex")])
    names = list(encoder.feature_names)
    row = dict(
        zip(names, dense(encoder, [{**record(0), "income": None, "sex": "m"}])[0], strict=True)
    )
    assert row["income=(missing) x sex=m"] == 1.0
    unknown = dense(encoder, [{**record(0), "sex": "other"}])[0]
    assert not unknown[[at for at, name in enumerate(names) if " x " in name]].any()
    no_city = dense(encoder, [{**record(0), "city": None}])[0]  # none was missing in training
    assert not no_city[[at for at, name in enumerate(names) if name.startswith("city")]].any()


def test_rare_levels_share_a_feature_within_the_pair():
    pair = next(each for each in fitted().pair_encoders if each.name == "city x age")
    assert any(name.startswith("city=(rare) x ") for name in pair.feature_names)
    assert pair.width <= 150


@pytest.mark.parametrize("n", [150, 250])
def test_parts_of_the_rows_merge_exactly(n):
    whole = fitted()
    first, second = ({k: v[s] for k, v in X.items()} for s in (slice(0, n), slice(n, N)))
    options = {"curves": True, "interactions": PAIRS}
    going_on = TableEncoder(**options).fit(second).partial_fit(first)
    merged = TableEncoder(**options).fit(second).merge(TableEncoder(**options).fit(first))
    for each in (going_on, merged):
        assert each.feature_names == whole.feature_names
        np.testing.assert_array_equal(dense(each, X), dense(whole, X))


def test_files_keep_the_pairs():
    encoder = fitted()
    again = TableEncoder.from_parts(*encoder.to_parts())
    assert again.feature_names == encoder.feature_names
    assert again.interactions == PAIRS
    np.testing.assert_array_equal(dense(again, X), dense(encoder, X))


def test_damaged_files_are_refused():
    tensors, values = fitted([("age", "sex")]).to_parts()
    for change in ({"pairs": [{}, {}]}, {"pairs": 3}, {"interactions": [["age"]]}):
        with pytest.raises(ValueError, match=r"damaged|pairs"):
            TableEncoder.from_parts(tensors, {**values, **change})


def test_explanations_add_up_by_column_and_pair():
    y = X["age"] * (X["sex"] == "m") + rng.normal(size=N)
    encoder = TableEncoder(curves=True, interactions=PAIRS)
    model = TableRegressor(Ridge(), encoder).fit(X, y).model_
    rows = [record(3), {**record(5), "income": None}]
    parts = model.explain(rows).by_column()
    assert {"age", "sex", "age x sex", "city x age"} <= set(parts)
    total = sum(np.asarray(each) for each in parts.values()) + model.intercept[0]
    np.testing.assert_allclose(total.ravel(), model.predict(rows), atol=1e-10)
    errors = model.predict([record(k) for k in range(N)]) - y
    assert errors.std() < 2.0  # without the pair it is about 20


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ([("age", "age")], "different columns"),
        ([("age",)], "pairs"),
        ("age", "pairs"),
        ([("age", "sex"), ("sex", "age")], "twice"),
        ([("age", "nothing")], "nothing"),
    ],
)
def test_wrong_pairs_are_refused(pairs, match):
    with pytest.raises(ValueError, match=match):
        fitted(pairs)


def test_columns_that_cannot_take_part_are_named():
    data = {**X, "constant": np.ones(N), "note": [f"a word {k} or two" for k in range(N)]}
    for name in ("constant", "note"):
        with pytest.raises(TableError, match=f"column '{name}'"):
            TableEncoder(interactions=[("age", name)]).fit(data)


def test_outliers_and_few_values_are_no_trouble():
    data = {"x": [*np.linspace(0, 1, 98), 1e9, -1e9], "k": [0, 1] * 50}
    encoder = TableEncoder(curves=True, interactions=[("x", "k")]).fit(data)
    made = dense(encoder, data)
    assert np.isfinite(made).all()
    assert abs(made[:, -encoder.pair_encoders[0].width :]).max() <= 1.0
    flat = {"x": np.linspace(0, 1, 50), "gone": [None] * 50}
    with pytest.raises(TableError, match="gone"):
        TableEncoder(interactions=[("x", "gone")], number=["gone"]).fit(flat)
