"""Every learner of the lab against the library on random data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root
from scipy.special import expit

from separable import (
    LDA,
    AveragedPerceptron,
    BatchPerceptron,
    Lasso,
    LeastSquares,
    LinearGaussianNB,
    LinearSVM,
    LogisticRegression,
    Perceptron,
    PolynomialEncoder,
    Ridge,
    SGDClassifier,
    VotedPerceptron,
    WidrowHoff,
)
from separable.lab.data import built_in
from separable.learn import trace
from tests.lab.in_node import in_node

SGD_LOSSES = ["sigmoid_mse", "log_loss", "hinge", "squared_hinge", "squared_error", "perceptron"]
TOLERANCE = {"rtol": 0, "atol": 1e-12}


def problem(seed, n=25):
    """Return random rows of two to four columns, and both classes."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2 + seed % 3)).round(3), rng.permutation(np.arange(n) % 2 * 2 - 1)


def learners():
    for ties in ("mistake", "negative", "positive"):
        yield {"learner": "perceptron", "ties": ties}, Perceptron(ties=ties, max_iter=6, eta0=0.5)
        yield {"learner": "batch", "ties": ties}, BatchPerceptron(ties=ties, max_iter=6, eta0=0.5)
    yield {"learner": "averaged"}, AveragedPerceptron(max_iter=6, eta0=0.5)
    yield {"learner": "voted"}, VotedPerceptron(max_iter=6, eta0=0.5)
    yield {"learner": "widrow_hoff", "eta": 0.05}, WidrowHoff(eta0=0.05, max_iter=6, tol=None)
    for loss in SGD_LOSSES:
        options = {"learning_rate": "constant", "eta0": 0.1, "max_iter": 6, "tol": None}
        yield {"learner": "sgd", "loss": loss, "eta": 0.1}, SGDClassifier(loss, **options)


def random_runs(spec):
    for seed in range(6):
        X, y = problem(seed)
        rng = np.random.default_rng(seed)
        start = rng.normal(size=X.shape[1] + 1) * (seed > 2)
        order = rng.permutation(len(X)).tolist()
        settings = {"eta": 0.5, "epochs": 6, "start": start.tolist(), "order": order} | spec
        yield {"spec": settings, "X": X.tolist(), "y": y.tolist()}


@pytest.mark.every_case
@pytest.mark.parametrize(("spec", "learner"), list(learners()), ids=lambda v: str(v)[:60])
def test_every_step_is_the_librarys(spec, learner):
    given = list(random_runs(spec))
    answers = in_node(
        "given.map(({spec, X, y}) => { const s = kernels.run(spec, X, y); const t = s.length;"
        "return { weights: s.map((k) => k.weights), rows: s.map((k) => k.row), "
        "mean: kernels.meanWeights(s, t), "
        "scores: X.map(kernels.predictor(spec, s, t, s[t - 1].weights)) }; })",
        given,
    )
    for each, answer in zip(given, answers, strict=True):
        X, y, settings = np.array(each["X"]), np.array(each["y"]), each["spec"]
        steps = trace(learner, X, y, start=settings["start"], order=settings["order"])
        assert answer["rows"] == steps.row.tolist()
        np.testing.assert_allclose(answer["weights"], steps.weights[1:, 0], **TOLERANCE)
        assert steps.difference < 1e-12  # so they are the compiled learner's too
        if steps.means is not None:
            np.testing.assert_allclose(answer["mean"], steps.means[-1, 0], **TOLERANCE)
        if isinstance(learner, VotedPerceptron):
            votes = steps.fitted.decision_function(X)
            np.testing.assert_array_equal(answer["scores"], votes)


def test_closed_forms_are_the_librarys():
    data = [problem(seed) for seed in range(9)]
    answers = in_node(
        "given.map(([X, y]) => "
        "[kernels.ridge(X, y, 0), kernels.ridge(X, y, 2.5), kernels.lda(X, y), "
        "kernels.lda(X, y, 0.2), kernels.naiveBayes(X, y), kernels.naiveBayes(X, y, 0.7)])",
        [[X.tolist(), y.tolist()] for X, y in data],
    )
    for (X, y), answer in zip(data, answers, strict=True):
        discriminants = (LDA(), LDA(priors=[0.8, 0.2]))
        bayes = (LinearGaussianNB(), LinearGaussianNB(priors=[0.3, 0.7]))
        learners = (LeastSquares(), Ridge(alpha=2.5), *discriminants, *bayes)
        for learner, weights in zip(learners, answer, strict=True):
            expected = weights_of(learner.fit(X, y))
            np.testing.assert_allclose(weights, expected, **TOLERANCE)


def weights_of(fitted):
    return np.append(np.ravel(fitted.intercept_), np.ravel(fitted.coef_))


