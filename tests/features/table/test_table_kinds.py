"""TableEncoder: booleans, dates, texts, rare and unseen levels; chunks, merging and files."""

from __future__ import annotations

import datetime as dt
import io
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from separable import TableEncoder, TextEncoder
from separable.data.table import CellError, TableError

pytestmark = pytest.mark.native

NO_LEVELS = {"levels": (), "level_counts": np.zeros(0, np.int64)}
WHEN = [dt.datetime(2024, 1, 31, 6), dt.datetime(2023, 12, 3, 18, 30), None]


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array(
        ["the", "film", "was", "good", "bad", "long", "short", "actor", "plot", "music"]
    )
    return [" ".join(rng.choice(words, 6)) + f" w{i}" for i in range(n)]


# --- booleans ---


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, dict])
def test_a_boolean_is_one_number(make):
    encoder = TableEncoder().fit(make({"open": [True, False, True], "x": [1.0, 2.0, 4.0]}))
    assert encoder.feature_names == ("open=True", "x")
    assert encoder.transform(make({"open": [False, True], "x": [1.0, 1.0]}))[:, 0].tolist() == [
        0,
        1,
    ]
    assert encoder.columns_[0].type == "boolean"


def test_missing_booleans_and_words_for_them():
    encoder = TableEncoder().fit({"open": [True, None, False]})
    assert encoder.feature_names == ("open=True", "open=(missing)")
    assert encoder.transform({"open": [None, True]}).tolist() == [[0, 1], [1, 0]]
    words = TableEncoder(boolean=["open"]).fit({"open": ["yes", "No", "yes"]})
    assert words.transform({"open": ["no", "YES"]}).tolist() == [[0], [1]]
    with pytest.raises(CellError, match="Column 'open', row 1: 'maybe' is not true or false"):
        words.transform({"open": ["no", "maybe"]})
    assert TableEncoder().fit({"a": [True, True], "b": [1, 2]}).dropped_ == {
        "a": "constant: every value is True"
    }
    only_missing = TableEncoder().fit({"a": [True, None]})
    assert only_missing.feature_names == ("a=(missing)",)
    as_category = TableEncoder(category=["a"]).fit({"a": [True, False]})
    assert as_category.feature_names == ("a=False", "a=True")


# --- dates ---


