"""Published figures, on their data, which ``SEPARABLE_DATA`` names the folder of."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from separable import LinearSVM, LogisticRegression
from tests.data_files import data_file

pytestmark = pytest.mark.native


def percent(learner, train, test):
    fitted = learner.fit(*train)
    assert fitted.certificate_.converged
    return 100 * float((fitted.predict(test[0]) == test[1]).mean())


def test_heart_disease():
    """ESL, table 4.2: logistic regression without a penalty, to the three decimals printed."""
    table = pytest.importorskip("pandas").read_csv(
        data_file("esl-saheart", "SAheart.data"), index_col=0
    )
    names = ["sbp", "tobacco", "ldl", "famhist", "obesity", "alcohol", "age"]
    table["famhist"] = (table["famhist"] == "Present").astype(float)
    found = LogisticRegression(C=np.inf).fit(table[names], table["chd"])
    printed = [0.006, 0.080, 0.185, 0.939, -0.035, 0.001, 0.043]
    np.testing.assert_allclose(found.coef_[0], printed, atol=5.1e-4)
    assert found.intercept_[0] == pytest.approx(-4.130, abs=5.1e-4)
    assert found.certificate_.relative_gap < 1e-12


def test_spam():
    """ESL, 9.1.2: logistic regression has 7.6 % errors on the 1 536 test rows."""
    table = np.loadtxt(data_file("spambase", "spambase.data.gz"), delimiter=",")
    is_test = np.loadtxt(data_file("spambase", "spam.traintest")).astype(bool)
    X, y = table[:, :-1], table[:, -1]
    right = percent(LogisticRegression(C=1e6), (X[~is_test], y[~is_test]), (X[is_test], y[is_test]))
    assert 100 - right == pytest.approx(7.6, abs=0.06)


@pytest.fixture(scope="module")
def income():
    return [
        load_svmlight_file(str(data_file("a9a", name)), n_features=123)
        for name in ("a9a.gz", "a9a.t.gz")
    ]


@pytest.mark.parametrize(
    ("learner", "published"),
    [(LogisticRegression(), 84.95), (LinearSVM(tol=1e-4), 84.98)],
    ids=["logistic", "hinge"],
)
def test_income(learner, published, income):
    """a9a, C = 1: 84.9 to 85.0 % in the literature."""
    assert percent(learner, *income) == pytest.approx(published, abs=0.06)


@pytest.mark.long
def test_intents():
    """Larson and others (2019), table 1: a linear SVM on words, 150 classes: 91.0 %."""
    with gzip.open(data_file("clinc150", "data_full.json.gz"), "rt") as opened:
        queries = json.load(opened)
    words = CountVectorizer(token_pattern=r"(?u)\b\w+\b")
    texts, labels = zip(*queries["train"], strict=True)
    train = words.fit_transform(texts).astype(np.float64), np.array(labels)
    texts, labels = zip(*queries["test"], strict=True)
    test = words.transform(texts).astype(np.float64), np.array(labels)
    right = percent(LinearSVM(0.1, loss="squared_hinge"), train, test)
    assert right == pytest.approx(91.0, abs=0.5)


@pytest.mark.long
def test_newsgroups():
    """By date, with headers: about 86 % with tf-idf and an SVM."""
    table = pytest.importorskip("pandas").read_parquet(
        data_file("20newsgroups", "20news_bydate.parquet")
    )
    train, test = (table[table["split"] == part] for part in ("train", "test"))
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X = words.fit_transform(train["text"])
    right = percent(
        LinearSVM(loss="squared_hinge"),
        (X, train["group"]),
        (words.transform(test["text"]), test["group"]),
    )
    assert right == pytest.approx(86.1, abs=0.4)


@pytest.mark.long
def test_reviews():
    """Maas and others (2011): a linear SVM on words, 87.80 %; two words at a time do better."""
    table = pytest.importorskip("pandas").read_parquet(data_file("imdb", "imdb.parquet"))
    train, test = (table[table["split"] == part] for part in ("train", "test"))
    words = TfidfVectorizer(sublinear_tf=True, min_df=3, ngram_range=(1, 2))
    X = words.fit_transform(train["text"])
    right = percent(
        LinearSVM(), (X, train["label"]), (words.transform(test["text"]), test["label"])
    )
    assert 88.0 <= right <= 91.5
