"""Every learner with every encoder goes through a file to the same bits.

Learners and encoders come from the registries: one that is registered later is covered.
"""

from __future__ import annotations

import inspect
import itertools
import json
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import separable
from separable import TableClassifier, TableRegressor, load
from separable.features.base import ENCODERS
from separable.workflow.learners import LEARNERS as REGISTRY
from tests.model.golden.make import go_on, told
from tests.model.specimens import ENCODED, LEARNERS, RECORDS, short, specimens, target_of, task_of

if TYPE_CHECKING:
    from pathlib import Path

    from separable.model.kinds import Model

SPECIMENS = specimens()


def through_a_file(model: Model, path: Path, *, state: bool | None = None) -> Model:
    """Return the model that is loaded; saved again it must give the same file."""
    include = model.state is not None if state is None else state
    model.save(path, include_state=include)
    first = path.read_bytes()
    loaded = load(path)
    loaded.save(path, include_state=include)
    assert path.read_bytes() == first
    return loaded


def assert_same_bits(ours: Model, theirs: Model, data: Any) -> None:
    assert json.dumps(told(ours, data)) == json.dumps(told(theirs, data))  # NaN is equal in text
    scores = ours.decision_function(data), theirs.decision_function(data)
    assert scores[0].tobytes() == scores[1].tobytes()
    for name in ("parameters", "evidence"):
        values = [json.dumps(getattr(each, name), sort_keys=True) for each in (ours, theirs)]
        assert values[0] == values[1]


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_model_says_the_same_after_loading(name: str, tmp_path: Path) -> None:
    specimen = SPECIMENS[name]()
    assert_same_bits(specimen.model, through_a_file(specimen.model, tmp_path / "m"), specimen.data)
    bare = through_a_file(specimen.model, tmp_path / "bare", state=False)
    assert bare.state is None
    assert_same_bits(specimen.model, bare, specimen.data)


@pytest.mark.parametrize("name", [name for name in SPECIMENS if name.partition(",")[0] in LEARNERS])
def test_training_goes_on_to_the_same_bits(name: str, tmp_path: Path) -> None:
    specimen = SPECIMENS[name]()
    if not specimen.can_go_on:
        assert specimen.model.family == "certified"  # those refuse to go on, and have no state
        return
    learner, loaded = type(specimen.estimator), through_a_file(specimen.model, tmp_path / "m")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (
            go_on(learner, model, specimen.data, specimen.target)
            for model in (specimen.model, loaded)
        )
    assert (ours is None) == (theirs is None)
    if ours is not None:
        assert_same_bits(ours.model_, theirs.model_, specimen.data)
        ours.model_.save(tmp_path / "ours", include_state=True)
        theirs.model_.save(tmp_path / "theirs", include_state=True)
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def encoded_fit(learner: str, kind: str) -> tuple[Model, Any]:
    """Return a model on an encoder's numbers, of a way of the encoder that the learner takes."""
    refusals = []
    for way in ENCODED[kind]:
        encoder, data = ENCODED[kind][way]()
        rows = encoder.fit(data).encode(data)
        X = rows.take(np.tile(np.arange(rows.n_rows), 4)).astype(np.dtype(np.float64)).to_matrix()
        positions = np.arange(X.shape[0], dtype=np.float64)[:, None]
        y = target_of(task_of(learner), 2, positions)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = short(LEARNERS[learner]).fit(X, y).model_
        except ValueError as error:  # naive Bayes wants counts
            refusals.append(str(error))
            continue
        return replace(model, encoder=encoder, feature_names=None), data
    raise AssertionError(f"{learner} takes no numbers of {kind!r}: {refusals}")


@pytest.mark.parametrize(("learner", "kind"), [*itertools.product(LEARNERS, ENCODERS)])
def test_every_learner_with_every_encoder(learner: str, kind: str, tmp_path: Path) -> None:
    model, data = encoded_fit(learner, kind)
    assert_same_bits(model, through_a_file(model, tmp_path / "m"), data)


@pytest.mark.parametrize("table", [TableClassifier, TableRegressor])
def test_the_models_of_table_learners(table: Any, tmp_path: Path) -> None:
    records = RECORDS * 4
    y = target_of("regression" if table is TableRegressor else "", 2, np.ones((len(records), 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = table().fit(records, y).model_
    assert_same_bits(model, through_a_file(model, tmp_path / "m"), records)


def test_all_that_is_public_is_registered() -> None:
    public = [getattr(separable, name) for name in separable.__all__]
    classes = [each for each in public if inspect.isclass(each)]
    assert {learner.load() for learner in REGISTRY.values()} <= set(LEARNERS.values())
    encoders = {place.partition(":")[2] for place in ENCODERS.values()}
    assert {each.__name__ for each in classes if hasattr(each, "encode")} == encoders
    assert set(ENCODED) == set(ENCODERS)