def iterates(name, C, data):
    given = [[X.tolist(), y.tolist()] for X, y in data]
    return in_node(f"given.map(([X, y]) => optimum.{name}(X, y, {C}))", given)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
def test_the_svm_is_at_the_optimum_of_the_library(C):
    data = [problem(seed, 40) for seed in range(9)]
    for (X, y), steps in zip(data, iterates("svmSteps", C, data), strict=True):
        fitted = LinearSVM(C=C, tol=1e-14).fit(X, y)
        weights, certificate = np.array(steps[-1]["weights"]), steps[-1]["certificate"]
        expected, away = weights_of(fitted), fitted.certificate_.distance
        np.testing.assert_allclose(weights[1:], expected[1:], rtol=1e-10, atol=1e-10 + away)
        if C > 0.01:  # b is not unique where no row is on the margin
            assert weights[0] == pytest.approx(expected[0], rel=1e-10, abs=1e-10)
        losses = np.maximum(0, 1 - y * (X @ weights[1:] + weights[0]))
        objective = weights[1:] @ weights[1:] / 2 + C * losses.sum()
        np.testing.assert_allclose(certificate["primal"], objective, rtol=1e-13)
        assert objective <= fitted.certificate_.primal * (1 + 1e-14)
        check_certificates(steps, objective)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
