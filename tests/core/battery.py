"""Train one small model of every kind, for comparison between CPU levels.

As a program it writes the results to the ``.npz`` file named on its command line, under the CPU
level that ``SEPARABLE_CPU`` forces.
"""

from __future__ import annotations

import itertools
import sys
import warnings

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from separable import (
    LDA,
    AveragedPerceptron,
    BatchPerceptron,
    ElasticNet,
    Lasso,
    LinearGaussianNB,
    LinearSVM,
    LinearSVR,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    VotedPerceptron,
    WidrowHoff,
)
from separable._core import native, portable
from separable.data.rows import as_rows
from separable.model.predict.probability import sigmoid, softplus
from separable.model.predict.scores import linear_scores

N, PAIRS = 90, 18
MANY = np.arange(0, 14_001, 20)  # where rows of twenty values begin
D = 2 * PAIRS + 1  # no multiple of a register, so that every loop has a rest
FORMATS = ("dense", "csr32", "csr64")
CLASSES = (2, 5, 20)  # one model, one block of lanes, several blocks
#: Starting weights this large leave scores whose sign rounding decides.
LARGE = {"float32": 1e6, "float64": 1e15}
LEARNERS = {
    "perceptron": lambda: Perceptron(max_iter=4),
    "pocket": lambda: Perceptron(max_iter=4, pocket=True),
    "argmax": lambda: Perceptron(max_iter=4, multi_class="argmax"),
    "averaged": lambda: AveragedPerceptron(max_iter=4, eta0=0.3),
    "averaged argmax": lambda: AveragedPerceptron(max_iter=4, multi_class="argmax"),
    "voted": lambda: VotedPerceptron(max_iter=4, eta0=0.3),
    "voted, capped": lambda: VotedPerceptron(max_iter=4, max_voters=9),
    "batch": lambda: BatchPerceptron(max_iter=4),
}
FOUR = {"max_iter": 4, "tol": None}
CONSTANT = {"learning_rate": "constant", **FOUR}
#: Of SGD: every loss, and every schedule and penalty, but not all of them together.
DESCENTS = {
    "log loss, adaptive": lambda: SGDClassifier("log_loss", **FOUR),
    "hinge, adaptive": lambda: SGDClassifier("hinge", **FOUR),
    "log loss, adaptive, l1": lambda: SGDClassifier("log_loss", penalty="l1", **FOUR),
    "hinge, adaptive, mean": lambda: SGDClassifier("hinge", average=True, **FOUR),
    "sigmoid, adaptive, l2": lambda: SGDClassifier("sigmoid_mse", penalty="l2", **FOUR),
    "squared hinge, adaptive": lambda: SGDClassifier("squared_hinge", **FOUR),
    "log loss, constant": lambda: SGDClassifier("log_loss", **CONSTANT),
    "hinge, constant, l1": lambda: SGDClassifier("hinge", penalty="l1", **CONSTANT),
    "log loss, constant, mean": lambda: SGDClassifier(
        "log_loss", penalty="l2", average=True, **CONSTANT
    ),
}


def make_dense(dtype: str, sparse: bool) -> np.ndarray:
    """Return rows with PAIRS pairs of equal columns, made without a function of the CPU's own."""
    rng = np.random.default_rng(7)
    half = rng.random((N, PAIRS)) - 0.5
    if sparse:
        half[rng.random((N, PAIRS)) < 0.4] = 0
        half[3] = 0  # an almost empty row
    return np.hstack([half, half, np.full((N, 1), 0.25)]).astype(dtype)


def make_start(dtype: str, models: int) -> np.ndarray:
    """Return weights under which each pair of columns cancels, up to rounding."""
    half = LARGE[dtype] * (np.random.default_rng(9).random((models, PAIRS)) - 0.5)
    return np.hstack([half, -half, np.zeros((models, 1))]).astype(dtype)


def make_rows(form: str, dtype: str) -> np.ndarray | csr_array:
    """Return the rows in one of FORMATS."""
    X = make_dense(dtype, sparse=form != "dense")
    if form == "dense":
        return X
    csr = csr_array(X)
    index = np.int32 if form == "csr32" else np.int64
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    return csr


def what_was_learned(learner, X) -> np.ndarray:
    """Return weights and intercepts, or the votes at X of a learner that has no weights."""
    if isinstance(learner, VotedPerceptron):
        return learner.decision_function(X)
    return np.column_stack([learner.coef_, learner.intercept_])


