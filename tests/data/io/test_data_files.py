"""Files as they are found in the world, each read without a word about it."""

from __future__ import annotations

import pytest

from separable.data import TableError, read, scan
from tests.data_files import data_file

pytestmark = pytest.mark.native


@pytest.mark.parametrize(
    ("name", "rows", "columns", "header"),
    [
        ("sms-spam/SMSSpamCollection.gz", 5574, 2, False),
        ("mushroom/agaricus-lepiota.data.gz", 8124, 23, False),
        ("adult/adult.data.gz", 32561, 15, False),
        ("iris/iris.data", 150, 5, False),
        ("spambase/spambase.data.gz", 4601, 58, False),
        ("bank-marketing/bank-additional-full.csv.gz", 41188, 21, True),
        ("islp/Default.csv.gz", 10000, 4, True),
        ("colon-cancer/colon.csv.gz", 62, 2001, True),
        ("esl-prostate/prostate.data", 97, 11, True),
        ("ag-news-test/test.csv.gz", 7600, 3, False),
        ("kddcup99-10pct/kddcup.data_10_percent.gz", 494021, 42, False),
        ("rt-polarity/rt-polarity.pos.gz", 5331, 1, False),
    ],
)
def test_csv(name, rows, columns, header):
    options = {"encoding": "latin-1"} if "rt-polarity" in name else {}
    data = read(data_file(name), **options)
    assert (len(data), len(data.report.columns)) == (rows, columns)
    assert data.report.dialect.header is header
    if rows < 10_000:
        chunks = scan(data_file(name), chunk_bytes=50_000, **options)
        assert sum(len(chunk) for chunk in chunks) == rows


def test_missing_values_of_adult():
    missing = read(data_file("adult/adult.data.gz")).report.missing
    assert missing == {"c2": {"?": 1836}, "c7": {"?": 1843}, "c14": {"?": 583}}


def test_the_first_line_of_adult_test_is_a_comment():
    path = data_file("adult/adult.test.gz")
    with pytest.raises(TableError, match=r":1(?::\d+)?: 1 value\(s\).*comment='\|'"):
        read(path)
    assert len(read(path, comment="|")) == len(read(path, skip_rows=1)) == 16281


def test_a_json_document():
    with pytest.raises(TableError, match="one JSON object, whose rows are in"):
        read(data_file("clinc150/data_full.json.gz"))


def test_archives():
    with pytest.raises(TableError, match=r"has 2 files: .* Choose one: table=.day.csv."):
        read(data_file("bike-sharing/Bike-Sharing-Dataset.zip"))
    with pytest.raises(TableError, match="is a tar archive"):
        read(data_file("movie-review-polarity/review_polarity.tar.gz"))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("a9a/a9a.gz", (32561, 123)),
        ("w8a/w8a.gz", (49749, 300)),
        ("farm-ads/farm-ads-vect.svm.gz", (4143, 54877)),
    ],
)
def test_svmlight(name, shape):
    data = read(data_file(name))
    assert data.X.shape == shape
    assert set(data.y.tolist()) == {-1, 1}
    assert sum(len(chunk) for chunk in scan(data_file(name), chunk_rows=1000)) == shape[0]
