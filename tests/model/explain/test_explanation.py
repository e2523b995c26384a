from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separable.data.rows import as_rows
from separable.model.linear_model import LinearModel

if TYPE_CHECKING:
    from separable.model.explain.explanation import Explanation


def held(explanation: Explanation, label: Any, k: int) -> None:
    """The law, added up by ``math.fsum``, row by row."""
    parts = explanation.contributions(label)
    for i in range(len(explanation)):
        if parts.indptr is None:
            row = parts.values[i]
        else:
            row = parts.values[parts.indptr[i] : parts.indptr[i + 1]]
        terms = [float(explanation.intercept[k]), *map(float, row)]
        score = float(explanation.scores.reshape(len(explanation), -1)[i, k])
        assert abs(math.fsum([*terms, -score])) <= 1e-12 * math.fsum(map(abs, terms))


magnitudes = st.floats(-1e140, 1e140, allow_nan=False, allow_subnormal=False)


@given(st.data(), st.sampled_from([2, 3, 5]), st.booleans())
def test_contributions_and_intercept_sum_to_the_score(data: Any, K: int, sparse: bool) -> None:
    d, k = data.draw(st.integers(1, 12)), 1 if K == 2 else K
    numbers = st.lists(magnitudes, min_size=d, max_size=d)
    weights = data.draw(st.lists(numbers, min_size=k, max_size=k))
    X = np.array(data.draw(st.lists(numbers, min_size=1, max_size=4)))
    X[
        np.array(data.draw(st.lists(st.booleans(), min_size=d, max_size=d)))[None, :].repeat(
            len(X), 0
        )
    ] = 0
    intercept = data.draw(st.lists(magnitudes, min_size=k, max_size=k))
    model = LinearModel(weights, intercept, np.arange(K), "score")
    explanation = model.explain(sp.csr_array(X) if sparse else X)
    for number in range(k):
        held(explanation, 1 if K == 2 else number, number)
    np.testing.assert_array_equal(
        explanation.scores, model.decision_function(sp.csr_array(X) if sparse else X)
    )
    np.testing.assert_array_equal(explanation.predicted, model.predict(X))


@pytest.mark.parametrize("sparse", [False, True])
def test_law_under_cancellation(sparse: bool) -> None:
    rng = np.random.default_rng(3)
    half = rng.normal(size=(5, 2000)) * 1e8
    X = np.hstack([half, -half * (1 + 1e-13)])
    model = LinearModel(np.full((1, 4000), 3.3), [1e-3], [0, 1], "score")
    held(model.explain(sp.csr_array(X) if sparse else X), None, 0)


def test_sparse_contributions_share_the_structure_of_the_data() -> None:
    rows = as_rows(sp.csr_array(np.array([[0, 2.0, 0], [0, 0, 0], [1.0, 0, 3.0]])))
    parts = LinearModel([[10, 20, 30]], [1], [0, 1], "score").explain(rows).contributions()
    assert parts.indices is rows.indices
    assert parts.indptr is rows.indptr
    assert parts.values.tolist() == [40, 10, 90]
    assert parts.values.dtype == np.float64


def test_explaining_wide_sparse_rows_allocates_no_dense_matrix() -> None:
    n, d, K = 2000, 400_000, 20  # n x d would be 6.4 GB, n x K x d twenty times that
    rng = np.random.default_rng(0)
    X = sp.csr_array(
        (np.ones(n * 5, np.float32), rng.integers(0, d, n * 5), np.arange(0, n * 5 + 1, 5)),
        shape=(n, d),
    )
    model = LinearModel(np.ones((K, d)), np.zeros(K), np.arange(K), "score")
    explanation = model.explain(X)
    assert explanation.contributions().values.nbytes == 8 * len(X.tocsr().data)
    assert "row 0" in str(explanation)


