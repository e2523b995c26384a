"""The loops of the three decks, typed from the slides, against the learners, weight for weight.

Rows are whole numbers, so every sum is exact and weights are compared without tolerance. They bring
scores of exactly 0 again and again, on which the decks disagree.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from separable import (
    AveragedPerceptron,
    BatchPerceptron,
    Perceptron,
    SGDClassifier,
    VotedPerceptron,
    WidrowHoff,
)

pytestmark = pytest.mark.native

EPOCHS = 12
SETS = 40


def random_set(seed, n=None):
    """Whole numbers, about half of the sets separable, y = -1 or +1 with both present."""
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(4, 16)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    s = X @ rng.integers(-2, 3, size=d) if seed % 2 else rng.integers(-1, 2, size=n)
    y = np.where(s > 0, 1, -1)
    y[:2] = 1, -1
    return X, y


def with_bias(X):
    """x0 = 1."""
    return np.hstack([np.ones((len(X), 1)), X])


# ---------------------------------------------------------------- the slides


def deck_a(X, y):
    """Deck A, "perceptron reimplementation in NumPy"."""
    w = np.zeros(X.shape[1])
    for _ in range(EPOCHS):
        for x, label in zip(X, y, strict=True):
            score = w.dot(x)
            if score <= 0 and label == 1:
                w += x
            elif score >= 0 and label == -1:
                w -= x
    return w


def deck_b(X, y, alpha, sign_of_zero=-1):
    """Deck B, "while not done": sign(r) is +1 if r > 0, -1 otherwise."""
    theta = np.zeros(X.shape[1])
    for _ in range(EPOCHS):
        for x, label in zip(X, y, strict=True):
            r = theta.dot(x)
            y_hat = sign_of_zero if r == 0 else np.sign(r)
            theta = theta + alpha * (label - y_hat) * x
    return theta


def deck_c_first(X, y):
    """Deck C, "The Perceptron": sign(z) is 1 if z >= 0; theta_j -= (h(x) - y) x_j / 2."""
    theta = np.zeros(X.shape[1])
    for _ in range(EPOCHS):
        for x, label in zip(X, y, strict=True):
            h = 1 if theta.dot(x) >= 0 else -1
            theta = theta - 0.5 * (h - label) * x
    return theta


def deck_c_online(X, y):
    """Deck C, "Online Perceptron", and every theta on the way."""
    theta, thetas = np.zeros(X.shape[1]), []
    for _ in range(EPOCHS):
        before = theta
        for x, label in zip(X, y, strict=True):
            if label * theta.dot(x) <= 0:
                theta = theta + label * x
            thetas.append(theta)
        if theta is before:
            break
    return theta, np.array(thetas)


def deck_c_batch(X, y, eps):
    """Deck C, "Batch Perceptron"; |Delta| of each epoch."""
    theta, lengths = np.zeros(X.shape[1]), []
    for _ in range(EPOCHS):
        delta = np.zeros(X.shape[1])
        for x, label in zip(X, y, strict=True):
            if label * theta.dot(x) <= 0:
                delta = delta + label * x
        delta = delta / len(X)
        theta = theta + delta
        lengths.append(np.linalg.norm(delta))
        if lengths[-1] < eps or not delta.any():
            break
    return theta, lengths


# ---------------------------------------------------------------- the learners


def fitted(learner, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not all sets are separable
        return learner.fit(X, y, **given)


def online(ties, eta0=1.0, fit_intercept=False):
    return Perceptron(
        ties=ties, eta0=eta0, fit_intercept=fit_intercept, shuffle=False, max_iter=EPOCHS
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
def test_deck_a(form):
    for seed in range(SETS):
        X, y = random_set(seed)
        ours = fitted(online("mistake"), form(X), y)
        np.testing.assert_array_equal(ours.coef_[0], deck_a(X, y), err_msg=str(seed))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_deck_b(form, alpha):
    for seed in range(SETS):
        X, y = random_set(seed)
        ours = fitted(online("negative", eta0=2 * alpha), form(X), y)
        np.testing.assert_array_equal(ours.coef_[0], deck_b(X, y, alpha), err_msg=str(seed))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
def test_deck_c_first_form(form):
    for seed in range(SETS):
        X, y = random_set(seed)
        ours = fitted(online("positive", fit_intercept=True), form(X), y)
        theta = deck_c_first(with_bias(X), y)
        np.testing.assert_array_equal([*ours.intercept_, *ours.coef_[0]], theta, err_msg=str(seed))


def test_deck_c_online_averaged_and_voted():
    for seed in range(SETS):
        X, y = random_set(seed)
        theta, thetas = deck_c_online(with_bias(X), y)
        ours = fitted(online("mistake", fit_intercept=True), X, y)
        np.testing.assert_array_equal([*ours.intercept_, *ours.coef_[0]], theta)
        mean = AveragedPerceptron(shuffle=False, max_iter=EPOCHS).fit(X, y)
        np.testing.assert_allclose(
            [*mean.intercept_, *mean.coef_[0]], thetas.mean(axis=0), atol=1e-12
        )
        votes = VotedPerceptron(shuffle=False, max_iter=EPOCHS).fit(X, y)
        expected = np.sign(with_bias(X) @ thetas.T).sum(axis=1)
        np.testing.assert_array_equal(votes.decision_function(X), expected)


@pytest.mark.parametrize("eps", [1e-9, 0.3])
def test_deck_c_batch(eps):
    stopped_by_eps = 0
    for seed in range(SETS):
        X, y = random_set(seed, n=8)  # a division by 8 is exact
        theta, lengths = deck_c_batch(with_bias(X), y, eps)
        ours = fitted(BatchPerceptron(eps=eps, max_iter=EPOCHS), X, y)
        result = ours.evidence_
        np.testing.assert_allclose([*ours.intercept_, *ours.coef_[0]], theta, atol=1e-12)
        assert result["epochs"] == len(lengths)
        mistakes = int((y * (with_bias(X) @ theta) <= 0).sum())
        assert result["training_mistakes"] == mistakes
        if result["converged"]:
            assert mistakes == 0
        if result["stopped_by"] == "eps":
            stopped_by_eps += 1
            assert lengths[-1] < eps
            assert result["mistakes"][-1] > 0
            assert not result["converged"]
    assert eps < 0.1 or stopped_by_eps > 3


def test_the_rule_of_deck_b_is_not_that_of_deck_a():
    # the claim that was on the page: the same direction up to the length
    directions = {"mistake": 0, "negative": 0, "positive": 0}
    for seed in range(1, 2 * SETS, 2):
        X, y = random_set(seed)
        theta = deck_b(X, y, 0.5)
        for ties in directions:
            w = fitted(online(ties), X, y).coef_[0]
            length = np.linalg.norm(w) * np.linalg.norm(theta)
            directions[ties] += not np.isclose(w @ theta, length, rtol=1e-12)
    assert directions["negative"] == 0
    assert min(directions["mistake"], directions["positive"]) > SETS / 4


def test_signs_of_zero_that_are_zero_are_no_rule_of_ours():
    # numpy.sign(0) = 0 makes half a step there: the page says sign(0) = -1 for deck B
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([-1, 1])
    np.testing.assert_array_equal(deck_b(X, y, 1.0), [0, 2])
    np.testing.assert_array_equal(fitted(online("negative", 2.0), X, y).coef_, [[0, 2]])
    np.testing.assert_array_equal(fitted(online("mistake"), X, y).coef_, [[-1, 1]])


# ---------------------------------------------------------------- the same rule elsewhere

RULES = {"mistake": lambda s, y: y * s <= 0, "negative": None, "positive": None}
RULES["negative"] = lambda s, y: (s > 0) != (y > 0)
RULES["positive"] = lambda s, y: (s >= 0) != (y > 0)


def loop(X, y, ties, weight=None, epochs=EPOCHS):
    """One presentation at a time; a weight k + f is k presentations and one of size f."""
    theta, thetas, mistaken = np.zeros(X.shape[1]), [], RULES[ties]
    for _ in range(epochs):
        made = 0
        for i in range(len(X)):
            c = 1.0 if weight is None else weight[i]
            for size in [1.0] * int(c) + ([c % 1] if c % 1 else []):
                if mistaken(X[i] @ theta, y[i]):
                    theta = theta + size * y[i] * X[i]
                    made += 1
                thetas.append(theta)
        if made == 0:
            break
    return theta, np.array(thetas)


@pytest.mark.parametrize("ties", RULES)
def test_weights_means_and_votes_follow_the_tie_rule(ties):
    for seed in range(SETS):
        X, y = random_set(seed)
        weight = np.random.default_rng(seed).choice([0.5, 1, 2, 3.25, 6], size=len(X))
        theta, thetas = loop(with_bias(X), y, ties, weight)
        given = {"shuffle": False, "max_iter": EPOCHS, "ties": ties}
        ours = fitted(Perceptron(**given), X, y, sample_weight=weight)
        np.testing.assert_array_equal([*ours.intercept_, *ours.coef_[0]], theta)
        mean = AveragedPerceptron(**given).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(
            [*mean.intercept_, *mean.coef_[0]], thetas.mean(axis=0), atol=1e-12
        )
        votes = VotedPerceptron(**given).fit(X, y, sample_weight=weight)
        expected = np.sign(with_bias(X) @ thetas.T).sum(axis=1)
        np.testing.assert_array_equal(votes.decision_function(X), expected)


@pytest.mark.parametrize("ties", RULES)
def test_three_classes_each_against_the_rest(ties):
    for seed in range(4):
        X, _ = random_set(seed)
        label = np.arange(len(X)) % 3
        ours = fitted(Perceptron(shuffle=False, max_iter=EPOCHS, ties=ties), X, label)
        stream = Perceptron(ties=ties)
        for _ in range(EPOCHS):
            for i in range(len(X)):
                stream.partial_fit(X[i : i + 1], label[i : i + 1], classes=[0, 1, 2])
        for k in range(3):
            theta, _ = loop(with_bias(X), np.where(label == k, 1, -1), ties)
            np.testing.assert_array_equal(stream.coef_[k], theta[1:])
            if ours.evidence_["epochs"] == EPOCHS:
                np.testing.assert_array_equal([ours.intercept_[k], *ours.coef_[k]], theta)


@pytest.mark.parametrize("ties", RULES)
def test_the_batch_perceptron_follows_the_tie_rule(ties):
    for seed in range(SETS):
        X, y = random_set(seed, n=8)
        Z, theta = with_bias(X), np.zeros(X.shape[1] + 1)
        for _ in range(EPOCHS):
            wrong = RULES[ties](Z @ theta, y)
            theta = theta + (y[wrong] @ Z[wrong]) / len(Z)
        ours = fitted(BatchPerceptron(ties=ties, max_iter=EPOCHS), X, y)
        np.testing.assert_allclose([*ours.intercept_, *ours.coef_[0]], theta, atol=1e-12)
        result = ours.evidence_
        assert result["training_mistakes"] == RULES[ties](Z @ theta, y).sum()


@pytest.mark.parametrize("ties", RULES)
def test_the_pocket_counts_by_the_tie_rule(ties):
    for seed in range(SETS):
        X, y = random_set(seed)
        _, thetas = loop(with_bias(X), y, ties)
        thetas = np.vstack([np.zeros(thetas.shape[1]), thetas])
        fewest = min(int(RULES[ties](with_bias(X) @ theta, y).sum()) for theta in thetas)
        learner = Perceptron(ties=ties, shuffle=False, max_iter=EPOCHS, pocket=True)
        assert fitted(learner, X, y).evidence_["pocket_mistakes"] == [fewest], seed


@pytest.mark.parametrize("ties", RULES)
def test_evidence_by_the_tie_rule(ties):
    with_ties = 0
    for seed in range(1, 2 * SETS, 2):
        X, y = random_set(seed)
        ours = fitted(Perceptron(ties=ties, shuffle=False, max_iter=300), X, y)
        s, result = X @ ours.coef_[0] + ours.intercept_[0], ours.evidence_
        assert result["training_mistakes"] == RULES[ties](s, y).sum()
        assert result["tied_rows"] == (s == 0).sum()
        assert result["converged"] == (result["stopped_by"] == "no mistakes")
        if result["converged"]:
            with_ties += result["tied_rows"] > 0
            assert result["training_mistakes"] == 0
            assert (result["bound"] is None) == (result["tied_rows"] > 0)
            assert not np.signbit(result["margin"])
            assert result["bound"] is None or result["updates"] <= result["bound"]
        else:
            assert result["stopped_by"] == "max_iter"
    assert (with_ties > 0) == (ties != "mistake")


def test_predict_disagrees_with_ties_that_are_positive_and_a_warning_says_so():
    X, y = [[1, 0], [0, 1]], [0, 1]
    learner = Perceptron(shuffle=False, fit_intercept=False, ties="positive")
    with pytest.warns(UserWarning, match="1 of 2 training rows have that score"):
        learner.fit(X, y)
    assert learner.predict(X).tolist() == [0, 0]


def test_what_makes_no_sense_is_refused():
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 2]
    for learner in (Perceptron, AveragedPerceptron):
        with pytest.raises(ValueError, match="'mistake' with multi_class='argmax'"):
            learner(ties="negative", multi_class="argmax").fit(X, y)
    with pytest.raises(ValueError, match="'mistake' with multi_class='argmax'"):
        Perceptron(ties="negative", multi_class="argmax").partial_fit(X, y)
    with pytest.raises(ValueError, match="Give classes="):
        VotedPerceptron(ties="positive").partial_fit(X, y)
    with pytest.raises(ValueError, match="must be 'mistake' or 'negative' or 'positive'"):
        BatchPerceptron(ties="zero").fit(X, y)


def test_a_stream_with_a_tie_rule_goes_on_from_a_file(tmp_path):
    from separable import load

    X, y = random_set(7)
    parts = [slice(0, 3), slice(3, None)]
    whole = Perceptron(ties="negative")
    for part in parts:
        whole.partial_fit(X[part], y[part], classes=[-1, 1])
    first = Perceptron(ties="negative").partial_fit(X[parts[0]], y[parts[0]], classes=[-1, 1])
    first.model_.save(tmp_path / "half.safetensors", include_state=True)
    second = Perceptron.from_model(load(tmp_path / "half.safetensors"))
    assert second.ties == "negative"
    second.partial_fit(X[parts[1]], y[parts[1]])
    np.testing.assert_array_equal(second.coef_, whole.coef_)


# ---------------------------------------------------------------- other loops of the decks


def test_deck_a_widrow_hoff():
    for seed in range(SETS):
        X, y = random_set(seed)
        w = np.zeros(X.shape[1])
        for _ in range(3):
            for x, target in zip(X, y, strict=True):
                error = w.dot(x) - target
                w = w - 2.0**-5 * error * x
        learner = WidrowHoff(
            eta0=2.0**-5, fit_intercept=False, shuffle=False, max_iter=3, tol=None
        ).fit(X, y)
        np.testing.assert_allclose(learner.coef_, w, rtol=1e-12, atol=1e-14)


def test_deck_b_descent_on_the_smooth_loss():
    for seed in range(SETS // 3):
        X, y = random_set(seed)
        theta, t = np.zeros(X.shape[1]), (y + 1) / 2
        for _ in range(3):
            for x, target in zip(X, t, strict=True):
                sigma = 1 / (1 + np.exp(-theta.dot(x)))
                theta = theta + 0.1 * 2 * (target - sigma) * sigma * (1 - sigma) * x
        learner = SGDClassifier(
            "sigmoid_mse",
            penalty=None,
            learning_rate="constant",
            eta0=0.1,
            fit_intercept=False,
            shuffle=False,
            max_iter=3,
            tol=None,
        )
        np.testing.assert_allclose(fitted(learner, X, y).coef_[0], theta, rtol=1e-10, atol=1e-12)
