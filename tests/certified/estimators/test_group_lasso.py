"""GroupLasso: other minimisers, conditions of optimality group by group, certificates and laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso as Theirs

from separable import (
    GroupLasso,
    OneHotEncoder,
    PolynomialEncoder,
    TableEncoder,
    TableRegressor,
    load,
)
from separable.certified.estimators.base_group_lasso import groups_of
from separable.select import path, search
from tests.certified.block_oracles import group_minimum, mean_loss

pytestmark = [pytest.mark.native, pytest.mark.kernel]

FOUR = [[0, 1], [2, 3], [4, 5, 6, 7], [8, 9]]

#: celer 0.7.4, GroupLasso(groups=FOUR, weights=sqrt of their sizes, tol=1e-14) on 20 times the
#: columns of diabetes.
CELER = {
    0.5: [-0.362288211436, -10.52352051446, 26.145006960976, 15.632027869984, -7.024683505,
          -1.47232633409, -8.194701856232, 4.853173816779, 24.992803813834, 3.715467863127],
    8.0: [0, 0, 22.017994992968, 12.155214261514, 0, 0, 0, 0, 16.696561539001, 5.797999867104],
}  # fmt: skip


def made(seed, n=50, group=(0, 0, 1, 1, 1, 2, 3, 3)):
    rng = np.random.default_rng(seed)
    group = np.array(group)
    d = len(group)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.5 * rng.normal(size=(d, d)))
    w = rng.normal(size=d) * (group % 2 == 0)
    return X, X @ w + rng.normal(size=n), group


def norms(group, w):
    return np.sqrt(np.bincount(group, weights=w**2))


def objective(model, X, y, group, weight=None):
    w, b = model.coef_, model.intercept_
    return mean_loss(X, y, w, b, weight) + model.alpha * np.sqrt(np.bincount(group)) @ norms(
        group, w
    )


# --------------------------------------------------------------------- other minimisers


@pytest.mark.parametrize("alpha", list(CELER))
def test_recorded_figures_of_celer(alpha):
    X, y = load_diabetes(return_X_y=True)
    model = GroupLasso(alpha, groups=FOUR).fit(20 * X, y)
    np.testing.assert_allclose(model.coef_, CELER[alpha], atol=1e-9)
    np.testing.assert_allclose(model.intercept_, 152.133484162896)


@pytest.mark.parametrize("alpha", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_plain_proximal_steps_end_there_too(seed, alpha):
    X, y, group = made(seed)
    one = GroupLasso(alpha, groups=group).fit(X, y).certificate_
    assert one.relative_gap < 1e-12
    assert one.primal == pytest.approx(group_minimum(alpha, X, y, group), rel=1e-9)


@pytest.mark.parametrize("alpha", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("shape", [(6, 19), (30, 80)])
def test_more_columns_than_rows_and_a_weak_penalty(shape, alpha):
    rng = np.random.default_rng(1)
    X = np.cumsum(rng.normal(size=shape), axis=1)
    y = X[:, 0] + 0.1 * rng.normal(size=len(X))
    group = np.arange(shape[1]) // 2
    model = GroupLasso(alpha, groups=group).fit(X, y)
    assert model.certificate_.converged
    # no objective is below the dual of the residuals, made feasible: nothing of ours but w
    r = y - X @ model.coef_
    z = (r - r.mean()) / len(y)
    z /= max(1.0, (norms(group, X.T @ z) / (alpha * np.sqrt(np.bincount(group)))).max())
    bound = z @ y - len(y) * z @ z / 2
    found = objective(model, X, y, group)
    assert found - bound <= 3e-6 * found


@pytest.mark.parametrize("groups", [None, np.arange(8), [[k] for k in range(8)]])
def test_groups_of_one_are_the_lasso(groups):
    X, y, _ = made(0)
    theirs = Theirs(0.1, tol=1e-14, max_iter=10**6).fit(X, y)
    np.testing.assert_allclose(
        GroupLasso(0.1, groups=groups).fit(X, y).coef_, theirs.coef_, atol=1e-8
    )


# --------------------------------------------------------------------- conditions of optimality


@given(seed=st.integers(0, 10**6), log_alpha=st.floats(-2.5, 0.5), data=st.data())
@settings(max_examples=50, deadline=None)
def test_the_conditions_of_each_group(seed, log_alpha, data):
    group = data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=9))
    group = np.unique(group, return_inverse=True)[1]
    X, y, group = made(seed, group=group)
    alpha = 10.0**log_alpha
    model = GroupLasso(alpha, groups=group).fit(X, y)
    assert model.certificate_.converged
    w = model.coef_
    r = y - model.predict(X)
    assert abs(r.mean()) < 1e-10
    correlation = X.T @ r / len(y)
    strength = alpha * np.sqrt(np.bincount(group))
    size = norms(group, w)
    for g in range(group.max() + 1):
        mine = group == g
        if size[g] == 0:
            assert np.linalg.norm(correlation[mine]) <= strength[g] * (1 + 1e-6)
        else:
            np.testing.assert_allclose(
                correlation[mine], strength[g] * w[mine] / size[g], atol=1e-5 * strength[g]
            )


# --------------------------------------------------------------------- certificates


@pytest.mark.parametrize("alpha", [0.05, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_certificate_in_numpy(seed, alpha):
    X, y, group = made(seed)
    X += 3.0
    model = GroupLasso(alpha, groups=group).fit(X, y)
    one, z, n = model.certificate_, model.dual_coef_[0], len(y)
    assert one.primal == pytest.approx(objective(model, X, y, group), rel=1e-12)
    v = (X - X.mean(axis=0)).T @ z
    assert abs(z.sum()) <= 1e-12 * np.abs(z).sum()
    assert (norms(group, v) <= alpha * np.sqrt(np.bincount(group)) * (1 + 1e-12)).all()
    assert one.dual == pytest.approx(z @ y - n * z @ z / 2, rel=1e-10)
    assert 0 <= one.gap == pytest.approx(one.primal - one.dual, abs=1e-10 * one.primal)


def test_a_fit_that_was_ended_is_certified_too():
    X, y, group = made(1)
    seen = []
    with pytest.warns(
        ConvergenceWarning, match=r"1.0e-06 was asked for. More passes .* larger alpha"
    ):
        model = GroupLasso(
            0.01, groups=group, max_iter=2, callback=lambda *told: seen.append(told)
        ).fit(X, y)
    assert [number for number, _ in seen] == [*range(1, len(seen) + 1)]
    one, best = model.certificate_, GroupLasso(0.01, groups=group).fit(X, y).certificate_.primal
    assert one.dual <= best <= one.primal <= best + one.gap


# --------------------------------------------------------------------- laws


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_order_weights_and_units(seed):
    X, y, group = made(seed)
    rng = np.random.default_rng(seed)
    one = GroupLasso(0.2, groups=group).fit(X, y)
    order = rng.permutation(len(group))
    other = GroupLasso(0.2, groups=group[order]).fit(X[:, order], y)
    np.testing.assert_allclose(other.coef_, one.coef_[order], atol=1e-6)
    weight = rng.integers(0, 3, len(y))
    weighted = GroupLasso(0.2, groups=group).fit(X, y, weight)
    repeated = GroupLasso(0.2, groups=group).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    scaled = GroupLasso(20.0, groups=group).fit(X, 100 * y)
    np.testing.assert_allclose(scaled.coef_, 100 * one.coef_, atol=1e-4)
    # a rotation of a group's columns rotates its weights, and nothing else
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned = X.copy()
    turned[:, group == 1] = X[:, group == 1] @ turn
    found = GroupLasso(0.2, groups=group).fit(turned, y).coef_
    np.testing.assert_allclose(turn @ found[group == 1], one.coef_[group == 1], atol=1e-6)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_is_dense(form):
    X, y, group = made(2)
    X[np.abs(X) < 1] = 0
    dense = GroupLasso(0.1, groups=group).fit(X, y)
    np.testing.assert_allclose(
        GroupLasso(0.1, groups=group).fit(form(X), y).coef_, dense.coef_, atol=1e-8
    )
    single = GroupLasso(0.1, groups=group).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-4)


@pytest.mark.parametrize("shift", [1e6, 1e9])
def test_shifted_columns(shift):
    X, y, group = made(3)
    one = GroupLasso(0.2, groups=group).fit(X, y)
    np.testing.assert_allclose(
        GroupLasso(0.2, groups=group).fit(X + shift, y).coef_, one.coef_, atol=1e-4
    )


@pytest.mark.parametrize("unit", [2.0**-200, 2.0**200])
def test_units_of_columns(unit):
    X, y, group = made(3)
    one = GroupLasso(0.2, groups=group).fit(X, y)
    other = GroupLasso(0.2 * unit, groups=group).fit(X * unit, y)
    np.testing.assert_allclose(other.coef_ * unit, one.coef_, atol=1e-8)
    assert other.certificate_.primal == pytest.approx(one.certificate_.primal)


def test_standardised_columns():
    X, y, group = made(4)
    X[:, 0] *= 100
    wider, wide = np.c_[X, np.ones(len(y))], np.append(group, 0)
    inside = GroupLasso(0.2, groups=group, standardize=True).fit(X, y)
    by_hand = GroupLasso(0.2, groups=group).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    np.testing.assert_allclose(inside.coef_ * X.std(axis=0), by_hand.coef_, atol=1e-8)
    np.testing.assert_allclose(inside.scale_, X.std(axis=0))
    constant = GroupLasso(0.2, groups=wide, standardize=True).fit(wider, y)
    assert constant.coef_[-1] == 0
    assert constant.certificate_.converged


def test_many_groups_of_many_columns():
    rng = np.random.default_rng(0)
    group = np.arange(4000) // 4
    X = rng.normal(size=(150, 4000))
    y = X[:, :8] @ rng.normal(size=8) + 0.1 * rng.normal(size=150)
    for rows in (X, sp.csr_array(np.where(np.abs(X) > 1, X, 0))):
        model = GroupLasso(0.2, groups=group).fit(rows, y)
        assert model.certificate_.converged
        assert {0, 1} <= set(model.kept_groups_)
        assert len(model.kept_groups_) + len(model.dropped_groups_) == 1000


def test_columns_that_are_the_same_within_a_group_share():
    X, y, _ = made(5)
    twice = np.c_[X, X[:, :1]]
    group = np.r_[0, 1, 1, 2, 2, 2, 2, 2, 0]
    w = GroupLasso(0.1, groups=group).fit(twice, y).coef_
    assert w[0] == pytest.approx(w[8], rel=1e-6)


def test_warm_starts_and_files(tmp_path):
    X, y, group = made(6)
    model = GroupLasso(0.5, groups=group, warm_start=True).fit(X, y)
    warm = model.set_params(alpha=0.1).fit(X, y)
    np.testing.assert_allclose(warm.coef_, GroupLasso(0.1, groups=group).fit(X, y).coef_, atol=1e-7)
    model.model_.save(tmp_path / "model")
    assert load(tmp_path / "model").parameters["groups"] == group.tolist()


def test_a_large_penalty_drops_all():
    X, y, group = made(7)
    top = max(norms(group, X.T @ (y - y.mean()) / len(y)) / np.sqrt(np.bincount(group)))
    model = GroupLasso(top * 1.0001, groups=group).fit(X, y)
    assert model.dropped_groups_ == [0, 1, 2, 3]
    assert model.certificate_.relative_gap <= 1e-15
    assert len(GroupLasso(top * 0.999, groups=group).fit(X, y).kept_groups_) == 1


# --------------------------------------------------------------------- paths and searches


def test_a_path_from_where_all_groups_leave():
    X, y, group = made(8)
    found = path(GroupLasso(groups=group, standardize=True), X, y, alphas=12)
    assert found.parameter == "alpha"
    assert found.coefs.shape == (12, 1, 8)
    assert all(one.converged for (one,) in found.certificates)
    assert not found.coefs[0].any()
    assert found.coefs[1].any()
    for k in (3, 11):
        alone = GroupLasso(found.values[k], groups=group, standardize=True).fit(X, y)
        np.testing.assert_allclose(found.coefs[k, 0], alone.coef_, atol=1e-6)
        np.testing.assert_allclose(found.intercepts[k], alone.intercept_, atol=1e-6)
        assert found.certificates[k][0].primal == pytest.approx(alone.certificate_.primal)


def test_alphas_of_a_path_in_any_order():
    X, y, group = made(8)
    one = path(GroupLasso(groups=group), X, y, alphas=[0.1, 1.0, 0.01])
    other = path(GroupLasso(groups=group), X, y, alphas=[1.0, 0.1, 0.01])
    np.testing.assert_array_equal(one.coefs[[1, 0, 2]], other.coefs)
    with pytest.raises(ValueError, match="GroupLasso has no Cs: give alphas"):
        path(GroupLasso(), X, y, Cs=[1.0])
    for alphas in ([], [-1.0], [np.nan], 0):
        with pytest.raises(ValueError, match="alphas must be an int >= 1 or finite floats > 0"):
            path(GroupLasso(), X, y, alphas=alphas)


def test_a_path_that_does_not_converge_says_so():
    X, y, group = made(8)
    with pytest.warns(UserWarning, match="GroupLasso stopped after"):
        path(GroupLasso(groups=group, max_iter=1), X, y, alphas=5)


def test_a_search_over_alpha():
    X, y, group = made(9, n=120)
    found = search(GroupLasso(groups=group), {"alpha": [0.01, 0.1, 10.0]}, X, y, cv=4)
    assert found.best_params_["alpha"] < 10


# --------------------------------------------------------------------- which columns go together


def table(seed=0, n=200):
    rng = np.random.default_rng(seed)
    return {
        "town": rng.choice(["Rome", "Oslo", "Lima", "Bern"], n).tolist(),
        "colour": rng.choice(["red", "green", "blue"], n).tolist(),
        "rooms": rng.integers(1, 6, n).tolist(),
    }


def rents(rows):
    return [{"Rome": 9.0, "Oslo": 5.0, "Lima": -8.0, "Bern": 0.0}[t] + 2 * r
            for t, r in zip(rows["town"], rows["rooms"], strict=True)]  # fmt: skip


def test_a_category_enters_or_leaves_whole():
    rows = table()
    model = TableRegressor(GroupLasso(0.3, groups="columns")).fit(rows, rents(rows))
    assert model.learner_.dropped_groups_ == ["colour"]
    assert set(model.learner_.kept_groups_) == {"town", "rooms"}
    by_source = {}
    for source, w in zip(model.encoder_.sources, model.learner_.coef_, strict=True):
        by_source.setdefault(source, []).append(w != 0)
    assert all(any(used) == all(used) for used in by_source.values())


@pytest.mark.parametrize("encoder", [TableEncoder(), OneHotEncoder()])
def test_encoders_say_the_groups(encoder):
    rows = table()
    if isinstance(encoder, OneHotEncoder):
        rows = np.array([rows["town"], rows["colour"]], dtype=object).T
        y = [float(len(town)) for town in rows[:, 0]]
    else:
        y = rents(rows)
    X = encoder.fit(rows).transform(rows)
    by_name = GroupLasso(0.01, groups=list(encoder.sources)).fit(X, y)
    told = GroupLasso(0.01, groups="columns").group_by(encoder).fit(X, y)
    sequence = GroupLasso(0.01, groups=encoder.sources).fit(X, y)
    for other in (told, sequence):
        np.testing.assert_array_equal(by_name.coef_, other.coef_)
        assert other.groups_.names == by_name.groups_.names


def test_products_of_columns_are_groups():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    encoder = PolynomialEncoder(2).fit(rows)
    X = encoder.transform(rows)
    y = rows[:, 0] ** 2 + 3 * rows[:, 0]
    model = GroupLasso(0.3, groups="columns").group_by(encoder).fit(X, y)
    assert len(model.kept_groups_) == 1


def test_names_of_groups():
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2, 3, 5], "b": [0.0, 1, 0, 2], "c": [2.0, 1, 1, 0]})
    y = [1.0, 2.0, 3.0, 4.0]
    assert GroupLasso(0.01).fit(frame, y).groups_.names == ["a", "b", "c"]
    model = GroupLasso(0.01, groups=[[0, 2]]).fit(frame, y)
    assert model.groups_.names == [("a", "c"), "b"]
    np.testing.assert_array_equal(model.groups_.group, [0, 1, 0])


# --------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("columns", "only an encoder knows. Use TableRegressor"),
        ([0, 1], "groups has 2 labels for 3 columns"),
        ([[0, 1], [1, 2]], "groups names column 1 twice"),
        ([[0, 0]], "groups names column 0 twice"),
        ([[0, 3]], "groups names column 3, but there are columns 0 to 2"),
        ([[-1]], "groups names column -1"),
        ([["a"]], "must hold the numbers of columns"),
        ([[]], "must hold the numbers of columns"),
        ("rows", "'groups' parameter .* must be None, 'columns'"),
        (3, "'groups' parameter .* must be None, 'columns'"),
    ],
)
def test_groups_that_cannot_be(groups, message):
    with pytest.raises(ValueError, match=message):
        GroupLasso(groups=groups).fit(np.eye(3), [1.0, 2.0, 3.0])


def test_a_path_where_all_weights_are_always_0():
    X = np.random.default_rng(0).normal(size=(20, 4))
    found = path(GroupLasso(groups=[0, 0, 1, 1]), X, np.full(20, 3.0), alphas=3)
    assert found.nonzeros.tolist() == [0, 0, 0]
    np.testing.assert_allclose(found.intercepts, 3.0)


def test_copies_know_the_encoder():
    rng = np.random.default_rng(3)
    table = {"town": rng.choice(["a", "b", "c"], 60).tolist(), "size": rng.normal(size=60)}
    y = rng.normal(size=60) + 3 * np.asarray(table["size"])
    encoder = TableEncoder().fit(table)
    X = encoder.encode(table).to_matrix()
    told = GroupLasso(groups="columns").group_by(encoder)
    alphas = [0.5, 0.1]
    by_labels = GroupLasso(groups=[*encoder.sources])
    np.testing.assert_array_equal(
        path(told, X, y, alphas=alphas).coefs, path(by_labels, X, y, alphas=alphas).coefs
    )
    found = [search(one, {"alpha": alphas}, X, y, cv=3) for one in (told, by_labels)]
    assert found[0].best_params_ == found[1].best_params_
    assert found[0].best_estimator_.groups_.names == ["town", "size"]
    with pytest.raises(ValueError, match="only an encoder knows"):
        GroupLasso(groups="columns").fit(X, y)


@pytest.mark.parametrize("labels", [["b", "a", "b", "c"], [7, -1, 7, 3], [True, False, True, True]])
def test_labels_of_arrays_and_lists_make_the_same_groups(labels):
    plain, array = (groups_of(made, 4, None, None) for made in (labels, np.array(labels)))
    np.testing.assert_array_equal(array.group, plain.group)
    assert array.names == plain.names
    assert [type(name) for name in array.names] == [type(name) for name in plain.names]
