"""Logistic regression by L-BFGS: kernels against plain NumPy, fits against plain Newton."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from separable import LogisticRegression, LogisticRegressionCV
from separable._core import native
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.problem import TOGETHER, Columns, Lane, Problem
from separable.certified.solvers.logistic_tiles import Batch, LogisticTiles, systematic_sample
from separable.certified.solvers.options import LbfgsOptions
from separable.certified.solvers.solved import Start
from separable.data.rows import as_rows, core_rows
from separable.losses.loss import LOGISTIC
from tests.certified.engine_problems import use_solvers
from tests.long_cases import first

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning"),
]


KINDS = ["dense", "sparse"]


@pytest.mark.parametrize("size", [10, 300, 5000])
def test_a_systematic_sample_keeps_the_weight_of_rows(size):
    c = np.random.default_rng(0).exponential(size=1000) ** 3
    drawn = systematic_sample(c, size)
    step = c.sum() / size
    assert (np.abs(drawn - c) <= step * (1 + 1e-9)).all()
    assert (np.abs(np.cumsum(drawn) - np.cumsum(c)) <= step * (1 + 1e-9)).all()
    assert np.count_nonzero(drawn) <= size


# ------------------------------------------------------------------ kernels


def rows_of(seed, n=150, d=7, K=4):
    """Return rows, labels, weights, folds, and weights of K vectors with intercepts."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = rng.integers(K, size=n).astype(np.int32)
    weight = rng.integers(0, 3, size=n).astype(np.float64)
    fold = rng.integers(-1, 3, size=n).astype(np.int32)
    return X, y, weight, fold, 0.5 * rng.standard_normal((K, d + 1))


def tiles_of(X, y, weight, fold, is_float32=False, kind="dense"):
    if kind == "sparse":
        rows = core_rows(as_rows(sp.csr_array(X)))
        return native.LogisticLanes(rows, y, weight, fold, is_float32)
    tiles = native.LogisticLanes(X.shape[1], y, weight, fold, is_float32)
    half = len(X) // 3
    tiles.set_rows(half, X[half:])
    tiles.set_rows(0, X[:half])
    return tiles