def train_all() -> dict[str, np.ndarray]:
    """Return weights and intercepts, or votes, and mistakes of every combination, by name."""
    rng = np.random.default_rng(8)
    weight = np.round(rng.random(N) * 12) / 4
    result = {}
    for form, dtype, k in itertools.product(FORMATS, ("float32", "float64"), CLASSES):
        X, y = make_rows(form, dtype), rng.permutation(np.arange(N) % k)
        start = make_start(dtype, 1 if k == 2 else k)
        for name, make in LEARNERS.items():
            for weighted in (False, True):
                learner = make().fit(
                    X, y, coef_init=start, sample_weight=weight if weighted else None
                )
                key = f"{name}, {form}, {dtype}, {k} classes, weights {weighted}"
                result[key] = what_was_learned(learner, X)
                result[key + ", mistakes"] = np.array(learner.evidence_["mistakes"])
    result |= score_all() | descend_all(weight) | discriminate_all(weight) | certify_all(weight)
    return result | regress_all(weight) | sum_all(weight)


def score_all() -> dict[str, np.ndarray]:
    """Return scores, probabilities and their logarithms, by name."""
    result = {}
    for form, dtype, k in itertools.product(FORMATS, LARGE, (1, 3, 5, 20)):
        start = make_start(dtype, k).astype(np.float64)
        scores = linear_scores(as_rows(make_rows(form, dtype)), start, np.zeros(k))
        probabilities, logs = scores.copy(), scores / LARGE[dtype]
        native.softmax(probabilities)
        native.log_softmax(logs)
        both = np.column_stack([scores, probabilities, logs, sigmoid(scores), softplus(scores)])
        result[f"scores, {form}, {dtype}, {k} classes"] = both
    return result


def descend_all(weight: np.ndarray) -> dict[str, np.ndarray]:
    """Return what SGD learns of classes, by name."""
    result = {}
    for form, dtype, k in itertools.product(FORMATS, LARGE, CLASSES):
        X, y = make_rows(form, dtype), np.random.default_rng(k).permutation(np.arange(N) % k)
        for (name, make), weighted in itertools.product(DESCENTS.items(), (False, True)):
            learner = make().fit(X, y, sample_weight=weight if weighted else None)
            key = f"{name}, {form}, {dtype}, {k} classes, weights {weighted}"
            result[key] = np.column_stack([learner.coef_, learner.intercept_])
            result[key + ", losses"] = np.array(learner.evidence_["losses"])
    return result


def certify_all(weight: np.ndarray) -> dict[str, np.ndarray]:
    """Return what certified learners learn, by name: with few columns, and by passes with many."""
    result = {}
    learners = {
        "logistic": LogisticRegression(),
        "hinge": LinearSVM(),
        "squared hinge": LinearSVM(loss="squared_hinge"),
        "insensitive": LinearSVR(epsilon=0.1),
        "lasso": Lasso(0.01),
        "elastic net": ElasticNet(0.01, positive=True),
    }
    for form, dtype, k in itertools.product(FORMATS, LARGE, (2, 5)):
        X, y = make_rows(form, dtype), np.random.default_rng(k).permutation(np.arange(N) % k)
        for name, learner in learners.items():
            learner.fit(X, y, sample_weight=weight)
            result[f"{name}, {form}, {dtype}, {k} classes"] = certified(learner)
    rng = np.random.default_rng(11)
    X = csr_array((rng.random((700, 20)).ravel(), rng.integers(0, 1600, 14_000), MANY), (700, 1600))
    y = rng.random(700)
    for (name, learner), k in itertools.product(learners.items(), (2, 5)):
        numbers = name in ("insensitive", "lasso", "elastic net")
        target = y if numbers else (k * y).astype(int)
        learner.set_params(tol=1e-2).fit(X, target)
        result[f"{name}, passes, {k} classes"] = certified(learner)
    return result


def certified(learner) -> np.ndarray:
    """Return weights, intercepts and gaps."""
    gaps = [one.gap for one in learner.certificates_]
    return np.concatenate([learner.coef_.ravel(), np.ravel(learner.intercept_), gaps])


