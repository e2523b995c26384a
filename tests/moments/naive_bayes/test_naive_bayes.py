"""What the naive Bayes learners share: scikit-learn's answers, streams, merges, one row out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import naive_bayes as peers

import separable
from separable import BernoulliNB, ComplementNB, LinearModel, MultinomialNB
from tests.moments.leaving_out import refits, short_cut
from tests.moments.naive_bayes.nb_problems import (
    FORMATS,
    counts_problem,
    problems,
    with_duplicates,
)
from tests.reference import naive_bayes as reference

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # priors of complement naive Bayes
]

LEARNERS = {
    "multinomial": (MultinomialNB, peers.MultinomialNB, {}),
    "bernoulli": (BernoulliNB, peers.BernoulliNB, {}),
    "bernoulli, above 1": (BernoulliNB, peers.BernoulliNB, {"binarize": 1.0}),
    "complement": (ComplementNB, peers.ComplementNB, {}),
    "complement, norm": (ComplementNB, peers.ComplementNB, {"norm": True}),
}
REFERENCES = {
    "multinomial": reference.multinomial,
    "bernoulli": reference.bernoulli,
    "bernoulli, above 1": reference.bernoulli,
    "complement": reference.complement,
    "complement, norm": reference.complement,
}
every = pytest.mark.parametrize("name", LEARNERS)


def params(fitted):
    return np.append(fitted.coef_, fitted.intercept_)


def centred(scores):
    """Return scores without what is the same for all classes of a row."""
    return scores if scores.shape[1] == 1 else scores - scores.max(axis=1, keepdims=True)


@every
@given(problems(), st.sampled_from([1e-3, 0.5, 1.0, 3.0]))
def test_equals_the_reference(name, problem, alpha):
    X, y, weight = problem
    make, _, options = LEARNERS[name]
    fitted = make(alpha=alpha, **options).fit(X, y, sample_weight=weight)
    joint = REFERENCES[name](X, y, X, alpha, weight, **options)
    scores = fitted.decision_function(X)
    if len(fitted.classes_) == 2:
        np.testing.assert_allclose(scores, joint[:, 1] - joint[:, 0], rtol=1e-10, atol=1e-10)
    else:
        np.testing.assert_allclose(centred(scores), centred(joint), rtol=1e-10, atol=1e-10)


@every
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn(name, form, classes, weighted):
    make, peer, options = LEARNERS[name]
    X, y, weight = counts_problem(1, 60, 9, classes, weighted)
    Z = FORMATS[form](X)
    for prior in ({}, {"fit_prior": False}, {"class_prior": np.arange(1, classes + 1) / 10}):
        ours = make(alpha=0.3, **options, **prior).fit(Z, y, sample_weight=weight)
        theirs = peer(alpha=0.3, **options, **prior).fit(Z, y, sample_weight=weight)
        for attribute in ("class_count_", "feature_count_"):
            np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))
        for attribute in ("class_log_prior_", "feature_log_prob_"):
            np.testing.assert_allclose(
                getattr(ours, attribute), getattr(theirs, attribute), rtol=1e-10, atol=1e-13
            )
        np.testing.assert_allclose(ours.predict_proba(Z), theirs.predict_proba(Z), rtol=1e-10)
        np.testing.assert_allclose(
            ours.predict_log_proba(Z), theirs.predict_log_proba(Z), rtol=1e-10, atol=1e-12
        )
        np.testing.assert_array_equal(ours.predict(Z), theirs.predict(Z))


@every
def test_no_smoothing_is_scikit_learns_floor(name):
    make, peer, options = LEARNERS[name]
    X, y, _ = counts_problem(2)
    with pytest.warns(UserWarning, match=r"alpha=0 would give .* 1e-10 is used instead"):
        ours = make(alpha=0, **options).fit(X, y)
    with pytest.warns(UserWarning, match="alpha too small"):
        theirs = peer(alpha=0, force_alpha=False, **options).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8)
    assert ours.evidence_ == {"rows_seen": 30, "alpha": 1e-10}


@every
def test_float32_equals_its_float64_cast_to_the_bit(name):
    make, _, options = LEARNERS[name]
    X = np.random.default_rng(0).random((50, 6)).astype(np.float32)
    y = np.arange(50) % 3
    for form in (np.asarray, sp.csr_array):
        single = make(**options).fit(form(X), y)
        double = make(**options).fit(form(X.astype(float)), y)
        np.testing.assert_array_equal(params(single), params(double))


@every
def test_columns_that_stand_twice_have_the_sum_of_their_values(name):
    make, _, options = LEARNERS[name]
    X, y, weight = counts_problem(3, weighted=True)
    twice, once = with_duplicates(X), make(**options).fit(X, y, sample_weight=weight)
    fitted = make(**options).fit(twice, y, sample_weight=weight)
    np.testing.assert_array_equal(params(fitted), params(once))
    np.testing.assert_allclose(fitted.predict_proba(twice), once.predict_proba(X), rtol=1e-12)
    assert once.model_.explain(X).to_dict()["rows"][0]["predicted"] == once.predict(X)[0]


# ------------------------------------------------------------------ streams, merges, files


@every
@given(problems(), st.lists(st.integers(0, 25), max_size=4))
def test_any_chunks_give_the_same_bits(name, problem, cuts):
    make, _, options = LEARNERS[name]
    X, y, weight = problem
    whole = make(**options).fit(X, y, sample_weight=weight)
    stream = make(**options)
    for part in np.split(np.arange(len(y)), sorted(min(cut, len(y)) for cut in cuts)):
        if len(part):
            w = None if weight is None else weight[part]
            stream.partial_fit(X[part], y[part], sample_weight=w)
    np.testing.assert_array_equal(params(stream), params(whole))
    np.testing.assert_array_equal(stream.classes_, whole.classes_)
    assert stream.evidence_ == whole.evidence_


@every
def test_merging_and_a_file_go_on(name, tmp_path):
    make, _, options = LEARNERS[name]
    X, y, _ = counts_problem(4)
    first, second = make(**options).fit(X[:20], y[:20]), make(**options).partial_fit(X[20:], y[20:])
    whole = make(**options).fit(X, y)
    np.testing.assert_array_equal(params(first.merge(second)), params(whole))
    first.model_.save(tmp_path / "first", include_state=True)
    again = type(first).from_model(separable.load(tmp_path / "first"))
    np.testing.assert_array_equal(params(again.partial_fit(X[20:], y[20:])), params(whole))
    np.testing.assert_array_equal(
        separable.load(tmp_path / "first").predict_proba(X), first.predict_proba(X)
    )
    with pytest.raises(ValueError, match=r"differs in alpha: 2\.0, the first has 1\.0"):
        first.merge(make(alpha=2.0, **options).fit(X, y))


@every
def test_what_is_merged_is_a_value_of_its_own(name):
    make, _, options = LEARNERS[name]
    X, y, _ = counts_problem(14)
    first = make(**options).fit(X, y)
    before = params(first)
    first.merge().partial_fit(X, y)
    first.merge(first).partial_fit(X, y)
    np.testing.assert_array_equal(params(first), before)
    assert first.class_count_.sum() == 30


def test_merging_compares_priors_that_are_arrays():
    X, y, _ = counts_problem(5)
    a, b = (MultinomialNB(class_prior=np.array([0.2, 0.3, 0.5])).fit(X, y) for _ in range(2))
    assert a.merge(b).class_count_.sum() == 60
    with pytest.raises(ValueError, match="differs in class_prior"):
        a.merge(MultinomialNB(class_prior=[0.3, 0.2, 0.5]).fit(X, y))


@every
def test_a_stream_may_have_met_one_class(name):
    make, peer, options = LEARNERS[name]
    X, y = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([0, 0])
    stream, theirs = make(**options).partial_fit(X, y), peer(**options).fit(X, y)
    np.testing.assert_allclose(stream.predict_proba(X), [[1.0], [1.0]])
    np.testing.assert_allclose(stream.predict_log_proba(X), [[0.0], [0.0]])
    assert stream.predict(X).tolist() == [0, 0]
    np.testing.assert_allclose(stream.feature_log_prob_, theirs.feature_log_prob_)
    with pytest.raises(ValueError, match="needs at least two classes"):
        make(**options).fit(X, y)
    stream.partial_fit(X, [1, 1])
    assert stream.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB])
def test_priors_of_classes_not_met_yet(make):
    X, y, _ = counts_problem(6)
    stream = make(class_prior=[0.2, 0.3, 0.5])
    part = np.flatnonzero(y < 2)
    stream.partial_fit(X[part], y[part], classes=[0, 1, 2])
    np.testing.assert_allclose(stream.class_log_prior_, np.log([0.2, 0.3]))
    with pytest.raises(ValueError, match=r"'class_prior' parameter .* has 2 numbers, .* 3 classes"):
        make(class_prior=[0.5, 0.5]).fit(X, y)


# ------------------------------------------------------------------ one row out


@every
@given(problems(), st.sampled_from([1e-2, 1.0]), st.sampled_from([np.asarray, sp.csr_array]))
def test_leaving_out_equals_refits(name, problem, alpha, form):
    X, y, weight = problem
    make, _, options = LEARNERS[name]
    got = short_cut(make(alpha=alpha, **options), form(X), y, weight)
    expected = refits(make(alpha=alpha, **options), X, y, weight)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-8)


@every
def test_leaving_out_of_columns_that_stand_twice(name):
    make, _, options = LEARNERS[name]
    X, y, _ = counts_problem(7, classes=2)
    np.testing.assert_allclose(
        short_cut(make(**options), with_duplicates(X), y, None),
        short_cut(make(**options), X, y, None),
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize("fit_prior", [True, False])
def test_rows_that_outweigh_their_class_are_learned_without(fit_prior, monkeypatch):
    from separable.moments.loo import naive_bayes_loo

    X, y, _ = counts_problem(8, n=20, classes=2)
    weight = np.ones(20) / 3
    weight[4] = 1e12
    learner = MultinomialNB(fit_prior=fit_prior)
    np.testing.assert_allclose(
        short_cut(learner, X, y, weight), refits(learner, X, y, weight), rtol=1e-8
    )
    monkeypatch.setattr(naive_bayes_loo, "MAX_REFITS", 0)
    assert short_cut(learner, X, y, weight) is None


def test_too_many_weights_have_no_short_cut(monkeypatch):
    from separable.moments.naive_bayes import bernoulli_nb

    X, y, _ = counts_problem(9)
    monkeypatch.setattr(bernoulli_nb, "MAX_LOGARITHMS", 100)
    assert short_cut(BernoulliNB(), X, y, np.arange(1.0, 31.0)) is None
    assert short_cut(BernoulliNB(), X, y, None) is not None


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_negative_values_are_refused_by_their_place(make, form):
    X, y, _ = counts_problem(10)
    X[17, 3] = -0.5
    message = (
        r"Negative values in data passed to .* row 17, column 3 holds -0\.5\. Counts .* needed"
    )
    with pytest.raises(ValueError, match=message):
        make().fit(form(X), y)
    weight = np.ones(30)
    weight[17] = 0  # the row is not there
    assert make().fit(form(X), y, sample_weight=weight).class_count_.sum() == 29
    weight[2] = 0
    weight[17] = 1
    with pytest.raises(ValueError, match="row 17, column 3"):
        make().fit(form(X), y, sample_weight=weight)


def test_a_data_frame_names_its_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"free": [1.0, -2.0], "money": [0.0, 1.0]})
    with pytest.raises(ValueError, match=r"row 1, column 'free' holds -2"):
        MultinomialNB().fit(frame, [0, 1])


def test_negative_parts_of_a_positive_value_are_none():
    X = sp.csr_array(([2.0, -1.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    fitted = MultinomialNB().fit(X, [0, 1])
    np.testing.assert_array_equal(fitted.feature_count_, [[1.0, 0.0], [0.0, 1.0]])
    zeros = MultinomialNB().fit(np.array([[1.0, -0.0], [-0.0, 1.0]]), [0, 1])
    np.testing.assert_array_equal(zeros.feature_count_, [[1.0, 0.0], [0.0, 1.0]])


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_leave_the_stream_as_it_was(name, form, bad):
    make, _, options = LEARNERS[name]
    X, y, _ = counts_problem(11)
    stream = make(**options).partial_fit(form(X), y)
    before = params(stream)
    worse = X.copy()
    worse[5, 2] = bad
    with pytest.raises(ValueError, match=r"contains (NaN|infinity) in row 5, column 2"):
        stream.partial_fit(form(worse), y)
    with pytest.raises(ValueError, match="contains"):
        make(**options).fit(form(worse), y)
    with pytest.raises(ValueError, match="X has 3 features"):
        stream.partial_fit(X[:, :3], y)
    np.testing.assert_array_equal(params(stream), before)
    assert stream.evidence_["rows_seen"] == 30


@every
def test_columns_outside_are_refused(name):
    make, _, options = LEARNERS[name]
    X, y, _ = counts_problem(15)
    stream = make(**options).partial_fit(X, y)
    bad = sp.csr_array(X)
    bad.indices[bad.indptr[4]] = 99
    for act in (stream.partial_fit, make(**options).fit):
        with pytest.raises(ValueError, match="column index 99 in row 4, outside 0"):
            act(bad, y)


@every
def test_extreme_values(name):
    make, _, options = LEARNERS[name]
    y = np.array([0, 1, 0, 1])
    small = make(**options).fit(np.array([[1e-300, 0], [0, 1e-300], [1e-300, 0], [0, 0]]), y)
    assert np.isfinite(params(small)).all()
    if name.startswith("bernoulli"):
        large = make(**options).fit(np.array([[1e300, 0], [0, 1e300], [1e300, 0], [0, 0]]), y)
        assert np.isfinite(params(large)).all()
        return
    large = make(**options).fit(np.array([[1e300, 0], [0, 1e300], [1e300, 0], [0, 0]]), y)
    assert np.isfinite(params(large)).all()
    with pytest.raises(ValueError, match="The sum of column 0 overflows"):
        make(**options).fit(np.array([[1e308, 0], [0, 1.0], [1e308, 0], [0, 0]]), y)


@every
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("alpha", -1),
        ("alpha", "1"),
        ("fit_prior", 1),
        ("class_prior", [0.5, -0.5]),
        ("class_prior", "a"),
    ],
)
def test_parameters(name, option, value):
    make, _, options = LEARNERS[name]
    with pytest.raises(ValueError, match=f"The '{option}' parameter of {make.__name__} must be"):
        make(**{**options, option: value}).fit(np.eye(2), [0, 1])


@every
def test_it_ends_in_a_linear_model_that_explains(name):
    make, _, options = LEARNERS[name]
    X, y, _ = counts_problem(12, classes=2)
    model = make(**options).fit(X, y).model_
    assert isinstance(model, LinearModel)
    assert (model.link, model.family) == ("softmax", "moments")
    terms = model.explain(X).to_dict()["rows"][3]
    seen = X[3] if model.threshold is None else (X[3] > model.threshold)
    score = model.weights[0] @ seen + model.intercept[0]
    assert model.decision_function(X)[3] == pytest.approx(score)
    assert terms["scores"][0]["score"] == pytest.approx(score) if "scores" in terms else True


@every
def test_hostile_sums_of_a_file(name):
    from dataclasses import replace

    from separable.model.linear_model import TrainingState

    make, _, options = LEARNERS[name]
    X, y, _ = counts_problem(13)
    model = make(**options).fit(X, y).model_
    state = model.state
    good = dict(state.tensors), dict(state.values)

    def refused(match, tensors=(), values=()):
        hostile = TrainingState({**good[0], **dict(tensors)}, {**good[1], **dict(values)})
        with pytest.raises(ValueError, match=match):
            make.from_model(replace(model, state=hostile))

    refused("do not fit together", {"weight": np.array([1.0, np.nan, 1.0])})
    refused("do not fit together", {"weight": np.array([1.0, 1.0])})
    refused("do not fit together", {"sums": -np.ones((3, 8))})
    refused("do not fit together", {"sums": np.ones((3, 0))})
    refused("do not fit together", {"sums": np.ones((3, 8), np.float32)})
    refused("do not fit together", {"rows": np.zeros(3, np.int64)})
    refused("do not fit together", values={"threshold": "0"})
    refused("not sorted labels", values={"classes": [0, 2, 1]})
    refused("not sorted labels", values={"classes": [0, 1, "2"]})
    refused("are not those of ClassCounts", values={"classes": None})
    refused("not those its weights", {"sums": np.ones((3, 7))})
    refused("not those its weights", values={"threshold": 0.25})
    refused("not those its weights", values={"classes": [0, 1, 7]})


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_joint_log_probabilities_equal_those_of_scikit_learn(name, n_classes, form):
    kind, peer, options = LEARNERS[name]
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.5, (40, 5)).astype(float), np.arange(40) % n_classes
    found = kind(**options).fit(X, y).predict_joint_log_proba(form(X))
    expected = peer(**options).fit(X, y).predict_joint_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