@pytest.mark.parametrize(
    "column",
    [
        WHEN,
        pa.array(WHEN),
        pa.array(WHEN, pa.timestamp("ns")),
        pd.Series(WHEN),
        np.array(WHEN, dtype="datetime64[s]"),
        ["2024-01-31 06:00", "2023-12-03T18:30:00", None],
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_date_is_its_parts(column):
    encoder = TableEncoder().fit({"at": column})
    assert encoder.feature_names == (
        "at",
        "at.year",
        "at.day",
        "at.month=1",
        "at.month=12",
        "at.weekday=Wed",
        "at.weekday=Sun",
        "at.hour=6",
        "at.hour=18",
        "at=(missing)",
    )
    np.testing.assert_allclose(
        encoder.transform({"at": column}),
        [
            [1, 1, 1, 1, 0, 1, 0, 1, 0, 0],
            [-1, -1, -1, 0, 1, 0, 1, 0, 1, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        ],
        atol=1e-12,
    )
    assert encoder.columns_[0].type == "date"


def test_parts_that_do_not_vary_are_left_out():
    days = [dt.date(2024, 5, day) for day in (6, 13, 20)]  # Mondays in May
    encoder = TableEncoder().fit({"day": days, "x": [1, 2, 3]})
    assert encoder.feature_names == ("day", "day.day", "x")
    later = encoder.transform({"day": [dt.date(2025, 7, 1)], "x": [2]})
    assert later.shape == (1, 3)
    constant = TableEncoder().fit({"day": days[:1] * 2, "x": [1, 2]})
    assert constant.dropped_ == {"day": "constant: every value is 2024-05-06"}
    zoned = pa.array(WHEN, pa.timestamp("s", "Asia/Tokyo"))  # 9 hours ahead
    assert "at.hour=15" in TableEncoder().fit({"at": zoned}).feature_names


def test_weekdays_against_the_calendar():
    days = [dt.date(1965, 1, 1) + dt.timedelta(days=37 * i) for i in range(600)]
    encoder = TableEncoder().fit({"day": days})
    matrix = pd.DataFrame(encoder.transform({"day": days}), columns=encoder.feature_names)
    for place, name in enumerate(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")):
        expected = [day.weekday() == place for day in days]
        assert (matrix[f"day.weekday={name}"] == expected).all()
    for month in range(1, 13):
        assert (matrix[f"day.month={month}"] == [day.month == month for day in days]).all()
    year = np.array([day.year for day in days])
    np.testing.assert_allclose(matrix["day.year"], (year - year.mean()) / year.std(), atol=1e-12)


def test_a_day_with_an_offset_and_no_time_is_no_date():
    """Python reads its offset as a time of day."""
    for text in ("2024-01-01+01:00", "2024-01-01-0130", "2024-01-01Z"):
        with pytest.raises(TableError, match="is not a date such as"):
            TableEncoder(date=["at"]).fit({"at": ["2024-01-01", text]})


def test_what_is_no_date():
    encoder = TableEncoder().fit({"at": WHEN})
    with pytest.raises(CellError, match="row 1: 'soon' is not a date such as 2024-01-31"):
        encoder.transform({"at": ["2024-01-01", "soon"]})
    with pytest.raises(CellError, match="5 is a number, not a date"):
        encoder.transform({"at": [5]})
    with pytest.raises(CellError, match="a date is not a number"):
        TableEncoder(number=["at"]).fit({"at": WHEN})
    with pytest.raises(CellError, match="'2024-02-31' is not a date"):
        TableEncoder(date=["at"]).fit({"at": ["2024-02-31"]})


# --- texts ---


def test_free_text_goes_through_a_text_encoder():
    reviews = texts(120)
    table = {"review": reviews, "stars": np.arange(120) % 5}
    encoder = TableEncoder().fit(table)
    assert encoder.columns_[0].type == "text"
    peer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2).fit(reviews)
    terms = [f"review:{term}" for term in peer.get_feature_names_out()]
    assert encoder.feature_names == (*terms, "stars")
    got = encoder.transform(table).toarray()[:, :-1]
    np.testing.assert_allclose(got, peer.transform(reviews).toarray(), atol=1e-14)
    assert encoder.sources[0] == "review"


def test_texts_as_asked_for():
    table = {"note": ["big cat", "cat", None], "x": [1, 2, 4]}
    words = TableEncoder(text=["note"]).fit(table)
    assert words.feature_names == (
        "note:big",
        "note:big cat",
        "note:cat",
        "note=(missing)",
        "x",
    )
    for options in (
        TextEncoder(use_idf=False, norm=None),
        {"ngram_range": (1, 1), "norm": None, "use_idf": False},
    ):
        plain = TableEncoder(text={"note": options}).fit(table)
        assert plain.feature_names == ("note:big", "note:cat", "note=(missing)", "x")
        assert plain.transform(table)[:, :3].tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="a TextEncoder or a dict of its parameters"):
        TableEncoder(text={"note": 3}).fit(table)
    assert (
        "no words to learn from"
        in TableEncoder(text=["n"]).fit({"n": ["!", "?"], "x": [1, 2]}).dropped_["n"]
    )


def test_hashed_words_and_given_ones():
    table = {"t": texts(120)}
    hashed = TableEncoder(text={"t": {"n_features": 256}}).fit(table)
    peer = HashingVectorizer(n_features=256, ngram_range=(1, 2)).transform(table["t"])
    np.testing.assert_allclose(hashed.transform(table).toarray(), peer.toarray(), atol=1e-14)
    halves = [
        TableEncoder(text={"t": {"n_features": 256}}).fit(cut(table, *ends))
        for ends in ((0, 50), (50, 120))
    ]
    assert_same(halves[0].merge(halves[1]), hashed, table)
    given = TableEncoder(text={"t": {"vocabulary": ["film", "plot"]}}).fit(table)
    assert given.feature_names == ("t:film", "t:plot")


def test_encoders_of_text_pickle_and_go_on():
    table = big_table(150)
    encoder = TableEncoder().fit(cut(table, 0, 100))
    again = pickle.loads(pickle.dumps(encoder))
    again.partial_fit(cut(table, 100, 150))
    assert_same(again, TableEncoder().fit(table), table)


def test_few_different_texts_are_levels_and_single_words_identifiers():
    table = {
        "level": ["a b c d", "e f g h"] * 60,
        "id": [f"k{i}" for i in range(120)],
        "x": range(120),
    }
    encoder = TableEncoder().fit(table)
    assert [row.type for row in encoder.columns_] == ["category", "dropped", "number"]


# --- rare and unseen levels ---


def test_rare_levels_share_a_number():
    table = {"c": ["a"] * 5 + ["b"] * 4 + ["x", "y", "y", None], "n": range(13)}
    encoder = TableEncoder(min_count=3).fit(table)
    assert encoder.feature_names == ("c=a", "c=b", "c=(rare)", "c=(missing)", "n")
    assert encoder.transform({"c": ["x", "y", "a", "z", None], "n": [0] * 5})[:, :4].tolist() == [
        [0, 0, 1, 0],
        [0, 0, 1, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 1],
    ]
    alone = TableEncoder(min_count=2).fit(table)
    assert "c=x" in alone.feature_names  # a single rare level keeps its name
    per_column = TableEncoder(category={"c": {"min_count": 3}}).fit(table)
    assert per_column.feature_names == encoder.feature_names
    small = TableEncoder().fit({"c": [str(i) for i in range(40)] + ["0"] * 60})
    assert "c=(rare)" not in small.feature_names
    large = TableEncoder().fit({"c": ["u", "v"] + ["0"] * 30_000 + ["1"] * 30_000})
    assert large.feature_names == ("c=0", "c=1", "c=(rare)")


@pytest.mark.parametrize("policy", ["zero", "error", "other"])
def test_policies_for_unseen_levels(policy):
    table = {"c": ["a", "a", "b", "b", "x", "y"], "d": ["p", "q"] * 3}
    encoder = TableEncoder(unseen={"c": policy}).fit(table)
    new = {"c": ["a", "new"], "d": ["p", "odd"]}
    if policy == "error":
        with pytest.raises(CellError, match="'c', row 1: 'new' is a level that the training data"):
            encoder.transform(new)
        return
    matrix = pd.DataFrame(encoder.transform(new), columns=encoder.feature_names)
    if policy == "other":
        assert encoder.feature_names[:3] == ("c=a", "c=b", "c=(rare)")
        assert matrix["c=(rare)"].tolist() == [0, 1]
    else:
        assert matrix.filter(like="c=").iloc[1].tolist() == [0, 0, 0, 0]
    assert matrix.filter(like="d=").iloc[1].tolist() == [0, 0]
    assert encoder.unseen_ == {
        "c": {"count": 1, "levels": {"new": 1}, "others": 0},
        "d": {"count": 1, "levels": {"odd": 1}, "others": 0},
    }


def test_the_ledger_is_bounded_counts_across_threads_and_is_not_kept():
    encoder = TableEncoder().fit({"c": ["a", "b"]})
    before = encoder.to_parts()

    def met(start):
        encoder.transform({"c": [f"new{i % 150}" for i in range(start, start + 300)]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(met, range(0, 2400, 300)))
    ledger = encoder.unseen_["c"]
    assert ledger["count"] == 2400
    assert len(ledger["levels"]) == 100
    assert ledger["others"] == 2400 - sum(ledger["levels"].values())
    after = encoder.to_parts()
    assert str(after) == str(before)
    assert pickle.loads(pickle.dumps(encoder)).unseen_ == {}
    assert encoder.fit({"c": ["a", "b"]}).unseen_ == {}


# --- the guess ---


def test_the_guess_is_a_table_to_print():
    table = {
        "age": [31, 42, None, 57],
        "city": ["Rome", "Oslo", "Rome", "Rome"],
        "open": [True, False, True, True],
        "since": ["2024-01-01", "2024-02-01", "2024-02-01", "2024-03-01"],
        "same": [1, 1, 1, 1],
    }
    encoder = TableEncoder(drop=["open"])
    guess = encoder.guess(table)
    assert str(guess) == (
        "column  type      numbers out  why\n"
        "age     number              2  numbers\n"
        "city    category            2  2 different texts in 4 values\n"
        "open    dropped             0  asked for\n"
        "since   date                7  texts that are dates\n"
        "same    dropped             0  constant: every value is 1"
    )
    assert not hasattr(encoder, "columns_")
    assert repr(encoder.fit(table).columns_) == repr(guess)
    assert len(guess) == 5
    assert guess[0].numbers_out == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_count": 0}, "'min_count' parameter of TableEncoder must be an int >= 1"),
        ({"unseen": "drop"}, "'unseen' parameter of TableEncoder must be one of"),
        ({"unseen": {"zz": "zero"}}, "no column 'zz'"),
        ({"category": {"c": {"least": 2}}}, "a category takes 'min_count', 'unseen', as a dict"),
        ({"boolean": {"c": {"x": 1}}}, "a boolean takes no options"),
        ({"date": "c"}, "'date' parameter of TableEncoder must be a list"),
        ({"date": ["c"], "text": ["c"]}, "named in both 'date' and 'text'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises((ValueError, TableError), match=message):
        TableEncoder(**options).fit({"c": ["a", "b"]})


# --- chunks and merging ---


def big_table(n, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(1e6, 2.0, n)),
        "k": rng.integers(0, 50, n),
        "c": rng.choice(["u", "v", "w", None], n).tolist(),
        "b": (rng.random(n) < 0.3).tolist(),
        "d": [
            dt.datetime(2020, 1, 1) + dt.timedelta(hours=int(h)) for h in rng.integers(0, 9999, n)
        ],
        "t": texts(n, seed),
    }


def cut(table, start, stop):
    return {name: values[start:stop] for name, values in table.items()}


def assert_same(ours, theirs, table):
    assert ours.feature_names == theirs.feature_names
    assert ours.dropped_ == theirs.dropped_
    a, b = ours.encode(table), theirs.encode(table)
    assert a.is_sparse == b.is_sparse
    if a.is_sparse:
        np.testing.assert_array_equal(a.indptr, b.indptr)
        np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.values, b.values, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(15, 285), max_size=3, unique=True), st.integers(0, 100))
def test_chunks_and_merging_are_fitting_the_whole(cuts, seed):
    table = big_table(300, seed)
    whole = TableEncoder(min_count=2).fit(table)
    ends = [0, *sorted(cuts), 300]
    chunked, parts = TableEncoder(min_count=2), []
    for start, stop in pairwise(ends):
        chunk = cut(table, start, stop)
        kinds = {"category": ["c"], "text": ["t"]}  # a short chunk may look otherwise
        chunked = chunked.set_params(**kinds).partial_fit(chunk)
        parts.append(TableEncoder(min_count=2, **kinds).partial_fit(chunk))
    assert_same(chunked, whole, table)
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert_same(merged, whole, table)


def test_encoding_between_chunks_and_merging_fitted_encoders():
    table = big_table(200)
    whole = TableEncoder().fit(table)
    encoder = TableEncoder().fit(cut(table, 0, 120))
    first = encoder.encode(cut(table, 0, 10))
    kept = encoder.without_state()
    encoder.partial_fit(cut(table, 120, 200))
    assert_same(encoder, whole, table)
    again = kept.encode(cut(table, 0, 10))  # a copy handed out does not move
    np.testing.assert_array_equal(first.values, again.values)
    with pytest.raises(ValueError, match="no counts to go on from"):
        kept.merge(encoder)
    left, right = TableEncoder().fit(cut(table, 0, 90)), TableEncoder().fit(cut(table, 90, 200))
    before = left.encode(table)
    assert_same(left.merge(right), whole, table)
    np.testing.assert_array_equal(left.encode(table).values, before.values)


def test_columns_that_are_decided_later():
    encoder = TableEncoder()
    encoder.partial_fit({"x": [None, None], "y": [1, 2]})
    encoder.partial_fit({"x": ["a", "b"], "y": [1, 3]})
    assert encoder.feature_names == ("x=a", "x=b", "x=(missing)", "y")
    other = TableEncoder().partial_fit({"x": [None], "y": [5]})
    assert encoder.merge(other).feature_names == other.merge(encoder).feature_names
    for kind, value in (("date", WHEN[0]), ("boolean", True), ("number", 2.5)):
        late = TableEncoder().partial_fit({"x": [None], "y": [5]})
        late.partial_fit({"x": [value, value], "y": [1, 2]})
        assert late.columns_[0].type == kind
        assert "x=(missing)" in late.feature_names


def test_chunks_that_do_not_fit():
    encoder = TableEncoder().partial_fit({"x": [1.0, 2.0], "y": [1, 2]})
    with pytest.raises(CellError, match="'x', row 1: 'a' is not a number"):
        encoder.partial_fit({"x": ["3", "a"], "y": [1, 2]})
    with pytest.raises(TableError, match="lacks 1 column"):
        encoder.partial_fit({"x": [3.0]})
    with pytest.raises(TableError, match="columns of one of them only"):
        encoder.merge(TableEncoder().fit({"x": [1, 2]}))
    with pytest.raises(ValueError, match="column 'y' is a number in one and a category"):
        encoder.merge(TableEncoder().fit({"x": [1.0, 2.0], "y": ["a", "b"]}))


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=20),
    st.integers(1, 19),
)
def test_merged_moments_against_all_values_at_once(values, place):
    from separable.features.table.number_column import NumberState

    array = np.array(values)
    place = min(place, len(array) - 1)
    merged = NumberState.of(array[:place]).merge(NumberState.of(array[place:]))
    whole = NumberState.of(array)
    size = float(np.abs(array).max())
    assert (merged.count, merged.least, merged.most) == (whole.count, whole.least, whole.most)
    assert abs(merged.mean - whole.mean) <= 1e-14 * size + 5e-324
    assert abs(merged.deviation - whole.deviation) <= 1e-13 * size + 5e-324