def discriminate_all(weight: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is learned of classes from sums, by name."""
    result = {}
    learners = {"LDA": LDA(shrinkage=0.1), "linear Gaussian": LinearGaussianNB()}
    for form, dtype, k in itertools.product(FORMATS, LARGE, CLASSES):
        X, y = make_rows(form, dtype), np.random.default_rng(k).permutation(np.arange(N) % k)
        for (name, learner), weighted in itertools.product(learners.items(), (False, True)):
            learner.fit(X, y, sample_weight=weight if weighted else None)
            key = f"{name}, {form}, {dtype}, {k} classes, weights {weighted}"
            result[key] = np.column_stack([learner.coef_, learner.intercept_])
    return result


def regress_all(weight: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the regressors learn, by name."""
    y = np.random.default_rng(9).random(N)
    result = {}
    for form, dtype, weighted in itertools.product(FORMATS, LARGE, (False, True)):
        learner = WidrowHoff(max_iter=4, tol=None)
        learner.fit(make_rows(form, dtype), y, sample_weight=weight if weighted else None)
        key = f"Widrow-Hoff, {form}, {dtype}, weights {weighted}"
        result[key] = np.append(learner.coef_, learner.intercept_)
        result[key + ", errors"] = np.array(learner.evidence_["mean_squared_error"])
        for loss in ("squared_error", "huber", "epsilon_insensitive"):
            epsilon = {} if loss == "squared_error" else {"epsilon": 0.2}
            descent = SGDRegressor(loss, **epsilon, max_iter=4, tol=None)
            descent.fit(make_rows(form, dtype), y, sample_weight=weight if weighted else None)
            key = f"SGD, {loss}, {form}, {dtype}, weights {weighted}"
            result[key] = np.append(descent.coef_, descent.intercept_)
    return result


def sum_all(weight: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the kernels of the moments make of rows; BLAS has its own order of sums."""
    rng = np.random.default_rng(10)
    group = rng.integers(0, 3, N).astype(np.int32)
    column_index = np.arange(D) % 5 - 1
    z = rng.random((N, 2)) - 0.5
    result = {}
    for form, dtype, weighted in itertools.product(FORMATS, LARGE, (False, True)):
        rows = as_rows(make_rows(form, dtype))
        core = portable.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)
        w = weight if weighted else None
        total = np.bincount(group, w, 3).astype(float)
        made = {
            "sums": np.zeros((3, D)),
            "counts": np.zeros((3, D)),
            "squares": np.zeros((3, D)),
            "about": np.zeros(D),
            "gaps": np.zeros((3, D)),
            "spread": np.zeros((N, 4)),
            "products": np.zeros((4, 4)),
            "cross": np.zeros((4, 2)),
            "gradient": np.zeros(D),
            "residuals": np.zeros(N),
        }
        native.group_sums(core, 0, N, group, w, None, made["sums"])
        native.group_sums(core, 0, N, group, w, 0.1, made["counts"])
        native.column_squares(core, 0, N, w, *made["squares"])
        mean = made["sums"] / total[:, None]
        native.squares_about(core, 0, N, group, w, total, mean, made["about"], made["gaps"])
        native.spread_columns(core, 0, N, column_index, made["spread"])
        native.add_products(core, 0, N, w, column_index, made["products"], z, made["cross"])
        made["totals"] = np.array(
            native.residual_sums(
                core, z[:, 0].copy(), w, mean[0], 1e-17 * mean[1], 0.3, 1e-18, mean[2],
                made["gradient"], made["residuals"],
            )
        )  # fmt: skip
        if form == "dense":
            made |= {"means": np.zeros((3, D)), "largest": np.zeros(D), "rows": np.zeros((N, D))}
            native.centre_rows(
                core, 0, N, group, w, total, mean[0], np.full(D, 0.5),
                made["means"], made["largest"], made["rows"], 0,
            )  # fmt: skip
            made |= {"offset": np.zeros((1, D + 2)), "scatter": np.eye(D + 2)}
            made["added"] = np.array(
                native.add_dense_blocks(
                    core, z, w, None, 0, N, 50, np.zeros(D + 2), np.full(D + 2, 0.5), 1.0,
                    made["offset"], made["scatter"],
                )
            )  # fmt: skip
        key = f"moments, {form}, {dtype}, weights {weighted}"
        result |= {f"{key}, {name}": array for name, array in made.items()}
    return result


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    np.savez(sys.argv[1], **train_all())
