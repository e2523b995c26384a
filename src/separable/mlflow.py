"""MLflow flavor: models as our own file, numbers and text without pickle.

``log_model`` stores a model in a run, ``load_model`` reads it back as a ``LinearModel``, and
``mlflow.pyfunc.load_model`` predicts with it. Needs the extra ``mlflow``.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separable.model.kinds import Model

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR = "separable"
#: The model inside the directory of an MLflow model.
FILE = "model.safetensors"


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Store a model in the active run of MLflow, or in a new one.

    Parameters
    ----------
    model : learner, TrainingRun or LinearModel
        Fitted. Its model with encoder, evidence and decision is stored, and no training rows.
    name : str, default "model"
        Name of the model in MLflow.
    **options
        Those of ``mlflow.models.Model.log``, such as ``registered_model_name``, and ``signature``
        and ``input_example`` of `save_model`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` is what `load_model` takes.

    Examples
    --------
    ::

        import mlflow
        import separable.mlflow

        with mlflow.start_run():
            info = separable.mlflow.log_model(LogisticRegression().fit(X, y))
        model = separable.mlflow.load_model(info.model_uri)
    """
    models = import_module("mlflow.models")
    flavor = import_module("separable.mlflow")
    return models.Model.log(artifact_path=None, name=name, flavor=flavor, model=model, **options)


def save_model(
    model: Any,
    path: Any,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
) -> None:
    """Write an MLflow model to a new directory.

    Parameters
    ----------
    model : learner, TrainingRun or LinearModel
    path : path
        The directory.
    mlflow_model : mlflow.models.Model, optional
        Its metadata so far.
    signature : mlflow.models.ModelSignature, optional
        Types of the columns and of the predictions.
    input_example : table, optional
        A few rows, stored beside the model.
    """
    models = import_module("mlflow.models")
    pyfunc = import_module("mlflow.pyfunc")
    folder = Path(path)
    folder.mkdir(parents=True)
    _model_of(model).save(folder / FILE)
    described = models.Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        described.signature = signature
    if input_example is not None:
        utilities = import_module("mlflow.models.utils")
        utilities._save_example(described, input_example, str(folder))
    version = import_module("separable").__version__
    described.add_flavor(FLAVOR, separable_version=version, data=FILE)
    pyfunc.add_to_model(
        described, loader_module="separable.mlflow", data=FILE, python_env="python_env.yaml"
    )
    (folder / "requirements.txt").write_text(f"separable-ml=={version}\n", encoding="utf-8")
    (folder / "python_env.yaml").write_text(
        "dependencies:\n- -r requirements.txt\n", encoding="utf-8"
    )
    described.save(str(folder / "MLmodel"))


def load_model(model_uri: str) -> Model:
    """Return the model of a URI of MLflow, such as ``runs:/<run>/model`` or ``models:/<id>``.

    Parameters
    ----------
    model_uri : str or path

    Returns
    -------
    LinearModel
    """
    artifacts = import_module("mlflow.artifacts")
    folder = Path(artifacts.download_artifacts(artifact_uri=str(model_uri)))
    model: Model = _load_pyfunc(str(folder / FILE)).model
    return model


class _Predictions:
    """What ``mlflow.pyfunc`` calls."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Return the predictions of rows or a table; ``params={"probabilities": True}``: those."""
        if (params or {}).get("probabilities"):
            return self.model.predict_proba(model_input)
        return self.model.predict(model_input)


def _load_pyfunc(path: str) -> _Predictions:
    """Return the model for ``mlflow.pyfunc``, which looks for a function of this name."""
    from separable.model.files.model_file import load

    return _Predictions(load(path))


def _model_of(model: Any) -> Model:
    for name in ("model_", "model"):
        model = getattr(model, name, model)
    if not hasattr(model, "save"):
        raise TypeError(
            f"Expected a fitted learner of separable, a TrainingRun or a LinearModel. Got "
            f"{type(model).__name__}. Models of scikit-learn are logged by mlflow.sklearn."
        )
    found: Model = model
    return found