def plain_softmax(C, X, y, c, w, classes):
    """Return objective, gradient and Hessian over the given classes, by loops of NumPy."""
    d = X.shape[1]
    Z = np.column_stack([X, np.ones(len(X))])
    s = Z @ w[: len(classes)].T
    p = np.exp(s - s.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    hot = (y[:, None] == np.asarray(classes)) * 1.0
    used = c > 0
    loss = -(c[used] * np.log((p * hot).sum(axis=1)[used])).sum()
    penalty = np.append(np.ones(d), 0.0)
    gradient = C * ((p - hot) * c[:, None]).T @ Z + penalty * w[: len(classes)]
    k = len(classes)
    hessian = np.zeros((k * (d + 1),) * 2)
    for z, cost, q in zip(Z, c, p, strict=True):
        hessian += C * cost * np.kron(np.diag(q) - np.outer(q, q), np.outer(z, z))
    hessian += np.diag(np.tile(penalty, k))
    value = C * loss + 0.5 * (w[: len(classes), :d] ** 2).sum()
    return value, gradient, hessian, p


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("absent", [None, 2])
@pytest.mark.parametrize("held_out", [-1, 1])
def test_expansion_and_newton_step_of_the_softmax(held_out, absent, kind):
    X, y, weight, fold, w = rows_of(1)
    if absent is not None:
        weight[y == absent] = 0.0
    classes = [k for k in range(4) if k != absent]
    code = np.array([classes.index(k) if k in classes else -1 for k in range(4)], np.int32)
    c = np.where(fold == held_out, 0.0, weight) if held_out >= 0 else weight
    value, gradient, hessian, p = plain_softmax(0.7, X, y, c, w, classes)
    k, size = len(classes), len(classes) * 8
    tiles = tiles_of(X, y, weight, fold, kind=kind)
    g, h = np.zeros((4, 8)), np.zeros(len(X))
    kept = native.LogisticExpansion()
    assert tiles.expand(0.7, held_out, -1, code, w, g, h, kept) == pytest.approx(value, rel=1e-12)
    other, others = native.LogisticExpansion(), (np.zeros((4, 8)), np.zeros(len(X)))
    tiles.expand(0.7, 0, -1, code, 2 * w, *others, other)  # of another thread: changes nothing
    np.testing.assert_allclose(g[:k], gradient, rtol=0, atol=1e-11)
    np.testing.assert_allclose(h, c * (p * (1 - p)).sum(axis=1) / (k - 1), atol=1e-14)
    step = np.zeros((4, 8))
    plain = native.Preconditioner(np.eye(7), 1.0)
    slope, residual, _ = tiles.newton_step(kept, 0.7, plain, g, value, 1e-24, 500, step)
    left = hessian @ step[:k].ravel() + gradient.ravel()
    assert slope == pytest.approx(float(gradient.ravel() @ step[:k].ravel()), rel=1e-9)
    assert np.square(left.reshape(k, 8)[:, :7]).sum() == pytest.approx(residual, rel=1e-9)
    assert residual <= 1e-2 * np.square(gradient).sum()
    assert not step.ravel()[size:].any()


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_float32", [False, True])
def test_expansion_of_the_binary_loss(is_float32, kind):
    X, y, weight, fold, w = rows_of(2)
    tiles = tiles_of(X, y, weight, fold, is_float32, kind)
    g, h = np.zeros((1, 8)), np.zeros(len(X))
    kept = native.LogisticExpansion()
    value = tiles.expand(2.0, 0, 3, np.zeros(0, np.int32), w[:1], g, h, kept)
    empty = native.LogisticExpansion()
    plain = native.Preconditioner(np.eye(7), 1.0)
    with pytest.raises(ValueError, match="no weights were expanded"):
        tiles.newton_step(empty, 2.0, plain, g, value, 0.0, 9, g.copy())
    c, sign = np.where(fold == 0, 0.0, weight), np.where(y == 3, 1.0, -1.0)
    s = X @ w[0, :7] + w[0, 7]
    p = 1.0 / (1.0 + np.exp(sign * s))
    rel = 1e-5 if is_float32 else 1e-12
    expected = 2.0 * (c * np.logaddexp(0, -sign * s)).sum() + 0.5 * (w[0, :7] ** 2).sum()
    assert value == pytest.approx(expected, rel=rel)
    r = -2.0 * c * sign * p
    np.testing.assert_allclose(g[0], np.append(r @ X + w[0, :7], r.sum()), rtol=0, atol=100 * rel)
    np.testing.assert_allclose(h, c * p * (1 - p), rtol=0, atol=rel)


@pytest.mark.kernel
@pytest.mark.parametrize("is_float32", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_lane_has_the_same_bits_alone_and_among_others(kind, is_float32):
    X, y, weight, fold, _ = rows_of(3, n=700)
    tiles = tiles_of(X, y, weight, fold, is_float32, kind)
    tol = 1e-5 if is_float32 else 1e-9

    def solve(held_out):
        lanes = len(held_out)
        weights, results = np.zeros((lanes, 4, 8)), np.zeros((lanes, 5))
        code = np.tile(np.arange(4, dtype=np.int32), (lanes, 1))
        tiles.solve(
            3.0, np.array(held_out, np.int32), np.full(lanes, -1, np.int32), code,
            native.Preconditioner(np.eye(7) / 20, 0.05), np.zeros(lanes), 0.0, tol, 300, 20, 1,
            None, weights, results,
        )  # fmt: skip
        assert (results[:, 1] <= tol * results[:, 0]).all()
        return weights

    together = solve([0, 1, 2, -1])
    for k, held_out in enumerate([0, 1, 2, -1]):
        np.testing.assert_array_equal(together[k], solve([held_out])[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("shape", [(600, 40), (400, 257), (30, 90)])
def test_scores_of_a_lane_do_not_depend_on_its_neighbours(shape, K, kind):
    """A product with the weights of a whole batch sums in an order that its width decides."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), rng.integers(K, size=shape[0]).astype(np.int32)
    rows, fold = as_rows(sp.csr_array(X) if kind == "sparse" else X), y % 2 + y // 2
    classes = {"n_classes": K} if K > 2 else {}
    made = Problem(rows, LOGISTIC, y, None, fold.astype(np.int32), True, Columns(), **classes)
    lanes = [Lane(1.0, TOGETHER if K > 2 else 1, fold=-1) for _ in range(7)]
    tiles = LogisticTiles(made)
    batch = Batch.of(made, lanes, tiles.size)
    batch.weights[:] = rng.normal(size=batch.weights.shape)
    weights, intercept, scores = tiles.scores(batch)
    width = scores.shape[1] // len(lanes)
    for k in range(len(lanes)):
        own = slice(k * width, (k + 1) * width)
        alone = tiles.scores(batch.take(k))
        np.testing.assert_array_equal(weights[:, own], alone[0])
        np.testing.assert_array_equal(intercept[own], alone[1])
        np.testing.assert_array_equal(scores[:, own], alone[2])


@pytest.mark.kernel
def test_preconditioners_of_some_columns_give_the_same_optimum():
    X, y, weight, fold, _ = rows_of(4, n=400)
    X += np.arange(7.0)
    tiles = tiles_of(X, y, weight, fold, kind="sparse")
    gram = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    inverse = np.linalg.inv(np.linalg.cholesky(np.eye(7) + 0.25 * gram)).T
    some = np.array([1, 4, 6], np.int32)
    part = np.linalg.inv(np.linalg.cholesky(np.eye(3) + 0.25 * gram[np.ix_(some, some)])).T
    others = 1.0 / np.sqrt(1.0 + 0.25 * np.diag(gram))
    ends = []
    for made in (
        native.Preconditioner(inverse, 0.1, centre=X.mean(axis=0)),
        native.Preconditioner(part, 0.1, some, others, X.mean(axis=0)),
        native.Preconditioner(inverse, 0.1, np.arange(7, dtype=np.int32), others, X.mean(axis=0)),
    ):
        weights, results = np.zeros((1, 1, 8)), np.zeros((1, 5))
        tiles.solve(
            1.0, np.array([1], np.int32), np.array([2], np.int32), np.zeros((1, 0), np.int32),
            made, np.zeros(1), 0.0, 1e-13, 2000, 20, 1, None, weights, results,
        )  # fmt: skip
        ends.append((weights[0, 0], results[0, 3]))
    for weights, _ in ends[1:]:
        np.testing.assert_allclose(weights, ends[0][0], atol=1e-6)
    assert ends[0][1] == ends[2][1] < ends[1][1]


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
def test_the_full_hessian_of_all_classes_saves_passes_and_keeps_the_optimum(kind):
    X, y, weight, fold, _ = rows_of(7, n=500)
    X *= 10.0 ** np.arange(-2, 5)
    tiles, ends = tiles_of(X, y, weight, fold, kind=kind), []
    code = np.arange(4, dtype=np.int32)[None, :]
    plain = np.zeros((4, 8))
    for basis in (np.eye(7), None):
        if basis is None:
            hessian = plain_softmax(1.0, X, y, np.where(fold == 1, 0.0, weight), plain, range(4))[2]
            hessian += 1e-3 * np.eye(32)
            basis = np.linalg.inv(np.linalg.cholesky(hessian)).T
        weights, results = np.zeros((1, 4, 8)), np.zeros((1, 5))
        tiles.solve(
            1.0, np.array([1], np.int32), np.array([TOGETHER], np.int32), code,
            native.Preconditioner(np.ascontiguousarray(basis), 0.1), np.zeros(1), 0.0, 1e-9, 5000,
            20, 1, None, weights, results,
        )  # fmt: skip
        ends.append((results[0, 0], results[0, 3], results[0, 4]))
    assert ends[1][2] == 1
    assert ends[1][1] < 30 < ends[0][1]
    assert ends[1][0] <= ends[0][0] * (1 + 1e-9)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_on_a_sample_first_saves_passes_and_keeps_the_optimum(kind):
    X, y, weight, fold, _ = rows_of(6, n=20_000)
    tiles, ends = tiles_of(X, y, weight, fold, kind=kind), []
    for step in (1, 8):
        weights, results = np.zeros((2, 1, 8)), np.zeros((2, 5))
        tiles.solve(
            1.0, np.array([1, 2], np.int32), np.array([2, 2], np.int32),
            np.zeros((2, 0), np.int32), native.Preconditioner(np.eye(7) / 20, 0.05), np.zeros(2),
            0.0, 1e-10, 200, 20, step, None, weights, results,
        )  # fmt: skip
        assert results[:, 4].all()
        ends.append((weights, results))
    np.testing.assert_allclose(ends[1][0], ends[0][0], atol=1e-4)
    np.testing.assert_allclose(ends[1][1][:, 0], ends[0][1][:, 0], rtol=1e-10)
    assert (ends[1][1][:, 3] < ends[0][1][:, 3]).all()


@pytest.mark.kernel
@pytest.mark.parametrize(
    "made",
    [
        lambda: native.Preconditioner(np.eye(6), 1.0),
        lambda: native.Preconditioner(np.eye(2), 1.0, np.array([1, 7], np.int32), np.ones(7)),
        lambda: native.Preconditioner(np.eye(2), 1.0, np.array([1, 2], np.int32)),
        lambda: native.Preconditioner(np.eye(7), 1.0, centre=np.ones(3)),
        lambda: native.Preconditioner(np.eye(16), 1.0),
    ],
)
def test_preconditioners_that_do_not_fit_are_refused(made):
    X, y, weight, fold, _ = rows_of(5)
    tiles = tiles_of(X, y, weight, fold, kind="sparse")
    with pytest.raises(ValueError, match="columns do not fit"):
        tiles.solve(
            1.0, np.array([1], np.int32), np.array([2], np.int32), np.zeros((1, 0), np.int32),
            made(), np.zeros(1), 0.0, 1e-9, 9, 20, 1, None, np.zeros((1, 1, 8)), np.zeros((1, 5)),
        )  # fmt: skip


# ------------------------------------------------------------------ fits


def problem_of(seed):
    """Return rows, labels, weights and parameters of a random problem."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(8, 300)), int(rng.integers(1, 30)), int(rng.integers(2, 6))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, size=d)
    X += 10.0 ** rng.integers(0, 3, size=d)
    signal = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.standard_normal((d, K))
    noise = rng.choice([0.0, 1.0, 5.0])  # 0: separable
    y = (signal + noise * rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = np.arange(K)
    weight = rng.integers(1, 4, size=n) * 1.0 if rng.random() < 0.3 else None
    more = {
        "C": 10.0 ** rng.integers(-3, 4),
        "fit_intercept": bool(rng.random() < 0.8),
        "standardize": bool(rng.random() < 0.3),
    }
    return X, y, weight, more


def tight_objective(X, y, weight, C, fit_intercept, scale):
    """Return the optimum of the objective by Newton's method, in standardised coordinates."""
    classes = np.unique(y)
    K, n = len(classes), len(X)
    hot = (y[:, None] == classes) * 1.0
    c = C * (np.ones(n) if weight is None else weight)
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    Z = (X - X.mean(axis=0)) / spread if fit_intercept else X / spread
    Z = np.column_stack([Z, np.ones(n)]) if fit_intercept else Z
    penalty = np.append((scale / spread) ** 2, np.zeros(int(fit_intercept)))
    free = [1] if K == 2 else range(K)  # two classes have one vector, and a half of its penalty

    def expanded(v):
        s = Z @ v.T
        s = np.column_stack([np.zeros(n), s]) if K == 2 else s
        logs = s - np.logaddexp.reduce(s, axis=1)[:, None]
        return -(c[:, None] * hot * logs).sum() + 0.5 * (penalty * v**2).sum(), np.exp(logs)

    v = np.zeros((len(free), Z.shape[1]))
    value, p = expanded(v)
    for _ in range(200):
        q = p[:, free]
        gradient = ((q - hot[:, free]) * c[:, None]).T @ Z + penalty * v
        blocks = [
            [Z.T @ (Z * (c * q[:, k] * ((k == m) - q[:, m]))[:, None]) for m in range(len(free))]
            for k in range(len(free))
        ]
        hessian = np.block(blocks) + np.diag(np.tile(penalty, len(free)))
        step = np.linalg.lstsq(hessian, -gradient.ravel(), rcond=1e-15)[0].reshape(v.shape)
        length, slope = 1.0, float((gradient * step).sum())
        while length > 1e-12 and expanded(v + length * step)[0] > value + 1e-4 * length * slope:
            length /= 2
        v = v + length * step
        new, p = expanded(v)
        if -slope <= 1e-13 * new or length <= 1e-12:
            break
        value = new
    return min(value, new)


def check_fit(seed, *, converges=True, kind=None, **how):
    """Compare a fit with an independent optimum."""
    X, y, weight, more = problem_of(seed)
    scale = np.ones(X.shape[1])
    if kind == "sparse":
        part = 0.6 if seed % 2 else 0.08  # worth spreading, or not
        X = X * (np.random.default_rng(seed).random(X.shape) < part)
        more["standardize"] = False
    rows = sp.csr_array(X) if kind == "sparse" else X
    model = LogisticRegression(**more, **how).fit(rows, y, weight)
    certificate = model.certificate_
    if more["standardize"]:
        scale = model.scale_
    best = tight_objective(X, y, weight, more["C"], more["fit_intercept"], scale)
    assert certificate.converged or not converges
    assert certificate.dual <= best * (1 + 1e-9) + 1e-12
    assert certificate.primal <= best * (1 + 1e-5) + certificate.gap + 1e-9


@pytest.mark.parametrize("seed", first(30, range(300)))
def test_fits_are_within_their_gap_of_an_independent_optimum(seed):
    check_fit(seed)


def rare_indicators(n=6000, K=4):
    """Return standardised rows with indicators of a few rows each, most of them of one class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 12))
    y = (X[:, :K] + rng.gumbel(size=(n, K))).argmax(axis=1)
    for j, count in enumerate((4, 6, 9, 15, 30, 60)):
        X[:, 6 + j] = 0.0
        X[rng.choice(np.flatnonzero(y == j % K), count, replace=False), 6 + j] = 1.0
        X[rng.choice(n, count // 4, replace=False), 6 + j] = 1.0
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rare_indicators_need_few_passes(fit_intercept):
    X, y = rare_indicators()
    model = LogisticRegression(C=10.0, fit_intercept=fit_intercept).fit(X, y)
    best = tight_objective(X, y, None, 10.0, fit_intercept, np.ones(X.shape[1]))
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.dual <= best * (1 + 1e-9)
    assert certificate.primal <= best * (1 + 2e-6)
    assert max(model.evidence_["passes"]) <= 150


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", first(10, range(600, 900)))
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_fits_that_start_with_the_diagonal_of_the_hessian(seed, kind, monkeypatch):
    """It is for costly Hessians: here for all of dense rows, with n >= d."""
    lbfgs = LbfgsOptions(min_hessian_passes=0.0)
    options = CertifiedEstimator._solver_options
    monkeypatch.setattr(
        CertifiedEstimator,
        "_solver_options",
        lambda self: replace(options(self), lbfgs=lbfgs, force="lbfgs"),
    )
    check_fit(seed, converges=False, kind=kind, max_iter=3000)


def correlated(n=2000, d=300, rho=0.0):
    """Return rows of two classes, with d / 10 common factors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + rho * rng.normal(size=(n, d // 10)) @ rng.normal(
        size=(d // 10, d)
    )
    s = X @ rng.normal(size=d)
    return X, (2 * s / s.std() + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize(("rho", "hessians"), [(0.0, 0), (1.0, 1)])
def test_columns_without_correlations_need_no_hessian(rho, hessians, monkeypatch, capfd):
    made, gram = [], LogisticTiles.weighted_gram
    monkeypatch.setattr(
        LogisticTiles, "weighted_gram", lambda self, c: (made.append(1), gram(self, c))[1]
    )
    X, y = correlated(rho=rho)
    certificate = LogisticRegression().fit(X, y).certificate_
    assert certificate.converged
    assert len(made) == hessians
    assert capfd.readouterr() == ("", "")  # LAPACK prints what it refuses


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", first(10, range(300, 600)))
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("solver", ["lbfgs", "newton", "newton_cg", "dual_cd"])
def test_every_solver_forced(solver, kind, seed, monkeypatch):
    use_solvers(monkeypatch, solver)
    many = {"max_iter": 300} if solver == "dual_cd" else {"max_iter": 3000}
    check_fit(seed, converges=solver == "newton", kind=kind, **many)


@pytest.mark.parametrize("seed", first(6, range(40)))
def test_searches_have_the_scores_of_tight_fits(seed):
    X, y, weight, _ = problem_of(1000 + seed)
    y = np.unique(y, return_inverse=True)[1]
    keep = np.isin(y, np.flatnonzero(np.bincount(y) >= 4))
    X, y, weight = X[keep], y[keep], None if weight is None else weight[keep]
    if len(np.unique(y)) < 2:
        pytest.skip("one class is left")
    Cs = [0.01, 1.0, 30.0]
    searches = [
        LogisticRegressionCV(Cs, cv=2, tol=tol, standardize=True).fit(X, y, weight)
        for tol in (None, 1e-9)
    ]
    np.testing.assert_allclose(searches[0].scores_, searches[1].scores_, rtol=5e-2, atol=1e-3)


def test_starts_on_the_line_through_two_solutions_save_passes(monkeypatch):
    """Classes that can be separated: weights grow with log C. A class that a fold lacks stays."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 40)), rng.integers(5, size=600)
    X[:, :5] += 3 * np.eye(5)[y]
    found, tight = (
        LogisticRegressionCV(Cs=np.logspace(-2, 4, 7), **given).fit(X, y)
        for given in ({}, {"tol": 1e-8})
    )
    monkeypatch.setattr(Start, "beyond", lambda start, before, step: start)
    plain = LogisticRegressionCV(Cs=np.logspace(-2, 4, 7)).fit(X, y)
    assert found.n_iter_[..., -3:].sum() < 0.8 * plain.n_iter_[..., -3:].sum()
    assert found.C_ == tight.C_
    np.testing.assert_allclose(found.scores_[..., :4], tight.scores_[..., :4], rtol=0.02)


def test_starts_beyond_a_solution():
    solutions = [
        CertifiedSolution(np.full((2, 2), w), np.array([w, -np.inf]), none, [], none, 2)
        for w, none in ((1.0, np.empty((0, 2))), (3.0, np.empty((0, 2))))
    ]
    made = Start.after(solutions[1], 10.0).beyond(solutions[0], 0.5)
    np.testing.assert_array_equal(made.weights, np.full((2, 2), 4.0))
    np.testing.assert_array_equal(made.intercept, [4.0, -np.inf])


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("passes", [6, 300])  # 6: some lanes go on alone
def test_searches_have_the_same_bits_on_any_number_of_threads(kind, K, passes, monkeypatch):
    monkeypatch.setattr("separable.certified.solvers.lbfgs.SEARCH_FALLBACK_PASSES", passes)
    rng = np.random.default_rng(K)
    part = 0.1 if kind == "sparse" else 1.0
    X = rng.standard_normal((2000, 30)) * (rng.random((2000, 30)) < part)
    y = (X @ rng.standard_normal((30, K)) + rng.gumbel(size=(2000, K))).argmax(axis=1)
    rows = sp.csr_array(X) if kind == "sparse" else X
    first, *others = (
        LogisticRegressionCV([0.01, 1.0, 100.0], cv=5, n_jobs=n_jobs).fit(rows, y)
        for n_jobs in (1, 2, 3)
    )
    assert first.n_iter_.min() == 6 < first.n_iter_.max()
    for other in others:
        np.testing.assert_array_equal(other.coefs_paths_, first.coefs_paths_)
        np.testing.assert_array_equal(other.scores_, first.scores_)
        np.testing.assert_array_equal(other.coef_, first.coef_)


def test_text_beside_a_few_numbers_stays_in_lanes():
    rng = np.random.default_rng(0)
    n, d = 600, 3000
    words = sp.random_array((n, d), density=0.01, rng=rng, format="csr")
    text = sp.csr_array(sp.diags_array(1.0 / np.sqrt(words.multiply(words).sum(axis=1))) @ words)
    numbers = rng.random((n, 3)) * [1.0, 10.0, 100.0]
    y = (text @ rng.standard_normal(d) + 0.02 * numbers[:, 2] > 1.0).astype(int)
    solvers = {
        name: LogisticRegression().fit(rows, y).evidence_["engine"]
        for name, rows in {"text": text, "both": sp.csr_array(sp.hstack([text, numbers]))}.items()
    }
    assert solvers == {"text": "descent", "both": "lbfgs"}
