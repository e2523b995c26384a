"""Published or measured figures of real data, reached from the files with the default encoders."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from separable import (
    LinearSVM,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    TableEncoder,
    TextEncoder,
)
from separable.data import read
from separable.select import cross_validate
from tests.data_files import data_file

pytestmark = pytest.mark.native


def split_texts(path, label):
    """Return texts and labels of the training part, then of the test part."""
    table = read(path).table
    is_train = np.array(table["split"].to_pylist()) == "train"
    texts = np.array(table["text"].to_pylist(), dtype=object)
    labels = np.array(table[label].to_pylist())
    return texts[is_train], labels[is_train], texts[~is_train], labels[~is_train]


def test_mushrooms_are_separable():
    """A plain perceptron makes no mistake on all 8 124 rows after one-hot."""
    data = read(data_file("mushroom", "agaricus-lepiota.data.gz"), target=1)
    assert data.report.columns[11].n_missing == 2480
    encoder = TableEncoder().fit(data.table)
    rows = encoder.encode(data.table)
    assert rows.shape == (8124, 116)  # 117 columns but for the constant veil type
    assert list(encoder.dropped_) == ["c17"]
    assert Perceptron().fit(rows, data.y).score(rows, data.y) == 1.0


@pytest.mark.long
def test_adult():
    """One-hot logistic regression has 14.7 % errors on all test rows."""
    train = read(data_file("adult", "adult.data.gz"), target=-1)
    test = read(data_file("adult", "adult.test.gz"), target=-1, comment="|")
    assert (len(train), len(test)) == (32561, 16281)
    encoder = TableEncoder().fit(train.table)
    learner = LogisticRegressionCV().fit(encoder.encode(train.table), train.y)
    predicted = learner.predict(encoder.encode(test.table))
    error = float(np.mean(predicted != np.char.rstrip(test.y, ".")))
    assert 100 * error == pytest.approx(14.7, abs=0.1)


def test_text_messages():
    """10 folds: 98.6 % with a linear SVM on tf-idf."""
    data = read(data_file("sms-spam", "SMSSpamCollection.gz"), target=1)
    assert len(data) == 5574
    rows = TableEncoder().fit_transform(data.table)
    found = cross_validate(LinearSVM(), rows, data.y, cv=10)
    assert 100 * found.mean["accuracy"] == pytest.approx(98.6, abs=0.3)


@pytest.mark.long
def test_intents():
    """Larson et al. (2019), table 1: 91.0 % of the 4 500 test queries with a linear model."""
    data = json.loads(gzip.decompress(data_file("clinc150", "data_full.json.gz").read_bytes()))
    (texts, labels), (test_texts, test_labels) = (
        zip(*data[part], strict=True) for part in ("train", "test")
    )
    encoder = TextEncoder()
    learner = LogisticRegression(C=10.0).fit(encoder.fit_transform(texts), np.array(labels))
    right = float(np.mean(learner.predict(encoder.transform(test_texts)) == np.array(test_labels)))
    assert 100 * right == pytest.approx(91.0, abs=1.0)
    assert 100 * right > 91.0


@pytest.mark.long
def test_newsgroups():
    """Sublinear tf-idf and a linear SVM: 86.1 % of the later posts."""
    texts, labels, test_texts, test_labels = split_texts(
        data_file("20newsgroups", "20news_bydate.parquet"), "group"
    )
    encoder = TextEncoder(sublinear_tf=True, min_df=2)
    learner = LinearSVM(loss="squared_hinge").fit(encoder.fit_transform(texts), labels)
    right = float(np.mean(learner.predict(encoder.transform(test_texts)) == test_labels))
    assert 100 * right == pytest.approx(86.1, abs=0.2)


@pytest.mark.long
def test_reviews():
    """Wang and Manning (2012): 89.16 % with an SVM on words and pairs, NBSVM 91.22 %."""
    texts, labels, test_texts, test_labels = split_texts(data_file("imdb", "imdb.parquet"), "label")
    encoder = TableEncoder(text=["text"]).fit({"text": texts})
    learner = LogisticRegression(C=10.0).fit(encoder.encode({"text": texts}), labels)
    right = float(np.mean(learner.predict(encoder.encode({"text": test_texts})) == test_labels))
    assert 90.0 < 100 * right < 91.5