# --- files ---


def test_every_kind_survives_its_parts():
    table = big_table(150)
    table["r"] = ["p", "q"] * 73 + ["s", "t", "s2", None]
    encoder = TableEncoder(
        min_count=2,
        unseen={"c": "other"},
        text={"t": {"ngram_range": (1, 1)}},
        category={"r": {"unseen": "error"}},
    ).fit(table)
    tensors, values = encoder.to_parts()
    again = TableEncoder.from_parts(tensors, values)
    a, b = encoder.encode(table), again.encode(table)
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.indices, b.indices)
    assert again.feature_names == encoder.feature_names
    assert str(again.to_parts()) == str((tensors, values))
    assert [row.type for row in again.columns_] == [row.type for row in encoder.columns_]
    with pytest.raises(CellError, match="training data did not have"):
        again.encode({**cut(table, 0, 1), "r": ["new"]})


def test_parts_of_the_first_version():
    """As files from before there were booleans, dates and texts have them."""
    tensors = {
        "names": ("age", "city"),
        "is_number": np.array([1, 0], np.uint8),
        "has_missing": np.array([1, 0], np.uint8),
        "means": np.array([30.0]),
        "scales": np.array([10.0]),
        "levels": ("Oslo", "Rome"),
        "level_counts": np.array([2]),
        "names_in": ("age", "city"),
        "dropped": (),
        "dropped_reasons": (),
    }
    values = {"options": {"number": None, "category": ["city"], "drop": None}}
    encoder = TableEncoder.from_parts(tensors, values)
    assert encoder.transform({"age": [50, None], "city": ["Rome", "Paris"]}).tolist() == [
        [2, 0, 0, 1],
        [0, 1, 0, 0],
    ]
    again, told = encoder.to_parts()
    assert told == values
    assert list(again) == list(tensors)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": np.array([9, 0], np.uint8)}, "unknown one"),
        ({"kinds": np.array([0, 0], np.uint8)}, "'kinds' and 'is_number' differ"),
        ({"kinds": np.array([1, 2], np.uint8), **NO_LEVELS}, "'boolean_varies' must be an array"),
        ({"kinds": np.array([1, 3], np.uint8), **NO_LEVELS}, "'date_means' must be an array"),
        ({"kinds": np.array([1, 4], np.uint8), **NO_LEVELS}, "wrong 'texts'"),
        ({"rare_levels": ("Rome",), "rare_counts": np.array([1])}, "wrong levels"),
        ({"rare_levels": ("x",), "rare_counts": np.array([2])}, "wrong levels"),
    ],
)
def test_damaged_parts_are_refused(change, message):
    tensors, values = TableEncoder().fit({"age": [1, 2], "city": ["Oslo", "Rome"]}).to_parts()
    with pytest.raises(ValueError, match=message):
        TableEncoder.from_parts({**tensors, **change}, values)
    for odd in ({"policies": ["bad"]}, {"min_count": "x"}, {"unseen": "bad"}):
        with pytest.raises(ValueError, match="damaged"):
            TableEncoder.from_parts(tensors, {**values, **odd})