def test_label_picks_the_class_and_none_means_the_predicted_one() -> None:
    model = LinearModel(np.eye(3), [0, 0, 0], ["a", "b", "c"], "score")
    X = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 1.0]])
    explanation = model.explain(X)
    assert explanation.contributions("c").values.tolist() == [[0, 0, 2], [0, 0, 1]]
    assert explanation.contributions().values.tolist() == [[3, 0, 0], [0, 5, 0]]
    sparse = model.explain(sp.csr_array(X)).contributions()
    assert sparse.values.tolist() == [3, 0, 0, 5, 0]
    assert explanation.terms(1).label == "b"
    assert explanation.terms(1, "a").score == 0
    with pytest.raises(ValueError, match=r"no score for 'z'. There is one for: 'a', 'b', 'c'"):
        explanation.contributions("z")


def test_terms_are_sorted_and_the_rest_is_added_up() -> None:
    model = LinearModel([[1, -5, 2, 0, 3]], [0.5], [0, 1], "score", learner="Perceptron")
    terms = model.explain([[1, 1, 1, 1, 0]]).terms(n=2)
    assert [(t.feature, t.contribution) for t in terms.shown] == [("x1", -5), ("x2", 2)]
    assert (terms.other_count, terms.other_contribution) == (3, 1)
    assert terms.score == -1.5
    assert terms.predicted == 0
    everything = model.explain([[1, 1, 1, 1, 0]]).terms()
    assert [t.feature for t in everything.shown] == ["x1", "x2", "x0"]


def test_rows_and_slices() -> None:
    model = LinearModel([[1, 1]], [0], [0, 1], "score")
    for X in (np.arange(10.0).reshape(5, 2), sp.csr_array(np.arange(10.0).reshape(5, 2))):
        explanation = model.explain(X)
        assert len(explanation) == 5
        assert explanation[-1].scores.tolist() == [17]
        assert explanation[1:3].scores.tolist() == [5, 9]
        assert explanation[::2].contributions().shape == (3, 2)
        assert explanation[::-2].scores.tolist() == [17, 9, 1]
        assert [one.scores[0] for one in explanation] == [1, 5, 9, 13, 17]
        assert explanation[1:3].terms(-1).score == 9
        with pytest.raises(IndexError, match="There is no row 5: this explanation has 5 rows"):
            explanation[5]


def test_columns_of_the_encoder_are_added_up(toy_encoder: Any) -> None:
    encoder = toy_encoder(("Dream", "Torgersen"), 2.0)
    model = LinearModel([[1, 2, 3]], [-3], ["no", "yes"], "score", encoder=encoder)
    records = [{"size": 4, "island": "Dream"}, {"size": 2, "island": "Torgersen"}]
    sums = model.explain(records).by_column()
    assert {name: column.tolist() for name, column in sums.items()} == {
        "size": [2, 1],
        "island": [2, 3],
    }
    encoded = encoder.encode(records)
    sparse = model.explain(sp.csr_array(encoded.values)).by_column()
    assert {name: column.tolist() for name, column in sparse.items()} == {
        "size": [2, 1],
        "island": [2, 3],
    }
    assert model.explain(records).to_dict()["rows"][1]["columns"] == {"size": 1, "island": 3}
    with pytest.raises(ValueError, match=r"Perceptron model has no encoder.*contributions"):
        LinearModel([[1]], [0], [0, 1], "score", learner="Perceptron").explain([[1]]).by_column()


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_column_sums_are_sums_of_their_features(seed: int, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 20, size=2)
    sources = tuple(f"c{i}" for i in rng.integers(0, 4, d))

    class Grouping:
        kind = "grouping"
        feature_names = tuple(f"f{i}" for i in range(d))

    Grouping.sources = sources  # type: ignore[attr-defined]
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    w = rng.normal(size=(3, d))
    model = LinearModel(w, np.zeros(3), [0, 1, 2], "score", encoder=Grouping())  # type: ignore[arg-type]
    sums = model.explain(sp.csr_array(X) if sparse else X).by_column(label=2)
    assert list(sums) == list(dict.fromkeys(sources))
    for name, found in sums.items():
        chosen = [j for j in range(d) if sources[j] == name]
        np.testing.assert_allclose(
            found, [math.fsum(w[2, j] * x[j] for j in chosen) for x in X], atol=1e-13
        )


