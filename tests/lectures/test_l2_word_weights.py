"""L2: what weights mean: words that speak for a class, against it, or for nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from separable import LogisticRegression, TextEncoder
from tests.data_files import data_file

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def reviews():
    """Return 6 000 film reviews and whether each is positive."""
    path = data_file("imdb", "imdb.parquet")
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=["split", "text", "label"])
    chosen = np.random.default_rng(0).permutation(25_000)[:6000]
    train = table.filter(np.array(table["split"].to_pylist()) == "train").take(chosen)
    return train["text"], np.array(train["label"].to_pylist()) == "pos"


def test_words_of_film_reviews(reviews):
    texts, positive = reviews
    encoder = TextEncoder(min_df=5, binary=True, use_idf=False, norm=None, n_jobs=2)
    learner = LogisticRegression(C=0.01).fit(encoder.fit_transform(texts), positive)
    model = replace(learner.model_, encoder=encoder)
    weight = dict(zip(encoder.feature_names, model.weights[0], strict=True))
    scale = np.std(model.weights)
    assert weight["great"] > 5 * scale
    assert weight["fine"] > scale
    assert weight["boring"] < -5 * scale
    assert abs(weight["and"]) < 0.2 * weight["great"]
    explanation = str(model.explain(["A great cast in a boring film"]).to_dict())
    assert "great" in explanation
    assert "boring" in explanation
    assert model.predict(["great great great"])[0]
    assert not model.predict(["boring and bad"])[0]


def test_hashed_words_keep_their_names(reviews):
    texts, positive = reviews
    encoder = TextEncoder(n_features=2**12)
    learner = LogisticRegression().fit(encoder.fit_transform(texts), positive)
    names = encoder.feature_names
    assert sum(" (shared)" in name for name in names) == len(encoder.collisions_) > 4000
    wide = TextEncoder(n_features=2**18).fit(texts)
    assert "boring" in wide.feature_names
    assert learner.model_.n_features == 2**12
