"""Three classes and more: joint, pairs and one against the rest, against a linear program."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_digits, load_iris, load_wine

from separable import LogisticRegression
from separable.geometry import SeparationError, Verdicts, joint_verdict, margins, separability
from separable.geometry.search import facial_reduction
from separable.model.linear_model import LinearModel

#: Seeds of an ordinary run, and those that a long one adds.
SEEDS = [
    pytest.param(range(14, 24), id="some"),  # of all kinds, with an intercept and without
    pytest.param([*range(14), *range(24, 40)], id="others", marks=pytest.mark.long),
]


def kind_by_program(X, y, fit_intercept=True):
    """Return the kind that a linear program over weights of all classes finds."""
    classes, label = np.unique(y, return_inverse=True)
    K, wide = len(classes), np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    vectors = []
    for x, own in zip(wide, label, strict=True):
        for other in set(range(K)) - {own}:
            vector = np.zeros((K, wide.shape[1]))
            vector[own], vector[other] = x, -x
            vectors.append(vector.ravel())
    Z = np.array(vectors)
    m, D = Z.shape  # maximise sum t, t_i <= z_i.u, 0 <= t <= 1
    result = linprog(
        np.append(np.zeros(D), -np.ones(m)),
        A_ub=np.hstack([-Z, np.eye(m)]),
        b_ub=np.zeros(m),
        bounds=[(None, None)] * D + [(0, 1)] * m,
        method="highs",
    )
    total = -result.fun
    return "separable" if total > m - 1e-6 else "overlap" if total < 1e-6 else "quasi-separable"


def generated(seed):
    """Return small sets of whole numbers, of all kinds."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(6, 25)), int(rng.integers(1, 4)), int(rng.integers(3, 5))
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    score = X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)) * rng.choice([0.0, 0.3, 3.0])
    y = score.argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_as_a_linear_program_says(fit_intercept, seeds):
    kinds = []
    for seed in seeds:
        X, y = generated(seed)
        verdict = separability(X, y, fit_intercept=fit_intercept)
        assert verdict.kind == kind_by_program(X, y, fit_intercept), seed
        assert verdict.verify(X, y), seed
        assert verdict.verify(X, y, exact=True), seed
        kinds.append(verdict.kind)
    assert {"separable", "quasi-separable", "overlap"} == set(kinds)


@pytest.mark.parametrize(
    "seeds",
    [range(14, 17), pytest.param(range(12), marks=pytest.mark.long)],
    ids=["some", "others"],
)
@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, lambda X: X.astype(np.float32)])
def test_any_format(form, seeds):
    for seed in seeds:
        X, y = generated(seed)
        verdict = separability(form(X), y)
        assert verdict.kind == separability(X, y).kind
        assert verdict.verify(form(X), y)


@pytest.mark.slow
def test_iris_wine_digits():
    X, y = load_iris(return_X_y=True)
    joint = separability(X, y)
    assert joint.kind == "quasi-separable"
    assert joint.separable is False
    assert joint.verify(X, y, exact=True)
    for load in (load_wine, load_digits):
        X, y = (each[:500] for each in load(return_X_y=True))
        verdict = separability(X, y)
        assert verdict.separable
        assert verdict.verify(X, y)
        assert 0 < verdict.margin <= verdict.margin_bound


def test_margins_of_the_proof_are_those_of_its_weights():
    X, y = load_wine(return_X_y=True)
    proof = separability(X, y).proof
    model = LinearModel(proof.weights, proof.intercept, [0, 1, 2], "score")
    result = margins(model, X, y)
    np.testing.assert_allclose(result.distances, proof.margins, rtol=1e-6)
    assert result.smallest == pytest.approx(proof.margin, rel=1e-6)


def test_changed_proofs_and_other_data_are_refused():
    for seed in range(15):
        X, y = generated(seed)
        verdict = separability(X, y)
        proof = verdict.proof
        assert not verdict.verify(X, np.roll(y, 1) if (np.roll(y, 1) != y).any() else y[::-1])
        assert not verdict.verify(X[:-1], y[:-1])
        if verdict.kind == "overlap":
            changed = replace(
                proof, multipliers=proof.multipliers * np.linspace(1, 2, len(proof.rows))
            )
            assert not replace(verdict, proof=changed).verify(X, y)
            assert not replace(verdict, proof=replace(proof, rank=proof.rank + 1)).verify(X, y)
            own = np.column_stack([proof.rows[:, 0], y[proof.rows[:, 0]]])
            assert not replace(verdict, proof=replace(proof, rows=own)).verify(X, y)
        else:
            assert not replace(verdict, proof=replace(proof, weights=-proof.weights)).verify(X, y)
        if verdict.kind == "separable":
            larger = replace(proof, margin_bound=proof.margin_bound / 2)
            assert not replace(verdict, proof=larger).verify(X, y)
            larger = replace(proof, margin=proof.margin * 2)
            assert not replace(verdict, proof=larger).verify(X, y)