def test_dict_is_json_and_holds_the_top_n() -> None:
    model = LinearModel(np.eye(3), [1, 0, 0], ["a", "b", "c"], "score", learner="Perceptron")
    found = json.loads(json.dumps(model.explain(np.array([[3.0, 1.0, 2.0]])).to_dict(n=1)))
    assert found == {
        "learner": "Perceptron",
        "link": "score",
        "classes": ["a", "b", "c"],
        "rows": [
            {
                "row": 0,
                "predicted": "a",
                "label": "a",
                "score": 4.0,
                "intercept": 1.0,
                "terms": [{"feature": "x0", "value": 3.0, "weight": 1.0, "contribution": 3.0}],
                "others": {"count": 2, "contribution": 0.0},
                "scores": [4.0, 1.0, 2.0],
            }
        ],
    }


def test_dict_of_regression_has_predictions_and_no_scores() -> None:
    one = LinearModel([[2, 0]], [1], None, "identity").explain([[3.0, 0.0]]).to_dict()
    assert (one["link"], one["classes"]) == ("identity", None)
    assert one["rows"] == [
        {
            "row": 0,
            "predicted": 7.0,
            "target": 0,
            "intercept": 1.0,
            "terms": [{"feature": "x0", "value": 3.0, "weight": 2.0, "contribution": 6.0}],
            "others": {"count": 1, "contribution": 0.0},
        }
    ]
    two = LinearModel([[2], [3]], [1, 0], None, "identity").explain([[3.0]]).to_dict()
    assert two["rows"][0]["targets"] == [7.0, 9.0]


@pytest.mark.parametrize("classes", [[False, True], [1, 2], [0.5, 1.5], ["a", "b"]])
def test_dict_has_plain_labels(classes: list[Any]) -> None:
    found = LinearModel([[1]], [0], classes, "score").explain([[1.0]]).to_dict()
    assert json.loads(json.dumps(found))["rows"][0]["predicted"] == classes[1]


def test_names_can_be_given_for_the_occasion() -> None:
    model = LinearModel([[1, 2]], [0], [0, 1], "score", ["a", "b"])
    assert [t.feature for t in model.explain([[1, 1]], ["u", "v"]).terms().shown] == ["v", "u"]
    with pytest.raises(ValueError, match=r"one name for each of 2 features. Got 1"):
        model.explain([[1, 1]], feature_names=["u"])


def test_values_stored_for_one_column_are_one_term() -> None:
    values, columns = np.array([0.1, 0.2, 0.3, 7.0], np.float32), [0, 0, 0, 1]
    X = sp.csr_array((values, columns, [0, 3, 4]), shape=(2, 2))
    explanation = LinearModel([[2, 1]], [0], [0, 1], "score").explain(X)
    terms = explanation.terms()
    assert [term.feature for term in terms.shown] == ["x0"]
    assert terms.shown[0].value == math.fsum(map(float, values[:3]))
    assert terms.shown[0].contribution == pytest.approx(terms.score, rel=1e-15)
    assert (terms.other_count, terms.other_contribution) == (1, 0)
    assert len(explanation.rows.values) == 4
    assert [term.feature for term in explanation.terms(1).shown] == ["x1"]


def test_a_negative_number_of_terms_is_refused() -> None:
    explanation = LinearModel([[2, 1]], [0], [0, 1], "score").explain([[1, 1]])
    for ask in (explanation.terms, explanation.to_dict):
        with pytest.raises(ValueError, match=r"'n' parameter of terms must be an int >= 0 or None"):
            ask(n=-1)
    assert explanation.terms(n=0).shown == ()
    assert explanation.terms(n=0).other_contribution == 3
