"""VotedModel by hand, and files of it that were tampered with."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from separable import VotedModel, VotedPerceptron, load
from separable.data.rows import Rows, as_rows
from separable.model.files.model_file import ModelFileError
from separable.model.voted.voters import Voters
from tests.model.files.test_file_hostile import parts, refused, sealed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.native, pytest.mark.kernel]

Change = Callable[[dict[str, Any], dict[str, np.ndarray]], Any]


def by_hand() -> VotedModel:
    """Two steps along two rows: (1, 0) with b = 1 votes thrice, (1, 2) with b = 2 votes once."""
    voters = Voters([0, 1], [1.0, 2.0], [3.0, 1.0], [0, 2], [0.0], [0.0], fit_intercept=False)
    return VotedModel(as_rows([[1.0, 0.0], [0.0, 1.0]]), voters, ["ham", "spam"])


def test_votes_by_hand() -> None:
    model = by_hand()
    X = [[1.0, 0.0], [1.0, -1.0], [0.0, -3.0], [-2.0, 1.0]]
    assert model.decision_function(X).tolist() == [4.0, 2.0, -1.0, -3.0]
    assert model.predict(X).tolist() == ["spam", "spam", "ham", "ham"]
    assert model.mean_model().weights.tolist() == [[1.0, 0.5]]
    assert repr(model) == "VotedModel(VotedModel, 2 features, 2 classes, 2 mistaken rows, 2 voters)"


def test_a_model_is_frozen_and_copies_through_its_constructor() -> None:
    model = by_hand()
    again = copy.deepcopy(model)
    for array in (again.voters.steps, again.mistaken.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        model.learner = "other"  # type: ignore[misc]


def test_without_votes_the_last_weights_are_the_mean() -> None:
    voters = Voters([0], [2.0], [0.0], [0, 1], [0.0], [0.5])
    model = VotedModel(as_rows([[3.0]]), voters, [0, 1])
    assert model.mean_model().weights.tolist() == [[6.0]]
    assert model.mean_model().intercept.tolist() == [2.5]
    assert model.decision_function([[1.0]]).tolist() == [0.0]


def test_names_and_widths_are_checked_as_for_linear_models() -> None:
    model = replace(by_hand(), feature_names=("a", "b"))
    with pytest.raises(ValueError, match=r"X has 3 features.*expects 2 \('a', 'b'\)"):
        model.predict([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="one name for each of 2 features"):
        replace(model, feature_names=("a",))
    with pytest.raises(ValueError, match="must have 3 rows for 3 classes"):
        replace(model, classes=np.arange(3))


def test_weights_that_overflow_say_so() -> None:
    voters = Voters([0], [1e-310], [1.0], [0, 1], [0.0], [0.0], fit_intercept=False)
    model = VotedModel(as_rows([[1.0]]), voters, [0, 1])
    with pytest.raises(ValueError, match=r"weights behind this vote overflow.*Scale the features"):
        model.explain([[1.0]]).contributions()


@pytest.fixture(params=["dense", "sparse"])
def good(request: pytest.FixtureRequest, tmp_path: Any) -> bytes:
    X = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0]])
    rows = as_rows(X)
    if request.param == "sparse":
        indptr = np.array([0, 1, 2, 4, 5], dtype=np.int32)
        indices = np.array([0, 1, 0, 1, 0], dtype=np.int32)
        rows = Rows(np.array([2.0, 1, 1, 1, -1]), 2, indices, indptr)
    fitted = VotedPerceptron(max_voters=3, shuffle=False).partial_fit(rows, ["b", "a", "a", "b"])
    fitted.model_.save(tmp_path / "good", include_state=True)
    return (tmp_path / "good").read_bytes()


def test_a_good_file_is_good(tmp_path: Any, good: bytes) -> None:
    (tmp_path / "again").write_bytes(sealed(*parts(good)))
    model = load(tmp_path / "again")
    assert isinstance(model, VotedModel)
    VotedPerceptron.from_model(model).partial_fit([[1.0, 1.0]], ["c"])


def test_a_linear_file_says_nothing_of_votes(tmp_path: Any) -> None:
    by_hand().mean_model().save(tmp_path / "linear")
    document, tensors = parts((tmp_path / "linear").read_bytes())
    assert document.pop("voted") is None  # files written before votes have no such field
    (tmp_path / "old").write_bytes(sealed(document, tensors))
    assert load(tmp_path / "old").n_features == 2


def put(name: str, value: Any) -> Change:
    return lambda _, tensors: tensors.update({name: np.array(value)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, t: t.pop("voter_steps"), "it has no tensor 'voter_steps'"),
        (lambda d, t: t.update(weights=np.ones((1, 2))), "unknown tensor, 'weights'"),
        (lambda d, t: d.update(voted=None), "unknown tensor, 'base_counts'"),
        (lambda d, t: d.update(voted={"n_features": 2}), "document cannot be read"),
        (lambda d, t: d.update(link="logistic"), "its link must be 'score' for votes"),
        (lambda d, t: d["voted"].update(n_features=0), "at least one column|must have"),
        (lambda d, t: d["voted"].update(n_features=-3), "at least one column|must have"),
        (lambda d, t: d["voted"].update(n_features=1), "outside|must have"),
        (put("voter_rows", [0.0, 0.0]), "'voter_rows' must be int64, not float64"),
        (put("voter_rows", [0, 7]), "along row 7 of the"),
        (put("voter_rows", [0, -1]), "along row -1 of the"),
        (put("voter_rows", [[0, 0]]), "rows must be whole numbers in one row"),
        (put("voter_steps", [1.0]), "steps must have 2 entries"),
        (put("voter_steps", [1.0, np.nan]), "steps must be finite"),
        (put("voter_counts", [1.0, -1.0]), "counts and base_counts must be >= 0"),
        (put("voter_counts", [1, 1]), "'voter_counts' must be float64"),
        (put("voter_starts", [0, 1]), "starts must rise from 0 to 2"),
        (put("voter_starts", [0, 2, 2]), "starts must have 2 entries"),
        (put("base_counts", np.zeros(0)), "must have|one entry per model"),
        (put("base_counts", [np.inf]), "base_counts must be finite"),
        (put("base_weights", [[1.0, np.nan]]), "base_weights must be finite"),
        (put("base_weights", [[1.0, 2.0, 3.0]]), "base_weights must have 2 columns"),
        (put("base_weights", [[1.0, 2.0]] * 2), "base_weights must have 1 entries"),
        (lambda d, t: t.pop("mistaken_values"), "lack one of their tensors"),
        (
            lambda d, t: t.update(mistaken_values=t["mistaken_values"].astype(np.int64)),
            "must be float32 or float64",
        ),
        (
            lambda d, t: t.update(mistaken_values=np.full_like(t["mistaken_values"], np.nan)),
            "mistaken rows must be finite",
        ),
        (
            lambda d, t: t.update(mistaken_values=t["mistaken_values"][None]),
            "must have shape|do not fit their values",
        ),
    ],
)
def test_tampered_and_sealed_again(
    tmp_path: Any, good: bytes, change: Change, message: str
) -> None:
    document, tensors = parts(good)
    change(document, tensors)
    refused(tmp_path, sealed(document, tensors), message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mistaken_indices", np.array([0, 9], np.int32), "column index 9|do not fit"),
        ("mistaken_indices", np.array([0, -1], np.int32), "column index -1|do not fit"),
        ("mistaken_indices", np.array([0.0, 1.0]), "do not fit their values"),
        ("mistaken_indptr", np.array([0, 5, 2], np.int32), "must rise from 0|do not fit"),
        ("mistaken_indptr", np.array([1, 2], np.int32), "must rise from 0"),
        ("mistaken_indptr", np.zeros(0, np.int32), "do not fit their values"),
        ("mistaken_indptr", np.array([0, 2**40]), "do not fit their values"),
    ],
)
def test_hostile_columns(
    tmp_path: Any, good: bytes, name: str, value: np.ndarray, message: str
) -> None:
    document, tensors = parts(good)
    if name not in tensors:
        pytest.skip("the rows are dense")
    indices = tensors["mistaken_indices"]
    if name == "mistaken_indices":
        value = np.resize(value, indices.shape)
    tensors[name] = value
    refused(tmp_path, sealed(document, tensors), message)


@pytest.mark.parametrize(
    "change",
    [
        lambda d, t: t.pop("state/ghost_voter_rows"),
        put("state/ghost_voter_rows", [0, 99]),
        put("state/ghost_voter_counts", [1.0, np.inf]),
        put("state/ghost_mistaken_indptr", np.zeros(0, np.int32)),
        put("state/ghost_mistaken_values", np.ones((2, 7))),
        put("state/ghost_mistaken_values", [np.nan]),
        put("state/base_time", [5.0, 900.0]),
        lambda d, t: d["voted"].update(fit_intercept=False),
        lambda d, t: d["state"]["clock"].pop("fit_intercept"),
        lambda d, t: d["state"].update(presented=1.0),
        lambda d, t: t.update(base_counts=np.array([1e9])),
    ],
)
def test_hostile_state(tmp_path: Any, good: bytes, change: Change) -> None:
    document, tensors = parts(good)
    change(document, tensors)
    (tmp_path / "m").write_bytes(sealed(document, tensors))
    try:
        model = load(tmp_path / "m")
    except ModelFileError:
        return
    with pytest.raises(ValueError, match="training state does not fit the model"):
        VotedPerceptron.from_model(model)


def test_top_weights_need_no_room_for_columns_without_weights(tmp_path: Path) -> None:
    X, y = csr_array(np.array([[0, 1.0, 0, 2, 0], [0, 0, 0, 1, 3]])), [0, 1]
    model = VotedPerceptron(shuffle=False).fit(X, y).model_
    groups = model.top_weights(3).to_dict()
    assert groups == model.mean_model().top_weights(3).to_dict()
    assert {each["feature"] for group in groups for each in group["weights"]} <= {"x1", "x3", "x4"}
    model.save(tmp_path / "m")
    document, tensors = parts((tmp_path / "m").read_bytes())
    document["voted"]["n_features"] = 2**31  # the mean would have 16 GB
    (tmp_path / "wide").write_bytes(sealed(document, tensors))
    assert load(tmp_path / "wide").top_weights(3).to_dict() == groups
