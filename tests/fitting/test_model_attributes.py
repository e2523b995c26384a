"""Shapes of coef_, intercept_ and predictions as in scikit-learn, and attributes that are set."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, set_config, svm
from sklearn.exceptions import NotFittedError

import separable
from separable.estimator import Estimator

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(40, 3)))
NUMBERS = X @ [1.0, -2.0, 0.5] + 3 + 0.1 * RNG.normal(size=40)
LABELS = (X @ [1.0, -2.0, 0.5] > -0.2).astype(int)
SEVERAL = np.column_stack([NUMBERS, RNG.normal(size=40)])

KINDS = [
    kind
    for name in separable.__all__
    if isinstance(kind := getattr(separable, name), type) and issubclass(kind, Estimator)
    if not name.startswith(("Table", "Voted"))
]
REGRESSORS = [kind for kind in KINDS if kind._estimator_type == "regressor"]
CLASSIFIERS = [kind for kind in KINDS if kind._estimator_type == "classifier"]

PEERS = [
    (separable.LeastSquares(), linear_model.LinearRegression()),
    (separable.Ridge(), linear_model.Ridge()),
    (separable.RidgeCV(alphas=[0.1, 1]), linear_model.RidgeCV(alphas=[0.1, 1])),
    (separable.Lasso(0.1), linear_model.Lasso(0.1)),
    (separable.ElasticNet(0.1), linear_model.ElasticNet(0.1)),
    (separable.LassoCV(alphas=3, cv=3), linear_model.LassoCV(alphas=3, cv=3)),
    (separable.BayesianRegression(), linear_model.BayesianRidge()),
]

pytestmark = pytest.mark.filterwarnings("ignore")


def shapes(model, y):
    model.fit(X, y)
    return np.shape(model.coef_), np.shape(model.intercept_), model.predict(X).shape


@pytest.mark.parametrize("kind", REGRESSORS)
def test_intercept_of_one_target_is_a_float(kind):
    model = kind().fit(X, NUMBERS)
    assert isinstance(model.intercept_, float)
    assert f"{model.intercept_:.2f}" == f"{model.predict(np.zeros((1, 3)))[0]:.2f}"


@pytest.mark.parametrize(("ours", "theirs"), PEERS)
def test_shapes_are_those_of_scikit_learn(ours, theirs):
    assert shapes(ours, NUMBERS) == shapes(theirs, NUMBERS)
    assert shapes(ours, NUMBERS[:, None]) == shapes(theirs, NUMBERS[:, None])
    assert shapes(ours, NUMBERS[:, None].tolist()) == shapes(theirs, NUMBERS[:, None].tolist())
    assert shapes(ours, NUMBERS) == shapes(theirs, NUMBERS)  # the column is forgotten


@pytest.mark.parametrize(("ours", "theirs"), [PEERS[3], PEERS[4]])
def test_several_targets_have_models_of_their_own(ours, theirs):
    theirs.set_params(tol=1e-12)
    assert shapes(ours, SEVERAL) == shapes(theirs, SEVERAL) == ((2, 3), (2,), (40, 2))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    assert len(ours.n_iter_) == len(theirs.n_iter_) == 2
    assert ours.dual_gap_.shape == np.shape(theirs.dual_gap_)
    assert [one.converged for one in ours.certificates_] == [True, True]


def test_several_targets_of_a_support_vector_regression():
    both = separable.LinearSVR(C=2.0).fit(X, SEVERAL)
    for k, y in enumerate(SEVERAL.T):
        alone = separable.LinearSVR(C=2.0).fit(X, y)
        np.testing.assert_array_equal(both.coef_[k], alone.coef_)
        assert both.intercept_[k] == alone.intercept_
        assert both.certificates_[k].gap == alone.certificate_.gap


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("kind", [separable.Lasso, separable.ElasticNet])
def test_alpha_0_is_least_squares_with_a_warning(kind, positive):
    advised = r"LeastSquares\(positive=True\)" if positive else "LeastSquares"
    with pytest.warns(UserWarning, match=f"With alpha=0.*advised to use {advised}, ") as caught:
        model = kind(alpha=0, positive=positive).fit(X, NUMBERS)
    assert caught[0].filename == __file__
    exact = linear_model.LinearRegression(positive=positive).fit(X, NUMBERS)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-9)


@pytest.mark.parametrize("kind", REGRESSORS + CLASSIFIERS)
def test_weights_can_be_set_and_evidence_is_dropped(kind):
    model = kind().fit(X, NUMBERS if kind in REGRESSORS else LABELS)
    before = model.coef_.copy()
    model.coef_ = 2 * before
    model.intercept_ = np.zeros_like(model.intercept_)
    np.testing.assert_array_equal(model.coef_, 2 * before)
    assert model.model_.evidence == model.evidence_ == {}
    scores = model.predict(X) if kind in REGRESSORS else model.decision_function(X)
    threshold = getattr(model, "binarize", None)
    rows = X if threshold is None else threshold < X
    np.testing.assert_allclose(scores, rows @ (2 * before.ravel()), atol=1e-12)
    for name in ("certificate_", "rank_", "log_evidence_"):
        if hasattr(kind, name):
            with pytest.raises(AttributeError, match=f"no {name}.*were set"):
                getattr(model, name)
    model.fit(X, NUMBERS if kind in REGRESSORS else LABELS)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.evidence_


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_classifier_can_be_set_without_a_fit(kind):
    model = kind()
    model.classes_ = np.array(["a", "b", "c"])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.coef_ = np.diag([1.0, 2.0, 0.5])
    assert model.intercept_.tolist() == [0, 0, 0]
    threshold = getattr(model, "binarize", None)
    rows = X if threshold is None else threshold < X
    expected = np.argmax(rows * [1, 2, 0.5], axis=1)
    assert model.predict(X).tolist() == np.array(["a", "b", "c"])[expected].tolist()
    with pytest.raises(ValueError, match="expecting 3"):
        model.predict(X[:, :2])


def test_what_does_not_fit_together_is_refused():
    model = separable.LogisticRegression().fit(X, LABELS)
    model.coef_ = np.ones((3, 3))
    with pytest.raises(ValueError, match=r"coef_ \(3, 3\) was set and does not fit"):
        model.predict(X)
    model.classes_ = [5, 6, 7]
    model.intercept_ = [0, 0, 1]
    assert set(model.predict(X)) == {7}


def test_set_classes_name_the_predictions():
    model = separable.LogisticRegression().fit(X, LABELS)
    expected = np.array(["no", "yes"])[model.predict(X)]
    model.classes_ = np.array(["no", "yes"])
    assert model.predict(X).tolist() == expected.tolist()


def test_a_stream_goes_on_from_weights_that_are_set():
    start, rate = np.array([[1.0, 2.0, 3.0]]), {"learning_rate": "constant", "eta0": 0.5}
    model = separable.SGDClassifier("hinge", shuffle=False, **rate)
    model.classes_, model.coef_ = [0, 1], start
    model.partial_fit(-X[:1], [1])  # a mistake: one step
    assert not np.array_equal(model.coef_, start)
    np.testing.assert_allclose(model.coef_, start - 0.5 * X[:1], rtol=1e-6)


@pytest.mark.parametrize("kind", [separable.LogisticRegression, separable.SGDClassifier])
def test_sparse_weights(kind):
    model = kind().fit(X, LABELS)
    dense, predicted = model.coef_, model.predict(X)
    assert model.sparsify() is model
    assert sparse.isspmatrix_csr(model.coef_)
    assert sparse.isspmatrix_csr(model.sparse_coef_)
    np.testing.assert_array_equal(model.predict(X), predicted)
    np.testing.assert_array_equal(model.densify().coef_, dense)
    set_config(sparse_interface="sparray")
    try:
        assert isinstance(model.sparsify().coef_, sparse.csr_array)
    finally:
        set_config(sparse_interface="spmatrix")


def test_a_regressor_has_no_classes_to_set():
    with pytest.raises(AttributeError, match="predicts numbers"):
        separable.Ridge().classes_ = [0, 1]
    with pytest.raises(AttributeError, match="no single weights"):
        separable.VotedPerceptron().fit(X, LABELS).classes_ = [0, 1]


def test_intercept_without_a_fit_is_that_of_scikit_learn_too():
    ours, theirs = separable.LinearSVM(fit_intercept=False), svm.LinearSVC(fit_intercept=False)
    assert ours.fit(X, LABELS).coef_.shape == theirs.fit(X, LABELS).coef_.shape
    with warnings.catch_warnings():
        assert separable.Ridge(fit_intercept=False).fit(X, NUMBERS).intercept_ == 0.0
