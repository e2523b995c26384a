"""TableEncoder: its laws, its policies for what is missing or unseen, and its errors."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from separable import AveragedPerceptron, TableEncoder
from separable.data.table import CellError, TableError
from separable.features import row_assembly as slot_module
from separable.features.table.number_column import NumberState

TABLE = {
    "age": [20.0, 40.0, None, 60.0],
    "city": ["Rome", "Oslo", None, "Rome"],
    "size": [1.0, 2.0, 3.0, 6.0],
    "kind": ["b", "a", "b", "b"],
}
NAMES = (
    "age",
    "age=(missing)",
    "city=Oslo",
    "city=Rome",
    "city=(missing)",
    "size",
    "kind=a",
    "kind=b",
)


def encode(encoder: TableEncoder, data: object) -> np.ndarray:
    rows = encoder.encode(data)
    assert not rows.is_sparse
    assert rows.values.dtype == np.float64
    return rows.values


# --- what it makes ---


def test_names_sources_and_values():
    encoder = TableEncoder().fit(TABLE)
    assert encoder.feature_names == NAMES
    assert encoder.sources == ("age",) * 2 + ("city",) * 3 + ("size",) + ("kind",) * 2
    assert encoder.get_feature_names_out().tolist() == list(NAMES)
    assert encoder.column_types == {
        "age": "number",
        "city": "category",
        "size": "number",
        "kind": "category",
    }
    root = np.sqrt(800 / 3)
    expected = [
        [-20 / root, 0, 0, 1, 0, -2 / np.sqrt(3.5), 0, 1],
        [0, 0, 1, 0, 0, -1 / np.sqrt(3.5), 1, 0],
        [0, 1, 0, 0, 1, 0, 0, 1],
        [20 / root, 0, 0, 1, 0, 3 / np.sqrt(3.5), 0, 1],
    ]
    np.testing.assert_allclose(encode(encoder, TABLE), expected, rtol=1e-15, atol=0)


def test_agrees_with_scikit_learn_on_complete_data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(5, 3, 200),
            "c": rng.choice(["u", "v", "w"], 200),
            "z": rng.integers(0, 9, 200),
            "d": rng.choice(["k", "l"], 200),
        }
    )
    ours = encode(TableEncoder().fit(frame), frame)
    numbers = StandardScaler().fit_transform(frame[["x", "z"]])
    levels = OneHotEncoder(sparse_output=False).fit_transform(frame[["c", "d"]])
    theirs = np.column_stack([numbers[:, 0], levels[:, :3], numbers[:, 1], levels[:, 3:]])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, dict])
def test_every_kind_of_table_gives_the_same_bits(make):
    expected = encode(TableEncoder().fit(TABLE), TABLE)
    np.testing.assert_array_equal(encode(TableEncoder().fit(make(TABLE)), make(TABLE)), expected)


def test_many_levels_give_csr_and_the_same_matrix(monkeypatch):
    rng = np.random.default_rng(1)
    table = {
        "x": rng.normal(size=500),
        "level": (np.arange(500) % 100).astype(str),
        "y": np.where(rng.random(500) < 0.1, np.nan, rng.normal(size=500)),
    }
    encoder = TableEncoder().fit(table)
    rows = encoder.encode(table)
    assert rows.is_sparse
    assert rows.n_features == len(encoder.feature_names) == 103
    matrix = encoder.transform(table)
    monkeypatch.setattr(slot_module, "DENSE_LIMIT", 1000)
    np.testing.assert_array_equal(matrix.toarray(), encoder.encode(table).values)


# --- numbers ---


def test_a_shift_of_1e8_keeps_the_digits():
    values = np.random.default_rng(2).integers(0, 1000, 300) / 16  # exact after the shift
    plain = encode(TableEncoder().fit({"x": values}), {"x": values})
    shifted = encode(TableEncoder().fit({"x": values + 1e8}), {"x": values + 1e8})
    np.testing.assert_allclose(shifted, plain, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-6, 1e6, 1e150, 1e307])
def test_any_scale_gives_the_same_numbers(scale):
    values = np.array([1.0, 2.0, 4.0, 8.0, -3.0])
    plain = encode(TableEncoder().fit({"x": values}), {"x": values})
    scaled = encode(TableEncoder().fit({"x": values * scale}), {"x": values * scale})
    np.testing.assert_allclose(scaled, plain, rtol=1e-12 if scale > 1e-310 else 1e-3)


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=30))
def test_mean_and_deviation_against_exact_fractions(values):
    from fractions import Fraction
    from math import sqrt

    array = np.array(values)
    if array.min() == array.max():
        return
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / len(exact)
    spread = max(abs(value - mean) for value in exact)
    root = float(spread) * sqrt(float(variance / spread**2))
    got = NumberState.of(array)
    got_mean, got_deviation = got.mean, got.deviation
    size = float(max(abs(value) for value in exact))
    assert abs(got_mean - float(mean)) <= 4e-16 * size + 5e-324
    assert abs(got_deviation - root) <= 1e-12 * root + 1e-15 * size + 5e-324


def test_a_number_written_as_text_is_read_where_a_number_is_expected():
    encoder = TableEncoder().fit({"x": [1, 2, 3]})
    np.testing.assert_array_equal(
        encode(encoder, {"x": ["3", "+1e0"]}), encode(encoder, {"x": [3, 1]})
    )


def test_a_constant_number_with_missing_values_gives_only_the_indicator():
    encoder = TableEncoder().fit({"x": [5.0, None, 5.0]})
    assert encoder.feature_names == ("x=(missing)",)
    np.testing.assert_array_equal(encode(encoder, {"x": [7.0, None]}), [[0], [1]])


# --- missing and unseen ---


def test_missing_met_in_training():
    encoder = TableEncoder().fit(TABLE)
    rows, report = encoder.encode_with_report([{**dict.fromkeys(TABLE), "size": 3, "kind": "a"}])
    np.testing.assert_array_equal(rows.values, [[0, 1, 0, 0, 1, 0, 1, 0]])
    assert [(c.column, c.missing, c.missing_trained) for c in report.columns] == [
        ("age", 1, True),
        ("city", 1, True),
    ]


def test_missing_and_unseen_not_met_in_training():
    encoder = TableEncoder().fit(TABLE)
    data = {
        "age": [40] * 5,
        "city": ["Lima", "Rome", "Lima", "Cuzco", "Quito"],
        "size": [None, 3, None, None, None],
        "kind": ["a", None, "a", "a", "a"],
    }
    rows, report = encoder.encode_with_report(data)
    names = encoder.feature_names
    assert (rows.values[:, names.index("size")] == 0).all()
    assert rows.values[1, names.index("kind=a") :].tolist() == [0, 0]
    assert rows.values[0, names.index("city=Oslo") : names.index("size")].tolist() == [0, 0, 0]
    assert report.n_rows == 5
    city, size, kind = report.columns
    assert (city.unseen, city.missing) == (4, 0)
    assert city.unseen_examples == ((0, "Lima"), (3, "Cuzco"), (4, "Quito"))
    assert (size.missing, size.missing_rows, size.missing_trained) == (4, (0, 2, 3), False)
    assert (kind.missing, kind.missing_rows, kind.unseen) == (1, (1,), 0)
    assert (report.missing, report.unseen) == (5, 4)
    assert report.to_dict()["columns"][0]["unseen_examples"][0] == [0, "Lima"]


def test_nothing_to_report():
    assert (
        TableEncoder()
        .fit(TABLE)
        .encode_with_report([{"age": 1, "city": "Rome", "size": 1, "kind": "a"}])[1]
        .columns
        == ()
    )


# --- columns left out ---


def test_dropped_columns_are_named_with_the_reason():
    n = 120
    table = {
        "x": np.arange(n),
        "constant": np.ones(n),
        "level": ["only"] * n,
        "nothing": [None] * n,
        "id": [f"row {i}" for i in range(n)],
        "spoilt": [*(str(i / 7) for i in range(n - 4)), "oops", "ah", "oh", "uh"],
        "texts": [str(i) for i in range(n)],
        "unwanted": np.arange(n),
    }
    encoder = TableEncoder(drop=["unwanted"]).fit(table)
    assert encoder.feature_names == ("x",)
    assert encoder.dropped_ == {
        "constant": "constant: every value is 1",
        "level": "constant: every value is 'only'",
        "nothing": "every value is missing",
        "id": "120 distinct texts in 120 values: an identifier or free text, not a category",
        "spoilt": "120 distinct texts in 120 values: an identifier or free text, not a category; "
        "4 of its values, such as 'oops', keep it from being a number",
        "texts": "120 distinct texts in 120 values: an identifier or free text, not a category; "
        "its texts are all numbers, so it can be used as a number",
        "unwanted": "asked for",
    }
    assert encoder.n_features_in_ == 8


@pytest.mark.parametrize(
    ("n_levels", "n", "dropped"), [(50, 60, False), (51, 101, True), (51, 102, False)]
)
def test_what_is_taken_for_an_identifier(n_levels, n, dropped):
    table = {"x": np.arange(n), "c": [f"l{min(i, n_levels - 1)}" for i in range(n)]}
    assert ("c" in TableEncoder().fit(table).dropped_) is dropped
    assert "c" not in TableEncoder(category=["c"]).fit(table).dropped_


def test_nothing_left():
    with pytest.raises(TableError, match=r"No column is left to learn from.*'x': constant"):
        TableEncoder().fit({"x": [1, 1]})


# --- options ---


def test_overrides():
    table = {"zip": [1, 2, 2], "x": ["1", "2", "4"], "y": [1, 2, 3]}
    encoder = TableEncoder(category=["zip"], number=["x"], drop=["y"]).fit(table)
    assert encoder.feature_names == ("zip=1", "zip=2", "x")
    assert encode(encoder, {"zip": [2.0], "x": ["4"]})[0, :2].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"number": ["agee"]}, r"no column 'agee' \(did you mean 'age'\?\)"),
        ({"drop": "age"}, "'drop' parameter of TableEncoder must be a list.*Got 'age'"),
        ({"number": ["age"], "drop": ["age"]}, "'age' is named in both 'number' and 'drop'"),
        ({"number": ["city"]}, "Column 'city', row 0: 'Rome' is not a number"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder(**options).fit(TABLE)


# --- errors ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": None}, r"lacks 1 column\(s\).*'age'.*It has 'city'.*Add them"),
        ({"age": [1, 2, "old", 4]}, "Column 'age', row 2: 'old' is not a number"),
        ({"age": [1, np.inf, 2, 3]}, "Column 'age', row 1: infinity"),
        ({"size": ["1", "1", "-inf", "1"]}, "Column 'size', row 2: infinity"),
    ],
)
def test_bad_data(change, message):
    encoder = TableEncoder().fit(TABLE)
    data = {name: values for name, values in {**TABLE, **change}.items() if values is not None}
    with pytest.raises(TableError, match=message):
        encoder.encode(data)


def test_infinity_is_refused_in_training():
    with pytest.raises(CellError, match="Column 'x', row 1: infinity") as caught:
        TableEncoder().fit({"x": [1.0, -np.inf]})
    assert (caught.value.column, caught.value.row) == ("x", 1)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_number_too_far_away_to_compute_with():
    encoder = TableEncoder().fit({"x": [1e-200, 2e-200]})
    with pytest.raises(CellError, match=r"row 1: 1e\+200 is too far from the training values"):
        encoder.encode({"x": [1e-200, 1e200]})


def test_extra_columns_are_ignored_whatever_they_hold():
    encoder = TableEncoder().fit(TABLE)
    data = {**TABLE, "extra": [[1], {}, None, "x"]}
    np.testing.assert_array_equal(encode(encoder, data), encode(encoder, TABLE))


@pytest.mark.parametrize("data", [[], {}, {"x": []}])
def test_no_rows(data):
    with pytest.raises(TableError, match="no rows"):
        TableEncoder().fit(data)


def test_not_fitted():
    for call in (
        lambda: TableEncoder().encode(TABLE),
        lambda: TableEncoder().feature_names,
        lambda: TableEncoder().to_parts(),
    ):
        with pytest.raises(ValueError, match=r"not fitted yet\. Call fit"):
            call()


def test_names_that_coincide_are_told_apart():
    encoder = TableEncoder().fit({"c": ["(missing)", None, "a"], "c=a": [1, 2, 3]})
    assert encoder.feature_names == ("c=(missing)", "c=a", "c=(missing) [2]", "c=a [2]")


# --- scikit-learn ---


def test_parameters_and_clone():
    encoder = TableEncoder(number=["age"]).fit(TABLE)
    copy = clone(encoder)
    assert copy.get_params() == {
        "number": ["age"],
        "category": None,
        "boolean": None,
        "date": None,
        "text": None,
        "drop": None,
        "conversions": None,
        "scale": True,
        "curves": False,
        "interactions": None,
        "increasing": None,
        "decreasing": None,
        "nonnegative": None,
        "min_count": None,
        "unseen": "zero",
        "n_jobs": None,
    }
    with pytest.raises(ValueError, match="not fitted"):
        copy.encode(TABLE)
    assert copy.set_params(number=None, drop=["age"]).fit(TABLE).sources[0] == "city"
    with pytest.raises(ValueError, match="Invalid parameter 'size' for estimator TableEncoder"):
        copy.set_params(size=True)
    assert repr(copy) == "TableEncoder(drop=['age'])"
    check_is_fitted(encoder)


def test_numbers_that_stay_as_they_are():
    table = {"n": [3, None, 8], "c": ["a", "b", "a"], "same": [2, 2, 2]}
    encoder = TableEncoder(scale=False).fit(table)
    assert repr(encoder) == "TableEncoder(scale=False)"
    expected = [[3, 0, 1, 0], [0, 1, 0, 1], [8, 0, 1, 0]]
    np.testing.assert_array_equal(encoder.transform(table), expected)
    again = TableEncoder.from_parts(*encoder.to_parts())
    assert again.scale is False
    np.testing.assert_array_equal(again.transform(table), expected)
    tensors, values = encoder.to_parts()
    with pytest.raises(ValueError, match="'scale' must be true or false"):
        TableEncoder.from_parts(tensors, {**values, "scale": 2})


def test_in_a_pipeline_with_cross_validation():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=120),
            "c": rng.choice(["u", "v"], 120),
            "k": rng.choice(list("ab"), 120),
        }
    )
    y = np.where(frame["c"] == "u", "yes", "no")
    pipeline = make_pipeline(TableEncoder(), LogisticRegression())
    assert cross_val_score(pipeline, frame, y, cv=3).min() > 0.95
    assert pipeline.fit(frame, y)[:-1].get_feature_names_out().tolist()[0] == "x"


@pytest.mark.parametrize("n_levels", [3, 80])
def test_in_a_pipeline_with_a_learner_of_ours(n_levels):
    rng = np.random.default_rng(4)
    levels = rng.integers(0, n_levels, 400)
    frame = pd.DataFrame({"x": rng.normal(size=400), "c": [f"l{level}" for level in levels]})
    y = levels % 2
    pipeline = make_pipeline(TableEncoder(), AveragedPerceptron(max_iter=20)).fit(frame, y)
    assert pipeline.score(frame, y) > 0.95
    assert clone(pipeline).fit(frame, y).score(frame, y) == pipeline.score(frame, y)


def test_fit_transform_is_fit_then_transform():
    np.testing.assert_array_equal(
        TableEncoder().fit_transform(TABLE), TableEncoder().fit(TABLE).transform(TABLE)
    )


def test_a_mixed_column_that_is_dropped_does_no_harm():
    frame = pd.DataFrame({"a": [1, 2], "m": [1, "x"]})
    encoder = TableEncoder(drop=["m"]).fit(frame)
    assert encoder.feature_names == ("a",)
    np.testing.assert_array_equal(encode(encoder, frame), [[-1], [1]])
    assert TableEncoder().fit(frame).feature_names == ("a", "m=1", "m=x")


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_out(library, kind):
    encoder = TableEncoder().set_output(transform=library)
    for frame in (encoder.fit_transform(TABLE), encoder.transform(TABLE)):
        assert isinstance(frame, kind)
        assert tuple(frame.columns) == NAMES
        np.testing.assert_array_equal(frame.to_numpy(), encode(encoder, TABLE))
    assert encoder.set_output() is encoder
    assert isinstance(clone(encoder).fit_transform(TABLE), kind)
    assert isinstance(encoder.set_output(transform="default").transform(TABLE), np.ndarray)


def test_a_pandas_index_is_handed_on():
    frame = pd.DataFrame(TABLE, index=[7, 3, 5, 1])
    encoder = TableEncoder().set_output(transform="pandas")
    assert encoder.fit_transform(frame).index.tolist() == [7, 3, 5, 1]
    assert encoder.transform(frame.iloc[2:]).index.tolist() == [5, 1]
    assert encoder.transform([{name: column[0] for name, column in TABLE.items()}]).index[0] == 0


def test_a_pipeline_and_the_global_setting_choose_the_output():
    pipeline = make_pipeline(TableEncoder(), StandardScaler()).set_output(transform="pandas")
    assert tuple(pipeline.fit_transform(TABLE).columns) == NAMES
    with config_context(transform_output="polars"):
        assert isinstance(TableEncoder().fit_transform(TABLE), pl.DataFrame)
        default = TableEncoder().set_output(transform="default")
        assert isinstance(default.fit_transform(TABLE), np.ndarray)


def test_outputs_that_cannot_be(monkeypatch):
    with pytest.raises(ValueError, match=r"'transform' parameter of set_output.*Got 'arrow' inst"):
        TableEncoder().set_output(transform="arrow")
    table = {"level": (np.arange(500) % 100).astype(str)}
    encoder = TableEncoder().set_output(transform="pandas")
    with pytest.raises(
        ValueError, match=r"100 features.* kept sparse.*set_output\(transform='defa"
    ):
        encoder.fit_transform(table)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"needs polars, .*Run: pip install polars$"):
        TableEncoder().set_output(transform="polars").fit_transform(TABLE)


def test_survives_pickling():
    encoder = pickle.loads(pickle.dumps(TableEncoder().fit(TABLE)))
    np.testing.assert_array_equal(encode(encoder, TABLE), encode(TableEncoder().fit(TABLE), TABLE))


def test_encoding_imports_no_scikit_learn_scipy_or_pandas():
    script = (
        "import sys; from separable import TableEncoder;"
        "e = TableEncoder().fit({'x': [1, 2, None], 'c': ['a', 'b', None]});"
        "e.from_parts(*e.to_parts()).encode_with_report([{'x': 1, 'c': 'new'}]);"
        "sys.exit(any(n in sys.modules for n in ('pandas', 'scipy', 'sklearn', 'pyarrow')))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# --- laws ---

eighths = st.integers(-8000, 8000).map(lambda eighth: eighth / 8)
cells = {
    "x": st.none() | eighths,
    "y": eighths,
    "c": st.none() | st.sampled_from(["a", "b", "(missing)", "é", ""]),
    "d": st.sampled_from(["u", "v"]),
}
tables = st.lists(st.fixed_dictionaries(cells), min_size=2, max_size=12)


def fitted(rows):
    try:
        return TableEncoder().fit(rows)
    except TableError:  # nothing in it to learn from
        return None


@given(tables, tables, st.randoms())
def test_the_order_of_rows_does_not_change_a_row(train, rows, random):
    encoder = fitted(train)
    if encoder is None:
        return
    order = list(range(len(rows)))
    random.shuffle(order)
    together = encode(encoder, rows)
    np.testing.assert_array_equal(encode(encoder, [rows[i] for i in order]), together[order])
    for row, expected in zip(rows, together, strict=True):
        np.testing.assert_array_equal(encode(encoder, [row])[0], expected)


@given(tables, tables)
def test_parts_round_trip_to_the_same_bits(train, rows):
    encoder = fitted(train)
    if encoder is None:
        return
    tensors, values = encoder.to_parts()
    copy = TableEncoder.from_parts(tensors, values)
    assert copy.feature_names == encoder.feature_names
    assert copy.sources == encoder.sources
    assert copy.dropped_ == encoder.dropped_
    assert copy.get_params() == encoder.get_params()
    assert encode(copy, rows).tobytes() == encode(encoder, rows).tobytes()
    again, again_values = copy.to_parts()
    assert again_values == values
    assert again.keys() == tensors.keys()
    for key, tensor in tensors.items():
        np.testing.assert_array_equal(again[key], tensor)


@given(tables, tables)
def test_policy_for_each_cell(train, rows):
    """The policy, cell by cell, in plain Python."""
    encoder = fitted(train)
    if encoder is None:
        return
    out = encode(encoder, rows)
    for name in set(encoder.sources):
        places = [i for i, source in enumerate(encoder.sources) if source == name]
        seen = {row[name] for row in train}
        for row, numbers in zip(rows, out[:, places].tolist(), strict=True):
            if name in "xy":
                known = [row[name] for row in train if row[name] is not None]
                scale = np.std(known)
                z = 0.0 if row[name] is None or scale == 0 else (row[name] - np.mean(known)) / scale
                expected = [z] if len(set(known)) > 1 else []
                expected += [float(row[name] is None)] if None in seen else []
                np.testing.assert_allclose(numbers, expected, rtol=1e-6, atol=1e-6 * (1 + abs(z)))
            else:
                levels = [*sorted(seen - {None}), *([None] if None in seen else [])]
                assert numbers == [float(row[name] == level) for level in levels]


@given(tables)
def test_the_order_of_training_rows_does_not_matter_to_the_levels(train):
    encoder = fitted(train)
    if encoder is not None:
        again = fitted(train[::-1])
        assert sorted(again.feature_names) == sorted(encoder.feature_names)


# --- damaged parts ---


def parts():
    table = {**TABLE, "gone": [1, 1, 1, 1]}
    return TableEncoder(number=["age"]).fit(table).to_parts()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("names", ("age", "age", "size", "kind"), "column names must differ"),
        ("names", ("age",), "'is_number' must be an array of 1 numbers"),
        ("names", np.zeros(4), "'names' must be texts"),
        ("names", None, "'names' must be texts"),
        (
            "is_number",
            np.array([1, 1, 1, 0], np.uint8),
            "'means' must be an array of 3 numbers",
        ),
        ("is_number", np.array([1, 0, 9, 0], np.uint8), "'is_number' must hold 0 and 1"),
        ("means", np.array([np.nan, 1.0]), "'means' is wrong"),
        ("means", np.array([1.0]), "'means' must be an array of 2 numbers"),
        ("means", np.zeros((2, 1)), "'means' must be an array of 2 numbers"),
        ("scales", np.array([1.0, -1.0]), "scales must be >= 0"),
        ("scales", np.array([1.0, 0.0]), "column 'size' gives no number out"),
        ("scales", np.array([1, 1]), "'scales' must be an array"),
        ("levels", ("Rome", "Oslo", "a", "b"), "unsorted levels"),
        ("levels", ("Oslo", "Oslo", "a", "b"), "unsorted levels"),
        ("levels", ("Oslo",), "wrong levels"),
        ("level_counts", np.array([-1, 5]), "wrong levels"),
        ("level_counts", np.array([2**62, 2**62]), "wrong levels"),
        ("dropped_reasons", (), "each dropped column needs a reason"),
        ("names_in", ("age",), "'names_in' must list the columns"),
    ],
)
def test_damaged_tensors_are_refused(key, value, message):
    tensors, values = parts()
    assert TableEncoder.from_parts(tensors, values)
    tensors[key] = value
    with pytest.raises(ValueError, match=f"The saved TableEncoder is damaged: .*({message})"):
        TableEncoder.from_parts(tensors, values)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"options": None},
        {"options": {"number": None}},
        {"options": {"number": [1], "category": None, "drop": None}},
    ],
)
def test_damaged_values_are_refused(values):
    with pytest.raises(ValueError, match=r"damaged: .*options"):
        TableEncoder.from_parts(parts()[0], values)
