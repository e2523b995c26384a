"""Streams: any chunking, any announcement, any pause gives the same bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import separable
from separable import AveragedPerceptron, Perceptron
from tests.online.problems import FORMATS

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

LEARNERS = [(cls, rule) for cls in (Perceptron, AveragedPerceptron) for rule in ("ovr", "argmax")]
each_learner = pytest.mark.parametrize(("cls", "rule"), LEARNERS)


@st.composite
def streams(draw):
    """Real numbers, 1 to 20 classes named in an order other than that of appearance."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 50))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0])))
    y = rng.permutation(20)[rng.integers(0, draw(st.integers(1, 20)), n)]
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=6)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    form = draw(st.sampled_from(["dense", "csr32", "csr64"]))
    weight = draw(st.sampled_from([None, rng.integers(0, 25, n) / 8]))
    if weight is not None:
        weight[0] = 1
    return FORMATS[form](X.astype(dtype)), y, [0, *cuts, n], weight


def learn(estimator, X, y, cuts, weight=None, classes=None):
    for start, stop in itertools.pairwise(cuts):
        part = None if weight is None else weight[start:stop]
        if part is not None and start == 0 and not part.any():
            continue
        estimator.partial_fit(X[start:stop], y[start:stop], sample_weight=part, classes=classes)
        classes = None
    return estimator


def assert_same_bits(a, b):
    np.testing.assert_array_equal(a.classes_, b.classes_)
    assert a.coef_.tobytes() == b.coef_.tobytes()
    assert a.intercept_.tobytes() == b.intercept_.tobytes()


@each_learner
@given(streams(), st.booleans())
def test_chunks_rows_announced_and_fit_agree(cls, rule, stream, fit_intercept):
    X, y, cuts, weight = stream
    n = len(y)

    def make():
        return cls(multi_class=rule, shuffle=False, max_iter=1, fit_intercept=fit_intercept)

    by_row = learn(make(), X, y, range(n + 1), weight)
    assert_same_bits(by_row, learn(make(), X, y, cuts, weight))
    assert_same_bits(by_row, learn(make(), X, y, [0, n], weight))
    present = y if weight is None else y[weight > 0]
    if len(set(present.tolist())) > 1:
        announced = learn(make(), X, y, cuts, weight, classes=np.unique(present))
        assert_same_bits(by_row, announced)
        assert_same_bits(by_row, make().fit(X, y, sample_weight=weight))
    assert by_row.evidence_["rows_seen"] == len(present)


@each_learner
@given(streams())
def test_resumed_from_a_file(tmp_path_factory, cls, rule, stream):
    X, y, cuts, weight = stream
    path = tmp_path_factory.mktemp("stream") / "model.safetensors"
    whole = learn(cls(multi_class=rule), X, y, cuts, weight)
    paused = cls(multi_class=rule)
    for start, stop in itertools.pairwise(cuts):
        learn(paused, X, y, [start, stop], weight)
        paused.model_.save(path, include_state=True)
        paused = cls.from_model(separable.load(path))
    assert_same_bits(whole, paused)
    assert paused.evidence_["updates"] == whole.evidence_["updates"]


@each_learner
def test_fit_then_partial_fit_continues(cls, rule):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    start = cls(multi_class=rule, shuffle=False, max_iter=1).fit(X[:30], y[:30])
    stream = learn(cls(multi_class=rule), X, y, [0, 60], classes=[0, 1, 2])
    assert_same_bits(start.partial_fit(X[30:], y[30:]), stream)


def test_one_class_so_far_predicts_it():
    stream = Perceptron().partial_fit([[1.0, 2.0]], ["spam"])
    assert stream.predict([[5.0, -3.0]]) == ["spam"]
    stream.partial_fit([[0.0, -1.0]], ["ham"])
    assert stream.classes_.tolist() == ["ham", "spam"]
    assert stream.predict([[1.0, 2.0], [0.0, -1.0]]).tolist() == ["spam", "ham"]


def test_float64_chunk_follows_a_float32_start():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)).astype(np.float32), rng.integers(0, 2, 40)
    a = learn(Perceptron(), X, y, [0, 40])
    b = Perceptron().partial_fit(X[:10], y[:10]).partial_fit(X[10:].astype(np.float64), y[10:])
    assert_same_bits(a, b)


def test_dense_and_sparse_chunks_mix():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(40, 5)).astype(float)
    y = rng.integers(0, 3, 40)
    a = learn(Perceptron(), X, y, [0, 40])
    b = Perceptron().partial_fit(X[:10], y[:10]).partial_fit(sp.csr_array(X[10:]), y[10:])
    assert_same_bits(a, b)