def test_pairs_may_be_separable_where_all_together_are_not():
    angle = np.arange(6) * np.pi / 3
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.array([0, 1, 2, 0, 1, 2])  # opposite points are of one class
    every = separability(X, y, multi_class="pairs")
    assert every.separable is False
    X, y = load_iris(return_X_y=True)
    each = separability(X, y, multi_class="ovr")
    assert [each[k].kind for k in range(3)] == ["separable", "overlap", "overlap"]


def test_pairs_and_one_against_the_rest_are_verdicts_of_two_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pairs = separability(X, names, multi_class="pairs")
    assert isinstance(pairs, Verdicts)
    assert list(pairs) == list(combinations(["setosa", "versicolor", "virginica"], 2))
    assert [verdict.separable for verdict in pairs.values()] == [True, True, False]
    assert pairs.separable is False
    assert pairs.verify(X, names)
    assert pairs.verify(X, names, exact=True)
    assert not pairs.verify(X, np.roll(names, 20))
    mask = names != "virginica"
    alone = separability(X[mask], names[mask])
    assert pairs["setosa", "versicolor"].margin == pytest.approx(alone.margin)
    rest = separability(X, names, multi_class="ovr")
    assert list(rest) == ["setosa", "versicolor", "virginica"]
    assert rest.verify(X, names)
    assert "setosa and the rest" in rest.to_text()
    assert "setosa and versicolor" in repr(pairs)
    raised = json.loads(json.dumps(pairs.to_dict()))
    assert raised["verdicts"][0]["classes"] == ["setosa", "versicolor"]


def test_two_classes_are_one_question():
    X, y = load_iris(return_X_y=True)
    for multi_class in ("joint", "pairs", "ovr"):
        assert separability(X[:100], y[:100], multi_class=multi_class).separable is True
    with pytest.raises(ValueError, match="'multi_class' parameter of separability must be one of"):
        separability(X, y, multi_class="multinomial")


@pytest.mark.slow
@pytest.mark.parametrize("seeds", SEEDS)
def test_parts_of_many_rows_say_the_same(monkeypatch, seeds):
    whole = {}
    for seed in seeds:
        X, y = generated(seed)
        whole[seed] = separability(X, y).kind
    monkeypatch.setattr(facial_reduction, "MIN_SAMPLE", 6)
    monkeypatch.setattr(facial_reduction, "SAMPLE_MULTIPLE", 0)
    monkeypatch.setattr(facial_reduction, "MIN_ADDED", 4)
    monkeypatch.setattr(facial_reduction, "ADDED_MULTIPLE", 0)
    for seed, kind in whole.items():
        X, y = generated(seed)
        verdict = separability(X, y)
        assert verdict.kind == kind, seed
        assert verdict.verify(X, y), seed


@pytest.mark.slow
@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_multinomial_optimum_exists_where_classes_overlap(seeds):
    for seed in seeds:
        X, y = generated(seed)
        kind = separability(X, y).kind
        if kind == "overlap":
            fitted = LogisticRegression(C=np.inf).fit(X, y)
            assert abs(fitted.coef_).max() < 1e3
            continue
        with pytest.raises(SeparationError) as raised:
            LogisticRegression(C=np.inf).fit(X, y)
        assert raised.value.verdict.kind == kind, seed


def test_many_weights(monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = X[:60], y[:60]  # fewer rows than columns
    monkeypatch.setattr(joint_verdict, "MAX_NEWTON_WEIGHTS", 100)
    verdict = separability(X, y)
    assert verdict.separable
    assert verdict.verify(X, y)
    assert verdict.margin <= verdict.margin_bound
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(joint_verdict, "MAX_NEWTON_WEIGHTS", 5)
    verdict = separability(X, y)
    assert verdict.separable is None
    assert not verdict.verify(X, y)
    assert "10 weights of all classes are more than the limit of 5" in verdict.reason


def test_shown():
    X, y = load_iris(return_X_y=True)
    verdict = separability(X, y, feature_names=["a", "b", "c", "d"])
    raised = json.loads(json.dumps(verdict.to_dict()))
    assert raised["kind"] == "quasi-separable"
    assert raised["proof"]["columns"] == ["c"]  # setosa is far from the others in it alone
    assert "150 rows, 4 columns, classes [0, 1, 2]" in verdict.to_text()