# --- one record is a table of one row ---


def test_texts_with_an_offset_are_read_as_a_file_is():
    from separable.data import read

    lines = [f"2020-0{1 + i % 9}-01T23:30:00+0{i % 3}:00" for i in range(30)]
    file = read(
        io.BytesIO("\n".join(["when,x", *(f"{line},{i}" for i, line in enumerate(lines))]).encode())
    )
    records = [{"when": line, "x": float(i)} for i, line in enumerate(lines)]
    encoder = TableEncoder().fit(file.table)
    expected = encoder.encode(file.table).values
    np.testing.assert_array_equal(encoder.encode(records).values, expected)
    for record, row in zip(records, expected, strict=True):
        one = np.zeros(len(row))
        for place, value in encoder.encode_one(record):
            one[place] = value
        np.testing.assert_array_equal(one, row)


@pytest.mark.parametrize("missing", [None, pd.NaT, np.datetime64("NaT"), float("nan"), pd.NA])
def test_a_missing_date_of_a_record(missing):
    encoder = TableEncoder().fit({"when": WHEN * 4, "x": range(12)})
    expected = encoder.encode({"when": [None], "x": [1.0]}).values
    record = {"when": missing, "x": 1.0}
    np.testing.assert_array_equal(encoder.encode([record]).values, expected)
    assert encoder.encode_one(record) in (None, encoder.encode_one({"when": None, "x": 1.0}))


