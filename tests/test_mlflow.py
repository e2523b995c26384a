"""The MLflow flavor: a model goes into a run and comes back without pickle."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separable
from separable.mlflow import load_model, log_model, save_model

mlflow = pytest.importorskip("mlflow")
pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow about itself

X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())


def test_logged_model_comes_back():
    learner = separable.LogisticRegression().fit(X, Y)
    with mlflow.start_run():
        logged = log_model(learner, metadata={"team": "botany"})
    model = load_model(logged.model_uri)
    np.testing.assert_array_equal(model.predict_proba(X), learner.predict_proba(X))
    generic = mlflow.pyfunc.load_model(logged.model_uri)
    np.testing.assert_array_equal(generic.predict(X), learner.predict(X))
    assert generic.metadata.metadata == {"team": "botany"}


def test_directory_holds_no_pickle(tmp_path):
    save_model(separable.Ridge().fit(X, Y).model_, tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {"MLmodel", "model.safetensors", "python_env.yaml", "requirements.txt"}
    assert separable.load(tmp_path / "model" / "model.safetensors").evidence


def test_table_with_signature_and_example(tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"city": ["Rome", "Oslo"] * 10, "sun": np.arange(20.0)})
    table["warm"] = np.where(table.city == "Rome", "yes", "no")
    run = separable.train(table, "warm")
    rows = table[["city", "sun"]]
    signature = mlflow.models.infer_signature(rows, run.model.predict(rows))
    save_model(run, tmp_path / "model", signature=signature, input_example=rows.head(2))
    generic = mlflow.pyfunc.load_model(pathlib.Path(tmp_path, "model").as_uri())
    assert list(generic.predict(rows)[:2]) == ["yes", "no"]
    assert generic.metadata.signature.inputs.input_names() == ["city", "sun"]


def test_other_models_are_refused(tmp_path):
    with pytest.raises(TypeError, match=r"Got dict\. Models of scikit-learn are logged by"):
        save_model({}, tmp_path / "model")