def test_logistic_regression_is_at_the_optimum(C):
    data = [problem(seed, 40) for seed in range(9)]
    for (X, y), steps in zip(data, iterates("logisticSteps", C, data), strict=True):
        fitted = LogisticRegression(C=C, tol=1e-14).fit(X, y)
        design = np.column_stack([np.ones(len(X)), X])
        shrunk = np.append(0, np.ones(X.shape[1]))
        slope = lambda w: shrunk * w - C * design.T @ (y * expit(-y * (design @ w)))  # noqa: E731, B023
        exact = root(slope, weights_of(fitted), tol=1e-15, method="lm").x
        np.testing.assert_allclose(steps[-1]["weights"], exact, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(steps[-1]["weights"], weights_of(fitted), atol=1e-6)
        check_certificates(steps, fitted.certificate_.primal)


def check_certificates(steps, optimum):
    """Every step has a lower bound of the optimum, the last one reaches it."""
    for step in steps:
        assert step["certificate"]["dual"] <= optimum * (1 + 1e-12)
        assert step["certificate"]["primal"] >= optimum * (1 - 1e-12)
    assert steps[-1]["certificate"]["dual"] >= optimum * (1 - 1e-12)


def test_the_lasso_path_is_the_librarys():
    data = [problem(seed) for seed in range(9)]
    alphas = [0.5, 0.2, 0.1, 0.03, 0.004, 1e-5]
    answers = in_node(
        "given.map(([X, y, alphas]) => { const path = optimum.lassoPath(X, y); "
        "return alphas.map((alpha) => optimum.onPath(path, alpha)); })",
        [[PolynomialEncoder(2).fit_transform(X).tolist(), y.tolist(), alphas] for X, y in data],
    )
    for (X, y), weights in zip(data, answers, strict=True):
        products = PolynomialEncoder(2).fit_transform(X)
        for alpha, w in zip(alphas, weights, strict=True):
            fitted = Lasso(alpha=alpha, tol=1e-12).fit(products, y.astype(float))
            np.testing.assert_allclose(w, weights_of(fitted), rtol=1e-8, atol=1e-10)


def test_singular_problems_have_no_unique_weights():
    X = [[1, 2], [2, 4], [3, 6], [0, 0]]
    assert in_node("[kernels.ridge(given, [1, 1, -1, -1], 0)]", X) == [None]


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_products_are_those_of_the_encoder(degree):
    X = np.random.default_rng(degree).normal(size=(7, 3))
    answer = in_node(f"given.map((x) => kernels.products(x, {degree}))", X.tolist())
    expected = PolynomialEncoder(degree).fit_transform(X)
    np.testing.assert_allclose(answer, expected, rtol=1e-14)


def test_permutations_are_permutations_and_depend_on_the_seed():
    answers = in_node("given.map((seed) => kernels.permutation(50, seed))", list(range(20)))
    assert all(sorted(each) == list(range(50)) for each in answers)
    assert len({tuple(each) for each in answers}) == 20


def test_votes_that_are_kept_up_to_date_are_the_votes():
    X, y = problem(4, 30)
    moments = [0, 7, 90, 31, 30, 89, 2, 120]
    spec = {"learner": "voted", "eta": 0.5, "epochs": 4, "ties": "mistake"}
    answers = in_node(
        "(() => { const [spec, X, y, moments] = given; const steps = kernels.run(spec, X, y);"
        "const tally = votes.tallyOf(X); return moments.map((t) => ["
        "[...votes.advance(tally, steps, t)], "
        "X.map((x) => kernels.vote(kernels.voters(steps, t), x)), "
        "kernels.voters(steps, t).reduce((sum, v) => sum + v.votes, 0)]); })()",
        [spec, X.tolist(), y.tolist(), moments],
    )
    learner = VotedPerceptron(eta0=0.5, max_iter=4)
    steps = trace(learner, X, y, order="given")
    for t, (kept, anew, count) in zip(moments, answers, strict=True):
        votes = np.sign(X @ steps.weights[1 : t + 1, 0, 1:].T + steps.weights[1 : t + 1, 0, 0])
        assert kept == anew == votes.sum(axis=1).tolist()
        assert count == t


def test_standardized_columns_are_those_of_the_python_code():
    rows = built_in()["penguins"]
    given = {
        "spec": {"learner": "perceptron", "eta": 1, "epochs": 4, "ties": "mistake"},
        "example": "penguins", "X": rows["X"], "y": rows["y"], "degree": 2, "standard": True,
    }  # fmt: skip
    X, code, weights = in_node(
        "(() => { const X = algebra.standardized(given.X); const at = 500;"
        "const steps = kernels.run(given.spec, X.map((x) => kernels.products(x, 2)), given.y);"
        "return [X, python.pythonCode({ ...given, at }), steps[at - 1].weights]; })()",
        given,
    )
    raw = np.array(rows["X"])
    np.testing.assert_allclose(X, (raw - raw.mean(axis=0)) / raw.std(axis=0), atol=1e-13)
    printed: list[object] = []
    exec(code, {"print": lambda *values: printed.extend(values)})
    np.testing.assert_allclose(np.ravel(printed[0]), weights, atol=1e-11)
    assert in_node("algebra.standardized(given)", [[3, 1], [3, 2]]) == [[0, -1], [0, 1]]


PYTHON = [
    ({"learner": "perceptron", "ties": "negative"}, 1, "and"),
    ({"learner": "perceptron", "ties": "mistake", "start": [1, 0, -1]}, 1, None),
    ({"learner": "batch", "ties": "mistake"}, 2, "ring"),
    ({"learner": "averaged", "ties": "mistake"}, 1, "penguins"),
    ({"learner": "voted", "ties": "mistake"}, 1, None),
    ({"learner": "widrow_hoff", "eta": 0.05}, 1, "xor"),
    ({"learner": "sgd", "loss": "sigmoid_mse", "eta": 0.1}, 3, "clouds"),
    ({"learner": "least_squares"}, 2, "ring"),
    ({"learner": "ridge", "alpha": 2.5}, 1, None),
    ({"learner": "lda", "prior": 0.25}, 1, "penguins"),
    ({"learner": "lasso", "alpha": 0.03}, 2, "ring"),
    ({"learner": "naive_bayes"}, 1, "penguins"),
    ({"learner": "svm", "C": 0.5}, 1, "clouds"),
    ({"learner": "logistic", "C": 2}, 2, "clouds"),
]


@pytest.mark.every_case
@pytest.mark.parametrize(("spec", "degree", "example"), PYTHON, ids=lambda v: str(v)[:40])
def test_the_python_code_prints_the_weights_of_the_page(spec, degree, example):
    X, y = problem(3, 12) if example is None else (built_in()[example][k] for k in "Xy")
    rows = {"X": np.asarray(X).tolist(), "y": np.asarray(y).tolist()}
    settings = {"eta": 0.5, "epochs": 4, "order": None} | spec
    given = rows | {"spec": settings, "degree": degree, "example": example}
    answer = in_node(
        "(() => { const { spec, X, y, degree } = given; spec.order ??= undefined;"
        "const rows = X.map((x) => kernels.products(x, degree));"
        "const closed = kernels.CLOSED[spec.learner]?.(spec, rows, y);"
        "const steps = closed ? [] : kernels.run(spec, rows, y);"
        "const certified = spec.learner in kernels.CERTIFIED;"
        "const at = certified ? steps.length : Math.floor(steps.length / 2);"
        "const weights = closed ?? (spec.learner === 'averaged' ? kernels.meanWeights(steps, at)"
        " : steps[at - 1].weights);"
        "return { weights, code: python.pythonCode({ ...given, at }) }; })()",
        given,
    )
    printed: list[object] = []
    exec(answer["code"], {"print": lambda *values: printed.extend(values)})
    shown = np.concatenate([np.ravel(each) for each in printed])
    iterative = spec["learner"] in ("logistic", "svm", "lasso")
    tolerance = 1e-5 if iterative else 1e-11
    np.testing.assert_allclose(answer["weights"], shown, rtol=tolerance, atol=1e-12)