def test_a_whole_number_beyond_floats_is_an_unseen_level():
    encoder = TableEncoder(category=["k"]).fit({"k": [1, 2, 3] * 3})
    assert encoder.encode_one({"k": 10**400}) is None
    assert encoder.encode([{"k": 10**400}]).values.tolist() == [[0.0, 0.0, 0.0]]


def test_merging_with_rows_without_text_leaves_both_as_they_are():
    rows = {"review": texts(120), "x": list(range(120))}
    lost = {"review": [None] * 40, "x": list(range(40))}
    ours, theirs = TableEncoder().fit(lost), TableEncoder().fit(rows)
    merged = ours.merge(theirs)
    whole = TableEncoder().fit({k: rows[k] + lost[k] for k in rows})
    assert merged.feature_names == whole.feature_names
    merged.partial_fit(rows)
    again = TableEncoder().fit(rows).partial_fit(rows)
    assert theirs.partial_fit(rows).feature_names == again.feature_names
    assert (theirs.transform(rows) != again.transform(rows)).nnz == 0


def test_rows_that_are_refused_are_not_learned():
    rows = {"review": texts(120), "x": list(range(120))}
    encoder = TableEncoder().fit(rows)
    with pytest.raises(CellError, match="'oops' is not a number"):
        encoder.partial_fit({"review": texts(120, 1), "x": ["oops"] * 120})
    expected = TableEncoder().fit(rows).partial_fit(rows)
    assert encoder.partial_fit(rows).feature_names == expected.feature_names
