"""VotedPerceptron against the brute-force vote of all intermediate weights."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import separable
from separable import AveragedPerceptron, LinearModel, VotedModel, VotedPerceptron
from separable.learn.plain import presentations, vote, voted_perceptron
from tests.online.problems import DTYPES, FORMATS, integer_problems
from tests.online.test_streams import learn, streams

pytestmark = pytest.mark.native


def rows_like(X, seed=0, n=21):
    """Integer rows to predict, more than one tile of lanes and not a multiple of one."""
    rng = np.random.default_rng(seed)
    return np.concatenate([X, rng.integers(-3, 4, size=(n, X.shape[1]))]).astype(X.dtype)


def in_order(**options):
    return VotedPerceptron(shuffle=False, **options)


def arrays(model):
    voters = model.voters
    return {
        "rows": voters.rows,
        "steps": voters.steps,
        "counts": voters.counts,
        "starts": voters.starts,
        "base_counts": voters.base_counts,
        "base_intercept": voters.base_intercept,
        "base_weights": np.zeros(0) if voters.base_weights is None else voters.base_weights,
        **{f"mistaken {k}": array for k, array in enumerate(model.mistaken.arrays())},
    }


def assert_same_bits(a, b):
    np.testing.assert_array_equal(a.classes_, b.classes_)
    ours, theirs = arrays(a.model_), arrays(b.model_)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.tobytes() == theirs[name].tobytes(), name


# ------------------------------------------------------------------ the vote


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
@given(integer_problems(), st.booleans())
def test_equals_brute_force_on_integers(form, dtype, problem, fit_intercept):
    X, y = problem
    X_test = rows_like(X)
    expected, _ = voted_perceptron(X, 2 * y - 1, 6, X_test, fit_intercept=fit_intercept)
    ours = in_order(max_iter=6, fit_intercept=fit_intercept)
    ours.fit(FORMATS[form](X.astype(dtype)), y)
    for other in ("dense", form):
        X_now = FORMATS[other](X_test.astype(dtype))
        np.testing.assert_array_equal(ours.decision_function(X_now), expected)
    if ours.model_.mistaken.n_rows:
        assert ours.model_.mistaken.is_sparse == ("cs" in form)
        assert ours.model_.mistaken.values.dtype == dtype


@given(integer_problems(), st.data())
def test_weights_are_presentations(problem, data):
    X, y = problem
    eighths = st.lists(st.integers(0, 40), min_size=len(y), max_size=len(y))
    weight = np.array(data.draw(eighths)) / 8
    weight[[np.flatnonzero(y == c)[0] for c in (0, 1)]] += 1
    keep, X_test = weight > 0, rows_like(X)
    options = {"fit_intercept": data.draw(st.booleans())}
    expected, vectors = voted_perceptron(
        X[keep], 2 * y[keep] - 1, 4, X_test, weights=weight[keep], **options
    )
    ours = in_order(max_iter=4, **options).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(ours.decision_function(X_test), expected)
    voters = ours.model_.voters
    assert voters.counts.sum() + voters.base_counts.sum() == len(vectors)


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.integers(3, 18).flatmap(lambda k: integer_problems(classes=k)))
def test_one_vote_a_class(dtype, problem):
    X, y = problem
    X_test = rows_like(X)
    ours = in_order(max_iter=3).fit(X.astype(dtype), y)
    # The classes are presented the same number of times: the longest run of epochs counts.
    total = ours.n_iter_ * len(X)
    expected = [
        voted_perceptron(X, np.where(y == c, 1, -1), 3, X_test, presentations=total)[0]
        for c in range(y.max() + 1)
    ]
    votes = ours.decision_function(X_test.astype(dtype))
    np.testing.assert_array_equal(votes, np.transpose(expected))
    np.testing.assert_array_equal(ours.predict(X_test), ours.classes_[votes.argmax(axis=1)])


@pytest.mark.filterwarnings("ignore:eta0=0.3 .* has no effect")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["dense", "csr32"])
@given(st.integers(0, 10**6))
def test_real_numbers_differ_only_near_zero(form, dtype, seed):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(40, 7)) * 10.0 ** rng.integers(-3, 4, 7)).astype(dtype)
    y = rng.permutation(np.arange(40) % 2)
    X_test = rng.normal(size=(25, 7)).astype(dtype)
    double, double_test = X.astype(np.float64), X_test.astype(np.float64)
    expected, vectors = voted_perceptron(double, 2 * y - 1, 4, double_test, eta=0.3)
    ours = in_order(max_iter=4, eta0=0.3).fit(FORMATS[form](X), y)
    Z = np.hstack([double_test, np.ones((25, 1))])
    near = np.abs(Z @ vectors.T) <= 1e-9 * (np.abs(Z) @ np.abs(vectors.T))
    votes = ours.decision_function(FORMATS[form](X_test))
    assert (np.abs(votes - expected) <= 2 * near.sum(axis=1)).all()


@given(integer_problems(), st.integers(1, 12), st.booleans())
def test_only_the_last_voters(problem, most, sparse):
    X, y = problem
    X_test = rows_like(X)
    expected, _ = voted_perceptron(X, 2 * y - 1, 5, X_test, last=most)
    ours = in_order(max_iter=5, max_voters=most).fit(sp.csr_array(X) if sparse else X, y)
    np.testing.assert_array_equal(ours.decision_function(X_test), expected)
    assert ours.evidence_["voters"][0] <= most
    assert ours.evidence_["stored_rows"] <= most - 1


@given(integer_problems(), st.booleans())
def test_a_start_votes_while_it_survives(problem, fit_intercept):
    X, y = problem
    rng = np.random.default_rng(len(X))
    start, X_test = rng.integers(-2, 3, X.shape[1] + 1).astype(float), rows_like(X)
    if not fit_intercept:
        start[-1] = 0
    options = {"start": start, "fit_intercept": fit_intercept}
    expected, _ = voted_perceptron(X, 2 * y - 1, 3, X_test, **options)
    ours = in_order(max_iter=3, fit_intercept=fit_intercept)
    ours.fit(X, y, coef_init=start[None, :-1], intercept_init=start[-1:])
    np.testing.assert_array_equal(ours.decision_function(X_test), expected)


def test_one_row_alone_has_the_votes_it_has_among_others():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 11)), rng.integers(0, 3, 60)
    for form in ("dense", "csr32"):
        ours = VotedPerceptron().fit(FORMATS[form](X), y)
        together = ours.decision_function(FORMATS[form](X))
        alone = [ours.decision_function(FORMATS[form](X[i : i + 1]))[0] for i in range(60)]
        np.testing.assert_array_equal(together, alone)


def test_zero_rows_without_intercept_leave_no_trace():
    X, y = np.array([[0.0], [1.0], [0.0], [-1.0]]), [0, 1, 1, 0]
    ours = in_order(fit_intercept=False).fit(X, y)
    assert ours.evidence_["voters"] == [2]  # the start saw a zero row first, and says 0
    assert ours.evidence_["stored_rows"] == 1
    assert ours.decision_function([[0.0], [2.0]]).tolist() == [0, 39]


# ------------------------------------------------------------------ streams


@pytest.mark.parametrize("most", [None, 1, 4])
@given(streams(), st.booleans())
def test_chunks_rows_announced_and_fit_agree(most, stream, fit_intercept):
    X, y, cuts, weight = stream

    def make():
        return in_order(max_iter=1, fit_intercept=fit_intercept, max_voters=most)

    by_row = learn(make(), X, y, range(len(y) + 1), weight)
    assert_same_bits(by_row, learn(make(), X, y, cuts, weight))
    assert_same_bits(by_row, learn(make(), X, y, [0, len(y)], weight))
    present = y if weight is None else y[weight > 0]
    if len(set(present.tolist())) > 1:
        assert_same_bits(by_row, learn(make(), X, y, cuts, weight, classes=np.unique(present)))
        fitted = make().fit(X, y, sample_weight=weight)
        assert_same_bits(by_row, fitted)
        votes = by_row.decision_function(X)
        assert votes.tobytes() == fitted.decision_function(X).tobytes()


@pytest.mark.parametrize("most", [None, 3])
@given(streams())
def test_resumed_from_a_file(tmp_path_factory, most, stream):
    X, y, cuts, weight = stream
    path = tmp_path_factory.mktemp("stream") / "model.safetensors"
    whole = learn(VotedPerceptron(max_voters=most), X, y, cuts, weight)
    paused = VotedPerceptron(max_voters=most)
    for start, stop in itertools.pairwise(cuts):
        learn(paused, X, y, [start, stop], weight)
        paused.model_.save(path, include_state=True)
        paused = VotedPerceptron.from_model(separable.load(path))
    assert_same_bits(whole, paused)
    assert paused.evidence_["updates"] == whole.evidence_["updates"]


def test_a_capped_stream_is_bounded():
    rng = np.random.default_rng(0)
    stream, uncapped = VotedPerceptron(max_voters=10), VotedPerceptron()
    most = 0
    for _ in range(40):
        X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
        most = max(most, stream.partial_fit(X, y)._state.n_mistaken if most else 1)
        uncapped.partial_fit(X, y)
    assert uncapped.evidence_["stored_rows"] > 5000
    assert most < 2000
    assert stream.evidence_["stored_rows"] <= 3 * 9  # with the ghost's
    assert stream.evidence_["stored_bytes"] == stream.evidence_["stored_rows"] * 4 * 8


def test_dense_and_sparse_chunks_of_any_type_mix():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, size=(60, 5)).astype(float), rng.integers(0, 3, 60)
    whole = VotedPerceptron().partial_fit(X, y)
    mixed = VotedPerceptron().partial_fit(X[:20].astype(np.float32), y[:20])
    mixed.partial_fit(sp.csr_array(X[20:40]), y[20:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(whole.decision_function(X), mixed.decision_function(X))
    assert mixed.model_.mistaken.is_sparse
    assert mixed.model_.mistaken.values.dtype == np.float64


def test_a_failed_chunk_leaves_the_stream_as_it_was():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    stream, other = (VotedPerceptron().partial_fit(X, y) for _ in range(2))
    bad = rng.normal(size=(30, 3))
    bad[20:] = 1e200
    with pytest.raises(ValueError, match="overflowed"):
        stream.partial_fit(bad, rng.integers(0, 5, 30))
    with pytest.raises(ValueError, match=r"largest weight of a row is 2e\+06.*Divide all"):
        stream.partial_fit(X[:2], [0, 1], sample_weight=[1, 2e6])
    assert_same_bits(stream, other)
    assert_same_bits(stream.partial_fit(X, y), other.partial_fit(X, y))


def test_warm_start_goes_on():
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, size=(50, 4)).astype(float), rng.integers(0, 3, 50)
    twice = in_order(max_iter=1, warm_start=True).fit(X, y).fit(X, y)
    once = in_order(max_iter=2).fit(X, y)
    np.testing.assert_array_equal(twice.decision_function(X), once.decision_function(X))
    with pytest.raises(ValueError, match="use one of them"):
        twice.fit(X, y, coef_init=np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"fit_intercept was True .* cannot become False"):
        twice.set_params(fit_intercept=False).fit(X, y)
    with pytest.raises(ValueError, match=r"fit_intercept was True .* cannot become False"):
        twice.partial_fit(X, y)


# ------------------------------------------------------------------ the model


@pytest.mark.parametrize("most", [None, 7])
@pytest.mark.parametrize("form", ["dense", "csr32"])
@given(st.integers(0, 10**6), st.sampled_from([2, 4]))
def test_explanations_sum_to_the_vote(form, most, seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.7) * 10.0 ** rng.integers(-2, 3, 8)
    if seed % 2:
        X = np.round(X)  # some voters then stand exactly on the boundary
    y = rng.permutation(np.arange(60) % k)
    model = VotedPerceptron(max_voters=most, max_iter=3).fit(FORMATS[form](X), y).model_
    rows = FORMATS[form](X[:9])
    explanation = model.explain(rows)
    np.testing.assert_array_equal(explanation.scores, model.decision_function(rows))
    np.testing.assert_array_equal(explanation.predicted, model.predict(rows))
    for label in [None, *(range(k) if k > 2 else [1])]:
        parts, intercepts = explanation.contributions(label), explanation.intercepts(label)
        for i in range(9):
            terms = explanation.terms(i, label)
            shown = sorted(term.contribution for term in terms.shown)
            row = parts.slice(i, i + 1).values.reshape(-1)
            np.testing.assert_array_equal(shown, np.sort(row[row != 0]))
            numbers = [float(intercepts[i]), *map(float, row)]
            assert terms.intercept == intercepts[i]
            error = abs(math.fsum([*numbers, -terms.score]))
            assert error <= 1e-12 * math.fsum(map(abs, numbers))


@pytest.mark.parametrize("most", [None, 6])
def test_explained_weights_are_those_of_all_voters_by_their_scores(most):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
    _, vectors = voted_perceptron(X, 2 * y - 1, 3, X, last=most)
    explanation = in_order(max_iter=3, max_voters=most).fit(X, y).model_.explain(X)
    for i, x in enumerate(X):
        expected = vectors.T @ (1 / np.abs(vectors @ np.append(x, 1)))
        weights = explanation.contributions().values[i] / x
        np.testing.assert_allclose(weights, expected[:-1], rtol=1e-9)
        np.testing.assert_allclose(explanation.intercepts()[i], expected[-1], rtol=1e-9)


def test_explanation_of_a_vote_reads_as_that_of_a_score():
    X = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0]])
    model = in_order().fit(X, ["no", "yes", "yes", "no"]).model_
    explanation = model.explain(X, feature_names=["width", "height"])
    assert "VotedPerceptron predicts no: score" in str(explanation[0])
    assert explanation.to_dict()["rows"][1]["predicted"] == "yes"
    assert "height" in explanation[1]._repr_html_()
    assert len(explanation[:0].contributions().values) == 0
    with pytest.raises(AttributeError, match="its own intercept: use intercepts"):
        explanation.intercept  # noqa: B018


def test_a_voter_on_its_boundary_is_left_to_the_intercept():
    # 0.1 + 0.2 - 0.3 is not 0 in floats: shares of that score would be noise of size 1e16
    X, y = np.array([[0.1, 0.2], [0.3, 0.0], [0.1, -0.2]]), [1, 0, 1]
    model = in_order(fit_intercept=False, max_iter=3).fit(X, y).model_
    grid = np.array([[a, b] for a in (0.1, 0.2, 0.3) for b in (-0.1, 0.1, 0.3)])
    assert np.abs(model.explain(grid).contributions().values).max() < 1e3


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_mean_is_the_averaged_perceptron(dtype):
    rng = np.random.default_rng(1)
    X, y = rng.integers(-4, 5, size=(200, 6)).astype(dtype), rng.integers(0, 4, 200)
    votes, mean = VotedPerceptron().fit(X, y), AveragedPerceptron().fit(X, y)
    linear = votes.model_.mean_model()
    assert isinstance(linear, LinearModel)
    np.testing.assert_allclose(linear.weights, mean.coef_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(linear.intercept, mean.intercept_, rtol=1e-10, atol=1e-10)
    assert str(votes.model_.top_weights(3)) == str(linear.top_weights(3))
    assert (votes.predict(X) == mean.predict(X)).mean() > 0.8


def test_there_are_no_single_weights():
    fitted = in_order().fit([[1.0], [-1.0]], [0, 1])
    for name in ("coef_", "intercept_"):
        assert not hasattr(fitted, name)
        with pytest.raises(AttributeError, match=r"no single weights.*mean_model\(\)"):
            getattr(fitted, name)
    with pytest.raises(ValueError, match=r"cannot be merged: votes.*mean_model\(\)\.merge"):
        fitted.model_.merge(fitted.model_)
    merged = fitted.model_.mean_model().merge(fitted.model_.mean_model())
    assert merged.evidence["approximate"]


@pytest.mark.parametrize("form", ["dense", "csr32", "csr64"])
@pytest.mark.parametrize("most", [None, 5])
def test_file_and_pickle_keep_every_bit(tmp_path, form, most):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 6)), np.array(["a", "b", "c"])[rng.integers(0, 3, 80)]
    fitted = VotedPerceptron(max_voters=most).fit(FORMATS[form](X), y)
    fitted.model_.save(tmp_path / "m")
    fitted.model_.save(tmp_path / "again")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()
    for again in (separable.load(tmp_path / "m"), pickle.loads(pickle.dumps(fitted.model_))):
        assert isinstance(again, VotedModel)
        assert repr(again) == repr(fitted.model_)
        for name, array in arrays(fitted.model_).items():
            assert arrays(again)[name].tobytes() == array.tobytes()
            assert not arrays(again)[name].flags.writeable or name == "base_weights"
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        assert again.evidence == fitted.model_.evidence
        assert dict(again.parameters) == dict(fitted.model_.parameters)
    assert clone(fitted).max_voters == most


def test_saved_without_state_cannot_continue(tmp_path):
    fitted = VotedPerceptron().partial_fit([[1.0], [2.0]], [0, 1])
    fitted.model_.save(tmp_path / "m")
    with pytest.raises(ValueError, match="include_state=True"):
        VotedPerceptron.from_model(separable.load(tmp_path / "m"))
    with pytest.raises(ValueError, match="learned by mean of VotedPerceptron, not by"):
        VotedPerceptron.from_model(fitted.model_.mean_model())


def test_evidence_says_what_is_stored():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)).astype(np.float32), rng.integers(0, 2, 100)
    evidence = VotedPerceptron(max_iter=4).fit(X, y).evidence_
    assert evidence["voters"] == evidence["updates_per_model"]
    assert evidence["stored_rows"] <= 100
    assert evidence["stored_bytes"] == evidence["stored_rows"] * 3 * 4


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "all"])
def test_bad_cap(value):
    message = "'max_voters' parameter of VotedPerceptron must be None or an int >= 1"
    with pytest.raises(ValueError, match=message):
        VotedPerceptron(max_voters=value).fit([[1.0], [2.0]], [0, 1])


def test_scores_that_overflow_name_the_row():
    fitted = in_order().fit([[1e10, 0.0], [0.0, -1e10]], [0, 1])
    for form in FORMATS.values():
        with pytest.raises(ValueError, match="score of row 1 overflows float64"):
            fitted.decision_function(form(np.array([[1.0, 1.0], [1e305, 1e305]])))


def test_reference_votes_by_hand():
    # "and", one epoch: (0, 0, -1) three times, then (1, 1, 0)
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, -1, -1, 1])
    votes, vectors = voted_perceptron(X, y, 1, X)
    assert vectors.tolist() == [[0, 0, -1]] * 3 + [[1, 1, 0]]
    assert votes.tolist() == [-3, -2, -2, -2]
    assert vote(vectors[:1], X).tolist() == [-1] * 4
    assert presentations(2.5) == [1.0, 1.0, 0.5]