def test_announced_classes_are_all_there_will_be():
    stream = Perceptron().partial_fit([[1.0], [2.0]], [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match=r"Row 1 has class .*5.*not among the classes"):
        stream.partial_fit([[1.0], [2.0]], [0, 5])
    with pytest.raises(ValueError, match="not the same as on the first call"):
        stream.partial_fit([[1.0]], [0], classes=[0, 1, 2])


def test_balanced_weights_are_refused():
    with pytest.raises(ValueError, match=r"'balanced' needs all rows.*dict"):
        Perceptron(class_weight="balanced").partial_fit([[1.0], [2.0]], [0, 1])


def test_from_model_needs_its_own_state():
    model = Perceptron().partial_fit([[1.0], [2.0]], [0, 1]).model_
    with pytest.raises(ValueError, match="learned by Perceptron, not by AveragedPerceptron"):
        AveragedPerceptron.from_model(model)


def test_saved_without_state_cannot_continue(tmp_path):
    Perceptron().partial_fit([[1.0], [2.0]], [0, 1]).model_.save(tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match="include_state=True"):
        Perceptron.from_model(separable.load(tmp_path / "m.safetensors"))


@each_learner
def test_a_failed_chunk_leaves_the_stream_as_it_was(cls, rule):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    stream, other = (learn(cls(multi_class=rule), X, y, [0, 40]) for _ in range(2))
    before = stream.coef_.copy()
    bad = rng.normal(size=(30, 3))
    bad[20:] = 1e200  # scores overflow after twenty rows were learned
    with pytest.raises(ValueError, match="overflowed"):
        stream.partial_fit(bad, rng.integers(0, 3, 30))
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        stream.partial_fit(X[:2], [7, 8], sample_weight=[1.0, -1.0])
    assert_same_bits(stream, other)
    np.testing.assert_array_equal(stream.coef_, before)
    assert_same_bits(stream.partial_fit(X, y), other.partial_fit(X, y))


def test_class_weights_do_not_depend_on_chunks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.sort(rng.integers(0, 3, 30))
    for weights in ({2: 5.0}, {0: 1.0, 1: 0.0, 2: 2.5}):
        whole = learn(Perceptron(class_weight=weights), X, y, [0, 30])
        assert_same_bits(whole, learn(Perceptron(class_weight=weights), X, y, range(31)))
        fitted = Perceptron(class_weight=weights, shuffle=False, max_iter=1).fit(X, y)
        assert_same_bits(whole, fitted)


def test_absent_rows_open_no_stream():
    stream = Perceptron().partial_fit([[1.0]], ["a"], sample_weight=[0.0])
    assert not hasattr(stream, "coef_")
    stream.partial_fit([[1.0], [2.0]], ["b", "c"]).partial_fit([[1.0]], [1], sample_weight=[0])
    assert stream.classes_.tolist() == ["b", "c"]


def test_duplicate_columns_in_any_chunks():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 10, size=(50, 6)).ravel()
    X = sp.csr_array((rng.normal(size=300), columns, np.arange(0, 301, 6)), shape=(50, 10))
    y, weight = rng.integers(0, 2, 50), rng.integers(1, 4, 50).astype(float)
    weight[:25] = 1
    whole = learn(Perceptron(), X, y, [0, 50], weight)
    assert_same_bits(whole, learn(Perceptron(), X, y, range(51), weight))
    tidy = learn(Perceptron(), X.toarray(), y, [0, 50], weight)
    np.testing.assert_allclose(whole.coef_, tidy.coef_, rtol=1e-12)


def test_a_resumed_model_keeps_its_encoder(tmp_path):
    from dataclasses import replace

    table = {"x": [1.0, 2.0, 3.0, -1.0], "c": ["a", "b", "a", "b"]}
    encoder = separable.TableEncoder().fit(table)
    stream = Perceptron().partial_fit(encoder.encode(table), [0, 1, 0, 1])
    replace(stream.model_, encoder=encoder).save(tmp_path / "m.safetensors", include_state=True)
    resumed = Perceptron.from_model(separable.load(tmp_path / "m.safetensors"))
    resumed.partial_fit(encoder.encode(table), [0, 1, 0, 1])
    assert resumed.model_.feature_names == encoder.feature_names
    assert len(resumed.model_.predict(table)) == 4
