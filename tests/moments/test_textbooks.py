"""Figures of textbooks, on their data, which ``SEPARABLE_DATA`` names the folder of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from separable import LDA, LeastSquaresClassifier
from separable.moments.regression.rank_warning import RankWarning
from tests.data_files import data_file

pytestmark = pytest.mark.native


def read(*parts, **options):
    return pytest.importorskip("pandas").read_csv(data_file(*parts), **options)


def error(learner, train, test=None):
    X, y = train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        fitted = learner.fit(X, y)
    X, y = train if test is None else test
    return float((fitted.predict(X) != y).mean())


def test_default_of_credit_cards():
    """ISL, table 4.4: LDA on balance and student; 252 of 333 defaulters are missed."""
    table = read("islp", "Default.csv.gz")
    X = np.column_stack([table["balance"], table["student"] == "Yes"]).astype(float)
    y = (table["default"] == "Yes").to_numpy()
    predicted = LDA().fit(X, y).predict(X)
    counts = [int(((predicted == p) & (y == t)).sum()) for p in (0, 1) for t in (0, 1)]
    assert counts == [9644, 252, 23, 81]
    assert (predicted != y).mean() == pytest.approx(0.0275)


def test_stock_market():
    """ISL, the lab of chapter 4: two lags, trained to 2004, tested on 2005."""
    table = read("islp", "Smarket.csv.gz")
    early = (table["Year"] < 2005).to_numpy()
    X, y = table[["Lag1", "Lag2"]].to_numpy(), table["Direction"].to_numpy(dtype=str)
    predicted, truth = LDA().fit(X[early], y[early]).predict(X[~early]), y[~early]
    counts = [
        int(((predicted == p) & (truth == t)).sum()) for p in ("Down", "Up") for t in ("Down", "Up")
    ]
    assert counts == [35, 35, 76, 106]


def test_vowels():
    """ESL, table 4.1: error of indicator regression 0.48 / 0.67, of LDA 0.32 / 0.56."""
    train, test = (
        (t.drop(columns="y").to_numpy(float), t["y"].to_numpy())
        for t in (read("esl-vowel", f"vowel.{part}", index_col=0) for part in ("train", "test"))
    )
    for learner, figures in ((LeastSquaresClassifier(), (0.477, 0.667)), (LDA(), (0.316, 0.556))):
        found = error(learner, train), error(learner, train, test)
        assert found == pytest.approx(figures, abs=0.0007)


def test_satellite_image():
    """Statlog: test error of LDA 0.171."""
    table = read("satimage", "satimage.csv.gz")
    X, y = table.drop(columns="classes").to_numpy(float), table["classes"].to_numpy(dtype=str)
    train, test = (X[:4435], y[:4435]), (X[4435:], y[4435:])
    assert error(LDA(), train, test) == pytest.approx(0.1715)


def test_splice_junctions():
    """Statlog: test error of LDA 0.059."""
    table = read("dna-splice", "dna.csv.gz")
    X, y = table.drop(columns="Class").to_numpy(float), table["Class"].to_numpy(dtype=str)
    train, test = (X[:2000], y[:2000]), (X[2000:], y[2000:])
    assert error(LDA(), train, test) == pytest.approx(0.0590, abs=5e-5)
